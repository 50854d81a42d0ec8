"""Curved brush strokes of several sizes, coarse ones first."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw
from scipy import ndimage

from ...images import Picture, luma
from .colour import monge_kantorovich
from .styliser import Styliser

__all__ = ["STROKES", "brushed"]

Floats = NDArray[np.float64]

_OVER = 2  # canvas pixels per picture pixel, so that strokes have smooth rims
_SEEN = 8  # canvas pixels; in thinner strokes the notch where two pieces meet cannot be seen


class _Brush(NamedTuple):
    radius: float
    """In picture pixels."""
    threshold: float
    """Mean error of a grid cell above which it gets a stroke, in [0, sqrt(3)]."""
    longest: int
    """Most steps of a stroke."""


def brushed(content: Picture, style: Picture, *, seed: int = 0) -> Picture:
    """Return the recoloured content painted over with curved strokes, where the canvas still differs from it.

    Source:
        Hertzmann, "Painterly Rendering with Curved Brush Strokes of Multiple Sizes", SIGGRAPH 1998, section 2.
        Departure: the strokes of a layer are traced together, against the canvas as the layer found it.
    """
    rng = np.random.default_rng(seed)
    unit = max(content.shape[:2]) / 256
    wanted = np.clip(monge_kantorovich(content, style), 0.0, 1.0).astype(np.float64)
    height, width = wanted.shape[:2]
    ground = tuple(round(255 * value) for value in wanted.mean(axis=(0, 1)))
    canvas = Image.new("RGB", (width * _OVER, height * _OVER), ground)
    painted = np.full(wanted.shape, np.inf)
    for brush in (_Brush(7 * unit, 0.0, 12), _Brush(3.5 * unit, 0.10, 12), _Brush(1.7 * unit, 0.13, 10)):
        reference = np.stack([ndimage.gaussian_filter(wanted[..., c], 0.5 * brush.radius) for c in range(3)], axis=-1)
        _paint(canvas, painted, reference, brush, rng)
        small = canvas.resize((width, height), Image.Resampling.BOX)
        painted = np.asarray(small, dtype=np.float64) / 255.0
    return painted.astype(np.float32)


def _paint(canvas: Image.Image, painted: Floats, reference: Floats, brush: _Brush, rng: np.random.Generator) -> None:
    """Lay one layer of strokes onto the canvas."""
    first = not np.isfinite(painted).all()
    error = np.full(reference.shape[:2], 9.0) if first else np.sqrt(((painted - reference) ** 2).sum(axis=2))
    start = _starts(error, brush, rng)
    if not len(start):
        return
    paths, lengths, colours = _traced(start, painted, reference, brush, first)
    colours = np.clip(colours + rng.normal(0.0, 0.03, colours.shape) + rng.normal(0.0, 0.025, (len(colours), 1)), 0, 1)
    pen = ImageDraw.Draw(canvas)
    thick = max(1, round(2 * brush.radius * _OVER))
    for i in rng.permutation(len(start)).tolist():
        colour = tuple(round(255 * value) for value in colours[i])
        points = [(float(x + 0.5) * _OVER, float(y + 0.5) * _OVER) for y, x in paths[i, : lengths[i]]]
        if len(points) > 1:
            pen.line(points, fill=colour, width=thick, joint="curve" if thick > _SEEN else None)
        for x, y in (points[0], points[-1]):
            pen.ellipse((x - thick / 2, y - thick / 2, x + thick / 2, y + thick / 2), fill=colour)


def _starts(error: Floats, brush: _Brush, rng: np.random.Generator) -> NDArray[np.int64]:
    """(s, 2) row and column of the largest error in each grid cell whose mean error is above the threshold."""
    step = max(2, round(brush.radius))
    height, width = error.shape
    rows, columns = -(-height // step), -(-width // step)
    padded = np.full((rows * step, columns * step), -1.0)
    padded[:height, :width] = error + rng.uniform(0, 1e-3, error.shape)  # ties fall at random
    cells = padded.reshape(rows, step, columns, step).swapaxes(1, 2).reshape(rows, columns, step * step)
    inside = cells >= 0
    mean = np.where(inside, cells, 0.0).sum(axis=2) / inside.sum(axis=2)
    best = cells.argmax(axis=2)
    r, c = np.nonzero(mean > brush.threshold)
    found: NDArray[np.int64] = np.stack([r * step + best[r, c] // step, c * step + best[r, c] % step], axis=1)
    return found


def _traced(
    start: NDArray[np.int64], painted: Floats, reference: Floats, brush: _Brush, first: bool
) -> tuple[Floats, NDArray[np.int64], Floats]:
    """Paths (s, longest + 1, 2), their numbers of points and their colours."""
    height, width = reference.shape[:2]
    grey = luma(reference.astype(np.float32))
    gy, gx = ndimage.sobel(grey, axis=0), ndimage.sobel(grey, axis=1)
    colours = reference[start[:, 0], start[:, 1]]
    at = start.astype(np.float64)
    paths = np.repeat(at[:, None], brush.longest + 1, axis=1)
    lengths = np.ones(len(start), dtype=np.int64)
    going = np.ones(len(start), dtype=bool)
    last = np.zeros((len(start), 2))
    for step in range(1, brush.longest + 1):
        row = np.clip(np.rint(at[:, 0]), 0, height - 1).astype(np.intp)
        column = np.clip(np.rint(at[:, 1]), 0, width - 1).astype(np.intp)
        if step > 3 and not first:  # three steps at least, then only while the stroke improves the picture
            here = reference[row, column]
            off = ((here - colours) ** 2).sum(axis=1)
            going &= off <= ((here - painted[row, column]) ** 2).sum(axis=1)
        elif step > 3:
            going &= ((reference[row, column] - colours) ** 2).sum(axis=1) <= 0.03
        across = np.stack([gy[row, column], gx[row, column]], axis=1)
        size = np.hypot(across[:, 0], across[:, 1])
        going &= (size > 1e-6) | (step > 1)
        ahead = np.where(size[:, None] > 1e-6, np.stack([-across[:, 1], across[:, 0]], axis=1), last)
        ahead /= np.maximum(np.hypot(ahead[:, 0], ahead[:, 1]), 1e-12)[:, None]
        ahead = np.where((ahead * last).sum(axis=1, keepdims=True) < 0, -ahead, ahead)
        at = at + brush.radius * ahead
        paths[going, step] = at[going]
        lengths[going] = step + 1
        last = ahead
    return paths, lengths, colours


STROKES = Styliser(
    name="strokes",
    run=brushed,
    summary="curved brush strokes of three sizes in the style's colours",
    source='Hertzmann, "Painterly Rendering with Curved Brush Strokes of Multiple Sizes", SIGGRAPH 1998, section 2',
    strategy="colour: mean and covariance; strokes follow the content",
)

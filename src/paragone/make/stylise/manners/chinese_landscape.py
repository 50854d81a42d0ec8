"""Chinese landscape: ink washes and broken brush lines on paper, mist between."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from skimage.exposure import equalize_adapthist

from ....images import Picture, lab
from ..focus import backdrop, focus
from ..inklines import flow_lines
from ..kuwahara import kuwahara
from ..palette import main_colours, srgb
from ..paper import grain
from ..sheet import Sheet
from ..styliser import Styliser

__all__ = ["CHINESE_LANDSCAPE", "ink_wash"]

Floats = NDArray[np.float64]

_STEPS = 5  # strengths of ink, from water to burnt ink
_SEAL = (0.70, 0.16, 0.12)  # cinnabar


def ink_wash(content: Picture, style: Picture, *, seed: int = 0) -> Picture:
    """Return the content in ink on paper: washes in five strengths, dry lines along the forms, mist, a red seal.

    Large differences of tone are taken back, so that most of the paper stays bare; a wash is darkest at its rim, where
    ink gathers, and settles in the paper's grain. Mist lies in level bands away from the subject.

    Source:
        Ours. Darker rims and grain of a wash: Bousseau, Kaplan, Thollot and Sillion, "Interactive watercolor rendering
        with temporal coherence and abstraction", NPAR 2006, section 3; lines: as `flow_lines`.
    """
    rng = np.random.default_rng(seed)
    height, width = content.shape[:2]
    unit = max(height, width) / 256
    own = lab(content)
    tint = grain((height, width), unit, rng)
    tone = _even(own[..., 0] / 100.0, unit)
    calm = kuwahara(np.repeat(tone[..., None], 3, axis=2), radius=max(1.0, 3.5 * unit))[..., 0]
    wash = _wash(1.0 - calm, unit)
    likely = focus(own)
    veil = ndimage.gaussian_filter(rng.standard_normal((height, width)), (9.0 * unit, 55.0 * unit), mode="reflect")
    veil = np.clip(0.5 + 0.8 * veil / max(float(veil.std()), 1e-12), 0.0, 1.0)
    veil = ndimage.gaussian_filter(veil * (1.0 - np.clip(2.5 * likely, 0.0, 1.0)), 3.0 * unit)
    lines = 1.0 - flow_lines(tone, sigma=0.7 * unit, p=22.0, epsilon=0.40, phi=8.0, length=3.0 * unit)
    dry = np.clip(0.75 + 0.5 * tint, 0.0, 1.0)  # a dry brush touches only what stands out of the paper
    press = 0.72 + 0.28 * np.clip(ndimage.gaussian_filter(tint, 4.0 * unit) * 4.0, -1.0, 1.0)
    lines = 0.6 * lines + 0.4 * ndimage.gaussian_filter(lines, 1.2 * unit)  # some of the ink runs
    wash = np.maximum(wash, _hills(backdrop(own), unit, rng))
    ink = wash * (1.0 - 0.9 * veil) * (1.0 + 0.10 * tint) + 0.85 * lines * dry * press * (1.0 - 0.7 * veil)
    ink = np.clip(ink, 0.0, 0.96)[..., None]
    dark, light = _inks(style)
    paper = srgb(light) + 0.010 * tint[..., None]
    picture = paper * (1.0 - ink) + srgb(dark) * ink
    return _sealed(picture, unit, rng).astype(np.float32)


def _even(lightness: Floats, unit: float) -> Floats:
    """Tone in [0, 1] with its local contrast kept and its wide differences halved, mostly light."""
    low, high = float(lightness.min()), float(lightness.max())
    if high - low > 0.02:
        window = [max(4, side // 6) for side in lightness.shape]
        lightness = 0.5 * lightness + 0.5 * equalize_adapthist(
            (lightness - low) / (high - low), kernel_size=window, clip_limit=0.01
        )
    wide = ndimage.gaussian_filter(lightness, 22.0 * unit)
    tone: Floats = np.clip(0.66 + 0.50 * (wide - 0.5) + 0.95 * (lightness - wide), 0.02, 1.0)
    return tone


def _wash(ink: Floats, unit: float) -> Floats:
    """Ink in [0, 1] laid in steps with soft rims that are darker than the inside."""
    place = np.clip(ink, 0.0, 1.0) * _STEPS
    near = np.floor(place) + 0.5
    stepped = (near + 0.5 * np.tanh(3.5 * (place - near)) / np.tanh(1.75)) / _STEPS
    soft = 0.55 * ndimage.gaussian_filter(stepped, 1.6 * unit) + 0.45 * stepped
    rim = soft - ndimage.gaussian_filter(soft, 1.6 * unit)
    laid: Floats = np.clip(1.10 * np.maximum(soft - 0.20, 0.0) + 0.5 * rim, 0.0, 1.0)  # thin washes are bare paper
    return laid


def _hills(empty: Floats, unit: float, rng: np.random.Generator) -> Floats:
    """Ink of far hills where the content is empty ground: ridges that fade into mist at their foot."""
    height, width = empty.shape
    y, x = np.mgrid[0:height, 0:width].astype(np.float64)
    ink = np.zeros((height, width))
    for layer in range(3):
        octaves = [
            0.6**octave * np.sin(2.0 * np.pi * (x / width * (0.8 + 0.5 * layer) * 1.9**octave + rng.uniform(0, 1)))
            for octave in range(6)
        ]
        top = 0.17 + 0.15 * layer
        below = y - height * (top - 0.07 * sum(octaves))
        foot = y - height * (top - 0.07 * sum(octaves[:2]))  # mist does not follow every rock
        ridge = np.clip(below / unit, 0.0, 1.0)
        ink = ink * (1.0 - ridge) + (0.22 + 0.08 * layer) * ridge * np.exp(-np.maximum(foot, 0.0) / (0.085 * height))
    hills: Floats = ink * empty
    return hills


def _inks(style: Picture) -> tuple[Floats, Floats]:
    """The style's darkest and lightest main colours, held near ink and near paper."""
    found = main_colours(style, 8).colours
    held = []
    for colour, (low, high), most in ((found[0], (3.0, 12.0), 5.0), (found[-1], (87.0, 95.0), 14.0)):
        chroma = max(float(np.hypot(colour[1], colour[2])), 1e-9)
        held.append(np.array([np.clip(colour[0], low, high), *(colour[1:] * min(1.0, most / chroma))]))
    return held[0], held[1]


def _sealed(picture: Floats, unit: float, rng: np.random.Generator) -> Floats:
    """The picture with a small seal near the lower corner whose surroundings are lighter; its strokes mean nothing."""
    height, width = picture.shape[:2]
    side = int(min(13.0 * unit, height / 5, width / 5))
    gap = side // 2
    if side < 6:  # pixels; smaller is a red dot
        return picture
    top = height - gap - side
    left = max((gap, width - gap - side), key=lambda x: float(picture[top : top + side, x : x + side].mean()))
    sheet = Sheet((side, side), (0.0, 0.0, 0.0))
    sheet.polygon([(0, 0), (side, 0), (side, side), (0, side)], (1, 1, 1))
    for row in range(2):
        for column in range(2):
            x, y = (0.12 + 0.42 * place for place in (column, row))
            for at in rng.permutation(4)[:3].tolist():
                level = y + 0.02 + 0.10 * at
                sheet.line([(x * side, level * side), ((x + 0.3) * side, level * side)], (0, 0, 0), 0.05 * side)
            stem = x + rng.uniform(0.05, 0.28)
            sheet.line([(stem * side, y * side), (stem * side, (y + 0.34) * side)], (0, 0, 0), 0.05 * side)
    stamped = 0.92 * sheet.picture().astype(np.float64)
    sealed = picture.copy()
    place = sealed[top : top + side, left : left + side]
    place[:] = place * (1.0 - stamped) + np.array(_SEAL) * stamped
    return sealed


CHINESE_LANDSCAPE = Styliser(
    name="chinese-landscape",
    run=ink_wash,
    summary="ink washes and dry brush lines on paper, with mist and a seal",
    source='Ours; washes after Bousseau et al., "Interactive watercolor rendering", NPAR 2006; lines after Kang et al., '
    '"Flow-Based Image Abstraction", IEEE TVCG 15(1), 2009',
    strategy="custom pipeline: from the style its ink and its paper, the darkest and lightest main colours",
)

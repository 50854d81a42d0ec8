"""Image analogies: what a filter did to one picture is done to another; here the filter is a painter."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from scipy.spatial import cKDTree
from threadpoolctl import threadpool_limits

from ...errors import BadImage
from ...images import Picture, lab, resize
from .analogy_scan import compiled_scan
from .colour import linear_transport
from .styliser import Styliser

__all__ = ["ANALOGIES", "analogous", "analogy", "fitted", "repainted"]

Floats = NDArray[np.float64]
Plane = NDArray[np.float32]

_COARSEST = 32  # pixels; at most 1,024 x 1,024 pairs, so there every source is tried
_AXES = 16  # principal axes of the features, of up to 129
_SEARCHED = 12  # of them in the query, the largest
_SLOPPY = (
    3.0  # a neighbour may be four times as far as the nearest; in fact they are 2 to 6 % farther, and cost a quarter
)
_OFFERED = 4  # neighbours that the query hands to the scan
_SAME = 4e-3  # features this near are one point of the tree; so far is one grey level of 8 bits
_LOT = 1e-3  # reach of one more axis, of random values, on the coarsest level: among equal sources it draws
_SAMPLE = 4096  # pixels of each picture from which the axes are found
_BLOCK = 16384  # pixels whose surroundings are held at once

_AROUND = [(y, x) for y in range(-2, 3) for x in range(-2, 3) if (y, x) != (0, 0)]
_BEFORE = [(y, x) for y, x in _AROUND if (y, x) < (0, 0)]


class _Level(NamedTuple):
    """One resolution."""

    a: Plane
    """(h, w, g) the example's guide."""
    example: Plane
    """(h, w, c) the filtered example, as it is compared."""
    b: Plane
    """(H, W, g) the guide of the picture to be made."""
    allowed: NDArray[np.bool_]
    """(h, w) which pixels may be sources."""


def analogy(
    a: NDArray[np.floating],
    a_prime: Picture,
    b: NDArray[np.floating],
    *,
    kappa: float = 2.0,
    guide: float = 1.0,
    passes: int = 2,
    crowding: float = 0.0,
    allowed: NDArray[np.bool_] | None = None,
    seed: int = 0,
) -> Picture:
    """Return B', which is to B what A' is to A, made of pixels of A'.

    Coarse to fine, each pixel of B' is a pixel of A' whose surroundings in A, in A' and at the coarser level suit its
    own. The candidates of all pixels of a level come from one nearest-neighbour query; a scan chooses among them and
    those that continue a neighbour's piece of A'.

    Args:
        a: (h, w) or (h, w, g) guide of the example, values of about [0, 1]: a picture, a plane of lightness, labels.
        a_prime: (h, w, 3) the filtered example.
        b: (H, W) or (H, W, g) guide of the picture to be made.
        kappa: how far coherent pieces are preferred, >= 0; 0 takes the best candidate always.
        guide: weight of the guides against A', > 0; large follows B, small A'.
        passes: scans of each level, >= 1; from the second on, surroundings on all sides are compared.
        crowding: penalty for sources that are used more often than their share, >= 0; 0 for none.
        allowed: (h, w) pixels of A' that may be copied; all by default.
        seed: which of equally good sources is taken follows from it.

    Returns:
        (H, W, 3) float32; each value is one of A'. The same for any number of threads.

    Raises:
        BadImage: shapes do not go together, or no pixel is allowed.
        MissingExtra: numba is not installed.

    Source:
        Hertzmann, Jacobs, Oliver, Curless and Salesin, "Image Analogies", SIGGRAPH 2001, section 3. Departures: the
        query happens once a level, without the surroundings of B' that do not exist yet, on principal axes; the scan
        ranks its answers with them. The coarsest level tries every source. A level is scanned again, as in Wei and
        Levoy, "Fast Texture Synthesis using Tree-structured Vector Quantization", SIGGRAPH 2000, section 3.
    """
    a, b = (np.asarray(plane, dtype=np.float32) for plane in (a, b))
    a, b = (plane[..., None] if plane.ndim == 2 else plane for plane in (a, b))
    free = np.ones(a.shape[:2], dtype=bool) if allowed is None else np.asarray(allowed, dtype=bool)
    if a.shape[:2] != a_prime.shape[:2] or free.shape != a.shape[:2] or a.shape[2] != b.shape[2]:
        raise BadImage(
            f"analogy: A {a.shape}, A' {a_prime.shape}, its mask {free.shape} and B {b.shape} do not go together; "
            "A, A' and the mask have one size, A and B the same channels",
            where="analogy",
        )
    if not free.any():
        raise BadImage("analogy: no pixel of A' is allowed as a source", where="analogy")
    shown = (lab(a_prime) / 100.0).astype(np.float32)
    levels = _pyramid(_Level(a * np.float32(guide), shown, b * np.float32(guide), free))
    source: NDArray[np.int32] | None = None
    with threadpool_limits(1):  # sums that are split over threads differ in their last bits
        for number, level in enumerate(levels):
            below = levels[number - 1] if number else None
            slack = 1.0 + kappa * 2.0 ** (number + 1 - len(levels))
            source = _level_made(level, below, source, slack, passes, crowding, seed)
    assert source is not None
    made: Picture = a_prime.reshape(-1, 3)[source]
    return made


def _pyramid(level: _Level) -> list[_Level]:
    """Coarsest first; each level halves the next one's sides, rounded up."""
    levels = [level]
    while max(*levels[0].a.shape[:2], *levels[0].b.shape[:2]) > _COARSEST:
        top = levels[0]
        share = ndimage.gaussian_filter(top.allowed.astype(np.float32), 1.0)[::2, ::2]
        free = share > 0.75
        levels.insert(
            0, _Level(_half(top.a), _half(top.example), _half(top.b), free if free.any() else np.ones_like(free))
        )
    return levels


def _half(planes: Plane) -> Plane:
    return np.ascontiguousarray(ndimage.gaussian_filter(planes, (1.0, 1.0, 0.0))[::2, ::2])


def _level_made(
    level: _Level,
    below: _Level | None,
    coarse: NDArray[np.int32] | None,
    slack: float,
    passes: int,
    crowding: float,
    seed: int,
) -> NDArray[np.int32]:
    """(H, W) flat index of the source of each pixel."""
    height, width = level.b.shape[:2]
    rows, columns = level.a.shape[:2]
    if below is None or coarse is None:
        own, wanted = _features([level.a], [level.b])
        own = own + _LOT * np.random.default_rng(seed).random((len(own), 1), dtype=np.float32)
        offered = np.empty((height * width, 0), dtype=np.int32)
    else:
        chosen = below.example.reshape(-1, below.example.shape[2])[coarse]
        own, wanted = _features([level.a, below.a, below.example], [level.b, below.b, chosen])
        offered = np.concatenate(
            [_offered(own, wanted, level.allowed, seed), _doubled(coarse, below.a.shape[1], level)], axis=1
        )
    weight = {place: np.exp(-(place[0] ** 2 + place[1] ** 2) / 4.0) for place in _AROUND}
    total = sum(weight.values())
    source = np.full((height, width), -1, dtype=np.int32)
    made = np.zeros((height, width, level.example.shape[2]), dtype=np.float32)
    bordered = np.pad(level.example, ((2, 2), (2, 2), (0, 0)), mode="edge")
    share = rows * columns / (64.0 * height * width)  # of one use, of a block's fair number of uses
    for turn in range(passes):
        places = _AROUND if turn else _BEFORE
        compiled_scan()(
            own,
            wanted,
            bordered,
            level.allowed,
            offered,
            np.array(places, dtype=np.int64),
            np.array([weight[place] / total for place in places], dtype=np.float32),
            np.array([*places, (0, 0)], dtype=np.int64),
            slack,
            crowding * share,
            np.zeros((rows // 8 + 1, columns // 8 + 1), dtype=np.int32),
            source,
            made,
        )
    return source


def _offered(own: Plane, wanted: Plane, allowed: NDArray[np.bool_], seed: int) -> NDArray[np.int32]:
    """(n, k) allowed sources whose features are nearest to each pixel's; -1 where there are fewer.

    Sources that look the same are one point of the tree, for which a member is drawn: flat areas hold thousands of them,
    and a tree of equal points takes minutes to search.
    """
    free = np.flatnonzero(allowed)
    features = own[free, :_SEARCHED]
    _, first, group, n = np.unique(
        np.round(features / _SAME).astype(np.int32), axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    members, begin = np.argsort(group.reshape(-1), kind="stable"), np.cumsum(n) - n
    found = cKDTree(features[first]).query(wanted[:, :_SEARCHED], k=np.arange(1, _OFFERED + 1), eps=_SLOPPY)[1]
    known = np.minimum(found, len(first) - 1)
    lot = np.random.default_rng(seed).random(found.shape)
    drawn = free[members[begin[known] + (lot * n[known]).astype(np.int64)]]
    return np.where(found < len(first), drawn, -1).astype(np.int32)


def _doubled(coarse: NDArray[np.int32], columns: int, level: _Level) -> NDArray[np.int32]:
    """(n, 1) the source that each pixel has when the coarser level's choice is followed."""
    height, width = level.b.shape[:2]
    y, x = np.mgrid[0:height, 0:width]
    parent = coarse[y // 2, x // 2]
    row = np.minimum(2 * (parent // columns) + y % 2, level.a.shape[0] - 1)
    column = np.minimum(2 * (parent % columns) + x % 2, level.a.shape[1] - 1)
    found: NDArray[np.int32] = (row * level.a.shape[1] + column).reshape(-1, 1).astype(np.int32)
    return found


def _features(own: list[Plane], wanted: list[Plane]) -> tuple[Plane, Plane]:
    """(m, d) and (n, d) surroundings of every pixel on common principal axes.

    The first planes have the level's size and 5 x 5 surroundings; the others half of it and 3 x 3.
    """
    sample = np.concatenate([_sampled(planes) for planes in (own, wanted)]).astype(np.float64)
    centre = sample.mean(axis=0)
    vectors = np.linalg.eigh((sample - centre).T @ (sample - centre))[1]
    axes = vectors[:, ::-1][:, :_AXES].astype(np.float32)
    return _projected(own, axes), _projected(wanted, axes)


def _sampled(planes: list[Plane]) -> Plane:
    """(k, d) surroundings of a regular choice of pixels."""
    height, width = planes[0].shape[:2]
    chosen = np.arange(0, height * width, max(1, height * width // _SAMPLE))
    y, x = chosen // width, chosen % width
    parts = [_surroundings(planes[0], 2, y, x)] + [_surroundings(plane, 1, y // 2, x // 2) for plane in planes[1:]]
    return np.concatenate(parts, axis=1)


def _projected(planes: list[Plane], axes: Plane) -> Plane:
    """(n, d) surroundings of every pixel on the axes."""
    height, width = planes[0].shape[:2]
    start = 0
    total = np.zeros((height * width, axes.shape[1]), dtype=np.float32)
    for number, plane in enumerate(planes):
        reach = 1 if number else 2
        size = (2 * reach + 1) ** 2 * plane.shape[2]
        own_width = plane.shape[1]
        made = np.empty((plane.shape[0] * own_width, axes.shape[1]), dtype=np.float32)
        for first in range(0, len(made), _BLOCK):
            chosen = np.arange(first, min(first + _BLOCK, len(made)))
            block = _surroundings(plane, reach, chosen // own_width, chosen % own_width)
            made[chosen] = block @ axes[start : start + size]
        if number:
            y, x = np.mgrid[0:height, 0:width] // 2
            made = made[(y * own_width + x).reshape(-1)]
        total += made
        start += size
    return total


def _surroundings(plane: Plane, reach: int, y: NDArray[np.int64], x: NDArray[np.int64]) -> Plane:
    """(k, (2 reach + 1)^2 c) weighted values around the given pixels; the weights of a window sum to 1."""
    spread = np.arange(-reach, reach + 1)
    weight = np.exp(-(spread**2) / (2.0 * (reach / 2 + 0.2) ** 2))
    weight = np.sqrt(np.outer(weight, weight) / weight.sum() ** 2).astype(np.float32)
    rows = np.clip(y[:, None] + spread, 0, plane.shape[0] - 1)
    columns = np.clip(x[:, None] + spread, 0, plane.shape[1] - 1)
    found: Plane = (plane[rows[:, :, None], columns[:, None, :]] * weight[..., None]).reshape(len(y), -1)
    return found


def fitted(style: Picture, shape: tuple[int, ...]) -> Picture:
    """Return the style with its longer side as long as a content's, so that its marks keep their part of the picture.

    Args:
        style: the picture.
        shape: (height, width, ...) of the content; a narrow one is met by at most four times its pixels.
    """
    scale = max(shape[:2]) / max(style.shape[:2])
    scale = min(scale, float(np.sqrt(4.0 * shape[0] * shape[1] / (style.shape[0] * style.shape[1]))))
    height, width = (max(1, round(side * scale)) for side in style.shape[:2])
    return resize(style, height, width, resizer="area" if scale <= 1 else "pil-bicubic")


def repainted(
    wanted: Floats,
    style: Picture,
    *,
    kappa: float = 2.0,
    guide: float = 1.5,
    crowding: float = 1e-3,
    allowed: NDArray[np.bool_] | None = None,
    seed: int = 0,
) -> Picture:
    """Return a picture made of the style's pixels that looks from afar as wanted.

    The missing A is the style itself, blurred, as in section 4.3 of the paper; the guides are L*, a* and b*.

    Args:
        wanted: (H, W, 3) CIELAB colours, of the style's range.
        style: the style at the scale at which its marks are wanted; see `fitted`.
        kappa: as in `analogy`.
        guide: as in `analogy`.
        crowding: as in `analogy`.
        allowed: as in `analogy`.
        seed: as in `analogy`.

    Raises:
        BadImage: no pixel of the style is allowed.
        MissingExtra: numba is not installed.
    """
    unit = max(wanted.shape[:2]) / 512
    b = ndimage.gaussian_filter(wanted / 100.0, (unit, unit, 0.0))
    a = ndimage.gaussian_filter(lab(style) / 100.0, (2.5 * unit, 2.5 * unit, 0.0))
    return analogy(a, style, b, kappa=kappa, guide=guide, crowding=crowding, allowed=allowed, seed=seed)


def analogous(
    content: Picture,
    style: Picture,
    *,
    seed: int = 0,
    kappa: float = 2.0,
    guide: float = 1.5,
    crowding: float = 1e-3,
) -> Picture:
    """Return the content in the style's own pixels: brush marks, hatching, print lines and all.

    Source:
        As `analogy`; the content is recoloured first, as `linear_transport` does.
    """
    wanted = linear_transport(lab(content).reshape(-1, 3), lab(style).reshape(-1, 3), ridge=1e-3).reshape(content.shape)
    scaled = fitted(style, content.shape)
    return repainted(wanted, scaled, kappa=kappa, guide=guide, crowding=crowding, seed=seed)


ANALOGIES = Styliser(
    name="analogies",
    run=analogous,
    summary="the picture repainted with the style's own brush marks and lines, pixel by pixel",
    source='Hertzmann, Jacobs, Oliver, Curless and Salesin, "Image Analogies", SIGGRAPH 2001, sections 3 and 4.3',
    strategy="colour and texture: pixels of the style itself, in coherent pieces",
    extra="make",
    ready=compiled_scan,
)

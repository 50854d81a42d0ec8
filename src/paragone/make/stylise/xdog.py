"""Ink drawing: extended difference of Gaussians over a wash of the style's colours."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from ...images import Picture, lab
from .palette import main_colours, srgb, tonal_index
from .structure import along, structure
from .styliser import Styliser

__all__ = ["XDOG", "ink_drawing", "xdog"]

Floats = NDArray[np.float64]


def xdog(lightness: Floats, *, sigma: float, p: float, epsilon: float, phi: float, k: float = 1.6) -> Floats:
    """Return an ink drawing: 1 is paper, 0 is ink.

    S = (1 + p) G_sigma - p G_{k sigma}; 1 where S >= epsilon, else 1 + tanh(phi (S - epsilon)).

    Args:
        lightness: (h, w) in [0, 1].
        sigma: width of the lines, in pixels, > 0.
        p: how much edges are sharpened, >= 0; 0 thresholds a blurred picture.
        epsilon: tone in [0, 1] above which paper stays bare.
        phi: steepness of the threshold, > 0; large is black and white.
        k: ratio of the two Gaussians, > 1; 1.6 makes their difference close to a Laplacian.

    Returns:
        (h, w) in (0, 1]; exactly 0 only in the limit of large phi.

    Source:
        Winnemöller, Kyprianidis and Olsen, "XDoG: An eXtended difference-of-Gaussians compendium", Computers & Graphics
        36(6), 2012, equations 5 and 7.
    """
    narrow, wide = (ndimage.gaussian_filter(lightness, s) for s in (sigma, k * sigma))
    sharp = (1.0 + p) * narrow - p * wide
    drawn: Floats = np.where(sharp >= epsilon, 1.0, 1.0 + np.tanh(phi * (sharp - epsilon)))
    return drawn


def ink_drawing(content: Picture, style: Picture, *, seed: int = 0) -> Picture:
    """Return lines in the style's darkest colour over a flat wash of its other colours.

    Source:
        As `xdog`; lines are smoothed along edges (section 2.4 there). The wash, colours matched by tone, is ours.
    """
    del seed  # nothing here is random
    unit = max(content.shape[:2]) / 256
    lightness = lab(content)[..., 0] / 100.0
    lines = xdog(lightness, sigma=0.8 * unit, p=18.0, epsilon=0.42, phi=10.0)
    lines = along(lines, structure(lightness, 2.0 * unit).angle, 1.5 * unit)
    palette = main_colours(style, 6)
    flat = ndimage.median_filter(ndimage.gaussian_filter(lightness, 1.5 * unit), size=int(2 * round(2 * unit) + 1))
    wash = palette.colours[1:] if len(palette.colours) > 1 else palette.colours
    shares = palette.shares[1:] if len(palette.colours) > 1 else palette.shares
    tones = wash[tonal_index(flat, shares / shares.sum())].copy()
    tones[..., 0] = 45.0 + 0.55 * tones[..., 0]  # a wash is thin: paper shines through
    tones = np.stack([ndimage.gaussian_filter(tones[..., c], 0.7 * unit) for c in range(3)], axis=-1)
    ink = palette.colours[0].copy()
    ink[0] = min(ink[0], 18.0)
    mixed = srgb(tones) * lines[..., None] + srgb(ink) * (1.0 - lines[..., None])
    return mixed.astype(np.float32)


XDOG = Styliser(
    name="xdog",
    run=ink_drawing,
    summary="an ink drawing, washed with the style's colours by tone",
    source='Winnemöller et al., "XDoG: An eXtended difference-of-Gaussians compendium", C&G 36(6), 2012, eqs 5, 7',
    strategy="palette: darkest main colour for lines, the others by rank of tone",
)

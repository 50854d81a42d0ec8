"""Stained glass: flat regions in the style's own colours, leaded with dark lines."""

from __future__ import annotations

import numpy as np
from scipy import ndimage
from skimage.segmentation import slic

from ...images import Picture, lab
from .colour import linear_transport
from .palette import main_colours, srgb
from .styliser import Styliser

__all__ = ["SUPERPIXELS", "stained_glass"]

_SMALLEST = 7.0  # pixels a side; our choice: smaller pieces would be more lead than glass


def stained_glass(content: Picture, style: Picture, *, seed: int = 0) -> Picture:
    """Return compact regions, each in the one of the style's twelve main colours that suits its recoloured mean.

    Source:
        Achanta et al., "SLIC Superpixels Compared to State-of-the-art Superpixel Methods", IEEE TPAMI 34(11), 2012,
        for the regions; the colouring is ours.
    """
    del seed  # SLIC starts from a regular grid
    unit = max(content.shape[:2]) / 256
    n = int(np.clip(content.shape[0] * content.shape[1] / max(_SMALLEST, 10.0 * unit) ** 2, 4, 4000))
    label = slic(content.astype(np.float64), n_segments=n, compactness=7.0, sigma=unit, start_label=0)
    k = int(label.max()) + 1
    own, other = lab(content).reshape(-1, 3), lab(style).reshape(-1, 3)
    recoloured = linear_transport(own, other, ridge=1e-3)
    counts = np.maximum(np.bincount(label.reshape(-1), minlength=k), 1).astype(np.float64)
    sums = np.stack([np.bincount(label.reshape(-1), recoloured[:, c], minlength=k) for c in range(3)], axis=1)
    means = sums / counts[:, None]
    palette = main_colours(style, 12).colours
    nearest = ((means[:, None, :] - palette[None]) ** 2).sum(axis=2).argmin(axis=1)
    pieces = 0.75 * palette[nearest] + 0.25 * means  # a quarter of their own, so that neighbours differ
    lead = np.maximum(np.diff(label, axis=0, prepend=label[:1]) != 0, np.diff(label, axis=1, prepend=label[:, :1]) != 0)
    lead = ndimage.gaussian_filter(lead.astype(np.float64), 0.6 * unit)
    dark = palette[0].copy()
    dark[0] = min(dark[0], 12.0)
    mixed = srgb(pieces)[label] * (1.0 - 0.8 * lead[..., None]) + srgb(dark) * (0.8 * lead[..., None])
    made: Picture = mixed.astype(np.float32)
    return made


SUPERPIXELS = Styliser(
    name="superpixels",
    run=stained_glass,
    summary="stained glass: flat pieces in the style's main colours between dark lines",
    source='Achanta et al., "SLIC Superpixels", IEEE TPAMI 34(11), 2012; the colouring is ours',
    strategy="palette: twelve main colours, nearest to the recoloured mean of each piece",
)

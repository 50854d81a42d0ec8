"""Where a picture's subject probably is."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

__all__ = ["Spot", "backdrop", "focus", "spot", "unlike_rim"]

Floats = NDArray[np.float64]


class Spot(NamedTuple):
    """An upright ellipse around the subject, in pixels."""

    row: float
    column: float
    height: float
    """Standard deviation of the subject's rows."""
    width: float
    """Standard deviation of the subject's columns."""


def focus(image: Floats) -> Floats:
    """Return how likely each pixel belongs to the subject: unlike the rim, full of contrast, near the middle.

    The product of three parts: the colour's distance from the colours along the rim, local contrast, and a wide
    Gaussian around the middle. Rule of thumb, ours; in the spirit of the boundary prior of Zhu, Liang, Wei and Sun,
    "Saliency Optimization from Robust Background Detection", CVPR 2014.

    Args:
        image: (h, w, 3) CIELAB.

    Returns:
        (h, w) in [0, 1], mean above 0; 1 is the likeliest pixel.
    """
    height, width = image.shape[:2]
    unit = max(height, width) / 256
    calm = np.stack([ndimage.gaussian_filter(image[..., c], 3.0 * unit) for c in range(3)], axis=-1)
    unlike = unlike_rim(calm)
    contrast = np.sqrt(ndimage.gaussian_filter(((image - calm) ** 2).sum(axis=2), 6.0 * unit))
    y, x = np.mgrid[0:height, 0:width]
    middle = np.exp(-0.5 * (((y + 0.5) / height - 0.5) / 0.3) ** 2 - 0.5 * (((x + 0.5) / width - 0.5) / 0.3) ** 2)
    total = (unlike / max(float(unlike.max()), 1.0) + 0.1) * (contrast / max(float(contrast.max()), 1.0) + 0.1) * middle
    total = ndimage.gaussian_filter(total, 6.0 * unit)
    likely: Floats = total / total.max()
    return likely


def backdrop(image: Floats) -> Floats:
    """Return how surely each pixel is empty ground behind the subject.

    Ground is coloured like the rim, hangs together with the rim's upper part, is more than a patch, and has no
    detail inside.

    Args:
        image: (h, w, 3) CIELAB.

    Returns:
        (h, w) in [0, 1]; soft at the subject's outline, all 0 where there is no such ground.
    """
    unit = max(image.shape[:2]) / 256
    soft = np.stack([ndimage.gaussian_filter(image[..., c], 0.8 * unit) for c in range(3)], axis=-1)
    alike = np.clip(1.7 - unlike_rim(soft) / 10.0, 0.0, 1.0)
    fine = image[..., 0] - ndimage.gaussian_filter(image[..., 0], 3.0 * unit)
    busy = np.sqrt(ndimage.gaussian_filter(fine**2, 3.0 * unit))
    calm = (alike > 0.5) & (busy < 3.0) & (focus(image) < 0.22)
    empty = ndimage.binary_opening(calm, iterations=max(1, round(2.0 * unit)))
    label, _ = ndimage.label(empty)
    above = max(1, 2 * image.shape[0] // 3)
    touching = np.unique(np.concatenate([label[0], label[:above, 0], label[:above, -1]]))
    wide = np.bincount(label.reshape(-1)) > 0.015 * label.size
    inside = np.isin(label, touching[(touching > 0) & wide[touching]])
    if not inside.any():
        return np.zeros(inside.shape)
    near = ndimage.distance_transform_edt(~inside) < 8.0 * unit  # up to the subject's outline, where nothing is calm
    ground: Floats = ndimage.gaussian_filter(alike * near, 0.7 * unit)
    return ground


def spot(likely: Floats) -> Spot:
    """Return the ellipse that has the weights' mean and standard deviations.

    Args:
        likely: (h, w) weights >= 0, not all 0.
    """
    weight = likely**2 / (likely**2).sum()
    y, x = np.mgrid[0 : likely.shape[0], 0 : likely.shape[1]].astype(np.float64)
    row, column = float((weight * y).sum()), float((weight * x).sum())
    return Spot(
        row, column, float(np.sqrt((weight * (y - row) ** 2).sum())), float(np.sqrt((weight * (x - column) ** 2).sum()))
    )


def unlike_rim(image: Floats) -> Floats:
    """Return each pixel's distance to the nearest of twelve colours that stand for the picture's rim.

    Of the rim the lower third is left out: there subjects are cut off.

    Args:
        image: (h, w, 3) CIELAB, smoothed as far as texture shall not count.

    Returns:
        (h, w) >= 0 in CIELAB units.
    """
    above = max(1, 2 * image.shape[0] // 3)
    rim = np.concatenate([image[0], image[:above, 0], image[:above, -1]])
    unlike: Floats = np.sqrt(np.stack([((image - c) ** 2).sum(axis=2) for c in _typical(rim)]).min(axis=0))
    return unlike


def _typical(colours: Floats) -> Floats:
    """(k, 3) up to twelve colours that stand for all: means of equal parts in order of lightness."""
    order = colours[np.argsort(colours[:, 0], kind="stable")]
    means: Floats = np.stack([part.mean(axis=0) for part in np.array_split(order, min(12, len(order)))])
    return means

"""Averages of stylised results: what several ways of painting agree on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...errors import BadImage
from ...images import Picture, linear
from .colour import monge_kantorovich
from .kuwahara import painted
from .strokes import brushed
from .styliser import Styliser

__all__ = ["AVERAGE", "averaged", "blended"]

Floats = NDArray[np.float64]


def averaged(pictures: Sequence[Picture], weights: Sequence[float] | None = None) -> Picture:
    """Return the weighted mean of pictures in linear light, as if they were projected onto one another.

    Args:
        pictures: one or more of one size; values outside [0, 1] are clipped first.
        weights: one a picture, >= 0, not all 0; equal by default.

    Raises:
        BadImage: no picture, different sizes, or weights that fit none.
    """
    if not pictures or len({picture.shape for picture in pictures}) > 1:
        sizes = ", ".join(str(picture.shape) for picture in pictures) or "no picture"
        raise BadImage(f"average: {sizes}; give at least one picture, all of one size", where="average")
    shares = np.ones(len(pictures)) if weights is None else np.asarray(weights, dtype=np.float64)
    if shares.shape != (len(pictures),) or not (shares >= 0).all() or not shares.sum() > 0:
        raise BadImage(
            f"average: weights {shares.tolist()} for {len(pictures)} pictures; give one a picture, none below 0, "
            "not all 0",
            where="average",
        )
    total = np.zeros(pictures[0].shape)
    for picture, share in zip(pictures, shares / shares.sum(), strict=True):
        total += share * linear(np.clip(picture, 0.0, 1.0))
    return _coded(np.clip(total, 0.0, 1.0)).astype(np.float32)


def _coded(light: Floats) -> Floats:
    """sRGB-coded values of linear light; IEC 61966-2-1:1999, section 5.2."""
    coded: Floats = np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
    return coded


def blended(content: Picture, style: Picture, *, seed: int = 0) -> Picture:
    """Return the mean of three results: curved strokes, edge-following dabs, and the photograph in the style's colours.

    Source:
        As `brushed`, `painted` and `monge_kantorovich`; their mean is ours.
    """
    layers = [run(content, style, seed=seed) for run in (brushed, painted, monge_kantorovich)]
    return averaged(layers, (0.4, 0.35, 0.25))


AVERAGE = Styliser(
    name="average",
    run=blended,
    summary="soft paint: strokes, flat dabs and the recoloured photograph averaged in linear light",
    source="Hertzmann 1998 for the strokes, Kyprianidis et al. 2009 for the dabs, Pitié and Kokaram 2007 for the colours",
    strategy="colour: mean and covariance; three results averaged",
)

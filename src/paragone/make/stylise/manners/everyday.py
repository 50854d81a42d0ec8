"""Any style that has no manner of its own: repainted with the style's own brush marks in the style's own colours."""

from __future__ import annotations

import numpy as np

from ....images import Picture, lab
from ..analogies import fitted, repainted
from ..analogy_scan import compiled_scan
from ..average import averaged
from ..palette import srgb
from ..styliser import Styliser
from ..transport import guided_filter, sliced_transport

__all__ = ["EVERYDAY", "repainted_evenly"]


def repainted_evenly(content: Picture, style: Picture, *, seed: int = 0, detail: float = 0.2) -> Picture:
    """Return the content repainted with the style's pixels, its distribution of colours, and some detail kept.

    Args:
        content: what is shown.
        style: any painting, drawing or print.
        seed: every random choice follows from it.
        detail: share of the recoloured, flattened content that is mixed in, in [0, 1]; eyes and windows live on it.

    Source:
        As `guided_filter`, `sliced_transport`, `repainted` and `averaged`; their order and settings are ours.
    """
    unit = max(content.shape[:2]) / 512
    own = content.astype(np.float64)
    flat = guided_filter(own, own, radius=max(1, round(4 * unit)), epsilon=1e-3)
    colours = lab(np.clip(flat, 0.0, 1.0).astype(np.float32)).reshape(-1, 3)
    scaled = fitted(style, content.shape)
    wanted = sliced_transport(colours, lab(scaled).reshape(-1, 3), rounds=8, share=0.6, seed=seed)
    wanted = wanted.reshape(content.shape)
    painted = repainted(wanted, scaled, guide=2.0, seed=seed)
    return averaged([painted, srgb(wanted).astype(np.float32)], (1.0 - detail, detail))


EVERYDAY = Styliser(
    name="everyday",
    run=repainted_evenly,
    summary="the picture repainted with the style's own marks, nearly in as much of each colour as the style has",
    source='Hertzmann et al., "Image Analogies", SIGGRAPH 2001; Pitié, Kokaram and Dahyot, CVIU 107, 2007',
    strategy="multi-style method: optimal transport of colours, then image analogies from the style's pixels",
    extra="make",
    ready=compiled_scan,
)

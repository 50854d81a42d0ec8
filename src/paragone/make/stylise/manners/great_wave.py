"""The Great Wave: a colour woodblock print, its foam, hatching and graded sky taken from the print itself."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ....images import Picture, lab
from ..analogies import fitted, repainted
from ..analogy_scan import compiled_scan
from ..palette import main_colours, srgb
from ..structure import along, structure
from ..styliser import Styliser
from ..transport import guided_filter, sliced_transport
from ..xdog import xdog

__all__ = ["GREAT_WAVE", "woodblock"]

# Parts of the print's height and width, measured on Hokusai's "Under the Wave off Kanagawa".
_INSCRIPTION = (0.31, 0.085)  # title cartouche and signature, in the upper left corner
_MARGIN = 0.012  # edge of the sheet


def woodblock(content: Picture, style: Picture, *, seed: int = 0, lines: float = 0.8) -> Picture:
    """Return the content as a print cut after the style: its colours, its blocks' own marks, a key block of dark lines.

    The content is flattened, goes half the way to the style's distribution of colours, and is repainted with the
    style's pixels; the print's inscription and edge are left out. Lines along edges are printed last, in its darkest
    colour.

    Args:
        content: what is shown.
        style: the Great Wave, uncropped; of another print or crop the upper left corner is left unused all the same.
        seed: every random choice follows from it.
        lines: how dark the key block is, in [0, 1]; 0 leaves it out.

    Source:
        As `repainted`, `sliced_transport`, `guided_filter` and `xdog`; their order and settings are ours.
    """
    unit = max(content.shape[:2]) / 512
    own = content.astype(np.float64)
    flat = guided_filter(own, own, radius=max(1, round(6 * unit)), epsilon=4e-3)
    colours = lab(np.clip(flat, 0.0, 1.0).astype(np.float32))
    scaled = fitted(style, content.shape)
    wanted = sliced_transport(colours.reshape(-1, 3), lab(scaled).reshape(-1, 3), rounds=8, share=0.5, seed=seed)
    printed = repainted(wanted.reshape(content.shape), scaled, allowed=_without_inscription(scaled), seed=seed)
    light = 0.4 + 0.006 * colours[..., 0]  # above the threshold: dark planes are left to the print, only edges get ink
    drawn = xdog(light, sigma=1.2 * unit, p=26.0, epsilon=0.34, phi=10.0)
    drawn = along(drawn, structure(light, 3.0 * unit).angle, 2.0 * unit)
    ink = lines * (1.0 - drawn)[..., None]
    mixed: Picture = (printed * (1.0 - ink) + srgb(main_colours(style, 8).colours[0]) * ink).astype(np.float32)
    return mixed


def _without_inscription(style: Picture) -> NDArray[np.bool_]:
    y, x = ((np.arange(length) + 0.5) / length for length in style.shape[:2])
    inside = (np.abs(y - 0.5) < 0.5 - _MARGIN)[:, None] & (np.abs(x - 0.5) < 0.5 - _MARGIN)[None, :]
    inscribed = (y < _INSCRIPTION[0])[:, None] & (x < _INSCRIPTION[1])[None, :]
    free: NDArray[np.bool_] = inside & ~inscribed
    return free


GREAT_WAVE = Styliser(
    name="great-wave",
    run=woodblock,
    summary="a woodblock print in the Great Wave's colours, with its foam and hatching and a key block of dark lines",
    source='Hertzmann et al., "Image Analogies", SIGGRAPH 2001; Pitié et al., CVIU 107, 2007; Winnemöller et al., 2012',
    strategy="combination: optimal transport of colours, image analogies from the print, flow-smoothed ink lines",
    extra="make",
    ready=compiled_scan,
)

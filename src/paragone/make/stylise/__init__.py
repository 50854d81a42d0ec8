"""Handcrafted stylisers: pictures in, a picture out, no network, the same result for the same seed.

Each takes a content and a style picture, (h, w, 3) float32 sRGB in [0, 1] of any sizes, and gives one of the
content's size. Lengths inside are in parts of the longer side, so a larger picture gives the same look.
"""

from __future__ import annotations

import numpy as np

from ...catalog import Catalog
from ...errors import BadImage
from ...images import Picture, as_picture
from .styliser import Styliser

__all__ = ["STYLISERS", "Styliser", "stylise"]

STYLISERS = Catalog(
    "paragone.stylisers",
    "styliser",
    {
        "bristles": "paragone.make.stylise.bristles:BRISTLES",
        "kuwahara": "paragone.make.stylise.kuwahara:KUWAHARA",
        "monge-kantorovich": "paragone.make.stylise.colour:MONGE_KANTOROVICH",
        "patches": "paragone.make.stylise.patches:PATCHES",
        "reinhard": "paragone.make.stylise.colour:REINHARD",
        "strokes": "paragone.make.stylise.strokes:STROKES",
        "superpixels": "paragone.make.stylise.superpixels:SUPERPIXELS",
        "xdog": "paragone.make.stylise.xdog:XDOG",
    },
)
"""name -> styliser; third parties add theirs as entry points of the group 'paragone.stylisers'."""

_SMALLEST = 16  # pixels; our choice: below this no filter here has room


def stylise(content: Picture, style: Picture, styliser: str | Styliser, *, seed: int = 0) -> Picture:
    """Return the content picture in the manner of the style picture.

    Args:
        content: a picture as `as_picture` takes it, both sides at least 16 pixels.
        style: likewise, of any size.
        styliser: a name of `STYLISERS`, or the object.
        seed: every random choice follows from it, >= 0.

    Returns:
        (h, w, 3) float32 in [0, 1].

    Raises:
        UnknownName: no such styliser.
        MissingExtra: it needs scikit-image, which is not installed.
        BadImage: a picture has the wrong shape or range, or is too small; or the styliser gave no picture.
    """
    chosen = STYLISERS.get(styliser) if isinstance(styliser, str) else styliser
    content, style = as_picture(content, where="content"), as_picture(style, where="style")
    for name, image in (("content", content), ("style", style)):
        if min(image.shape[:2]) < _SMALLEST:
            height, width = image.shape[:2]
            raise BadImage(
                f"{name} picture is {width} x {height} pixels; stylisers need at least {_SMALLEST} a side", where=name
            )
    made = chosen.run(content, style, seed=seed)
    if made.shape != content.shape or not np.isfinite(made).all():
        raise BadImage(
            f"styliser '{chosen.name}' gave {made.shape} for {content.shape}, or values that are no colours",
            where=chosen.name,
        )
    clipped: Picture = np.clip(made, 0.0, 1.0).astype(np.float32)
    return clipped

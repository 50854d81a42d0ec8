"""Handcrafted stylisers: pictures in, a picture out, no network, the same result for the same seed.

Each takes a content and a style picture, (h, w, 3) float32 sRGB in [0, 1] of any sizes, and gives one of the
content's size. Lengths inside are in parts of the longer side, so a larger picture gives the same look.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from ...catalog import Catalog
from ...errors import BadImage, UnknownName
from ...images import Picture, as_picture
from ...settings import held_to_types
from .styliser import Styliser

__all__ = ["STYLISERS", "Styliser", "checked_options", "stylise"]

STYLISERS = Catalog(
    "paragone.stylisers",
    "styliser",
    {
        "analogies": "paragone.make.stylise.analogies:ANALOGIES",
        "average": "paragone.make.stylise.average:AVERAGE",
        "bristles": "paragone.make.stylise.bristles:BRISTLES",
        "gatys": "paragone.make.stylise.gatys:GATYS",
        "kuwahara": "paragone.make.stylise.kuwahara:KUWAHARA",
        "llip": "paragone.make.stylise.llip:LLIP",
        "magenta": "paragone.make.stylise.magenta:MAGENTA",
        "monge-kantorovich": "paragone.make.stylise.colour:MONGE_KANTOROVICH",
        "multistyle26": "paragone.make.stylise.magenta:MULTISTYLE26",
        "onnx": "paragone.make.stylise.networks:ONNX",
        "optimal-transport": "paragone.make.stylise.transport:OPTIMAL_TRANSPORT",
        "patches": "paragone.make.stylise.patches:PATCHES",
        "reinhard": "paragone.make.stylise.colour:REINHARD",
        "strokes": "paragone.make.stylise.strokes:STROKES",
        "superpixels": "paragone.make.stylise.superpixels:SUPERPIXELS",
        "xdog": "paragone.make.stylise.xdog:XDOG",
    },
)
"""name -> styliser; third parties add theirs as entry points of the group 'paragone.stylisers'."""

_SMALLEST = 16  # pixels; our choice: below this no filter here has room


def stylise(
    content: Picture,
    style: Picture,
    styliser: str | Styliser,
    *,
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
) -> Picture:
    """Return the content picture in the manner of the style picture.

    Args:
        content: a picture as `as_picture` takes it, both sides at least 16 pixels.
        style: likewise, of any size.
        styliser: a name of `STYLISERS`, or the object.
        seed: every random choice follows from it, >= 0.
        options: keyword arguments of the styliser's own function.

    Returns:
        (h, w, 3) float32 in [0, 1]; the same for any number of threads.

    Raises:
        UnknownName: no such styliser, or it has no option of that name.
        BadConfig: an option has a value of the wrong type.
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
    given = checked_options(chosen, options or {})
    with threadpool_limits(1):  # sums that are split over threads differ in their last bits
        made = chosen.run(content, style, seed=seed, **given)
    if made.shape != content.shape or not np.isfinite(made).all():
        raise BadImage(
            f"styliser '{chosen.name}' gave {made.shape} for {content.shape}, or values that are no colours",
            where=chosen.name,
        )
    clipped: Picture = np.clip(made, 0.0, 1.0).astype(np.float32)
    return clipped


def checked_options(styliser: Styliser, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options, each as the type that the styliser's function wants.

    Args:
        styliser: whose options they are.
        options: name -> value, as read from a file or command line.

    Raises:
        UnknownName: the styliser has no option of that name.
        BadConfig: a value is of the wrong type.
    """
    known = [name for name in inspect.signature(styliser.run).parameters if name not in ("content", "style", "seed")]
    for name in options:
        if name not in known:
            raise UnknownName.among(name, known, f"option of styliser '{styliser.name}'")
    return held_to_types(options, styliser.run, f"styliser '{styliser.name}'")

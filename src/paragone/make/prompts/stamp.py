"""What made a picture, written into its PNG file: a courtesy, since tables and records say the same.

Two texts are stored as iTXt, so any language fits: `paragone`, JSON with every fact, and `parameters`, the line that many
viewers of generated pictures read. A picture without them is as good as one with them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from PIL import Image, PngImagePlugin, UnidentifiedImageError

from ...errors import BadImage, NotFound, UnknownName
from ...images import Picture, to_uint8
from ...tables import whole_file

__all__ = ["STAMP", "parameters_line", "read_stamp", "write_stamped"]

STAMP = "paragone"
"""Keyword of the JSON text in the PNG file."""

_PARAMETERS = "parameters"


def write_stamped(image: Picture, path: str | Path, facts: Mapping[str, Any] | None) -> Path:
    """Write a picture as PNG with 8 bits a channel and what made it, whole or not at all.

    Args:
        image: the picture.
        path: ends in .png.
        facts: what made it, as JSON can hold it; None: nothing is written but the picture.

    Raises:
        UnknownName: another ending.
        BadImage: the array is no picture.
    """
    path = Path(path)
    if path.suffix.lower() != ".png":
        raise UnknownName.among(path.suffix or path.name, [".png"], "picture format that holds such facts")
    made, texts = Image.fromarray(to_uint8(image)), None
    if facts is not None:
        texts = PngImagePlugin.PngInfo()
        texts.add_itxt(STAMP, json.dumps(facts, ensure_ascii=False, sort_keys=True))
        texts.add_itxt(_PARAMETERS, parameters_line(facts))
    with whole_file(path) as aside:
        made.save(aside, format="PNG", pnginfo=texts)
    return path


def read_stamp(path: str | Path) -> dict[str, Any] | None:
    """Return the facts that `write_stamped` wrote into a PNG file; None: there are none that can be read.

    Raises:
        NotFound: no such file.
        BadImage: it is no picture.
    """
    path = Path(path)
    if not path.is_file():
        raise NotFound.path(path, "picture")
    try:
        with Image.open(path, formats=["PNG"]) as image:
            image.load()
            text = getattr(image, "text", {}).get(STAMP)
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError) as error:
        raise BadImage(f"{path}: not a PNG picture ({error})", where=str(path)) from error
    try:
        facts = json.loads(text) if text is not None else None
    except ValueError:
        return None
    return facts if isinstance(facts, dict) else None


def parameters_line(facts: Mapping[str, Any]) -> str:
    """Return the facts in the form that viewers of generated pictures read: prompt, negative prompt, then one line.

    Args:
        facts: keys prompt, negative, steps, scheduler, guidance, seed, width, height, digest and model are used, where
            they are there.
    """
    size = f"{facts['width']}x{facts['height']}" if facts.get("width") and facts.get("height") else None
    digest = facts.get("digest")
    named = {
        "Steps": facts.get("steps"),
        "Sampler": facts.get("scheduler"),
        "CFG scale": facts.get("guidance"),
        "Seed": facts.get("seed"),
        "Size": size,
        "Model hash": digest[:10] if digest else None,
        "Model": facts.get("model"),
    }
    lines = [str(facts.get("prompt", ""))]
    if facts.get("negative"):
        lines.append(f"Negative prompt: {facts['negative']}")
    lines.append(", ".join(f"{name}: {value}" for name, value in named.items() if value is not None))
    return "\n".join(lines)

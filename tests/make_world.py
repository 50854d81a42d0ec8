"""A small make.toml with pictures drawn by code, for the tests of making."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from paragone.images import Picture, write_image

__all__ = ["MAKE", "drawn", "world"]

MAKE = """\
name = "tiny"
criteria = ["overall"]
seed = 3

[reference.content]
folder = "in/contents"

[reference.style]
folder = "in/styles"

[method.reinhard]
kind = "styliser"

[method.brush]
kind = "styliser"
styliser = "strokes"
"""


def drawn(seed: int, height: int = 32, width: int = 40) -> Picture:
    """A smooth random picture, (height, width, 3)."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width]
    waves = [np.sin(x / rng.uniform(2, 9) + y / rng.uniform(2, 9) + rng.uniform(0, 6)) for _ in range(3)]
    picture: Picture = (0.5 + 0.45 * np.stack(waves, axis=-1)).astype(np.float32)
    return picture


def world(folder: Path, text: str = MAKE, *, contents: int = 2, styles: int = 2) -> Path:
    """A folder with make.toml, `contents` photographs c1, c2, ... and `styles` paintings s1, s2, ..."""
    folder.mkdir(parents=True, exist_ok=True)
    for kind, letter, n in (("contents", "c", contents), ("styles", "s", styles)):
        for k in range(1, n + 1):
            write_image(drawn(10 * len(kind) + k), folder / "in" / kind / f"{letter}{k}.png")
    (folder / "make.toml").write_text(text, encoding="utf-8")
    return folder

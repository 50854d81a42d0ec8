"""A small benchmark's pictures and ids, for the tests of this room."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from paragone.images import Picture
from paragone.make.cells import Job

__all__ = ["CONTENTS", "STYLES", "Jobs", "Paint", "smooth"]

CONTENTS = ("cat", "hopper")
STYLES = ("wave", "great_wave", "spring")
Jobs = Callable[..., list[Job]]
Paint = Callable[..., Path]


def smooth(seed: int, height: int = 24, width: int = 32) -> Picture:
    """A picture with a few soft blots of colour, different for every seed."""
    random = np.random.default_rng(seed)
    rows, columns = np.mgrid[0:height, 0:width] / max(height, width)
    made = np.zeros((height, width, 3))
    for _ in range(6):
        row, column, size = random.uniform(0, 1), random.uniform(0, 1), random.uniform(0.1, 0.3)
        blot = np.exp(-((rows - row) ** 2 + (columns - column) ** 2) / size**2)
        made += blot[..., None] * random.uniform(0, 1, 3)
    return (made / made.max()).astype(np.float32)

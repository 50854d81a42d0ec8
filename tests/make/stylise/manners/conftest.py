"""A content with a subject, and each manner's generated reference."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from paragone.make.stylise.manners.samples import sample_style

Picture = NDArray[np.float32]


@pytest.fixture(scope="session")
def scene() -> Callable[..., Picture]:
    """Makes a warm striped disk before plain ground that grows darker downwards; the disk's middle in parts of a side."""

    def make(
        height: int = 96, width: int = 128, row: float = 0.5, column: float = 0.5, *, grey: bool = False
    ) -> Picture:
        y, x = (np.mgrid[0:height, 0:width] + 0.5) / np.array([height, width])[:, None, None]
        image = np.array([0.55, 0.68, 0.80]) - 0.12 * y[..., None]
        away = np.hypot((y - row) * height, (x - column) * width) / min(height, width)
        stripes = np.sin(60 * x + 20 * y) > 0
        image[away < 0.24] = np.where(stripes[..., None], [0.80, 0.35, 0.20], [0.30, 0.16, 0.10])[away < 0.24]
        image[away < 0.07] = (0.95, 0.90, 0.80)
        if grey:
            image = np.repeat(image.mean(axis=2, keepdims=True), 3, axis=2)
        return image.astype(np.float32)

    return make


@pytest.fixture(scope="session")
def reference() -> Callable[[str], Picture]:
    """The generated reference of a manner, 128 pixels a side."""
    return cache(lambda manner: sample_style(manner, side=128))

"""Pictures made by code."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

Picture = NDArray[np.float32]


@pytest.fixture(scope="session")
def picture() -> Callable[..., Picture]:
    """Makes a smooth colourful picture with one sharp square, from a seed."""

    def make(height: int = 48, width: int = 64, seed: int = 0) -> Picture:
        rng = np.random.default_rng(seed)
        y, x = np.mgrid[0:height, 0:width] / max(height, width)
        waves = [np.sin(rng.uniform(2, 9) * x + rng.uniform(2, 9) * y + rng.uniform(0, 6)) for _ in range(3)]
        image = 0.5 + 0.3 * np.stack(waves, axis=-1) + 0.04 * rng.standard_normal((height, width, 3))
        image[height // 4 : height // 2, width // 4 : width // 2] = rng.uniform(0, 1, 3)
        return np.clip(image, 0, 1).astype(np.float32)

    return make

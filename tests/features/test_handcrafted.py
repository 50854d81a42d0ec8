"""The 27 numbers mean what their names say."""

from __future__ import annotations

import numpy as np
import pytest

from paragone.errors import BadImage
from paragone.features import HANDCRAFTED, handcrafted
from paragone.images import lab


def named(image: np.ndarray) -> dict[str, float]:
    return dict(zip(HANDCRAFTED, handcrafted(image).tolist(), strict=True))


def test_a_flat_picture_has_its_colour_and_nothing_else() -> None:
    image = np.full((20, 30, 3), [0.2, 0.5, 0.7], dtype=np.float32)
    colour = lab(image)[0, 0]
    made = named(image)
    assert [made[f"mean of {c}"] for c in "Lab"] == pytest.approx(colour.tolist())
    assert [value for name, value in made.items() if not name.startswith("mean of")] == pytest.approx(
        [0.0] * 24, abs=1e-6
    )


def test_stripes_have_their_edges_at_their_angle() -> None:
    wave = 0.5 + 0.4 * np.sin(np.arange(64) / 3)
    upright = np.repeat(np.repeat(wave[None, :, None], 64, axis=0), 3, axis=2).astype(np.float32)
    assert named(upright)["share of edges at 0 degrees"] > 0.99
    assert named(upright.transpose(1, 0, 2))["share of edges at 90 degrees"] > 0.99


def test_deviations_and_covariances_are_those_of_the_pixels() -> None:
    image = np.random.default_rng(0).random((24, 20, 3), dtype=np.float32)
    pixels, made = lab(image).reshape(-1, 3), named(image)
    assert [made[f"deviation of {c}"] for c in "Lab"] == pytest.approx(pixels.std(axis=0).tolist())
    assert made["covariance of L and b"] == pytest.approx(np.cov(pixels.T, bias=True)[0, 2])


def test_fine_noise_tips_the_balance_to_fine_gradients() -> None:
    rng = np.random.default_rng(1)
    noise = rng.random((64, 64, 3), dtype=np.float32)
    coarse = np.repeat(np.repeat(noise[:4, :4], 16, axis=0), 16, axis=1)
    assert named(noise)["balance of fine and coarse gradients"] > named(coarse)["balance of fine and coarse gradients"]


def test_what_is_no_picture_is_refused() -> None:
    with pytest.raises(BadImage, match="is not"):
        handcrafted(np.ones((4, 4, 2)))

"""Pictures of any shape become the square that the definition says."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from paragone.errors import BadConfig
from paragone.features.framing import FRAMINGS, framed, framing_id
from paragone.images import resize


def ramp(height: int, width: int) -> np.ndarray:
    """Red rises to the right, green downwards, both from 0 to 1; blue is level."""
    made = np.full((height, width, 3), 0.25, dtype=np.float32)
    made[..., 0] = (np.arange(width, dtype=np.float32) + 0.5) / width
    made[..., 1] = ((np.arange(height, dtype=np.float32) + 0.5) / height)[:, None]
    return made


@pytest.mark.parametrize("framing", FRAMINGS)
@pytest.mark.parametrize("shape", [(64, 64), (30, 200), (300, 40), (1, 1), (1, 500), (225, 223)])
def test_every_shape_becomes_the_square(framing: str, shape: tuple[int, int]) -> None:
    made = framed(ramp(*shape), 64, framing=framing)
    assert made.shape == (64, 64, 3)
    assert made.dtype == np.float32
    assert made.flags.c_contiguous
    assert made.min() >= 0
    assert made.max() <= 1


def test_a_crop_is_the_middle_of_the_picture_at_the_stated_size() -> None:
    """Shorter side 280 px to 256: one new pixel is 280/256 old ones, and 112 of them reach from the middle to an edge."""
    made = framed(ramp(280, 500), 224, framing="crop")
    step = 280 / 256
    places = (np.arange(224) + 0.5 - 112) * step
    np.testing.assert_allclose(made[100, :, 0], (250 + places) / 500, atol=2e-4)
    np.testing.assert_allclose(made[:, 100, 1], (140 + places) / 280, atol=2e-4)


def test_a_crop_is_what_imagenet_networks_are_evaluated_on() -> None:
    """Pillow's own: shorter side to 256, bicubic, middle 224; 8 bits and half a pixel of rounding apart."""
    rng = np.random.default_rng(0)
    coarse = rng.random((12, 16, 3), dtype=np.float32)
    picture = resize(coarse, 384, 512, resizer="pil-bicubic")
    eight = Image.fromarray(np.round(picture * 255).astype(np.uint8)).resize((341, 256), Image.Resampling.BICUBIC)
    theirs = np.asarray(eight.crop((58, 16, 282, 240)), dtype=np.float32) / 255
    assert np.abs(framed(picture, 224, framing="crop") - theirs).mean() < 0.01


def test_padding_keeps_the_whole_picture_on_its_mean_colour() -> None:
    picture = ramp(60, 120)
    made = framed(picture, 60, framing="pad")
    np.testing.assert_array_equal(made[15:45], resize(picture, 30, 60, resizer="pil-bicubic"))
    ground = np.concatenate([made[:15], made[45:]]).reshape(-1, 3)
    np.testing.assert_allclose(ground, np.tile([0.5, 0.5, 0.25], (len(ground), 1)), atol=1e-3)


def test_a_square_of_the_right_size_is_padded_by_nothing() -> None:
    picture = ramp(64, 64)
    np.testing.assert_array_equal(framed(picture, 64, framing="pad"), picture)


def test_the_words_name_the_sizes_and_the_resizer() -> None:
    assert framing_id("crop", 224) == "middle square to 256, middle 224 of it, pil-bicubic"
    assert framing_id("pad", 224) == "longer side to 224, padded with the mean colour, pil-bicubic"


def test_another_framing_or_side_is_refused() -> None:
    with pytest.raises(BadConfig, match="framing 'squash' is not one of crop, pad"):
        framed(ramp(8, 8), 8, framing="squash")
    with pytest.raises(BadConfig, match="side is 0; give the side of the square in pixels"):
        framed(ramp(8, 8), 0, framing="crop")

"""The instruction of a check can be read in the picture, in every language and at every size."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image
from scipy import ndimage

from paragone.errors import BadImage, BadInput, UnknownName
from paragone.study.pictures.instructed import MIN_SIDE, instructed
from paragone.study.pictures.png import packed, read_png
from paragone.study.pictures.sanitise import png_bytes

SIZES = [(128, 128), (128, 700), (700, 128), (200, 150), (512, 512), (1500, 900)]


def plain(width: int, height: int) -> bytes:
    return png_bytes(np.full((height, width, 3), (90, 120, 100), np.uint8))


def drawn(size: tuple[int, int], expected: str, language: str) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(instructed(plain(*size), expected, language))))


def letters(picture: np.ndarray) -> np.ndarray:
    """Heights of the white shapes inside the sign."""
    shapes, _ = ndimage.label(picture[..., 0] > 150, structure=np.ones((3, 3)))
    return np.array([found[0].stop - found[0].start for found in ndimage.find_objects(shapes)])


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("language", ["en", "de", "zh"])
@pytest.mark.parametrize("expected", ["left", "right", "3.4"])
def test_letters_are_large_enough_and_the_rest_is_untouched(
    size: tuple[int, int], language: str, expected: str
) -> None:
    picture = drawn(size, expected, language)
    assert picture.shape == (size[1], size[0], 3)
    assert np.median(letters(picture)) >= 8
    changed = (picture != (90, 120, 100)).any(axis=2)
    rows, columns = np.flatnonzero(changed.any(axis=1)), np.flatnonzero(changed.any(axis=0))
    sign = picture[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    assert changed.sum() == sign.shape[0] * sign.shape[1] < picture.shape[0] * picture.shape[1]
    assert (sign[..., 0] == sign[..., 1]).all()
    assert (sign[..., 0] == sign[..., 2]).all()


@pytest.mark.parametrize("language", ["en", "de", "zh"])
def test_left_and_right_tick_the_frame_on_that_side(language: str) -> None:
    for expected, sign in (("left", 1), ("right", -1)):
        upper = drawn((512, 512), expected, language)[60:256, :, 0] > 150
        assert sign * (upper[:, :256].sum() - upper[:, 256:].sum()) > 5000


def test_every_instruction_looks_different() -> None:
    made = {
        drawn((256, 256), expected, language).tobytes()
        for expected in ("left", "right", "3.4", "3.5", "10")
        for language in ("en", "de", "zh")
    }
    assert len(made) == 15


def test_numbers_are_written_as_people_write_them() -> None:
    assert (drawn((256, 256), "3.4", "en") == drawn((256, 256), "3.40", "en")).all()
    assert (drawn((256, 256), "4", "de") == drawn((256, 256), "4.0", "de")).all()


def test_colour_information_stays_with_the_picture() -> None:
    gamma = (b"gAMA", struct.pack(">I", 45455))
    like = packed(read_png(plain(200, 200), where=""), colour=(gamma,))
    made = read_png(instructed(like, "left", "en"), where="")
    assert made.colour == (gamma,)


def test_a_grey_picture_stays_legible() -> None:
    grey = png_bytes(np.full((200, 200), 100, np.uint8))
    made = Image.open(io.BytesIO(instructed(grey, "left", "en")))
    assert made.size == (200, 200)
    assert np.median(letters(np.asarray(made.convert("RGB")))) >= 8


def test_what_cannot_be_drawn_is_refused() -> None:
    picture = plain(200, 200)
    with pytest.raises(BadImage, match=rf"a.png: 127 x 200 pixels are too few .* it takes {MIN_SIDE} a side"):
        instructed(plain(127, 200), "left", "en", where="a.png")
    for expected in ("tie", "", "nan", "inf"):
        with pytest.raises(BadInput, match=rf"expected '{expected}' cannot be drawn"):
            instructed(picture, expected, "en")
    with pytest.raises(UnknownName, match="no language 'fr'; there is de, en, zh"):
        instructed(picture, "left", "fr")
    with pytest.raises(BadImage, match=r"damaged or cut off|not a picture"):
        instructed(zlib.compress(b"x"), "left", "en")

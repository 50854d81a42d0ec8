"""What every styliser of the catalogue must do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from paragone.errors import BadImage, UnknownName
from paragone.make.stylise import STYLISERS, Styliser, stylise

Make = Callable[..., NDArray[np.float32]]
NAMES = sorted(STYLISERS.builtin)


@pytest.mark.parametrize("name", NAMES)
def test_a_result_has_the_size_of_the_content_and_is_a_picture(name: str, picture: Make) -> None:
    made = stylise(picture(40, 56), picture(64, 30, 1), name)
    assert made.shape == (40, 56, 3)
    assert made.dtype == np.float32
    assert 0.0 <= made.min() <= made.max() <= 1.0


@pytest.mark.parametrize("name", NAMES)
def test_a_seed_gives_one_result_and_arguments_are_left_alone(name: str, picture: Make) -> None:
    content, style = picture(), picture(seed=1)
    before = content.copy(), style.copy()
    assert np.array_equal(stylise(content, style, name, seed=3), stylise(content, style, name, seed=3))
    assert np.array_equal(content, before[0])
    assert np.array_equal(style, before[1])


@pytest.mark.parametrize("name", NAMES)
def test_the_style_matters_and_so_does_the_content(name: str, picture: Make) -> None:
    made = stylise(picture(), picture(seed=1), name)
    assert np.abs(made - stylise(picture(), picture(seed=2), name)).mean() > 0.02
    assert np.abs(made - stylise(picture(seed=5), picture(seed=1), name)).mean() > 0.02


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", [(16, 16), (17, 90)])
def test_flat_and_narrow_pictures_go_through(name: str, shape: tuple[int, int], picture: Make) -> None:
    flat = np.full((*shape, 3), 0.4, dtype=np.float32)
    black = np.zeros((*shape, 3), dtype=np.float32)
    for content, style in ((flat, picture()), (picture(*shape), flat), (black, black), (flat, black)):
        assert np.isfinite(stylise(content, style, name)).all()


@pytest.mark.parametrize("name", NAMES)
def test_every_record_says_what_it_is_and_where_it_comes_from(name: str) -> None:
    record = STYLISERS.get(name)
    assert isinstance(record, Styliser)
    assert record.name == name
    assert record.summary
    assert record.strategy
    assert any(char.isdigit() for char in record.source)  # a year


def test_an_unknown_styliser_is_refused(picture: Make) -> None:
    with pytest.raises(UnknownName, match="no styliser 'kuwahra'; did you mean 'kuwahara'"):
        stylise(picture(), picture(), "kuwahra")


def test_pictures_that_are_none_are_refused(picture: Make) -> None:
    with pytest.raises(BadImage, match="style picture is 8 x 15 pixels; stylisers need at least 16 a side"):
        stylise(picture(), picture(15, 8), "reinhard")
    with pytest.raises(BadImage, match="content"):
        stylise(255 * picture(), picture(), "reinhard")


def test_a_grey_picture_is_taken_as_three_equal_channels(picture: Make) -> None:
    grey = picture()[..., 0]
    three = np.repeat(grey[..., None], 3, axis=2)
    assert np.array_equal(stylise(grey, picture(seed=1), "xdog"), stylise(three, picture(seed=1), "xdog"))


def test_a_styliser_of_ones_own_is_called_and_its_result_checked(picture: Make) -> None:
    own = Styliser(
        name="own", run=lambda content, style, *, seed: 2 * content, summary="-", source="-", strategy="colour"
    )
    assert stylise(picture(), picture(), own).max() == 1.0
    with pytest.raises(BadImage, match="styliser 'own' gave"):
        stylise(picture(), picture(), replace(own, run=lambda content, style, *, seed: content[1:]))

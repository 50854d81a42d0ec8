"""The styliser that knows the style's name, and three manners."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import ndimage
from scipy.spatial.distance import cdist

from installed import needed
from paragone.catalog import Catalog
from paragone.errors import BadConfig, UnknownName
from paragone.images import lab, read_image, resize
from paragone.make.stylise import Styliser, llip, stylise
from paragone.make.stylise.llip import LLIP
from paragone.make.stylise.manners import STRATEGIES
from paragone.make.stylise.manners.aboriginal import ABORIGINAL, _dots
from paragone.make.stylise.manners.everyday import EVERYDAY
from paragone.make.stylise.manners.great_wave import _INSCRIPTION, GREAT_WAVE

needed("numba")

Make = Callable[..., NDArray[np.float32]]
MANNERS = [ABORIGINAL, EVERYDAY, GREAT_WAVE]


@pytest.fixture
def _three(monkeypatch: pytest.MonkeyPatch) -> None:
    room = "paragone.make.stylise.manners"
    table = {"everyday": f"{room}.everyday:EVERYDAY", "great-wave": f"{room}.great_wave:GREAT_WAVE"}
    monkeypatch.setattr(llip, "MANNERS", Catalog("paragone.manners", "manner", table))


@pytest.mark.usefixtures("_three")
def test_the_manner_of_the_name_is_used_and_without_a_name_the_everyday_one(picture: Make) -> None:
    content, style = picture(), picture(seed=1)
    named = stylise(content, style, LLIP, seed=2, options={"manner": "great-wave"})
    assert np.array_equal(named, stylise(content, style, GREAT_WAVE, seed=2))
    assert np.array_equal(stylise(content, style, LLIP, seed=2), stylise(content, style, EVERYDAY, seed=2))


@pytest.mark.usefixtures("_three")
def test_a_manner_that_is_not_there_is_refused(picture: Make) -> None:
    with pytest.raises(UnknownName, match="no manner 'great-wav'; did you mean 'great-wave'"):
        stylise(picture(), picture(), LLIP, options={"manner": "great-wav"})
    with pytest.raises(BadConfig, match="manner"):
        stylise(picture(), picture(), LLIP, options={"manner": 3})


@pytest.mark.parametrize("manner", MANNERS, ids=lambda manner: manner.name)
def test_a_manner_gives_one_picture_for_a_seed_and_says_what_it_is(manner: Styliser, picture: Make) -> None:
    content, style = picture(60, 90), picture(70, 50, seed=1)
    before = content.copy(), style.copy()
    made = stylise(content, style, manner, seed=3)
    assert made.shape == content.shape
    assert np.array_equal(made, stylise(content, style, manner, seed=3))
    assert np.array_equal(content, before[0])
    assert np.array_equal(style, before[1])
    assert manner.strategy.startswith(STRATEGIES)
    assert any(char.isdigit() for char in manner.source)


@pytest.mark.parametrize("manner", MANNERS, ids=lambda manner: manner.name)
@pytest.mark.parametrize("shape", [(16, 16), (17, 90)])
def test_flat_and_narrow_pictures_go_through(manner: Styliser, shape: tuple[int, int], picture: Make) -> None:
    flat = np.full((*shape, 3), 0.4, dtype=np.float32)
    black = np.zeros((*shape, 3), dtype=np.float32)
    for content, style in ((flat, picture()), (picture(*shape), flat), (black, black), (flat, black)):
        assert np.isfinite(stylise(content, style, manner)).all()


def small(path: Path, longest: int = 192) -> NDArray[np.float32]:
    image = read_image(path)
    scale = longest / max(image.shape[:2])
    return resize(image, round(image.shape[0] * scale), round(image.shape[1] * scale), resizer="area")


def test_the_great_waves_inscription_is_never_copied(shared: Callable[[str], Path]) -> None:
    style = small(shared("art/styles/great_wave.jpg"))
    marked = style.copy()
    height, width = (int(part * side) for part, side in zip(_INSCRIPTION, style.shape[:2], strict=True))
    marked[:height, :width] = (0.0, 1.0, 0.0)  # a colour that the print has nowhere
    made = stylise(small(shared("art/contents/castle.jpg")), marked, GREAT_WAVE, options={"lines": 0.0})
    assert not (np.abs(made - np.array([0.0, 1.0, 0.0])).max(axis=2) < 0.2).any()


def test_the_great_wave_prints_lines_where_the_content_has_edges(shared: Callable[[str], Path]) -> None:
    content, style = small(shared("art/contents/hopper.jpg")), small(shared("art/styles/great_wave.jpg"))
    with_lines, without = (stylise(content, style, GREAT_WAVE, options={"lines": share}) for share in (0.8, 0.0))
    inked = lab(without)[..., 0] - lab(with_lines)[..., 0] > 10
    assert 0.03 < inked.mean() < 0.5
    slope = ndimage.gaussian_gradient_magnitude(lab(content)[..., 0], 1.0)
    assert slope[inked].mean() > 1.3 * slope[~inked].mean()


def test_dots_stand_in_rows_along_an_outline_and_none_on_another() -> None:
    field = np.zeros((60, 80), dtype=np.int64)
    field[:, 40:] = 1
    dots = _dots(field, 5.0)
    right = dots.at[:, 1] > 40
    # the outline's own pixels are column 40; rows stand 2.5, 7.5, ... away from it
    assert np.allclose(dots.at[right, 1], 40 + 5.0 * (dots.row[right] + 0.5))
    assert np.allclose(dots.at[~right, 1], 40 - 5.0 * (dots.row[~right] + 0.5))
    first = np.sort(dots.at[right & (dots.row == 0), 0])
    assert np.allclose(np.diff(first), 59 / 12)  # twelve dots, about 5 apart, share the 59 pixels of the row evenly
    distance = cdist(dots.at, dots.at) + 99 * np.eye(len(dots.at))
    assert distance.min() >= 4.0


def test_a_dot_painting_is_dots_of_few_colours_on_a_dark_ground(shared: Callable[[str], Path]) -> None:
    content, style = small(shared("art/contents/hopper.jpg")), small(shared("art/styles/cafe_terrace.jpg"))
    light = lab(stylise(content, style, ABORIGINAL))[..., 0]
    ground, dots = (np.quantile(light, share) for share in (0.1, 0.6))
    assert ground < 30
    assert dots > ground + 20


def test_the_everyday_manner_uses_the_styles_colours_as_often_as_the_style(shared: Callable[[str], Path]) -> None:
    content, style = small(shared("art/contents/castle.jpg")), small(shared("art/styles/cafe_terrace.jpg"))
    made, wanted = lab(stylise(content, style, EVERYDAY)), lab(style)
    share = np.linspace(0.1, 0.9, 9)
    for axis, tolerance in ((0, 8.0), (1, 8.0), (2, 10.0)):
        off = np.quantile(made[..., axis], share) - np.quantile(wanted[..., axis], share)
        assert np.abs(off).max() < tolerance

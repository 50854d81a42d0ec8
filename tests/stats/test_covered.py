"""Coverage measures on pools whose answers are seen by eye."""

from __future__ import annotations

import numpy as np
import pytest

from paragone.errors import BadInput
from paragone.stats.covered import covered_ranges, covered_share, nearest_distance, random_picks
from paragone.stats.quotas import Quotas

LINE = np.arange(11.0)[:, None]


def test_ranges_and_gaps_on_a_line() -> None:
    made = covered_ranges(LINE, [2, 3, 8])
    assert (made.pool_low[0], made.pool_high[0], made.low[0], made.high[0]) == (0, 10, 2, 8)
    assert made.share[0] == pytest.approx(0.6)
    assert made.gap[0] == pytest.approx(0.5)  # from 3 to 8


def test_a_gap_at_an_end_counts() -> None:
    assert covered_ranges(LINE, [0, 1]).gap[0] == pytest.approx(0.9)


def test_a_property_with_one_value_has_no_range_to_cover() -> None:
    made = covered_ranges(np.column_stack([LINE, np.ones(11)]), [0, 10])
    assert made.share[0] == 1
    assert np.isnan(made.share[1])
    assert np.isnan(made.gap[1])


def test_distance_and_share_within_a_radius() -> None:
    assert nearest_distance(LINE, [0, 10]).tolist() == [0, 1, 2, 3, 4, 5, 4, 3, 2, 1, 0]
    assert covered_share(LINE, [0, 10], 2.0) == pytest.approx(6 / 11)


def test_random_picks_keep_the_fixed_meet_the_quotas_and_repeat() -> None:
    level = np.arange(10)[:, None] % 2
    quotas = Quotas(level, (np.array([2, 1]),))
    made = random_picks(10, 3, 50, 0, quotas=quotas, fixed=[4])
    assert (made[:, 0] == 4).all()
    assert all(np.bincount(level[row, 0]).tolist() == [2, 1] and len(set(row)) == 3 for row in made)
    assert np.array_equal(made, random_picks(10, 3, 50, 0, quotas=quotas, fixed=[4]))


def test_random_picks_without_quotas_are_even() -> None:
    made = random_picks(5, 2, 4000, 1)
    counts = np.bincount(made.reshape(-1), minlength=5)
    assert counts == pytest.approx(np.full(5, 1600), abs=5 * np.sqrt(4000 * 0.4 * 0.6))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: covered_ranges(LINE, []), "at least one index below 11"),
        (lambda: covered_ranges(LINE, [11]), "at least one index below 11"),
        (lambda: covered_share(LINE, [0], -1.0), "radius is -1.0"),
        (lambda: random_picks(5, 2, 0, 0), "0 random picks are none"),
        (lambda: random_picks(2, 1, 1, 0, quotas=Quotas(np.zeros((2, 1), int), (np.array([0, 1]),))), "cannot be met"),
    ],
)
def test_what_does_not_fit_is_refused(call: object, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        call()  # type: ignore[operator]

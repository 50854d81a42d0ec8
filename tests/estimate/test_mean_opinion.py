from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t

from paragone.errors import BadConfig, TooFew
from paragone.estimate.mean_opinion import DMOS, MOS, dmos, mos


def test_an_items_mean_spread_and_error_are_the_textbooks(opinions):
    got = mos(opinions([0, 0, 0, 0], [0, 1, 2, 3], [2, 4, 4, 6]))
    assert got.score[0] == 4
    assert got.notes["sd"][0] == pytest.approx(np.sqrt(8 / 3))
    assert got.stderr[0] == pytest.approx(np.sqrt(8 / 3) / 2)
    assert got.notes["df"][0] == 3


def test_one_rating_has_a_mean_but_no_error(opinions):
    got = mos(opinions([0, 1, 1], [0, 0, 1], [3, 4, 5], n=3))
    np.testing.assert_array_equal(got.score, [3, 4.5, np.nan])
    assert np.isnan(got.stderr[0])
    assert got.stderr[1] == pytest.approx(0.5)
    assert got.notes["items_with_one_rating"] == [0]
    assert got.notes["items_not_rated"] == [2]


def test_repeating_the_whole_data_set_keeps_the_mean(opinions):
    once = opinions([0, 0, 1, 1], [0, 1, 0, 1], [1, 2, 4, 5])
    twice = opinions([0, 0, 1, 1] * 2, [0, 1, 0, 1] * 2, [1, 2, 4, 5] * 2)
    np.testing.assert_allclose(mos(twice).score, mos(once).score)
    np.testing.assert_allclose(mos(once._replace(weight=2 * once.weight)).score, mos(once).score)


def test_t_intervals_cover_at_their_level(opinions):
    """400 studies of 6 ratings: t covers 95 %, the normal quantile only about 90."""
    rng = np.random.default_rng(0)
    values = rng.normal(3, 1, (400, 6))
    got = mos(opinions(np.repeat(np.arange(400), 6), np.tile(np.arange(6), 400), values.ravel()))
    reach = t.ppf(0.975, got.notes["df"]) * got.stderr
    assert 0.92 <= np.mean(np.abs(got.score - 3) <= reach) <= 0.98
    assert np.mean(np.abs(got.score - 3) <= 1.96 * got.stderr) < 0.92


def test_a_bootstrap_replicate_without_ratings_of_an_item_is_nan_there(opinions):
    data = opinions([0, 0, 1], [0, 1, 1], [1, 3, 5])
    np.testing.assert_array_equal(MOS.replicate(data, np.array([[2.0, 0.0], [1.0, 1.0]])), [[1, np.nan], [2, 5]])


@pytest.fixture
def hidden(opinions):
    """Item 0 is the reference of 1 and 2; participant 0 rates it 5, participant 1 rates it 3; item 3 has none."""
    return opinions([0, 1, 2, 3, 0, 1, 2], [0, 0, 0, 0, 1, 1, 1], [5, 4, 3, 2, 3, 2, 4], reference=[-1, 0, 0, -1], n=4)


def test_differences_are_taken_from_the_participants_own_reference(hidden):
    got = dmos(hidden)
    np.testing.assert_allclose(got.score, [5, 4, 4.5, np.nan])
    assert got.stderr[0] == 0  # by definition: the reference equals itself
    assert got.notes["items_without_reference"] == [3]


def test_the_anchor_is_what_an_item_as_good_as_its_reference_gets(hidden):
    np.testing.assert_allclose(dmos(hidden, anchor=0).score, [0, -1, -0.5, np.nan])


def test_differences_from_the_mean_keep_ratings_of_those_who_never_saw_the_reference(opinions):
    data = opinions([0, 1, 1], [0, 0, 1], [5, 4, 2], reference=[-1, 0])
    own, mean = dmos(data), dmos(data, against="mean")
    np.testing.assert_allclose(own.score, [5, 4])
    assert own.notes["ratings_without_reference"] == 1
    assert own.notes["participants_dropped"] == [1]
    np.testing.assert_allclose(mean.score, [5, 3])


def test_the_reference_of_the_same_session_comes_first(opinions):
    data = opinions([0, 1, 0, 1, 1], [0] * 5, [5, 4, 3, 2, 3], session=[0, 0, 1, 1, 2], reference=[-1, 0])
    got = dmos(data)
    assert got.score[1] == pytest.approx(((4 - 5) + (2 - 3) + (3 - 4)) / 3 + 5)
    assert got.notes["reference_from_other_session"] == 1


def test_standardised_differences_per_session_are_those_worked_by_hand(opinions):
    data = opinions([0, 1, 2] * 2, [0] * 6, [5, 4, 3, 5, 3, 1], session=[0, 0, 0, 1, 1, 1], reference=[-1, 0, 0])
    # differences 0, -1, -2 and 0, -2, -4: z = 1, 0, -1 in either session
    np.testing.assert_allclose(dmos(data, standardised="session").score, 100 * (np.array([1, 0, -1]) + 3) / 6)


def test_difference_scores_need_a_reference_and_known_words(opinions, hidden):
    with pytest.raises(TooFew, match="no item has a reference"):
        dmos(opinions([0, 1], [0, 0], [1, 2]))
    with pytest.raises(TooFew, match="cannot be standardised"):
        dmos(opinions([0, 1], [0, 0], [2, 2], reference=[-1, 0]), standardised="participant")
    with pytest.raises(BadConfig, match="against = 'theirs'"):
        dmos(hidden, against="theirs")
    with pytest.raises(BadConfig, match="standardised = 'yes'"):
        dmos(hidden, standardised="yes")


@pytest.mark.parametrize("standardised", ["no", "participant"])
def test_replicates_against_the_mean_take_the_replicates_own_mean(hidden, standardised):
    weights = np.array([[1.0, 2.0], [0.0, 3.0], [0.0, 0.0]])
    got = DMOS.replicate(hidden, weights, against="mean", standardised=standardised)
    for row, count in zip(got[:2], weights, strict=False):
        reweighted = hidden._replace(weight=count[hidden.participant])
        fresh = dmos(reweighted, against="mean", standardised=standardised).score
        np.testing.assert_allclose(row, fresh)
    assert np.isnan(got[2]).all()


def test_a_replicate_that_loses_every_reference_is_nan(opinions):
    data = opinions([0, 1, 1], [0, 0, 1], [5, 4, 2], reference=[-1, 0])
    for standardised in ("no", "participant"):
        lost = DMOS.replicate(data, np.array([[0.0, 1.0]]), against="mean", standardised=standardised)
        assert np.isnan(lost).all()

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import zscore

from paragone.errors import BadConfig, TooFew
from paragone.estimate.zscore import rescaled, standardise, zscore_mos


def test_z_scores_are_scipys_with_n_minus_one(opinions):
    rng = np.random.default_rng(0)
    table = rng.normal(3, 1, (4, 9))
    data = opinions(np.tile(np.arange(9), 4), np.repeat(np.arange(4), 9), table.ravel())
    expected = zscore(table, axis=1, ddof=1)
    np.testing.assert_allclose(standardise(data), expected.ravel())
    np.testing.assert_allclose(zscore_mos(data, scale="none").score, expected.mean(axis=0))


def test_the_three_scales_are_one_straight_line_apart(opinions):
    z = np.array([-3.0, 0.0, 3.0])
    np.testing.assert_allclose(rescaled(z, "0-5"), [0, 2.5, 5])
    np.testing.assert_allclose(rescaled(z, "0-100"), [0, 50, 100])
    np.testing.assert_allclose(rescaled(z, "none"), z)


def test_the_grand_mean_is_the_middle_of_the_scale_only_where_everybody_rated_everything(opinions):
    rng = np.random.default_rng(1)
    item, who = np.tile(np.arange(10), 6), np.repeat(np.arange(6), 10)
    value = item + rng.normal(size=60)
    assert zscore_mos(opinions(item, who, value), scale="0-100").score.mean() == pytest.approx(50)
    some = rng.random(60) < 0.5
    assert abs(zscore_mos(opinions(item[some], who[some], value[some], n=10), scale="0-100").score.mean() - 50) > 0.1


def test_each_session_is_standardised_alone_when_asked(opinions):
    """The participant rates two points higher in the second session; per session that vanishes."""
    data = opinions([0, 1, 2, 0, 1, 2], [0] * 6, [1, 2, 3, 3, 4, 5], session=[0, 0, 0, 1, 1, 1])
    np.testing.assert_allclose(standardise(data, per="session"), [-1, 0, 1, -1, 0, 1])
    assert not np.allclose(standardise(data), [-1, 0, 1, -1, 0, 1])


def test_who_never_varies_or_rates_once_is_dropped_by_name(opinions):
    data = opinions([0, 1, 0, 1, 0], [0, 0, 1, 1, 2], [1, 5, 3, 3, 4])
    got = zscore_mos(data)
    assert got.notes["participants_dropped"] == [1, 2]
    np.testing.assert_array_equal(got.notes["ratings"], [1, 1])


def test_a_session_without_spread_is_dropped_alone(opinions):
    data = opinions([0, 1, 0, 1], [0] * 4, [1, 5, 3, 3], session=[0, 0, 4, 4])
    got = zscore_mos(data, per="session")
    assert got.notes["sessions_dropped"] == [[0, 4]]
    assert got.notes["participants_dropped"] == []


def test_ratings_outside_the_scale_are_counted_and_clipped_only_on_request(opinions):
    value = np.r_[np.zeros(19), 10.0]  # z of the last is 4.25
    data = opinions(np.arange(20), np.zeros(20), value)
    free, cut = zscore_mos(data), zscore_mos(data, clip=True)
    assert free.notes["ratings_outside"] == cut.notes["ratings_outside"] == 1
    assert free.score[-1] > 5
    assert cut.score[-1] == 5
    np.testing.assert_allclose(cut.score[:-1], free.score[:-1])


def test_nobody_with_spread_or_another_word_is_refused(opinions):
    data = opinions([0, 1], [0, 1], [3, 4])
    with pytest.raises(TooFew, match="no participant gave two different ratings"):
        zscore_mos(data)
    varied = opinions([0, 1], [0, 0], [3, 4])
    with pytest.raises(BadConfig, match="scale = '1-7'"):
        zscore_mos(varied, scale="1-7")
    with pytest.raises(BadConfig, match="per = 'day'"):
        zscore_mos(varied, per="day")

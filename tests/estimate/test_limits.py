from __future__ import annotations

import numpy as np
import pytest

from paragone.errors import BadConfig, BadInput
from paragone.estimate import ESTIMATORS, Estimator
from paragone.estimate.limits import require_iterating, require_within, require_within_reach

RATERS = [pytest.param(e, id=e.name) for e in map(ESTIMATORS.get, ESTIMATORS.builtin) if e.reads != "votes"]
ITEM, WHO = np.tile(np.arange(4), 5), np.repeat(np.arange(5), 4)
VALUE = np.random.default_rng(1).normal(size=20) + ITEM


def _data(estimator: Estimator, opinions, comparisons, value):
    rated = opinions(ITEM, WHO, value, reference=[3, 3, 3, -1])
    if estimator.reads == "ratings":
        return (rated,)
    return comparisons([0, 1, 2, 3, 0], [1, 2, 3, 0, 2], [1, 1, 1, 1, 0], participant=[0, 1, 2, 3, 4]), rated


def test_the_ends_of_a_range_are_in_it():
    require_within("k", 1, 1.0, 2.0, where="elo")
    require_within("k", np.float64(2.0), 1.0, 2.0, where="elo")
    require_within("k", 0.0, 1.0, 2.0, where="elo", zero=True)
    with pytest.raises(BadConfig, match=r"elo: k = '0\.0' is not between 1 and 2; use less"):
        require_within("k", 0.0, 1.0, 2.0, where="elo", advice="use less")
    with pytest.raises(BadConfig, match="elo: k = 'False' is not 0 or between 1 and 2"):
        require_within("k", False, 1.0, 2.0, where="elo", zero=True)


def test_the_loosest_tolerance_is_allowed():
    require_iterating(0.1, np.int64(1), loosest=0.1)
    with pytest.raises(BadConfig, match=r"tolerance = '0.11' is not a finite number above 0 and up to 0\.1"):
        require_iterating(0.11, 1, loosest=0.1)


def test_ratings_are_refused_by_their_row():
    require_within_reach(np.array([-1e100, 0.0, 1e100]))
    with pytest.raises(
        BadInput, match=r"rating 1 is -1\.1e\+100, beyond \+-1e\+100; give the ratings in a larger unit"
    ):
        require_within_reach(np.array([0.0, -1.1e100]))
    with pytest.raises(BadInput, match="rating 0 is nan; leave missing ratings out"):
        require_within_reach(np.array([np.nan, 1e200]))


@pytest.mark.parametrize("value", [1e308, -1e307, 1.1e100])
@pytest.mark.parametrize("estimator", RATERS)
def test_every_rating_model_refuses_ratings_beyond_reach(estimator: Estimator, opinions, comparisons, value):
    far = VALUE.copy()
    far[7] = value
    with pytest.raises(BadInput, match=r"rating 7 is .* beyond \+-1e\+100"):
        estimator.model(*_data(estimator, opinions, comparisons, far))


@pytest.mark.parametrize("scale", [1e-60, 1e20, 1e60, 1e99])
@pytest.mark.parametrize("estimator", RATERS)
def test_ratings_within_reach_are_scored_in_any_unit(estimator: Estimator, opinions, comparisons, scale):
    data = _data(estimator, opinions, comparisons, VALUE)
    changed = (*data[:-1], data[-1]._replace(value=VALUE * scale))
    tolerance = {"tolerance": 1e-8 * scale} if estimator.name in ("p910", "sureal") else {}
    anchored = {"anchor": 0.0} if estimator.name == "dmos" else {}
    small = estimator.model(*data, **anchored)
    large = estimator.model(*changed, **anchored, **tolerance)
    unit = 1.0 if estimator.name in ("zscore-mos", "unified") else scale
    np.testing.assert_allclose(large.score / unit, small.score, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(large.stderr / unit, small.stderr, rtol=1e-6, atol=1e-6)

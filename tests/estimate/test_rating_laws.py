"""What must hold of every way of scoring ratings, whatever the numbers."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paragone.errors import BadInput, TooFew
from paragone.estimate.arrays import Estimator, Opinions
from paragone.estimate.bias_removed import BIAS_REMOVED
from paragone.estimate.mean_opinion import DMOS, MOS
from paragone.estimate.subject_model import P910
from paragone.estimate.sureal_full import SUREAL
from paragone.estimate.zscore import ZSCORE_MOS

MODELS = [MOS, DMOS, ZSCORE_MOS, BIAS_REMOVED, P910, SUREAL]
SMALL = settings(max_examples=12, deadline=None)

named = pytest.mark.parametrize("estimator", MODELS, ids=lambda e: e.name)
seeds = st.integers(0, 10_000)


def study(seed: int, *, n: int = 12, p: int = 7, holes: float = 0.25) -> Opinions:
    """Ratings with gaps, two sessions, two contents and a reference for each."""
    rng = np.random.default_rng(seed)
    seen = rng.random((p, n)) > holes
    seen[:, :2] = True  # everybody rated both references, so that the table hangs together
    who, item = np.nonzero(seen)
    value = (
        rng.normal(0, 1, n)[item] + rng.normal(0, 0.5, p)[who] + rng.gamma(4, 0.15, p)[who] * rng.normal(size=item.size)
    )
    content = np.arange(n) % 2
    reference = content.copy()
    reference[:2] = -1
    return Opinions(n, p, item, who, item % 2, 3 + value, np.ones(item.size), reference, content)


def score(estimator: Estimator, data: Opinions) -> np.ndarray:
    return estimator.model(data).score


def agree(a: np.ndarray, b: np.ndarray, within: float = 1e-6) -> None:
    np.testing.assert_allclose(a, b, rtol=0, atol=within)


@named
@SMALL
@given(seed=seeds)
def test_renaming_items_and_participants_permutes_the_scores(estimator, seed):
    data = study(seed)
    rng = np.random.default_rng(seed + 1)
    items, people = rng.permutation(data.n), rng.permutation(data.p)
    reference = np.full(data.n, -1)
    reference[items] = np.where(data.reference >= 0, items[data.reference], -1)
    content = np.empty_like(data.content)
    content[items] = data.content
    renamed = data._replace(
        item=items[data.item], participant=people[data.participant], reference=reference, content=content
    )
    agree(score(estimator, renamed)[items], score(estimator, data))


@named
@SMALL
@given(seed=seeds)
def test_the_order_of_the_ratings_does_not_matter(estimator, seed):
    data = study(seed)
    order = np.random.default_rng(seed + 1).permutation(data.item.size)
    shuffled = data._replace(
        item=data.item[order],
        participant=data.participant[order],
        session=data.session[order],
        value=data.value[order],
        weight=data.weight[order],
    )
    agree(score(estimator, shuffled), score(estimator, data))


@named
@SMALL
@given(seed=seeds)
def test_a_weight_of_two_is_a_second_participant_with_the_same_ratings(estimator, seed):
    data = study(seed)
    twin = np.flatnonzero(data.participant == 0)
    doubled = data._replace(weight=np.where(data.participant == 0, 2.0, 1.0))
    copied = data._replace(
        p=data.p + 1,
        item=np.append(data.item, data.item[twin]),
        participant=np.append(data.participant, np.full(twin.size, data.p)),
        session=np.append(data.session, data.session[twin]),
        value=np.append(data.value, data.value[twin]),
        weight=np.ones(data.item.size + twin.size),
    )
    agree(score(estimator, doubled), score(estimator, copied))


@pytest.mark.parametrize("estimator", [m for m in MODELS if m.replicate], ids=lambda e: e.name)
@SMALL
@given(seed=seeds)
def test_replicates_are_what_the_model_says_of_reweighted_participants(estimator, seed):
    data = study(seed)
    counts = np.random.default_rng(seed + 1).multinomial(data.p, np.full(data.p, 1 / data.p), size=3).astype(float)
    together = estimator.replicate(data, np.vstack([counts, np.ones(data.p)]))
    agree(together[3], score(estimator, data), 1e-5)
    if estimator.name == "p910":  # replicates keep the prior's centre of the full data, a fresh fit takes its own
        return
    for row, count in zip(together, counts, strict=False):
        agree(row, score(estimator, data._replace(weight=count[data.participant])))


@named
@SMALL
@given(seed=seeds, scale=st.floats(0.1, 50), shift=st.floats(-30, 30))
def test_another_unit_of_the_ratings_gives_the_same_scores_in_that_unit(estimator, seed, scale, shift):
    data = study(seed)
    other = score(estimator, data._replace(value=scale * data.value + shift))
    if estimator.name == "zscore-mos":
        agree(other, score(estimator, data))
    elif estimator.name == "dmos":
        agree(other - 5, scale * (score(estimator, data) - 5), 1e-6 * scale)
    else:
        agree(other, scale * score(estimator, data) + shift, 1e-5 * (scale + abs(shift)))


@pytest.mark.parametrize("estimator", [ZSCORE_MOS, BIAS_REMOVED, P910, SUREAL], ids=lambda e: e.name)
@SMALL
@given(seed=seeds, severity=st.floats(-20, 20))
def test_a_harsher_participant_only_shifts_the_whole_scale(estimator, seed, severity):
    data = study(seed)
    harsh = data._replace(value=data.value - severity * (data.participant == 0))
    shift = 0.0 if estimator.name == "zscore-mos" else severity / data.p
    agree(score(estimator, harsh), score(estimator, data) - shift, 1e-5)


@named
@SMALL
@given(seed=seeds)
def test_an_item_that_nobody_rated_is_nan_and_changes_no_other(estimator, seed):
    data = study(seed)
    more = data._replace(n=data.n + 1, reference=np.append(data.reference, 0), content=np.append(data.content, 0))
    got = score(estimator, more)
    assert np.isnan(got[-1])
    agree(got[:-1], score(estimator, data), 1e-9)


@named
def test_no_argument_is_written_to(estimator):
    data = study(1)
    before = [np.array(part, copy=True) for part in data]
    score(estimator, data)
    if estimator.replicate:
        estimator.replicate(data, np.ones((2, data.p)))
    for old, part in zip(before, data, strict=True):
        np.testing.assert_array_equal(old, part)


@named
def test_every_option_is_a_keyword_of_the_model(estimator):
    keywords = inspect.signature(estimator.model).parameters
    assert set(estimator.options) == {name for name, p in keywords.items() if p.kind is p.KEYWORD_ONLY}
    assert estimator.source
    assert estimator.summary


@named
def test_missing_numbers_and_negative_weights_are_refused(estimator):
    data = study(2)
    with pytest.raises(BadInput, match="rating 0 is nan"):
        estimator.model(data._replace(value=np.where(np.arange(data.value.size) == 0, np.nan, data.value)))
    with pytest.raises(BadInput, match="at least 0"):
        estimator.model(data._replace(weight=-data.weight))
    with pytest.raises(TooFew, match="no ratings"):
        estimator.model(data._replace(weight=0 * data.weight))

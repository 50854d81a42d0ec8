from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from scipy.stats import spearmanr

from paragone.screen.rules import bt500, commonest, correlation_with_mean, longest_run, residual_spread

RANDOM = ["s27", "s28", "s29", "s30"]  # raters whom Netflix added with random answers


def long(table: np.ndarray) -> dict:
    """Arguments for a table of items by participants; NaN is a rating that was not given."""
    item, participant = np.nonzero(~np.isnan(table))
    return {
        "item": item,
        "participant": participant,
        "value": table[item, participant],
        "n": table.shape[0],
        "p": table.shape[1],
    }


def rejected(found, share: float = 0.05, balance: float = 0.3) -> list[int]:
    return np.flatnonzero((found.share > share) & (found.balance < balance)).tolist()


@pytest.fixture(scope="module")
def nflx(shared):
    def read(name: str):
        frame = pl.read_csv(shared(f"votes/nflx_public/{name}.csv"))
        wide = frame.pivot(on="rater", index="item", values="score").sort("item").drop("item")
        expected = json.loads(shared(f"votes/nflx_public/{name}.expected.json").read_text())
        return long(wide.to_numpy()), wide.columns, expected

    return read


@pytest.mark.parametrize("name", ["nflx_public", "nflx_public_last4random"])
@pytest.mark.parametrize("convention", ["text", "sureal"])
def test_bt500_counts_are_those_of_an_independent_implementation(nflx, name, convention):
    """The last four random answers make an item with 24 fives and 6 fours, where 4 lies at exactly u - 2 S."""
    data, raters, expected = nflx(name)
    expected = expected["screening_bt500_text" if convention == "text" else "screening_bt500_sureal_convention"]
    found = bt500(**data, convention=convention)
    assert found.above.tolist() == list(expected["P"].values())
    assert found.below.tolist() == list(expected["Q"].values())
    assert [raters[i] for i in rejected(found)] == expected["rejected"]


@pytest.mark.parametrize("criterion", ["appeal", "realism", "prompt_matching"])
@pytest.mark.parametrize("convention", ["text", "sureal"])
def test_bt500_counts_on_the_avt_pictures(shared, criterion, convention):
    expected = json.loads(shared("votes/avt_ai_images/expected.json").read_text())["criteria"][criterion]
    expected = expected["screening_bt500_text" if convention == "text" else "screening_bt500_sureal_convention"]
    frame = pl.read_csv(shared("votes/avt_ai_images/ratings.csv"))
    frame = frame.filter((pl.col("rater_complete") == 1) & (pl.col("criterion") == criterion))
    frame = frame.unique(["rater", "item"], keep="first", maintain_order=True).cast({"score": pl.Float64})
    wide = frame.pivot(on="rater", index="item", values="score").select(sorted(frame["rater"].unique()))
    found = bt500(**long(wide.fill_null(np.nan).to_numpy()), convention=convention)
    assert found.above.tolist() == list(expected["P"].values())
    assert found.below.tolist() == list(expected["Q"].values())
    assert [wide.columns[i] for i in rejected(found)] == expected["rejected"]


def test_items_on_which_all_agree_are_skipped_by_the_text_and_flag_everybody_in_sureals_reading(shared):
    case = json.loads(shared("votes/textbook/cases.json").read_text())["bt500_unanimous_items"]
    table = np.array(case["scores_items_by_raters"], dtype=float)
    assert rejected(bt500(**long(table))) == case["rejected_when_zero_variance_items_skipped"]
    assert rejected(bt500(**long(table), convention="sureal")) == list(range(24))


def test_the_deviation_has_n_minus_one_in_the_text_and_n_in_sureals_reading():
    """Of 40 ratings 38 are 3, one is 2, one 4: kurtosis 20, S over N is sqrt(1/20), so sqrt(20) S is exactly 1."""
    table = np.full((1, 40), 3.0)
    table[0, :2] = 2.0, 4.0
    assert bt500(**long(table)).above.sum() == 0
    assert bt500(**long(table), convention="sureal").above.tolist()[:3] == [0, 1, 0]


def test_the_share_is_of_a_participants_own_ratings():
    rng = np.random.default_rng(0)
    table = rng.normal(3, 0.5, (100, 30))
    table[40:, 0] = np.nan  # saw 40 of 100 and was far off, both ways, in 4: 10 % of the own, 4 % of all
    table[:40, 0] = table[:40, 1:].mean(axis=1)
    table[[0, 1], 0], table[[2, 3], 0] = 9.0, -3.0
    assert 0 in rejected(bt500(**long(table)))
    assert 0 not in rejected(bt500(**long(table), convention="sureal"))


def test_nobody_far_from_the_mean_leaves_the_balance_undefined():
    table = np.tile([1.0, 2.0, 3.0, 4.0], (5, 1))
    found = bt500(**long(table))
    assert np.isnan(found.balance).all()
    assert rejected(found) == []


def test_a_constant_bias_escapes_bt500():
    rng = np.random.default_rng(1)
    table = np.linspace(1, 5, 60)[:, None] + rng.normal(0, 0.4, (60, 24))
    table[:, 0] += 1
    found = bt500(**long(table))
    assert found.share[0] > 0.3
    assert found.balance[0] == 1.0
    assert rejected(found) == []


def test_bt500_finds_two_of_four_random_raters_but_scatter_and_correlation_find_all(nflx):
    data, raters, _ = nflx("nflx_public_last4random")
    assert [raters[i] for i in rejected(bt500(**data))] == ["s27", "s30"]
    spread = residual_spread(**data)
    assert sorted(raters[i] for i in np.argsort(spread)[-4:]) == RANDOM
    assert spread[-4:].min() > 1.4
    assert spread[:-4].max() < 1.0
    r = correlation_with_mean(**data)
    assert r[-4:].max() < 0.3
    assert r[:-4].min() > 0.7


@pytest.mark.parametrize("name", ["nflx_public", "nflx_public_last4random"])
def test_correlation_with_the_mean_of_all_is_the_published_one(nflx, name):
    data, _, expected = nflx(name)
    r = correlation_with_mean(**data, against="all")
    np.testing.assert_allclose(r, list(expected["rater_mos_pearson"].values()), atol=1e-9)


def test_spearman_is_that_of_scipy():
    rng = np.random.default_rng(3)
    table = np.round(rng.normal(3, 1, (30, 6)))
    r = correlation_with_mean(**long(table), kind="spearman")
    assert r[2] == pytest.approx(spearmanr(table[:, 2], np.delete(table, 2, 1).mean(1)).statistic)


def test_correlation_needs_three_common_items_and_some_spread():
    table = np.array([[1, 3, 2, np.nan], [2, 3, 1, 2], [3, 3, 3, 1], [4, 3, 5, np.nan], [5, np.nan, 4, np.nan]])
    r = correlation_with_mean(**long(table.astype(float)))
    assert np.isnan(r).tolist() == [False, True, False, True]


def test_repeated_ratings_are_averaged_before_the_correlation():
    once = long(np.array([[1.0, 2, 1], [2, 2, 3], [5, 4, 4], [3, 3, 3]]))
    twice = {key: np.r_[once[key], once[key]] for key in ("item", "participant", "value")}
    np.testing.assert_allclose(
        correlation_with_mean(**twice, n=4, p=3), correlation_with_mean(**once), rtol=0, atol=1e-12
    )


def test_spread_is_blind_to_a_bias_and_unbiased_for_pure_noise():
    rng = np.random.default_rng(4)
    table = rng.normal(0, 0.7, (4000, 8)) + np.arange(8)
    np.testing.assert_allclose(residual_spread(**long(table)), 0.7, rtol=0.05)


def test_spread_leaves_out_items_that_nobody_else_rated():
    table = np.array([[1, np.nan], [9, np.nan], [3, 3.0], [4, 5.0]])
    spread = residual_spread(**long(table))
    np.testing.assert_allclose(spread[0], spread[1])


def test_the_longest_run_is_counted_within_a_participant():
    person = np.array([0, 1, 0, 1, 0, 1, 1, 1])
    said = np.array([2, 2, 2, 1, 0, 1, 1, 0])
    length, code = longest_run(person, said, p=3)
    assert length.tolist() == [2, 3, 0]
    assert code.tolist() == [2, 1, -1]


def test_the_commonest_answer_and_its_share():
    share, code = commonest(np.array([0, 0, 0, 1]), np.array([1, 1, 0, 2]), p=3)
    np.testing.assert_allclose(share, [2 / 3, 1, np.nan])
    assert code.tolist() == [1, 2, -1]


def test_no_answers_give_no_statistics():
    none = np.zeros(0, dtype=np.int64)
    assert longest_run(none, none, p=2)[0].tolist() == [0, 0]
    assert np.isnan(commonest(none, none, p=2)[0]).all()

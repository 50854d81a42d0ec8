"""Reading order, and which rows the data cannot tell apart."""

from __future__ import annotations

import itertools

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from paragone.report.ranked import apart, open_groups, ranked, score_axis, spread_of_n
from paragone.scores import Scores


def _ranges(*pairs: tuple[int | None, int | None]) -> pl.DataFrame:
    schema = {"rank_low": pl.Int64, "rank_high": pl.Int64}
    return pl.DataFrame(list(pairs), schema=schema, orient="row")


def test_rows_that_may_swap_ranks_are_bracketed() -> None:
    assert open_groups(_ranges((1, 1), (2, 3), (2, 3), (4, 4))) == [(1, 2)]


def test_overlapping_ranges_alone_do_not_make_a_group() -> None:
    """The first is told apart from the third although both may hold rank 2, so two brackets and not one."""
    assert open_groups(_ranges((1, 2), (1, 3), (2, 3))) == [(0, 1), (1, 2)]


def test_nothing_is_bracketed_where_all_are_told_apart_or_ranks_are_unknown() -> None:
    assert open_groups(_ranges((1, 1), (2, 2))) == []
    assert open_groups(_ranges((1, 2), (None, None))) == []


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=12))
def test_every_row_of_a_bracket_may_hold_every_rank_of_it(slack: list[tuple[int, int]]) -> None:
    n = len(slack)
    rows = [(max(1, place - up), min(n, place + down)) for place, (up, down) in enumerate(slack, start=1)]
    found = open_groups(_ranges(*rows))
    for first, last in found:
        assert last > first
        assert all(low <= first + 1 and high >= last + 1 for low, high in rows[first : last + 1])
    assert all(a[0] < b[0] and a[1] < b[1] for a, b in itertools.pairwise(found))
    for place in range(n - 1):  # neighbours that may swap are never left without a bracket
        (_, high), (low, _) = rows[place], rows[place + 1]
        if high >= place + 2 and low <= place + 1:
            assert any(first <= place and last > place for first, last in found)


def test_best_comes_first_and_rows_without_a_score_last() -> None:
    frame = pl.DataFrame({"item": ["a", "b", "c", "d"], "score": [1.0, None, 3.0, 3.0]})
    assert ranked(Scores(frame), None)["label"].to_list() == ["c", "d", "a", "b"]
    assert ranked(Scores(frame, better="lower"), None)["label"].to_list() == ["a", "c", "d", "b"]


def test_groups_that_were_never_compared_stay_together() -> None:
    frame = pl.DataFrame({"item": ["a", "b", "c"], "score": [1.0, 5.0, 3.0], "connected_group": [1, 2, 1]})
    assert apart(frame)
    assert ranked(Scores(frame), None)["label"].to_list() == ["c", "a", "b"]


def test_an_axis_names_unit_and_direction() -> None:
    frame = pl.DataFrame({"item": ["a"], "criterion": ["image_appeal"], "score": [1.0]})
    assert (
        score_axis(Scores(frame, made={"unit": "JOD"}), "image_appeal") == "image appeal score (JOD, higher is better)"
    )
    assert score_axis(Scores(frame, better="unknown"), None) == "score"


def test_n_is_told_as_one_number_or_as_a_range() -> None:
    numbers = pl.Series([24.0, 27.0, None])
    assert [spread_of_n(numbers), spread_of_n(numbers.head(1)), spread_of_n(numbers.tail(1))] == [
        "n = 24 to 27",
        "n = 24",
        "n unknown",
    ]

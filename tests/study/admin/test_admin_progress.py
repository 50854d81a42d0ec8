"""How far the study is: funnel, quotas, pace, time and pay."""

from __future__ import annotations

import polars as pl
import pytest

from paragone.study.admin.figures.progress import funnel, hourly_pay, losses, minutes, pace, per_hour, quotas

NOW = 1_764_000_000.0


def _events(rows: list[tuple[str | None, str, float, str | None]]) -> pl.DataFrame:
    names = {"participant": pl.String, "kind": pl.String, "at": pl.Float64, "outcome": pl.String}
    return pl.DataFrame(rows, schema=names, orient="row")


def _leases(rows: list[tuple[str, str, str | None, str, int, int]]) -> pl.DataFrame:
    names = {
        "stage": pl.String, "owner": pl.String, "participant": pl.String, "state": pl.String,
        "answered": pl.Int64, "asked": pl.Int64,
    }  # fmt: skip
    return pl.DataFrame(rows, schema=names, orient="row")


def _people(*names: str) -> pl.DataFrame:
    return pl.DataFrame({"participant": list(names)}, schema={"participant": pl.String})


def test_the_funnel_counts_people_and_those_who_declined_without_a_name() -> None:
    events = _events(
        [(None, "declined", 1.0, None)]
        + [(who, "consent", 2.0, None) for who in ("a", "b", "c", "d")]
        + [(who, "trials-begun", 3.0, None) for who in ("a", "b", "c")]
    )
    leases = _leases(
        [
            ("1", "x", "a", "complete", 20, 20),
            ("1", "y", "b", "leased", 10, 20),
            ("1", "z", "c", "excluded", 20, 20),
            ("1", "w", "d", "leased", 0, 20),
            ("1", "v", None, "free", 0, 20),
        ]
    )
    found = funnel(_people("a", "b", "c", "d", "e"), events, leases)
    assert found["people"].to_list() == [6, 4, 3, 3, 2, 1]
    assert found["share"].to_list() == [None, 4 / 6, 3 / 4, 1.0, 2 / 3, 1 / 2]


def test_an_empty_study_has_a_funnel_of_nobody() -> None:
    found = funnel(_people(), _events([]), _leases([]))
    assert found["people"].to_list() == [0] * 6
    assert found["share"].to_list() == [None] * 6


def test_losses_are_told_by_the_door_they_left_by() -> None:
    events = _events(
        [(None, "declined", 1.0, None), ("a", "training-failed", 2.0, None), ("b", "screened-out", 2.0, None)]
    )
    leases = _leases(
        [("1", "x", "c", "abandoned", 1, 9), ("1", "y", "d", "excluded", 9, 9), ("1", "z", "b", "excluded", 2, 9)]
    )
    assert losses(events, leases) == {
        "declined": 1, "screened-out": 1, "failed-training": 1, "technical": 0, "abandoned": 1, "excluded": 1,
    }  # fmt: skip


def test_a_quota_counts_a_sheet_once_however_many_copies_it_has() -> None:
    leases = _leases(
        [
            ("1", "x", "a", "excluded", 9, 9),
            ("1", "x", "b", "complete", 9, 9),
            ("1", "x", "c", "complete", 9, 9),
            ("1", "y", "d", "abandoned", 2, 9),
            ("1", "y", None, "free", 0, 9),
            ("1", "z", "e", "leased", 2, 9),
            ("1", "old", None, "retired", 0, 9),
        ]
    )
    (found,) = quotas(leases)
    assert (found.needed, found.done, found.left) == (3, 1, 2)
    assert (found.under_way, found.free, found.abandoned, found.excluded, found.extra) == (1, 1, 1, 1, 1)


def test_a_stage_that_is_dealt_in_waves_needs_those_to_come_too() -> None:
    leases = _leases([("1", "x", "a", "complete", 9, 9), ("1", "y", None, "free", 0, 9)])
    (found,) = quotas(leases, {"1": 24, "2": 24})
    assert (found.needed, found.done, found.left) == (24, 1, 23)


def test_the_pace_of_the_last_hour_tells_the_end_when_enough_was_finished_in_it() -> None:
    done = pl.Series([NOW - 300.0 * k for k in range(1, 13)] + [NOW - 20_000.0])  # 11 within the hour, strictly
    found = pace(done, NOW - 90_000, NOW, left=22)
    assert found.hours == 1.0
    assert found.per_hour.value == 11.0
    assert found.end.value == NOW + 2 * 3600
    assert found.end.low is not None
    assert found.end.high is not None
    assert found.end.low < found.end.value < found.end.high


def test_a_slow_study_is_measured_since_it_began() -> None:
    found = pace(pl.Series([NOW - 5000.0, NOW - 100.0]), NOW - 7200, NOW, left=3)
    assert (found.hours, found.per_hour.value, found.per_hour.n) == (2.0, 1.0, 2)


def test_no_end_is_told_where_none_can_be_known() -> None:
    assert pace(pl.Series([], dtype=pl.Float64), None, NOW, 5).end.note == "nobody has come yet"
    waiting = pace(pl.Series([], dtype=pl.Float64), NOW - 3600, NOW, 5)
    assert (waiting.end.value, waiting.end.note) == (None, "no sheet has been finished yet")
    assert waiting.per_hour.high == pytest.approx(3.6889, abs=1e-4)
    assert pace(pl.Series([NOW - 60.0]), NOW - 3600, NOW, 0).end.value == NOW - 60.0


def test_finished_sheets_fall_into_their_hours() -> None:
    found = per_hour(pl.Series([NOW, NOW - 3600, NOW - 3600, NOW - 400_000]), NOW, most=3)
    assert found["finished"].to_list() == [0, 2, 1]
    assert per_hour(pl.Series([], dtype=pl.Float64), NOW)["finished"].to_list() == [0]


def test_a_session_lasts_from_its_first_page_to_its_end() -> None:
    events = _events(
        [
            ("a", "consent", 0.0, None), ("a", "trials-begun", 120.0, None), ("a", "finished", 1200.0, "completed"),
            ("a", "device", 90_000.0, None), ("a", "finished", 90_600.0, "completed"),
            ("b", "consent", 0.0, None), ("b", "finished", 60.0, "failed-training"),
            ("c", "consent", 0.0, None),
        ]
    )  # fmt: skip
    found = minutes(events)
    assert found.select("participant", "session", "minutes").rows() == [("a", 1, 20.0), ("a", 2, 10.0)]


def test_pay_an_hour_follows_from_the_median_and_its_interval() -> None:
    took, paid = hourly_pay(4.0, [20.0 + k for k in range(-6, 7)])
    assert (took.value, took.n) == (20.0, 13)
    assert paid.value == 12.0
    assert took.low is not None
    assert took.high is not None
    assert (paid.low, paid.high) == (240 / took.high, 240 / took.low)


def test_no_pay_is_told_where_none_is_declared_or_nobody_finished() -> None:
    assert hourly_pay(0.0, [10.0])[1].note == "no pay is declared"
    assert hourly_pay(3.0, [])[1].note == "no session has been finished yet"

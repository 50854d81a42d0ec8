"""Is anything wrong: each line says what, how many, and where to look; nothing is said where nothing is."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import polars as pl

from desk_world import pairs_study
from paragone.design.pages import Pay, Platform
from paragone.study.admin.alarms import Alarm, alarms
from paragone.study.admin.figures.answered import CheckRow
from paragone.study.admin.figures.numbers import Number
from paragone.study.admin.figures.progress import Quota
from paragone.study.admin.live import Live
from paragone.study.admin.moment import Moment

STUDY = pairs_study()
FINE = [Quota("1", 12, 5, 2, 5, 0, 0, 0), Quota("2", 8, 1, 1, 6, 0, 0, 0)]
UNPAID = Number.unknown("no pay is declared")


def _moment(
    states: dict[str, int] | None = None,
    *,
    kinds: tuple[str, ...] = (),
    driven: tuple[str, ...] = (),
    paused: bool = False,
    **people: str,
) -> Moment:
    rows = [(f"p-{n:04d}", state) for n, state in enumerate(s for s, k in (states or {}).items() for _ in range(k))]
    leases = pl.DataFrame(rows, schema={"participant": pl.String, "state": pl.String}, orient="row")
    told = [(None, kind, "{}") for kind in kinds] + [(n, "device", '{"automated": true}') for n in driven]
    events = pl.DataFrame(told, schema=dict.fromkeys(("participant", "kind", "body"), pl.String), orient="row")
    names = people or {"p_0001": "prolific"}
    table = pl.DataFrame({"participant": [n.replace("_", "-") for n in names], "platform": list(names.values())})
    return Moment(0.0, 1, leases, table, events, paused, False)


def _texts(found: list[Alarm]) -> list[str]:
    return [f"{alarm.level}: {alarm.text}" for alarm in found]


def _check(passed: float, *, high: float = 1.0, unknown: int = 0) -> CheckRow:
    return CheckRow("1", "instructed", Number(passed, passed - 0.1, high, 40), 4, unknown, 20, 3)


def test_a_study_that_goes_well_has_nothing_to_say() -> None:
    live = Live(0.0, 10, checks=[_check(0.95)])
    assert alarms(_moment({"complete": 20, "excluded": 4, "leased": 3}), live, STUDY, FINE, UNPAID) == []


def test_what_stops_a_study_is_said_first() -> None:
    found = alarms(
        _moment({"complete": 3}, kinds=("technical",), paused=True),
        None,
        STUDY,
        FINE,
        UNPAID,
        failed="no luck",
        queue=2000,
    )
    assert _texts(found) == [
        "bad: The study is paused: nobody can begin or answer.",
        "bad: Scores and checks are old: no luck",
        "bad: 2\N{NARROW NO-BREAK SPACE}000 answers wait to be stored; the disk is slow.",
        "note: 1 visit ended by a technical failure.",
    ]


def test_sheets_that_nobody_can_get_are_missed() -> None:
    empty = [Quota("1", 12, 10, 0, 0, 2, 0, 0), Quota("2", 8, 8, 0, 0, 0, 0, 0)]
    (found,) = alarms(_moment(), None, STUDY, empty, UNPAID)
    assert found.text.startswith("Stage 1: 2 sheets are missing and none is left to hand out.")
    assert found.href == "/admin/sheets?stage=1"


def test_more_exclusions_than_planned_are_told_with_both_numbers() -> None:
    (found,) = alarms(_moment({"complete": 4, "excluded": 6}), None, STUDY, FINE, UNPAID)
    assert (
        found.text.replace("\N{NARROW NO-BREAK SPACE}", "")
        == "60% of 10 finished sheets are excluded; 35% were planned for."
    )
    assert alarms(_moment({"complete": 1, "excluded": 6}), None, STUDY, FINE, UNPAID) == []  # too few to say


def test_whom_the_rule_checks_excluded_is_told_however_few() -> None:
    at = replace(_moment({"complete": 4, "excluded": 2}), by_checks=frozenset({"p-0004"}))
    assert alarms(at, None, STUDY, FINE, UNPAID) == [
        Alarm("note", "1 participant was excluded by the rule checks.", "/admin/sheets?state=excluded")
    ]


def test_many_who_left_are_told() -> None:
    (found,) = alarms(_moment({"leased": 6, "abandoned": 4}), None, STUDY, FINE, UNPAID)
    assert (found.level, found.href) == ("note", "/admin/sheets?state=abandoned")


def test_checks_that_cannot_be_judged_or_that_nobody_passes_are_told() -> None:
    live = Live(0.0, 10, checks=[_check(0.6, high=0.7, unknown=2)])
    found = _texts(alarms(_moment(), live, STUDY, FINE, UNPAID))
    assert found[0] == "bad: Stage 1: 2 checks cannot be judged and count on neither side."
    assert found[1].replace("\N{NARROW NO-BREAK SPACE}", "").startswith("bad: Stage 1: only 60% of instructed checks")


def test_pay_below_what_the_panel_allows_is_told() -> None:
    panel = msgspec.structs.replace(
        STUDY, platform=Platform(profile="prolific"), pay=Pay(per_session=1.0, currency="GBP")
    )
    paid = Number(4.5, 4.0, 5.0, 20)
    (found,) = alarms(_moment(), None, panel, FINE, paid)
    assert found.text == "Pay is 4.50 GBP an hour at the median time; Prolific asks for 6."
    assert alarms(_moment(), None, panel, FINE, Number(6.0, 5.0, 7.0, 20)) == []
    assert alarms(_moment(), None, panel, FINE, Number(4.5, 4.0, 5.0, 3)) == []
    assert alarms(_moment(), None, STUDY, FINE, paid) == []


def test_people_who_deserve_a_look_are_counted_once_and_not_when_excluded() -> None:
    bad = {"participant": "p-0000", "answers": 40, "seconds": 0.5, "same": 0.5}
    live = Live(
        0.0, 10, persons=[bad, {**bad, "participant": "p-0001"}, {**bad, "participant": "p-0002", "seconds": 9.0}]
    )
    (found,) = alarms(_moment({"excluded": 1, "complete": 2}), live, STUDY, FINE, UNPAID)
    assert (found.text, found.href) == ("1 participant deserves a look.", "/admin/people?watch=1")
    (found,) = alarms(_moment({"excluded": 1, "complete": 2}, driven=("p-0002",)), live, STUDY, FINE, UNPAID)
    assert found.text == "2 participants deserve a look."


def test_made_up_people_are_counted() -> None:
    (found,) = alarms(_moment(sim_1="open", p_2="simulated", p_3="open"), None, STUDY, FINE, UNPAID)
    assert found.text == "2 participants are simulated."

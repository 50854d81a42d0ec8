"""Reconciling: a panel's list against the store, and who may be refused pay."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
import sqlalchemy as sa

from paragone.design.pages import Pay
from paragone.errors import BadTable
from paragone.study.server.profiles import PRESETS
from paragone.study.server.pseudonyms import person_hmac, submission_hmac
from paragone.study.server.reconcile import (
    LISTS,
    Reconciled,
    failed_instructed,
    known_people,
    reconcile,
    submissions_of,
)
from paragone.study.store import Store, claims, events, people, versions

NOW = 1_800_000_000.0
CODES = {
    "completed": "CDONE",
    "screened-out": "CSCREEN",
    "no-consent": "CNO",
    "failed-training": "CTRAIN",
    "technical": "CTECH",
}
PROLIFIC = PRESETS["prolific"]


def _hmac(text: str) -> str:
    return f"<{text}>"


def _people(*rows: tuple[str, str | None, str]) -> pl.DataFrame:
    """(name, outcome, ids as 'person/submission') -> what the store knows; seen two hours ago."""
    made = []
    for name, outcome, ids in rows:
        person, _, submission = ids.partition("/")
        made.append((name, person_hmac(_hmac, "prolific", person), submission_hmac(_hmac, "prolific", submission), outcome,
                     outcome is None, NOW - 7200))  # fmt: skip
    names = ["participant", "person", "submission", "outcome", "under_way", "seen_at"]
    return pl.DataFrame(made, schema=names, orient="row")


def _export(*rows: tuple[str, str, str, str]) -> pl.DataFrame:
    """(person, submission, status, code) as Prolific exports them."""
    header = ["Participant id", "Submission id", "Status", "Completion code"]
    return submissions_of(pl.DataFrame(rows, schema=header, orient="row"), PROLIFIC)


def _compared(
    submissions: pl.DataFrame, known: pl.DataFrame, failed: dict[str, int] | None = None, minutes: float = 20.0
) -> Reconciled:
    return reconcile(
        submissions,
        known,
        profile=PROLIFIC,
        hmac=_hmac,
        codes=CODES,
        pay=Pay(),
        failed=failed or {},
        minutes=minutes,
        now=NOW,
    )


def _lists(found: Reconciled) -> list[tuple[str, str | None]]:
    return list(found.table.select("list", "participant").iter_rows())


def test_where_both_agree_nothing_is_listed() -> None:
    known = _people(
        ("p-0001", "completed", "A/s1"), ("p-0002", "screened-out", "B/s2"), ("p-0003", "technical", "C/s3")
    )
    found = _compared(
        _export(
            ("A", "s1", "APPROVED", "CDONE"),
            ("B", "s2", "SCREENED OUT", "CSCREEN"),
            ("C", "s3", "AWAITING REVIEW", "ctech"),
        ),
        known,
    )
    assert found.table.height == 0
    assert found.counts == {**dict.fromkeys(LISTS, 0), "submissions": 3, "people": 3, "agree": 3}
    assert found.notes == ()


def test_paid_without_data_is_who_never_came_or_never_finished() -> None:
    found = _compared(
        _export(("X", "s9", "APPROVED", "CDONE"), ("A", "s1", "AWAITING REVIEW", "CDONE")),
        _people(("p-0001", None, "A/s1")),
    )
    assert _lists(found) == [("paid-without-data", None), ("paid-without-data", "p-0001")]
    assert found.table["why"].to_list() == ["nobody came here with this id", "came here and did not finish"]
    assert found.table["person"].to_list() == ["X", "A"]


def test_data_without_submission_is_who_completed_and_is_not_paid_for() -> None:
    known = _people(
        ("p-0001", "completed", "A/s1"), ("p-0002", "completed", "B/s2"), ("p-0003", "failed-training", "C/s3")
    )
    found = _compared(_export(("A", "s1", "TIMED-OUT", "")), known)
    assert _lists(found) == [("data-without-submission", "p-0001"), ("data-without-submission", "p-0002")]
    assert "'TIMED-OUT' there" in found.table["why"][0]


@pytest.mark.parametrize(
    ("outcome", "code", "why"),
    [
        ("completed", "NOCODE", "completed here; no code was entered there"),
        ("completed", "CSCREEN", "completed here; the code there is that of 'screened-out'"),
        ("failed-training", "CDONE", "failed-training here; the code there is that of 'completed'"),
        ("completed", "GUESS", "completed here; the code there is none of this study's"),
    ],
)
def test_a_code_of_another_outcome_is_told(outcome: str, code: str, why: str) -> None:
    found = _compared(_export(("A", "s1", "AWAITING REVIEW", code)), _people(("p-0001", outcome, "A/s1")))
    assert _lists(found) == [("code-mismatch", "p-0001")]
    assert found.table["why"][0] == why


def test_long_idle_is_who_began_and_stopped() -> None:
    known = _people(("p-0001", None, "A/s1"), ("p-0002", None, "B/s2"))
    found = _compared(_export(("A", "s1", "ACTIVE", "")), known)
    assert _lists(found) == [("long-idle", "p-0001"), ("long-idle", "p-0002")]
    assert "120 minutes" in found.table["why"][0]
    fresh = known.with_columns(seen_at=pl.lit(NOW - 60))
    assert _lists(_compared(_export(("A", "s1", "ACTIVE", "")), fresh)) == []


def test_a_person_who_returned_and_came_again_is_one() -> None:
    known = _people(("p-0001", "completed", "A/s1"), ("p-0001", "completed", "A/s2"))
    found = _compared(_export(("A", "s1", "RETURNED", ""), ("A", "s2", "APPROVED", "CDONE")), known)
    assert _lists(found) == [], "the second submission pays for the data"


def test_only_failed_instructed_checks_may_cost_the_pay() -> None:
    known = _people(("p-0001", "completed", "A/s1"), ("p-0002", "completed", "B/s2"))
    export = _export(("A", "s1", "AWAITING REVIEW", "CDONE"), ("B", "s2", "AWAITING REVIEW", "CDONE"))
    found = _compared(export, known, failed={"p-0001": 2, "p-0002": 1})
    assert _lists(found) == [("may-refuse", "p-0001")]
    assert found.counts["agree"] == 2


def test_a_short_study_and_who_is_paid_already_refuse_nobody() -> None:
    known = _people(("p-0001", "completed", "A/s1"))
    short = _compared(_export(("A", "s1", "AWAITING REVIEW", "CDONE")), known, failed={"p-0001": 5}, minutes=4.9)
    assert _lists(short) == []
    assert short.notes == ("a session takes 4.9 minutes; below 5 nobody is listed for refusal",)
    assert _lists(_compared(_export(("A", "s1", "APPROVED", "CDONE")), known, failed={"p-0001": 5})) == []


def test_an_unknown_status_is_told() -> None:
    found = _compared(_export(("A", "s1", "FROZEN", "CDONE")), _people(("p-0001", "completed", "A/s1")))
    assert found.notes == ("status 'FROZEN' is not known; such submissions were taken as neither paid nor waiting",)


PLAN = pl.DataFrame(
    {
        "trial": ["t1", "t2", "t3", "t4", "r1"],
        "stage": ["1", "1", "1", "1", "2"],
        "check": ["instructed", "instructed", "broken", None, "instructed"],
        "expected": ["left", "right", "left", None, "4.0"],
    }
)


def _answers(*rows: tuple[str, str, str, str]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["participant", "trial", "criterion", "answer"], orient="row")


def test_broken_pictures_never_count() -> None:
    assert failed_instructed(PLAN, _answers(("p", "t3", "a", "right"), ("p", "t4", "a", "right"))) == {}


def test_a_check_is_failed_when_every_answer_to_it_is_wrong() -> None:
    answers = _answers(
        ("p", "t1", "a", "right"), ("p", "t1", "b", "right"), ("p", "t2", "a", "left"), ("p", "t2", "b", "right"),
        ("q", "t1", "a", "left"), ("q", "t2", "a", "left"),
    )  # fmt: skip
    assert failed_instructed(PLAN, answers) == {"p": 1, "q": 1}


def test_a_slip_of_the_slider_is_no_failure_and_the_last_rating_counts() -> None:
    answers = _answers(("p", "r1", "a", "4.1"), ("q", "r1", "a", "4.2"), ("s", "r1", "a", "0"), ("s", "r1", "a", "4.0"))
    assert failed_instructed(PLAN, answers, {"2": 0.1}) == {"q": 1}


def test_a_check_that_cannot_be_judged_is_not_failed() -> None:
    assert failed_instructed(PLAN, _answers(("p", "r1", "a", "many"))) == {}


def test_the_exports_of_known_panels_are_read() -> None:
    raw = pl.DataFrame(
        {"AssignmentId": ["s1"], "WorkerId": ["A"], "AssignmentStatus": ["Approved"], "Answer.code": ["CDONE"]}
    )
    assert submissions_of(raw, PRESETS["mturk"]).rows() == [("A", "s1", "Approved", "CDONE")]
    raw = pl.DataFrame({"Survey Code": ["4711"], "Status": ["Participated"]})
    assert submissions_of(raw, PRESETS["sona"]).rows() == [("4711", None, "Participated", None)]


def test_an_export_without_ids_or_status_is_told() -> None:
    with pytest.raises(BadTable, match=r"no column of participants or submissions; .*; no column 'Status'"):
        submissions_of(pl.DataFrame({"Age": ["30"]}), PROLIFIC, where="prolific.csv")


def test_the_store_tells_what_it_knows(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/study.db") as store:
        person, submission = person_hmac(_hmac, "prolific", "A"), submission_hmac(_hmac, "prolific", "s1")

        def job(c: sa.Connection) -> None:
            versions.freeze(c, "{}", b"plan", b"{}", [("1", "o1"), ("1", "o2")], NOW - 9000)
            for number, (hmac, sub) in enumerate([(person, submission), (None, None)]):
                arrived = people.arrive(c, "prolific", hmac, None, "en", NOW - 9000)
                people.open_visit(c, arrived.id, f"k{number}", f"c{number}", sub, NOW - 9000)
            held = claims.claim(c, 1, ["1"], 10, NOW - 8000)
            assert held is not None
            events.append(c, "finished", NOW - 100, participant_id=1, lease_id=held.id, body={"outcome": "completed"})

        store.write_now(job)
        known = store.read_now(known_people)
    assert known.select("participant", "person", "submission", "outcome", "under_way").rows() == [
        ("p-0001", person, submission, "completed", True),
        ("p-0002", None, None, None, False),
    ]
    assert known["seen_at"].to_list() == [NOW - 8000, NOW - 9000]
    assert _lists(_compared(_export(("A", "s1", "APPROVED", "CDONE")), known)) == []

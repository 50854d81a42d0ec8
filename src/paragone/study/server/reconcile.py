"""A panel's list of submissions against what the study stored: who is to be looked at before anybody is paid.

Nothing is sent and nothing is changed; what comes out is a table. Money is decided by people, in the panel.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import polars as pl
import sqlalchemy as sa

from ...design.pages import Pay
from ...errors import BadTable
from ..store.tables import event, lease, participant, visit
from .profiles import Profile
from .pseudonyms import person_hmac, submission_hmac

__all__ = [
    "LISTS",
    "LONG_IDLE",
    "SHORT_STUDY",
    "Reconciled",
    "failed_instructed",
    "known_people",
    "reconcile",
    "submissions_of",
]

LISTS = ("paid-without-data", "data-without-submission", "code-mismatch", "long-idle", "may-refuse")
"""What a row of the table is about. may-refuse: as many instructed checks failed as the panel asks for before pay may be
refused; broken pictures never count, and nobody has to be refused."""
SHORT_STUDY = 5.0
"""Minutes below which nobody is listed for refusal; panels hold shorter studies to other rules."""
LONG_IDLE = 3600.0
"""Seconds without a sign of life after which an unfinished visit is listed."""
_COLUMNS = {
    "submission": ("submission id", "submission_id", "session_id", "assignmentid", "assignment id", "assignment_id",
                   "submission"),
    "person": ("participant id", "participant_id", "prolific_pid", "participantid", "workerid", "worker id", "survey code",
               "survey_code", "surveycode", "person", "participant"),
    "status": ("status", "assignmentstatus", "assignment status", "assignment_status", "approval status"),
    "code": ("completion code", "completion_code", "entered code", "entered_code", "study_code", "answer.code",
             "completioncode", "code"),
}  # fmt: skip
_STATES = {
    "paid": ("approved", "paid", "credit granted", "granted", "participated"),
    "waiting": ("awaiting review", "awaiting_review", "awaiting-review", "submitted", "pending", "completed", "complete",
                "waiting", "pending approval"),
    "active": ("active", "reserved", "in progress", "in_progress", "accepted", "started", "incomplete"),
    "returned": ("returned", "return", "cancelled", "canceled", "abandoned"),
    "timed-out": ("timed-out", "timed out", "timed_out", "timedout", "expired"),
    "screened-out": ("screened out", "screened-out", "screened_out", "partial", "partial complete"),
    "rejected": ("rejected", "no-show", "unexcused no-show"),
}  # fmt: skip
_STATE_OF = {word: state for state, words in _STATES.items() for word in words}
_NO_CODE = ("", "nocode", "no code", "none", "n/a")
_TABLE = dict.fromkeys(("list", "participant", "person", "submission", "status", "code", "outcome", "why"), pl.String)


class Reconciled(NamedTuple):
    """What came of the comparison."""

    table: pl.DataFrame
    """list (one of `LISTS`), participant, person and submission (the panel's, from its own list), status, code, outcome,
    why; in the order of `LISTS`, then as the panel lists them."""
    counts: Mapping[str, int]
    """Rows of each list; `submissions`, `people`, `agree` (submissions in no list)."""
    notes: tuple[str, ...]
    """What was read in a way that may surprise."""


def submissions_of(raw: pl.DataFrame, profile: Profile, *, where: str = "submissions") -> pl.DataFrame:
    """Return a panel's export as columns person, submission, status and code; null: the panel does not say.

    Args:
        raw: the export as it is, text columns; Prolific's, Connect's, MTurk's and SONA's headers are known.
        profile: the study's; its parameter names are accepted as headers too.
        where: name of the file, for messages.

    Raises:
        BadTable: there is no column of persons or submissions, or none of statuses.
    """
    lower = {name.strip().lower().removeprefix("\ufeff"): name for name in raw.columns}
    own = {"person": profile.person, "submission": profile.submission}
    found: dict[str, str] = {}
    for meaning, headers in _COLUMNS.items():
        wanted = (own.get(meaning, "").lower(), *headers)
        known = next((lower[header] for header in wanted if header and header in lower), None)
        if known is not None and known not in found.values():
            found[meaning] = known
    faults = []
    if "person" not in found and "submission" not in found:
        faults.append("no column of participants or submissions; it is usually called 'Participant id'")
    if "status" not in found:
        faults.append("no column 'Status'")
    if faults:
        raise BadTable.of_faults(where, faults)
    column = {meaning: pl.col(name).cast(pl.String).str.strip_chars() for meaning, name in found.items()}
    text = [
        pl.when(column[name] != "").then(column[name]).alias(name)
        if name in column
        else pl.lit(None, pl.String).alias(name)
        for name in _COLUMNS
    ]
    return raw.select(text).select("person", "submission", "status", "code")


def failed_instructed(
    plan: pl.DataFrame, answers: pl.DataFrame, within: Mapping[str, float] | None = None
) -> dict[str, int]:
    """Return how many instructed checks each participant failed; participants without any are left out.

    A check is failed when every answer given to it is wrong: one slip among three criteria is none. An answer that cannot
    be judged (no expected one, no number) fails nothing. Of several answers to one question the last counts.

    Args:
        plan: columns trial, stage, check ('broken' | 'instructed' | null) and expected.
        answers: columns participant, trial, criterion and answer, in the order they were given.
        within: stage -> largest accepted distance of a rating from the one that was told; left out: 0.
    """
    told = plan.filter((pl.col("check") == "instructed") & pl.col("expected").is_not_null())
    margin = pl.col("stage").replace_strict(dict(within or {}), default=0.0, return_dtype=pl.Float64)
    last = answers.unique(["participant", "trial", "criterion"], keep="last", maintain_order=True)
    judged = last.join(told.select("trial", "stage", "expected"), on="trial").with_columns(
        said=pl.col("answer").cast(pl.Float64, strict=False), wanted=pl.col("expected").cast(pl.Float64, strict=False)
    )
    number = pl.col("wanted").is_not_null()
    distance = (pl.col("said") - pl.col("wanted")).abs()
    right = pl.when(number).then(distance <= margin + 1e-9).otherwise(pl.col("answer") == pl.col("expected"))
    per_check = (
        judged.with_columns(right=right.fill_null(True)).group_by("participant", "trial").agg(pl.col("right").any())
    )
    failed = per_check.filter(~pl.col("right")).group_by("participant").len().sort("participant")
    return {str(name): int(n) for name, n in failed.iter_rows()}


def known_people(c: sa.Connection) -> pl.DataFrame:
    """Return what the store knows, a job: one row for each participant and submission.

    Columns participant (name), person and submission (HMACs, null where there are none), outcome (of the last session that
    was finished, null: none), under_way (holds a lease that is not done), seen_at (last sign of life).
    """
    last_end = (
        sa.select(event.c.participant_id, sa.func.max(event.c.id).label("id"))
        .where(event.c.kind == "finished")
        .group_by(event.c.participant_id)
        .subquery()
    )
    said = sa.select(event.c.participant_id, event.c.body).join(last_end, event.c.id == last_end.c.id)
    ends = {number: body for number, body in c.execute(said)}  # noqa: C416 - dict() takes a result for a mapping
    seen = {
        row.participant_id: row
        for row in c.execute(
            sa.select(
                lease.c.participant_id,
                sa.func.max(lease.c.seen_at).label("at"),
                sa.func.sum(sa.case((lease.c.state.in_(("leased", "abandoned")), 1), else_=0)).label("going"),
            )
            .where(lease.c.participant_id.is_not(None))
            .group_by(lease.c.participant_id)
        )
    }
    visits = sa.select(
        participant.c.id,
        participant.c.name,
        participant.c.external_hmac,
        visit.c.submission_hmac,
        sa.func.max(visit.c.at),
    ).outerjoin_from(participant, visit, visit.c.participant_id == participant.c.id)
    grouped = visits.where(participant.c.forgotten_at.is_(None)).group_by(
        participant.c.id, participant.c.name, participant.c.external_hmac, visit.c.submission_hmac
    )
    rows = []
    for number, name, person, submission, at in c.execute(grouped.order_by(participant.c.id)):
        held = seen.get(number)
        signs = [sign for sign in (at, held.at if held else None) if sign is not None]
        rows.append(
            (name, person, submission, _outcome(ends.get(number)), bool(held and held.going), max(signs, default=0.0))
        )
    return pl.DataFrame(rows, schema=_PEOPLE, orient="row")


def reconcile(
    submissions: pl.DataFrame,
    people: pl.DataFrame,
    *,
    profile: Profile,
    hmac: Callable[[str], str],
    codes: Mapping[str, str],
    pay: Pay,
    failed: Mapping[str, int],
    minutes: float,
    now: float,
    idle: float = LONG_IDLE,
) -> Reconciled:
    """Compare a panel's submissions with the store; a dry run always.

    Args:
        submissions: as of `submissions_of`.
        people: as of `known_people`.
        profile: the study's.
        hmac: the study's HMAC, by which the store knows people.
        codes: outcome -> completion code.
        pay: `[pay]`; `refuse_after` failed instructed checks may cost the pay.
        failed: participant -> failed instructed checks, as of `failed_instructed`.
        minutes: how long a session takes, in minutes; below `SHORT_STUDY` nobody is listed for refusal.
        now: UTC epoch seconds.
        idle: seconds without a sign of life after which an unfinished visit is listed.
    """
    rows = people.rows(named=True)
    by_submission = {row["submission"]: row for row in rows if row["submission"]}
    by_person: dict[str, dict[str, object]] = {}
    for row in rows:
        if row["person"]:
            by_person[row["person"]] = row
    outcome_of = {code.strip().upper(): outcome for outcome, code in codes.items()}
    read = [
        (
            given,
            _STATE_OF.get((given["status"] or "").lower(), ""),
            _match(given, by_submission, by_person, profile.name, hmac),
        )
        for given in submissions.rows(named=True)
    ]
    unknown = {given["status"] or "" for given, state, _ in read if not state}
    backed = {
        match["participant"] for _, state, match in read if match and state in ("paid", "waiting", "screened-out")
    }
    listed: list[dict[str, object]] = []
    spoken: set[object] = set()
    agree = 0
    for given, state, match in read:
        name = str(match["participant"]) if match else ""
        found = _about(given, state, match, outcome_of, codes)
        if found is not None and found[0] == "data-without-submission" and name in backed:
            found = None  # another submission of theirs stands for it
        if match and match["outcome"] is None and found is None and state in ("active", ""):
            found = _idle(match, now, idle)
        if state == "waiting" and minutes >= SHORT_STUDY and failed.get(name, 0) >= pay.refuse_after:
            told = f"{failed[name]} instructed checks failed, {pay.refuse_after} may cost the pay; broken pictures never do"
            listed.append(_row("may-refuse", given, match, told))
        if found is not None:
            listed.append(_row(found[0], given, match, found[1]))
            spoken.add(name)
        agree += found is None
    listed += _alone(rows, backed, spoken, now, idle)
    order = {name: place for place, name in enumerate(LISTS)}
    listed.sort(key=lambda row: order[str(row["list"])])
    counts = {name: sum(row["list"] == name for row in listed) for name in LISTS}
    counts |= {"submissions": submissions.height, "people": len({row["participant"] for row in rows}), "agree": agree}
    return Reconciled(pl.DataFrame(listed, schema=_TABLE), counts, _notes(unknown, minutes, failed, pay))


_PEOPLE = {
    "participant": pl.String, "person": pl.String, "submission": pl.String, "outcome": pl.String,
    "under_way": pl.Boolean, "seen_at": pl.Float64,
}  # fmt: skip


def _outcome(body: str | None) -> str | None:
    return str(json.loads(body).get("outcome", "completed")) if body else None


def _match(
    given: Mapping[str, str | None],
    by_submission: Mapping[str, dict[str, object]],
    by_person: Mapping[str, dict[str, object]],
    profile: str,
    hmac: Callable[[str], str],
) -> dict[str, object] | None:
    if given["submission"]:
        found = by_submission.get(submission_hmac(hmac, profile, given["submission"]))
        if found is not None:
            return found
    return by_person.get(person_hmac(hmac, profile, given["person"])) if given["person"] else None


def _about(
    given: Mapping[str, str | None],
    state: str,
    match: Mapping[str, object] | None,
    outcome_of: Mapping[str, str],
    codes: Mapping[str, str],
) -> tuple[str, str] | None:
    """(list, why) of a submission; None: both sides agree."""
    owed = state in ("paid", "waiting")
    if match is None:
        return ("paid-without-data", "nobody came here with this id") if owed else None
    outcome = match["outcome"]
    if owed and outcome is None:
        return "paid-without-data", "came here and did not finish"
    if outcome is None or state == "screened-out":
        return None
    if not owed:
        if outcome == "completed" and state:
            return "data-without-submission", f"completed here; the submission is '{given['status']}' there"
        return None
    entered = (given["code"] or "").strip()
    if entered.lower() in _NO_CODE:
        return "code-mismatch", f"{outcome} here; no code was entered there"
    if entered.upper() == codes[str(outcome)].strip().upper():
        return None
    said = outcome_of.get(entered.upper())
    return "code-mismatch", f"{outcome} here; the code there is " + (
        f"that of '{said}'" if said else "none of this study's"
    )


def _idle(match: Mapping[str, object], now: float, idle: float) -> tuple[str, str] | None:
    seconds = now - float(str(match["seen_at"]))
    if not seconds > idle:
        return None
    return "long-idle", f"not finished, and no sign of life for {seconds / 60:.0f} minutes"


def _alone(
    rows: Iterable[Mapping[str, object]], backed: set[object], spoken: set[object], now: float, idle: float
) -> list[dict[str, object]]:
    """Participants whom no submission speaks of."""
    listed: list[dict[str, object]] = []
    done: set[object] = set()
    nothing: dict[str, str | None] = {"person": None, "submission": None, "status": None, "code": None}
    for row in rows:
        name = row["participant"]
        if name in done | backed | spoken:
            continue
        done.add(name)
        if row["outcome"] == "completed":
            listed.append(
                _row("data-without-submission", nothing, row, "completed here; no submission of theirs is listed")
            )
        elif row["outcome"] is None and row["under_way"]:
            found = _idle(row, now, idle)
            if found is not None:
                listed.append(_row(found[0], nothing, row, found[1]))
    return listed


def _row(name: str, given: Mapping[str, str | None], match: Mapping[str, object] | None, why: str) -> dict[str, object]:
    said = {key: given[key] for key in ("person", "submission", "status", "code")}
    return {
        "list": name,
        "participant": match["participant"] if match else None,
        **said,
        "outcome": match["outcome"] if match else None,
        "why": why,
    }


def _notes(unknown: set[str], minutes: float, failed: Mapping[str, int], pay: Pay) -> tuple[str, ...]:
    notes = []
    if unknown:
        words = ", ".join(f"'{word}'" for word in sorted(unknown)[:5])
        notes.append(f"status {words} is not known; such submissions were taken as neither paid nor waiting")
    if minutes < SHORT_STUDY and any(n >= pay.refuse_after for n in failed.values()):
        notes.append(f"a session takes {minutes:.1f} minutes; below {SHORT_STUDY:g} nobody is listed for refusal")
    return tuple(notes)

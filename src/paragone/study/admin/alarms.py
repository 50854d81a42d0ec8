"""Is anything wrong? Every line says what, how many, and where to look."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ...design import Study
from .figures.numbers import Number
from .figures.persons import driven, is_simulated, watched
from .figures.progress import Quota
from .live import Live
from .moment import Moment
from .words import fixed, plural, share

__all__ = ["LEAST_PAY", "Alarm", "alarms"]

LEAST_PAY = {"GBP": 6.0, "USD": 8.0}
"""Least pay an hour that Prolific allows, on the median time; its help pages as of 2026."""
_SURPRISE = 0.15  # our choice: as much more is excluded than was planned for
_PASSED = 0.8  # our choice: checks that fewer pass are unclear rather than unseen
_LEFT = 0.25  # our choice
_ENOUGH = 8  # sheets or people before a share is told
_QUEUE = 1000  # writes that wait; a quiet machine stores as many in a second


@dataclass(frozen=True)
class Alarm:
    """Something to look at."""

    level: Literal["bad", "note"]
    """bad: act; note: know."""
    text: str
    href: str


def alarms(
    at: Moment,
    live: Live | None,
    study: Study,
    quotas: Sequence[Quota],
    paid: Number,
    *,
    failed: str = "",
    queue: int = 0,
) -> list[Alarm]:
    """Return what is wrong or worth knowing, the worst first.

    Args:
        at: the moment.
        live: the newest slow figures; None: there are none yet.
        study: its settings.
        quotas: the stages against their targets.
        paid: pay an hour at the median time.
        failed: why the slow figures could not be computed; empty: they could.
        queue: writes that wait in the store.
    """
    found = [*_running(at, study, quotas, failed, queue), *_pay(study, paid)]
    if live is not None:
        found += [*_checks(live), *_people(live, study, at)]
    made_up = sum(
        is_simulated(name) or kind == "simulated"
        for name, kind in at.people.select("participant", "platform").iter_rows()
    )
    if made_up:
        found.append(
            Alarm("note", f"{plural(made_up, 'participant is', 'participants are')} simulated.", "/admin/people")
        )
    return sorted(found, key=lambda alarm: alarm.level)


def _running(at: Moment, study: Study, quotas: Sequence[Quota], failed: str, queue: int) -> list[Alarm]:
    found = []
    if at.paused:
        found.append(Alarm("bad", "The study is paused: nobody can begin or answer.", "/admin/settings#pause"))
    if failed:
        found.append(Alarm("bad", f"Scores and checks are old: {failed}", "/admin/scores"))
    if queue > _QUEUE:
        found.append(Alarm("bad", f"{fixed(queue)} answers wait to be stored; the disk is slow.", "/admin/settings"))
    for quota in quotas:
        if quota.left > 0 and not quota.free and not quota.under_way:
            missing = plural(quota.left, "sheet is", "sheets are")
            text = f"Stage {quota.stage}: {missing} missing and none is left to hand out."
            found.append(
                Alarm("bad", f"{text} Replace those that were left or excluded.", f"/admin/sheets?stage={quota.stage}")
            )
    states = dict(at.leases.group_by("state").len().iter_rows())
    finished = sum(states.get(state, 0) for state in ("complete", "accepted", "excluded"))
    out = states.get("excluded", 0)
    if finished >= _ENOUGH and out / finished > 1 - study.kept + _SURPRISE:
        planned = share(1 - study.kept)
        text = f"{share(out / finished)} of {finished} finished sheets are excluded; {planned} were planned for."
        found.append(Alarm("bad", text, "/admin/sheets?state=excluded"))
    if at.by_checks:
        were = plural(len(at.by_checks), "participant was", "participants were")
        found.append(Alarm("note", f"{were} excluded by the rule checks.", "/admin/sheets?state=excluded"))
    taken = at.leases.filter(at.leases["participant"].is_not_null()).height
    left = states.get("abandoned", 0)
    if taken >= _ENOUGH and left / taken > _LEFT:
        found.append(
            Alarm("note", f"{share(left / taken)} of {taken} sheets were left.", "/admin/sheets?state=abandoned")
        )
    broken = at.events.filter(at.events["kind"] == "technical").height
    if broken:
        found.append(Alarm("note", f"{plural(broken, 'visit')} ended by a technical failure.", "/admin/people"))
    return found


def _pay(study: Study, paid: Number) -> list[Alarm]:
    least = LEAST_PAY.get(study.pay.currency) if study.platform.profile == "prolific" else None
    if least is None or paid.value is None or paid.value >= least or paid.n < _ENOUGH:
        return []
    text = f"Pay is {paid.value:.2f} {study.pay.currency} an hour at the median time; Prolific asks for {least:g}."
    return [Alarm("bad", text, "/admin/people")]


def _checks(live: Live) -> list[Alarm]:
    found = []
    for row in live.checks:
        if row.unknown:
            text = f"Stage {row.stage}: {plural(row.unknown, 'check')} cannot be judged and count on neither side."
            found.append(Alarm("bad", text, "/admin/answers#checks"))
        if row.passed.high is not None and row.passed.high < _PASSED:
            text = (
                f"Stage {row.stage}: only {share(row.passed.value)} of {row.check} checks are passed; are they clear?"
            )
            found.append(Alarm("bad", text, "/admin/answers#checks"))
    return found


def _people(live: Live, study: Study, at: Moment) -> list[Alarm]:
    out = set(at.leases.filter(at.leases["state"] == "excluded")["participant"].to_list())
    robots = driven(at.events)
    rows = [
        row
        for row in live.persons
        if row["participant"] not in out and watched({**row, "automated": row["participant"] in robots}, study)
    ]
    if not rows:
        return []
    return [
        Alarm(
            "note",
            f"{plural(len(rows), 'participant deserves', 'participants deserve')} a look.",
            "/admin/people?watch=1",
        )
    ]

"""The pages about how far the study is: overview, people, one person, sheets."""

from __future__ import annotations

import asyncio
import datetime
from collections.abc import Mapping
from typing import Any

import polars as pl
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from ...design import RatingStage
from ..flow import ENDINGS
from ..server.refusals import Refusal
from ..waves import targets
from .advice import advise
from .alarms import alarms
from .auth import Who
from .figures.persons import driven, watched
from .figures.progress import Quota, funnel, hourly_pay, losses, minutes, pace, per_hour, quotas, reached
from .live import Live
from .moment import Moment, looks
from .office import Office
from .person import ACTS_OF, Person, person
from .told import told_of

__all__ = [
    "STATES",
    "aged",
    "overview",
    "people_page",
    "people_rows",
    "person_page",
    "sheets_page",
    "shown",
    "status_of",
]

STATES = ("free", "leased", "complete", "accepted", "excluded", "abandoned", "retired")
_MOST = 500
_DONE = ("complete", "accepted")


def aged(office: Office) -> str:
    """How old the slow figures are, in a sentence."""
    live = office.keeper.live
    if live is None:
        return "Scores and checks are being computed."
    seconds = max(0.0, office.desk.clock() - live.at)
    return f"Scores and checks show {live.answers:,} answers of {seconds:.0f} s ago."


async def shown(office: Office, request: Request, who: Who, template: str, here: str, **told: Any) -> Response:
    """A page of the desk with what every page shows."""
    at = told.pop("at", None) or await office.moment()
    html = await asyncio.to_thread(  # a long table must not make participants wait
        office.render, template, who=who, here=here, refresh=20, paused=at.paused, age=aged(office),
        told=told_of(request), **told,
    )  # fmt: skip
    return HTMLResponse(html)


async def status_of(office: Office, at: Moment) -> dict[str, Any]:
    """Return what the overview says, for the page and for programs.

    Args:
        office: the desk.
        at: the moment.
    """
    study, live = office.frozen.study, office.keeper.live
    present = at.present
    stages = {quota.stage: quota for quota in quotas(present, targets(study))}
    order = [stages[name] for name in study.stage_names if name in stages]
    left = sum(quota.left for quota in order)
    good = present.filter(pl.col("state").is_in(_DONE))
    begun = at.people["at"].min()
    taken = minutes(at.events)
    took, paid = hourly_pay(study.pay.per_session, taken["minutes"].to_list())
    every = await office.store.read(looks)
    planned = sum(quota.needed * _sessions(study.stage, study.stage_names, quota) for quota in order)
    return {
        "quotas": order,
        "needed": sum(quota.needed for quota in order),
        "done": sum(quota.done for quota in order),
        "pace": pace(good["done_at"], None if begun is None else float(str(begun)), at.at, left),
        "per_hour": per_hour(good["done_at"], at.at),
        "advice": advise(study, every, order),
        "looks": every,
        "took": took,
        "paid": paid,
        "sessions": taken.height,
        "planned_sessions": planned,
        "funnel": funnel(at.people, at.events, at.leases).to_dicts(),
        "losses": losses(at.events, at.leases),
        "alarms": alarms(at, live, study, order, paid, failed=office.keeper.failed, queue=office.store.queue_length),
    }


def _sessions(stages: Any, names: list[str], quota: Quota) -> int:
    stage = dict(zip(names, stages, strict=True)).get(quota.stage)
    return stage.sessions if isinstance(stage, RatingStage) else 1


async def overview(office: Office, request: Request, who: Who) -> Response:
    """How many are done, is anything wrong, when is it finished, is it enough, what does it cost."""
    at = await office.moment()
    status = await status_of(office, at)
    hours = status.pop("per_hour")
    pay = office.frozen.study.pay
    labels = [datetime.datetime.fromtimestamp(hour, datetime.UTC).strftime("%H:00") for hour in hours["hour"].to_list()]
    return await shown(
        office, request, who, "overview.html.j2", "/admin", at=at, **status, pay=pay,
        hours={"labels": labels, "counts": hours["finished"].to_list()},
        spent=status["sessions"] * pay.per_session, planned_cost=status["planned_sessions"] * pay.per_session,
    )  # fmt: skip


def people_rows(office: Office, at: Moment) -> list[dict[str, Any]]:
    """Return one row for everybody: what the store says now, and what their answers said at the last computation."""
    live: Live | None = office.keeper.live
    known = {row["participant"]: row for row in (live.persons if live is not None else [])}
    leases: dict[str, list[dict[str, Any]]] = {}
    for row in at.leases.filter(pl.col("participant").is_not_null() & (pl.col("state") != "retired")).to_dicts():
        leases.setdefault(row["participant"], []).append(row)
    took = dict(minutes(at.events).group_by("participant").agg(pl.col("minutes").median()).iter_rows())
    doors = dict(at.events.filter(pl.col("participant").is_not_null()).select("participant", "kind").iter_rows())
    robots = driven(at.events)
    made = []
    for row in at.people.to_dicts():
        name = row["participant"]
        mine, said = leases.get(name, []), known.get(name, {})
        seen = [moment for lease in mine for moment in (lease["seen_at"], lease["done_at"]) if moment is not None]
        made.append(
            {
                **_NOTHING,
                **row,
                **said,
                "leases": mine,
                "answered": sum(lease["answered"] for lease in mine),
                "asked": sum(lease["asked"] or 0 for lease in mine),
                "minutes": took.get(name),
                "seen": max([*seen, said.get("last") or row["at"]]),
                "at_door": doors.get(name, "arrived"),
                "by_checks": name in at.by_checks,
                "why": watched({**said, "automated": name in robots}, office.frozen.study),
            }
        )
    return made


_NOTHING: Mapping[str, Any] = {
    "seconds": None, "left": None, "same": None, "repeats": None, "repeats_alike": None, "checks_instructed": 0,
    "checks_instructed_failed": 0, "checks_broken": 0, "checks_broken_failed": 0, "checks_unknown": 0,
}  # fmt: skip


async def people_page(office: Office, request: Request, who: Who) -> Response:
    """Everybody, or those that were asked for."""
    at = await office.moment()
    query = request.query_params
    asked = {key: query.get(key, "").strip()[:80] for key in ("state", "stage", "name", "watch", "step", "left")}
    rows = await asyncio.to_thread(people_rows, office, at)
    what = ""
    if asked["step"]:
        steps = reached(at.people, at.events, at.leases)
        rows = [row for row in rows if row["participant"] in steps.get(asked["step"], set())]
        what = f"who reached '{asked['step']}'"
    if asked["left"]:
        kind = {"failed-training": "training-failed"}.get(asked["left"], asked["left"])
        lost = set(at.events.filter(pl.col("kind") == kind)["participant"].to_list())
        rows = [row for row in rows if row["participant"] in lost]
        what = f"lost by '{asked['left']}'"
    if asked["state"] == "none":
        rows = [row for row in rows if not row["leases"]]
    elif asked["state"]:
        rows = [row for row in rows if any(lease["state"] == asked["state"] for lease in row["leases"])]
    if asked["stage"]:
        rows = [row for row in rows if any(lease["stage"] == asked["stage"] for lease in row["leases"])]
    if asked["name"]:
        rows = [row for row in rows if asked["name"] in row["participant"]]
    if asked["watch"]:
        rows = [row for row in rows if row["why"]]
    rows.sort(key=lambda row: -row["seen"])
    return await shown(
        office, request, who, "people.html.j2", "/admin/people", at=at, rows=rows[:_MOST], total=len(rows), asked=asked,
        what=what, judges=bool(at.by_checks) or any(stage.checks_needed for stage in office.frozen.study.stage),
    )  # fmt: skip


async def person_page(office: Office, request: Request, who: Who) -> Response:
    """One participant."""
    at = await office.moment(fresh=True)
    name = request.path_params["name"]
    found = await office.store.read(lambda c: person(c, office, at, name))
    if found is None:
        raise Refusal(404, "not-found", f"There is no participant '{name[:80]}'.")
    states = {lease["state"] for lease in found.leases}
    timed = [row for row in found.answers if row["seconds"] is not None]
    times = {
        "labels": [str(number) for number in range(1, len(timed) + 1)],
        "seconds": [min(row["seconds"], 30.0) for row in timed],
    }
    return await shown(
        office, request, who, "person.html.j2", "/admin/people", at=at, name=name, person=found.row, leases=found.leases,
        sessions=found.sessions, checks=found.checks, answers=found.answers, summary=found.summary, why=found.why,
        hidden=found.hidden, exact=found.exact, device=found.device, said=found.said, remark=found.remark,
        events=found.events, times=times if timed and found.summary else None,
        counts=bool(states & {"leased", "abandoned", *_DONE}), excluded="excluded" in states,
        going=_may_be_ended(found),
    )  # fmt: skip


def _may_be_ended(found: Person) -> bool:
    """Whether somebody has begun, is not through, and has not been ended before."""
    kinds = {event["kind"] for event in found.events}
    under_way = any(lease["state"] in ("leased", "abandoned") for lease in found.leases)
    through = not under_way and any(lease["done_at"] is not None for lease in found.leases)
    return "consent" in kinds and not through and not kinds & set(ENDINGS)


async def sheets_page(office: Office, request: Request, who: Who) -> Response:
    """Every sheet by its state."""
    at = await office.moment(fresh="told" in request.query_params)
    query = request.query_params
    asked = {key: query.get(key, "").strip()[:80] for key in ("state", "stage", "name")}
    counts = {(stage, state): n for stage, state, n in at.leases.group_by("stage", "state").len().iter_rows()}
    names = [*office.frozen.study.stage_names]
    names += sorted(set(at.leases["stage"].to_list()) - set(names))
    by_stage = {name: {state: counts.get((name, state), 0) for state in STATES} for name in names}
    rows = at.leases
    if asked["state"]:
        rows = rows.filter(pl.col("state").is_in(_DONE if asked["state"] == "done" else [asked["state"]]))
    if asked["stage"]:
        rows = rows.filter(pl.col("stage") == asked["stage"])
    if asked["name"]:
        rows = rows.filter(pl.col("participant") == asked["name"])
    rows = rows.sort(pl.max_horizontal("done_at", "seen_at", "taken_at"), descending=True, nulls_last=True)
    dicts = [{**row, "acts": ACTS_OF.get(row["state"], ())} for row in rows.head(_MOST).to_dicts()]
    return await shown(
        office, request, who, "sheets.html.j2", "/admin/sheets", at=at, states=STATES, by_stage=by_stage, asked=asked,
        total=rows.height, rows=dicts,
    )  # fmt: skip

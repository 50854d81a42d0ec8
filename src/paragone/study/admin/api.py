"""The desk for programs: /api/admin/*, the same numbers and acts as the pages, as JSON."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from ...errors import BadInput, UnknownName
from ..server.refusals import Refusal
from .auth import Who
from .deeds import MOST_REASON
from .doing import carry_out
from .figures.numbers import Number
from .files import KINDS, backup_file, table_file, zip_file
from .findings import blinded
from .gate import identify
from .live import Live
from .moment import audit
from .office import Office
from .pages import people_rows, status_of
from .person import person

__all__ = [
    "AlarmTold",
    "Done",
    "LogTold",
    "NumberTold",
    "PersonTold",
    "QuotaTold",
    "Reason",
    "StageAdvice",
    "StatusTold",
    "desk_router",
]


class _Told(BaseModel):
    model_config = ConfigDict(extra="forbid")


class NumberTold(_Told):
    """A figure with its 95 % interval."""

    value: float | None = Field(description="The figure; null: not known, and `note` says why.")
    low: float | None
    high: float | None
    n: int = Field(description="How many answers, sheets or people it rests on.")
    note: str


class QuotaTold(_Told):
    """One stage against its target, in sheets (all that one participant gets in a stage)."""

    stage: str
    needed: int
    done: int
    under_way: int
    free: int
    abandoned: int
    excluded: int
    extra: int


class AlarmTold(_Told):
    """Something to look at."""

    level: str = Field(description="bad: act; note: know.")
    text: str
    href: str = Field(description="The page that shows it.")


class StageAdvice(_Told):
    """What the declared rule says about a stage."""

    stage: str
    word: str = Field(description="stop, go on, or too early.")
    why: str
    target: float


class StatusTold(_Told):
    """How far the study is."""

    version: int
    paused: bool
    simulated: bool = Field(description="The study's answers come from simulated participants.")
    at: float = Field(description="UTC epoch seconds.")
    needed: int
    done: int
    quotas: list[QuotaTold]
    per_hour: NumberTold
    end: NumberTold = Field(description="Expected end, UTC epoch seconds.")
    advice: str = Field(description="stop, go on, or too early.")
    stages: list[StageAdvice]
    minutes: NumberTold = Field(description="Median minutes a session.")
    hourly_pay: NumberTold
    currency: str
    funnel: dict[str, int]
    losses: dict[str, int]
    alarms: list[AlarmTold]


class PersonTold(BaseModel):
    """One participant."""

    model_config = ConfigDict(extra="ignore")

    participant: str
    simulated: bool
    platform: str
    language: str | None
    at: float
    forgotten_at: float | None
    answered: int
    asked: int
    states: dict[str, str] = Field(description="Stage to the state of the sheet.")
    minutes: float | None
    seconds: float | None
    checks_instructed: int
    checks_instructed_failed: int
    checks_broken: int
    checks_broken_failed: int
    checks_unknown: int
    repeats: int | None
    repeats_alike: int | None
    left: float | None
    seen: float
    why: list[str] = Field(description="Why they deserve a look; nobody is excluded by these alone.")


class LogTold(_Told):
    """One line of the log."""

    event: int
    participant: str | None
    lease: int | None
    session: str | None
    kind: str
    at: float
    body: dict[str, Any]


class Reason(BaseModel):
    """Why something is done."""

    model_config = ConfigDict(extra="forbid", strict=True)

    why: Annotated[str, Field(max_length=MOST_REASON)] = ""


class Done(_Told):
    """What was done."""

    done: str


PersonName = Annotated[str, Path(max_length=80, pattern=r"^[A-Za-z0-9._:-]+$")]
Word = Annotated[str, Path(max_length=32, pattern=r"^[a-z_]+$")]
SheetNumber = Annotated[int, Path(ge=1, le=2**31 - 1)]
_REFUSALS: dict[int | str, dict[str, Any]] = {
    401: {"description": "bad-token: no token, or nobody's."},
    403: {"description": "forbidden: viewers may look only."},
}
_ACTS: dict[int | str, dict[str, Any]] = {
    **_REFUSALS,
    404: {"description": "not-found: no such participant or sheet."},
    409: {"description": "conflict: there is nothing to do, or the reason is missing; nothing was changed."},
}


async def _looker(request: Request) -> Who:
    office: Office = request.app.state.office
    who = await identify(office, request)
    if who is None:
        raise Refusal(401, "bad-token", "A token of the desk is needed.", headers={"www-authenticate": "Bearer"})
    return who


async def _doer(who: Annotated[Who, Depends(_looker)]) -> Who:
    if not who.may:
        raise Refusal(403, "forbidden", f"{who.name} may look, but not do this.")
    return who


def _file(*kinds: str) -> dict[int | str, dict[str, Any]]:
    """How the answer of a route that sends a file is described."""
    return {
        200: {"description": "The file.", "content": {kind: {} for kind in kinds}},
        404: {"description": "not-found: no such table or format."},
    }


Looker = Annotated[Who, Depends(_looker)]
Doer = Annotated[Who, Depends(_doer)]


def desk_router(office: Office) -> APIRouter:
    """Return the routes under /api/admin; the application's state holds the same `office`.

    Args:
        office: the desk.
    """
    router = APIRouter(prefix="/api/admin", tags=["admin"], responses=_REFUSALS)

    async def act(name: str, target: str, who: Who, reason: Reason) -> Done:
        try:
            return Done(done=await carry_out(office, name, target, who.name, reason.why.strip()))
        except UnknownName as error:
            raise Refusal(404, "not-found", error.message) from None
        except BadInput as error:
            raise Refusal(409, "conflict", error.message) from None

    @router.get("/status")
    async def status(_who: Looker) -> StatusTold:
        """How far the study is, whether anything is wrong, when it ends, whether it is enough, what it costs."""
        at = await office.moment()
        told = await status_of(office, at)
        advice, pace = told["advice"], told["pace"]
        return StatusTold(
            version=at.version, paused=at.paused, simulated=office.frozen.simulated, at=at.at, needed=told["needed"],
            done=told["done"], quotas=[QuotaTold(**asdict(quota)) for quota in told["quotas"]],
            per_hour=_number(pace.per_hour), end=_number(pace.end), advice=advice.word,
            stages=[StageAdvice(stage=v.stage, word=v.word, why=v.why, target=v.target) for v in advice.stages],
            minutes=_number(told["took"]), hourly_pay=_number(told["paid"]), currency=office.frozen.study.pay.currency,
            funnel={row["step"]: row["people"] for row in told["funnel"]}, losses=told["losses"],
            alarms=[AlarmTold(**asdict(alarm)) for alarm in told["alarms"]],
        )  # fmt: skip

    @router.get("/live", responses={409: {"description": "conflict: nothing was computed yet."}})
    async def live(_who: Looker) -> Live:
        """Scores, stability, checks, times and exposure as they were computed last; names as letters until unblinded.

        409 while nothing was computed yet."""
        at, found = await office.moment(), office.keeper.live
        if found is None:
            raise Refusal(409, "conflict", "These figures are being computed; ask again.", headers={"retry-after": "5"})
        return blinded(found, office.blind(at))

    @router.get("/participants")
    async def participants(_who: Looker) -> list[PersonTold]:
        """Everybody, one row each."""
        rows = await asyncio.to_thread(people_rows, office, await office.moment())
        return [_person(row) for row in rows]

    @router.get("/participants/{name}", responses={404: {"description": "not-found: no such participant."}})
    async def one(_who: Looker, name: PersonName) -> dict[str, Any]:
        """Everything about one participant: sheets, sessions, checks, answers, screen, remarks, events."""
        at = await office.moment(fresh=True)
        found = await office.store.read(lambda c: person(c, office, at, name))
        if found is None:
            raise Refusal(404, "not-found", f"There is no participant '{name}'.")
        return asdict(found)

    @router.post("/participants/{name}/exclude", responses=_ACTS)
    async def exclude(who: Doer, name: PersonName, reason: Reason) -> Done:
        """Stop counting all sheets of a participant; the answers are kept."""
        return await act("exclude-person", name, who, reason)

    @router.post("/participants/{name}/restore", responses=_ACTS)
    async def restore(who: Doer, name: PersonName, reason: Reason) -> Done:
        """Count the excluded sheets of a participant again."""
        return await act("restore-person", name, who, reason)

    @router.post("/participants/{name}/screen-out", responses=_ACTS)
    async def screen_out(who: Doer, name: PersonName, reason: Reason) -> Done:
        """End the part of a participant who does not fit; their page gives them the code of those screened out."""
        return await act("screen-out", name, who, reason)

    @router.post("/participants/{name}/technical", responses=_ACTS)
    async def technical(who: Doer, name: PersonName, reason: Reason) -> Done:
        """End the part of a participant who cannot go on; their page gives them the code of technical failures."""
        return await act("technical", name, who, reason)

    @router.post("/participants/{name}/forget", responses=_ACTS)
    async def forget(who: Doer, name: PersonName, reason: Reason) -> Done:
        """Delete all that is stored of a participant. This cannot be undone."""
        return await act("forget", name, who, reason)

    @router.get("/sheets")
    async def sheets(_who: Looker) -> list[dict[str, Any]]:
        """Every sheet with its state, participant and number of answers."""
        return (await office.moment()).leases.to_dicts()

    def on_sheet(name: str, said: str) -> None:
        async def endpoint(who: Doer, number: SheetNumber, reason: Reason) -> Done:
            return await act(name, str(number), who, reason)

        endpoint.__doc__ = said
        router.post(f"/sheets/{{number}}/{name}", responses=_ACTS, operation_id=f"sheet_{name}")(endpoint)

    on_sheet("exclude", "Stop counting a sheet; its answers are kept.")
    on_sheet("restore", "Count an excluded sheet again.")
    on_sheet("accept", "Note that a complete sheet was looked at and is good.")
    on_sheet("release", "Take a sheet back from who is under way with it.")
    on_sheet("replace", "Hand out a copy of a sheet that was left or excluded.")

    def on_study(name: str, said: str) -> None:
        async def endpoint(who: Doer, reason: Reason) -> Done:
            return await act(name, "", who, reason)

        endpoint.__doc__ = said
        router.post(f"/{name}", responses=_ACTS, operation_id=f"study_{name}")(endpoint)

    on_study("pause", "Nobody can begin or answer until it is resumed.")
    on_study("resume", "Participants can begin and answer again.")
    on_study("unblind", "Show names of what is compared in place of letters.")
    on_study("blind", "Show letters in place of names.")

    @router.get("/log")
    async def log(
        _who: Looker,
        most: Annotated[int, Query(ge=1, le=1000)] = 200,
        before: Annotated[int | None, Query(ge=1, le=2**31 - 1)] = None,
    ) -> list[LogTold]:
        """What was done at the desk and by its rules, newest first."""
        rows = await office.store.read(lambda c: audit(c, most=most, before=before))
        return [LogTold(**row) for row in rows]

    @router.get("/export/{form}.zip", response_class=Response, responses=_file("application/zip"))
    async def whole_export(who: Doer, form: Word, anonymise: bool = False) -> Response:
        """Everything in one zip (csv, parquet, json or jspsych), made while it is sent."""
        return await zip_file(office, who, form, anonymise=anonymise)

    @router.get("/export/{table}/{form}", response_class=Response, responses=_file(*KINDS.values()))
    async def table_export(who: Doer, table: Word, form: Word, anonymise: bool = False) -> Response:
        """One table of the export (csv, parquet or json), made while it is sent."""
        return await table_file(office, who, table, form, anonymise=anonymise)

    @router.post("/backup", response_class=Response, responses=_file("application/zip"))
    async def whole_backup(who: Doer, request: Request) -> Response:
        """A checked backup of the whole store."""
        return await backup_file(office, request, who)

    return router


def _number(number: Number) -> NumberTold:
    return NumberTold(**asdict(number))


def _person(row: dict[str, Any]) -> PersonTold:
    states = {lease["stage"]: lease["state"] for lease in row["leases"]}
    made_up = row["participant"].startswith("sim-") or row["platform"] == "simulated"
    return PersonTold(**{**row, "states": states, "simulated": made_up})

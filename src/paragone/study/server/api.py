"""The participant API: state, steps, answers, pictures. Every route finds its person by the bearer token alone."""

from __future__ import annotations

from typing import Annotated, Any

import anyio.to_thread
import msgspec
from fastapi import APIRouter, Query, Request, Response

from ...errors import BadInput
from ..pages import PAGES
from ..pictures import picture_etag
from ..pictures.instructed import instructed
from ..store import answers
from ..texts import load
from . import models, steps
from .desk import Desk, Sitting, look
from .entry import token_sha256_of
from .refusals import Refusal
from .shown import Pane, panes_of, shown_practice, shown_trial
from .states import AHEAD, done_part, state_of

__all__ = ["participant_router", "store_answers"]

_JSON = "application/json"
_PICTURE_HEADERS = {"cache-control": "private, max-age=86400, immutable"}
_decoder = msgspec.json.Decoder(models.AnswersSent)
_encode = msgspec.json.encode
_STATUS = {"stored": 201, "known": 200, "conflict": 409, "gone": 410}


def participant_router(desk: Desk) -> APIRouter:
    """Return the routes that a participant's page uses, those of the entry and the hot one for answers aside.

    Args:
        desk: what this process knows.
    """
    router = APIRouter(tags=["participant"])

    @router.get("/api/state", response_model=models.StateTold, responses=_ERRORS)
    async def state(
        request: Request, lang: Annotated[str, Query(max_length=8, description="Go on in this language.")] = ""
    ) -> Response:
        """Where the participant is, and what the page needs to show it."""
        return await _state(desk, request, lang)

    @router.post("/api/step", response_model=models.StateTold, responses={**_ERRORS, 409: _NOT_NOW})
    async def step(request: Request, taken: models.Step) -> Response:
        """Take a step. The same id again is the same step; one whose turn it is not gets the state instead."""
        token = _held(desk, request)
        now = desk.clock()
        if desk.paused:
            raise Refusal(503, "paused", headers={"retry-after": "15"})
        return await _stepped(
            desk, token, await desk.store.write(lambda c: steps.step(c, desk, token, taken, now)), now
        )

    @router.post("/api/finish", response_model=models.StateTold, responses={**_ERRORS, 409: _NOT_NOW})
    async def finish(request: Request, sent: models.FinishSent) -> Response:
        """End the session: gives the completion code once every answer is there."""
        token = _held(desk, request)
        now = desk.clock()
        done = await desk.store.write(lambda c: steps.finish(c, desk, token, sent.id, now))
        if done.status == "done" and done.facts is not None:
            desk.forget(token)
            return _json(_finished(desk, done))
        return await _stepped(desk, token, done, now)

    @router.post("/api/telemetry", status_code=201, responses=_ERRORS)
    async def telemetry(request: Request, sent: models.TelemetrySent) -> Response:
        """Note what the browser tells: focus lost, zoom, and the like."""
        token = _held(desk, request)
        now = desk.clock()
        done = await desk.store.write(lambda c: steps.telemetry(c, token, sent, now))
        _refuse(done)
        return _json({"status": "stored"}, 201)

    @router.get(
        "/i/{public}/{slot}",
        responses={**_ERRORS, 200: {"content": {"image/png": {}}}, 304: {"description": "The same."}},
    )
    async def picture(request: Request, public: str, slot: str) -> Response:
        """A picture of a trial that is served now."""
        return await _picture(desk, request, public, slot)

    return router


_ERRORS: dict[int | str, dict[str, Any]] = {
    401: {"model": models.ErrorTold, "description": "bad-token: no bearer token, or nobody's."},
    410: {"model": models.ErrorTold, "description": "replaced: another tab took over."},
    429: {"model": models.ErrorTold, "description": "too-many: wait for Retry-After seconds."},
    503: {"model": models.ErrorTold, "description": "paused, or the store cannot write at this moment."},
}
_NOT_NOW: dict[str, Any] = {"model": models.StateTold, "description": "It is not that step's turn; the state."}


def _json(content: Any, status: int = 200) -> Response:
    return Response(_encode(content), status, media_type=_JSON)


def _held(desk: Desk, request: Request) -> str:
    """The token's SHA-256, if its session is not too fast."""
    token = token_sha256_of(request.headers)
    wait = desk.limits.answers.take(token)
    if wait:
        raise Refusal.too_many(wait)
    return token


def _refuse(done: steps.Done) -> None:
    if done.status == "unknown":
        raise Refusal(401, "bad-token", headers={"www-authenticate": "Bearer"})
    if done.status == "ended":
        raise Refusal(410, "replaced")


async def _state(desk: Desk, request: Request, lang: str) -> Response:
    token = token_sha256_of(request.headers)
    now = desk.clock()
    facts = await desk.store.read(lambda c: look(c, desk, token, now))
    if facts is None or not facts.visit.live:
        _refuse(steps.Done("unknown" if facts is None else "ended"))
    assert facts is not None
    at = facts.where
    spoken = lang if lang in facts.frozen.study.pages.languages and lang != facts.language else None
    stale = at.phase == "break" and at.began is not None and now < at.began
    if spoken or stale or steps.wants_lease(facts):
        done = await desk.store.write(lambda c: steps.refresh(c, desk, token, now, spoken=spoken))
    else:
        back = await desk.store.read(lambda c: steps.way_back(c, desk, facts)) if at.phase in ("done", "wait") else None
        done = steps.Done("done", facts, back)
    return await _stepped(desk, token, done, now)


async def _stepped(desk: Desk, token: str, done: steps.Done, now: float) -> Response:
    """The answer to a step: the state."""
    _refuse(done)
    assert done.facts is not None
    if done.status == "declined":
        desk.forget(token)
        end = done_part("no-consent", done.back, load(done.facts.language), None)
        return _json({**state_of(desk, done.facts, now), "phase": "done", "done": end, "participant": None})
    desk.seat(token, done.facts)
    return _json(state_of(desk, done.facts, now, way_back=done.back), 409 if done.status == "not-now" else 200)


def _finished(desk: Desk, done: steps.Done) -> dict[str, Any]:
    facts = done.facts
    assert facts is not None
    at = facts.where
    following = None
    if at.outcome is None and at.sheet is not None:
        following = {"at": at.until if at.until is not None else desk.clock(), "session": at.number}
    return done_part(at.outcome or "completed", done.back, load(facts.language), following)


async def store_answers(desk: Desk, request: Request) -> Response:
    """`POST /api/answers`: the hot path. Stores answers to one trial, each once, and answers after the commit."""
    token = _held(desk, request)
    if desk.paused:
        raise Refusal(503, "paused", headers={"retry-after": "15"})
    try:
        sent = _decoder.decode(await request.body()).answers
    except msgspec.ValidationError as error:
        raise Refusal(422, "bad-request", f"The request is not what it must be: {error}.") from None
    except msgspec.DecodeError:
        raise Refusal(400, "bad-request") from None
    public = sent[0].trial
    sitting = desk.sitting(token)
    place = _place(sitting, public)
    if sitting is None or place is None or not _in_time(sitting, place):
        sitting = await _seated(desk, token)
        place = _place(sitting, public)
        if place is None:
            raise Refusal(404, "not-found")
        if not _in_time(sitting, place):
            raise Refusal(425, "too-early")
    rows = _rows(sitting, place, sent)
    now = desk.clock()
    lease, person = sitting.lease.id, sitting.visit.participant_id
    stored = await desk.store.write(lambda c: answers.append(c, token, lease, person, rows, now), single=True)
    statuses = {one.status for one in stored}
    if "gone" in statuses:
        desk.forget(token)
        raise Refusal(410, "replaced")
    if "conflict" in statuses:
        desk.forget(token)
    else:
        sitting.note(place, [row.criterion for row in rows])
    status = 409 if "conflict" in statuses else 201 if "stored" in statuses else 200
    return Response(
        _encode({"results": [{"id": s.client_id, "status": s.status} for s in stored]}), status, media_type=_JSON
    )


async def _seated(desk: Desk, token: str) -> Sitting:
    now = desk.clock()
    facts = await desk.store.read(lambda c: look(c, desk, token, now))
    if facts is None or not facts.visit.live:
        _refuse(steps.Done("unknown" if facts is None else "ended"))
    assert facts is not None
    seated = desk.seat(token, facts)
    if seated is None:
        raise Refusal(410, "gone")
    return seated


def _place(sitting: Sitting | None, public: str) -> int | None:
    return None if sitting is None else sitting.index.get(public)


def _in_time(sitting: Sitting, place: int) -> bool:
    return place < sitting.gate and place <= sitting.frontier + AHEAD


def _rows(sitting: Sitting, place: int, sent: list[models.OneAnswer]) -> list[answers.NewAnswer]:
    """The answers as they are stored, each held to the page's rules."""
    trial = sitting.trials[place]
    stage = sitting.frozen.stages[trial.stage]
    page = PAGES.get(stage.page)
    back = getattr(stage, "back", False)
    public = sent[0].trial
    known = sitting.frozen.study.pages.distortions
    rows = []
    for one in sent:
        if one.trial != public:
            raise Refusal(422, "bad-request", "The request is not what it must be: answers belong to one trial.")
        if one.criterion not in sitting.frozen.criteria:
            raise Refusal(422, "bad-request", "The request is not what it must be: criterion: unknown.")
        if one.revision and not back:
            raise Refusal(422, "bad-request", "The request is not what it must be: revision: answers stay as they are.")
        if one.body.distortions and not set(one.body.distortions) <= set(known):
            raise Refusal(422, "bad-request", "The request is not what it must be: body.distortions: unknown.")
        try:
            value = page.validate(one.value, stage)
        except BadInput as error:
            raise Refusal(422, "bad-request", f"The request is not what it must be: value: {error.message}.") from None
        body = _encode(one.body).decode()
        rows.append(answers.NewAnswer(one.id, trial.trial, one.criterion, one.revision, value, one.seconds, body))
    return rows


async def _picture(desk: Desk, request: Request, public: str, slot: str) -> Response:
    token = token_sha256_of(request.headers)
    sitting = desk.sitting(token)
    pane = None if sitting is None else _pane(sitting, public, slot)
    if sitting is None or pane is None:
        sitting = await _seated(desk, token)
        pane = _pane(sitting, public, slot)
        if pane is None:
            raise Refusal(404, "not-found")
    picture = sitting.frozen.pictures[pane.key]
    told = _told(sitting, public) if pane.told else None
    variant = f"{picture.sha256}\n{told}\n{sitting.language}" if told is not None else picture.sha256
    etag = picture_etag(desk.key, f"{public}/{slot}", variant)
    headers = {**_PICTURE_HEADERS, "etag": etag}
    if etag in [given.strip() for given in request.headers.get("if-none-match", "").split(",")]:
        return Response(status_code=304, headers=headers)
    path, language = desk.folder / picture.path, sitting.language

    def made() -> bytes:
        plain = desk.pictures.picture(path, picture.sha256)
        if told is None:
            return plain
        return desk.pictures.made(variant, lambda: instructed(plain, told, language, where=picture.path))

    return Response(await anyio.to_thread.run_sync(made), headers=headers, media_type="image/png")


def _pane(sitting: Sitting, public: str, slot: str) -> Pane | None:
    """The pane of that name, where it is served now."""
    place = sitting.index.get(public)
    stage = sitting.frozen.stages[sitting.lease.stage]
    if place is not None:
        if not _served(sitting, place, back=getattr(stage, "back", False)):
            return None
        shown = shown_trial(sitting.trials[place])
    else:
        kind, number = sitting.others.get(public, ("", 0))
        if kind != "practice" or sitting.phase != "training":
            return None
        shown = shown_practice(sitting.frozen.practice[sitting.lease.stage][number])
    layout = PAGES.get(stage.page).layout(shown.references)
    return next((pane for pane in panes_of(shown, layout) if pane.slot == slot), None)


def _served(sitting: Sitting, place: int, *, back: bool) -> bool:
    if sitting.phase not in ("ready", "trial", "break", "questionnaire", "finish"):
        return False
    return place <= sitting.frontier + AHEAD and (back or place >= sitting.frontier)


def _told(sitting: Sitting, public: str) -> str | None:
    place = sitting.index.get(public)
    if place is not None:
        return sitting.trials[place].expected
    return sitting.frozen.practice[sitting.lease.stage][sitting.others[public][1]].expected

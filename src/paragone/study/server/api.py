"""The participant API: state, steps, answers, pictures. Every route finds its person by the bearer token alone."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Query, Request, Response

from ..texts import load
from . import models, steps
from .desk import Desk, look
from .entry import token_sha256_of
from .hot import held_token
from .refusals import Refusal
from .states import done_part, state_of, trained_part
from .stimuli import picture_answer

__all__ = ["participant_router"]

_JSON = "application/json"
_encode = msgspec.json.encode


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
        token = held_token(desk, request)
        now = desk.clock()
        if desk.paused:
            raise Refusal(503, "paused", headers={"retry-after": "15"})
        return await _stepped(
            desk, token, await desk.store.write(lambda c: steps.step(c, desk, token, taken, now)), now
        )

    @router.post("/api/finish", response_model=models.StateTold, responses={**_ERRORS, 409: _NOT_NOW})
    async def finish(request: Request, sent: models.FinishSent) -> Response:
        """End the session: gives the completion code once every answer is there."""
        token = held_token(desk, request)
        now = desk.clock()
        done = await desk.store.write(lambda c: steps.finish(c, desk, token, sent.id, now))
        if done.status == "done" and done.facts is not None:
            desk.forget(token)
            return _json(_finished(done))
        return await _stepped(desk, token, done, now)

    @router.post("/api/telemetry", status_code=201, responses=_ERRORS)
    async def telemetry(request: Request, sent: models.TelemetrySent) -> Response:
        """Note what the browser tells: focus lost, zoom, and the like."""
        token = held_token(desk, request)
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
        return await picture_answer(desk, request, public, slot)

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
    if spoken or stale or steps.wants_lease(facts, now):
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
    state = state_of(desk, done.facts, now, way_back=done.back)
    if done.failed is not None:
        state["training"] = trained_part(done.failed)
    if (
        state["phase"] in ("done", "wait") and (steps.next_session(done.facts) or 0.0) > now
    ):  # loaded again before the next
        state["done"] = _finished(done)
    return _json(state, 409 if done.status == "not-now" else 200)


def _finished(done: steps.Done) -> dict[str, Any]:
    facts = done.facts
    assert facts is not None
    at = facts.where
    opens = steps.next_session(facts)
    following = None if opens is None else {"at": opens, "session": sum(facts.sessions[:2]) + 1}
    if at.phase != "done" and following is not None:
        following["session"] = facts.sessions[0] + at.number
    return done_part(at.outcome or "completed", done.back, load(facts.language), following)

"""`POST /api/answers`, the hot path: from the body's bytes to the store and back with as little between as there can be.

It goes past FastAPI's routing and reading of bodies. What it does is described in OpenAPI like every other route, and the
same rules hold: strict bodies, the person found by the token alone, nothing acknowledged before the commit.
"""

from __future__ import annotations

import logging

import msgspec
from fastapi import Request, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from ...errors import BadInput, ParagoneError, StoreError
from ..pages import PAGES
from ..store import answers
from . import models
from .desk import Desk, Sitting, look
from .entry import token_sha256_of
from .refusals import Refusal, refused
from .states import AHEAD

__all__ = ["HotPath", "answers_route", "held_token", "seated", "store_answers", "unable"]

_PATH = "/api/answers"
_decode = msgspec.json.Decoder(models.AnswersSent).decode
_encode = msgspec.json.encode
_log = logging.getLogger("paragone.study")


class HotPath:
    """ASGI middleware that answers `POST /api/answers` itself.

    Args:
        app: the application within.
        desk: what this process knows.
    """

    def __init__(self, app: ASGIApp, desk: Desk) -> None:
        self.app = app
        self.desk = desk

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http" or scope["path"] != _PATH or scope["method"] != "POST":
            await self.app(scope, receive, send)
            return
        request = Request(scope, receive)
        try:
            response = await store_answers(self.desk, request)
        except Refusal as refusal:
            response = refused(refusal, path=_PATH, accept=request.headers.get("accept-language", ""))
        except (StoreError, BadInput) as error:
            response = unable(error, request)
        await response(scope, receive, send)


def answers_route(desk: Desk) -> Route:
    """Return the route, for the router's list; requests reach it through `HotPath`.

    Args:
        desk: what this process knows.
    """

    async def endpoint(request: Request) -> Response:
        return await store_answers(desk, request)

    return Route(_PATH, endpoint, methods=["POST"], name="answers")


def unable(error: Exception, request: Request) -> Response:
    """Return the answer to what the store or a picture cannot do at this moment; the reason goes to the log."""
    _log.error("%s", error.message if isinstance(error, ParagoneError) else type(error).__name__)
    refusal = Refusal(503, "server", headers={"retry-after": "5"})
    return refused(refusal, path=request.url.path, accept=request.headers.get("accept-language", ""))


def held_token(desk: Desk, request: Request) -> str:
    """Return the token's SHA-256, if its session is not too fast.

    Raises:
        Refusal: there is no token (401), or too many requests came with it (429).
    """
    token = token_sha256_of(request.headers)
    wait = desk.limits.answers.take(token)
    if wait:
        raise Refusal.too_many(wait)
    return token


async def store_answers(desk: Desk, request: Request) -> Response:
    """`POST /api/answers`: the hot path. Stores answers to one trial, each once, and answers after the commit."""
    token = held_token(desk, request)
    if desk.paused:
        raise Refusal(503, "paused", headers={"retry-after": "15"})
    try:
        sent = _decode(await request.body()).answers
    except msgspec.ValidationError as error:
        raise Refusal(422, "bad-request", f"The request is not what it must be: {error}.") from None
    except msgspec.DecodeError:
        raise Refusal(400, "bad-request") from None
    public = sent[0].trial
    sitting = desk.sitting(token)
    place = _place(sitting, public)
    if sitting is None or place is None or not _in_time(sitting, place):
        sitting = await seated(desk, token)
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
        _encode({"results": [{"id": s.client_id, "status": s.status} for s in stored]}),
        status,
        media_type="application/json",
    )


async def seated(desk: Desk, token: str) -> Sitting:
    """Return the sitting of a token as the store knows it.

    Raises:
        Refusal: nobody has the token (401), another tab took over or there is no session (410).
    """
    now = desk.clock()
    facts = await desk.store.read(lambda c: look(c, desk, token, now))
    if facts is None:
        raise Refusal(401, "bad-token", headers={"www-authenticate": "Bearer"})
    if not facts.visit.live:
        raise Refusal(410, "replaced")
    found = desk.seat(token, facts)
    if found is None:
        raise Refusal(410, "gone")
    return found


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

"""Coming in: the panel's address or a lab code becomes a visit, and the visit's key a token.

A panel's ids come once, in the query of `GET /`. The store keeps an HMAC of them and a sealed copy; the browser is sent on
to an address that holds a one-time key behind the `#`, which browsers send to nobody. The page changes the key (or, after a
reload, the cookie) for a bearer token. At that moment the cookie changes too, so that one which somebody planted before is
worth nothing.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from urllib.parse import parse_qs

import sqlalchemy as sa
from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, RedirectResponse

from ...errors import BadInput
from ..store import events, people
from ..store.tables import participant, visit
from ..texts import load
from .door import Door
from .entry_pages import code_page, preview_page
from .kiosk import entered, is_used, note, start_page
from .profiles import Ids, ids_of
from .pseudonyms import code_sha256, opened_ids, person_hmac, sealed_ids, submission_hmac
from .refusals import Refusal, calm_page, language_for
from .security import peer_of
from .simulated import PASS, known_by_pass, seat_of

__all__ = [
    "Door",
    "SessionGiven",
    "SessionWanted",
    "entry_router",
    "opened_ids",
    "signed_in",
    "stage_asked",
    "token_sha256_of",
]

_COOKIE_SECONDS = 90 * 86_400  # sessions of one study may be weeks apart
_MOST_QUERY = 4096  # bytes; the longest panel's address has some 300
_MOST_PARAMETERS = 30


class SessionWanted(BaseModel):
    """Body of `POST /api/session`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    key: str | None = Field(
        default=None, max_length=100, description="One-time key of the entry; left out: the cookie."
    )


class SessionGiven(BaseModel):
    """What `POST /api/session` gives."""

    token: str = Field(description="Bearer token of this tab; every older one of the person has ended.")
    language: str = Field(description="Language that the person started in.")


class _Arrival(NamedTuple):
    """A person at the door."""

    key_sha256: str
    cookie_sha256: str
    language: str
    wanted_language: str
    """Asked for in the address; empty: nothing was."""
    stage: str
    """Asked for in the address; empty: nothing was."""


def entry_router(door: Door) -> APIRouter:
    """Return the routes by which people come in: `GET /`, `POST /enter` and `POST /api/session`.

    Args:
        door: the study and the server.
    """
    router = APIRouter()

    @router.get("/", include_in_schema=False)
    async def arrive(request: Request) -> Response:
        return await _arrive(door, request)

    @router.post("/enter", include_in_schema=False)
    async def enter(request: Request) -> Response:
        return await _enter(door, request)

    @router.post("/api/session", response_model=SessionGiven, tags=["participant"], responses=_SESSION_ERRORS)
    async def session(request: Request, wanted: SessionWanted) -> Response:
        """Change the entry's key, or the cookie, for a token. The newest tab wins."""
        return await _session(door, request, wanted.key)

    return router


_SESSION_ERRORS: dict[int | str, dict[str, object]] = {
    401: {"description": "bad-key: the key is unknown, used or older than ten minutes, and no cookie helps."},
    429: {"description": "too-many: wait for Retry-After seconds."},
}


async def _arrive(door: Door, request: Request) -> Response:
    query = _query(request.scope["query_string"])
    language, asked = _language(door, request, query)
    if "prefetch" in request.headers.get("sec-purpose", request.headers.get("purpose", "")).lower():
        return Response(status_code=503, headers={"retry-after": "1"})  # nobody is there yet
    if query.get(PASS):
        return await _simulated(door, query, _arrival(door, query, language, asked))
    if door.profile.name == "lab":
        return await _next_person(door, request, language)
    named = door.profile.person and any(
        query.get(name) for name in (door.profile.person, door.profile.submission, door.profile.study) if name
    )
    fresh = query.get("new") == ["1"]
    if not named and not fresh and await signed_in(door, request):
        return _to_study("")
    try:
        ids = ids_of(door.profile, query)
    except BadInput:
        return calm_page(load(language), load(language)["entry.missing"], head=door.title(language), status=400)
    if ids.preview:
        return preview_page(language, door.title(language), door.consent(language))
    _hold(door, ids.person)
    return await _welcome(door, ids, _arrival(door, query, language, asked))


async def _simulated(door: Door, query: Mapping[str, list[str]], made: tuple[_Arrival, _Secrets]) -> Response:
    """Let a simulated participant in, by whatever profile people come; every table says what they are.

    With `&seat=1` nobody comes in: the holder of the pass is told which sheets that participant has.
    """
    arrival, secrets_ = made
    known_by = known_by_pass(door.hmac, query[PASS][0])
    if known_by is None:
        raise Refusal(404, "not-found")
    if query.get("seat"):
        return JSONResponse(
            await door.store.read(lambda c: seat_of(c, known_by)), headers={"cache-control": "no-store"}
        )

    def job(c: sa.Connection) -> None:
        now = door.clock()
        _open(c, people.arrive(c, people.SIMULATED, known_by, None, arrival.language, now), arrival, None, now)

    await door.store.write(job)
    return _to_study(secrets_.key, door, secrets_.cookie)


async def _next_person(door: Door, request: Request, language: str) -> Response:
    """The form for a lab's code. On the one machine of a lab, whoever sat there before is signed out."""
    if door.lab is None:
        return code_page(language, door.languages, door.title(language))
    before = _cookie_sha256(door, request)
    if before is not None:
        await door.store.write(lambda c: _sign_out(c, before, door.clock()))
    response = start_page(language, door.languages, door.title(language), door.lab)
    response.delete_cookie(door.cookie, path="/", secure=door.site.https, httponly=True, samesite="lax")
    return response


def _sign_out(c: sa.Connection, cookie_sha256: str, now: float) -> None:
    last = _by_cookie(c, cookie_sha256)
    if last is not None:
        people.end_visits(c, last, now)


async def _enter(door: Door, request: Request) -> Response:
    if door.profile.name != "lab":
        raise Refusal(404, "not-found")
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/x-www-form-urlencoded":
        raise Refusal(415, "bad-request")
    form = _query(await request.body())
    language, asked = _language(door, request, form)
    peer = peer_of(request.scope)
    wait = door.limits.attempts.wait(("code", peer))
    if wait:
        raise Refusal.too_many(wait)
    hashed = code_sha256(door.hmac, (form.get("code") or [""])[0])
    before = _cookie_sha256(door, request)
    arrival, secrets_ = _arrival(door, form, language, asked)

    def job(c: sa.Connection) -> str:
        """Gives what is wrong with the code; empty: nothing is."""
        now = door.clock()
        person = people.arrive_by_code(c, hashed, language, now) if hashed else None
        if person is None:
            return "entry.code-wrong"
        if door.lab is not None and not person.fresh and is_used(c, person.id, door.stages_each):
            return "entry.code-used"
        last = _by_cookie(c, before)
        if last is not None and last != person.id:
            people.end_visits(c, last, now)  # a lab's browser goes from one to the next
        _open(c, person, arrival, None, now)
        if door.lab is not None:
            note(c, person.id, entered(door.lab, form), now, once=arrival.key_sha256)
        return ""

    wrong = await door.store.write(job)
    if wrong:
        door.limits.attempts.take(("code", peer))
        if door.lab is not None:
            return start_page(language, door.languages, door.title(language), door.lab, wrong)
        return code_page(language, door.languages, door.title(language), wrong=True)
    return _to_study(secrets_.key, door, secrets_.cookie)


async def _session(door: Door, request: Request, key: str | None) -> Response:
    shown = [hashlib.sha256(key.encode()).hexdigest()] if key else []
    cookie = _cookie_sha256(door, request)
    shown += [hashed for hashed in (cookie, door.replaced.get(cookie) if cookie else None) if hashed]
    if not shown:
        raise _bad_key()
    wait = door.limits.arrivals.take(("session", shown[0]))
    if wait:
        raise Refusal.too_many(wait)
    token, secret = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
    hashed_token, hashed_secret = _sha256(token), _sha256(secret)

    def job(c: sa.Connection) -> str | None:
        live = people.who(c, hashed_token)  # this very job, run again
        for hashed in shown:
            live = live or people.take_token(c, hashed, hashed_token, door.clock())
        if live is None:
            return None
        c.execute(visit.update().where(visit.c.id == live.id).values(cookie_sha256=hashed_secret))
        person = people.get(c, live.participant_id)
        return (person.language if person else None) or door.languages[0]

    language = await door.store.write(job)
    if language is None:
        raise _bad_key()
    if cookie:
        door.replaced.put(cookie, hashed_secret)
    response = JSONResponse(SessionGiven(token=token, language=language).model_dump())
    _set_cookie(response, door, secret)
    return response


async def _welcome(door: Door, ids: Ids, made: tuple[_Arrival, _Secrets]) -> Response:
    arrival, secrets_ = made
    profile = door.profile.name
    person_hash = person_hmac(door.hmac, profile, ids.person) if ids.person else None
    submission_hash = submission_hmac(door.hmac, profile, ids.submission) if ids.submission else None
    sealed = door.seal(sealed_ids(ids)) if ids.person else None

    def job(c: sa.Connection) -> None:
        now = door.clock()
        purge_after = now + door.delete_after_days * 86_400.0 if sealed else None
        person = _by_submission(c, profile, submission_hash)
        if person is None:
            person = people.arrive(c, profile, person_hash, sealed, arrival.language, now, purge_after=purge_after)
        if sealed and not person.fresh:  # the way back belongs to the submission they came by last
            again = participant.update().where(participant.c.id == person.id)
            c.execute(again.values(sealed=sealed, purge_after=purge_after))
        _open(c, person, arrival, submission_hash, now)

    await door.store.write(job)
    return _to_study(secrets_.key, door, secrets_.cookie)


def _open(
    c: sa.Connection, person: people.Participant, arrival: _Arrival, submission_hash: str | None, now: float
) -> None:
    """Store a visit, once; a language or stage that was asked for counts from here on."""
    if c.execute(sa.select(visit.c.id).where(visit.c.key_sha256 == arrival.key_sha256)).first() is not None:
        return
    people.open_visit(c, person.id, arrival.key_sha256, arrival.cookie_sha256, submission_hash, now)
    if arrival.wanted_language:
        again = participant.update().where(participant.c.id == person.id)
        c.execute(again.values(language=arrival.wanted_language))
    if arrival.stage:
        events.append(c, "arrived", now, participant_id=person.id, body={"stage": arrival.stage})


def stage_asked(of_participant: Sequence[events.Event]) -> str | None:
    """Return the stage that a person's address asked for last; None: none was."""
    asked = [event.body.get("stage") for event in of_participant if event.kind == "arrived"]
    return str(asked[-1]) if asked and asked[-1] else None


def token_sha256_of(headers: Headers) -> str:
    """Return the SHA-256 of a request's bearer token.

    Raises:
        Refusal: there is none (401).
    """
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not 20 <= len(token) <= 100 or not token.isascii():
        raise Refusal(401, "bad-token", headers={"www-authenticate": "Bearer"})
    return _sha256(token)


class _Secrets(NamedTuple):
    """What the browser holds of a visit."""

    key: str
    cookie: str


def _arrival(door: Door, query: Mapping[str, list[str]], language: str, asked: str) -> tuple[_Arrival, _Secrets]:
    made = _Secrets(secrets.token_urlsafe(32), secrets.token_urlsafe(32))
    stage = (query.get("stage") or [""])[0]
    known = stage if stage in door.stages else ""
    return _Arrival(_sha256(made.key), _sha256(made.cookie), language, asked, known), made


def _hold(door: Door, person: str) -> None:
    wait = door.limits.newcomers.take("all")
    if not wait and person:
        wait = door.limits.arrivals.take(("arrival", person_hmac(door.hmac, door.profile.name, person)))
    if wait:
        raise Refusal.too_many(wait)


async def signed_in(door: Door, request: Request) -> bool:
    """Return whether a request's cookie is somebody's, who can go on by it."""
    cookie = _cookie_sha256(door, request)
    return cookie is not None and await door.store.read(lambda c: _by_cookie(c, cookie)) is not None


def _by_cookie(c: sa.Connection, cookie_sha256: str | None) -> int | None:
    if cookie_sha256 is None:
        return None
    return c.execute(sa.select(visit.c.participant_id).where(visit.c.cookie_sha256 == cookie_sha256)).scalar()


def _by_submission(c: sa.Connection, profile: str, submission_hash: str | None) -> people.Participant | None:
    """Whose submission it is; it stays theirs, whatever person the address names beside it."""
    if submission_hash is None:
        return None
    first = sa.select(visit.c.participant_id).join(participant).where(
        visit.c.submission_hmac == submission_hash, participant.c.platform == profile
    )  # fmt: skip
    found = c.execute(first.order_by(visit.c.id).limit(1)).scalar()
    return None if found is None else people.get(c, found)


def _query(raw: bytes) -> dict[str, list[str]]:
    if len(raw) > _MOST_QUERY:
        raise Refusal(413, "bad-request")
    try:
        text = raw.decode("ascii")
        return parse_qs(text, keep_blank_values=True, max_num_fields=_MOST_PARAMETERS, errors="strict")
    except ValueError:
        raise Refusal(400, "bad-request") from None


def _language(door: Door, request: Request, query: Mapping[str, list[str]]) -> tuple[str, str]:
    """The language to speak, and the one that was asked for in so many words ('': none)."""
    wanted = (query.get("lang") or [""])[0]
    accept = request.headers.get("accept-language", "")
    return language_for(wanted, accept, list(door.languages)), wanted if wanted in door.languages else ""


def _to_study(key: str, door: Door | None = None, cookie: str = "") -> Response:
    response = RedirectResponse(f"/study#k={key}" if key else "/study", 303)
    if door is not None:
        _set_cookie(response, door, cookie)
    return response


def _set_cookie(response: Response, door: Door, secret: str) -> None:
    response.set_cookie(
        door.cookie, secret, max_age=_COOKIE_SECONDS, path="/", secure=door.site.https, httponly=True, samesite="lax"
    )


def _cookie_sha256(door: Door, request: Request) -> str | None:
    secret = request.cookies.get(door.cookie, "")
    return _sha256(secret) if 20 <= len(secret) <= 100 and secret.isascii() else None


def _sha256(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _bad_key() -> Refusal:
    return Refusal(401, "bad-key")

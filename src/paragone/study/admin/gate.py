"""Coming in and going out: sign in, sign out, the first set-up; and the check that every page and call passes."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Awaitable, Callable
from urllib.parse import parse_qsl, quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from ...errors import BadInput
from ..server.refusals import Refusal
from ..server.security import peer_of
from ..store import events
from . import auth
from .auth import Who
from .office import Office

__all__ = ["Handler", "form_of", "hash_password", "identify", "login_page", "logout", "page", "setup_page"]

Handler = Callable[[Request, Who], Awaitable[Response]]
_MOST_FIELDS = 60


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a form that was posted, the first value of each.

    Raises:
        Refusal: it is no form, or has too many fields.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    body = await request.body()
    if kind != "application/x-www-form-urlencoded":
        if not body:
            return {}
        raise Refusal(415, "bad-request", "A form is expected.")
    try:
        pairs = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict")
    except ValueError:
        raise Refusal(400, "bad-request", "The form cannot be read.") from None
    made: dict[str, str] = {}
    for name, value in pairs:
        if "\x00" in value:
            raise Refusal(400, "bad-request", "The form cannot be read.")
        made.setdefault(name, value.replace("\r\n", "\n"))
    return made


async def identify(office: Office, request: Request) -> Who | None:
    """Who sends a request: by a bearer token, else by the session's cookie; None: nobody who may."""
    kind, _, bearer = request.headers.get("authorization", "").partition(" ")
    secret = bearer.strip() if kind.lower() == "bearer" else request.cookies.get(office.cookie, "")
    if not 16 <= len(secret) <= 200:
        return None
    kept, now = auth.digest(secret), office.desk.clock()
    found, tell = await office.store.read(lambda c: (auth.who(c, kept, now), auth.needs_note(c, kept, now)))
    if found is None or found.session == (kind.lower() == "bearer"):
        return None  # a cookie's secret is no bearer token, and the other way round
    office.keeper.watch()
    if tell:
        await office.store.write(lambda c: auth.note(c, kept, now))
    return found


def page(office: Office, handler: Handler, *, admin: bool = False) -> Callable[[Request], Awaitable[Response]]:
    """Wrap a page so that only those who may see it do; others are sent to sign in.

    Args:
        office: the desk.
        handler: makes the page.
        admin: viewers may not.
    """

    async def endpoint(request: Request) -> Response:
        who = await identify(office, request)
        if who is None:
            if request.method not in ("GET", "HEAD"):
                raise Refusal(401, "bad-token", "You are signed out. Nothing was changed; sign in and do it again.")
            if await office.store.read(auth.nobody_yet):
                return RedirectResponse("/admin/setup", 303)
            there = request.url.path
            return RedirectResponse(f"/admin/login?next={quote(there)}" if there != "/admin" else "/admin/login", 303)
        if admin and not who.may:
            raise Refusal(403, "forbidden", f"{who.name} may look, but not do this; ask an admin.")
        return await handler(request, who)

    return endpoint


async def login_page(office: Office, request: Request) -> Response:
    """GET: the form. POST: sign in."""
    if await office.store.read(auth.nobody_yet):
        return RedirectResponse("/admin/setup", 303)
    if request.method == "GET":
        return _form(office, "login.html.j2", there=_inside(request.query_params.get("next", "")))
    given = await form_of(request)
    name, there = given.get("name", "").strip()[:200], _inside(given.get("next", ""))
    peer, limits = peer_of(request.scope), office.desk.limits
    wait = max(limits.attempts.wait(peer), limits.all_attempts.wait("desk"), office.names.wait(name))
    if wait > 0:
        raise Refusal.too_many(wait)
    kept = await office.store.read(lambda c: auth.password_of(c, name))
    right = await office.aside(auth.verified, given.get("password", ""), kept)
    now = office.desk.clock()
    if not right:
        limits.attempts.take(peer)
        limits.all_attempts.take("desk")
        office.names.take(name)
        told = name if kept is not None else "(no such name)"  # a password typed into the wrong field is not kept
        await office.store.write(lambda c: events.append(c, "admin.refused", now, body={"who": told}))
        said = "This name and password do not belong together."
        return _form(office, "login.html.j2", there=there, said=said, name=name, status=401)
    return await _let_in(office, request, name, there)


async def _let_in(office: Office, request: Request, name: str, there: str) -> Response:
    """Open a session under a new secret, whatever secret the browser came with."""
    secret, now = secrets.token_urlsafe(32), office.desk.clock()
    old = request.cookies.get(office.cookie, "")
    await office.store.write(
        lambda c: auth.enter(c, name, auth.digest(secret), now, old_sha256=auth.digest(old) if old else None)
    )
    response = RedirectResponse(there or "/admin", 303)
    response.set_cookie(
        office.cookie, secret, path="/", httponly=True, samesite="strict", secure=office.site.https,
        max_age=int(auth.IDLE_SECONDS) * 6,
    )  # fmt: skip
    return response


async def setup_page(office: Office, request: Request) -> Response:
    """GET: the form, while there is no admin. POST: make the first one, with the token from the console."""
    if not await office.store.read(auth.nobody_yet):
        return RedirectResponse("/admin/login", 303)
    if request.method == "GET":
        return _form(office, "setup.html.j2", token=request.query_params.get("token", "")[:64])
    given = await form_of(request)
    peer, limits = peer_of(request.scope), office.desk.limits
    wait = max(limits.attempts.wait(peer), limits.all_attempts.wait("desk"))
    if wait > 0:
        raise Refusal.too_many(wait)
    token, name = given.get("token", "").strip().upper(), given.get("name", "").strip()
    if not hmac.compare_digest(token.encode(), auth.setup_token(office.keys).encode()):
        limits.attempts.take(peer)
        limits.all_attempts.take("desk")
        return _form(
            office, "setup.html.j2", said="This is not the token that the server printed.", name=name, status=403
        )
    password = given.get("password", "")
    try:
        if password != given.get("again", ""):
            raise BadInput("the two passwords differ", where="again")
        kept = await office.aside(auth.hashed, password)
        now = office.desk.clock()
        made = await office.store.write(lambda c: auth.first(c, name, kept, now))
    except BadInput as error:
        return _form(office, "setup.html.j2", said=_sentence(error.message), token=token, name=name, status=400)
    if not made:
        return RedirectResponse("/admin/login", 303)
    return await _let_in(office, request, name, "/admin")


async def logout(office: Office, request: Request) -> Response:
    """End the session and take the cookie away."""
    secret, now = request.cookies.get(office.cookie, ""), office.desk.clock()
    if secret:
        await office.store.write(lambda c: auth.leave(c, auth.digest(secret), now))
    response = RedirectResponse("/admin/login", 303)
    response.delete_cookie(office.cookie, path="/", httponly=True, samesite="strict", secure=office.site.https)
    return response


async def hash_password(office: Office, password: str) -> str:
    """As `auth.hashed`, beside the event loop.

    Raises:
        BadInput: as there.
    """
    return await office.aside(auth.hashed, password)


def _form(office: Office, template: str, *, status: int = 200, **told: str) -> Response:
    told = {"said": "", "name": "", "token": "", "there": "", **told}
    return HTMLResponse(office.render(template, who=None, here="", **told), status)


def _inside(there: str) -> str:
    """An address of the desk to go on to; '' where it is anything else."""
    plain = there.startswith("/admin") and not there.startswith(("/admin/login", "/admin/setup", "/admin/logout"))
    return (
        there if plain and all(letter.isalnum() or letter in "/-_." for letter in there) and "//" not in there else ""
    )


def _sentence(message: str) -> str:
    return message[:1].upper() + message[1:] + ("" if message.endswith((".", "!", "?")) else ".")

"""The pages of the house: codes and panel, settings and who may enter, the log."""

from __future__ import annotations

import io
import secrets
from email.parser import BytesParser
from email.policy import HTTP
from typing import Any

import msgspec
import polars as pl
import sqlalchemy as sa
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from ... import __version__
from ...design import RatingStage
from ...errors import BadInput, BadTable
from ..server.pseudonyms import code_sha256, lab_codes
from ..server.reconcile import failed_instructed, known_people, reconcile, submissions_of
from ..server.refusals import Refusal
from ..store import events, people, versions
from ..store.tables import answer, lab_code, lease, participant, version
from . import auth
from .auth import Who
from .deeds import MOST_REASON
from .figures.numbers import median_number
from .figures.progress import minutes
from .gate import form_of, hash_password
from .live import tolerances
from .moment import audit
from .office import Office
from .pages import shown
from .person import details

__all__ = [
    "MOST_UPLOAD",
    "add_admin",
    "change_password",
    "codes_page",
    "end_token",
    "log_page",
    "make_codes",
    "new_token",
    "reconcile_page",
    "remove_admin",
    "settings_page",
]

MOST_UPLOAD = 8 * 1024 * 1024
"""Largest list of submissions that is read, in bytes; ten thousand of them are below 3 MB."""
_MOST_CODES = 500
_DAY = 86_400.0
_LOG_ROWS = 200


async def codes_page(office: Office, request: Request, who: Who) -> Response:
    """Completion codes, the panel, lab codes."""
    made = sa.select(sa.func.count(), sa.func.count(lab_code.c.used_by)).select_from(lab_code)
    count, used = await office.store.read(lambda c: tuple(c.execute(made).one()))
    profile = office.desk.profile
    named = [word for word in (profile.person, profile.submission, profile.study) if word]
    address = (office.desk.settings.public_url or str(request.base_url)).rstrip("/") + "/"
    return await shown(
        office, request, who, "codes.html.j2", "/admin/codes", codes=dict(office.desk.codes), back=profile.back,
        parameters=bool(profile.person), lab_codes={"made": count, "used": used}, is_lab=profile.name == "lab",
        address=address, named=named, has_panel=profile.name not in ("open", "lab"),
    )  # fmt: skip


async def make_codes(office: Office, request: Request, who: Who) -> Response:
    """Make lab codes and show them once."""
    given = await form_of(request)
    label = given.get("label", "").strip()[:64]
    count = _whole(given.get("count", ""), 1, _MOST_CODES)
    made, now = lab_codes(count), office.desk.clock()
    kept = {code_sha256(office.keys.hmac, code): label for code in made}

    def job(c: sa.Connection) -> None:
        people.add_codes(c, kept, now)
        events.append(c, "admin.codes", now, body={"who": who.name, "count": count, "label": label})

    await office.store.write(job)
    return await shown(office, request, who, "lab.html.j2", "/admin/codes", made=made, label=label)


async def reconcile_page(office: Office, request: Request, who: Who) -> Response:
    """Compare a panel's list of submissions with the store; nothing is kept of it."""
    text = _file(request.headers.get("content-type", ""), await request.body())
    at = await office.moment(fresh=True)
    profile, study = office.desk.profile, office.frozen.study
    try:
        raw = pl.read_csv(io.BytesIO(text), infer_schema=False, truncate_ragged_lines=True)
        submissions = submissions_of(raw, profile, where="the panel's CSV")
    except (pl.exceptions.PolarsError, BadTable) as error:
        said = error.message if isinstance(error, BadTable) else "This is no CSV with a header."
        return await shown(
            office, request, who, "reconciled.html.j2", "/admin/codes", at=at, said=said, found=None, rows=[]
        )
    told = [stage for stage in study.stage if isinstance(stage, RatingStage)]
    within = {name: limits["instructed"] for name, limits in tolerances(study).items()} if told else {}

    def job(c: sa.Connection) -> tuple[pl.DataFrame, dict[str, int]]:
        return known_people(c), failed_instructed(office.frozen.plan, _answers(c), within)

    known, failed = await office.store.read(job)
    took = median_number(minutes(at.events)["minutes"].to_list())
    found = reconcile(
        submissions, known, profile=profile, hmac=office.keys.hmac, codes=office.desk.codes, pay=study.pay, failed=failed,
        minutes=took.value or 0.0, now=office.desk.clock(),
    )  # fmt: skip
    counts = {"who": who.name, **{name.replace("-", "_"): n for name, n in found.counts.items()}}
    now = office.desk.clock()
    await office.store.write(lambda c: events.append(c, "admin.reconcile", now, body=counts))
    return await shown(
        office,
        request,
        who,
        "reconciled.html.j2",
        "/admin/codes",
        at=at,
        said="",
        found=found,
        rows=found.table.to_dicts(),
    )


def _answers(c: sa.Connection) -> pl.DataFrame:
    columns = (participant.c.name, answer.c.trial, answer.c.criterion, answer.c.value)
    rows = [
        tuple(row) for row in c.execute(sa.select(*columns).select_from(answer.join(participant)).order_by(answer.c.id))
    ]
    names = ("participant", "trial", "criterion", "answer")
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")


def _file(content_type: str, body: bytes) -> bytes:
    """The one file of a form."""
    if not content_type.lower().startswith("multipart/form-data"):
        raise Refusal(415, "bad-request", "A form with a file is expected.")
    whole = BytesParser(policy=HTTP).parsebytes(b"Content-Type: " + content_type.encode("latin-1") + b"\r\n\r\n" + body)
    parts = list(whole.iter_parts()) if whole.is_multipart() else []
    for part in parts:
        if part.get_param("name", header="content-disposition") == "file":
            content = part.get_payload(decode=True)
            if isinstance(content, bytes) and content.strip():
                return content
    raise Refusal(400, "bad-request", "The form holds no file, or an empty one.")


async def settings_page(
    office: Office, request: Request, who: Who, *, secret: str = "", said: str = "", status: int = 200
) -> Response:
    """Version, server, who may enter, tokens, pause."""

    def job(c: sa.Connection) -> tuple[Any, list[Any], list[Any], list[Any]]:
        taken = sa.func.count(lease.c.id).filter(lease.c.participant_id.is_not(None)).label("taken")
        rows = (
            sa.select(version.c.id, version.c.sha256, version.c.at, taken)
            .select_from(version.outerjoin(lease))
            .group_by(version.c.id, version.c.sha256, version.c.at)
            .order_by(version.c.id.desc())
        )
        return versions.get(c, office.desk.current), list(c.execute(rows)), auth.admins(c), auth.tokens(c)

    here, every, admins, tokens = await office.store.read(job)
    told = msgspec.to_builtins(office.frozen.study)
    rows = [(key, value) for key, value in _flat(told) if value not in ("", "[]", "{}")]
    server = {
        "paragone": __version__,
        "store": f"{office.store.dialect}, {office.store.queue_length} writes waiting",
        "public address": office.site.origin or "none named",
        "https": "yes"
        if office.site.https
        else "no: sessions and answers travel unencrypted unless this is one machine",
        "simulated benchmark": "yes" if office.frozen.simulated else "no",
    }
    page = await shown(
        office, request, who, "settings.html.j2", "/admin/settings", version=here, versions=every, admins=admins,
        tokens=tokens, told_settings=rows, server=server, secret=secret, said=said,
    )  # fmt: skip
    page.status_code = status
    return page


def _flat(value: Any, before: str = "") -> list[tuple[str, str]]:
    if isinstance(value, dict) and value:
        return [row for key, held in value.items() for row in _flat(held, f"{before}.{key}" if before else str(key))]
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        return [row for place, item in enumerate(value, start=1) for row in _flat(item, f"{before}[{place}]")]
    if isinstance(value, list):
        return [(before, ", ".join(map(str, value)) or "[]")]
    return [(before, str(value))]


async def add_admin(office: Office, request: Request, who: Who) -> Response:
    """Let somebody else enter."""
    given = await form_of(request)
    try:
        kept = await hash_password(office, given.get("password", ""))
        now, name, role = office.desk.clock(), given.get("name", "").strip(), given.get("role", "")
        await office.store.write(lambda c: auth.add(c, name, kept, role, now, by=who.name))
    except BadInput as error:
        return await settings_page(office, request, who, said=error.message, status=400)
    return RedirectResponse("/admin/settings?told=added", 303)


async def remove_admin(office: Office, request: Request, who: Who) -> Response:
    """Take somebody's entry away."""
    given = await form_of(request)
    name, now = given.get("name", ""), office.desk.clock()
    if given.get("sure") != "1":
        return await settings_page(office, request, who, said="tick 'sure' to take an entry away", status=400)
    if not await office.store.write(lambda c: auth.remove(c, name, now, by=who.name)):
        return await settings_page(
            office, request, who, said="there is no such name, or it is the last admin", status=400
        )
    return RedirectResponse("/admin/settings?told=removed", 303)


async def change_password(office: Office, request: Request, who: Who) -> Response:
    """Change one's own password; every session ends, this one too."""
    given = await form_of(request)
    wait = office.names.wait(who.name)
    if wait > 0:
        raise Refusal.too_many(wait)
    kept = await office.store.read(lambda c: auth.password_of(c, who.name))
    right = await office.aside(auth.verified, given.get("old", ""), kept)
    if not right:
        office.names.take(who.name)
        return await settings_page(office, request, who, said="your present password is another one", status=400)
    try:
        fresh = await hash_password(office, given.get("password", ""))
    except BadInput as error:
        return await settings_page(office, request, who, said=error.message, status=400)
    now = office.desk.clock()
    await office.store.write(lambda c: auth.change_password(c, who.name, fresh, now, by=who.name))
    return RedirectResponse("/admin/login", 303)


async def new_token(office: Office, request: Request, who: Who) -> Response:
    """Make a token for a program and show it once."""
    given = await form_of(request)
    days = _whole(given.get("days", ""), 1, 3650)
    secret, now, label = f"paragone_{secrets.token_urlsafe(32)}", office.desk.clock(), given.get("label", "").strip()
    ends = now + days * _DAY
    try:
        await office.store.write(
            lambda c: auth.make_token(c, who.admin_id, auth.digest(secret), label, now, expires=ends, by=who.name)
        )
    except BadInput as error:
        return await settings_page(office, request, who, said=error.message, status=400)
    return await settings_page(office, request, who, secret=secret)


async def end_token(office: Office, request: Request, who: Who) -> Response:
    """End a program's token."""
    given = await form_of(request)
    number, now = _whole(given.get("id", ""), 1, 2**31 - 1), office.desk.clock()
    if not await office.store.write(lambda c: auth.drop_token(c, number, now, by=who.name)):
        return await settings_page(office, request, who, said="there is no such token", status=400)
    return RedirectResponse("/admin/settings?told=token-ended", 303)


async def log_page(office: Office, request: Request, who: Who) -> Response:
    """What was done, newest first."""
    text = request.query_params.get("before", "")
    before = _whole(text, 1, 2**31 - 1) if text else None
    rows = await office.store.read(lambda c: audit(c, most=_LOG_ROWS, before=before))
    made = [
        {
            **row,
            "who": row["body"].get("who", ""),
            "details": details({key: value for key, value in row["body"].items() if key != "who"})[: MOST_REASON * 2],
        }
        for row in rows
    ]
    older = rows[-1]["event"] if len(rows) == _LOG_ROWS else None
    return await shown(office, request, who, "log.html.j2", "/admin/log", rows=made, older=older)


def _whole(text: str, low: int, high: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 11 and low <= int(text) <= high):
        raise Refusal(400, "bad-request", f"A whole number from {low} to {high:,} is expected.")
    return int(text)

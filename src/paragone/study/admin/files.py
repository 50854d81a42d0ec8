"""What leaves the desk as files: exports and backups, made while they are sent; and who a panel's id is here."""

from __future__ import annotations

import asyncio
import datetime
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse, Response, StreamingResponse

from ...errors import UnknownName
from ..server.pseudonyms import person_hmac
from ..server.refusals import Refusal
from ..store import events, export
from ..store.backup import backup
from ..store.tables import participant
from .auth import Who
from .gate import form_of
from .office import Office
from .pages import shown

__all__ = [
    "FORMS",
    "KINDS",
    "backup_file",
    "data_page",
    "export_table",
    "export_zip",
    "find_person",
    "table_file",
    "zip_file",
]

FORMS = (*export.FORMATS, "jspsych")
"""Formats of a whole export."""
KINDS = {
    "csv": "text/csv; charset=utf-8", "json": "application/json", "parquet": "application/vnd.apache.parquet",
}  # fmt: skip
"""Format of a table -> its media type."""


async def data_page(office: Office, request: Request, who: Who, *, found: str | None = None) -> Response:
    """Exports, backup, forgetting."""
    return await shown(
        office, request, who, "data.html.j2", "/admin/data", formats=FORMS, plain=export.FORMATS,
        tables=list(export.TABLES), found=found, panel=bool(office.desk.profile.person),
    )  # fmt: skip


async def export_zip(office: Office, request: Request, who: Who) -> Response:
    """Every table in one zip, streamed."""
    hidden = request.query_params.get("anonymise") == "1"
    return await zip_file(office, who, request.path_params["form"], anonymise=hidden)


async def zip_file(office: Office, who: Who, form: str, *, anonymise: bool) -> Response:
    """Every table in one zip, streamed and noted in the log.

    Args:
        office: the desk.
        who: asks for it.
        form: one of `FORMS`.
        anonymise: leave out what may lead back to a person.
    """
    try:
        parts = export.zipped(_address(office), form, anonymise=anonymise)
    except UnknownName as error:
        raise Refusal(404, "not-found", error.message) from None
    await _note(office, who, "admin.export", {"tables": "all", "format": form, "anonymise": anonymise})
    return _sent(parts, "application/zip", f"{_stem(office)}-{form}{'-anonymous' if anonymise else ''}.zip")


async def export_table(office: Office, request: Request, who: Who) -> Response:
    """One table, streamed."""
    table, _, form = request.path_params["name"].rpartition(".")
    return await table_file(office, who, table, form, anonymise=request.query_params.get("anonymise") == "1")


async def table_file(office: Office, who: Who, table: str, form: str, *, anonymise: bool) -> Response:
    """One table, streamed and noted in the log; arguments as for `zip_file`."""
    try:
        parts = export.stream(_address(office), table, form, anonymise=anonymise)
    except UnknownName as error:
        raise Refusal(404, "not-found", error.message) from None
    await _note(office, who, "admin.export", {"tables": table, "format": form, "anonymise": anonymise})
    return _sent(parts, KINDS[form], f"{_stem(office)}-{table}.{form}")


def _sent(parts: Iterator[bytes], kind: str, name: str) -> Response:
    return StreamingResponse(parts, media_type=kind, headers={"content-disposition": f'attachment; filename="{name}"'})


async def backup_file(office: Office, _request: Request, who: Who) -> Response:
    """A backup of the whole store, checked, then sent and deleted here."""
    handle, name = tempfile.mkstemp(suffix=".zip", prefix="paragone-backup-")
    os.close(handle)
    path = Path(name)
    try:
        now = office.desk.clock()
        copy = await asyncio.get_running_loop().run_in_executor(None, lambda: backup(_address(office), path, now=now))
        await _note(office, who, "admin.backup", {"rows": copy.rows})
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    gone = BackgroundTask(path.unlink, missing_ok=True)
    return FileResponse(path, media_type="application/zip", filename=f"{_stem(office)}-backup.zip", background=gone)


async def find_person(office: Office, request: Request, who: Who) -> Response:
    """Who a panel's id is here; the id is not kept."""
    given = (await form_of(request)).get("external", "").strip()
    hmac = person_hmac(office.keys.hmac, office.desk.profile.name, given)
    named = sa.select(participant.c.name).where(participant.c.external_hmac == hmac)
    found = await office.store.read(lambda c: c.execute(named).scalar())
    return await data_page(office, request, who, found=found or "")


def _address(office: Office) -> str:
    return office.store.url.render_as_string(hide_password=False)


def _stem(office: Office) -> str:
    plain = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in office.frozen.study.name)
    day = datetime.datetime.fromtimestamp(office.desk.clock(), datetime.UTC).strftime("%Y%m%d-%H%M")
    return f"{plain.strip('-')[:40] or 'study'}-{day}"


async def _note(office: Office, who: Who, kind: str, body: dict[str, Any]) -> None:
    now = office.desk.clock()
    await office.store.write(lambda c: events.append(c, kind, now, body={"who": who.name, **body}))

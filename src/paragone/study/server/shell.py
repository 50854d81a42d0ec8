"""The participant's page itself: HTML, scripts and style as they lie in the package; and a sign of life."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from importlib.resources import files
from typing import NamedTuple

import msgspec
from fastapi import APIRouter, Request, Response
from starlette.responses import RedirectResponse

from ..pages import PAGES
from ..web import sent
from .desk import Desk
from .entry import Door, signed_in
from .refusals import Refusal

__all__ = ["shell_router"]

_TYPES = {"js": "text/javascript", "css": "text/css", "svg": "image/svg+xml", "html": "text/html; charset=utf-8"}
_HEADERS = {"cache-control": "public, max-age=300"}
_PAGE = "index.html"


class _File(NamedTuple):
    content: bytes
    type: str
    etag: str


def shell_router(desk: Desk, kiosk: Door | None = None) -> APIRouter:
    """Return the routes of the page's files and `/healthz`.

    Args:
        desk: what this process knows.
        kiosk: the door of a lab's one machine, where the page of somebody who has left is not to be seen again, not even
            by the Back button; None: it is no such machine.
    """
    router = APIRouter()
    kept = _files()

    @router.get("/study", include_in_schema=False)
    async def study(request: Request) -> Response:
        if kiosk is None:
            return _answer(kept[_PAGE], request, {"cache-control": "no-cache"})
        if not await signed_in(kiosk, request):
            return RedirectResponse("/", 303, {"cache-control": "no-store"})
        return _answer(kept[_PAGE], request, {"cache-control": "no-store"})

    @router.get("/static/{name}", include_in_schema=False)
    async def static(request: Request, name: str) -> Response:
        file = kept.get(name) or _script(desk, name)
        if file is None or name == _PAGE:
            raise Refusal(404, "not-found")
        return _answer(file, request, _HEADERS)

    @router.get("/favicon.ico", include_in_schema=False)
    async def icon(request: Request) -> Response:
        return _answer(kept["icon.svg"], request, _HEADERS)

    @router.head("/healthz", include_in_schema=False)
    @router.get("/healthz", tags=["operation"])
    async def healthz() -> Response:
        """Whether the server is up: its queue of writes, the version it serves, whether the study is paused."""
        told = {"status": "ok", "queue": desk.store.queue_length, "version": desk.current, "paused": desk.paused}
        return Response(msgspec.json.encode(told), media_type="application/json")

    return router


def _files() -> Mapping[str, _File]:
    """The files that a browser may have, by name; read once, so nothing else can be asked for."""
    found = {}
    for entry in files("paragone.study").joinpath("web").iterdir():
        kind = _TYPES.get(entry.name.rpartition(".")[2])
        if kind is not None and entry.is_file():
            found[entry.name] = _file(sent(entry.name), kind)
    return found


def _script(desk: Desk, name: str) -> _File | None:
    """The script of a page kind that others brought along, while the study that is served asks with it."""
    page = name.removeprefix("page-").removesuffix(".js")
    if f"page-{page}.js" != name or page not in {stage.page for stage in desk.frozen.study.stage}:
        return None
    return _file(PAGES.get(page).script(), _TYPES["js"])


def _file(content: bytes, kind: str) -> _File:
    return _File(content, kind, f'"{hashlib.sha256(content).hexdigest()[:20]}"')


def _answer(file: _File, request: Request, headers: Mapping[str, str]) -> Response:
    told = {**headers, "etag": file.etag}
    if file.etag in [given.strip() for given in request.headers.get("if-none-match", "").split(",")]:
        return Response(status_code=304, headers=told)
    return Response(file.content, headers=told, media_type=file.type)

"""`mount`: the desk's pages and its JSON become part of an application."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from importlib import resources

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from ..server.desk import Desk
from ..server.refusals import Refusal
from ..server.security import Site
from ..store.keys import Keys
from . import doing, files, findings, gate, house, pages
from .api import desk_router
from .auth import Who
from .gate import Handler
from .live import Live, Material
from .office import Office
from .worker import in_process

__all__ = ["mount", "routes"]

_STATIC = {"admin.css": "text/css; charset=utf-8", "admin.js": "text/javascript; charset=utf-8"}


def mount(app: FastAPI, desk: Desk, site: Site, keys: Keys, *, run: Callable[[Material], Live] = in_process) -> Office:
    """Add the desk to an application.

    Call `office.keeper.start()` when the application starts and `office.close()` when it ends.

    Args:
        app: the application; `security.install` goes around it afterwards.
        desk: what the server knows.
        site: where it stands.
        keys: the study's secrets.
        run: computes the slow figures; by default in a process of low priority.

    Returns:
        What the pages share.
    """
    office = Office(desk, site, keys, run=run)
    app.state.office = office
    app.include_router(desk_router(office))
    app.router.routes.extend(routes(office))
    return office


def routes(office: Office) -> list[BaseRoute]:
    """Return the routes under /admin.

    Args:
        office: what the pages share.
    """

    def see(path: str, handler: Callable[..., object], *, admin: bool = False) -> Route:
        return Route(path, gate.page(office, _bound(office, handler), admin=admin), methods=["GET"])

    def change(path: str, handler: Callable[..., object], *, admin: bool = True) -> Route:
        return Route(path, gate.page(office, _bound(office, handler), admin=admin), methods=["POST"])

    def door(path: str, handler: Callable[..., object], *methods: str) -> Route:
        async def endpoint(request: Request) -> Response:
            return await handler(office, request)  # type: ignore[misc, no-any-return]

        return Route(path, endpoint, methods=list(methods))

    return [
        door("/admin/login", gate.login_page, "GET", "POST"),
        door("/admin/setup", gate.setup_page, "GET", "POST"),
        door("/admin/logout", gate.logout, "POST"),
        Route("/admin/static/{name}", _static, methods=["GET"]),
        see("/admin", pages.overview),
        see("/admin/people", pages.people_page),
        see("/admin/people/{name}", pages.person_page),
        see("/admin/sheets", pages.sheets_page),
        see("/admin/design", findings.design_page),
        see("/admin/answers", findings.answers_page),
        see("/admin/scores", findings.scores_page),
        see("/admin/codes", house.codes_page),
        change("/admin/codes/lab", house.make_codes),
        change("/admin/codes/reconcile", house.reconcile_page),
        see("/admin/data", files.data_page),
        see("/admin/data/export.{form}.zip", files.export_zip, admin=True),
        see("/admin/data/export/{name}", files.export_table, admin=True),
        change("/admin/data/backup", files.backup_file),
        change("/admin/data/find", files.find_person),
        see("/admin/settings", house.settings_page),
        change("/admin/settings/add", house.add_admin),
        change("/admin/settings/remove", house.remove_admin),
        change("/admin/settings/password", house.change_password, admin=False),
        change("/admin/settings/token", house.new_token),
        change("/admin/settings/token/end", house.end_token),
        see("/admin/log", house.log_page),
        see("/admin/ask/{act}", doing.ask_page, admin=True),
        see("/admin/ask/{act}/{target}", doing.ask_page, admin=True),
        change("/admin/do/{act}", doing.do),
        change("/admin/do/{act}/{target}", doing.do),
    ]


def _bound(office: Office, handler: Callable[..., object]) -> Handler:
    async def bound(request: Request, who: Who) -> Response:
        return await handler(office, request, who)  # type: ignore[misc, no-any-return]

    return bound


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    kind = _STATIC.get(name)
    if kind is None:
        raise Refusal(404, "not-found")
    content = (resources.files(__package__) / name).read_bytes()
    tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    headers = {"etag": tag, "cache-control": "public, max-age=300"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=kind, headers=headers)

"""`create_app`: the whole study as one ASGI application."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from fastapi import FastAPI, Request, Response
from fastapi.openapi.utils import get_openapi

from ... import __version__
from ...errors import BadInput, StoreError
from ..admin.house import MOST_UPLOAD
from ..admin.routes import mount
from ..cards import cards_of
from ..frozen import Frozen
from ..pictures import tutorial_picture
from ..store import Store, claims, events, people, versions
from ..store.keys import Keys
from ..store.tables import event
from ..waves import adaptive_stages
from . import models, parts
from .api import participant_router
from .dealer import Dealer, deal
from .desk import Desk, ServerSettings, names_people
from .entry import Door, entry_router
from .hot import HotPath, answers_route, unable
from .profiles import PRESETS, completion_codes, profile_of
from .security import Site, install, site_of
from .shell import shell_router

__all__ = ["codes_of", "create_app", "served", "warm"]

_NEWS_SECONDS = 2.0
_SWEEP_SECONDS = 60.0
_PURGE_SECONDS = 86_400.0
_log = logging.getLogger("paragone.study")


def create_app(
    frozen: Frozen,
    store: Store,
    keys: Keys,
    settings: ServerSettings | None = None,
    *,
    clock: Callable[[], float] = time.time,
    keeps_house: bool = True,
    deals: bool = True,
) -> FastAPI:
    """Return the application that asks people.

    Args:
        frozen: the version to be asked; the store is told.
        store: where everything is kept; stays open when the application ends.
        keys: the study's secrets.
        settings: how it is served.
        clock: UTC epoch seconds; tests give their own.
        keeps_house: sweep abandoned leases, delete panel ids whose time is over, and deal the waves of adaptive stages, in
            the background.
        deals: put the version into force; False: it is.

    Raises:
        BadConfig: the platform of the study, or the public address, is none.
    """
    settings = settings or ServerSettings()

    def first(c: sa.Connection) -> dict[str, str]:
        if deals:
            deal(c, frozen, clock())
        _keep_consent(c, frozen, clock(), named=names_people(settings, profile, frozen.study.platform))
        return codes_of(c, frozen, clock())

    profile = PRESETS["lab" if settings.lab else "open"]
    if not settings.lab and not settings.preview:
        profile = profile_of(frozen.study.platform)
    site = site_of(
        settings.public_url, host=settings.host, frame=profile.frame, form_origins=profile.submit_origins,
        proxies=settings.proxies, larger={"/admin/codes/reconcile": MOST_UPLOAD},
    )  # fmt: skip
    desk = Desk(
        store, keys.derived("public ids"), frozen.folder, settings, profile, store.write_now(first),
        unseal=keys.unseal, clock=clock,
    )  # fmt: skip
    store.read_now(desk.news)
    warm(frozen)
    dealer = Dealer(store, desk.version, clock=clock)

    @contextlib.asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        tasks = [asyncio.create_task(_every(_NEWS_SECONDS, lambda: store.read(desk.news)))]
        if keeps_house:
            tasks.append(asyncio.create_task(_every(_SWEEP_SECONDS, lambda: store.write(lambda c: _sweep(c, desk)))))
            tasks.append(
                asyncio.create_task(_every(_PURGE_SECONDS, lambda: store.write(lambda c: people.purge(c, clock()))))
            )
            if adaptive_stages(frozen.study) and not settings.preview:
                dealer.start()
        office.keeper.start()
        try:
            yield
        finally:
            office.close()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await asyncio.to_thread(dealer.stop)

    app = FastAPI(
        title="paragone study", version=__version__, docs_url=None, redoc_url=None, lifespan=lifespan,
        description="How a participant's page and an admin's page talk to a study that is being asked.",
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )  # fmt: skip
    app.state.desk, app.state.store, app.state.keys, app.state.settings = desk, store, keys, settings
    app.state.dealer = dealer
    door = _door(desk, keys, site)
    app.include_router(entry_router(door))
    app.include_router(participant_router(desk))
    app.include_router(shell_router(desk, door if settings.lab else None))
    office = mount(app, desk, site, keys)
    app.router.routes.insert(0, answers_route(desk))
    app.add_middleware(HotPath, desk=desk)
    _described(app)
    _failures(app)
    install(app, site)
    return app


def warm(frozen: Frozen) -> None:
    """Decode the pictures of the tutorials now, so that no request has to wait for it."""
    for stage in frozen.stages:
        for card in cards_of(frozen, stage):
            for _, key in card.pictures if card.name is not None else ():
                tutorial_picture(key)


def served(c: sa.Connection, folder: Path) -> Frozen:
    """Return the version that a store serves.

    Args:
        c: a connection.
        folder: where the pictures lie.

    Raises:
        BadInput: it serves none.
    """
    row = versions.current(c)
    if row is None:
        raise BadInput("the store serves no study yet; run: paragone serve with the study's folder", where="store")
    return Frozen.of_parts(row.study, row.plan, row.items, folder=folder)


def codes_of(c: sa.Connection, frozen: Frozen, now: float) -> dict[str, str]:
    """Return the completion code of each outcome; random ones are made once and kept as an event."""
    last = sa.select(event.c.body).where(event.c.kind == "codes").order_by(event.c.id.desc()).limit(1)
    known = json.loads(c.execute(last).scalar() or "{}")
    codes = completion_codes(frozen.study.platform, known)
    if codes != known:
        events.append(c, "codes", now, body=codes)
    return codes


def _keep_consent(c: sa.Connection, frozen: Frozen, now: float, *, named: bool) -> None:
    """Keep every text of consent that may be shown, once, under the version that a participant's consent names."""
    for language in frozen.study.pages.languages:
        for stage in frozen.stages:
            told = parts.consent(frozen, language, stage, named=named)
            body = {"language": language, **told}
            events.append(c, "consent-text", now, client_id=f"consent {told['version']}", body=body)


def _sweep(c: sa.Connection, desk: Desk) -> claims.Swept:
    people_ = desk.frozen.study.people
    return claims.sweep(c, desk.clock(), people_.abandon_minutes * 60.0, people_.replace)


async def _every(seconds: float, job: Callable[[], Any]) -> None:
    """Do something again and again; a store that cannot answer is asked again the next time."""
    while True:
        await asyncio.sleep(seconds)
        try:
            await job()
        except StoreError as error:
            _log.warning("%s", error.message)


def _door(desk: Desk, keys: Keys, site: Site) -> Door:
    study = desk.frozen.study

    def consent(language: str) -> list[tuple[str, list[str]]]:
        told = parts.consent(desk.frozen, language, next(iter(desk.frozen.stages)), named=desk.named)
        return [(part["head"], part["text"]) for part in told["parts"]]

    return Door(
        store=desk.store,
        profile=desk.profile,
        site=site,
        hmac=keys.hmac,
        seal=keys.seal,
        languages=study.pages.languages,
        stages=study.stage_names,
        title=lambda language: parts.title(desk.frozen.study, language),
        consent=consent,
        lab=study.lab if desk.settings.lab else None,
        stages_each=len(study.stage) if study.people.both_stages else 1,
        delete_after_days=study.consent.delete_after_days,
        limits=desk.limits,
        clock=desk.clock,
    )


def _described(app: FastAPI) -> None:
    """Describe the hot route, which goes past FastAPI, in OpenAPI as well."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            described = get_openapi(
                title=app.title, version=app.version, description=app.description, routes=app.routes
            )
            path, components = models.answers_described()
            described["paths"]["/api/answers"] = {"post": path}
            described.setdefault("components", {}).setdefault("schemas", {}).update(components)
            app.openapi_schema = described
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def _failures(app: FastAPI) -> None:
    """What the store or a picture cannot do at this moment, in the form of every refusal."""

    async def on_failure(request: Request, error: Exception) -> Response:
        return unable(error, request)

    app.add_exception_handler(StoreError, on_failure)
    app.add_exception_handler(BadInput, on_failure)

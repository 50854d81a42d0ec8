"""Somebody at the desk, in this process: signs in, follows no redirect, keeps cookies, and sends what a browser sends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
from argon2 import PasswordHasher
from fastapi import FastAPI

from desk_world import NOW, World, fill, frozen_of
from paragone.study.admin import auth
from paragone.study.admin.live import Live, Material
from paragone.study.admin.office import Office
from paragone.study.server.app import create_app
from paragone.study.server.desk import ServerSettings
from paragone.study.store import Store
from paragone.study.store.keys import Keys

__all__ = ["HASH", "PASSWORD", "Desk", "Visitor"]

PASSWORD = "correct horse battery"
HASH = PasswordHasher(time_cost=1, memory_cost=64, parallelism=1).hash(PASSWORD)
"""Made with little work, so that signing in is quick."""


class Visitor:
    """One browser, or one program where it has a bearer token."""

    def __init__(self, app: FastAPI, *, origin: str = "http://localhost", bearer: str = "") -> None:
        self._client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=origin, timeout=30)
        self._sent = {"authorization": f"Bearer {bearer}"} if bearer else {"sec-fetch-site": "same-origin"}

    @property
    def cookies(self) -> httpx.Cookies:
        """What the browser keeps."""
        return self._client.cookies

    def get(self, path: str, **named: Any) -> httpx.Response:
        """Ask for a page."""
        return asyncio.run(self._client.get(path, headers={**self._sent, **named.pop("headers", {})}, **named))

    def post(self, path: str, data: dict[str, str] | None = None, **named: Any) -> httpx.Response:
        """Send a form, or what is named."""
        headers = {**self._sent, **named.pop("headers", {})}
        return asyncio.run(self._client.post(path, data=data, headers=headers, **named))

    def sign_in(self, name: str = "ada", password: str = PASSWORD) -> httpx.Response:
        """Sign in."""
        return self.post("/admin/login", {"name": name, "password": password})


class Desk:
    """A small study that is served, with an admin 'ada' and a viewer 'vic'."""

    def __init__(
        self,
        folder: Path,
        url: str,
        world: World,
        *,
        finished: int | None = None,
        run: Callable[[Material], Live],
        settings: ServerSettings | None = None,
        admins: bool = True,
        platform: str = "prolific",
    ) -> None:
        self.now = NOW
        self.keys = Keys(b"k" * 32)
        self.frozen = frozen_of(world, folder)
        self.store = Store.open(url)
        self.app = create_app(
            self.frozen, self.store, self.keys, settings or ServerSettings(), clock=lambda: self.now, keeps_house=False
        )
        self.office: Office = self.app.state.office
        self.office.keeper._run = run
        fill(self.store, self.frozen, world, finished=finished, platform=platform)
        if admins:
            self.store.write_now(lambda c: auth.first(c, "ada", HASH, NOW - 9000))
            self.store.write_now(lambda c: auth.add(c, "vic", HASH, "viewer", NOW - 9000, by="ada"))

    def visitor(self, name: str = "", **named: Any) -> Visitor:
        """Somebody, signed in where a name is given."""
        somebody = Visitor(self.app, **named)
        if name:
            assert somebody.sign_in(name).status_code == 303
        return somebody

    def token(self, name: str = "ada", *, expires: float | None = None) -> str:
        """A program's token in somebody's name."""
        secret = f"paragone_{name}_token_of_a_test"
        whose = {"ada": 1, "vic": 2}[name]
        self.store.write_now(
            lambda c: auth.make_token(c, whose, auth.digest(secret), "test", self.now, expires=expires, by=name)
        )
        return secret

    def close(self) -> None:
        """Let everything go."""
        self.office.close()
        self.store.close()

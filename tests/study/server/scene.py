"""A study with people in it, in this process: somebody at every phase, without sockets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from asgi_requests import Answer, request
from fastapi import FastAPI
from study_folder import PAIRS, RATINGS, frozen_study

from paragone.study.client import Walker
from paragone.study.server.app import create_app
from paragone.study.store import Store
from paragone.study.store.keys import Keys

__all__ = ["BOTH", "MANY", "InProcess", "Scene", "scene"]

BOTH = PAIRS + RATINGS
MANY = BOTH.replace("participants = 4", "participants = 60").replace("participants = 3", "participants = 30")
CALM = '[platform]\nprofile = "open"\n[training]\nauto = 1\n'
START = 1_800_000_000.0


@dataclass
class InProcess:
    """What `Walker` needs of an HTTP client, with cookies, on an ASGI application."""

    app: FastAPI
    cookies: dict[str, str] = field(default_factory=dict)

    def request(self, method: str, url: str, **options: Any) -> Any:
        """Send a request as a page of ours would."""
        path, _, query = url.partition("?")
        headers = {"origin": "http://localhost:8000", **options.get("headers", {})}
        if self.cookies:
            headers["cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        body = None
        if "json" in options:
            headers["content-type"] = "application/json"
            body = json.dumps(options["json"]).encode()
        answer = request(self.app, method, path, query=query.encode(), headers=headers, body=body)
        for name, value in answer.headers:
            if name == "set-cookie":
                key, _, rest = value.partition("=")
                self.cookies[key] = rest.partition(";")[0]
        return _Told(answer)


class _Told:
    def __init__(self, answer: Answer) -> None:
        self.status_code = answer.status
        self.headers = dict(answer.headers)
        self.content = answer.body
        self.text = answer.text

    def json(self) -> Any:
        return json.loads(self.content)


@dataclass
class Scene:
    """A served study."""

    app: FastAPI
    store: Store
    keys: Keys
    clock: list[float]

    def person(self, query: str = "") -> Walker:
        """Somebody who has just come in."""
        walker = Walker(
            InProcess(self.app),
            lambda trial, _criterion: ("left" if trial["scale"] is None else str(trial["scale"]["low"]), 1.5),
            train=self._right,
            rest=self._rest,
            tries=3,
        )
        walker.enter(query)
        return walker

    def walked(self, until: str, query: str = "") -> tuple[Walker, dict[str, Any]]:
        """Somebody who went on until a phase, and the state that they see."""
        walker = self.person(query)
        return walker, walker.walk(until=until)

    def _rest(self, seconds: float) -> None:
        self.clock[0] += seconds

    def _right(self, question: dict[str, Any], _criterion: str) -> str:
        """What the desk knows to be right; a participant would look at the pictures."""
        desk = self.app.state.desk
        for number, known in enumerate(q for questions in desk.frozen.practice.values() for q in questions):
            if (known.item is None) == (question["scale"] is None):
                ids = {desk.practice_id(lease, n) for lease in range(1, 200) for n in range(number + 1)}
                if question["id"] in ids:
                    return str(known.expected)
        raise AssertionError("a training question that nobody knows")


@contextmanager
def scene(folder: Path, settings: str = BOTH, *, platform: str = CALM, head: str | None = None) -> Iterator[Scene]:
    """A study that is being asked, on SQLite, with a clock that stands until it is moved."""
    kept = {} if head is None else {"head": head}
    frozen = frozen_study(folder / "study", settings + platform, **kept)
    clock = [START]
    keys = Keys(b"k" * 32)
    with Store.open(f"sqlite:///{folder / 'study.db'}") as store:
        app = create_app(frozen, store, keys, clock=lambda: clock[0], keeps_house=False)
        yield Scene(app, store, keys, clock)

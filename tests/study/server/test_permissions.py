"""Who may do what: every route of the application, asked by everybody. A route that is not in the table fails the test."""

from __future__ import annotations

import json
import secrets
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from asgi_requests import Answer, request
from fastapi import FastAPI
from scene import START, Scene, scene
from starlette.routing import Route

from paragone.study.admin import auth
from paragone.study.client import Walker

ROLES = ("anonymous", "participant", "other", "finished", "viewer", "admin")
PASSES = "passes"  # neither asked to sign in nor forbidden, and no failure of ours
LOGIN = "login"  # sent to sign in
EVERYBODY: tuple[int | str, ...] = (PASSES,) * 6
LOOK: tuple[int | str, ...] = (LOGIN, LOGIN, LOGIN, LOGIN, 200, 200)
SEES = (LOGIN, LOGIN, LOGIN, LOGIN, PASSES, PASSES)
ASKS = (LOGIN, LOGIN, LOGIN, LOGIN, 403, PASSES)
OWN = (401, 401, 401, 401, PASSES, PASSES)
ACT = (401, 401, 401, 401, 403, PASSES)
READ = (401, 401, 401, 401, PASSES, PASSES)

TABLE: dict[str, tuple[int | str, ...]] = {
    # route: anonymous, participant, other participant, finished participant, viewer, admin
    "GET /": (303, 303, 303, 303, 303, 303),
    "POST /enter": (404, 404, 404, 404, 404, 404),  # no lab
    "GET /study": (200, 200, 200, 200, 200, 200),
    "GET /static/{name}": (200, 200, 200, 200, 200, 200),
    "GET /favicon.ico": EVERYBODY,
    "GET /healthz": (200, 200, 200, 200, 200, 200),
    "GET /openapi.json": (200, 200, 200, 200, 200, 200),
    "HEAD /openapi.json": (200, 200, 200, 200, 200, 200),
    # what belongs to a session: the picture and the trial are the participant's
    "GET /api/state": (401, 200, 200, 200, 401, 401),
    "GET /i/{public}/{slot}": (401, 200, 404, 404, 401, 401),
    "POST /api/answers": (401, 201, 404, 404, 401, 401),
    "POST /api/step": (401, 409, 409, 409, 401, 401),
    "POST /api/telemetry": (401, 201, 201, 201, 401, 401),
    "POST /api/finish": (401, 409, 409, 200, 401, 401),
    "POST /api/session": (401, 200, 200, 200, 401, 401),  # by the cookie
    # the desk's pages
    "GET /admin/login": (200, 200, 200, 200, 200, 200),
    "POST /admin/login": (401, 401, 401, 401, 401, 401),  # a wrong password
    "GET /admin/setup": (LOGIN, LOGIN, LOGIN, LOGIN, LOGIN, LOGIN),  # there is an admin
    "POST /admin/setup": (LOGIN, LOGIN, LOGIN, LOGIN, LOGIN, LOGIN),
    "POST /admin/logout": (LOGIN, LOGIN, LOGIN, LOGIN, LOGIN, LOGIN),
    "GET /admin/static/{name}": (200, 200, 200, 200, 200, 200),
    "GET /admin": LOOK,
    "GET /admin/people": LOOK,
    "GET /admin/people/{name}": LOOK,
    "GET /admin/sheets": LOOK,
    "GET /admin/design": LOOK,
    "GET /admin/answers": LOOK,
    "GET /admin/scores": LOOK,
    "GET /admin/codes": LOOK,
    "POST /admin/codes/lab": ACT,
    "POST /admin/codes/reconcile": ACT,
    "GET /admin/data": LOOK,
    "GET /admin/data/export.{form}.zip": ASKS,
    "GET /admin/data/export/{name}": ASKS,
    "POST /admin/data/backup": ACT,
    "POST /admin/data/find": ACT,
    "GET /admin/settings": LOOK,
    "POST /admin/settings/add": ACT,
    "POST /admin/settings/remove": ACT,
    "POST /admin/settings/password": OWN,  # their own
    "POST /admin/settings/token": ACT,
    "POST /admin/settings/token/end": ACT,
    "GET /admin/log": LOOK,
    "GET /admin/ask/{act}": ASKS,
    "GET /admin/ask/{act}/{target}": ASKS,
    "POST /admin/do/{act}": ACT,
    "POST /admin/do/{act}/{target}": ACT,
    # the desk for programs
    "GET /api/admin/status": READ,
    "GET /api/admin/participants": READ,
    "GET /api/admin/participants/{name}": READ,
    "GET /api/admin/sheets": READ,
    "GET /api/admin/log": READ,
    "GET /api/admin/live": (401, 401, 401, 401, 409, 409),  # nothing is computed yet
    "POST /api/admin/participants/{name}/exclude": ACT,
    "POST /api/admin/participants/{name}/restore": ACT,
    "POST /api/admin/participants/{name}/screen-out": ACT,
    "POST /api/admin/participants/{name}/technical": ACT,
    "POST /api/admin/participants/{name}/forget": ACT,
    "POST /api/admin/sheets/{number}/exclude": ACT,
    "POST /api/admin/sheets/{number}/restore": ACT,
    "POST /api/admin/sheets/{number}/accept": ACT,
    "POST /api/admin/sheets/{number}/release": ACT,
    "POST /api/admin/sheets/{number}/replace": ACT,
    "GET /api/admin/export/{form}.zip": ACT,
    "GET /api/admin/export/{table}/{form}": ACT,
    "POST /api/admin/backup": ACT,
    "POST /api/admin/pause": ACT,
    "POST /api/admin/resume": ACT,
    "POST /api/admin/unblind": ACT,
    "POST /api/admin/blind": ACT,
}


def routes_of(app: FastAPI) -> Iterator[str]:
    """Every method and path of an application, those of included routers among them."""
    waiting: list[Any] = list(app.routes)
    while waiting:
        route = waiting.pop(0)
        inner = getattr(route, "original_router", None)
        if inner is not None:
            waiting += inner.routes
            continue
        assert isinstance(route, Route), f"a kind of route that this test does not know: {route!r}"
        methods = set(route.methods or ()) - (set() if route.path == "/openapi.json" else {"HEAD"})
        yield from (f"{method} {route.path}" for method in sorted(methods))


@dataclass
class People:
    """Somebody of every role."""

    here: Scene
    walkers: dict[str, Walker]
    trials: list[dict[str, Any]]
    """What the participant sees."""

    def asked(self, route: str, role: str) -> Answer:
        """What a route answers to somebody."""
        method, _, path = route.partition(" ")
        trial = self.trials[0]
        _, _, public, slot = trial["panes"][0]["src"].split("/")
        name = "admin.css" if path.startswith("/admin/static") else "study.css" if "static" in path else "p-0001"
        for key, value in {
            "public": public,
            "slot": slot,
            "name": name,
            "number": "1",
            "act": "exclude-person",
            "target": "p-0001",
            "form": "csv",
            "table": "votes",
        }.items():
            path = path.replace(f"{{{key}}}", value)
        headers = {"origin": "http://localhost:8000", **self._shown(path, role)}
        body = None
        if method == "POST":
            kind, body = self._said(path, role, trial)
            headers["content-type"] = kind
        return request(self.here.app, method, path, headers=headers, body=body)

    def _shown(self, path: str, role: str) -> dict[str, str]:
        if role in self.walkers:
            walker = self.walkers[role]
            cookie = "; ".join(f"{key}={value}" for key, value in walker.http.cookies.items())  # type: ignore[attr-defined]
            return {"authorization": f"Bearer {walker.token}", "cookie": cookie}
        if role == "anonymous":
            return {}
        secret, office = secrets.token_urlsafe(32), self.here.app.state.office
        program = not path.startswith("/admin")
        self.here.store.write_now(lambda c: _let_in(c, role, secret, program))
        return {"authorization": f"Bearer {secret}"} if program else {"cookie": f"{office.cookie}={secret}"}

    def _said(self, path: str, role: str, trial: dict[str, Any]) -> tuple[str, bytes]:
        """A good body; of the admin one that changes nothing, for who comes after."""
        sent: dict[str, Any] = {"id": str(uuid.uuid4())}
        if path.startswith("/admin") or path == "/enter":
            form = b"name=nobody&password=a-wrong-password&why=a+reason"
            spoilt = role == "admin" and path not in ("/admin/login", "/admin/setup", "/admin/logout")
            return ("text/plain", b"x") if spoilt else ("application/x-www-form-urlencoded", form)
        if path.startswith("/api/admin"):
            sent = {"why": 1 if role == "admin" else "a reason"}
        elif path == "/api/session":
            sent = {}
        elif path == "/api/step":
            sent |= {"step": "break", "body": {}}
        elif path == "/api/telemetry":
            sent |= {"kind": "focus", "body": {}}
        elif path == "/api/answers":
            row = {
                "trial": trial["id"],
                "criterion": trial["criteria"][0]["id"],
                "value": "left",
                "seconds": 1.0,
                "body": {},
            }
            sent = {"answers": [{**sent, "revision": 0, **row}]}
        return "application/json", json.dumps(sent).encode()


def _let_in(c: Any, role: str, secret: str, program: bool) -> None:
    if program:
        number = c.exec_driver_sql(f"SELECT id FROM admin WHERE name = '{role}'").scalar_one()
        auth.make_token(c, number, auth.digest(secret), "a program", START, expires=None, by=role)
    else:
        auth.enter(c, role, auth.digest(secret), START)


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Iterator[People]:
    with scene(tmp_path_factory.mktemp("permissions")) as here:
        participant, state = here.walked("trial")
        walkers = {"participant": participant, "other": here.walked("trial")[0], "finished": here.walked("done")[0]}
        here.store.write_now(lambda c: auth.first(c, "admin", "$argon2id$none", START))
        here.store.write_now(lambda c: auth.add(c, "viewer", "$argon2id$none", "viewer", START, by="admin"))
        for buckets in (here.app.state.desk.limits.attempts, here.app.state.office.names):
            buckets.rate = buckets.burst = 1e12
        here.clock[0] = START
        yield People(here, walkers, state["trials"])


def test_every_route_is_in_the_table(people: People) -> None:
    found = set(routes_of(people.here.app))
    assert found - set(TABLE) == set(), "say in the table who may use these"
    assert set(TABLE) - found == set(), "these are gone"


@pytest.mark.parametrize("route", sorted(TABLE, key=lambda route: route == "POST /api/session"))
def test_only_those_may_who_may(people: People, route: str) -> None:
    wrong = []
    for role, expected in zip(ROLES, TABLE[route], strict=True):
        answer = people.asked(route, role)
        there = answer["location"].partition("?")[0]
        said: int | str = answer.status
        if answer.status == 303 and there == "/admin/login":
            said = LOGIN
        elif expected == PASSES and answer.status not in (401, 403) and answer.status < 500:
            said = PASSES
        if said != expected:
            wrong.append(f"{role}: {said}, not {expected}: {answer.error!r} {answer.text[:200]}")
    assert wrong == []


def test_a_participants_secrets_open_no_door_of_the_desk(people: People) -> None:
    office, walker = people.here.app.state.office, people.walkers["participant"]
    for secret in (walker.token, *walker.http.cookies.values()):  # type: ignore[attr-defined]
        cookie = {"cookie": f"{office.cookie}={secret}"}
        assert request(people.here.app, path="/admin/people", headers=cookie)["location"].startswith("/admin/login")
        bearer = {"authorization": f"Bearer {secret}"}
        assert request(people.here.app, path="/api/admin/participants", headers=bearer).status == 401


def test_a_desks_secrets_are_nobodys_session(people: People) -> None:
    secret = secrets.token_urlsafe(32)
    people.here.store.write_now(lambda c: auth.enter(c, "admin", auth.digest(secret), START))
    bearer = {"authorization": f"Bearer {secret}"}
    assert request(people.here.app, path="/api/state", headers=bearer).status == 401
    assert request(people.here.app, path="/api/admin/status", headers=bearer).status == 401, (
        "a cookie's secret is no token"
    )

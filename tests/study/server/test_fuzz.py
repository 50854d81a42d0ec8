"""Ten thousand bent requests: the server never fails, and never tells one session of another."""

from __future__ import annotations

import collections
import hashlib
import json
import random
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from asgi_requests import request
from fuzzed import Spoken, bent, desk_requests, door_requests, good_requests
from scene import MANY, START, Scene, scene

from paragone.study.admin import auth
from paragone.study.client import Walker
from paragone.study.store import events, people

PHASES = ("consent", "device", "training", "ready", "trial", "trial", "trial", "break", "questionnaire", "done")
REMARK = "CANARY-7f3a-remark"


def _unlimited(here: Scene) -> None:
    """Rate limits out of the way: what is behind them is to be reached."""
    limits = here.app.state.desk.limits
    for buckets in (limits.answers, limits.arrivals, limits.newcomers, limits.attempts, limits.all_attempts):
        buckets.rate = buckets.burst = 1e12


def _other_person(here: Scene) -> list[bytes]:
    """Somebody in the middle of the trials; returns what only they may be told."""
    walker, state = here.walked("trial")
    walker.give(state["trials"][0])
    sent = {"id": "7f3a0000-0000-4000-8000-00000000cafe", "kind": "focus", "body": {"note": REMARK}}
    walker._sent("POST", "/api/telemetry", json=sent)
    state = walker.state()
    secrets = [walker.token, *walker.http.cookies.values(), REMARK, sent["id"]]  # type: ignore[attr-defined]
    secrets += [trial["id"] for trial in state["trials"]] + [row["id"] for row in walker.acknowledged]
    name = here.store.read_now(lambda c: c.exec_driver_sql("SELECT max(name) FROM participant").scalar_one())
    return [str(secret).encode() for secret in [*secrets, name]]


def _inside(here: Scene) -> list[bytes]:
    """What no participant may ever be told: items, methods, trials of the plan, sheets, secrets of the server."""
    frozen = here.app.state.desk.frozen
    plan = frozen.plan
    words = [*frozen.pictures, *plan["trial"], *plan["sheet"]]
    for picture in frozen.pictures.values():
        words += [picture.path, picture.sha256]
    return [word.encode() for word in dict.fromkeys(words) if len(word) > 5] + [b"Traceback", b"sqlalchemy", b"sqlite"]


def _finished(here: Scene, walker: Walker) -> bool:
    """Whether the store itself says that somebody is done, and so may have a code."""
    token = hashlib.sha256(walker.token.encode()).hexdigest()
    visit = here.store.read_now(lambda c: people.who(c, token))
    if visit is None:
        return False
    happened = here.store.read_now(lambda c: events.of_participant(c, visit.participant_id))
    return any(event.kind == "finished" for event in happened)


def _fuzz(folder: Path, n: int, seed: int) -> collections.Counter[int]:
    rng = random.Random(seed)
    seen: collections.Counter[int] = collections.Counter()
    with scene(folder, MANY, head=_HEAD) as here:
        _unlimited(here)
        others = _other_person(here)
        inside = _inside(here)
        walker: Walker | None = None
        state: dict[str, Any] = {}
        for number in range(n):
            if number % 40 == 0:
                walker, state = here.walked(rng.choice(PHASES))
            assert walker is not None
            cookie = "; ".join(f"{key}={value}" for key, value in walker.http.cookies.items())  # type: ignore[attr-defined]
            spoken = bent(rng, rng.choice(good_requests(state, walker.token, cookie)))
            answer = _said(here, spoken)
            seen[answer.status] += 1
            told = f"seed {seed}, request {number}: {spoken}"[:3000]
            assert answer.error is None, f"{told}\nraised {answer.error!r}"
            assert 200 <= answer.status < 500, f"{told}\nanswered {answer.status} {answer.text[:300]}"
            whole = repr(answer.headers).encode() + (b"" if answer["content-type"] == "image/png" else answer.body)
            mine = repr(spoken).encode()  # what the request itself said is no secret to it
            leaked = [word for word in others if word in whole and word not in mine]
            assert not leaked, f"{told}\nanswered {answer.status} with {leaked} of another session"
            if here.app.state.desk.codes["completed"].encode() in whole:
                assert _finished(here, walker), f"{told}\nanswered {answer.status} with the code"
            shown = [word for word in inside if word in whole and word not in mine]
            assert not shown, f"{told}\nanswered {answer.status} with {shown}"
            _held_to_form(answer, told)
    return seen


_HEAD = """name = "Small"
criteria = ["content", "style"]
seed = 3
[pages]
languages = ["en", "de", "zh"]
[consent]
who = "A university"
contact = "study@example.org"
"""


def _said(here: Scene, spoken: Spoken) -> Any:
    headers = [(name, value.encode("latin-1", "ignore").decode("latin-1")) for name, value in spoken.headers]
    host = None if any(name == "host" for name, _ in headers) else "localhost:8000"
    return request(
        here.app, spoken.method, spoken.path, query=spoken.query, headers=headers, body=spoken.body, host=host
    )


def _held_to_form(answer: Any, told: str) -> None:
    """Every answer has the headers; an error of the API is JSON of one form."""
    assert answer["content-security-policy"].startswith("default-src 'none'"), told
    assert answer["x-content-type-options"] == "nosniff", told
    if answer.status >= 400 and answer["content-type"] == "application/json" and b'"phase"' not in answer.body:
        error = json.loads(answer.body)
        assert "results" in error or set(error["error"]) == {"kind", "message"}, told


def test_bent_requests_are_refused_without_a_word_about_others(tmp_path: Path) -> None:
    seen = _fuzz(tmp_path, 300, seed=1)
    assert {200, 401, 404, 405, 422} <= set(seen), seen


def _fuzz_desk(folder: Path, n: int, seed: int) -> collections.Counter[int]:
    """As an admin who presses every button, and an importer of nonsense."""
    rng = random.Random(seed)
    seen: collections.Counter[int] = collections.Counter()
    with scene(folder, MANY, head=_HEAD) as here:
        _unlimited(here)
        office = here.app.state.office
        office.names.rate = office.names.burst = 1e12
        for phase in ("trial", "done", "consent", "break"):
            here.walked(phase)
        secret, token = "c" * 43, "t" * 43
        here.store.write_now(lambda c: _admin(c, secret, token))
        asked = desk_requests(f"{office.cookie}={secret}", token)
        for number in range(n):
            spoken = bent(rng, rng.choice(asked))
            answer = _said(here, spoken)
            seen[answer.status] += 1
            told = f"seed {seed}, request {number}: {spoken}"[:3000]
            assert answer.error is None, f"{told}\nraised {answer.error!r}"
            assert answer.status in (503,) or 200 <= answer.status < 500, f"{told}\nanswered {answer.text[:300]}"
            assert b"Traceback" not in answer.body, told
            _held_to_form(answer, told)
    return seen


def _admin(c: sa.Connection, secret: str, token: str) -> None:
    auth.first(c, "admin", "$argon2id$none", START)
    auth.enter(c, "admin", auth.digest(secret), START)
    auth.make_token(c, 1, auth.digest(token), "a program", START, expires=None, by="admin")


def test_bent_requests_of_the_desk_are_refused(tmp_path: Path) -> None:
    seen = _fuzz_desk(tmp_path, 100, seed=1)
    assert {200, 404} <= set(seen), seen


@pytest.mark.parametrize("profile", ["open", "lab", "prolific", "connect", "sona", "mturk"])
def test_every_door_takes_nonsense_calmly(tmp_path: Path, profile: str) -> None:
    rng = random.Random(profile)
    with scene(tmp_path, platform=f'[platform]\nprofile = "{profile}"\n') as here:
        _unlimited(here)
        for number in range(80):
            spoken = rng.choice(door_requests(rng))
            spoken = bent(rng, spoken) if rng.random() < 0.5 else spoken
            answer = _said(here, spoken)
            told = f"{profile}, request {number}: {spoken}"[:3000]
            assert answer.error is None, f"{told}\nraised {answer.error!r}"
            assert 200 <= answer.status < 500, f"{told}\nanswered {answer.text[:300]}"
            assert answer.status < 300 or answer.status >= 400 or answer["location"].startswith("/study"), told
            _held_to_form(answer, told)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [21, 22])
def test_thousands_of_bent_requests_of_the_desk_are_refused(tmp_path: Path, seed: int) -> None:
    seen = _fuzz_desk(tmp_path, 1500, seed=seed)
    assert {200, 303, 400, 403, 404, 405, 409, 415, 422} <= set(seen), seen


@pytest.mark.slow
@pytest.mark.parametrize("seed", [11, 12, 13, 14])
def test_ten_thousand_bent_requests_leave_no_trace(tmp_path: Path, seed: int) -> None:
    seen = _fuzz(tmp_path, 2500, seed=seed)
    assert {200, 201, 303, 400, 401, 403, 404, 405, 409, 413, 421, 422} <= set(seen), seen

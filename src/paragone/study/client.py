"""A participant in Python: walks through a study over its own HTTP interface, as a browser would.

Tests, load tests and simulation use it. It is exact about what matters: every answer has an id of its own and is sent again
under the same id until the server has said what became of it.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import urlsplit

from ..errors import Lost

__all__ = ["Answered", "Http", "Walker"]

State = dict[str, Any]
_AGAIN = (408, 425, 429, 500, 502, 503, 504)
_FIRST_WAIT, _LONGEST_WAIT = 0.05, 2.0  # seconds before a request is sent again


class Http(Protocol):
    """What is needed of an HTTP client; `httpx.Client(base_url=...)` is one. It must keep cookies."""

    def request(self, method: str, url: str, **options: Any) -> Any:
        """Send a request and return an answer with status_code, headers and json()."""
        ...


class Answered(Protocol):
    """Gives the answer to one criterion of a trial."""

    def __call__(self, trial: State, criterion: str) -> tuple[str, float]:
        """Return value and seconds."""
        ...


@dataclass
class Walker:
    """One participant.

    Args:
        http: a client of the server, with its address as base and cookies of its own.
        answer: (trial, criterion) -> (value, seconds).
        train: (question, criterion) -> value, for training questions; left out: as `answer`.
        tries: how often a request is sent before the walker gives up.
        faults: exceptions of `http` after which a request is sent again.
        rest: waits so many seconds.
    """

    http: Http
    answer: Answered
    train: Callable[[State, str], str] | None = None
    tries: int = 40
    faults: tuple[type[Exception], ...] = (OSError,)
    rest: Callable[[float], None] = time.sleep
    token: str = ""
    acknowledged: list[dict[str, Any]] = field(default_factory=list)
    """Every answer that the server said it has, as it was sent."""
    codes: list[str] = field(default_factory=list)
    """Completion codes, one for each session that was finished."""

    def enter(self, query: str = "") -> State:
        """Come in by `/?query` and return the state."""
        came = self._sent("GET", f"/{query}", expect=(303,), follow_redirects=False)
        self.open(urlsplit(came.headers["location"]).fragment.removeprefix("k="))
        return self.state()

    def open(self, key: str = "") -> None:
        """Change the entry's key, or the cookie, for a token."""
        body = {"key": key} if key else {}
        self.token = self._sent("POST", "/api/session", json=body).json()["token"]

    def state(self) -> State:
        """Where the server says that we are."""
        told: State = self._sent("GET", "/api/state").json()
        return told

    def step(self, name: str, body: Mapping[str, Any] | None = None) -> State:
        """Take a step and return the state after it."""
        sent = {"id": str(uuid.uuid4()), "step": name, "body": dict(body or {})}
        told: State = self._sent("POST", "/api/step", json=sent, expect=(200, 409)).json()
        return told

    def picture(self, src: str) -> bytes:
        """Fetch a picture."""
        content: bytes = self._sent("GET", src).content
        return content

    def give(self, trial: State, *, revision: int = 0, criteria: list[str] | None = None) -> list[str]:
        """Answer a trial and return what became of each answer."""
        rows = []
        for criterion in [asked["id"] for asked in trial["criteria"] if criteria is None or asked["id"] in criteria]:
            value, seconds = self.answer(trial, criterion)
            rows.append(
                {"id": str(uuid.uuid4()), "trial": trial["id"], "criterion": criterion, "revision": revision,
                 "value": value, "seconds": seconds, "body": {"input": "key", "exact": True, "scale": 1.0}}
            )  # fmt: skip
        told = self._sent("POST", "/api/answers", json={"answers": rows}, expect=(200, 201, 409)).json()
        results = {one["id"]: one["status"] for one in told["results"]}
        self.acknowledged += [row for row in rows if results[row["id"]] in ("stored", "known")]
        return [results[row["id"]] for row in rows]

    def go(self, state: State) -> State:
        """Do what a phase asks for, and return the state after it."""
        phase = state["phase"]
        if phase == "consent":
            return self.step("consent", {"version": state["consent"]["version"]})
        if phase == "device":
            return self.step("device", {"width": 1440, "height": 900, "ratio": 1})
        if phase in ("instructions", "tutorial"):
            return self.step(phase)
        if phase == "training":
            return self.step("training", {"answers": [self._trained(one) for one in state["training"]["questions"]]})
        if phase == "ready":
            return self.step("begin")
        if phase == "trial":
            for trial in state["trials"]:
                open_ = [asked["id"] for asked in trial["criteria"] if asked["id"] not in trial["given"]]
                self.give(trial, criteria=open_)
            return self.state()
        if phase == "break":
            self.rest(state["break"]["seconds"])
            return self.step("break")
        if phase == "questionnaire":
            return self.step("questionnaire", {"answers": {}, "remark": ""})
        if phase == "finish":
            done = self._sent("POST", "/api/finish", json={"id": str(uuid.uuid4())}).json()
            self.codes.append(done["code"])
            return {**state, "phase": "done", "done": done}
        raise Lost(f"a participant cannot go on in phase '{phase}'", where=phase)

    def walk(self, state: State | None = None, *, until: str = "done", steps: int = 100_000) -> State:
        """Go on until a phase, and return its state.

        Args:
            state: where to begin; None: asked for.
            until: phase to stop in; 'done' is the end of a session.
            steps: most steps to take.

        Raises:
            Lost: a phase comes in which nothing can be done, or the end does not come.
        """
        state = state or self.state()
        for _ in range(steps):
            if state["phase"] in (until, "done", "preview-end"):
                return state
            state = self.go(state)
        raise Lost(f"no end after {steps} steps, in phase '{state['phase']}'", where=str(state["phase"]))

    def _trained(self, question: State) -> dict[str, Any]:
        criterion = question["criteria"][0]["id"]
        value = self.train(question, criterion) if self.train else self.answer(question, criterion)[0]
        return {"trial": question["id"], "criterion": criterion, "value": value, "seconds": 1.0}

    def _sent(self, method: str, url: str, *, expect: tuple[int, ...] = (200, 201), **options: Any) -> Any:
        """Send a request until the server has answered it."""
        headers = {"Sec-Fetch-Site": "same-origin"}  # as a browser says of a page's own requests
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        wait, said = _FIRST_WAIT, ""
        for _ in range(self.tries):
            try:
                answer = self.http.request(method, url, headers=headers, **options)
            except self.faults as fault:
                said = type(fault).__name__
            else:
                if answer.status_code in expect:
                    return answer
                said = f"{answer.status_code} {answer.text[:200]}"
                if answer.status_code not in _AGAIN:
                    break
                wait = max(wait, float(answer.headers.get("retry-after", 0)))
            self.rest(wait)
            wait = min(2 * wait, _LONGEST_WAIT)
        raise Lost(f"{method} {url}: {said}; the server does not do it", where=url)

"""A small study server for tests of the participant's page alone: the phases of the contract, and faults on demand."""

from __future__ import annotations

import io
import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
from PIL import Image

from paragone.study.texts import load
from paragone.study.web import sent

__all__ = ["CSP", "FakeStudy", "noise", "serving"]

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
TYPES = {"js": "text/javascript", "css": "text/css", "svg": "image/svg+xml", "html": "text/html; charset=utf-8"}
LABELS = ["Bad", "Poor", "Fair", "Good", "Excellent"]
ALL = ("consent", "device", "instructions", "tutorial", "training", "ready", "trial", "questionnaire", "finish", "done")


def noise(seed: int, width: int, height: int) -> np.ndarray:
    """Every pixel differs from its neighbours, so that any resampling shows: (h, w, 3) uint8."""
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)


class FakeStudy:
    """One participant's study; every attribute may be changed while it runs.

    Args:
        phases: in order; 'trial' comes once and holds all trials.
        page: pairs, slider, acr or dcr.
        layout: four or six for pairs; single or double for ratings.
        n: trials.
        size: width and height of every picture.
        criteria: asked in each trial.
    """

    def __init__(
        self,
        *,
        phases: tuple[str, ...] = ALL,
        page: str = "pairs",
        layout: str = "four",
        n: int = 4,
        size: tuple[int, int] = (128, 128),
        criteria: tuple[str, ...] = ("content", "style", "overall"),
        ask: str = "one",
        third: str | None = None,
        language: str = "en",
    ) -> None:
        self.phases, self.page, self.layout, self.n, self.size = list(phases), page, layout, n, size
        self.criteria, self.ask, self.third, self.language = criteria, ask, third, language
        self.at = 0
        self.trials = [f"trial{i:02d}AAAAAAAAAA" for i in range(n)]
        self.answers: dict[tuple[str, str, int], dict[str, Any]] = {}
        self.posts: list[dict[str, Any]] = []
        self.steps: list[dict[str, Any]] = []
        self.telemetry: list[dict[str, Any]] = []
        self.requests: list[tuple[float, str, str]] = []
        self.bearers: set[tuple[str, str]] = set()
        self.token = "token-1"
        self.opened = 0
        # switches
        self.picture_delay = 0.0
        self.lose_acks = 0  # so many answers are stored, and their acknowledgement is not sent
        self.refuse: list[int] = []  # statuses of the next answers
        self.wall = 0  # so many calls meet the wall of a network, which says yes to everything, in HTML
        self.cut = 0  # so many calls are done, and what the server says of them breaks off
        self.no_script = 0  # so many of `scripts` do not come
        self.scripts: tuple[str, ...] = ("pairs.js", "rating.js")
        self.follows = False  # the next session may begin as soon as this one is finished
        self.state_delay = 0.0  # before a state is looked up
        self.lose_ends = 0  # so many sessions end, and what the server says of it does not come
        self.forgot: set[str] = set()  # tokens that nobody has any more
        self.framed = False  # may be shown in a frame of its own origin
        self.break_after: int | None = None
        self.break_until: float | None = None
        self.break_seconds = 2.0
        self.attempt = 1
        self.questions = 2
        self.trained: list[str] = []  # answers of the open attempt; "left" or 3 and more is right
        self.before: list[str] | None = None
        self.min_size = (1024, 600)
        self.card = True
        self.plates = 1
        self.preview = False
        self.zoom = page == "pairs"
        self.done: dict[str, Any] = {
            "outcome": "completed",
            "code": "C1ABCD",
            "redirect": "https://panel.example/back?cc=C1ABCD",
            "next": None,
            "text": "Thank you. All your answers are saved.",
            "form": None,
        }
        self.forced: str | None = None

    # -- what is shown -----------------------------------------------------------------------------------------------

    def answered(self, trial: str) -> bool:
        return all(any((trial, name, r) in self.answers for r in range(9)) for name in self.criteria)

    @property
    def frontier(self) -> int:
        return next((i for i, trial in enumerate(self.trials) if not self.answered(trial)), self.n)

    def phase(self) -> str:
        if self.forced:
            return self.forced
        phase = self.phases[self.at]
        if phase == "done" and self.follows:
            return "device"
        if phase != "trial":
            return phase
        if self.break_after is not None and self.frontier == self.break_after:
            if self.break_until is None:
                self.break_until = time.time() + self.break_seconds
            return "break"
        if self.frontier == self.n:
            self.at += 1
            return self.phase()
        return "trial"

    def panes(self, trial: str) -> list[dict[str, Any]]:
        four = [("content", None), ("style", None), ("left", None), ("right", None)]
        six = [("content", "left"), ("style", "left"), ("left", "left")]
        six += [("content", "right"), ("style", "right"), ("right", "right")]
        roles = {"four": four, "six": six, "single": [("item", None)], "double": [("reference", None), ("item", None)]}
        texts = load(self.language)
        width, height = self.size
        return [
            {
                "slot": "abcdef"[i],
                "role": role,
                "side": side,
                "label": texts.label(role, side if role in ("content", "style") else None),
                "w": width,
                "h": height,
                "src": f"/i/{trial}/{'abcdef'[i]}",
            }
            for i, (role, side) in enumerate(roles[self.layout])
        ]

    def trial(self, trial: str) -> dict[str, Any]:
        pairs = self.page == "pairs"
        given: dict[str, Any] = {}
        for (name, criterion, revision), row in sorted(self.answers.items(), key=lambda kv: kv[0][2]):
            if name == trial:
                given[criterion] = row["value"]
                given["revision"] = revision
                given["distortions"] = row["body"].get("distortions", [])
        scale = {"low": 0, "high": 5, "step": 0.1, "labels": LABELS, "at": [0.5, 1.5, 2.5, 3.5, 4.5]}
        if self.page in ("acr", "dcr"):
            scale = {"low": 1, "high": 5, "step": 1, "labels": LABELS, "at": [1, 2, 3, 4, 5]}
        texts = load(self.language)
        return {
            "id": trial,
            "page": self.page,
            "layout": self.layout,
            "panes": self.panes(trial),
            "criteria": [
                {"id": name, "question": texts.question("pairs" if pairs else "ratings", name, asked=self.criteria)}
                for name in self.criteria
            ],
            "third": self.third if pairs else None,
            "ask": self.ask if pairs else "all",
            "scale": None if pairs else scale,
            "text": [] if pairs else [["Prompt", "a cat on a mat, oil painting, dramatic light, 4k, highly detailed"]],
            "distortions": []
            if pairs
            else [{"id": "blur", "label": "Blur or unclear texture"}, {"id": "artifact", "label": "Artifacts"}],
            "zoom": self.zoom,
            "back": not pairs,
            "given": given,
        }

    def state(self) -> dict[str, Any]:
        phase = self.phase()
        texts = load(self.language)
        done = min(self.frontier, self.n)
        state: dict[str, Any] = {
            "phase": phase,
            "study": {
                "title": "Pictures in other styles",
                "language": self.language,
                "languages": ["en", "de", "zh"],
                "preview": self.preview,
                "lab": False,
            },
            "session": {"number": 1 + (phase == "device" and self.follows), "of": 1 + self.follows},
            "progress": {"done": done, "of": self.n},
            "now": time.time(),
            "participant": "p-0001",
            "texts": texts.client,
        }
        plates = [
            {"id": f"plate{i}AAAAAAAAAAA", "w": 200, "h": 200, "choices": ["12", "8", "6"]} for i in range(self.plates)
        ]
        low = {"min_width": self.min_size[0], "min_height": self.min_size[1]}
        state["device"] = {**low, "card": self.card, "plates": plates, "full_screen": False}
        if phase == "consent":
            parts = [
                {"head": texts[f"consent.{name}.head"], "text": [texts[f"consent.{name}.text"]]}
                for name in ("purpose", "sharing", "basis", "voluntary")
            ]
            boxes = [texts["consent.boxes.adult"], texts["consent.boxes.agree"]]
            state["consent"] = {"version": "abc", "head": texts["consent.head"], "parts": parts, "boxes": boxes}
        elif phase == "instructions":
            text = [texts["instructions.pairs.text"], texts["instructions.pairs.references"]]
            state["instructions"] = {"parts": [{"head": "What you will do", "text": text}]}
        elif phase == "tutorial":
            state["tutorial"] = {"cards": self.cards()}
        elif phase == "training":
            state["training"] = self.training()
        elif phase == "ready":
            state["ready"] = {"head": texts["ready.head"], "text": [texts["ready.text"]]}
            state["trials"] = [self.trial(name) for name in self.trials[:3]]
        elif phase == "trial":
            at, end = self.frontier, self.frontier + 3
            if self.break_after is not None and at < self.break_after:
                end = min(end, self.break_after)
            state["trials"] = [self.trial(name) for name in self.trials[at:end]]
            state["earlier"] = [] if self.page == "pairs" else [self.trial(name) for name in self.trials[:at]]
        elif phase == "break":
            state["break"] = {"seconds": max(0.0, (self.break_until or 0) - time.time())}
        elif phase == "questionnaire":
            fields = [
                {"id": name, "label": texts[f"questionnaire.{name}.label"], "choices": texts.choices(name)}
                for name in ("gender", "age", "expertise", "region")
            ]
            text = [texts["questionnaire.text"]]
            state["questionnaire"] = {
                "head": texts["questionnaire.head"],
                "text": text,
                "fields": fields,
                "remark": True,
            }
        elif phase == "done":
            state["done"] = self.done
            if self.before is not None:
                state["training"] = self.training()
        elif phase == "wait":
            state["wait"] = {"until": time.time() + 3600}
            state["done"] = {**self.done, "next": {"at": time.time() + 3600, "session": 2}}
        return state

    def cards(self) -> list[dict[str, Any]]:
        panes = [pane for pane in self.panes("cardAAAAAAAAAAAA") if pane["role"] in ("left", "right", "item")]
        why = "The *left* one keeps the scene."
        told = {"head": "Content", "text": ["*Content* is the scene that is shown."], "panes": []}
        tried = {
            "head": "Try it",
            "text": ["Here is an example."],
            "panes": panes,
            "answer": panes[0]["role"],
            "why": why,
        }
        question = "Which keeps the *content* better?"
        return [{**told, "question": None, "answer": None, "why": None}, {**tried, "question": question}]

    def training(self) -> dict[str, Any]:
        shown = [
            {**self.trial(f"train{i}AAAAAAAAAAA"), "number": i + 1, "of": self.questions, "back": False}
            for i in range(self.questions)
        ]
        for trial in shown:
            trial["criteria"] = trial["criteria"][:1]
        texts = load(self.language)
        said = self.trained or self.before
        feedback: list[dict[str, Any] | None] | None = None
        if said:
            words = {right: texts[f"training.{'right' if right else 'wrong'}"] for right in (True, False)}
            feedback = [{"right": self.right(value), "text": words[self.right(value)]} for value in said]
            feedback += [None] * (self.questions - len(said))
        words = [texts.fill("training.text", questions=self.questions)]
        again = []
        if self.before is not None:
            words = [texts.fill("training.again", left=4 - self.attempt)]
            again = [{"head": texts["instructions.pairs.head"], "text": [texts["instructions.pairs.references"]]}]
        return {
            "head": texts["training.head"],
            "text": words,
            "again": again,
            "attempt": self.attempt,
            "attempts": 3,
            "questions": shown,
            "feedback": feedback,
        }

    def right(self, value: str) -> bool:
        return value == "left" or (value[0].isdigit() and float(value) >= 3)

    def take_training(self, answers: list[dict[str, Any]]) -> None:
        self.trained += [row["value"] for row in answers]
        if len(self.trained) < self.questions:
            return
        if all(self.right(value) for value in self.trained):
            self.at += 1
        elif self.attempt == 3:
            self.before = self.trained
            self.forced = "done"
            self.done = {
                **self.done,
                "outcome": "failed-training",
                "code": "CFAIL",
                "text": "The training was not passed.",
            }
        else:
            self.attempt += 1
            self.before = self.trained
        self.trained = []

    # -- what is done ------------------------------------------------------------------------------------------------

    def take_answers(self, rows: list[dict[str, Any]]) -> tuple[int, dict[str, Any]]:
        statuses = []
        for row in rows:
            self.posts.append(row)
            index = self.trials.index(row["trial"])
            if self.phase() == "break" and self.break_until is not None and time.time() < self.break_until:
                return 425, {"error": {"kind": "too-early", "message": "not yet"}}
            if index > self.frontier + 2:
                return 425, {"error": {"kind": "too-early", "message": "not yet"}}
            key = (row["trial"], row["criterion"], row["revision"])
            known = self.answers.get(key)
            if known is None:
                self.answers[key] = row
                statuses.append("stored")
            else:
                statuses.append("known" if known["id"] == row["id"] and known["value"] == row["value"] else "conflict")
        status = 409 if "conflict" in statuses else 201 if "stored" in statuses else 200
        results = [{"id": row["id"], "status": said} for row, said in zip(rows, statuses, strict=True)]
        return status, {"results": results}

    def take_step(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        self.steps.append(body)
        step, phase = body["step"], self.phase()
        if step == "decline" and phase == "consent":
            self.forced = "done"
            self.done = {
                **self.done,
                "outcome": "no-consent",
                "code": None,
                "redirect": None,
                "text": "You do not take part.",
            }
        elif step == "begin" and phase == "ready":
            self.at += 1
        elif step == "break" and phase == "break":
            if time.time() < (self.break_until or 0):
                return 425, {"error": {"kind": "too-early", "message": "not yet"}}
            self.break_after = None
        elif step == phase == "training":
            self.take_training(body["body"]["answers"])
        elif step == phase:
            self.at += 1
        else:
            return 409, self.state()
        return 200, self.state()

    def finish(self) -> tuple[int, dict[str, Any]]:
        if self.phase() == "finish":
            self.at += 1
        elif self.phases[self.at] != "done":
            return 409, self.state()
        return 200, self.done


class _Handler(BaseHTTPRequestHandler):
    study: FakeStudy
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass

    def _send(self, status: int, body: bytes, kind: str, **more: str) -> None:
        self.send_response(status)
        headers = {
            "Content-Type": kind,
            "Content-Length": str(len(body)),
            "Content-Security-Policy": self._csp(),
            **more,
        }
        headers |= {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def _csp(self) -> str:
        return CSP.replace("frame-ancestors 'none'", "frame-ancestors 'self'") if self.study.framed else CSP

    def _json(self, status: int, data: Any) -> None:
        if self.study.cut > 0 and (status < 300 or status == 409):
            self.study.cut -= 1
            body = json.dumps(data).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: len(body) // 2])
            self.wfile.flush()
            time.sleep(0.1)  # the head comes apart from the end
            self.close_connection = True
            self.connection.close()
            return
        self._send(status, json.dumps(data).encode(), "application/json")

    def _walled(self) -> bool:
        if self.study.wall <= 0:
            return False
        self.study.wall -= 1
        self._send(200, b"<!doctype html><title>Welcome to the hotel</title>", TYPES["html"])
        return True

    def _allowed(self) -> bool:
        bearer = self.headers.get("Authorization", "")
        self.study.bearers.add((bearer, self.path))
        if bearer.removeprefix("Bearer ") in self.study.forgot:
            self._json(401, {"error": {"kind": "bad-token", "message": "no session"}})
            return False
        if bearer != f"Bearer {self.study.token}" and re.fullmatch(r"Bearer token-\d+", bearer):
            self._json(410, {"error": {"kind": "replaced", "message": "another tab"}})
            return False
        if bearer != f"Bearer {self.study.token}":
            self._json(401, {"error": {"kind": "no-session", "message": "no session"}})
            return False
        return True

    def do_GET(self) -> None:
        study = self.study
        path = self.path.split("?")[0]
        study.requests.append((time.time(), "GET", path))
        if path == "/":
            self._send(303, b"", "text/plain", Location="/study#k=KEY")
        elif path in ("/study", "/favicon.ico"):
            self._send(200, sent("index.html"), TYPES["html"])
        elif path == "/frame":
            frame = (
                '<!doctype html><html lang="en"><title>frame</title><iframe title="study" src="/study#k=KEY"></iframe>'
            )
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(frame)))
            self.end_headers()
            self.wfile.write(frame.encode())
        elif path.startswith("/static/"):
            name = path.removeprefix("/static/")
            if study.no_script > 0 and name in study.scripts:
                study.no_script -= 1
                self.close_connection = True
                self.connection.close()
                return
            self._send(200, sent(name), TYPES[name.rsplit(".")[-1]])
        elif path.startswith("/api/") and self._walled():
            pass
        elif path == "/api/state":
            found = re.search(r"lang=(\w+)", self.path)
            if found:
                study.language = found[1]
            time.sleep(study.state_delay)
            if self._allowed():
                self._json(200, study.state())
        elif path.startswith("/i/") and self._allowed():
            time.sleep(study.picture_delay)
            _, _, public, slot = path.split("/")
            seed = int.from_bytes(f"{public}{slot}".encode()) % 2**32
            kept = io.BytesIO()
            Image.fromarray(noise(seed, *study.size)).save(kept, "PNG")
            self._send(200, kept.getvalue(), "image/png", Cache_Control="private, max-age=86400, immutable")

    def do_POST(self) -> None:
        study = self.study
        study.requests.append((time.time(), "POST", self.path))
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        if self._walled():
            return
        if self.path == "/api/session":
            study.opened += 1
            study.token = f"token-{study.opened}"
            self._json(200, {"token": study.token, "language": study.language})
            return
        if not self._allowed():
            return
        if self.path == "/api/answers":
            if study.refuse:
                self._json(study.refuse.pop(0), {"error": {"kind": "paused", "message": "wait"}})
                return
            status, data = study.take_answers(body["answers"])
            if study.lose_acks > 0 and status in (200, 201):
                study.lose_acks -= 1
                self.close_connection = True
                self.connection.close()
                return
            self._json(status, data)
        elif self.path == "/api/step":
            self._json(*study.take_step(body))
        elif self.path == "/api/finish":
            said = study.finish()
            if study.lose_ends > 0:
                study.lose_ends -= 1
                self.close_connection = True
                self.connection.close()
                return
            self._json(*said)
        elif self.path == "/api/telemetry":
            study.telemetry.append(body)
            self._json(201, {})


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_: Any) -> None:  # a browser that goes away is no fault
        pass


@contextmanager
def serving(study: FakeStudy) -> Iterator[str]:
    """Serve a study on a free port; gives its origin."""
    handler = type("Handler", (_Handler,), {"study": study})
    server = _Server(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

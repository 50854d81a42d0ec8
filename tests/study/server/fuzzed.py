"""Requests that nobody's page would send: bent from good ones by a seeded generator."""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote

__all__ = ["Spoken", "bent", "desk_requests", "door_requests", "good_requests"]

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "CONNECT", "get", "PROPFIND", "X")
TEXTS = (
    "", " ", "a" * 5000, "null", "undefined", "NaN", "-1", "0", "1e999", "true", "left", "right", "tie", "../..", "..\\..",
    "%00", "\x00", "\ud800", "\U0001f600", "中文", "\u202e", "\n", "\r\n", "'; DROP TABLE answer;--",
    "<script>alert(1)</script>",
    "{{7*7}}", "${jndi:ldap://x}", "%s%s%n", "p-0001", "p-0002", "admin", "__proto__", "*", "=cmd|' /C calc'!A0", "\ufeff",
)  # fmt: skip
NUMBERS = (
    0, -1, 1, 2**31, 2**53, 2**63, 2**64, 10**30, -(10**30), 1.5, -0.0, 1e308, 1e-320, float("inf"), float("-inf"),
    float("nan"),
)  # fmt: skip
HEADERS = (
    ("content-type", "text/plain"), ("content-type", "application/json; charset=utf-16"), ("content-type", ""),
    ("content-type", "multipart/form-data; boundary=x"), ("content-type", "application/x-www-form-urlencoded"),
    ("authorization", "Bearer "), ("authorization", "Bearer " + "a" * 43), ("authorization", "Basic YTpi"),
    ("authorization", "\xff\xfe"), ("cookie", "a=b; =; ;;"), ("cookie", "\xff=\xfe"), ("cookie", "x" * 4000),
    ("accept-language", "de;q=,,;;=x"), ("accept-language", "\xe9"), ("accept", "*/*"), ("if-none-match", '"*"'),
    ("if-none-match", "*"), ("range", "bytes=0-0,-1"), ("content-encoding", "gzip"), ("transfer-encoding", "gzip"),
    ("content-length", "5"), ("content-length", "-5"), ("x-forwarded-for", "8.8.8.8"), ("x-forwarded-host", "evil.example"),
    ("x-forwarded-proto", "https"), ("forwarded", "host=evil.example"), ("x-http-method-override", "DELETE"),
    ("x-original-url", "/admin"), ("host", "evil.example"), ("origin", "null"), ("origin", "https://evil.example"),
    ("sec-fetch-site", "cross-site"), ("expect", "100-continue"), ("upgrade", "websocket"), ("te", "trailers"),
)  # fmt: skip
PATHS = (
    "/", "//", "/api", "/api/", "/api/state/", "/API/STATE", "/api/../study.db", "/static/../server/app.py", "/static/",
    "/static/%2e%2e%2fserver%2fapp.py", "/static/..\\..\\x", "/static//etc/passwd", "/i/", "/i/a/b/c", "/i/a", "/i/%00/a",
    "/study.db", "/study.key", "/plan.csv", "/study/", "/openapi.json", "/docs", "/redoc", "/healthz", "/admin", "/admin/",
    "/admin/export", "/admin/api/people", "/favicon.ico", "/.git/config", "/" + "a" * 3000, "/" + "a/" * 500, "/\u4e2d",
    "*", "http://evil.example/", "/api/state;x=1", "/api/state%20", "/enter", "/api/session", "/api/answers/1",
)  # fmt: skip


@dataclass
class Spoken:
    """One request."""

    method: str = "GET"
    path: str = "/"
    query: bytes = b""
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes | list[bytes] | None = None


def good_requests(state: dict[str, Any], token: str, cookie: str) -> list[Spoken]:
    """Requests that a participant's page could send in a state."""
    held = [("authorization", f"Bearer {token}"), ("origin", "http://localhost:8000"), ("cookie", cookie)]
    trials = list(state.get("trials", [])) + list((state.get("training") or {}).get("questions", []))
    asked: list[tuple[str, Any]] = [("/api/telemetry", {"kind": "focus", "body": {"lost": 1}}), ("/api/finish", {})]
    for name, body in _STEPS.items():
        asked.append(("/api/step", {"step": name, "body": body}))
    for trial in trials[:4]:
        value = "left" if trial["scale"] is None else "2.5"
        told = {"trial": trial["id"], "revision": 0, "value": value, "seconds": 1.2, "body": {"input": "key"}}
        rows = [{**told, "criterion": one["id"]} for one in trial["criteria"]]
        asked.append(("/api/answers", {"answers": rows}))
    sent = [_posted(path, body, held) for path, body in asked]
    sent += [_posted("/api/session", {"key": "k" * 43}, held), _posted("/api/session", {}, held)]
    got = ["/api/state", "/", "/study", "/healthz", "/openapi.json", "/static/study.css"]
    got += [pane["src"] for trial in trials for pane in trial["panes"]]
    sent += [Spoken("GET", path, headers=list(held)) for path in got]
    sent.append(Spoken("GET", "/", b"PROLIFIC_PID=a&SESSION_ID=b&lang=de&stage=within", list(held)))
    form = [*held, ("content-type", "application/x-www-form-urlencoded")]
    sent.append(Spoken("POST", "/enter", b"", form, b"code=ABCD-EFGH&lang=en"))
    return sent


def door_requests(rng: random.Random) -> list[Spoken]:
    """Requests by which people come in, each with ids of its own; some say nonsense."""
    ids = [rng.choice((f"{rng.getrandbits(96):024x}", rng.choice(TEXTS), "{{%PROLIFIC_PID%}}")) for _ in range(3)]
    plain = [quote(one, safe="", errors="replace") for one in ids]
    names = rng.choice(
        (
            ("PROLIFIC_PID", "SESSION_ID", "STUDY_ID"), ("workerId", "assignmentId", "hitId"),
            ("participantId", "assignmentId", "projectId"), ("survey_code", "a", "b"),
        )
    )  # fmt: skip
    query = "&".join(f"{name}={value}" for name, value in zip(names, plain, strict=True))
    turk = rng.choice(("https%3A%2F%2Fwww.mturk.com", "https%3A%2F%2Fevil.example", "javascript%3Ax", plain[0]))
    asked = [
        Spoken("GET", "/", query.encode()), Spoken("GET", "/", f"{query}&turkSubmitTo={turk}".encode()),
        Spoken("GET", "/", rng.randbytes(rng.choice((1, 30, 300)))), Spoken("GET", "/", b"new=1"),
        Spoken("GET", "/", f"{query}&lang={plain[1]}&stage={plain[2]}".encode()),
    ]  # fmt: skip
    form = [("content-type", "application/x-www-form-urlencoded"), ("origin", "http://localhost:8000")]
    asked.append(Spoken("POST", "/enter", b"", form, f"code={plain[0]}&lang={plain[1]}".encode()))
    asked.append(Spoken("POST", "/enter", b"", form, rng.randbytes(rng.choice((1, 30, 300)))))
    return asked


def desk_requests(cookie: str, token: str) -> list[Spoken]:
    """Requests that somebody at the desk could send, by a page or by a program."""
    page = [("cookie", cookie), ("origin", "http://localhost:8000")]
    program = [("authorization", f"Bearer {token}"), ("content-type", "application/json")]
    form = [*page, ("content-type", "application/x-www-form-urlencoded")]
    names = ("people", "people/p-0001", "sheets", "design", "answers", "scores", "codes", "settings", "log")
    asked = [Spoken("GET", "/admin", headers=page), Spoken("GET", "/admin/login", b"next=/admin/people", page)]
    asked += [Spoken("GET", f"/admin/{name}", b"state=done&stage=within&name=p&watch=1", list(page)) for name in names]
    acts = (
        "exclude-person",
        "restore-person",
        "screen-out",
        "technical",
        "exclude",
        "restore",
        "accept",
        "release",
        "replace",
        "unblind",
        "blind",
    )
    for act in acts:
        target = "p-0002" if "person" in act or act in ("screen-out", "technical") else "2"
        asked.append(Spoken("GET", f"/admin/ask/{act}/{target}", headers=list(page)))
        asked.append(Spoken("POST", f"/admin/do/{act}/{target}", b"", list(form), b"why=a+reason&sure=1"))
    fields = {
        "codes/lab": b"n=5&label=room", "settings/add": b"name=x&password=a-long-password&role=viewer",
        "settings/remove": b"name=x", "settings/token": b"label=x&days=3", "settings/token/end": b"id=9",
    }  # fmt: skip
    asked += [Spoken("POST", f"/admin/{path}", b"", list(form), body) for path, body in fields.items()]
    export = b"Participant id,Submission id,Status,Completion code\nA,s1,APPROVED,X\n"
    asked.append(Spoken("POST", "/admin/codes/reconcile", b"", [*page, ("content-type", "text/csv")], export))
    asked += [Spoken("GET", f"/admin/data{path}", b"", list(page)) for path in ("", "/export.csv.zip", "/export/votes")]
    asked.append(Spoken("POST", "/admin/data/find", b"", list(form), b"id=somebody&name=p-0001"))
    asked += [
        Spoken("GET", f"/api/admin/export/{path}", b"anonymise=1", list(program)) for path in ("votes/csv", "json.zip")
    ]
    for path in ("status", "live", "participants", "participants/p-0001", "sheets", "log"):
        asked.append(Spoken("GET", f"/api/admin/{path}", b"most=5", list(program)))
    why = json.dumps({"why": "a reason"}).encode()
    for path in ("participants/p-0002/exclude", "participants/p-0002/restore", "sheets/2/exclude", "sheets/2/restore",
                 "sheets/2/accept", "sheets/2/release", "sheets/2/replace", "unblind", "blind", "resume"):  # fmt: skip
        asked.append(Spoken("POST", f"/api/admin/{path}", b"", list(program), why))
    return asked


_STEPS: dict[str, Any] = {
    "consent": {"version": "0" * 16}, "device": {"width": 1440, "height": 900, "ratio": 1}, "instructions": {},
    "tutorial": {}, "training": {"answers": [{"trial": "x" * 16, "criterion": "content", "value": "left", "seconds": 1.0}]},
    "begin": {}, "break": {}, "questionnaire": {"answers": {"gender": "female"}, "remark": "a remark"},
}  # fmt: skip


def _posted(path: str, body: Any, held: Iterable[tuple[str, str]]) -> Spoken:
    return Spoken(
        "POST", path, b"", [*held, ("content-type", "application/json")], json.dumps(_with_ids(path, body)).encode()
    )


def _with_ids(path: str, body: Any) -> Any:
    """The body with ids that nobody used yet, where its kind has any."""
    if path == "/api/session":
        return body
    if path == "/api/answers":
        return {"answers": [{"id": str(uuid.uuid4()), **row} for row in body["answers"]]}
    return {"id": str(uuid.uuid4()), **body}


def bent(rng: random.Random, good: Spoken) -> Spoken:
    """Return the request with one to four things wrong, sometimes none."""
    spoken = replace(good, headers=list(good.headers))
    for _ in range(rng.choice((0, 1, 1, 1, 2, 2, 3, 4))):
        rng.choice(_BENDS)(rng, spoken)
    return spoken


def _bend_body(rng: random.Random, spoken: Spoken) -> None:
    if not isinstance(spoken.body, bytes):
        return
    try:
        value = json.loads(spoken.body)
    except (ValueError, RecursionError):
        return
    told = _bent_value(rng, value, rng.randrange(1, 9))
    escaped = json.dumps(told, ensure_ascii=rng.random() < 0.7)
    spoken.body = escaped.encode("utf-8", "surrogatepass")


def _bent_value(rng: random.Random, value: Any, luck: int) -> Any:
    if isinstance(value, dict) and value and luck:
        made = dict(value)
        key = rng.choice(list(made))
        change = rng.randrange(6)
        if change == 0:
            del made[key]
        elif change == 1:
            made[rng.choice(TEXTS)] = made[key]
        else:
            made[key] = _bent_value(rng, made[key], luck - 1)
        return made
    if isinstance(value, list) and value and luck:
        made_ = list(value)
        place = rng.randrange(len(made_))
        change = rng.randrange(5)
        if change == 0:
            return made_ * rng.choice((2, 30))
        if change == 1:
            return []
        made_[place] = _bent_value(rng, made_[place], luck - 1)
        return made_
    return _odd(rng)


def _odd(rng: random.Random) -> Any:
    kind = rng.randrange(9)
    if kind < 3:
        return rng.choice(TEXTS)
    if kind < 5:
        return rng.choice(NUMBERS)
    if kind == 5:
        return rng.choice((None, True, False, [], {}, [[]], [None], {"": {}}))
    if kind == 6:
        return {rng.choice(TEXTS): rng.choice(NUMBERS) for _ in range(rng.choice((1, 5, 200)))}
    if kind == 7:
        return [rng.choice(TEXTS)] * rng.choice((1, 100))
    return "".join(chr(rng.choice((rng.randrange(32, 127), rng.randrange(0xD7FF), 0xD800))) for _ in range(20))


def _bend_bytes(rng: random.Random, spoken: Spoken) -> None:
    body = spoken.body if isinstance(spoken.body, bytes) else b""
    kind = rng.randrange(9)
    if kind == 0:
        spoken.body = body[: rng.randrange(len(body) + 1)]
    elif kind == 1 and body:
        place = rng.randrange(len(body))
        spoken.body = body[:place] + bytes([rng.randrange(256)]) + body[place + 1 :]
    elif kind == 2:
        spoken.body = body * rng.choice((2, 400))
    elif kind == 3:
        spoken.body = rng.randbytes(rng.choice((1, 50, 70_000)))
    elif kind == 4:
        spoken.body = rng.choice((b"[", b"{", b'{"a":')) * rng.choice((10, 20_000))
    elif kind == 5:
        spoken.body = body.decode("utf-8", "replace").encode("utf-16")
    elif kind == 6:
        spoken.body = [body[:5], body[5:], b""]
    elif kind == 7:
        spoken.body = b"1" * rng.choice((10, 5000)) + b"e" + b"9" * rng.choice((1, 400))
    else:
        spoken.body = None


def _bend_header(rng: random.Random, spoken: Spoken) -> None:
    kind = rng.randrange(4)
    if kind == 0 and spoken.headers:
        spoken.headers.pop(rng.randrange(len(spoken.headers)))
    elif kind == 1 and spoken.headers:
        place = rng.randrange(len(spoken.headers))
        name = spoken.headers[place][0]
        spoken.headers[place] = (name, rng.choice(TEXTS).encode("utf-8", "ignore").decode("latin-1"))
    else:
        spoken.headers.append(rng.choice(HEADERS))


def _bend_path(rng: random.Random, spoken: Spoken) -> None:
    kind = rng.randrange(5)
    parts = spoken.path.split("/")
    if kind == 0:
        spoken.path = rng.choice(PATHS)
    elif kind == 1:
        parts[rng.randrange(len(parts))] = rng.choice(TEXTS)
        spoken.path = "/".join(parts)
    elif kind == 2:
        spoken.path += rng.choice(("/", "//", "/..", "/.", "%00", "?", ";", ".json", "/" + rng.choice(TEXTS)))
    elif kind == 3:
        spoken.path = "/" + "/".join(parts[1:][::-1])
    else:
        spoken.path = spoken.path[:-1] + chr(rng.randrange(1, 0x2FF))
    spoken.path = spoken.path.encode("utf-8", "replace").decode()  # as servers decode it


def _bend_query(rng: random.Random, spoken: Spoken) -> None:
    pairs = [
        f"{rng.choice(('lang', 'stage', 'new', 'k', 'PROLIFIC_PID', 'SESSION_ID', 'a[]', ''))}={rng.choice(TEXTS)}"
        for _ in range(rng.choice((1, 2, 40)))
    ]
    spoken.query = "&".join(pairs).encode("utf-8", "replace").replace(b" ", rng.choice((b"+", b"%20", b"%ZZ", b"%ff")))


def _bend_method(rng: random.Random, spoken: Spoken) -> None:
    spoken.method = rng.choice(METHODS)


_BENDS = (
    _bend_body,
    _bend_body,
    _bend_body,
    _bend_bytes,
    _bend_header,
    _bend_header,
    _bend_path,
    _bend_query,
    _bend_method,
)

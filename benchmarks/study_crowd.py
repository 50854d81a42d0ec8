"""People who answer a study over HTTP while things break, the journal of what they sent, and its comparison with the store.

Each person is a `Walker`: every answer has an id of its own and is sent again under it until the server says what became of
it. The journal holds what was sent and what was acknowledged, beside the walkers, where the bytes leave.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import random
import socket
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from paragone.errors import Lost, ParagoneError
from paragone.study.client import Walker
from paragone.study.frozen import Frozen
from paragone.study.pictures import public_id
from paragone.study.store import Store, versions
from paragone.study.store.keys import read_keys
from paragone.study.store.tables import answer, lease

__all__ = ["Crowd", "Journal", "Rude", "Verdict", "compared", "random_answer"]

_SECONDS = 15.0  # for one request
_SAME_ORIGIN = {"Sec-Fetch-Site": "same-origin", "Accept-Language": "en"}


@dataclass
class Journal:
    """What clients sent, and what they were told; threads share it."""

    sent: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Client id -> the answer as it was sent first."""
    acknowledged: set[str] = field(default_factory=set)
    conflicts: list[str] = field(default_factory=list)
    """Ids of answers that the server refused for others."""
    statuses: dict[tuple[int, str], int] = field(default_factory=dict)
    """(HTTP status, method and path) -> how often."""
    aborted: int = 0
    """Requests that were cut off by us."""
    again: int = 0
    """Answers that were known already when they came again."""
    seconds: list[float] = field(default_factory=list)
    """Of each request that was answered."""
    changed: list[str] = field(default_factory=list)
    """Ids that were sent with two contents; a fault of the client."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def sends(self, answers: Sequence[dict[str, Any]]) -> None:
        """Note answers before they leave."""
        with self._lock:
            for one in answers:
                if self.sent.setdefault(one["id"], one) != one:
                    self.changed.append(one["id"])

    def hears(self, results: Sequence[dict[str, str]]) -> None:
        """Note what the server said of them."""
        with self._lock:
            for one in results:
                if one["status"] in ("stored", "known"):
                    self.acknowledged.add(one["id"])
                    self.again += one["status"] == "known"
                else:
                    self.conflicts.append(one["id"])

    def answered(self, status: int, what: str, seconds: float) -> None:
        """Note an answer of any kind."""
        with self._lock:
            self.statuses[status, what] = self.statuses.get((status, what), 0) + 1
            self.seconds.append(seconds)

    def n(self, status: int) -> int:
        """How often a status came."""
        with self._lock:
            return sum(n for (each, _), n in self.statuses.items() if each == status)

    @property
    def refusals(self) -> dict[str, int]:
        """What was not simply done, and how often."""
        with self._lock:
            return {f"{status} {what}": n for (status, what), n in sorted(self.statuses.items()) if status >= 400}


class _Answer:
    """What `Walker` needs of an answer."""

    def __init__(self, status: int, headers: dict[str, str], content: bytes) -> None:
        self.status_code, self.headers, self.content = status, headers, content

    @property
    def text(self) -> str:
        return self.content.decode("utf-8", "replace")

    def json(self) -> Any:
        return json.loads(self.content)


class Rude:
    """A client that keeps its connection and its cookies, and hangs up in the middle of some requests.

    Args:
        ports: of this machine; a new connection goes to one of them.
        journal: what is sent and heard.
        rng: when to hang up.
        rudeness: share of POST requests to the interface that are cut off: in the middle, or before the answer is read.
    """

    def __init__(self, ports: Sequence[int], journal: Journal, rng: random.Random, rudeness: float = 0.0) -> None:
        self._ports, self._journal, self._rng, self._rudeness = ports, journal, rng, rudeness
        self._cookies: dict[str, str] = {}
        self._socket: socket.socket | None = None

    def request(self, method: str, url: str, **options: Any) -> _Answer:
        """Send a request.

        Raises:
            OSError: it was cut off, by us or by the server.
        """
        body = b"" if options.get("json") is None else json.dumps(options["json"]).encode()
        if url == "/api/answers":
            self._journal.sends(options["json"]["answers"])
        rude = method == "POST" and url.startswith("/api/") and self._rng.random() < self._rudeness
        began = time.perf_counter()
        try:
            answer = self._exchange(self._bytes(method, url, options.get("headers", {}), body), rude)
        except http.client.HTTPException as error:
            raise ConnectionError(type(error).__name__) from error
        finally:
            if rude:
                self._journal.aborted += 1
        self._journal.answered(answer.status_code, f"{method} {url.partition('?')[0]}", time.perf_counter() - began)
        if url == "/api/answers" and answer.status_code in (200, 201, 409) and "results" in answer.json():
            self._journal.hears(answer.json()["results"])
        return answer

    def close(self) -> None:
        """Hang up."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _bytes(self, method: str, url: str, headers: dict[str, str], body: bytes) -> bytes:
        given = {"Host": "127.0.0.1", **_SAME_ORIGIN, **headers}
        if self._cookies:
            given["Cookie"] = "; ".join(f"{name}={value}" for name, value in self._cookies.items())
        if body:
            given |= {"Content-Type": "application/json", "Content-Length": str(len(body))}
        lines = "".join(f"{name}: {value}\r\n" for name, value in given.items())
        return f"{method} {url} HTTP/1.1\r\n{lines}\r\n".encode() + body

    def _exchange(self, sent: bytes, rude: bool) -> _Answer:
        try:
            if self._socket is None:
                self._socket = socket.create_connection(("127.0.0.1", self._rng.choice(self._ports)), timeout=_SECONDS)
            if rude:
                self._cut_off(self._socket, sent)
            self._socket.sendall(sent)
            told = http.client.HTTPResponse(self._socket)
            told.begin()
            content = told.read()
        except BaseException:
            self.close()
            raise
        for line in told.headers.get_all("set-cookie") or ():
            name, _, value = line.partition(";")[0].partition("=")
            self._cookies[name.strip()] = value.strip()
        if told.will_close:
            self.close()
        return _Answer(told.status, {name.lower(): value for name, value in told.getheaders()}, content)

    def _cut_off(self, to: socket.socket, sent: bytes) -> None:
        if self._rng.random() < 0.4:
            to.sendall(sent[: self._rng.randrange(1, len(sent))])
        else:
            to.sendall(sent)
            time.sleep(self._rng.choice((0.0, 0.003, 0.03)))
        raise ConnectionAbortedError("cut off")


def random_answer(rng: random.Random, pause: float = 0.0) -> Callable[[dict[str, Any], str], tuple[str, float]]:
    """Return a person who answers at random, after a pause."""

    def give(trial: dict[str, Any], _criterion: str) -> tuple[str, float]:
        time.sleep(pause * rng.random())
        values = ["left", "right"] if trial["scale"] is None else [f"{rng.randrange(51) / 10:g}"]
        return rng.choice(values), round(rng.uniform(0.5, 9.0), 3)

    return give


class Crowd:
    """People in threads, one after another in each, who come by a panel's address and come again by it when they are lost.

    Args:
        ports: of the servers.
        n: threads.
        seed: of everything that is random.
        rudeness: as in `Rude`.
        pause: most seconds that a person thinks.
        each: how many people come in each thread; None: one after another until `finish`.
        until: phase in which a person stops.
        journal: of others, to go on in.
    """

    def __init__(
        self,
        ports: Sequence[int],
        n: int = 30,
        *,
        seed: int = 1,
        rudeness: float = 0.25,
        pause: float = 0.02,
        each: int | None = None,
        until: str = "done",
        journal: Journal | None = None,
    ) -> None:
        self.journal = journal or Journal()
        self.finished: list[str] = []
        """Who got a code."""
        self.lost: list[str] = []
        """What people said who could not go on."""
        self.full = 0
        """People for whom nothing was left."""
        self.again = 0
        """How often somebody came again by the panel's address."""
        self._ports, self._rudeness, self._pause, self._each, self._until = ports, rudeness, pause, each, until
        self._over = threading.Event()
        self._threads = [threading.Thread(target=self._live, args=(seed, k), daemon=True) for k in range(n)]

    def __enter__(self) -> Crowd:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.finish()

    def finish(self, seconds: float = 300.0) -> None:
        """Let everybody come to the end of their sheet, and nobody come after them, unless it was said how many do."""
        if self._each is None:
            self._over.set()
        until = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.1, until - time.monotonic()))
        late = sum(thread.is_alive() for thread in self._threads)
        if late:
            raise RuntimeError(f"{late} people did not come to the end within {seconds:.0f} s")

    @property
    def busy(self) -> bool:
        """Whether anybody is still there."""
        return any(thread.is_alive() for thread in self._threads)

    def _live(self, seed: int, k: int) -> None:
        rng = random.Random(f"{seed} {k}")
        number = 0
        while not self._over.is_set() and (self._each is None or number < self._each):
            name = f"panel-{seed}-{k}-{number}"
            try:
                if not self._whole(name, rng):
                    return
            except ParagoneError as error:
                self.lost.append(f"{name}: {error}")
            number += 1

    def _whole(self, name: str, rng: random.Random) -> bool:
        """One person from the door to the code; False: nothing is left to do."""
        http_ = Rude(self._ports, self.journal, rng, self._rudeness)
        walker = Walker(
            http_, random_answer(rng, self._pause), tries=100_000, rest=lambda s: time.sleep(min(s, 0.3) * rng.random())
        )
        query = f"?PROLIFIC_PID={name}&STUDY_ID=study&SESSION_ID=s-{name}"
        with contextlib.closing(http_):
            for turn in range(20):
                try:
                    self.again += turn > 0
                    state = walker.enter(query)
                    while state["phase"] not in (self._until, "done", "full", "closed"):
                        state = walker.go(state)
                except Lost:
                    if turn == 19:
                        raise
                    walker.token = ""
                    continue
                if state["phase"] == "full":
                    self.full += 1
                    return False
                self.finished.append(name)
                return True
        raise AssertionError("unreachable")


@dataclass
class Verdict:
    """The journal against the store."""

    sent: int
    acknowledged: int
    stored: int
    lost: list[str]
    """Acknowledged, and not in the store."""
    doubled: list[str]
    """More than one answer to a criterion of a trial, or one that nobody sent."""
    altered: list[str]
    """In the store with another content than was sent."""
    unfinished: list[str]
    """Complete leases without every answer."""
    complete: int
    """Complete leases."""
    conflicts: int

    @property
    def good(self) -> bool:
        """Nothing was lost, doubled or altered, and nothing refused that should not be."""
        return not (self.lost or self.doubled or self.altered or self.unfinished or self.conflicts)

    def __str__(self) -> str:
        return (
            f"{self.sent} answers sent, {self.acknowledged} acknowledged, {self.stored} stored; lost {len(self.lost)}, "
            f"doubled {len(self.doubled)}, altered {len(self.altered)}, conflicts {self.conflicts}; {self.complete} "
            f"sheets complete, of them short {len(self.unfinished)}"
        )


def compared(journal: Journal, store_url: str, folder: Path, *, read_only: bool = False) -> Verdict:
    """Compare every answer that was sent with every answer that is stored, value by value.

    Args:
        journal: the clients'.
        store_url: of the store; no server has it open, or `read_only`.
        folder: of the study, with its key.
        read_only: leave the store to the server that has it.
    """
    key = read_keys(folder / "study.key").derived("public ids")
    with Store.open(store_url, read_only=read_only) as store:
        rows = store.read_now(lambda c: [row._asdict() for row in c.execute(sa.select(answer))])
        leases = {row.id: row for row in store.read_now(lambda c: list(c.execute(sa.select(lease))))}
        kept = store.read_now(lambda c: [versions.get(c, number) for number in versions.numbers(c)])
    frozen = {one.id: Frozen.of_parts(*one[2:5], folder=folder) for one in kept if one is not None}
    by_id = {row["client_id"]: row for row in rows}
    places = [(row["lease_id"], row["trial"], row["criterion"], row["revision"]) for row in rows]
    twice = {place for place in places if places.count(place) > 1} if len(set(places)) < len(places) else set()
    invented = [name for name in by_id if name not in journal.sent]
    altered = [
        name for name, row in by_id.items() if name in journal.sent and not _same(journal.sent[name], row, leases, key)
    ]
    short = []
    complete = [one for one in leases.values() if one.state in ("complete", "accepted", "excluded")]
    for one in complete:
        version = frozen[one.version_id]
        wanted = {
            (trial.trial, name)
            for sheet in version.sheets(one.stage, one.owner)
            for trial in sheet.trials
            for name in version.criteria
        }
        if wanted != {(row["trial"], row["criterion"]) for row in rows if row["lease_id"] == one.id}:
            short.append(f"lease {one.id}")
    return Verdict(
        sent=len(journal.sent),
        acknowledged=len(journal.acknowledged),
        stored=len(rows),
        lost=sorted(journal.acknowledged - set(by_id)),
        doubled=[str(place) for place in twice] + invented + journal.changed,
        altered=altered,
        unfinished=short,
        complete=len(complete),
        conflicts=len(journal.conflicts),
    )


def _same(sent: dict[str, Any], row: dict[str, Any], leases: dict[int, Any], key: bytes) -> bool:
    return (
        sent["trial"] == public_id(key, row["lease_id"], row["trial"])
        and all(sent[name] == row[name] for name in ("criterion", "revision", "value", "seconds"))
        and sent["body"] == json.loads(row["body"])
        and leases[row["lease_id"]].participant_id == row["participant_id"]
    )

"""Speed of the study server under load, beside Potato in the same run.

    python benchmarks/bench_study.py                                         # ours alone
    python benchmarks/bench_study.py --potato path/to/a/venv/bin/python      # an interpreter that has potato-annotation
    python benchmarks/bench_study.py --only sqlite,claims --seconds 5

Everything is on this machine over loopback: the server as a process of its own, the load from another. An answer is one
criterion of one trial; the bars are for one answer a request, as the page sends them when it asks one criterion at a time.
Requests with all three criteria of a trial stand beside them, and runs in which the state is asked for after each trial, as
the page does. The bar for claims is for handing out a sheet in the store; the whole step at consent, in which the sheet is
laid out and all that the page needs is sent, stands beside. A server's CPU time is that of its processes, that of
PostgreSQL's added; the desk's live scores, which a process of low priority computes beside them, are told apart.
Participants are put into the store before the server starts; each stays below the limit of ten answers a second that the
server holds sessions to, because there are enough of them. A request that takes more than two seconds counts as a time-out.
Absolute numbers depend on what else the machine does: the load average stands beside them.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import hashlib
import itertools
import json
import math
import os
import platform
import re
import secrets
import signal
import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from study_load import Heard, Outcome, Seat, Wire, answering, hammer, request
from study_rig import Database, Server, cpu_seconds, free_port, load_average, postgresql, serving, study_folder, tree

from paragone.study.frozen import Frozen, freeze
from paragone.study.pictures import public_id
from paragone.study.server.app import deal
from paragone.study.store import Store, claims, events, people
from paragone.study.store.keys import read_keys
from paragone.study.store.tables import answer, lease

CRITERIA = ("content", "style", "overall")
SHEETS, TRIALS = 1600, 100
SEATS = 1000  # participants who answer: at 3,000 requests a second each stays far below its limit
CLAIMS, AT_ONCE = 600, 48
PARTS = ("sqlite", "postgresql", "claims", "images", "potato")
BEFORE = ("consent", "device", "instructions", "tutorial", "training", "trials-begun")
# Row, figure, at most or at least, bound.
BARS = [
    ("sqlite 64", "answers/s", "least", 1000),
    ("sqlite 64", "p99 ms", "most", 150),
    ("sqlite 64", "CPU us/answer", "most", 700),
    ("sqlite 256", "p99 ms", "most", 500),
    ("sqlite 256", "time-outs", "most", 0),
    ("postgresql 64", "answers/s", "least", 1000),
    ("postgresql 64", "p99 ms", "most", 300),
    ("postgresql 64", "CPU us/answer", "most", 1500),
    ("claims sqlite, the store alone", "p99 ms", "most", 300),
    ("claims sqlite", "doubles", "most", 0),
    ("claims postgresql, the store alone", "p99 ms", "most", 300),
    ("claims postgresql", "doubles", "most", 0),
]
TIMES_POTATO = 4.0
Row = dict[str, Any]


class Meter:
    """CPU time between two moments: of those that serve, of the database, of the live scores for the desk.

    Args:
        server: ids of the server's processes; None: nothing is measured.
        database: those of the database.
    """

    def __init__(
        self, server: Callable[[], list[int]] | None = None, database: Callable[[], list[int]] | None = None
    ) -> None:
        self._server, self._database = server, database
        self._at: tuple[float, float, float] = (0.0, 0.0, 0.0)
        self.used: tuple[float, float, float] = (0.0, 0.0, 0.0)
        self.load = load_average().split()[0]

    def begin(self) -> None:
        """From here on."""
        self._at = self._now()

    def end(self) -> None:
        """Up to here."""
        now = self._now()
        self.used = (now[0] - self._at[0], now[1] - self._at[1], now[2] - self._at[2])
        self.load = load_average().split()[0]

    def _now(self) -> tuple[float, float, float]:
        mine = self._server() if self._server else []
        answering_ = cpu_seconds(serving(mine))
        database = cpu_seconds(self._database(), ended=True) if self._database else 0.0
        return answering_, database, cpu_seconds(mine, ended=True) - answering_


def told(name: str, outcome: Outcome, meter: Meter, **more: Any) -> Row:
    """A row of the table; it is printed too."""
    n, answers = max(1, len(outcome.times)), max(1, outcome.n_stored)
    row: Row = {
        "row": name,
        "requests/s": round(outcome.per_second),
        "answers/s": round(outcome.n_stored / outcome.seconds),
        "p50 ms": round(outcome.quantile(0.5), 1),
        "p99 ms": round(outcome.quantile(0.99), 1),
        "CPU us/request": round(1e6 * sum(meter.used[:2]) / n),
        "CPU us/answer": round(1e6 * sum(meter.used[:2]) / answers) if outcome.n_stored else None,
        "of it database": round(1e6 * meter.used[1] / n) if meter.used[1] else None,
        "live scores CPU s/s": round(meter.used[2] / outcome.seconds, 2),
        "errors": sum(outcome.wrong.values()),
        "wrong": outcome.wrong,
        "time-outs": outcome.timed_out,
        "load": float(meter.load),
        **more,
    }
    shown = ((key, value) for key, value in row.items() if value is not None and (key != "wrong" or value))
    print("  ".join(str(value) if key == "row" else f"{key} {value}" for key, value in shown), flush=True)
    return row


def seated(url: str, frozen: Frozen, key: bytes, n: int, *, begun: bool = True) -> list[Seat]:
    """Put participants into a store that no server has open: at their first trial, or before consent."""

    def job(c: sa.Connection) -> list[Seat]:
        now = time.time()
        deal(c, frozen, now)
        made = []
        for _ in range(n):
            person = people.arrive(c, "open", None, None, "en", now)
            token, entry = secrets.token_urlsafe(32), secrets.token_hex(32)
            people.open_visit(c, person.id, entry, secrets.token_hex(32), None, now)
            people.take_token(c, entry, hashlib.sha256(token.encode()).hexdigest(), now)
            if not begun:
                made.append(Seat(token))
                continue
            held = claims.claim(c, person.id, list(frozen.stages), 10**6, now)
            assert held is not None, "the plan has too few sheets"
            (sheet,) = frozen.sheets(held.stage, held.owner)
            for kind in BEFORE:
                events.append(c, kind, now, participant_id=person.id, lease_id=held.id, session=sheet.session)
            made.append(Seat(token, [public_id(key, held.id, trial.trial) for trial in sheet.trials]))
        return made

    with Store.open(url) as store:
        return store.write_now(job)


def answers_of(url: str, folder: Path, seconds: float, database: Database | None = None) -> Iterator[Row]:
    """Answers on one store: 64 and 256 connections, one and three answers a request, and as a page asks."""
    frozen = freeze(folder)
    name, workers = ("postgresql", 2) if database else ("sqlite", 1)
    seats = seated(url, frozen, read_keys(folder / "study.key").derived("public ids"), SEATS)
    runs: list[tuple[str, int, dict[str, bool]]] = [
        ("64", 64, {}),
        ("256", 256, {}),
        ("64, three in one", 64, {"together": True}),
        ("64, and the state after three", 64, {"state": True}),
    ]
    acknowledged = 0
    with Server(folder, store_url=url, workers=workers) as server:
        for label, connections, how in runs:
            makers = [answering(server.port, seats[n::connections], CRITERIA, **how) for n in range(connections)]
            warm = 3 * len(seats) // connections  # each participant is known to the server, and at the start of a trial
            meter = _meter(server, database)
            outcome = asyncio.run(hammer(server.port, makers, seconds, warm=warm, begin=meter.begin, end=meter.end))
            acknowledged += outcome.n_acknowledged
            yield told(f"{name} {label}", outcome, meter)
    with Store.open(url) as store:
        stored = store.read_now(lambda c: c.execute(sa.select(sa.func.count()).select_from(answer)).scalar_one())
    print(f"  {acknowledged} answers acknowledged, {stored} in the store", flush=True)
    if stored != acknowledged:
        raise SystemExit("answers were lost or doubled")


def claims_of(url: str, folder: Path, database: Database | None = None) -> Iterator[Row]:
    """The step that hands out a sheet, by so many people at once; and the store's part of it alone."""
    frozen = freeze(folder)
    name, workers = ("postgresql", 2) if database else ("sqlite", 1)
    seats = seated(url, frozen, read_keys(folder / "study.key").derived("public ids"), CLAIMS, begun=False)
    with Server(folder, store_url=url, workers=workers) as server:
        state = asyncio.run(_once(server.port, request(server.port, "GET", "/api/state", token=seats[0].token)))
        body = {"version": json.loads(state.body)["consent"]["version"]}
        waiting = iter(seats)

        def consent() -> bytes | None:
            seat = next(waiting, None)
            if seat is None:
                return None
            step = {"id": str(uuid.uuid4()), "step": "consent", "body": body}
            return request(server.port, "POST", "/api/step", token=seat.token, body=step)

        meter = _meter(server, database)
        outcome = asyncio.run(hammer(server.port, [consent] * AT_ONCE, math.inf, begin=meter.begin, end=meter.end))
    yield told(f"claims {name}", outcome, meter, doubles=_doubles(url, len(outcome.times)))
    took, all_of_it = asyncio.run(_claims_alone(url, frozen))
    yield told(f"claims {name}, the store alone", Outcome(all_of_it, took), Meter(), doubles=_doubles(url, 2 * CLAIMS))


async def _claims_alone(url: str, frozen: Frozen) -> tuple[list[float], float]:
    """Seconds of each claim in this process, and of all of them."""
    took: list[float] = []
    with Store.open(url) as store:
        now = time.time()
        ids = store.write_now(lambda c: [people.arrive(c, "open", None, None, "en", now).id for _ in range(CLAIMS)])
        waiting = iter(ids)

        async def one() -> None:
            for person in waiting:
                sent = time.perf_counter()
                await store.write(lambda c, person=person: claims.claim(c, person, list(frozen.stages), 10**6, now))
                took.append(time.perf_counter() - sent)

        start = time.perf_counter()
        await asyncio.gather(*(one() for _ in range(AT_ONCE)))
        return took, time.perf_counter() - start


def _doubles(url: str, given: int) -> int:
    """By how much the claims that were granted differ from people with a sheet, and from sheets that somebody has."""
    mine = lease.c.state == "leased"
    people_ = sa.select(sa.func.count(sa.distinct(lease.c.participant_id))).where(mine)
    sheets = sa.select(sa.func.count()).select_from(lease).where(mine)
    with Store.open(url) as store:
        n_people, n_sheets = store.read_now(lambda c: (c.execute(people_).scalar_one(), c.execute(sheets).scalar_one()))
    return max(abs(given - n_people), abs(given - n_sheets))


def images_of(folder: Path, seconds: float) -> Iterator[Row]:
    """Pictures of some 440 KB, for sixteen connections."""
    url = f"sqlite:///{folder / 'images.db'}"
    seats = seated(url, freeze(folder), read_keys(folder / "study.key").derived("public ids"), 16)
    with Server(folder, store_url=url) as server:
        makers: list[Callable[[], bytes]] = []
        for seat in seats:
            state = asyncio.run(_once(server.port, request(server.port, "GET", "/api/state", token=seat.token)))
            shown = [pane["src"] for trial in json.loads(state.body)["trials"] for pane in trial["panes"]]
            makers.append(
                itertools.cycle([request(server.port, "GET", src, token=seat.token) for src in shown]).__next__
            )
        meter = _meter(server)
        outcome = asyncio.run(hammer(server.port, makers, seconds, warm=9, begin=meter.begin, end=meter.end))
    yield told("images 16", outcome, meter, **{"MB/s": round(outcome.n_bytes / outcome.seconds / 1e6)})


def potato_of(python: Path, folder: Path, seconds: float) -> Iterator[Row]:
    """The anchor: Potato's own server with its defaults; each connection is a user who is logged in."""
    (folder / "data").mkdir(parents=True)
    lines = (json.dumps({"id": f"i{n}", "text": f"item {n}"}) for n in range(1000))
    (folder / "data" / "items.json").write_text("\n".join(lines) + "\n")
    (folder / "config.yaml").write_text(_POTATO)
    port = free_port()
    with (folder / "potato.log").open("wb") as log:
        process = subprocess.Popen(
            [python.absolute().with_name("potato"), "start", "config.yaml", "-p", str(port)], cwd=folder, stdout=log,
            stderr=log, stdin=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
    try:
        for connections in (64, 256):
            makers = asyncio.run(_potato_users(port, connections, process))
            meter = Meter(lambda: tree(process.pid))
            outcome = asyncio.run(hammer(port, makers, seconds, warm=3, begin=meter.begin, end=meter.end))
            outcome.n_stored = len(outcome.times)
            yield told(f"potato {connections}", outcome, meter)
    finally:
        os.killpg(process.pid, signal.SIGKILL)  # a session of its own
        process.wait()


_POTATO = """annotation_task_name: anchor
task_dir: .
output_annotation_dir: out
output_annotation_format: json
data_files: ["data/items.json"]
item_properties: {id_key: id, text_key: text}
user_config: {allow_all_users: true, users: []}
authentication: {method: in_memory}
require_password: false
annotation_schemes:
  - annotation_type: radio
    name: choice
    description: Which is better?
    labels: [left, right]
site_dir: default
alert_time_each_instance: 0
max_annotations_per_user: 500
max_annotations_per_item: 100000
assignment_strategy: random
"""


async def _potato_users(port: int, n: int, process: subprocess.Popen[bytes]) -> list[Callable[[], bytes]]:
    """Log users in, and return a maker of answers for each: to the item that Potato shows them."""
    deadline = time.monotonic() + 60
    while True:
        try:
            (await Wire.to(port)).close()
            break
        except OSError:
            if process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit("Potato does not start; potato.log of its folder says why") from None
            await asyncio.sleep(0.2)
    gate = asyncio.Semaphore(8)

    async def user(number: int) -> Callable[[], bytes]:
        async with gate:
            form = f"email=user{n}x{number}&pass=&action=login"
            came = await _once(port, request(port, "POST", "/auth", body=form, form=True))
            cookie = re.search(rb"(?i)set-cookie: (session=[^;]+)", came.head)
            if cookie is None:
                raise SystemExit(f"Potato logs nobody in: {came.status} {came.head[:300]!r}")
            page = await _once(port, request(port, "GET", "/annotate", cookie=cookie[1].decode()))
            item = re.search(rb'id="instance_id"[^>]*value="([^"]+)"', page.body)
            if item is None:
                raise SystemExit(f"Potato shows no item: {page.status} {page.body[:300]!r}")
        turn = itertools.cycle(("left", "right"))

        def make() -> bytes:
            side = next(turn)
            given = {"instance_id": item[1].decode(), "annotations": {f"choice:{side}": side}, "span_annotations": []}
            return request(port, "POST", "/updateinstance", cookie=cookie[1].decode(), body=given)

        return make

    return list(await asyncio.gather(*(user(number) for number in range(n))))


async def _once(port: int, what: bytes) -> Heard:
    wire = await Wire.to(port)
    try:
        return await wire.ask(what)
    finally:
        wire.close()


def _meter(server: Server, database: Database | None = None) -> Meter:
    return Meter(lambda: server.pids, (lambda: database.pids) if database else None)


def judged(rows: list[Row]) -> list[str]:
    """One line for each bar that can be judged."""
    by_name = {row["row"]: row for row in rows}
    lines = []
    for name, figure, way, bound in BARS:
        if name in by_name:
            value = by_name[name][figure]
            holds = value <= bound if way == "most" else value >= bound
            lines.append(f"{'holds' if holds else 'FAILS'}: {name}: {figure} {value:g}, at {way} {bound}")
    if "potato 64" in by_name and "sqlite 64" in by_name:
        times = by_name["sqlite 64"]["answers/s"] / max(1, by_name["potato 64"]["answers/s"])
        lines.append(
            f"{'holds' if times >= TIMES_POTATO else 'FAILS'}: {times:.1f} times Potato, at least {TIMES_POTATO:g}"
        )
    return lines


def main() -> None:
    """Run what was asked for, print a line for each run and each bar, and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--potato", type=Path, help="Python of an environment with potato-annotation; else no anchor")
    parser.add_argument("--only", default=",".join(PARTS), help=f"some of {','.join(PARTS)}")
    parser.add_argument("--seconds", type=float, default=10.0, help="how long each run is counted; default 10")
    parser.add_argument("-o", "--output", type=Path, help="JSON file for the figures")
    given = parser.parse_args()
    parts = given.only.split(",")
    rows: list[Row] = []
    print(f"{platform.platform()}, {os.cpu_count()} CPUs, Python {platform.python_version()}, load {load_average()}")
    with contextlib.ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="paragone-bench-")))
        folder = study_folder(place / "study", criteria=CRITERIA, sheets=SHEETS, trials=TRIALS)
        database = stack.enter_context(postgresql()) if {"postgresql", "claims"} & set(parts) else None
        if "sqlite" in parts:
            rows += answers_of(f"sqlite:///{folder / 'sqlite.db'}", folder, given.seconds)
        if "potato" in parts and given.potato:  # right after its rival, while the machine is as busy
            rows += potato_of(given.potato, place / "potato", given.seconds)
        if "postgresql" in parts and database:
            rows += answers_of(database.make(), folder, given.seconds, database)
        if "claims" in parts and database:
            rows += claims_of(f"sqlite:///{folder / 'claims.db'}", folder)
            rows += claims_of(database.make(), folder, database)
        if "images" in parts:
            sizes = {"sheets": 20, "trials": 10, "methods": 4, "contents": 2, "checks": 0, "repeats": 0, "side": 384}
            rows += images_of(study_folder(place / "large", **sizes), given.seconds)
    print("\n".join(judged(rows)))
    if given.output:
        machine = {"machine": platform.platform(), "cpus": os.cpu_count(), "python": platform.python_version()}
        given.output.write_text(json.dumps({**machine, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()

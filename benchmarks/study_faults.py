"""What a study server may meet: killed, out of disk, without its database, twice, in a hurry. No answer may suffer.

    python benchmarks/study_faults.py                        # everything, on both databases: about half an hour
    python benchmarks/study_faults.py --only kills-sqlite --kills 10
    python benchmarks/study_faults.py -o faults.json

Servers, workers and PostgreSQL are real processes and are killed by SIGKILL. People are threads that answer at random over
HTTP; a quarter of what they send is cut off, in the middle or before the answer is read, and sent again. At the end their
journal is compared with the store, value by value: every answer that was acknowledged is there, once, as it was sent. A
short form of each runs in the tests. Only the clock that jumps is that of a server in a thread of this process. The
script ends with 1 where anything is otherwise.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from study_crowd import Crowd, Journal, Rude, Verdict, compared, random_answer
from study_rig import Database, Server, load_average, postgresql, small_disk, study_folder

from paragone.errors import BadInput, Lost
from paragone.study.client import Walker
from paragone.study.frozen import freeze
from paragone.study.server.aside import served_aside
from paragone.study.store import Store
from paragone.study.store.tables import answer, lease

_TO_THE_TRIALS = 7  # requests: entry, session, state, consent, device, instructions, begin
PARTS = ("kills-sqlite", "kills-postgresql", "disk", "database", "two", "arrivals", "clock")
_JUMPS = (0.5, -0.5, 60.0, -60.0, 3600.0, -3600.0, 400 * 86_400.0, -400 * 86_400.0)  # seconds
_PAUSE = 0.2  # seconds of thought, so that the sheets last for a hundred kills
Facts = dict[str, Any]


class Broken(Exception):
    """A promise was not kept."""


def kills(server: Server, folder: Path, url: str, n: int, *, clients: int = 30, seed: int = 1, **crowd: Any) -> Facts:
    """Kill a server again and again while people answer.

    With several workers the whole of it, the process that started them, and one worker are killed in turn.

    Args:
        server: not started yet.
        folder: of the study.
        url: of the store.
        n: how often.
        clients: people at the same time.
        seed: of everything that is random.
        crowd: further options of `Crowd`.
    """
    rng = random.Random(seed)
    several = server.workers > 1
    ways: list[Callable[[], None]] = [server.kill, server.kill_first, server.kill_worker] if several else [server.kill]
    between, downs = [], []
    began = time.monotonic()
    with server, Crowd([server.port], clients, seed=seed, **crowd) as people:
        for number in range(n):
            before = len(people.journal.acknowledged)
            if not people.busy:
                raise Broken(f"everybody was through before kill {number + 1}; the plan has too few sheets")
            _until(lambda before=before: len(people.journal.acknowledged) > before, "nobody answers")
            time.sleep(rng.uniform(0.3, 1.5))
            way = ways[number % len(ways)]
            between.append(len(people.journal.acknowledged) - before)
            down = time.monotonic()
            way()
            if way != server.kill_worker:
                server.start()
            downs.append(time.monotonic() - down)
        people.finish()
    verdict = compared(people.journal, url, folder)
    return {
        **_told(people, verdict),
        "kills": n,
        "acknowledged between two kills, median": statistics.median(between),
        "least": min(between),
        "seconds down, median": round(statistics.median(downs), 2),
        "minutes": round((time.monotonic() - began) / 60, 1),
    }


def disk_full(
    server: Server, fill: Callable[[], None], make_room: Callable[[], None], folder: Path, url: str, *, clients: int = 8
) -> Facts:
    """Let a store's disk be full under load, look how people are told, make room, and see that all goes on.

    Args:
        server: not started yet.
        fill: leaves no room for the store.
        make_room: undoes it.
        folder: of the study.
        url: of the store.
        clients: people at the same time.
    """
    with server, Crowd([server.port], clients, rudeness=0.1) as people:
        journal = people.journal
        _until(lambda: len(journal.acknowledged) > 5 * clients, "nobody answers")
        fill()
        _until(lambda: journal.n(503) > 2 * clients, "nobody is told that the disk is full")
        full, refused = len(journal.acknowledged), journal.n(503)
        time.sleep(1)
        healthy, while_full = server.answers(), len(journal.acknowledged) - full
        make_room()
        _until(lambda: len(journal.acknowledged) > full + while_full + clients, "nothing goes on after there is room")
        people.finish()
    if not healthy:
        raise Broken("the server is not there while the disk is full")
    odd = {status for status, _ in journal.statuses if status >= 500} - {503}
    if odd:
        raise Broken(f"a full disk is answered with {sorted(odd)}")
    verdict = compared(journal, url, folder)
    return {**_told(people, verdict), "refused with 503": refused, "acknowledged while full": while_full}


def database_restarts(
    server: Server, database: Database, folder: Path, url: str, n: int, *, clients: int = 20
) -> Facts:
    """Stop PostgreSQL at once, without a word to anybody, and start it again, under load; the servers stay."""
    rng = random.Random(4)
    with server, Crowd([server.port], clients) as people:
        for _ in range(n):
            before = len(people.journal.acknowledged)
            _until(lambda before=before: len(people.journal.acknowledged) > before + 20, "nothing goes on")
            time.sleep(rng.uniform(0.2, 1.0))
            database.crash()
            time.sleep(rng.uniform(0.0, 2.0))
            database.start()
        people.finish()
        if not server.answers():
            raise Broken("the server ended with its database")
    return {**_told(people, compared(people.journal, url, folder)), "restarts": n}


def second_refused(server: Server, folder: Path) -> Facts:
    """Start a second server on a SQLite store that is being served: it says so and ends, and the first goes on."""
    with server:
        other = Server(folder)
        other.start(wait=False)
        assert other.process is not None
        code = other.process.wait(60)
        said = other.log.read_text().strip().splitlines()[-1]
        other.log.unlink()
        if code == 0 or "another process" not in said or not server.answers():
            raise Broken(f"a second server on one SQLite file: exit {code}, '{said}'")
        try:
            Store.open(f"sqlite:///{folder / 'study.db'}").close()
        except BadInput as error:
            return {"second server": f"exit {code}: {said}", "second store": error.message}
        raise Broken("a second process may write to a SQLite store")


def two_servers(first: Server, second: Server, folder: Path, url: str, *, clients: int = 10) -> Facts:
    """Two servers on one PostgreSQL: one study. The newest tab wins across them, whoever is asked."""
    with first, second:
        journal = Journal()
        replaced = _newest_tab_wins([first.port, second.port], journal)
        with Crowd([first.port, second.port], clients, seed=7, each=2, journal=journal) as people:
            people.finish()
    return {**_told(people, compared(people.journal, url, folder)), "tabs that were replaced": replaced}


def _newest_tab_wins(ports: list[int], journal: Journal) -> int:
    """Open four tabs of one person, by turns on two servers; return how often an older one was refused."""
    rng, replaced = random.Random(3), 0
    query = "?PROLIFIC_PID=two-tabs&STUDY_ID=study&SESSION_ID=s-two-tabs"
    tabs: list[Walker] = []
    with contextlib.ExitStack() as stack:
        for turn in range(4):
            http_ = stack.enter_context(contextlib.closing(Rude([ports[turn % 2]], journal, rng)))
            tab = Walker(http_, random_answer(rng), tries=20)
            state = tab.walk(tab.enter(query), until="trial")
            if state["progress"]["done"] != turn:
                raise Broken(f"a tab on the other server sees {state['progress']['done']} trials done of {turn}")
            tab.give(state["trials"][0])
            for older in tabs:
                try:
                    older.give(state["trials"][1])
                except Lost as lost:
                    replaced += "410" in str(lost)
                else:
                    raise Broken("an older tab may still answer")
            tabs.append(tab)
    return replaced


def clock_jumps(folder: Path, url: str, n: int = 100, *, clients: int = 8, seed: int = 3) -> Facts:
    """Let the server's clock jump, forwards and back, by up to 400 days, while people answer.

    Args:
        folder: of the study.
        url: of the store.
        n: how often.
        clients: people at the same time.
        seed: of everything that is random.
    """
    rng = random.Random(seed)
    with served_aside(folder, url) as here:
        port = int(here.address.rstrip("/").rpartition(":")[2])
        with Crowd([port], clients, seed=seed, pause=_PAUSE) as people:
            for _ in range(n):
                before = len(people.journal.acknowledged)
                _until(lambda before=before: len(people.journal.acknowledged) > before + clients, "nobody answers")
                here.clock.ahead += rng.choice(_JUMPS)
            people.finish()
    return {**_told(people, compared(people.journal, url, folder)), "jumps": n}


def arrivals(
    server: Server,
    folder: Path,
    url: str,
    *,
    people: int = 200,
    sheets: int = 200,
    within: float = 10.0,
    pause: float = 0.5,
) -> Facts:
    """Many people come within seconds and do their sheets; what is stored must be what was planned, pair by pair.

    Args:
        server: not started yet.
        folder: of the study, whose plan has so many sheets.
        url: of the store.
        people: how many come.
        sheets: how many may.
        within: seconds.
        pause: most seconds that they think before an answer.
    """
    rng = random.Random(11)
    with server:
        crowds = []
        for number, at in enumerate(sorted(rng.uniform(0, within) for _ in range(people))):
            crowds.append((at, Crowd([server.port], 1, seed=1000 + number, rudeness=0.0, pause=pause, each=1)))
        began, load = time.monotonic(), ""
        with contextlib.ExitStack() as stack:
            for at, crowd in crowds:
                time.sleep(max(0.0, at - (time.monotonic() - began)))
                stack.enter_context(crowd)
            load = load_average()
        whole = time.monotonic() - began
    finished = sum(len(crowd.finished) for _, crowd in crowds)
    full = sum(crowd.full for _, crowd in crowds)
    lost = [line for _, crowd in crowds for line in crowd.lost]
    everything = sorted(s for _, crowd in crowds for s in crowd.journal.seconds)
    entering = sorted(s for _, crowd in crowds for s in crowd.journal.seconds[:_TO_THE_TRIALS])
    if lost or finished + full != people or finished != min(people, sheets):
        raise Broken(f"{people} came: {finished} finished, {full} were told full, lost: {lost[:3]}")
    return {
        "people": people,
        "finished": finished,
        "told full": full,
        "p99 s of the requests until everybody is at a trial": round(entering[int(0.99 * len(entering))], 3),
        "p99 s of all requests": round(everything[int(0.99 * len(everything))], 3),
        "longest s": round(everything[-1], 3),
        "requests": len(everything),
        "seconds in all": round(whole, 1),
        "load": load,
        **as_planned(folder, url),
    }


def as_planned(folder: Path, url: str) -> Facts:
    """Compare what was answered with the plan: sheets, pairs and exposure.

    Raises:
        Broken: a pair was judged more often than planned, a sheet is not as dealt, or one has two people.
    """
    frozen = freeze(folder)
    with Store.open(url) as store:
        rows = store.read_now(
            lambda c: list(c.execute(sa.select(answer.c.lease_id, answer.c.trial, answer.c.criterion)))
        )
        leases = store.read_now(lambda c: list(c.execute(sa.select(lease))))
    done = [one for one in leases if one.state in ("complete", "excluded")]
    if len({one.participant_id for one in done}) != len(done) or len({(o.stage, o.owner) for o in done}) != len(done):
        raise Broken("two people have one sheet, or one has two")
    planned = {trial.trial: trial for one in done for s in frozen.sheets(one.stage, one.owner) for trial in s.trials}
    got = Counter((row.trial, row.criterion) for row in rows)
    if set(got) != {(name, criterion) for name in planned for criterion in frozen.criteria} or max(got.values()) > 1:
        raise Broken("what was answered is not what the sheets of those who finished hold")
    quota = _pairs(frozen.plan.iter_rows(named=True))
    judged = _pairs({"left": t.left, "right": t.right, "kind": t.kind} for t in planned.values())
    over = {pair: n for pair, n in judged.items() if n > quota[pair]}
    if over:
        raise Broken(f"{len(over)} pairs were judged more often than planned")
    everything = len(done) == frozen.plan["owner"].n_unique()
    if everything and judged != quota:
        raise Broken("everybody came, and the pairs are not those of the plan")
    exposure = Counter(item.split("/")[0] for pair, n in judged.items() for item in pair for _ in range(n))
    mean = statistics.mean(exposure.values())
    return {
        "sheets": len(done),
        "pairs": len(judged),
        "pairs over quota": len(over),
        "exposure of a method, furthest from the mean, %": round(
            100 * max(abs(n - mean) for n in exposure.values()) / mean, 2
        ),
        "all of the plan": everything,
    }


def _pairs(trials: Any) -> Counter[tuple[str, str]]:
    """How often each pair stands in main trials, whichever side."""
    return Counter((min(t["left"], t["right"]), max(t["left"], t["right"])) for t in trials if t["kind"] == "main")


def _told(people: Crowd, verdict: Verdict) -> Facts:
    """What every scenario tells.

    Raises:
        Broken: an answer was lost, doubled, altered or refused, or somebody could not go on.
    """
    journal = people.journal
    if not verdict.good or people.lost:
        raise Broken(f"{verdict}; people lost: {people.lost[:3]}; first: {(verdict.lost + verdict.altered)[:2]}")
    return {
        "verdict": str(verdict),
        "cut off": journal.aborted,
        "known when sent again": journal.again,
        "people finished": len(people.finished),
        "came again by the panel's address": people.again,
        "not simply done": journal.refusals,
        "load": load_average(),
    }


def fill(path: Path) -> None:
    """Fill a disk by a file."""
    with path.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(b"x" * 4096)


def _until(true: Callable[[], bool], otherwise: str, seconds: float = 240.0) -> None:
    until = time.monotonic() + seconds
    while not true():
        if time.monotonic() > until:
            raise Broken(f"{otherwise} within {seconds:.0f} s")
        time.sleep(0.05)


def scenarios(
    parts: list[str], place: Path, database: Database, n_kills: int
) -> Iterator[tuple[str, Callable[[], Facts]]]:
    """The scenarios as they are run in full."""

    def made(name: str, **sizes: Any) -> Path:
        return study_folder(place / name, **{"criteria": ("content", "style"), "platform": "prolific", **sizes})

    if {"kills-sqlite", "kills-postgresql"} & set(parts):
        large = made("kills", sheets=2000, trials=24)
    if "kills-sqlite" in parts:
        sqlite = f"sqlite:///{large / 'study.db'}"
        yield "kills, SQLite", lambda: kills(Server(large), large, sqlite, n_kills, pause=_PAUSE)
    if "kills-postgresql" in parts:
        url = database.make()
        two = Server(large, store_url=url, workers=2)
        yield "kills, PostgreSQL, 2 workers", lambda: kills(two, large, url, n_kills, seed=2, pause=_PAUSE)
    if "disk" in parts:
        folder = made("disk", sheets=400, trials=24)
        with small_disk(place / "small", 6_000) as disk:
            on_disk = f"sqlite:///{disk / 'study.db'}"
            ballast = disk / "ballast"
            one = Server(folder, store_url=on_disk)
            yield (
                "disk full, SQLite",
                lambda: disk_full(one, lambda: fill(ballast), ballast.unlink, folder, on_disk),
            )
        with small_disk(place / "small-pg", 24_000) as disk:
            elsewhere = database.make(disk=disk)
            weight = disk / "ballast"
            server = Server(folder, store_url=elsewhere, workers=2)
            yield (
                "disk full, PostgreSQL",
                lambda: disk_full(server, lambda: fill(weight), weight.unlink, folder, elsewhere),
            )
            database.drop(elsewhere)
    if "database" in parts:
        folder = made("database", sheets=800, trials=24)
        url_ = database.make()
        yield (
            "database restarts",
            lambda: database_restarts(Server(folder, store_url=url_, workers=2), database, folder, url_, 10),
        )
    if "two" in parts:
        folder = made("two", sheets=60, trials=24)
        yield "two servers, SQLite", lambda: second_refused(Server(folder), folder)
        both = database.make()
        pair = [Server(folder, store_url=both), Server(folder, store_url=both)]
        yield "two servers, PostgreSQL", lambda: two_servers(pair[0], pair[1], folder, both)
    if "clock" in parts:
        folder = made("clock", sheets=1000, trials=24)
        yield "clock jumps, SQLite", lambda: clock_jumps(folder, f"sqlite:///{folder / 'study.db'}")
        beside = database.make()
        yield "clock jumps, PostgreSQL", lambda: clock_jumps(folder, beside)
    if "arrivals" in parts:
        for sheets in (200, 150):
            folder = made(f"arrivals-{sheets}", sheets=sheets, trials=12, repeats=0, criteria=("overall",), contents=3)
            on_file = f"sqlite:///{folder / 'study.db'}"
            yield (
                f"200 arrivals, {sheets} sheets, SQLite",
                lambda folder=folder, url=on_file, n=sheets: arrivals(Server(folder, cpus=2), folder, url, sheets=n),
            )
            there = database.make()
            yield (
                f"200 arrivals, {sheets} sheets, PostgreSQL",
                lambda folder=folder, url=there, n=sheets: arrivals(
                    Server(folder, store_url=url, workers=2, cpus=2), folder, url, sheets=n
                ),
            )


def main() -> int:
    """Run what was asked for; 0: every promise was kept."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(PARTS), help=f"some of {','.join(PARTS)}")
    parser.add_argument("--kills", type=int, default=100, help="how often each server is killed; default 100")
    parser.add_argument("-o", "--output", type=Path, help="JSON file for the figures")
    given = parser.parse_args()
    told: dict[str, Facts] = {}
    bad = 0
    with tempfile.TemporaryDirectory(prefix="paragone-faults-") as place, postgresql() as database:
        Path(place).chmod(0o755)  # PostgreSQL has a user of its own where this runs as root
        for name, run in scenarios(given.only.split(","), Path(place), database, given.kills):
            try:
                told[name] = run()
            except Broken as broken:
                told[name] = {"BROKEN": str(broken)}
                bad += 1
            print(f"{name}\n" + "\n".join(f"  {key}: {value}" for key, value in told[name].items()), flush=True)
    if given.output:
        given.output.write_text(json.dumps(told, indent=1) + "\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

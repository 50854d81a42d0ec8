"""A wave dealt in a process of its own, so that no participant waits for it: what is asked for in, the wave out.

`python -m paragone.study.wave_worker` reads one packed `Wanted` from stdin, writes the packed wave to stdout and ends.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import msgspec
import polars as pl

from ..benchmark import Benchmark
from ..design import Study
from ..errors import CannotScore, ParagoneError
from ..plan import Plan
from .store.store import snapshot
from .voted import voted
from .waves import Wave, wave

__all__ = ["Wanted", "in_process", "made", "main", "wanted"]

_SECONDS = 900.0  # our choice: the largest study that was published takes a few
_LOOK = 0.5  # seconds between two looks at whether the server stops
_NICE = 10


class Wanted(msgspec.Struct, frozen=True):
    """What a wave is dealt from."""

    store: str
    """Address of the store, with its password."""
    folder: str
    """Where the benchmark lies."""
    study: bytes
    """The settings, as JSON."""
    plan: bytes
    """All sheets so far, as CSV."""
    stage: str


class _Packed(msgspec.Struct):
    stage: str
    sheets: int
    answers: int
    plan: bytes
    left: int


def wanted(store: str, folder: Path, study: Study, plan: Plan, stage: str) -> Wanted:
    """Return what the process reads.

    Args:
        store: address of the store, with its password.
        folder: holds the benchmark.
        study: the settings.
        plan: all sheets so far.
        stage: the one to be dealt.
    """
    return Wanted(store, str(folder.resolve()), msgspec.json.encode(study), _written(plan), stage)


def made(asked: Wanted) -> Wave:
    """Deal the wave here.

    Args:
        asked: see `wanted`.

    Raises:
        ParagoneError: the store does not answer, the benchmark does not fit, or the votes cannot be scored.
    """
    with snapshot(asked.store) as c:
        votes = voted(c)
    study = msgspec.json.decode(asked.study, type=Study)
    return wave(_read(asked.plan), study, Benchmark.read(asked.folder), votes, asked.stage)


def in_process(asked: Wanted, stop: threading.Event) -> Wave:
    """Deal the wave in a process of low priority that ends when it is done.

    Args:
        asked: see `wanted`.
        stop: set when the server stops; the process then ends at once.

    Raises:
        CannotScore: the process failed, was stopped or took too long; says how.
    """
    command = [sys.executable, "-m", "paragone.study.wave_worker"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        given: bytes | None = msgspec.msgpack.encode(asked)
        until = time.monotonic() + _SECONDS
        while True:
            try:
                out, said = process.communicate(given, timeout=_LOOK)
                break
            except subprocess.TimeoutExpired:
                given = None  # communicate goes on with what it was given
            if stop.is_set() or time.monotonic() > until:
                process.kill()
                why = "was stopped" if stop.is_set() else f"took longer than {_SECONDS:.0f} s and was given up"
                raise CannotScore(f"the wave of stage '{asked.stage}' {why}")
    if process.returncode != 0:
        lines = said.decode(errors="replace").strip().splitlines() or [f"it said nothing, exit {process.returncode}"]
        raise CannotScore(lines[-1][:300])
    packed = msgspec.msgpack.decode(out, type=_Packed)
    return Wave(packed.stage, packed.sheets, packed.answers, _read(packed.plan), packed.left)


def _written(plan: Plan) -> bytes:
    buffer = io.BytesIO()
    plan.frame.write_csv(buffer)
    return buffer.getvalue()


def _read(text: bytes) -> Plan:
    return Plan(pl.read_csv(io.BytesIO(text), infer_schema=False))


def main() -> None:
    """Read what is wanted, write the wave; a refusal is one line and exit 1."""
    os.nice(_NICE)
    asked = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=Wanted)
    try:
        found = made(asked)
    except ParagoneError as error:
        print(error.message, file=sys.stderr)
        sys.exit(1)
    packed = _Packed(found.stage, found.sheets, found.answers, _written(found.plan), found.left)
    sys.stdout.buffer.write(msgspec.msgpack.encode(packed))


if __name__ == "__main__":
    main()

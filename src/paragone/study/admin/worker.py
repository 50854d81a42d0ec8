"""The slow figures in a process of their own, so that no participant waits for them: material in, `Live` out.

`python -m paragone.study.admin.worker` reads one packed moment from stdin, writes the packed result to stdout and ends.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys

import msgspec
import polars as pl

from ...design import Study
from ...errors import CannotScore
from .live import Live, Material, compute

__all__ = ["in_process", "main", "pack", "result", "unpack"]

_SECONDS = 900.0  # our choice: the largest study that was published takes a few
_NICE = 10


class _Packed(msgspec.Struct):
    study: bytes
    criteria: tuple[str, ...]
    plan: bytes
    items: bytes
    answers: bytes
    at: float


def pack(material: Material) -> bytes:
    """A moment as bytes."""
    plan, items, answers = (_written(frame) for frame in (material.plan, material.items, material.answers))
    study = msgspec.json.encode(material.study)
    return msgspec.msgpack.encode(_Packed(study, material.criteria, plan, items, answers, material.at))


def unpack(data: bytes) -> Material:
    """The moment that `pack` made bytes of."""
    packed = msgspec.msgpack.decode(data, type=_Packed)
    plan, items, answers = (pl.read_ipc(io.BytesIO(part)) for part in (packed.plan, packed.items, packed.answers))
    study = msgspec.json.decode(packed.study, type=Study)
    return Material(study, packed.criteria, plan, items, answers, packed.at)


def _written(frame: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.write_ipc(buffer)
    return buffer.getvalue()


def result(data: bytes) -> Live:
    """The figures that the worker wrote."""
    return msgspec.msgpack.decode(data, type=Live)


def in_process(material: Material) -> Live:
    """Compute the figures in a process of low priority that ends when it is done.

    Args:
        material: the moment.

    Raises:
        CannotScore: the process failed or took too long; says how.
    """
    command = [sys.executable, "-m", "paragone.study.admin.worker"]
    try:
        done = subprocess.run(command, input=pack(material), capture_output=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise CannotScore(f"the live figures took longer than {_SECONDS:.0f} s and were given up") from None
    if done.returncode != 0:
        lines = done.stderr.decode(errors="replace").strip().splitlines() or ["it said nothing"]
        raise CannotScore(f"the live figures could not be computed (exit {done.returncode}): {lines[-1][:300]}")
    return result(done.stdout)


def main() -> None:
    """Read a moment, write its figures."""
    os.nice(_NICE)
    sys.stdout.buffer.write(msgspec.msgpack.encode(compute(unpack(sys.stdin.buffer.read()))))


if __name__ == "__main__":
    main()

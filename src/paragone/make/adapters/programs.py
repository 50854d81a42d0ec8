"""Run another program: never through a shell, with an end in time, its words kept, nothing left running."""

from __future__ import annotations

import os
import re
import select
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ...errors import BadConfig, NotFound
from ...tables import whole_file

__all__ = ["Ran", "keep_log", "placeholders", "program", "run_program"]

_PLACEHOLDER = re.compile(r"\{(\{[a-z][a-z0-9_]*\})\}|\{([a-z][a-z0-9_]*)\}")  # {{word}} stands for {word} itself
_GRACE = 3.0  # seconds between asking a program to end and ending it
_HEAD, _TAIL = 1 << 18, 3 << 18  # bytes of a program's first and last words that are kept, 1 MiB together
_LINGER = 2.0  # seconds that words are waited for after a program's end, where something that it left still speaks
_SECRET = 6  # shortest value of `env` that is struck out of logs; our choice: '0' and 'true' are no secrets


@dataclass(frozen=True, kw_only=True)
class Ran:
    """How a program ended."""

    code: int | None
    """Exit status, negative for a signal; None where its time was over."""
    seconds: float
    words: str
    """What it wrote, with the values of `env` struck out; of more than 1 MiB the beginning and the end."""

    @property
    def fault(self) -> str:
        """Why it did not end well, in one line with its last words; '' where it did."""
        if self.code == 0:
            return ""
        if self.code is None:
            how = f"no end after {self.seconds:.1f} s"
        elif self.code < 0:
            how = f"ended by signal {-self.code}"
        else:
            how = f"exit status {self.code}"
        last = next((line.strip() for line in reversed(self.words.splitlines()) if line.strip()), "")
        return f"{how}: {last[:200]}" if last else how


def placeholders(argv: Sequence[str], known: Sequence[str]) -> set[str]:
    """Return the placeholders of a command.

    Args:
        argv: program and arguments.
        known: names that may stand in braces.

    Raises:
        BadConfig: argv is empty, or holds a placeholder that is not known or a NUL.
    """
    if not argv or not argv[0]:
        raise BadConfig("argv is empty; give the program and its arguments as a list", where="argv")
    if any("\0" in word for word in argv):
        raise BadConfig("argv holds a NUL character, which no program can be given", where="argv")
    used = {name for word in argv for _, name in _PLACEHOLDER.findall(word) if name}
    for name in sorted(used - set(known)):
        raise BadConfig(
            f"argv holds {{{name}}}; there is {', '.join(f'{{{word}}}' for word in sorted(known))}, and {{{{{name}}}}} for "
            "the text itself",
            where="argv",
        )
    return used


def program(argv: Sequence[str], cwd: Path, env: Mapping[str, str]) -> str:
    """Return the path of the program that a command names.

    Args:
        argv: the command.
        cwd: where a name with a slash starts.
        env: variables added to this process's; PATH among them is looked through.

    Raises:
        BadConfig: a variable that cannot be.
        NotFound: there is none, or no such folder to run it in.
    """
    for variable, value in env.items():
        if not variable or "=" in variable or "\0" in variable + value:
            raise BadConfig(
                f"env: {variable!r} cannot be set; a name is not empty and holds no '=', and nothing holds a NUL",
                where="env",
            )
    if not cwd.is_dir():
        raise NotFound.path(cwd, "folder to run the program in")
    name = argv[0]
    here = str((cwd / name).absolute()) if "/" in name else name
    found = shutil.which(here, path=env.get("PATH", os.environ.get("PATH")))
    if found is None:
        raise NotFound(f"no program '{name}' that can be run; install it, or give its path in argv", where=name)
    return found


def run_program(
    argv: Sequence[str], *, words: Mapping[str, str], cwd: Path, env: Mapping[str, str], timeout_s: float
) -> Ran:
    """Run a command with its placeholders filled, and wait for its end.

    Args:
        argv: program and arguments; argv[0] is a path.
        words: placeholder -> text. A text is one (part of an) argument whatever it holds; there is no shell.
        cwd: where it runs.
        env: variables added to this process's.
        timeout_s: seconds after which it, and all that it started in its process group, is ended.

    Returns:
        How it ended.
    """
    filled = [_PLACEHOLDER.sub(lambda found: found.group(1) or words[found.group(2)], word) for word in argv]
    began = time.monotonic()
    code: int | None = None
    try:
        running = subprocess.Popen(
            filled,
            cwd=cwd,
            env={**os.environ, **env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:  # a NUL in a card's words, for example
        why = error.strerror if isinstance(error, OSError) else None
        return Ran(code=127, seconds=0.0, words=f"cannot be started: {why or error}")
    assert running.stdout is not None
    with running.stdout, _Words(running.stdout.fileno()) as words_kept:
        try:
            code = running.wait(timeout_s)
        except subprocess.TimeoutExpired:
            pass
        finally:
            _end(running)
    return Ran(code=code, seconds=time.monotonic() - began, words=_without(words_kept.text, env))


class _Words:
    """Reads what a program says as fast as it speaks, and keeps the beginning and the end."""

    def __init__(self, stream: int) -> None:
        self._stream, self._head, self._tail, self._left_out = stream, bytearray(), bytearray(), 0
        self._over = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)

    def __enter__(self) -> _Words:
        self._reader.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._reader.join()

    def _read(self) -> None:
        ready = select.poll()
        ready.register(self._stream, select.POLLIN | select.POLLHUP)
        last: float | None = None
        while last is None or time.monotonic() < last:
            if self._over.is_set() and last is None:
                last = time.monotonic() + _LINGER
            if not ready.poll(50):  # milliseconds
                if last is not None:
                    return
                continue
            piece = os.read(self._stream, 1 << 16)
            if not piece:
                return
            room = _HEAD - len(self._head)
            self._head += piece[:room]
            self._tail += piece[room:]
            if len(self._tail) > 2 * _TAIL:
                self._left_out += len(self._tail) - _TAIL
                del self._tail[:-_TAIL]

    @property
    def text(self) -> str:
        head, tail, left_out = bytes(self._head), bytes(self._tail), self._left_out
        if len(tail) > _TAIL:
            left_out += len(tail) - _TAIL
            tail = tail[-_TAIL:]
        if left_out:  # whole lines, so that no half of a secret escapes from being struck out
            first, last = head.rfind(b"\n") + 1 or len(head), tail.find(b"\n") + 1
            left_out += len(head) - first + last
            head, tail = head[:first] + f"[{left_out} bytes left out]\n".encode(), tail[last:]
        return (head + tail).decode("utf-8", "replace")


def _end(running: subprocess.Popen[bytes]) -> None:
    """End a program and all of its group: asked first where it still runs, then without asking."""
    if running.poll() is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(running.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            running.wait(_GRACE)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(running.pid, signal.SIGKILL)
    running.wait()


def _without(text: str, env: Mapping[str, str]) -> str:
    for value in sorted(env.values(), key=len, reverse=True):
        if len(value) >= _SECRET:
            text = text.replace(value, "[env]")
    return text


def keep_log(words: str, path: Path) -> str:
    """Write what a program said beside its result, whole or not at all; returns the file's name.

    Args:
        words: its words; '' writes nothing and returns ''.
        path: where to; a link that stands there is replaced, not followed.
    """
    if not words.strip():
        return ""
    with whole_file(path) as aside:
        aside.write_text(words, encoding="utf-8")
    return path.name

"""Run another program: never through a shell, with an end in time, its words kept, nothing left running."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
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
_LOG = 1 << 20  # bytes of a program's words that are kept
_SECRET = 6  # shortest value of `env` that is struck out of logs; our choice: '0' and 'true' are no secrets


@dataclass(frozen=True, kw_only=True)
class Ran:
    """How a program ended."""

    code: int | None
    """Exit status, negative for a signal; None where its time was over."""
    seconds: float
    words: str
    """The end of what it wrote, with the values of `env` struck out."""

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
        BadConfig: argv is empty, or holds a placeholder that is not known.
    """
    if not argv or not argv[0]:
        raise BadConfig("argv is empty; give the program and its arguments as a list", where="argv")
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
        NotFound: there is none, or no such folder to run it in.
    """
    if not cwd.is_dir():
        raise NotFound.path(cwd, "folder to run the program in")
    name = argv[0]
    here = str((cwd / name).absolute()) if "/" in name else name
    found = shutil.which(here, path=env.get("PATH", os.environ.get("PATH")))
    if found is None:
        raise NotFound(f"no program '{name}' that can be run; install it, or give its path in argv", where=name)
    return found


def run_program(
    argv: Sequence[str], *, words: Mapping[str, str], cwd: Path, env: Mapping[str, str], timeout_s: float, log: Path
) -> Ran:
    """Run a command with its placeholders filled, and wait for its end.

    Args:
        argv: program and arguments; argv[0] is a path.
        words: placeholder -> text. A text is one (part of an) argument whatever it holds; there is no shell.
        cwd: where it runs.
        env: variables added to this process's.
        timeout_s: seconds after which it, and all that it started in its process group, is ended.
        log: file that its output and error streams are written to.

    Returns:
        How it ended.
    """
    filled = [_PLACEHOLDER.sub(lambda found: found.group(1) or words[found.group(2)], word) for word in argv]
    began = time.monotonic()
    code: int | None = None
    with log.open("ab") as stream:
        try:
            running = subprocess.Popen(
                filled,
                cwd=cwd,
                env={**os.environ, **env},
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            stream.write(f"cannot be started: {error.strerror or error}\n".encode())
            return Ran(code=127, seconds=0.0, words=f"cannot be started: {error.strerror or error}")
        try:
            code = running.wait(timeout_s)
        except subprocess.TimeoutExpired:
            pass
        finally:
            _end(running)
    return Ran(code=code, seconds=time.monotonic() - began, words=_tail(log, env))


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


def _tail(log: Path, env: Mapping[str, str]) -> str:
    with log.open("rb") as stream:
        stream.seek(0, os.SEEK_END)
        stream.seek(max(0, stream.tell() - _LOG))
        text = stream.read().decode("utf-8", "replace")
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

"""Every error that paragone raises on purpose.

    ParagoneError
    ├── BadInput               a file, table, option or picture is not what it must be
    │   ├── BadTable           rows or columns break the table's contract; holds every fault of the file
    │   ├── BadConfig          a TOML file or an option has an unknown key or an impossible value
    │   ├── BadImage           a picture cannot be read or has a shape that the caller cannot use
    │   ├── NotFound           a file or folder that was named does not exist
    │   └── StoreInUse         another process has the study's database open, and it takes one at a time
    ├── UnknownName            no plug-in, column or level of that name; suggests the nearest
    ├── MissingExtra           a part needs a library that is not installed; says which extra brings it
    ├── CannotScore            the answers do not determine what was asked
    │   ├── NotConnected       the compared pairs leave the items in several groups, or scores would be infinite
    │   ├── NotConverged       an iteration reached its limit
    │   └── TooFew             fewer answers, items or participants than the method needs
    ├── StoreError             the study's database cannot do what was asked at this moment; nothing acknowledged is lost
    │   └── StoreFull          its disk is full
    ├── Lost                   a study's server or page did not do what a participant may expect of it
    └── WouldOverwrite         an output exists and was not made by the same command

`message` is one line that says what, where and what to do; `where` names the file (and row) for machines.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Any

__all__ = [
    "BadConfig",
    "BadImage",
    "BadInput",
    "BadTable",
    "CannotScore",
    "Lost",
    "MissingExtra",
    "NotConnected",
    "NotConverged",
    "NotFound",
    "ParagoneError",
    "StoreError",
    "StoreFull",
    "StoreInUse",
    "TooFew",
    "UnknownName",
    "WouldOverwrite",
]


class ParagoneError(Exception):
    """Base of all errors of this package.

    Args:
        message: one line: what, where and what to do.
        where: file, row or option the message speaks of, for machines; may be empty.
    """

    def __init__(self, message: str, *, where: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.where = where

    @property
    def kind(self) -> str:
        """The class name, which `--json` prints as `error.kind`."""
        return type(self).__name__


class BadInput(ParagoneError):
    """Something that was handed in is not what it must be."""


class BadTable(BadInput):
    """A table breaks its contract; `faults` holds every fault that was found, not only the first."""

    def __init__(self, message: str, *, where: str = "", faults: Sequence[str] = ()) -> None:
        super().__init__(message, where=where)
        self.faults = tuple(faults) or (message,)

    @classmethod
    def of_faults(cls, where: str, faults: Sequence[str], *, shown: int = 6) -> BadTable:
        """One error for all faults of one file: a single line that shows the first few and counts the rest."""
        listed = "; ".join(faults[:shown])
        more = f"; and {len(faults) - shown} more" if len(faults) > shown else ""
        return cls(f"{where}: {listed}{more}", where=where, faults=faults)


class BadConfig(BadInput):
    """A configuration or an option has an unknown key or an impossible value."""


class BadImage(BadInput):
    """A picture cannot be read, or its size or channels cannot be used."""


class NotFound(BadInput):
    """A file or folder that was named does not exist."""

    @classmethod
    def path(cls, path: object, what: str = "file") -> NotFound:
        """The error for a missing path, worded once for every caller."""
        return cls(f"no {what} '{path}'; check the spelling and the current folder", where=str(path))


class StoreInUse(BadInput):
    """Another process has the study's database open, and it takes one at a time."""


class UnknownName(ParagoneError):
    """No plug-in, column or level has that name."""

    @classmethod
    def among(cls, name: str, known: Iterable[str], what: str) -> UnknownName:
        """The error that names the nearest known word, or lists what there is.

        Args:
            name: the word that was asked for.
            known: every word that would have been right.
            what: what kind of thing it is, for example 'metric'.
        """
        words = sorted(known)
        near = difflib.get_close_matches(name, words, n=1, cutoff=0.6)
        if near:
            hint = f"did you mean '{near[0]}'?"
        elif words:
            hint = f"there is {', '.join(words[:12])}{', ...' if len(words) > 12 else ''}"
        else:
            hint = "there is none"
        return cls(f"no {what} '{name}'; {hint}", where=name)


class MissingExtra(ParagoneError):
    """A part needs a library that is not installed."""

    @classmethod
    def library(cls, what: str, library: str, extra: str) -> MissingExtra:
        """The error that says which extra brings the library."""
        return cls(f"{what} needs {library}: pip install 'paragone[{extra}]'", where=extra)


class CannotScore(ParagoneError):
    """The answers do not determine what was asked."""


class NotConnected(CannotScore):
    """The compared pairs leave the items in several groups, or some scores would be infinite."""

    groups: tuple[Any, ...] = ()
    """Indices of the members of each group, one array a group, where a kernel found them; else empty."""


class NotConverged(CannotScore):
    """An iteration reached its limit; no number is returned in place of an answer."""


class TooFew(CannotScore):
    """Fewer answers, items or participants than the method needs."""


class StoreError(ParagoneError):
    """The study's database cannot do what was asked at this moment; nothing that was acknowledged is lost."""


class StoreFull(StoreError):
    """The disk under the study's database is full; what was asked is not stored."""


class Lost(ParagoneError):
    """A study's server, or a page of it, did not do what a participant may expect of it."""


class WouldOverwrite(ParagoneError):
    """An output exists already and replacing it was not asked for."""

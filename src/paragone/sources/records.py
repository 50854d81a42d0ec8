"""What a reader of foreign tables gives back, and what one importer is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

from ..benchmark import Benchmark
from ..judgements import Ratings, Votes
from ..scores import Scores

__all__ = ["Imported", "Reading", "Source"]

T = TypeVar("T")


@dataclass(frozen=True)
class Reading(Generic[T]):
    """One noun out of somebody's file, and what was done to read it."""

    noun: T
    notes: tuple[str, ...] = ()
    """One remark a line, for people: columns recognised, rows dropped, answers given twice, items with one answer."""
    mapped: Mapping[str, str] = field(default_factory=dict)
    """Our column name -> the name in the file, where the two differ."""


@dataclass(frozen=True, kw_only=True)
class Imported:
    """Everything that an importer found; None or empty where the source holds no such thing."""

    benchmark: Benchmark | None = None
    votes: Votes | None = None
    ratings: Ratings | None = None
    scores: tuple[Scores, ...] = ()
    """Scores that came with the source: published means, metric values."""
    notes: tuple[str, ...] = ()
    """One remark a line: what was dropped, joined, or is wrong in the source."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """One public layout that can be imported by name."""

    name: str
    summary: str
    """One line: what it holds."""
    gives: tuple[str, ...]
    """Which of benchmark, votes, ratings, scores it gives."""
    licence: str
    """Who may do what with the data."""
    citation: str
    """Where the data were published."""
    read: Callable[..., Imported]
    """`read(path, **options)`; the options are its keyword arguments."""
    fits: Callable[[Path], bool]
    """Whether the columns and ids at a path are this layout's; looks at names and cells, never at the path alone."""

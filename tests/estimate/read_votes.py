"""Real votes as arrays, for tests that have no need of tables."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from paragone.estimate.arrays import Comparisons

Row = dict[str, str]
OUTCOMES = {"left": 1.0, "a": 1.0, "right": 0.0, "b": 0.0, "tie": 0.5}


class Read(NamedTuple):
    items: list[str]
    people: list[str]
    data: Comparisons


def rows_of(path: Path) -> list[Row]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def as_comparisons(rows: Iterable[Row], *, name: Callable[[str], str] = str) -> Read:
    """Index items and raters in ascending order of their names; `name` may merge or rename items."""
    rows = list(rows)
    first, second, choice = ("item_a", "item_b", "choice") if "item_a" in rows[0] else ("left", "right", "winner")
    pairs = [(name(row[first]), name(row[second])) for row in rows]
    raters = [row.get("rater") or row.get("worker") or "" for row in rows]
    items, people = sorted({item for pair in pairs for item in pair}), sorted(set(raters))
    m = len(rows)
    return Read(
        items,
        people,
        Comparisons(
            n=len(items),
            left=np.array([items.index(left) for left, _ in pairs]),
            right=np.array([items.index(right) for _, right in pairs]),
            outcome=np.array([OUTCOMES[row[choice]] for row in rows]),
            participant=np.array([people.index(rater) for rater in raters]),
            stage=np.zeros(m, dtype=np.int64),
            weight=np.ones(m),
            temperature=np.ones(m),
        ),
    )


def from_wins(wins: Iterable[Iterable[float]]) -> Comparisons:
    """A matrix of wins of row over column as weighted answers."""
    matrix = np.asarray(wins, dtype=np.float64)
    left, right = np.nonzero(matrix)
    m = left.size
    zeros, ones = np.zeros(m, dtype=np.int64), np.ones(m)
    return Comparisons(matrix.shape[0], left, right, ones, zeros, zeros, matrix[left, right], ones)


def drawn(
    seed: int, *, n: int = 7, m: int = 120, people: int = 6, ties: bool = True, warm: bool = False
) -> Comparisons:
    """Seeded answers in which every item both won and lost: a ring of wins in both directions beside random ones."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=n)
    left = rng.integers(n, size=m)
    right = (left + rng.integers(1, n, size=m)) % n
    outcome = (rng.random(m) < 1.0 / (1.0 + np.exp(truth[right] - truth[left]))).astype(np.float64)
    if ties:
        outcome[rng.random(m) < 0.2] = 0.5
    ring = np.arange(n)
    left, right = np.r_[left, ring, np.roll(ring, 1)], np.r_[right, np.roll(ring, 1), ring]
    outcome = np.r_[outcome, np.ones(2 * n)]
    size = left.size
    return Comparisons(
        n=n,
        left=left,
        right=right,
        outcome=outcome,
        participant=rng.integers(people, size=size),
        stage=np.zeros(size, dtype=np.int64),
        weight=np.ones(size),
        temperature=rng.choice([1.0, 1.5], size=size) if warm else np.ones(size),
    )


def swapped(data: Comparisons) -> Comparisons:
    return data._replace(left=data.right, right=data.left, outcome=1.0 - data.outcome)


def relabelled(data: Comparisons, order: np.ndarray) -> Comparisons:
    return data._replace(left=order[data.left], right=order[data.right])


def doubled(data: Comparisons) -> Comparisons:
    """The same study run twice: the copy's answers come from other people."""
    others = data.participant + int(data.participant.max()) + 1
    twice = {name: np.tile(getattr(data, name), 2) for name in data._fields if name != "n"}
    return Comparisons(n=data.n, **{**twice, "participant": np.r_[data.participant, others]})

"""Factories for the arrays that models receive, so that a test says only what it is about."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from paragone.estimate.arrays import Comparisons, Opinions


def _ints(values: ArrayLike | None, size: int, default: int = 0) -> NDArray[np.int64]:
    filled = np.full(size, default) if values is None else values
    return np.broadcast_to(np.asarray(filled, dtype=np.int64), (size,)).copy()


def _floats(values: ArrayLike | None, size: int, default: float = 1.0) -> NDArray[np.float64]:
    filled = np.full(size, default) if values is None else values
    return np.broadcast_to(np.asarray(filled, dtype=np.float64), (size,)).copy()


@pytest.fixture(scope="session")
def comparisons() -> Callable[..., Comparisons]:
    """Build Comparisons from lists; a scalar stands for the same value in every row."""

    def build(
        left: ArrayLike,
        right: ArrayLike,
        outcome: ArrayLike = 1,
        *,
        n: int | None = None,
        participant: ArrayLike | None = None,
        stage: ArrayLike | None = None,
        weight: ArrayLike | None = None,
        temperature: ArrayLike | None = None,
    ) -> Comparisons:
        m = np.size(left)
        lefts, rights = _ints(left, m), _ints(right, m)
        items = n if n is not None else int(max(lefts.max(initial=-1), rights.max(initial=-1))) + 1
        return Comparisons(
            n=items,
            left=lefts,
            right=rights,
            outcome=_floats(outcome, m),
            participant=_ints(participant, m),
            stage=_ints(stage, m),
            weight=_floats(weight, m),
            temperature=_floats(temperature, m),
        )

    return build


@pytest.fixture(scope="session")
def opinions() -> Callable[..., Opinions]:
    """Build Opinions from lists; sessions default to one a participant, references to none, contents to unknown."""

    def build(
        item: ArrayLike,
        participant: ArrayLike,
        value: ArrayLike,
        *,
        n: int | None = None,
        p: int | None = None,
        session: ArrayLike | None = None,
        weight: ArrayLike | None = None,
        reference: ArrayLike | None = None,
        content: ArrayLike | None = None,
    ) -> Opinions:
        k = np.size(value)
        items, people = _ints(item, k), _ints(participant, k)
        n_items = n if n is not None else int(items.max(initial=-1)) + 1
        return Opinions(
            n=n_items,
            p=p if p is not None else int(people.max(initial=-1)) + 1,
            item=items,
            participant=people,
            session=_ints(session, k),
            value=_floats(value, k),
            weight=_floats(weight, k),
            reference=_ints(reference, n_items, default=-1),
            content=_ints(content, n_items),
        )

    return build


ANSWERS = {"a": 1.0, "left": 1.0, "b": 0.0, "right": 0.0, "tie": 0.5}
FULL_HD_REFERENCES = ("Bistro", "FishingCloseshot", "Showgirl01", "SmithHammering")


def _reference_merged(scene: str, condition: str) -> str:
    """HDR-VDC shows its reference under several names; the published scores treat them as one item."""
    best = "H_1920x1080_" if scene in FULL_HD_REFERENCES else "H_3840x2160_"
    return "ref" if condition.startswith(best) else condition


@pytest.fixture(scope="session")
def real_votes(shared: Callable[[str], Path]) -> Callable[..., tuple[list[str], Comparisons]]:
    """Read a real vote file: the item ids in order, and the votes of one group of it or of all."""

    def read(name: str, group: str | None = None) -> tuple[list[str], Comparisons]:
        with shared(f"votes/{name}").open(newline="", encoding="utf-8") as file:
            rows = [row for row in csv.DictReader(file) if group is None or row["group"] == group]
        pairs = [(row.get("item_a") or row["left"], row.get("item_b") or row["right"]) for row in rows]
        if name.startswith("hdr_vdc_bright"):
            pairs = [
                (_reference_merged(row["group"], a), _reference_merged(row["group"], b))
                for row, (a, b) in zip(rows, pairs, strict=True)
            ]
        people = [row.get("rater") or row.get("worker") or "" for row in rows]
        items = sorted({item for pair in pairs for item in pair})
        who = sorted(set(people))
        at, by = {item: k for k, item in enumerate(items)}, {person: k for k, person in enumerate(who)}
        m = len(rows)
        return items, Comparisons(
            n=len(items),
            left=_ints([at[a] for a, _ in pairs], m),
            right=_ints([at[b] for _, b in pairs], m),
            outcome=_floats([ANSWERS[row.get("choice") or row["winner"]] for row in rows], m),
            participant=_ints([by[person] for person in people], m),
            stage=_ints(None, m),
            weight=_floats(None, m),
            temperature=_floats(None, m),
        )

    return read

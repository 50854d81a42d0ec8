"""Stages of ratings: every participant's items, shared out over sessions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..benchmark import shown_reference
from ..errors import BadConfig
from .checks import Pool, laid_checks, shared_with, uses_broken
from .deal import ordered
from .even import evened, exposure_cells
from .settings import RatingStage, at_most_judgements

__all__ = ["rating_rows"]

Ints = NDArray[np.int64]

_COLUMNS = (
    "trial",
    "sheet",
    "owner",
    "session",
    "stage",
    "position",
    "kind",
    "left",
    "right",
    "item",
    "expected",
    "repeat_of",
    "check",
)


class _Shown(NamedTuple):
    """What may be rated in a stage."""

    names: list[str]
    """Ids of the items to be judged, then of the hidden references."""
    n_items: int
    """How many of them are items."""
    references: Ints
    """(n, f) ids of the reference pictures that belong to each; different things have different ids, and what has no
    reference has one of its own."""


def rating_rows(
    stock: Pool, stage: RatingStage, name: str, rng: np.random.Generator, *, hidden: Sequence[str] = ()
) -> dict[str, list[object]]:
    """Return the columns of a stage of ratings: one sheet per participant and session.

    Each item is rated equally often (+-1); order is drawn anew for each participant and session. A session opens with
    stabilising presentations, taken from the items of its second half. Everybody rates each hidden reference once,
    shared out over the sessions.

    Args:
        stock: the items.
        stage: its settings.
        name: the stage's name.
        rng: source of every random choice.
        hidden: ids of reference pictures that are rated like items.

    Raises:
        BadConfig: more judgements than a study may hold, more items per participant than there are, or repeats that do
            not fit into a session.
    """
    n = stock.items.height
    sizes = _sizes(stage, name, n, len(hidden))
    what = _Shown([*stock.items["item"].to_list(), *hidden], n, _references(stock, stage, hidden))
    extra = [len(hidden) // stage.sessions + (s < len(hidden) % stage.sessions) for s in range(stage.sessions)][::-1]
    parts = _evened_parts(stock, stage, sizes, rng)
    rows: dict[str, list[object]] = {key: [] for key in _COLUMNS}
    digits = max(3, len(str(stage.participants)))
    use_broken = uses_broken(stage.check, name, len(stock.broken), stage.checks)
    for number in range(stage.participants):
        unmarked = np.split(n + rng.permutation(len(hidden)), np.cumsum(extra)[:-1])
        owner = f"{name}-{number + 1:0{digits}d}"
        for session, more in enumerate(unmarked, start=1):
            label = owner if stage.sessions == 1 else f"{owner}-s{session}"
            both = np.concatenate([parts[number * stage.sessions + session - 1], more])
            _session(rows, stock, stage, name, owner, label, session, both, what, use_broken, rng)
    return rows


def _evened_parts(stock: Pool, stage: RatingStage, sizes: list[int], rng: np.random.Generator) -> list[Ints]:
    """Items of each participant's sessions, one after another, in random order: each item for about as many participants
    as any other, and each session with its share of every cell whose exposure is counted."""
    n, people, shown = stock.items.height, stage.participants, np.zeros(stock.items.height)
    mine = []
    for _ in range(people):
        mine.append(rng.permutation(np.lexsort((rng.random(n), shown))[: sum(sizes)]))
        shown[mine[-1]] += 1
    item = np.concatenate(mine)
    sheet = np.repeat(np.arange(people * stage.sessions), np.tile(sizes, people))
    if stage.compare or stage.group:
        cells, weight = exposure_cells(stock.items, stage.compare, stage.group, people * stage.sessions, by_item=False)
        owner = np.repeat(np.arange(people), stage.sessions)
        sheet = evened(sheet, item, owner, cells[item], weight, rng)
    order = np.lexsort((rng.random(item.size), sheet))
    return np.split(item[order], np.cumsum(np.tile(sizes, people))[:-1])


def _references(stock: Pool, stage: RatingStage, hidden: Sequence[str]) -> Ints:
    """Ids of the reference pictures behind each item and hidden reference, one column for each factor concerned."""
    factors = [factor for factor in dict.fromkeys([stage.reference, stage.hidden_references]) if factor]
    n = stock.items.height + len(hidden)
    columns, start = [np.empty((n, 0), dtype=np.int64)], 0
    pictures = [shown_reference(item) for item in hidden]
    for factor in factors:
        levels = stock.items[factor].to_list() + [p[1] if p and p[0] == factor else None for p in pictures]
        codes: dict[object, int] = {}
        column = [
            codes.setdefault(level if level is not None else (row,), len(codes)) for row, level in enumerate(levels)
        ]
        columns.append(start + np.array(column, dtype=np.int64)[:, None])
        start += len(codes)
    return np.concatenate(columns, axis=1)


def _sizes(stage: RatingStage, name: str, n: int, n_hidden: int) -> list[int]:
    """Different items of each session, hidden references aside."""
    if stage.items is None:
        if stage.sessions > n:
            raise BadConfig(
                f"stage '{name}': sessions = {stage.sessions} for {n} items; lower it", where="stage.sessions"
            )
        sizes = [n // stage.sessions + (s < n % stage.sessions) for s in range(stage.sessions)]
    else:
        sizes = [stage.items] * stage.sessions
    if sum(sizes) > n:
        raise BadConfig(
            f"stage '{name}': items = {stage.items} in {stage.sessions} sessions are more than the {n} there are; "
            "lower items or sessions",
            where="stage.items",
        )
    at_most_judgements(name, stage.participants, sum(stage.in_session(size) for size in sizes) + n_hidden)
    if stage.repeats > min(sizes):
        raise BadConfig(
            f"stage '{name}': repeats = {stage.repeats} is more than the {min(sizes)} items of a session",
            where="stage.repeats",
        )
    if stage.repeats and stage.repeat_distance > min(sizes):
        raise BadConfig(
            f"stage '{name}': repeat_distance = {stage.repeat_distance} does not fit a session of {min(sizes)} items",
            where="stage.repeat_distance",
        )
    return sizes


def _session(
    rows: dict[str, list[object]],
    stock: Pool,
    stage: RatingStage,
    name: str,
    owner: str,
    label: str,
    session: int,
    part: Ints,
    what: _Shown,
    use_broken: bool,
    rng: np.random.Generator,
) -> None:
    repeated = rng.permutation(np.flatnonzero(part < what.n_items))[: stage.repeats]
    pictures = np.concatenate([part[:, None], what.references[part]], axis=1)
    places, is_repeat = ordered(pictures, np.sort(repeated), stage.repeat_distance, rng, items=1)
    later = np.unique(part[places[places.size // 2 :]])
    later = later if later.size > 2 else np.unique(part)
    openers = rng.permutation(later[later != part[places[0]]] if later.size > 1 else later)
    openers = openers[np.arange(stage.stabilising)[::-1] % openers.size]
    offered = stock.sound if use_broken else np.arange(what.n_items)
    ids = np.concatenate([offered[:, None], what.references[offered] + len(what.names)], axis=1)
    expected: dict[int, str] = {}

    def choose(number: int, near: set[int]) -> tuple[int, Ints, int]:
        expected[number] = _expected(stage, use_broken, rng)
        price = shared_with(near, ids, 1)
        best = int((price + rng.random(price.size)).argmin())
        return best, ids[best], int(price[best])

    pictures = np.concatenate([part[:, None], what.references[part] + len(what.names)], axis=1)
    checks = laid_checks(pictures[places], stage.checks, choose, rng)
    answers = [expected[number] for number in range(stage.checks)]
    first: dict[int, str] = {}
    done = checked = 0
    for position in range(1, openers.size + places.size + stage.checks + 1):
        at = position - openers.size - 1
        trial = f"{label}-{position:03d}"
        row: dict[str, object] = dict.fromkeys(_COLUMNS)
        row |= {"trial": trial, "sheet": label, "owner": owner, "session": str(session), "stage": name}
        row["position"] = position
        if at < 0:
            row |= {"kind": "stabilising", "item": what.names[openers[position - 1]]}
        elif at in checks:
            item = (stock.broken if use_broken else what.names)[checks[at]]
            row |= {"kind": "check", "item": item, "expected": answers[checked]}
            row["check"] = "broken" if use_broken else "instructed"
            checked += 1
        else:
            index = int(places[done])
            row |= {"kind": "repeat" if is_repeat[done] else "main", "item": what.names[part[index]]}
            if is_repeat[done]:
                row["repeat_of"] = first[index]
            else:
                first[index] = trial
            done += 1
        for key, value in row.items():
            rows[key].append(value)


def _expected(stage: RatingStage, use_broken: bool, rng: np.random.Generator) -> str:
    """The value that a check wants: the low end for a broken item, any value of the scale where the page tells it."""
    steps = 0 if use_broken else int(rng.integers(round((stage.high - stage.low) / stage.step) + 1))
    return f"{stage.low + stage.step * steps:.10g}"

"""Stages of ratings: every participant's items, shared out over sessions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..errors import BadConfig
from .checks import Pool, check_places, uses_broken
from .deal import ordered
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


def rating_rows(stock: Pool, stage: RatingStage, name: str, rng: np.random.Generator) -> dict[str, list[object]]:
    """Return the columns of a stage of ratings: one sheet per participant and session.

    Each item is rated equally often (+-1); order is drawn anew for each session. A session opens with stabilising
    presentations, taken from the items of its second half.

    Args:
        stock: the items.
        stage: its settings.
        name: the stage's name.
        rng: source of every random choice.

    Raises:
        BadConfig: more judgements than a study may hold, more items per participant than there are, or repeats that do
            not fit into a session.
    """
    n = stock.items.height
    sizes = _sizes(stage, name, n)
    shown = np.zeros(n)
    rows: dict[str, list[object]] = {key: [] for key in _COLUMNS}
    digits = max(3, len(str(stage.participants)))
    use_broken = uses_broken(stage.check, name, len(stock.broken), stage.checks)
    for number in range(stage.participants):
        mine = rng.permutation(np.lexsort((rng.random(n), shown))[: sum(sizes)])
        shown[mine] += 1
        parts = np.split(mine, np.cumsum(sizes)[:-1])
        owner = f"{name}-{number + 1:0{digits}d}"
        for session, part in enumerate(parts, start=1):
            label = owner if stage.sessions == 1 else f"{owner}-s{session}"
            _session(rows, stock, stage, name, owner, label, session, part, use_broken, rng)
    return rows


def _sizes(stage: RatingStage, name: str, n: int) -> list[int]:
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
    at_most_judgements(name, stage.participants, sum(stage.in_session(size) for size in sizes))
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
    use_broken: bool,
    rng: np.random.Generator,
) -> None:
    items = stock.items["item"].to_list()
    repeated = rng.permutation(part.size)[: stage.repeats]
    places, is_repeat = ordered(part[:, None], np.sort(repeated), stage.repeat_distance, rng, items=1)
    later = part[places[places.size // 2 :]]
    openers = rng.permutation(np.unique(later))
    openers = openers[np.arange(stage.stabilising) % openers.size]
    at_check = np.zeros(places.size + stage.checks, dtype=bool)
    at_check[check_places(places.size, stage.checks, rng)] = True
    first: dict[int, str] = {}
    done = 0
    for position in range(1, openers.size + at_check.size + 1):
        trial = f"{label}-{position:03d}"
        row: dict[str, object] = dict.fromkeys(_COLUMNS)
        row |= {"trial": trial, "sheet": label, "owner": owner, "session": str(session), "stage": name}
        row["position"] = position
        if position <= openers.size:
            row |= {"kind": "stabilising", "item": items[openers[position - 1]]}
        elif at_check[position - openers.size - 1]:
            row |= {"kind": "check", **_check(stock, stage, items, use_broken, rng)}
        else:
            index = int(places[done])
            row |= {"kind": "repeat" if is_repeat[done] else "main", "item": items[part[index]]}
            if is_repeat[done]:
                row["repeat_of"] = first[index]
            else:
                first[index] = trial
            done += 1
        for key, value in row.items():
            rows[key].append(value)


def _check(
    stock: Pool, stage: RatingStage, items: list[str], use_broken: bool, rng: np.random.Generator
) -> dict[str, object]:
    if use_broken:
        expected, item = stage.low, stock.broken[int(rng.integers(len(stock.broken)))]
    else:
        steps = round((stage.high - stage.low) / stage.step)
        expected, item = stage.low + stage.step * int(rng.integers(steps + 1)), items[int(rng.integers(len(items)))]
    return {"item": item, "expected": f"{expected:.10g}", "check": "broken" if use_broken else "instructed"}

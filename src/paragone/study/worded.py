"""Numbers, lists and spreads as they stand in a sentence of a methods paragraph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

__all__ = ["counted", "listed", "number", "spread", "tally"]


def number(value: float) -> str:
    """A number with thousands set apart and no more digits than it has, at most six: 23,760 or 8.57."""
    if float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:,.6g}"


def counted(n: int, one: str, many: str = "") -> str:
    """A number and its noun: '1 session', '5 sessions'."""
    return f"{number(n)} {one if n == 1 else many or f'{one}s'}"


def listed(words: Iterable[str]) -> str:
    """Words with commas, and an 'and' before the last."""
    words = list(words)
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else "nothing"


def tally(counts: Mapping[str, int]) -> str:
    """What was counted, most frequent first: '12 female, 10 male'."""
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(f"{number(n)} {word}" for word, n in ordered)


def spread(values: Sequence[float], unit: str, digits: int) -> str:
    """Median and quartiles: 'median 7.4 s (quartiles 5.1 and 10.2 s)'; values must not be empty."""
    low, middle, high = (f"{x:,.{digits}f}" for x in np.percentile(np.asarray(values, dtype=np.float64), [25, 50, 75]))
    return f"median {middle} {unit} (quartiles {low} and {high} {unit})"

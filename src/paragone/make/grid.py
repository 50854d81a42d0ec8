"""Which cells of a benchmark are filled: a grid for people, and the list of what is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod

import polars as pl
from rich.cells import cell_len, set_cell_size

from ..benchmark import Benchmark
from ..design.checks import BROKEN
from ..errors import BadInput, UnknownName

__all__ = ["SIGNS", "CellGrid", "Coverage", "coverage", "listed"]

SIGNS: Mapping[str, str] = {
    "ok": ".",
    "missing": "-",
    "duplicate": "2",
    "ambiguous": "?",
    "failed": "F",
    "refused": "R",
    "invalid": "X",
    "wrong_size": "S",
}
"""What became of a cell -> its sign in the grid; 'duplicate': several files for it, none of them taken."""

_WORDS = {"duplicate": "ambiguous (several files)", "ambiguous": "ambiguous (several readings)"}

_WIDEST = 24  # signs side by side; our choice: more are counted, since nobody could tell which is which


@dataclass(frozen=True)
class Coverage:
    """How many pictures there are for each cell of two factors, and which combinations of all factors lack one."""

    frame: pl.DataFrame
    """One row per level of the first factor; first column its levels, then one column of counts per level of the
    second."""
    missing: list[str]
    """Ids (levels joined by '/') of the combinations of all factors that no item has; empty, too, where there are more
    than a million combinations."""
    expected: int
    """Number of combinations of all factors."""
    n_missing: int
    """Combinations that no item has, listed or not."""

    @property
    def text(self) -> str:
        """The grid, and what is missing, as plain text."""
        names, rows = self.frame.columns, self.frame.rows()
        widths = [max(len(str(row[k])) for row in [names, *rows]) for k in range(len(names))]
        lines = [
            "  ".join(
                str(cell).ljust(width) if k == 0 else str(cell).rjust(width)
                for k, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in [names, *rows]
        ]
        if self.n_missing:
            named = f": {listed(self.missing)}" if self.missing else ", too many combinations to list"
            lines.append(f"missing {self.n_missing} of {self.expected}{named}")
        else:
            lines.append(f"complete: {self.expected} of {self.expected}")
        return "\n".join(lines)


@dataclass(frozen=True)
class CellGrid:
    """What became of every cell of every method: methods x the other factors x a sign for each level of the first."""

    factors: tuple[str, ...]
    """Without the method; the first is spread out into signs."""
    cells: Mapping[str, Mapping[tuple[str, ...], str]]
    """Method -> levels -> a key of `SIGNS`."""
    extra: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Method -> files of its folder that are no cell."""

    @property
    def text(self) -> str:
        """Plain lines: one if every cell of every method is ok, else the grid of the methods that lack some."""
        every = [status for own in self.cells.values() for status in own.values()]
        gaps = {method: own for method, own in self.cells.items() if set(own.values()) - {"ok"}}
        counted = [(self.cells, "method"), *zip(self._levels, self.factors, strict=True)]
        sizes = " x ".join(f"{len(own)} {name}{'s' * (len(own) > 1)}" for own, name in counted)
        extra = sum(map(len, self.extra.values()))
        more = f"; {extra} file{'s' * (extra > 1)} of no cell" if extra else ""
        if not gaps:
            return f"complete: {len(every)} of {len(every)} cells ({sizes}){more}"
        full = [method for method in self.cells if method not in gaps]
        counts = Counter(every)
        parts = [f"{counts[key]} {_WORDS.get(key, key)}" for key in SIGNS if counts[key]]
        lines = [*self._drawn(gaps), self._legend(gaps), *([f"complete: {listed(full, 12)}"] if full else [])]
        return "\n".join([*lines, f"{', '.join(parts)} of {len(every)} cells ({sizes}){more}"])

    @property
    def _levels(self) -> list[list[str]]:
        """Levels of each factor, in the cells' order."""
        keys = [key for own in self.cells.values() for key in own]
        return [list(dict.fromkeys(key[k] for key in keys)) for k in range(len(self.factors))]

    def _drawn(self, gaps: Mapping[str, Mapping[tuple[str, ...], str]]) -> list[str]:
        """Rows of methods, columns of the other factors' levels; as many blocks as fit side by side on a line."""
        first, *others = self._levels
        columns = list(product(*others))
        heads = [_shown("/".join(column)) or self.factors[0] for column in columns]
        rows = {
            method: [_signs([own.get((level, *column)) for level in first]) for column in columns]
            for method, own in gaps.items()
        }
        widths = [max(cell_len(head), *(len(row[k]) for row in rows.values())) for k, head in enumerate(heads)]
        side = max(map(len, [*rows, "method"]))
        lines: list[str] = []
        start = 0
        while start < len(columns):
            stop, used = start + 1, side + 2 + widths[start]
            while stop < len(columns) and used + 2 + widths[stop] <= 118:
                used += 2 + widths[stop]
                stop += 1
            block = slice(start, stop)
            for name, row in [("method", heads), *rows.items()]:
                cut = [set_cell_size(text, width) for text, width in zip(row[block], widths[block], strict=True)]
                lines.append("  ".join([name.ljust(side), *cut]).rstrip())
            start = stop
        return lines

    def _legend(self, gaps: Mapping[str, Mapping[tuple[str, ...], str]]) -> str:
        seen = {status for own in gaps.values() for status in own.values()}
        signs = "  ".join(f"{sign} {_WORDS.get(key, key)}" for key, sign in SIGNS.items() if key in seen)
        first = self._levels[0]
        if len(first) > _WIDEST:
            return f"in each column: cells that are ok, of all levels of {self.factors[0]}; cells.csv names the others"
        return f"{signs}; one sign for each {self.factors[0]}: {', '.join(map(_shown, first))}"


def coverage(benchmark: Benchmark, rows: str = "", columns: str = "") -> Coverage:
    """Return how many items each cell of two factors has, and which combinations of all factors have none.

    Args:
        benchmark: the items; broken versions do not count.
        rows, columns: factors; empty: the first and the last.

    Raises:
        BadInput: the benchmark has no factors.
        UnknownName: no such factor.
    """
    factors = [factor for factor in benchmark.factors if factor != BROKEN]
    if not factors:
        raise BadInput("the benchmark has no factors, so there is no grid to fill", where="items")
    rows, columns = rows or factors[0], columns or factors[-1]
    for factor in (rows, columns):
        if factor not in factors:
            raise UnknownName.among(factor, factors, "factor")
    items = benchmark.items
    if BROKEN in benchmark.factors:
        items = items.filter(pl.col(BROKEN).is_null())
    levels = [items[factor].drop_nulls().unique().sort().to_list() for factor in factors]
    expected = prod(map(len, levels))
    have = set(items.select(factors).iter_rows())
    missing = ["/".join(cell) for cell in product(*levels) if cell not in have] if expected <= 1_000_000 else []
    counts = items.group_by(list(dict.fromkeys([rows, columns]))).len()
    cell = {tuple(row[:-1]): row[-1] for row in counts.iter_rows()}
    across = [""] if rows == columns else levels[factors.index(columns)]
    grid = [
        {rows: level, **{other or "items": cell.get((level, other) if other else (level,), 0) for other in across}}
        for level in levels[factors.index(rows)]
    ]
    whole = {cell for cell in have if None not in cell}
    return Coverage(pl.DataFrame(grid), missing, expected, expected - len(whole))


def listed(names: Sequence[str], shown: int = 5) -> str:
    """Return the first names, and how many more there are."""
    return ", ".join(names[:shown]) + (f", and {len(names) - shown} more" if len(names) > shown else "")


def _shown(name: str) -> str:
    """A name on one line."""
    return "".join(sign if sign.isprintable() else "?" for sign in name)


def _signs(statuses: Sequence[str | None]) -> str:
    """A sign a cell; a count of those that are ok where there are too many of them."""
    if len(statuses) > _WIDEST:
        return f"{sum(status == 'ok' for status in statuses)}/{sum(status is not None for status in statuses)}"
    return "".join(" " if status is None else SIGNS[status] for status in statuses)

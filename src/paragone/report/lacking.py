"""Which methods lack combinations of the other factors: their scores rest on other pictures than those of the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from ..benchmark import BROKEN, Benchmark
from .digits import count, fixed, joined
from .index import Index
from .ranked import MAKERS, factor_of

__all__ = ["Lacking", "compared_factors", "lacking", "lacking_in"]

_ALWAYS = ("content", "style", "prompt")  # what every method is given, by the usual names of those factors
_NAMED = 6  # levels that the sentence names; our choice: of more it counts them and names the one that lacks most

_Cells = dict[str, set[tuple[str, ...]]]


@dataclass(frozen=True)
class Lacking:
    """The levels of a factor that lack combinations of the others which some level has."""

    factor: str
    others: tuple[str, ...]
    """The factors that are combined."""
    have: Mapping[str, int]
    """Level that lacks some -> combinations that it has; most lacking first."""
    expected: int
    """Combinations that any level has."""
    levels: int
    """Levels of the factor, those that lack nothing among them."""

    @property
    def sentence(self) -> str:
        """'imaginary has 8 of 12 combinations of content and style; its score rests on fewer, and other, pictures.'"""
        rest = "rests on fewer, and other, pictures than those of the rest"
        combinations = f"{count(self.expected, self._word)} of {joined(self.others)}"
        names = list(self.have)
        if len(names) > _NAMED:
            some = f"{fixed(len(names), 0)} of {count(self.levels, self.factor)} lack some of {combinations}"
            most = f"{names[0]} has the fewest, {_number(self.have[names[0]])}"
            return f"{some}; {most}. Their scores do not rest on the same pictures."
        if len(names) == 1:
            return f"{names[0]} has {_number(self.have[names[0]])} of {combinations}; its score {rest}."
        if len(set(self.have.values())) == 1:
            have = f"{joined(names)} have {_number(self.have[names[0]])} of {combinations} each"
        else:
            parts = [f"{name} has {_number(self.have[name])}" for name in names]
            have = f"Of {combinations}, {joined(parts)}"
        return f"{have}; their scores do not rest on the same pictures."

    @property
    def caution(self) -> str:
        """A short sentence beside whoever leads."""
        return f"Caution: not every {self.factor} has the same {self._word}s of {joined(self.others)}."

    @property
    def _word(self) -> str:
        return "combination" if len(self.others) > 1 else "level"


def compared_factors(index: Index) -> list[str]:
    """The factors whose levels a reader compares: those with scores, and what made the pictures."""
    benchmark = index.material.benchmark
    scored = [factor_of(scores) for scores in index.material.level_scores]
    makers = [] if benchmark is None else [factor for factor in MAKERS if factor in benchmark.factors][:1]
    return list(dict.fromkeys([*makers, *scored]))


def lacking_in(index: Index, factor: str) -> Lacking | None:
    """As `lacking`, of the benchmark of the report; None, too, where that is not known."""
    benchmark = index.material.benchmark
    return None if benchmark is None or factor not in benchmark.factors else lacking(benchmark, factor)


def lacking(benchmark: Benchmark, factor: str) -> Lacking | None:
    """Find the levels of a factor that lack combinations of the others; broken versions do not count.

    Args:
        benchmark: the items.
        factor: one of its factors.

    Returns:
        Who lacks what; None where all levels have the same combinations. The factors that are combined are those that
        every level is given: with reference pictures or named content, style or prompt, and those further ones in which
        some level has all that another has. A factor that follows from this one or from the combination is left out.
    """
    items = benchmark.items
    if BROKEN in items.columns:
        items = items.filter(pl.col(BROKEN).is_null()).drop(BROKEN)
    items = items.filter(pl.col(factor).is_not_null())
    given = {*benchmark.references["factor"], *_ALWAYS}
    rest = [name for name in items.columns[2:] if name != factor and _varies(items, [factor], name)]
    others = [name for name in rest if name in given]
    for name in rest:
        if name not in given and _varies(items, others, name) and _nested(_cells(items, factor, [*others, name])):
            others.append(name)
    if not others:
        return None
    cells = _cells(items, factor, others)
    every = set().union(*cells.values())
    have = {level: len(own) for level, own in cells.items() if own != every}
    if not have:
        return None
    ordered = dict(sorted(have.items(), key=lambda pair: (pair[1], pair[0])))
    return Lacking(factor, tuple(name for name in rest if name in others), ordered, len(every), len(cells))


def _varies(items: pl.DataFrame, within: Sequence[str], name: str) -> bool:
    """Whether a factor has several levels within one combination of some others; of none: at all."""
    known = items.drop_nulls(name)
    if not within:
        return known[name].n_unique() > 1
    return bool(known.group_by(within).agg(pl.col(name).n_unique())[name].gt(1).any())


def _cells(items: pl.DataFrame, factor: str, others: Sequence[str]) -> _Cells:
    """Level -> the combinations of the others that it has."""
    found: _Cells = {level: set() for level in items[factor].unique().sort()}
    for level, *cell in items.select(factor, *others).drop_nulls().iter_rows():
        found[level].add(tuple(cell))
    return found


def _nested(cells: _Cells) -> bool:
    """Whether some level has all that another has."""
    own = list(cells.values())
    return any(a <= b for at, a in enumerate(own) for b in [*own[:at], *own[at + 1 :]] if a)


def _number(n: int) -> str:
    return fixed(n, 0) if n else "none"

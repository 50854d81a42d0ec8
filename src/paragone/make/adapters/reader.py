"""Read one path by one layout: the cells it can be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import product
from pathlib import Path, PurePosixPath

from ...errors import BadConfig, UnknownName
from ...images import ENDINGS
from ..spelled import Part
from .layouts import Layout
from .likeness import Likeness
from .names import Known, cut_at_dots, parts_of, plain, readings, with_endings

__all__ = ["Reader"]


class Reader:
    """Reads one path by a layout."""

    def __init__(self, layout: Layout, known: Known, root: Path, fixed: Mapping[str, str]) -> None:
        if layout.cut_at_dots:
            known = cut_at_dots(known)
        if layout.keeps_endings:
            known = with_endings(known)
        self.layout, self.known, self.root = layout, known, root
        self._given = {factor: (level,) for factor, level in fixed.items()}
        for factor in known.factors:
            levels = sorted({level for _, level in known.names[factor]})
            if len(levels) == 1:
                self._given.setdefault(factor, (levels[0],))
        self.fits = False
        """Whether some pattern tells every factor of the benchmark."""
        self._patterns = self._parsed(layout.patterns)
        self._loose = self._parsed(layout.loose)
        self._likeness: dict[str, Likeness] = {}

    def _parsed(self, patterns: Sequence[str]) -> list[tuple[int, list[Part]]]:
        """Patterns that speak of nothing but what the benchmark has: number of path components, and parts."""
        made = []
        for pattern in patterns:
            try:
                parts = parts_of(pattern, self.known)
            except UnknownName:
                if self.layout.own:
                    raise
                continue
            told = {value for kind, value in parts if kind == "factor"}
            told |= {*self._given, *self.layout.beside, *self.layout.told}
            unsaid = [factor for factor in self.known.factors if factor not in told and "*" not in told]
            if unsaid and self.layout.own:
                raise BadConfig(
                    f"pattern '{pattern}' says nothing of {' and '.join(unsaid)}; add {{{unsaid[0]}}} or "
                    f"`fixed.{unsaid[0]}`",
                    where="pattern",
                )
            self.fits = self.fits or not unsaid
            made.append((pattern.count("/") + 1, parts))
        return made

    def read(self, path: str) -> tuple[set[tuple[str, ...]], str]:
        """Return the cells a path can be read as, and why where there is none.

        Args:
            path: below root, with '/'.
        """
        text = plain(path).rpartition(".")[0]
        reason = ""
        for patterns in (self._patterns, self._loose):
            cells, why, decided = self._read_by(patterns, path, text)
            if cells or decided:
                return cells, why
            reason = reason or why
        return set(), reason or self._unlike(text)

    @cached_property
    def _folded(self) -> dict[str, list[tuple[str, str]]]:
        """Factor -> its names, and how they are without case; made once, since a folder may hold very many other files."""
        return {
            factor: [(name, plain(name, fold_case=True)) for name, _ in self.known.names[factor]]
            for factor in self.known.factors
        }

    def _unlike(self, text: str) -> str:
        """Why a name is none of this layout: its ids are not known, or they are, and it is written in another way."""
        text = plain(text, fold_case=True)
        held = []
        for factor in self.known.factors:
            own = [name for name, folded in self._folded[factor] if folded in text]
            if not own and factor not in self._given:
                return "no name of this layout with known ids"
            held += [f"'{own[0]}'"] if own else []
        return (
            f"holds {' and '.join(held)}, but is not named as this layout names" if held else "no name of this layout"
        )

    def _read_by(
        self, patterns: Sequence[tuple[int, list[Part]]], path: str, text: str
    ) -> tuple[set[tuple[str, ...]], str, bool]:
        """Cells, why there is none, and whether the name itself rules others out."""
        components = text.split("/")
        cells: set[tuple[str, ...]] = set()
        reason, against = "", ""
        for length, parts in patterns:
            if len(components) < length or (self.layout.anchored and len(components) != length):
                continue
            subject = "/".join(components[-length:])
            for levels in readings(subject, parts, self.known, padded=self.layout.padded):
                contradiction = self._against(levels)
                against = against or contradiction
                if not contradiction:
                    made, why = self._completed(levels, path)
                    cells |= made
                    reason = reason or why
        if against and not cells and not reason:
            return set(), against, True
        inside = {cell for cell in cells if cell in self.known.cells}
        if cells and not inside:
            return set(), f"{'/'.join(sorted(cells)[0])} is no cell of this benchmark", True
        return inside, reason, False

    def _against(self, levels: Mapping[str, str]) -> str:
        """How a name contradicts what is given, if it does."""
        for factor, given in self._given.items():
            if levels.get(factor, given[0]) != given[0]:
                return f"its name says {factor} '{levels[factor]}', not '{given[0]}'"
        return ""

    def _completed(self, levels: Mapping[str, str], path: str) -> tuple[set[tuple[str, ...]], str]:
        """The cells that follow from the levels a name tells and those that lie beside it."""
        choices = []
        told = self.layout.tells(self.root, PurePosixPath(path)) if self.layout.tells else {}
        for factor in self.known.factors:
            own = (levels[factor],) if factor in levels else ()
            choice = own or self._given.get(factor, ()) or self._told(factor, told) or self._seen(factor, path)
            if not choice:
                return set(), f"nothing says its {factor}"
            choices.append(choice)
        return set(product(*choices)), ""

    def _told(self, factor: str, told: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
        for text in (*told.get(factor, ()), *told.get("", ())):
            found = self.known.levels(factor, text) or self.known.levels(factor, PurePosixPath(plain(text)).stem)
            if found:
                return tuple(found)
        return ()

    def _seen(self, factor: str, path: str) -> tuple[str, ...]:
        """The level whose reference picture lies, as a copy, beside the result."""
        old, new = self.layout.beside.get(factor, ("", ""))
        before, mark, after = path.rpartition(old) if old else ("", "", "")
        if not mark:
            return ()
        stem = after.rpartition(".")[0]
        for ending in dict.fromkeys((PurePosixPath(path).suffix, *ENDINGS)):
            other = self.root / f"{before}{new}{stem}{ending}"
            if other.is_file():
                if factor not in self._likeness:
                    self._likeness[factor] = Likeness(self.known.references.get(factor, {}))
                level = self._likeness[factor].level(other)
                return (level,) if level else ()
        return ()

"""`Scores`, the table in which people and machines both end, and `Agreement`, what comes of comparing two of them."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Self

import polars as pl

from .errors import BadInput, BadTable
from .settings import read_toml, write_toml
from .tables import Column, Schema, checked, read_table, write_table

__all__ = ["AGREEMENT", "SCORES", "Agreement", "Better", "Scores"]

Better = Literal["higher", "lower", "unknown"]

SCORES = Schema(
    "scores",
    (
        Column(name="item", kind="id", doc="Scored item; null where a level of a factor is scored."),
        Column(name="of", kind="id", doc="Factor whose level is scored, for example 'method'; null where items are."),
        Column(name="level", kind="id", doc="Level of that factor; null where items are scored."),
        Column(
            name="criterion",
            kind="id",
            doc="What was judged; null: one unnamed criterion, or a metric that claims none.",
        ),
        Column(name="score", kind="number", doc="The score; null where there is none, and `status` says why."),
        Column(name="low", kind="number", doc="Lower end of the 95 % interval; null: none."),
        Column(name="high", kind="number", doc="Upper end of the 95 % interval; null: none."),
        Column(name="rank_low", kind="whole", low=1, doc="Best rank that the data allow; null: unknown."),
        Column(name="rank_high", kind="whole", low=1, doc="Worst rank that the data allow; null: unknown."),
        Column(name="n", kind="number", low=0, doc="Answers (or pictures) behind the score; null: unknown."),
        Column(
            name="status",
            kind="text",
            doc="'ok', or one word that says why there is no score; null: ok, or missing where there is none.",
        ),
    ),
)

AGREEMENT = Schema(
    "agreement",
    (
        Column(name="predictor", kind="id", required=True, nullable=False, doc="Who is compared with people."),
        Column(name="criterion", kind="id", doc="What people judged; null: one unnamed criterion."),
        Column(name="statistic", kind="text", required=True, nullable=False, doc="srcc, krcc, plcc, ..."),
        Column(name="value", kind="number", doc="Its value; null: undefined."),
        Column(name="low", kind="number", doc="Lower end of the 95 % interval; null: none."),
        Column(name="high", kind="number", doc="Upper end of the 95 % interval; null: none."),
        Column(name="n", kind="whole", low=0, doc="Items compared."),
        Column(name="group", kind="id", doc="Part of the items, as 'factor=level'; null: all of them."),
    ),
)


@dataclass(frozen=True)
class Scores:
    """One number per item, or per level of a factor, and criterion, with its interval and who said so."""

    frame: pl.DataFrame
    """Columns as in `SCORES`, one row per (item or level, criterion), sorted by criterion, then item or level."""
    name: str = "scores"
    """Who said so: 'human', or the metric's or evaluator's name."""
    better: Better = "higher"
    """Which end is good. Scores of people are always 'higher'; a bare table of unknown origin is 'unknown'."""
    made: Mapping[str, Any] = field(default_factory=dict)
    """How the scores came about: verb, method, settings, versions, digests, notes."""
    draws: pl.DataFrame | None = None
    """Bootstrap replicates: columns `criterion`, `replicate`, then one Float64 column per item or level; or None."""

    def __post_init__(self) -> None:
        frame = checked(self.frame, SCORES, where=self.name)
        neither = frame.filter(pl.col("item").is_null() & pl.col("level").is_null())
        if neither.height:
            raise BadTable(f"{self.name}: {neither.height} rows name neither an item nor a level", where=self.name)
        keys = ["criterion", "of", "level", "item"]
        frame = frame.sort(keys, nulls_last=False, maintain_order=True)
        twice = frame.filter(frame.select(keys).is_duplicated())
        if twice.height:
            row = twice.row(0, named=True)
            raise BadTable(
                f"{self.name}: '{row['item'] or row['level']}' has {twice.height} rows with a shared criterion; "
                "a scores table holds one row per item and criterion",
                where=self.name,
            )
        frame = frame.with_columns(pl.col("score").fill_nan(None), pl.col("status").fill_null("ok"))
        unsaid = pl.col("score").is_null() & (pl.col("status") == "ok")
        frame = frame.with_columns(status=pl.when(unsaid).then(pl.lit("missing")).otherwise("status"))
        crossed = frame.filter(pl.col("low") > pl.col("high"))
        if crossed.height:
            row = crossed.row(0, named=True)
            raise BadTable(
                f"{self.name}: the interval of '{row['item'] or row['level']}' begins at {row['low']:g} and ends at "
                f"{row['high']:g}; low must not be above high",
                where=self.name,
            )
        object.__setattr__(self, "frame", frame)

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read `<name>.csv` (or .parquet), and `<name>.toml` and `<name>.draws.parquet` where they stand beside it.

        Raises:
            NotFound: no such file.
            BadTable: the table breaks the contract.
        """
        path = Path(path)
        frame = checked(read_table(path), SCORES, where=path.name)
        beside = path.with_suffix(".toml")
        made = read_toml(beside) if beside.exists() else {}
        draws = path.with_suffix(".draws.parquet")
        better = made.get("better", "unknown")
        if better not in ("higher", "lower", "unknown"):
            raise BadInput(f"{beside.name}: better '{better}' is not one of higher, lower, unknown", where=str(beside))
        return cls(
            frame,
            name=str(made.get("name", path.stem)),
            better=better,
            made=made,
            draws=read_table(draws) if draws.exists() else None,
        )

    def write(self, path: str | Path) -> Path:
        """Write the table, and beside it how it was made and, if any, its draws."""
        path = Path(path)
        made: dict[str, Any] = {
            "format": 1,
            "name": self.name,
            "better": self.better,
            "date": datetime.date.today().isoformat(),
            **self.made,
        }
        spare = ["item"] if self.frame["item"].null_count() == self.frame.height else ["of", "level"]
        write_table(self.frame.drop(spare), path)
        write_toml(made, path.with_suffix(".toml"))
        beside = path.with_suffix(".draws.parquet")
        if self.draws is not None:
            write_table(self.draws, beside)
        else:
            beside.unlink(missing_ok=True)
        return path

    @property
    def criteria(self) -> list[str | None]:
        """The criteria, in order; [None] where there is one unnamed criterion."""
        return self.frame["criterion"].unique(maintain_order=True).to_list()

    @property
    def key(self) -> str:
        """'item', or 'level' where levels of a factor are scored."""
        return "item" if self.frame["item"].null_count() < self.frame.height else "level"

    def of_criterion(self, criterion: str | None) -> pl.DataFrame:
        """The rows of one criterion, in item order."""
        return self.frame.filter(pl.col("criterion").eq_missing(criterion))


@dataclass(frozen=True)
class Agreement:
    """How far each predictor agrees with people."""

    frame: pl.DataFrame
    """Columns as in `AGREEMENT`."""
    tests: pl.DataFrame = field(default_factory=pl.DataFrame)
    """Significance between predictors: predictor_a, predictor_b, criterion, statistic, difference, low, high, p,
    p_holm, method, n; empty where fewer than two predictors were compared."""
    notes: Mapping[str, Any] = field(default_factory=dict)
    """What a reader must know: unmatched items, curves of the fitted logistic, convergence, warnings."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "frame", checked(self.frame, AGREEMENT, where="agreement"))

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read `agreement.csv`, and `agreement.tests.csv` and `agreement.toml` where they stand beside it."""
        path = Path(path)
        beside = path.with_suffix(".toml")
        tests = path.with_suffix(".tests" + path.suffix)
        numbers = ["difference", "low", "high", "p", "p_holm", "n"]
        return cls(
            checked(read_table(path), AGREEMENT, where=path.name),
            tests=read_table(tests).with_columns(pl.col(numbers).cast(pl.Float64))
            if tests.exists()
            else pl.DataFrame(),
            notes=read_toml(beside).get("notes", {}) if beside.exists() else {},
        )

    def write(self, path: str | Path) -> Path:
        """Write the table, and beside it the tests between predictors and the notes."""
        path = Path(path)
        write_toml({"format": 1, "verb": "compare", "notes": self.notes}, path.with_suffix(".toml"))
        beside = path.with_suffix(".tests" + path.suffix)
        if self.tests.height:
            write_table(self.tests, beside)
        else:
            beside.unlink(missing_ok=True)
        return write_table(self.frame, path)

"""`CrossValidation`: how far learners, metrics and floors agree with people on items that no learner had seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import polars as pl

from ...errors import BadInput, BadTable, NotFound
from ...settings import read_toml, write_toml
from ...tables import read_table, write_table

__all__ = ["GAINS", "MODELS", "PER_FOLD", "PREDICTIONS", "TABLE", "TESTS", "CrossValidation"]

_WHO = {"predictor": pl.String, "kind": pl.String, "criterion": pl.String}
PREDICTIONS = {
    **_WHO,
    "fold": pl.String,
    "item": pl.String,
    "score": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "people": pl.Float64,
}
"""One row for each item that a fold holds out: the score in the predictor's own unit, and people's."""
PER_FOLD = {
    **_WHO,
    "fold": pl.String,
    "statistic": pl.String,
    "value": pl.Float64,
    "n": pl.Int64,
    "note": pl.String,
}
"""One correlation a fold; null where it is undefined, and `note` says why."""
TABLE = {
    **_WHO,
    "statistic": pl.String,
    "folds": pl.Int64,
    "mean": pl.Float64,
    "sd": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "pooled": pl.Float64,
    "pooled_low": pl.Float64,
    "pooled_high": pl.Float64,
    "within": pl.Float64,
    "within_low": pl.Float64,
    "within_high": pl.Float64,
    "groups": pl.Int64,
    "n": pl.Int64,
    "note": pl.String,
}
"""One row for each predictor, criterion and statistic. `folds` counts those in which the correlation is defined: the
mean is over them. `n`: items behind `pooled`; of a set metric, levels. `groups`: behind `within`."""
TESTS = {
    "predictor": pl.String,
    "other": pl.String,
    "other_kind": pl.String,
    "criterion": pl.String,
    "statistic": pl.String,
    "method": pl.String,
    "difference": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "p": pl.Float64,
    "p_holm": pl.Float64,
    "n": pl.Int64,
    "note": pl.String,
}
"""A learner minus another predictor. Method 'folds': paired t over n folds; 'levels': pooled correlations,
with their standard error from a bootstrap over n held-out levels."""
GAINS = {
    "learner": pl.String,
    "criterion": pl.String,
    "statistic": pl.String,
    "baseline": pl.String,
    "baseline_kind": pl.String,
    "baseline_mean": pl.Float64,
    "learner_mean": pl.Float64,
    "gain": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "folds": pl.Int64,
    "note": pl.String,
}
"""Relative gain over the strongest metric (and the strongest floor): 0.5 is half as much again."""
MODELS = {
    "predictor": pl.String,
    "criterion": pl.String,
    "fold": pl.String,
    "n": pl.Int64,
    "name": pl.String,
    "value": pl.String,
}
"""What each model says of itself, hyper-parameters among it: one row a fact, n its training items."""

_FILES = {
    "table": ("", TABLE),
    "per_fold": (".folds", PER_FOLD),
    "predictions": (".predictions", PREDICTIONS),
    "tests": (".tests", TESTS),
    "gains": (".gains", GAINS),
    "models": (".models", MODELS),
}
"""Field -> what its file's name has before .csv, and its columns."""


@dataclass(frozen=True)
class CrossValidation:
    """What comes of a validation that holds out whole levels of a factor."""

    factor: str
    """The factor whose levels were held out."""
    table: pl.DataFrame
    """Columns as in `TABLE`."""
    per_fold: pl.DataFrame
    """Columns as in `PER_FOLD`."""
    predictions: pl.DataFrame
    """Columns as in `PREDICTIONS`."""
    tests: pl.DataFrame
    """Columns as in `TESTS`."""
    gains: pl.DataFrame
    """Columns as in `GAINS`."""
    models: pl.DataFrame
    """Columns as in `MODELS`."""
    notes: Mapping[str, Any] = field(default_factory=dict)
    """Protocol, targets, seed, features and backbone with its digest, learners, what was left out, whether answers were
    simulated, and what must be known to read the table."""

    def __post_init__(self) -> None:
        for name, (_, columns) in _FILES.items():
            frame: pl.DataFrame = getattr(self, name)
            lost = [column for column in columns if column not in frame.columns]
            if lost:
                raise BadTable(f"crossval {name}: no column '{lost[0]}'", where=name)
            try:
                object.__setattr__(self, name, frame.select(pl.col(c).cast(kind) for c, kind in columns.items()))
            except pl.exceptions.InvalidOperationError as error:
                raise BadTable(f"crossval {name}: a cell that should be a number is none", where=name) from error

    @property
    def criteria(self) -> list[str | None]:
        """The criteria, in the order of the table."""
        return self.table["criterion"].unique(maintain_order=True).to_list()

    @property
    def simulated(self) -> bool:
        """True where people's answers were simulated."""
        return bool(self.notes.get("simulated", False))

    def write(self, folder: str | Path, *, name: str | None = None) -> Path:
        """Write six tables and `<name>.toml` into a folder, each file whole or not at all.

        Args:
            folder: where to; made if it is not there.
            name: of the files, without ending; None: 'crossval-<factor>'. Two protocols on one factor need two names.

        Returns:
            The path of the main table, `<name>.csv`.
        """
        folder = Path(folder)
        name = name or f"crossval-{self.factor}".replace("/", "_")
        for attribute, (ending, _) in _FILES.items():
            write_table(getattr(self, attribute), folder / f"{name}{ending}.csv")
        write_toml(
            {"format": 1, "verb": "crossval", "factor": self.factor, "notes": self.notes}, folder / f"{name}.toml"
        )
        return folder / f"{name}.csv"

    @classmethod
    def read(cls, folder: str | Path, *, name: str | None = None) -> Self:
        """Read what `write` wrote.

        Args:
            folder: where it lies.
            name: of the files; None: the only one there.

        Raises:
            NotFound: the folder or a file is missing.
            BadInput: several lie there and no name was given.
            BadTable: a table lacks a column, or has text where a number should be.
        """
        folder = Path(folder)
        if not folder.is_dir():
            raise NotFound.path(folder, "folder")
        if name is None:
            there = sorted(path.stem for path in folder.glob("*.toml") if read_toml(path).get("verb") == "crossval")
            if not there:
                raise NotFound(f"no cross-validation in '{folder}'; run crossval first", where=str(folder))
            if len(there) > 1:
                raise BadInput(f"'{folder}' holds {', '.join(there)}; name one", where=str(folder))
            name = there[0]
        made = read_toml(folder / f"{name}.toml")
        frames = {attribute: read_table(folder / f"{name}{ending}.csv") for attribute, (ending, _) in _FILES.items()}
        return cls(str(made.get("factor", "")), notes=made.get("notes", {}), **frames)

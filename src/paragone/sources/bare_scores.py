"""Any table of scores, by its own words: one column of scores, one column a metric, or one row a metric and item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from ..errors import BadTable
from ..scores import SCORES, Better, Scores
from ..settings import read_toml
from ..tables import MISSING, Column, Schema, Table, checked, open_table, shown
from .cells import clean_number, composed, without_blank_rows
from .records import Reading
from .words import SCORE_WORDS, match_columns

__all__ = ["read_scores"]

_SCORE = ("score", "value", "mos")
_METRIC = ("metric", "predictor", "algorithm", "estimator", "evaluator")


def read_scores(
    path: str | Path,
    columns: Mapping[str, str] | None = None,
    *,
    better: Better = "unknown",
    encoding: str | None = None,
    separator: str | None = None,
    sheet: str | None = None,
) -> Reading[tuple[Scores, ...]]:
    """Read scores of people or machines from a CSV, TSV, Parquet or XLSX file of anybody's making.

    A file with a column `score` (or value, mos) gives one Scores, or one per word of a column `metric`. A file with an
    item column and further columns of numbers gives one Scores per column, named after it. A file that this package
    wrote comes back as it was.

    Args:
        path: the file.
        columns: our column -> the file's; `score=THEIRS` picks one column out of many.
        better: which end is good, where the file does not say.
        encoding: of a text file; None: UTF-8, or UTF-16 by its mark.
        separator: of a text file; None: found.
        sheet: of a workbook; None: the first.

    Returns:
        The scores in the order of the file; an empty cell is a null score with status 'missing'.

    Raises:
        NotFound: no such file.
        BadTable: the file cannot be read, an item stands twice, or no column holds numbers; holds all faults.
        UnknownName: `columns` names a column that is not there.
    """
    path = Path(path)
    if not columns and _is_ours(path):
        return Reading((Scores.read(path),))
    where = path.name
    columns = columns or {}
    table = composed(open_table(path, encoding=encoding, separator=separator, sheet=sheet), columns)
    frame, rows, notes = without_blank_rows(table)
    if not frame.height:
        raise BadTable(f"{where}: a header and no rows; nothing to read", where=where)
    by_level = {"of", "level"} <= {*frame.columns, *columns}
    needed = ["level"] if by_level else ["item"]
    match = match_columns(frame.columns, SCORES, columns, SCORE_WORDS, where=where, needed=needed)
    theirs = dict(match.theirs)
    left = [name for name in frame.columns if name not in theirs.values()]
    if "score" not in theirs:
        likely = [name for name in left if name.strip().lower() in _SCORE]
        if len(likely) == 1:
            theirs["score"] = likely[0]
    keys = [ours for ours in ("item", "of", "level", "criterion") if ours in theirs]
    notes = [*table.notes, *match.notes, *notes]
    if "score" in theirs:
        metric = next((name for name in left if name.strip().lower() in _METRIC), None)
        made = _long(table, frame, rows, theirs, metric, path, better)
    else:
        made = _wide(table, frame, rows, theirs, keys, path, better, notes)
    mapped = {ours: name for ours, name in theirs.items() if ours != name}
    return Reading(tuple(made), tuple(notes), mapped)


def _is_ours(path: Path) -> bool:
    """Whether this package wrote the table: it says so in the file beside it."""
    beside = path.with_suffix(".toml")
    return path.is_file() and beside.is_file() and {"format", "better"} <= set(read_toml(beside))


def _long(
    table: Table,
    frame: pl.DataFrame,
    rows: pl.Series,
    theirs: Mapping[str, str],
    metric: str | None,
    path: Path,
    better: Better,
) -> list[Scores]:
    faults: list[str] = []
    named = {ours: _numbers(frame[name], ours, name, table, rows, faults) for ours, name in theirs.items()}
    named |= {"\0metric": frame[metric].cast(pl.String)} if metric is not None else {}
    body = _checked(pl.DataFrame([s.alias(name) for name, s in named.items()]), SCORES, theirs, rows, path.name, faults)
    if metric is None:
        _refuse_twice(body, ["item", "of", "level", "criterion"], rows, path.name)
        return [_scores(body, path.stem, path, better)]
    _refuse_twice(body, ["\0metric", "item", "of", "level", "criterion"], rows, path.name)
    parts = body.partition_by("\0metric", as_dict=True, maintain_order=True, include_key=False)
    return [_scores(part, str(name), path, better) for (name,), part in parts.items()]


def _wide(
    table: Table,
    frame: pl.DataFrame,
    rows: pl.Series,
    theirs: Mapping[str, str],
    keys: Sequence[str],
    path: Path,
    better: Better,
    notes: list[str],
) -> list[Scores]:
    left = [name for name in frame.columns if name not in theirs.values()]
    numeric = [name for name in left if _mostly_numbers(frame[name], table.separator)]
    if not numeric:
        there = ", ".join(shown(name) for name in frame.columns[:12])
        raise BadTable(f"{path.name}: no column holds scores (there is {there}); map score=THEIRS", where=str(path))
    others = [name for name in left if name not in numeric]
    if others:
        notes.append(f"columns without numbers are left out: {', '.join(shown(name) for name in others)}")
    faults: list[str] = []
    cells = [_numbers(frame[name], "score", name, table, rows, faults).alias(name) for name in numeric]
    schema = Schema(
        "scores",
        (
            *(column for column in SCORES.columns if column.name in keys),
            *(Column(name=name, kind="number", doc="Scores.") for name in numeric if name not in keys),
        ),
    )
    ids = [frame[theirs[ours]].alias(ours) for ours in keys]
    body = _checked(pl.DataFrame([*ids, *cells]), schema, theirs, rows, path.name, faults)
    _refuse_twice(body, keys, rows, path.name)
    return [_scores(body.select(*keys, pl.col(name).alias("score")), name, path, better) for name in numeric]


def _scores(body: pl.DataFrame, name: str, path: Path, better: Better) -> Scores:
    status = pl.col("status") if "status" in body.columns else pl.lit(None, dtype=pl.String)
    missing = pl.when(status.is_null() & pl.col("score").is_null()).then(pl.lit("missing")).otherwise(status)
    made = {"verb": "import", "source": path.name}
    return Scores(body.with_columns(missing.alias("status")), name=name, better=better, made=made)


def _numbers(series: pl.Series, ours: str, name: str, table: Table, rows: pl.Series, faults: list[str]) -> pl.Series:
    faults.extend(table.doubts.get(name, ()))
    kind = next((column.kind for column in SCORES.columns if column.name == ours), "id")
    if kind not in ("number", "whole"):
        return series.str.strip_chars() if series.dtype == pl.String else series
    cleaned = clean_number(series, name, table.separator, rows)
    faults.extend(cleaned.faults)
    return cleaned.series


def _checked(
    frame: pl.DataFrame, schema: Schema, called: Mapping[str, str], rows: pl.Series, where: str, faults: list[str]
) -> pl.DataFrame:
    try:
        made = checked(frame, schema, where=where, called=called, rows=rows)
    except BadTable as bad:
        raise BadTable.of_faults(where, list(dict.fromkeys([*faults, *bad.faults]))) from bad
    nameless = made.select(pl.all_horizontal(pl.col([k for k in ("item", "level") if k in made.columns]).is_null()))
    faults += [f"row {rows[int(k)]}: no item" for k in nameless.to_series().arg_true().head(3)]
    if faults:
        raise BadTable.of_faults(where, faults)
    return made


def _refuse_twice(body: pl.DataFrame, keys: Sequence[str], rows: pl.Series, where: str) -> None:
    again = (~body.select(pl.struct(keys).is_first_distinct()).to_series()).arg_true()
    if len(again):
        key = "item" if "item" in keys and body["item"].null_count() < body.height else "level"
        faults = [f"row {rows[int(k)]}: '{shown(body[key][int(k)])}' has a score in an earlier row" for k in again]
        raise BadTable.of_faults(where, faults)


def _mostly_numbers(series: pl.Series, separator: str) -> bool:
    """Whether more than half of the cells that hold anything are numbers: then the others are faults."""
    if series.dtype != pl.String:
        return series.dtype.is_numeric()
    held = series.filter(~series.str.strip_chars().is_in(list(MISSING)).fill_null(True))
    numbers = clean_number(held, series.name, separator).series.str.strip_chars().cast(pl.Float64, strict=False)
    return len(held) > 0 and numbers.null_count() * 2 < len(held)

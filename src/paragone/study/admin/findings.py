"""The pages about what the answers say: design, answers, scores. They show what was computed last and how old it is."""

from __future__ import annotations

import statistics
from dataclasses import replace
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from ..waves import targets
from . import charts
from .advice import Look, advise
from .auth import Who
from .blind import Blind
from .figures.numbers import Number
from .figures.persons import remarked
from .figures.progress import quotas
from .figures.shown import Cells
from .live import Curve, Live, ScoreTable
from .moment import looks, remarks
from .office import Office
from .pages import shown
from .words import decimals

__all__ = ["answers_page", "blinded", "design_page", "scores_page"]

_SHADES = 6
_MOST_ROWS = 60


async def design_page(office: Office, request: Request, who: Who) -> Response:
    """Quotas by criterion, connections, exposure."""
    at = await office.moment()
    live, blind = office.keeper.live, office.blind(at)
    cells = [_cells(table, blind) for table in live.cells] if live is not None else []
    return await shown(office, request, who, "design.html.j2", "/admin/design", at=at, live=live, shown=cells)


def _cells(cells: Cells, blind: Blind) -> dict[str, Any]:
    """A table of counts under the names that may be shown, sorted by them, with a shade for each cell."""
    rows = [blind(cells.rows, level) for level in cells.row_levels]
    columns = [blind(cells.columns, level) for level in cells.column_levels]
    turn = sorted(range(len(rows)), key=lambda k: (len(rows[k]), rows[k]))
    across = sorted(range(len(columns)), key=lambda k: (len(columns[k]), columns[k]))
    most = max((count for row in cells.counts for count in row), default=0) or 1
    same = cells.rows == cells.columns
    table = [
        {
            "name": rows[r],
            "cells": [
                {
                    "count": cells.counts[r][k],
                    "planned": None if same else cells.planned[r][k],
                    "shade": round(_SHADES * cells.counts[r][k] / most),
                }
                for k in across
            ],
        }
        for r in turn
    ]
    return {
        "stage": cells.stage, "rows": cells.rows, "columns": cells.columns, "spread": cells.spread,
        "column_names": [columns[k] for k in across], "table": table,
    }  # fmt: skip


async def answers_page(office: Office, request: Request, who: Who) -> Response:
    """Checks, times, sides, agreement, position; what people wrote."""
    at = await office.moment()
    live = office.keeper.live
    told: dict[str, Any] = {"live": live, "times": None, "alike": None, "remarks": []}
    if live is not None:
        told["times"] = {
            "labels": [f"{row['low']:g}" for row in live.times],
            "kept": [row["kept"] for row in live.times],
            "excluded": [row["excluded"] for row in live.times],
        }
        told["alike"] = _alike(live, office.frozen.criteria)
        told["remarks"] = remarked(await office.store.read(remarks))[:100]
    return await shown(office, request, who, "answers.html.j2", "/admin/answers", at=at, **told)


_STATISTICS = {
    "repeat_kappa": "Cohen's kappa of repeats",
    "repeat_agreement": "same answer to repeats",
    "between_agreement": "same answer of two people",
    "between_alpha": "Krippendorff's alpha between people",
    "icc_2_1": "ICC(2,1), one person",
    "icc_2_k": "ICC(2,k), the mean",
    "alpha_ordinal": "Krippendorff's alpha, ordinal",
    "alpha_interval": "Krippendorff's alpha, interval",
    "split_half": "split halves, correlation",
    "spearman_brown": "split halves, Spearman-Brown",
    "repeat_correlation": "correlation of repeats",
    "repeat_rmse": "distance of repeats, root mean square",
    "between_spearman": "Spearman between people",
    "between_kendall": "Kendall between people",
}


def _alike(live: Live, criteria: tuple[str, ...]) -> dict[str, Any]:
    """How far people agree: one row for each stage and statistic, one column for each criterion; why numbers are missing."""
    numbers = {
        (row["stage"], row["statistic"], row["criterion"]): Number(
            row["value"], row["low"], row["high"], row["n"], row["note"] or ""
        )
        for row in live.consistency
        if row["statistic"] in _STATISTICS
    }
    keys = dict.fromkeys((stage, statistic) for stage, statistic, _ in numbers)
    rows = [
        {
            "stage": stage or "all",
            "statistic": _STATISTICS[statistic],
            "numbers": [numbers.get((stage, statistic, name)) for name in criteria],
        }
        for stage, statistic in keys
        if any(
            (found := numbers.get((stage, statistic, name))) is not None and found.value is not None
            for name in criteria
        )
    ]
    missing = {
        f"Stage {stage or 'all'}: {number.note}." for (stage, _, _), number in numbers.items() if number.note and stage
    }
    return {"rows": rows, "criteria": criteria, "notes": sorted(missing)}


async def scores_page(office: Office, request: Request, who: Who) -> Response:
    """Stop or go on, stability, scores."""
    at = await office.moment()
    live, blind = office.keeper.live, office.blind(at)
    every = await office.store.read(looks)
    advice = advise(office.frozen.study, every, quotas(at.present, targets(office.frozen.study)))
    return await shown(
        office, request, who, "scores.html.j2", "/admin/scores", at=at, live=live, unblinded=at.unblinded, advice=advice,
        looks=every,
        curves=[_curve(curve, every) for curve in live.curves] if live is not None else [],
        tables=[_table(table) for table in blinded(live, blind).tables] if live is not None else [],
    )  # fmt: skip


def blinded(live: Live, blind: Blind) -> Live:
    """The figures under the names that may be shown.

    Args:
        live: as computed.
        blind: gives the names.
    """
    tables = [
        replace(table, rows=[replace(row, name=blind(table.of, row.name)) for row in table.rows])
        for table in live.tables
    ]
    cells = [
        replace(
            part,
            row_levels=[blind(part.rows, level) for level in part.row_levels],
            column_levels=[blind(part.columns, level) for level in part.column_levels],
        )
        for part in live.cells
    ]
    return replace(live, tables=tables, cells=cells)


def _curve(curve: Curve, every: list[Look]) -> dict[str, Any]:
    mine = [(look.finished, look.bounds.get(curve.criterion)) for look in every if look.stage == curve.stage]
    chart = ""
    if curve.sizes:
        said = (
            f"Stability of the ranking by {curve.criterion} in stage {curve.stage}: lower bound {curve.low[-1]:.3f} "
            f"with {curve.people} people, target {curve.target:g}"
        )
        chart = charts.curve(
            curve.sizes,
            curve.median,
            curve.low,
            target=curve.target,
            alt=said,
            axis="finished participants",
            looks=mine,
        )
    return {
        "criterion": curve.criterion, "stage": curve.stage, "sizes": curve.sizes, "ranked": curve.ranked,
        "people": curve.people, "bound": curve.bound, "target": curve.target, "note": curve.note, "chart": chart,
    }  # fmt: skip


def _table(table: ScoreTable) -> dict[str, Any]:
    rows = table.rows[:_MOST_ROWS]
    drawn = [(row.name, row.score.value, row.score.low, row.score.high) for row in rows]
    halves = [
        (row.score.high - row.score.low) / 2 for row in rows if row.score.low is not None and row.score.high is not None
    ]
    middle = statistics.median(halves) if halves else None
    alt = f"Scores by {table.criterion} with 95 % intervals, best first"
    return {
        "criterion": table.criterion, "of": table.of, "stages": table.stages, "people": table.people, "note": table.note,
        "estimator": table.estimator, "unit": table.unit,
        "rows": [
            {"name": row.name, "score": Number(row.score.value, row.score.low, row.score.high, note=row.score.note),
             "rank_low": row.rank_low, "rank_high": row.rank_high, "n": row.score.n}
            for row in rows
        ],
        "places": None if middle is None else decimals(Number(0.0, -middle, middle)),
        "more": len(table.rows) - len(rows), "chart": charts.intervals(drawn, alt=alt, axis=table.unit) if rows else "",
    }  # fmt: skip

"""What learned evaluators gave, as the tables and JSON documents that users script against."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from ..evaluators.protocol.papers import paper_table
from ..evaluators.protocol.validation import CrossValidation
from ..evaluators.stored import load_evaluator
from .documents import score_rows
from .rated import Rated

__all__ = ["crossval_document", "crossval_table", "evaluator_document", "rated_document"]


def crossval_table(found: Mapping[str, CrossValidation]) -> pl.DataFrame:
    """The tables of papers below each other; column `leave_out` names the factor."""
    return pl.concat(
        [paper_table(one).frame.select(pl.lit(factor).alias("leave_out"), pl.all()) for factor, one in found.items()],
        how="diagonal",
    )


def crossval_document(factor: str, validation: CrossValidation) -> dict[str, Any]:
    """The document of one factor in `crossval --json`."""
    return {
        "leave_out": factor,
        "table": validation.table.to_dicts(),
        "per_fold": validation.per_fold.to_dicts(),
        "tests": validation.tests.to_dicts(),
        "gains": validation.gains.to_dicts(),
        "notes": dict(validation.notes),
    }


def evaluator_document(folder: Path) -> dict[str, Any]:
    """The document of `train --json`."""
    made = load_evaluator(folder)
    return {
        "evaluator": folder,
        "name": made.name,
        "features": made.read.definition,
        "backbone": made.read.label,
        "backbone_sha256": made.read.sha256,
        "simulated": made.simulated,
        "criteria": [
            {
                "criterion": criterion,
                "learner": head.learner,
                "columns": int(head.columns.size),
                "without": list(head.without),
                "errors": head.errors._asdict(),
            }
            for criterion, head in made.heads.items()
        ],
    }


def rated_document(found: Rated) -> dict[str, Any]:
    """The document of `rate --json`."""
    return {
        "scores": score_rows(found.scores).to_dicts(),
        "leaderboard": found.board.to_dicts(),
        "warnings": found.warnings,
        "files": found.files,
        "simulated": bool(found.scores.made.get("simulated")),
        "random_weights": bool(found.scores.made.get("random_weights")),
    }

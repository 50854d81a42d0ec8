"""Results as the JSON documents and lines that users script against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from ..consistency import Consistency
from ..scores import Agreement, Scores
from ..screen import Screening, seconds_per_question

__all__ = [
    "agreement_document",
    "consistency_document",
    "measure_document",
    "score_document",
    "score_rows",
    "score_warnings",
    "screening_lines",
]

_GRAPH = ("components", "strong_components", "spectral_gap")


def score_rows(scores: Scores) -> pl.DataFrame:
    """The columns of a scores table that people read, without those that are null throughout."""
    names = ["item", "of", "level", "criterion", "score", "low", "high", "rank_low", "rank_high", "n", "status"]
    more = [name for name in scores.frame.columns if name not in names]
    spare = {"item", "of", "level", "criterion"}
    frame = scores.frame.select(names + more)
    return frame.select(n for n in frame.columns if n not in spare or frame[n].null_count() < frame.height)


def score_document(scores: Scores) -> dict[str, Any]:
    """The document of `score --json`: rows, and notes with method, settings and, for votes, the graph.

    Where several criteria were scored, `notes["criteria"]` holds the notes of each, and the graph's facts at the top are
    the worst over the criteria: most components, smallest spectral gap.
    """
    key = ["item"] if scores.key == "item" else ["of", "level"]
    columns = [*key, "criterion", "score", "low", "high", "rank_low", "rank_high", "n", "status"]
    columns += [name for name in ("connected_group",) if name in scores.frame.columns]
    made = scores.made
    each: Mapping[str, Mapping[str, Any]] = made.get("notes", {})
    notes: dict[str, Any] = {
        "method": made.get("method"),
        "unit": made.get("unit"),
        "settings": made.get("settings", {}),
    }
    each = {criterion: _joined(said) for criterion, said in each.items()}
    if len(each) == 1:
        notes.update(next(iter(each.values())))
    else:
        for fact, worst in zip(_GRAPH, (max, max, min), strict=True):
            values = [said[fact] for said in each.values() if said.get(fact) is not None]
            if values:
                notes[fact] = worst(values)
        notes["criteria"] = dict(each)
    notes["simulated"] = bool(made.get("simulated", False))
    return {"scores": scores.frame.select(columns).to_dicts(), "notes": notes}


def _groups(said: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The notes of each group that was scored alone; none where all items were scored together."""
    return [said[f"group {number}"] for number in range(1, int(said.get("groups", 0)) + 1)]


def _joined(said: Mapping[str, Any]) -> Mapping[str, Any]:
    """The notes of a criterion, with the facts of the whole graph where its groups were scored alone."""
    groups = _groups(said)
    if not groups or "components" in said:
        return said
    whole: dict[str, Any] = {"components": len(groups), "strong_components": None, "spectral_gap": None}
    for fact, join in (("strong_components", sum), ("spectral_gap", min)):
        values: list[float] = [group[fact] for group in groups if group.get(fact) is not None]
        if len(values) == len(groups):
            whole[fact] = join(values)
    return {**said, **whole}


def score_warnings(scores: Scores) -> list[str]:
    """Lines that a reader of the scores must see: dropped answers, missing intervals, one-sided items."""
    lines = []
    noted = [
        (f" ({criterion})" if criterion else "", said)
        for criterion, whole in scores.made.get("notes", {}).items()
        for said in (whole, *_groups(whole))
    ]
    for where, said in noted:
        for key, words in _WORTH_SAYING.items():
            value = said.get(key)
            if value:
                count = len(value) if isinstance(value, (list, tuple)) else value
                lines.append(f"{count} {words}{where}")
        for key in ("intervals", "ranks"):
            if str(said.get(key, "")).startswith(("none", "bootstrap by answer")):
                lines.append(f"{key}: {said[key]}{where}")
    return lines


_WORTH_SAYING = {
    "never_shown": "items were never shown and have no score",
    "never_winning": "items never won; plain maximum likelihood has no finite score for them",
    "never_losing": "items never lost; plain maximum likelihood has no finite score for them",
    "self_pairs": "votes of an item against itself were left out",
    "without_level": "answers whose item has no level of the factor were left out",
    "same_level": "votes between items of one level were left out",
    "participants_dropped": "participants were dropped: they gave one answer throughout",
    "replicates_undetermined": "bootstrap replicates did not determine the scores and were left out",
    "items_with_one_rating": "items have one rating, so no spread of their own",
    "clipped": "values were clipped",
    "outside": "values lie outside the scale",
}


def consistency_document(found: Sequence[Consistency]) -> dict[str, Any]:
    """The document of `consistency --json`."""
    notes = {str(key): value for one in found for key, value in one.notes.items()}
    return {"statistics": [row for one in found for row in one.frame.to_dicts()], "notes": notes}


def measure_document(scores: list[Scores]) -> dict[str, Any]:
    """The document of `measure --json`: one row per item and metric, and the facts about each metric."""
    rows = [
        {"item": row["item"], "metric": made.name, "score": row["score"], "status": row["status"]}
        for made in scores
        for row in made.frame.iter_rows(named=True)
    ]
    metrics = {
        made.name: {"better": made.better, **{k: made.made.get(k) for k in ("definition", "range", "source", "unit")}}
        for made in scores
    }
    return {"scores": rows, "metrics": metrics}


def agreement_document(agreement: Agreement) -> dict[str, Any]:
    """The document of `compare --json`."""
    return {
        "agreement": agreement.frame.to_dicts(),
        "tests": agreement.tests.to_dicts(),
        "notes": dict(agreement.notes),
    }


def screening_lines(screening: Screening, *, seed: int = 0) -> list[str]:
    """How many were kept, who broke which rule, and how long both sorts of people took for a question."""
    lines = [f"{screening.submitted} submitted, {screening.retained} retained, {screening.rejected} rejected"]
    lines += [f"rule {rule}: {count} rejected" for rule, count in screening.rejected_by.items()]
    for who, said in seconds_per_question(screening, seed=seed).items():
        if said.n and said.value == said.value:
            lines.append(
                f"{who}: median {said.value:.3f} s a question [{said.low:.3f}, {said.high:.3f}], n = {said.n} participants"
            )
    return lines

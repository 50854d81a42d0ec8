"""Results as the JSON documents and lines that users script against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from ..consistency import Consistency
from ..scores import Agreement, Scores

__all__ = [
    "agreement_document",
    "consistency_document",
    "counted",
    "joined_notes",
    "measure_document",
    "score_document",
    "score_rows",
    "score_warnings",
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
    each = {criterion: joined_notes(said) for criterion, said in each.items()}
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


def joined_notes(said: Mapping[str, Any]) -> Mapping[str, Any]:
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


def score_warnings(scores: Scores, *, examples: Mapping[str, str] | None = None) -> list[str]:
    """Lines that a reader of the scores must see: dropped answers, missing intervals, one-sided items.

    Args:
        scores: with their notes.
        examples: fact of the notes -> one of the things that are counted, to be named.
    """
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
                example = f", for example '{examples[key]}'" if examples and key in examples else ""
                lines.append(f"{counted(count, *words)}{where}{example}")
        for key in ("intervals", "ranks"):
            if str(said.get(key, "")).startswith(("none", "bootstrap by answer")):
                lines.append(f"{key}: {said[key]}{where}")
    return lines


_NO_FINITE = "plain maximum likelihood has no finite score for"
_WORTH_SAYING = {
    "never_shown": ("item was never shown and has no score", "items were never shown and have no score"),
    "never_winning": (f"item never won; {_NO_FINITE} it", f"items never won; {_NO_FINITE} them"),
    "never_losing": (f"item never lost; {_NO_FINITE} it", f"items never lost; {_NO_FINITE} them"),
    "self_pairs": ("vote of an item against itself was left out", "votes of an item against itself were left out"),
    "without_level": (
        "answer whose item has no level of the factor was left out",
        "answers whose item has no level of the factor were left out",
    ),
    "same_level": ("vote between items of one level was left out", "votes between items of one level were left out"),
    "participants_dropped": (
        "participant was dropped, who gave one answer throughout",
        "participants were dropped, who gave one answer throughout",
    ),
    "replicates_undetermined": (
        "bootstrap replicate did not determine the scores and was left out",
        "bootstrap replicates did not determine the scores and were left out",
    ),
    "items_with_one_rating": (
        "item has one rating, so no spread of its own",
        "items have one rating, so no spread of their own",
    ),
    "clipped": ("value was clipped", "values were clipped"),
    "outside": ("value lies outside the scale", "values lie outside the scale"),
}


def counted(n: float, one: str, many: str = "") -> str:
    """'1 item', '2 items'."""
    return f"{n:g} {one if n == 1 else many or one + 's'}" if n < 1e6 else f"{n:.0f} {many or one + 's'}"


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
        | {flag: bool(made.made.get(flag)) for flag in ("simulated", "random_weights")}
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

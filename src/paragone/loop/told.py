"""Results in plain words: one line for what a verb found, and tables short enough for a terminal."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from ..consistency import Consistency
from ..evaluators.protocol.validation import CrossValidation
from ..report.leaders import leaders_of, verdict_words
from ..scores import Agreement, Scores
from ..screen import Screening, seconds_per_question
from .documents import counted, joined_notes

__all__ = [
    "agreement_lines",
    "bracketed",
    "consistency_lines",
    "measured_lines",
    "remaining_lines",
    "score_lines",
    "screening_lines",
    "short",
    "short_screening",
    "three",
    "validation_lines",
]

_SHOWN = 10
_HEADLINES = {
    "between_agreement": "two people agree on a shared pair with probability",
    "repeat_kappa": "one person with themselves, kappa",
    "icc_2_1": "ICC of one person's rating",
    "icc_2_k": "ICC of the mean of all",
}


def screening_lines(screening: Screening, *, seed: int = 0) -> list[str]:
    """How many were kept, who was not and why, and how long both sorts of people took for a question."""
    lines = [f"{screening.submitted} submitted, {screening.retained} retained, {screening.rejected} rejected"]
    for rule, count in screening.rejected_by.items():
        if rule == "checks" and screening.frame["checks"].null_count() == screening.frame.height and not count:
            more = "" if len(screening.rules.reject) > 1 else ", so nobody could be rejected; see --reject"
            lines.append(f"rule checks: there are none in these answers{more}")
        else:
            lines.append(f"rule {rule}: {count} rejected")
    left_out = screening.frame.filter(~pl.col("kept"))
    named = left_out.select("participant", pl.col("reasons").list.join("; ")).head(_SHOWN)
    lines += [f"rejected {who}: {why}" for who, why in named.iter_rows()]
    if left_out.height > _SHOWN:
        lines.append(f"and {left_out.height - _SHOWN} more; the table names each")
    for who, said in seconds_per_question(screening, seed=seed).items():
        if said.n and said.value == said.value:
            known = not math.isnan(said.low + said.high)
            interval = f" [{said.low:.3f}, {said.high:.3f}], n = {said.n} participants" if known else f" ({said.note})"
            lines.append(f"{who}: median {said.value:.3f} s a question{interval}")
    return lines


def short_screening(frame: pl.DataFrame) -> pl.DataFrame:
    """Columns participant, kept, why: reasons of the rules that reject, and remarks of the others in brackets."""
    reasons, remarks = pl.col("reasons").list.join("; "), pl.col("remarks").list.join("; ")
    remark = pl.when(remarks != "").then(pl.format("({})", remarks)).otherwise(pl.lit(""))
    why = pl.concat_str(reasons, remark, separator=" ").str.strip_chars()
    kept = pl.when("kept").then(pl.lit("yes")).otherwise(pl.lit("no"))
    return frame.select("participant", kept.alias("kept"), why.alias("why"))


def short(frame: pl.DataFrame) -> pl.DataFrame:
    """The columns that people read: numbers with their intervals in one, ranges of ranks in one, nothing that is empty."""
    shown: list[pl.Series] = []
    for name in frame.columns:
        column = frame[name]
        if name in ("low", "high", "rank_high") or column.null_count() == frame.height:
            continue
        if name == "status" and column.eq("ok").all():
            continue
        if name == "rank_low":
            ranks = zip(column, frame["rank_high"], strict=True)
            column = pl.Series("rank range", [_ranks(a, b) for a, b in ranks], dtype=pl.String)
        elif name in ("score", "value") and {"low", "high"} <= set(frame.columns):
            cells = zip(column, frame["low"], frame["high"], strict=True)
            column = pl.Series(f"{name} [low, high]", [bracketed(*cell) for cell in cells], dtype=pl.String)
        shown.append(column)
    made = pl.DataFrame(shown)
    if "of" in made.columns and made["of"].n_unique() == 1 and made["of"][0] not in made.columns:
        made = made.rename({"level": made["of"][0]}).drop("of")
    return made


def _ranks(low: int | None, high: int | None) -> str:
    if low is None or high is None:
        return ""
    return str(low) if low == high else f"{low} to {high}"


def bracketed(value: float | None, low: float | None, high: float | None) -> str:
    """'0.813 [0.62, 0.93]', three significant digits; without brackets where there is no interval."""
    if value is None:
        return ""
    return (
        three(value)
        if low is None or high is None or math.isnan(low + high)
        else f"{three(value)} [{three(low)}, {three(high)}]"
    )


def three(value: float) -> str:
    """A number in three significant digits; whole numbers of more digits keep them."""
    return f"{value:.0f}" if 1000 <= abs(value) < 1e9 else f"{value:.3g}"


def score_lines(scores: Scores) -> list[str]:
    """Estimator, unit, people, answers, how the pairs hang together; for levels of a factor who is best and worst."""
    made = scores.made
    notes = [joined_notes(said) for said in made.get("notes", {}).values()]
    answers, people = _sum(notes, "answers"), _most(notes, "participants")
    who = [counted(people, "participant")] if people else []
    parts = [
        f"{made.get('method', scores.name)} ({made.get('unit', 'score')})",
        " from ".join(["", " of ".join([counted(answers, "answer"), *who])]).strip() if answers else "",
        f"{counted(_things(scores), *_key_words(scores))}, {counted(len(scores.criteria), 'criterion', 'criteria')}",
        _graph(notes),
    ]
    lines = [_labelled(", ".join(part for part in parts if part), made.get("simulated"))]
    if scores.key == "level":
        for criterion in scores.criteria:
            rows = scores.of_criterion(criterion).filter(pl.col("score").is_finite()).sort("score", descending=True)
            if rows.height > 1 and math.isclose(rows["score"][0], rows["score"][-1], rel_tol=1e-9, abs_tol=1e-9):
                lines.append(f"{_named(criterion)}all {rows.height} have the same score")
            elif rows.height > 1:
                best, worst = (_level(rows.row(k, named=True)) for k in (0, -1))
                lines.append(f"{_named(criterion)}best {best}, worst {worst}")
    return lines


def _things(scores: Scores) -> int:
    return scores.frame[scores.key].n_unique()


def _key_words(scores: Scores) -> tuple[str, str]:
    if scores.key == "item":
        return "item", "items"
    factor = scores.frame["of"][0]
    return f"level of {factor}", f"levels of {factor}"


def _level(row: Mapping[str, Any]) -> str:
    return f"{row['level']} {bracketed(row['score'], row['low'], row['high'])}"


def _named(criterion: str | None) -> str:
    return "" if criterion is None else f"{criterion}: "


def _labelled(line: str, simulated: object) -> str:
    return f"simulated answers: {line}" if simulated else line


def _graph(notes: Sequence[Mapping[str, Any]]) -> str:
    """Connected groups and the smallest spectral gap over the criteria; empty where nothing was compared in pairs."""
    groups = _most(notes, "components")
    if not groups:
        return ""
    gaps = [said["spectral_gap"] for said in notes if said.get("spectral_gap") is not None]
    gap = f" (spectral gap {three(min(gaps))})" if gaps else ""
    return f"{counted(groups, 'connected group')}{gap}"


def _sum(notes: Sequence[Mapping[str, Any]], key: str) -> float:
    return sum(float(said[key]) for said in notes if said.get(key))


def _most(notes: Sequence[Mapping[str, Any]], key: str) -> int:
    return max((int(said[key]) for said in notes if said.get(key)), default=0)


def consistency_lines(found: Sequence[Consistency], *, simulated: bool = False) -> list[str]:
    """For each criterion how far people agree with each other and with themselves, over all stages where that is known."""
    lines = []
    for one in found:
        for part in one.frame.partition_by("criterion", maintain_order=True):
            said = []
            for name, words in _HEADLINES.items():
                rows = part.filter((pl.col("statistic") == name) & pl.col("value").is_not_null())
                rows = rows.filter(pl.col("stage").is_null()) if rows["stage"].null_count() else rows
                for row in rows.iter_rows(named=True):
                    stage = f" (stage {row['stage']})" if row["stage"] and rows.height > 1 else ""
                    said.append(f"{words} {bracketed(row['value'], row['low'], row['high'])}{stage}, n {row['n']}")
            if said:
                lines.append(_labelled(f"{_named(part['criterion'][0])}{'; '.join(said)}", simulated))
    return lines


def validation_lines(found: Mapping[str, CrossValidation]) -> list[str]:
    """What validations say, by their factor, in sentences: whether looking at the pictures paid, on each criterion."""
    return [
        _labelled(f"an unseen {factor}: {sentence}", one.simulated)
        for factor, one in found.items()
        for sentence in verdict_words(leaders_of(one))
    ]


_BADGES = {
    "simulated": "learned from simulated participants",
    "random_weights": "random weights",
    "fallback_backbone": "fallback backbone",
    "learned_items": "these are items that it learned from",
}
"""What an evaluator's record says of its scores -> how that is told."""


def measured_lines(scores: Sequence[Scores]) -> list[str]:
    """Per metric how many pictures and from where to where; for many metrics their number alone."""
    badges = {made.name: [words for flag, words in _BADGES.items() if made.made.get(flag)] for made in scores}
    if len(scores) > 6:
        pictures = max(made.frame["item"].n_unique() for made in scores)
        marked = [f"{name}: {', '.join(words)}" for name, words in badges.items() if words]
        return [f"{counted(len(scores), 'metric')} on {counted(pictures, 'picture')}", *marked]
    lines = []
    for made in scores:
        known = made.frame["score"].drop_nulls()
        if len(known):
            span = f"{three(float(known.min()))} to {three(float(known.max()))}"  # type: ignore[arg-type]
            better = "" if made.better == "unknown" else f", {made.better} is better"
            told = f" ({', '.join(badges[made.name])})" if badges[made.name] else ""
            lines.append(f"{made.name}: {counted(len(known), 'picture')}, {span}{better}{told}")
    return lines


def agreement_lines(agreement: Agreement) -> list[str]:
    """For each criterion the predictor with the largest SRCC over all items, its interval and n.

    It is called the closest only where its interval lies above 0.
    """
    lines = []
    whole = agreement.frame.filter(pl.col("group").is_null() & (pl.col("statistic") == "srcc"))
    for part in whole.partition_by("criterion", maintain_order=True):
        rows = part.drop_nulls("value").sort("value", descending=True, maintain_order=True)
        if rows.height:
            line = _named(rows["criterion"][0]) + _closest(rows)
            lines.append(_labelled(line, agreement.notes.get("simulated")))
    return lines


def _closest(rows: pl.DataFrame) -> str:
    """Who of some predictors, largest SRCC first, is closest to people, as far as the intervals show it."""
    top, shown = rows.row(0, named=True), rows.filter(pl.col("low") > 0)
    name, figure = top["predictor"], _srcc(top)
    if top["low"] is None:
        among = f"highest of {rows.height} is {name}" if rows.height > 1 else str(name)
        return f"{among}: SRCC {figure}; without an interval, so not shown to agree with people"
    if top["low"] > 0:
        among = f"closest of {rows.height} is {name}" if rows.height > 1 else str(name)
        return f"{among}: SRCC {bracketed(top['value'], top['low'], top['high'])} with people, {_items(top)}"
    if shown.height:
        best = shown.row(0, named=True)
        other = f"{name} has the highest value, SRCC {figure}, and is not"
        return f"of {rows.height} {best['predictor']} is shown to agree with people: SRCC {_srcc(best)}; {other}"
    if rows.height > 1:
        return f"none of {rows.height} is shown to agree with people; {name} has the highest value: SRCC {figure}"
    return f"{name} is not shown to agree with people: SRCC {figure}"


def _srcc(row: Mapping[str, Any]) -> str:
    return f"{bracketed(row['value'], row['low'], row['high'])}, {_items(row)}"


def _items(row: Mapping[str, Any]) -> str:
    return counted(row["n"], "item")


def remaining_lines(participant: str, still_in: Sequence[str], may_hold: Sequence[str]) -> list[str]:
    """What to delete or make anew when somebody was forgotten: one line, or none where no file names them."""
    parts = []
    if still_in:
        parts.append(f"still named in {', '.join(still_in)}")
    if may_hold:
        parts.append(f"perhaps in {', '.join(may_hold)}")
    if not parts:
        return []
    return [f"{participant} is {' and '.join(parts)}: delete these, or make them anew (collect, export)"]

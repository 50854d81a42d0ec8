"""Who leads a validation on each criterion: the best learner, the strongest floor, the strongest metric, and by how much."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

import polars as pl

from ..evaluators.protocol.judged import covering
from ..evaluators.protocol.validation import CrossValidation
from .digits import MINUS, decimals_for, fixed, joined, p_words, with_interval
from .words import capital, criterion_words

__all__ = ["SURE", "Leaders", "gain_figures", "gain_words", "leaders_of", "verdict_words"]

SURE = 0.05
"""p, adjusted by Holm, below which a difference counts as told apart: the usual level."""
_Row = dict[str, Any]
Verdict = Literal["floor wins", "floor ahead", "learner ahead", "learner wins", "no floor", "no learner"]


class Leaders(NamedTuple):
    """The first of each kind by mean SRCC over folds; rows of the validation's tables. None: no such row."""

    criterion: str | None
    learner: _Row | None
    floor: _Row | None
    metric: _Row | None
    contest: _Row | None
    """The learner against that floor, paired over folds."""
    rivalry: _Row | None
    """The learner against that metric, paired over folds."""
    gain: _Row | None
    """The learner's relative gain over the strongest metric."""

    @property
    def verdict(self) -> Verdict:
        """Whether looking at pictures paid, and whether the folds can tell."""
        if self.learner is None:
            return "no learner"
        if self.floor is None:
            return "no floor"
        sure = _sure(self.contest)
        if _gap(self.learner, self.floor, self.contest) > 0:
            return "learner wins" if sure else "learner ahead"
        return "floor wins" if sure else "floor ahead"

    def sentence(self) -> str:
        """The figures behind the verdict."""
        said = [f"{name} {_figure(row)}" for name, row in self._named()]
        if not said:
            return f"{capital(criterion_words(self.criterion))}: no predictor has a correlation in any fold."
        folds = sorted({row["folds"] for _, row in self._named()})
        over = f"{folds[0]}" if len(folds) == 1 else f"{folds[0]} to {folds[-1]}"
        text = f"{capital(criterion_words(self.criterion))}: {'; '.join(said)} (mean SRCC over {over} folds)."
        return " ".join([text, *self._gaps()])

    def _named(self) -> list[tuple[str, _Row]]:
        rows = (("best learner", self.learner), ("strongest floor", self.floor), ("strongest metric", self.metric))
        return [(f"{words}, {row['predictor']},", row) for words, row in rows if row is not None]

    def _gaps(self) -> Iterator[str]:
        for what, row in (("floor", self.contest), ("metric", self.rivalry)):
            if self.learner is not None and row is not None:
                gap = with_interval(row["difference"], row["low"], row["high"])
                p = (
                    "not tested"
                    if row["p_holm"] is None
                    else f"p {_equal(row['p_holm'])}, adjusted by Holm for all pairs"
                )
                yield f"{self.learner['predictor']} minus the {what}: {gap}, {p}."
        if self.gain is not None:
            yield f"{capital(gain_words(self.gain))}."


def leaders_of(validation: CrossValidation) -> list[Leaders]:
    """The leaders on each criterion, in the order of the table."""
    made = []
    for criterion in validation.criteria:
        own = pl.col("criterion").eq_missing(pl.lit(criterion, dtype=pl.String)) & (pl.col("statistic") == "srcc")
        table = validation.table.filter(own)
        learner, floor, metric = (_strongest(table, kind) for kind in ("learner", "floor", "metric"))
        contest = rivalry = gain = None
        if learner is not None:
            name = learner["predictor"]
            gain = _first(
                validation.gains.filter(own & (pl.col("learner") == name) & (pl.col("baseline_kind") == "metric"))
            )
            tests = validation.tests.filter(own & (pl.col("method") == "folds") & (pl.col("predictor") == name))
            contest, rivalry = (_against(tests, other) for other in (floor, metric))
        made.append(Leaders(criterion, learner, floor, metric, contest, rivalry, gain))
    return made


def gain_words(row: _Row) -> str:
    """'relative gain of astra-score over dino, the strongest metric: +54 % [+30, +80], 12 folds'."""
    words = f"relative gain of {row['learner']} over {row['baseline']}, the strongest {row['baseline_kind']}"
    if row["gain"] is None:
        return f"{words}: undefined, since {row['note'] or 'it has no figure'}"
    why = f" ({row['note']})" if row["note"] else f", {row['folds']} folds"
    return f"{words}: {' '.join(filter(None, gain_figures(row)))}{why}"


def gain_figures(row: _Row) -> tuple[str, str]:
    """'+54 %' and '[+30, +80]', which is empty where there is no interval; an en dash where there is no gain."""
    if row["gain"] is None:
        return "\N{EN DASH}", ""
    half = None if row["low"] is None else 50 * (row["high"] - row["low"])
    gain, low, high = (
        None if row[name] is None else _signed(100 * row[name], decimals_for([half], [100 * row["gain"]]))
        for name in ("gain", "low", "high")
    )
    return f"{gain} %", "" if low is None else f"[{low}, {high}]"


def verdict_words(leaders: Sequence[Leaders]) -> list[str]:
    """One sentence a verdict, floors that win first, each naming its criteria."""
    said = {
        "floor wins": "a floor wins: without looking at the pictures it agrees better with people than any learner",
        "floor ahead": "no learner beats the strongest floor, which does not look at the pictures; the floor is ahead, "
        "by less than the folds can tell",
        "learner ahead": "the best learner is ahead of the strongest floor, by less than the folds can tell",
        "learner wins": "the best learner beats the strongest floor, which does not look at the pictures",
        "no floor": "there is no floor to beat but the constant, which has no correlation",
        "no learner": "no learner has a correlation with people in any fold",
    }
    found = []
    for verdict, words in said.items():
        criteria = [own.criterion for own in leaders if own.verdict == verdict]
        if criteria:
            named = [criterion_words(name) for name in criteria if name is not None]
            found.append(capital(f"on {joined(named)} {words}." if named else f"{words}."))
    return found + [sentence for own in leaders if (sentence := _metric_ahead(own))]


def _metric_ahead(own: Leaders) -> str:
    """Says so where the strongest metric is ahead of every learner."""
    if own.learner is None or own.metric is None or _gap(own.learner, own.metric, own.rivalry) >= 0:
        return ""
    on = f"on {criterion_words(own.criterion)} " if own.criterion is not None else ""
    unsure = "" if _sure(own.rivalry) else ", by less than the folds can tell"
    return capital(f"{on}the metric {own.metric['predictor']} is ahead of every learner{unsure}.")


def _gap(learner: _Row, other: _Row, contest: _Row | None) -> float:
    """How far the learner is ahead: on the items and folds that both have, where they were compared, else by the means."""
    if contest is not None and contest["difference"] is not None:
        return float(contest["difference"])
    return float(learner["mean"] - other["mean"])


def _sure(contest: _Row | None) -> bool:
    return contest is not None and contest["p_holm"] is not None and contest["p_holm"] < SURE


def _against(tests: pl.DataFrame, other: _Row | None) -> _Row | None:
    return None if other is None else _first(tests.filter(pl.col("other") == other["predictor"]))


def _strongest(table: pl.DataFrame, kind: str) -> _Row | None:
    """The row with the largest mean among those that cover the folds and items."""
    judged = table.filter(pl.col("kind") != "set")
    folds, n = (judged[name].fill_null(0).to_list() for name in ("folds", "n"))
    rows = judged.filter((pl.col("kind") == kind) & pl.Series(covering(folds, n), dtype=pl.Boolean))
    return _first(rows.drop_nulls("mean").sort("mean", descending=True, maintain_order=True))


def _first(rows: pl.DataFrame) -> _Row | None:
    return rows.row(0, named=True) if rows.height else None


def _figure(row: _Row) -> str:
    return with_interval(row["mean"], row["low"], row["high"])


def _equal(p: float) -> str:
    words = p_words(p)
    return words if words.startswith("<") else f"= {words}"


def _signed(value: float, decimals: int) -> str:
    text = fixed(value, decimals)
    return text if text.startswith(MINUS) else f"+{text}"

"""The first section: what was asked, of how many people, and the answer in one picture per criterion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from ..scores import Scores
from . import charts
from .blocks import Block, Missing, Plate, Plates, Prose, Section, Terms
from .counted import headline, reconciled
from .digits import count, fixed, joined, ranks, with_interval
from .index import Index
from .lacking import compared_factors, lacking_in
from .ranked import MAKERS, apart, factor_of, open_groups, ranked, score_axis, score_decimals, spread_of_n
from .svg import Spot
from .words import UNITS, capital, criterion_words, quoted, score_words, with_badges

__all__ = ["MOST_ROWS", "answer_section", "score_plate", "what_to_show"]

MOST_ROWS = 40
"""Items or levels that one figure shows; more than that, and nobody reads the labels."""
MOST_BRACKETS = 8
_ENDS = 10  # items shown from either end where there are too many for one figure
_NAMED = 4  # rivals of the leader that are named


def answer_section(index: Index) -> Section:
    """What was asked, whom, what must be known, who leads, and the figures."""
    material = index.material
    badges = material.human_badges if material.human is not None or material.answers is not None else ()
    blocks: list[Block] = []
    if material.asked:
        blocks.append(Prose(f"Participants were asked: {quoted(material.asked)}", "lead"))
    else:
        why = "The wording of the question is not known. To add it, write it into study.toml: questions under [pages]."
        blocks.append(Missing(why))
    blocks.append(_who(index))
    told = reconciled(index)
    if told:
        blocks.append(Prose(told, "small"))
    blocks += [Prose(note, "warn") for note in material.notes]
    if material.human is None:
        blocks.append(Missing("There are no scores by people, so there is no answer yet.", "paragone score FILE"))
        return Section("answer", "The answer", blocks, badges)
    shown = what_to_show(material.human, material.level_scores)
    blocks += [Prose(sentence) for sentence in _verdicts(shown, index)]
    found = [lacking_in(index, factor) for factor in compared_factors(index) if factor in (factor_of(shown), *MAKERS)]
    blocks += [Prose(lack.sentence, "warn") for lack in found if lack is not None]
    blocks.append(Plates([score_plate(shown, criterion, index) for criterion in index.criteria(shown.criteria)]))
    blocks.append(Prose(_how_to_read(shown), "small"))
    unit = str(shown.made.get("unit", ""))
    if unit in UNITS:
        blocks.append(Terms([(unit, UNITS[unit])]))
    return Section("answer", "The answer", blocks, badges)


def _who(index: Index) -> Prose:
    answers, badges = index.material.answers, index.material.human_badges
    if answers is None:
        if index.material.human is None:
            return Prose("How many people answered is not known.")
        n = index.things(len(index.number)) if index.number else "levels of a factor"
        return Prose(f"Scores of {n} by people; how many of them answered is not known.", "plain", badges)
    return Prose(headline(index), "lead", badges)


def what_to_show(human: Scores, level_scores: Sequence[Scores]) -> Scores:
    """The levels of what made the pictures where they are scored; else the items where one figure holds them; else the
    levels of another factor; else the items again."""

    def longest(scores: Scores) -> int:
        return max((scores.of_criterion(criterion).height for criterion in scores.criteria), default=0)

    drawable = [scores for scores in level_scores if 0 < longest(scores) <= MOST_ROWS]
    makers = [scores for scores in drawable if factor_of(scores) in MAKERS]
    if makers:
        return min(makers, key=lambda scores: MAKERS.index(factor_of(scores)))
    return human if longest(human) <= MOST_ROWS or not drawable else drawable[0]


def score_plate(scores: Scores, criterion: str | None, index: Index) -> Plate:
    """A point with its interval per item or level, best first, brackets around what the data cannot tell apart."""
    badges = index.material.human_badges
    whole = ranked(scores, criterion)
    frame, notes = whole, []
    if whole.height > MOST_ROWS:
        scored = whole.drop_nulls("score")
        frame = pl.concat([scored.head(_ENDS), scored.tail(_ENDS)])
        notes.append(f"The best and the worst {_ENDS} of {fixed(scored.height, 0)}.")
    brackets = open_groups(whole.drop_nulls("score")) if frame is whole and not apart(whole) else []
    if len(brackets) > MOST_BRACKETS:
        brackets = []
        notes.append("Too many groups overlap for brackets; the ranks tell them.")
    if apart(whole):
        notes.append("The items fall into groups that were never compared; compare scores within a group only.")
    drawn = frame.select("label", "score", "low", "high", "rank_low", "rank_high", "n")
    words, thing = criterion_words(criterion), index.factor_words(factor_of(scores)) or index.thing
    name = index.name("scores", factor_of(scores) or index.thing, criterion)
    alt = f"{words} of {count(whole.height, thing)} by score with 95 % interval, best first"
    if drawn.height and drawn["score"][0] is not None:
        alt += f": {drawn['label'][0]} leads"
    drawing = charts.intervals(
        drawn,
        name=name,
        alt=with_badges(alt, badges),
        axis=score_axis(scores, criterion),
        spots=_spots(drawn, scores, score_decimals(whole), index),
        brackets=brackets,
    )
    caption = " ".join([f"{count(whole.height, thing)}, {spread_of_n(whole['n'])} answers each.", *notes])
    title = capital(f"{score_words(criterion)} by {thing}")
    return Plate(name, title, caption, drawn, drawing, badges)


def _spots(drawn: pl.DataFrame, scores: Scores, decimals: int, index: Index) -> list[Spot]:
    spots = []
    item = scores.key == "item"
    for row in drawn.iter_rows(named=True):
        score = with_interval(row["score"], row["low"], row["high"], decimals)
        told = f"{score}, rank {ranks(row['rank_low'], row['rank_high'])}, n = {fixed(row['n'], 0)}"
        spots.append(index.spot(row["label"], told) if item else Spot(f"{row['label']}: {told}"))
    return spots


def _how_to_read(shown: Scores) -> str:
    frame = shown.frame
    if frame["low"].null_count() < frame.height:
        parts = ["A point is a score and its line the 95 % interval."]
    else:
        parts = ["The scores have no intervals, so how sure they are is not known."]
    if frame["rank_low"].null_count() < frame.height:
        parts.append("Ranks are ranges where the data cannot tell.")
        parts.append("A bracket joins rows whose order is open: each may hold any rank of the bracket.")
    else:
        parts.append("Ranks have no intervals either, so groups that cannot be told apart are not marked.")
    settings = shown.made.get("settings")
    if isinstance(settings, Mapping) and settings.get("intervals") == "bootstrap":
        said = (
            "Intervals come from resamples of the participants: their percentiles where ten people or more judged an "
            "item, and Student's interval from their spread where fewer did, which may reach beyond the scale"
        )
        notes = [note for note in dict(shown.made.get("notes", {})).values() if isinstance(note, Mapping)]
        if any("components" in note for note in notes):  # scores of compared pairs; means of ratings spread no wider
            said += "; a score of few votes moves outwards when they are resampled, so its interval may be lopsided"
        parts.append(f"{said}.")
    return " ".join(parts)


def _verdicts(scores: Scores, index: Index) -> list[str]:
    """One sentence per criterion that names the leader, and those who may be as good; a caution where levels of the
    factor do not rest on the same pictures."""
    said: list[str] = []
    lack = lacking_in(index, factor_of(scores))
    for criterion in index.criteria(scores.criteria):
        frame = ranked(scores, criterion).drop_nulls("score")
        if not frame.height or apart(frame):
            continue
        best = frame.row(0, named=True)
        number = with_interval(best["score"], best["low"], best["high"], score_decimals(frame))
        end = "Highest" if scores.better == "unknown" else "Best"
        thing = index.factor_words(factor_of(scores)) or index.thing
        lead = f"{end} {thing} on {criterion_words(criterion)}: {best['label']}, {number}"
        rivals = [label for label in frame.filter(pl.col("rank_low") == 1)["label"] if label != best["label"]]
        if frame["rank_low"].null_count():
            said.append(f"{lead}; whether others are as good is not known, since ranks have no intervals.")
        elif not rivals:
            said.append(f"{lead}; the data tell it apart from the {fixed(frame.height - 1, 0)} others.")
        elif len(rivals) <= _NAMED:
            said.append(f"{lead}; {joined(rivals)} may be as good.")
        else:
            said.append(f"{lead}; {fixed(len(rivals), 0)} others may be as good.")
    return said if lack is None else [f"{sentence} {lack.caution}" for sentence in said]

"""Counts of people and answers: those submitted, those that scores use, and what became of the others."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import polars as pl

from paragone.estimate import Question, estimate
from paragone.judgements import Ratings, Votes
from paragone.report import Material, answers_of
from paragone.report.answer import answer_section
from paragone.report.blocks import Prose, Section
from paragone.report.counted import headline, reconciled, screened
from paragone.report.index import index_of


def _prose(section: Section) -> str:
    return " ".join(block.text for block in section.blocks if isinstance(block, Prose))


def test_answers_are_counted_without_checks_and_once_per_person(votes: Votes) -> None:
    answers = answers_of(votes, about=["age_band", "not_asked"])
    assert (answers.kind, answers.participants, answers.n, answers.items) == ("votes", 18, 18 * 2 * 22, 12)
    assert answers.per_criterion["answers"].to_list() == [396, 396]
    assert answers.composition is not None
    assert answers.composition.rows() == [("age_band", "18-29", 6), ("age_band", "30-49", 6), ("age_band", "50+", 6)]


def test_answers_of_unknown_people_are_not_given_a_number() -> None:
    ratings = Ratings(pl.DataFrame({"item": ["a", "b", "a"], "value": [1.0, 2.0, 3.0]}))
    answers = answers_of(ratings=ratings)
    assert (answers.participants, answers.n, answers.items) == (None, 3, 2)
    assert "An unknown number of people gave 3 ratings of 2 items" in _prose(
        answer_section(index_of(Material(answers=answers)))
    )
    assert answers_of().n == 0


def test_a_screening_is_counted_alike_as_record_and_as_table(study: Callable[..., Material]) -> None:
    screening = study().screening
    table = study().screening_table
    assert table is not None
    counted = screened(screening)
    assert counted is not None
    assert (counted.submitted, counted.retained, counted.rejected) == (18, 17, 1)
    text = table.with_columns(pl.col("reasons", "broken", "remarks").list.join("; "))
    assert screened(text) == counted
    bare = pl.DataFrame(
        {"participant": ["p", "q"], "kept": [True, False], "reasons": ["", "speed: 0.3 s; checks: 0 of 2"]}
    )
    assert screened(bare) == (2, 1, {"checks": 1, "speed": 1})


def test_submitted_answers_are_reconciled_with_those_that_scores_use(
    study: Callable[..., Material], votes: Votes
) -> None:
    """18 people gave 24 votes on each of two criteria, 2 of them checks; the first one is rejected."""
    kept = Votes(votes.frame.filter(pl.col("participant") != "prolific-000"))
    human = estimate(kept, "bradley-terry-ridge", question=Question(intervals="none"))
    index = index_of(study(human=human, simulated=False))
    assert headline(index) == "17 people gave 748 votes on pairs of 12 pictures on 2 criteria: style and overall."
    assert reconciled(index) == (
        "18 participants submitted 864 votes in all, 72 of them to checks, in training or to settle in, which scores never "
        "use. 44 votes came from the participant whom screening rejected. The scores use the other 748 votes."
    )
    assert 864 - 72 - 44 == 748
    assert "17 simulated participants gave 748 votes" in _prose(answer_section(index_of(study(human=human))))


def test_scores_that_use_rejected_people_say_so(study: Callable[..., Material]) -> None:
    index = index_of(study())
    assert headline(index).startswith("18 simulated participants gave 792 votes")
    assert "Screening rejected 1 participant, but these scores use their votes too." in reconciled(index)


def test_what_scores_use_is_said_to_be_unknown_where_it_is(study: Callable[..., Material], votes: Votes) -> None:
    material = study()
    assert material.human is not None
    bare = dataclasses.replace(material.human, made={})
    told = reconciled(index_of(study(human=bare)))
    assert told.endswith("Screening rejected 1 participant. Whether the scores use their votes is not recorded.")
    unchecked = answers_of(votes.main)
    assert reconciled(index_of(study(human=bare, screening=None, answers=unchecked))) == ""
    fewer = answers_of(Votes(votes.frame.head(100)))
    assert "so they were made from others" in reconciled(index_of(study(answers=fewer)))

"""Cards of the tutorial: which examples a stage shows before the training, ours and the study's own."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from typing import NamedTuple

from ..design import PairStage, RatingStage, Study, Text
from ..design.pages import Example
from .frozen import Frozen
from .pictures.cards import tutorial_cards

__all__ = ["TutorialCard", "cards_of", "tutorial_kind"]


class TutorialCard(NamedTuple):
    """One card."""

    name: str | None
    """Its texts are `tutorial.<name>.head`, `.text` and `.why`; None: a card of the study's own, with texts of its own."""
    pictures: tuple[tuple[str, str], ...]
    """(role, picture) in the order in which they stand: a file of the package's tutorial, or a key of the version."""
    criterion: str | None
    """What is asked; None: nothing to try."""
    answer: str | None
    """The clear answer; None: there is none."""
    words: dict[str, str]
    """Language to the words that the picture was made from."""
    text: Text = ""
    why: Text = ""


@lru_cache(maxsize=256)
def cards_of(frozen: Frozen, stage: str) -> tuple[TutorialCard, ...]:
    """Return the cards of a stage, ours before the study's own; none: the tutorial is left out.

    `auto` takes the cards on style transfer for pairs that are asked on content and style, those on generated pictures for
    ratings beside whose pictures the words stand, and none of ours otherwise, for they would explain another study.

    Args:
        frozen: the version.
        stage: the stage's name.
    """
    settings = frozen.study.tutorial
    kind = tutorial_kind(frozen.study, frozen.stages[stage], frozen.criteria)
    ours = [] if kind == "none" else tutorial_cards(kind)
    made = [
        TutorialCard(card.id, tuple(card.pictures.items()), card.criterion, card.answer, dict(card.words))
        for card in ours
        if (card.criterion is None or card.criterion in frozen.criteria)
        and not (card.alone and len(frozen.criteria) > 1)
    ]
    return (*made, *(_own(example, frozen) for example in settings.example))


def tutorial_kind(study: Study, stage: PairStage | RatingStage, criteria: Collection[str]) -> str:
    """Return which tutorial of ours a stage has: one of `TUTORIALS`, or 'none'.

    Args:
        study: its settings.
        stage: one of its stages.
        criteria: what is asked.
    """
    kind = study.tutorial.kind
    if kind != "auto":
        return kind
    if isinstance(stage, PairStage):
        return "style-transfer" if {"content", "style"} <= set(criteria) else "none"
    return "text-to-image" if study.pages.show else "none"


def _own(example: Example, frozen: Frozen) -> TutorialCard:
    keys = ((role, name if name in frozen.pictures else f"file:{name}") for role, name in example.pictures.items())
    return TutorialCard(
        None, tuple(keys), example.criterion or None, example.answer or None, {}, example.text, example.why
    )

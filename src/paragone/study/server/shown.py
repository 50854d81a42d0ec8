"""One trial as the browser gets it: panes, questions, scale, and nothing that tells what it is for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import polars as pl

from ...design import PairStage, RatingStage, in_language
from ..cards import TutorialCard
from ..frozen import Frozen, Trial
from ..pages import PAGES
from ..pictures import tutorial_picture
from ..practice import PracticeQuestion
from ..texts import load, paragraphs, question_parts

__all__ = ["Pane", "Shown", "asked", "panes_of", "placed", "shown_card", "shown_practice", "shown_trial"]

_KNOWN_ROLES = ("content", "style")
_SLOTS = "abcdefghijklmnopqrstuvwxyz"


class Shown(NamedTuple):
    """What stands on a trial's page."""

    left: str | None
    """Key of the picture on the left; None in a rating trial."""
    right: str | None
    item: str | None
    references: tuple[tuple[str, str, str], ...]
    told: str | None
    """The answer that the page tells; None: the criterion's question is asked."""


class Pane(NamedTuple):
    """One picture on a page."""

    slot: str
    role: str
    """content, style, reference, left, right or item."""
    side: str | None
    """left or right where each side has references of its own."""
    key: str
    """Which picture; never sent."""
    told: bool
    """The told answer is drawn into it."""


def shown_trial(trial: Trial) -> Shown:
    """Return what a trial of the plan shows."""
    told = trial.expected if trial.check == "instructed" else None
    return Shown(trial.left, trial.right, trial.item, trial.references, told)


def shown_practice(question: PracticeQuestion) -> Shown:
    """Return what a training question shows."""
    told = question.expected if question.instructed else None
    return Shown(question.left, question.right, question.item, question.references, told)


def panes_of(shown: Shown, layout: str) -> list[Pane]:
    """Return the panes in reading order.

    Args:
        shown: what the page shows.
        layout: as the page kind says: in 'six' each result has its references before it, else all stand first.
    """
    told = shown.told is not None
    sides = ("left", "right") if shown.item is None else ("item",)
    beside = {side: [(factor, key) for s, factor, key in shown.references if s == side] for side in sides}
    places: list[tuple[str, str | None, str, bool]] = []
    if shown.item is not None:
        places += [("reference", None, key, False) for _, key in beside["item"]]
        places.append(("item", None, shown.item, told))
    elif layout == "six":
        for side in sides:
            places += [(_role(factor), side, key, False) for factor, key in beside[side]]
            places.append((side, side, getattr(shown, side), told))
    else:
        places += [(_role(factor), None, key, False) for factor, key in beside["left"]]
        places += [(side, None, getattr(shown, side), told) for side in sides]
    return [Pane(_SLOTS[n], *place) for n, place in enumerate(places)]


def _role(factor: str) -> str:
    return factor if factor in _KNOWN_ROLES else "reference"


def asked(
    frozen: Frozen,
    stage: str,
    shown: Shown,
    criteria: Sequence[str],
    public: str,
    language: str,
    *,
    given: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return a trial as the browser gets it.

    Args:
        frozen: the version.
        stage: the stage's name.
        shown: what the page shows.
        criteria: what is asked, in the participant's order.
        public: the trial's public id.
        language: the participant's.
        given: criterion -> value of what was answered before, with "revision" and "distortions".
    """
    layout, panes = placed(frozen, stage, shown)
    return {
        **_frame(frozen, stage, language),
        "id": public,
        "layout": layout,
        "panes": [_pane(frozen, pane, public, language) for pane in panes],
        "criteria": [
            {"id": name, "question": _question(frozen, stage, name, shown.told, language)} for name in criteria
        ],
        "text": [] if shown.item is None else _beside(frozen, shown.item, language),
        "given": dict(given or {}),
    }


def placed(frozen: Frozen, stage: str, shown: Shown) -> tuple[str, list[Pane]]:
    """Return the layout of a trial's page, and its panes.

    Where some trials of a stage show each result with references of its own, all do: a check or a repeat whose sides share
    theirs would be known by its look.
    """
    layout = PAGES.get(frozen.stages[stage].page).layout(shown.references)
    if layout == "four" and shown.references and _apart(frozen, stage):
        layout = "six"
    return layout, panes_of(shown, layout)


@lru_cache(maxsize=64)
def _apart(frozen: Frozen, stage: str) -> bool:
    """Whether the two sides of some trial of a stage have different references."""
    factors = [name.removeprefix("left.") for name in frozen.plan.columns if name.startswith("left.")]
    pairs = [(f"left.{factor}", f"right.{factor}") for factor in factors if f"right.{factor}" in frozen.plan.columns]
    rows = frozen.plan.filter((pl.col("stage") == stage) & pl.col("left").is_not_null())
    return any(rows[left].ne_missing(rows[right]).any() for left, right in pairs)


@lru_cache(maxsize=256)
def _frame(frozen: Frozen, name: str, language: str) -> dict[str, Any]:
    """What all trials of a stage have in common."""
    stage, texts, pages = frozen.stages[name], load(language), frozen.study.pages
    page = PAGES.get(stage.page)
    words = list(texts.under("scale.dcr" if page.form == "compared" else "scale.acr").values())
    scale = page.scale(stage, words)
    pairs = isinstance(stage, PairStage)
    return {
        "page": stage.page,
        "third": stage.tie if isinstance(stage, PairStage) and stage.tie != "none" else None,
        "ask": stage.ask if isinstance(stage, PairStage) else "all",
        "scale": None if scale is None else {**scale._asdict(), "labels": list(scale.labels), "at": list(scale.at)},
        "distortions": []
        if pairs
        else [{"id": d, "label": texts.get(f"distortion.{d}", d)} for d in pages.distortions],
        "zoom": pairs and frozen.study.display.zoom,
        "back": isinstance(stage, RatingStage) and stage.back,
    }


def _pane(frozen: Frozen, pane: Pane, public: str, language: str) -> dict[str, Any]:
    picture = frozen.pictures[pane.key]
    side = pane.side if pane.role not in ("left", "right", "item") else None
    return {
        "slot": pane.slot,
        "role": pane.role,
        "side": pane.side,
        "label": load(language).label(pane.role, side),
        "w": picture.width,
        "h": picture.height,
        "src": f"/i/{public}/{pane.slot}",
    }


@lru_cache(maxsize=4096)
def _question(frozen: Frozen, name: str, criterion: str, told: str | None, language: str) -> tuple[str, str, str]:
    stage, texts = frozen.stages[name], load(language)
    if told is not None:
        if isinstance(stage, PairStage):
            return question_parts(texts[f"check.{told}"])
        return question_parts(texts.fill("check.value", value=float(told)))
    own = in_language(frozen.study.pages.questions.get(criterion, ""), language)
    return texts.question(PAGES.get(stage.page).form, criterion, own=own, asked=frozen.criteria)


def shown_card(frozen: Frozen, stage: str, card: TutorialCard, public: str, language: str) -> dict[str, Any]:
    """Return a card of the tutorial as the browser gets it.

    Args:
        frozen: the version.
        stage: the stage's name.
        card: the card.
        public: its public id.
        language: the participant's.
    """
    texts = load(language)
    if card.name is None:
        head, text, why = (
            texts["client.head.tutorial"],
            in_language(card.text, language),
            in_language(card.why, language),
        )
    else:
        head, text, why = (texts[f"tutorial.{card.name}.{part}"] for part in ("head", "text", "why"))
    told = paragraphs(text)
    if card.words:
        beside = next((factor for words in frozen.words.values() for factor in words), "keywords")  # as at the trials
        told.append(f"{texts.factor(beside)}: {in_language(card.words, language)}")
    question = None
    if card.criterion:
        before, word, after = _question(frozen, stage, card.criterion, None, language)
        question = f"{before}*{word}*{after}" if word else before
    panes = [
        {
            "slot": _SLOTS[place],
            "role": role if role in ("left", "right", "item") else _role(role),
            "side": None,
            "label": texts.label(role),
            "w": size[0],
            "h": size[1],
            "src": f"/i/{public}/{_SLOTS[place]}",
        }
        for place, (role, key) in enumerate(card.pictures)
        if (size := _size(frozen, card, key))
    ]
    return {"head": head, "text": told, "panes": panes, "question": question, "answer": card.answer, "why": why}


def _size(frozen: Frozen, card: TutorialCard, key: str) -> tuple[int, int]:
    picture = tutorial_picture(key) if card.name is not None else frozen.pictures[key]
    return picture.width, picture.height


def _beside(frozen: Frozen, item: str, language: str) -> list[list[str]]:
    texts = load(language)
    return [[texts.factor(factor), text] for factor, text in frozen.words.get(item, {}).items()]

"""The pages around the trials in words: consent, instructions, training, questionnaire, ..., each a part of the State."""

from __future__ import annotations

import functools
import hashlib
import json
import math
from typing import Any

from ...design import PairStage, RatingStage, Study, Text, in_language
from ..cards import cards_of
from ..flow import Practised
from ..frozen import Frozen
from ..practice import PracticeQuestion, is_right
from ..texts import Texts, load, paragraphs

__all__ = ["consent", "device", "feedback", "instructions", "questionnaire", "ready", "title", "training_words"]

Part = dict[str, Any]
_MINUTE = 60.0  # seconds


def title(study: Study, language: str) -> str:
    """The study's title as participants see it."""
    return in_language(study.pages.title, language) or study.name


@functools.lru_cache(maxsize=64)
def consent(frozen: Frozen, language: str, stage: str, *, named: bool) -> Part:
    """Return the consent page: what a participant is told, in parts, with the version of the whole text.

    Args:
        frozen: the version.
        language: of the participant.
        stage: name of the stage they will most probably do.
        named: a panel names the people; False: nothing is said of one.
    """
    study, texts, said = frozen.study, load(language), frozen.study.consent

    def own(text: Text, ours: str) -> str:
        return in_language(text, language).strip() or ours

    who, contact = own(said.who, study.name), own(said.contact, "-")
    data, kept, name = [texts["consent.data.text"]], [texts["consent.kept.text"]], texts["consent.withdrawal.name"]
    if named:
        data.append(texts["consent.data.panel"])
        kept.insert(0, texts.fill("consent.kept.panel", days=said.delete_after_days))
        name = texts["consent.withdrawal.name-panel"]
    data.append(texts["consent.data.never"])
    parts = [
        _part(texts["consent.purpose.head"], own(said.purpose, texts["consent.purpose.text"])),
        _part(texts["consent.task.head"], *_task(frozen, stage, texts)),
        _part(texts["consent.data.head"], own(said.data, "\n\n".join(data))),
        _part(texts["consent.kept.head"], own(said.kept, "\n".join(kept))),
        _part(texts["consent.sharing.head"], own(said.sharing, texts["consent.sharing.text"])),
        _part(texts["consent.withdrawal.head"], f"{texts.fill('consent.withdrawal.text', contact=contact)}\n{name}"),
        _part(texts["consent.basis.head"], own(said.basis, texts["consent.basis.text"])),
        _part(texts["consent.who.head"], texts.fill("consent.who.text", who=who, contact=contact)),
        _part(texts["consent.voluntary.head"], texts["consent.voluntary.text"]),
    ]
    boxes = [texts["consent.boxes.adult"], texts["consent.boxes.agree"]]
    whole = json.dumps([language, parts, boxes], ensure_ascii=False, sort_keys=True)
    return {
        "version": hashlib.sha256(whole.encode()).hexdigest()[:16],
        "head": texts["consent.head"],
        "parts": parts,
        "boxes": boxes,
    }


def _task(frozen: Frozen, stage_name: str, texts: Texts) -> list[str]:
    study, stage = frozen.study, frozen.stages[stage_name]
    sizes = frozen.plan.filter(frozen.plan["stage"] == stage_name).group_by("sheet").len()["len"]
    minutes = max(1, math.ceil((int(sizes.max() or 1) * study.seconds_per_trial + stage.break_seconds) / _MINUTE))  # type: ignore[arg-type]
    sessions = stage.sessions if isinstance(stage, RatingStage) else 1
    lines = [texts["consent.task.pairs" if isinstance(stage, PairStage) else "consent.task.ratings"]]
    cards = "-cards" if cards_of(frozen, stage_name) else ""
    lines.append(texts[f"consent.task.first{cards}{'-training' if frozen.practice.get(stage_name) else ''}"])
    if sessions == 1:
        lines.append(texts.fill("consent.task.minutes", minutes=minutes))
    else:
        lines.append(texts.fill("consent.task.sessions", sessions=sessions, minutes=minutes))
    if study.pay.per_session:
        lines.append(texts.fill("consent.task.pay", amount=study.pay.per_session, currency=study.pay.currency))
    return lines


def device(frozen: Frozen, plates: list[Part]) -> Part:
    """Return what a screen must be and what is asked about it."""
    display = frozen.study.display
    return {
        "min_width": display.min_width,
        "min_height": display.min_height,
        "card": display.card,
        "plates": plates,
        "full_screen": display.full_screen,
    }


@functools.lru_cache(maxsize=64)
def instructions(frozen: Frozen, language: str, stage_name: str) -> Part:
    """Return the instructions of a stage, in parts."""
    texts, stage, study = load(language), frozen.stages[stage_name], frozen.study
    sides = [name for name in frozen.plan.columns if name.split(".")[0] in ("left", "right", "item") and "." in name]
    rows = frozen.plan.filter(frozen.plan["stage"] == stage_name)
    referenced = any(rows[name].null_count() < rows.height for name in sides)
    trials = int(rows.group_by("sheet").len()["len"].max() or 0)  # type: ignore[arg-type]
    said: list[str] = []
    if isinstance(stage, PairStage):
        kind = "pairs"
        said.append(texts["instructions.pairs.text"])
        if referenced:
            said.append(texts["instructions.pairs.references"])
            if stage.pairs != "within":
                said.append(texts["instructions.pairs.across"])
        if len(frozen.criteria) > 1:
            one = texts.fill("instructions.pairs.one", questions=len(frozen.criteria))
            said.append(one if stage.ask == "one" else texts["instructions.pairs.all"])
        if stage.tie != "none":
            said.append(texts[f"instructions.pairs.{stage.tie}"])
        said += [texts.fill("instructions.pairs.count", trials=trials), texts["instructions.pairs.no-back"]]
        if study.display.zoom:
            said.append(texts["instructions.both.zoom"])
    else:
        kind = "ratings"
        said.append(texts["instructions.ratings.text"])
        if len(frozen.criteria) > 1:
            said.append(texts.fill("instructions.ratings.several", questions=len(frozen.criteria)))
        if study.pages.show:
            said.append(texts["instructions.ratings.prompt"])
        if stage.reference:
            said.append(texts["instructions.ratings.reference"])
        if study.pages.distortions:
            said.append(texts["instructions.ratings.distortions"])
        said.append(texts.fill("instructions.ratings.count", trials=trials))
        said.append(texts["instructions.ratings.back" if stage.back else "instructions.ratings.no-back"])
    if stage.checks:
        said.append(texts["instructions.both.checks"])
    if stage.break_seconds:
        said.append(texts.fill("instructions.both.break", seconds=stage.break_seconds))
    parts = [_part(texts[f"instructions.{kind}.head"], *said)]
    own = in_language(study.pages.instructions, language)
    if own.strip():
        parts.append(_part(texts["instructions.own.head"], own))
    return {"parts": parts}


def ready(texts: Texts, number: int, sessions: int) -> Part:
    """Return the page before the trials."""
    said = texts["ready.text"] if number == 1 else texts.fill("ready.later", number=number, sessions=sessions)
    return _part(texts["ready.head"], said)


def questionnaire(study: Study, texts: Texts) -> Part:
    """Return the questions about the person."""
    asked = study.questionnaire
    fields = [
        {"id": name, "label": texts[f"questionnaire.{name}.label"], "choices": texts.choices(name)}
        for name in asked.ask
    ]
    return {
        "head": texts["questionnaire.head"],
        "text": paragraphs(texts["questionnaire.text"]),
        "fields": fields,
        "remark": asked.remark,
    }


def feedback(
    questions: tuple[PracticeQuestion, ...], answers: tuple[str | None, ...], texts: Texts
) -> list[Part | None]:
    """Return what is said to the answers of a training, question by question; None where there is no answer yet."""
    said: list[Part | None] = []
    for question, value in zip(questions, answers, strict=True):
        if value is None:
            said.append(None)
            continue
        right = bool(is_right(value, question.expected, question.within))
        own = in_language(question.when_right if right else question.when_wrong, texts.language)
        said.append({"right": right, "text": own or (texts["training.right"] if right else _wrong(question, texts))})
    return said


def _wrong(question: PracticeQuestion, texts: Texts) -> str:
    if question.item is None:
        return texts.fill("training.wrong-pairs", label=texts.label(question.expected))
    return texts.fill("training.wrong-ratings", value=float(question.expected))


def training_words(practised: Practised, n_questions: int, attempts: int, texts: Texts) -> Part:
    """Return what is said above the training questions."""
    said = paragraphs(texts.fill("training.text", questions=n_questions))
    if practised.before is not None and not practised.passed:
        said = paragraphs(texts.fill("training.again", left=attempts - practised.attempt + 1))
    return {"head": texts["training.head"], "text": said}


def _part(head: str, *texts: str) -> Part:
    return {"head": head, "text": [paragraph for text in texts for paragraph in paragraphs(text)]}

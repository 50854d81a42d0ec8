"""What was asked, in sentences: each stage of a study, its design, scale, questions and checks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ..design import PairStage, RatingStage, Study, in_language
from .cards import tutorial_kind
from .pages import PAGES
from .texts import load
from .worded import counted, listed, number

__all__ = ["Asked", "design_sentences", "questions"]


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What the settings leave to the benchmark. None or missing: not recorded."""

    items: int | None = None
    """Items that are judged, broken versions aside."""
    criteria: Sequence[str] = ()
    """What is asked; empty: the study's own, and where it has none, one unnamed criterion."""
    references: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Stage -> factors whose reference pictures stand beside; missing: what the settings say."""
    questions: Mapping[str, int] = field(default_factory=dict)
    """Stage -> training questions; missing: what the settings say."""
    cards: Mapping[str, int] = field(default_factory=dict)
    """Stage -> cards of the tutorial; missing: what the settings say."""


def design_sentences(study: Study, asked: Asked) -> Iterator[str]:
    """Sentences on stimuli, stages, questions, checks and training."""
    if asked.items is None:
        yield "How many items were judged is not recorded."
    else:
        yield f"The stimuli were {counted(asked.items, 'item')}."
    criteria = list(asked.criteria) or list(study.criteria)
    for name, stage in zip(study.stage_names, study.stage, strict=True):
        several = len(study.stage) > 1
        if isinstance(stage, PairStage):
            yield from _pairs(name, stage, criteria, asked, several)
        else:
            yield from _ratings(name, stage, criteria, asked, several)
    yield from _questions(study, criteria)
    yield from _before(study, asked, criteria)


def _opening(name: str, several: bool) -> str:
    return f"In the stage '{name}'" if several else "In the study"


def _pairs(name: str, stage: PairStage, criteria: Sequence[str], asked: Asked, several: bool) -> Iterator[str]:
    whole = stage.participants * stage.trials
    on = f", each on {counted(len(criteria), 'criterion', 'criteria')}" if criteria else ""
    yield (
        f"{_opening(name, several)}, participants compared pairs of items: {counted(stage.participants, 'sheet')} of "
        f"{counted(stage.trials, 'comparison')} were planned, {counted(whole, 'comparison')} in all{on}."
    )
    group = listed(stage.group)
    yield {
        "within": f"Both items of a pair came from one group of equal {group}."
        if stage.group
        else "Any two items could meet.",
        "across": f"The items of a pair came from different groups of {group}.",
        "any": "Any two items could meet.",
    }[stage.pairs]
    sides = f" for the levels of {stage.compare} on each sheet and" if stage.compare else ""
    yield f"Sides were balanced{sides} for each pair, and the order was drawn for each sheet."
    if stage.n_repeats:
        yield (
            f"On each sheet {counted(stage.n_repeats, 'comparison')} repeated an earlier one, at least "
            f"{counted(stage.repeat_distance, 'place')} later and half of them with swapped sides."
        )
    if stage.n_shared:
        yield (
            f"{counted(stage.n_shared, 'comparison')} of a sheet {'was' if stage.n_shared == 1 else 'were'} also "
            f"judged by others, so that {counted(stage.shared_by, 'participant')} judged each of these pairs."
        )
    factors = asked.references.get(name, stage.references)
    if factors is None:
        yield "Whether references stood beside the items is not recorded."
    elif factors:
        apart = "; where two results had different ones, each had its own" if stage.pairs != "within" else ""
        yield f"The pictures of {listed(factors)} stood beside the results as references{apart}."
    else:
        yield "No references were shown."
    if len(criteria) > 1:
        yield (
            "The criteria were asked one at a time, in an order that was fixed for a participant and counterbalanced "
            "between them."
            if stage.ask == "one"
            else "All criteria were asked on one page."
        )
    third = {"tie": 'A third answer, "No difference", was open.', "unsure": 'A third answer, "Not sure", was open.'}
    yield third.get(stage.tie, "A choice was forced: there was no third answer.")
    yield from _checks(stage, "sheet")


def _ratings(name: str, stage: RatingStage, criteria: Sequence[str], asked: Asked, several: bool) -> Iterator[str]:
    each, whole = _per_session(stage, asked.items)
    sessions = counted(stage.sessions, "session")
    of = "with an unrecorded number of items" if each is None else f"of {each}"
    total = f", {counted(whole, 'rating')} in all" if whole is not None else ""
    on = f", each on {counted(len(criteria), 'criterion', 'criteria')}" if len(criteria) > 1 else ""
    yield (
        f"{_opening(name, several)}, {counted(stage.participants, 'participant')} "
        f"{'was' if stage.participants == 1 else 'were'} planned to rate items one by one in {sessions} {of}{total}{on}."
    )
    yield _scale(stage)
    yield "The order of items was drawn for each participant and session."
    if stage.stabilising:
        yield (
            f"Each session began with {counted(stage.stabilising, 'stabilising presentation')} whose answers were "
            "dropped."
        )
    if stage.repeats:
        yield (
            f"In each session {counted(stage.repeats, 'item')} {'was' if stage.repeats == 1 else 'were'} shown again, "
            f"at least {counted(stage.repeat_distance, 'place')} later."
        )
    if stage.minutes is not None:
        yield f"Sessions were planned to last at most {number(stage.minutes)} minutes."
    if stage.reference:
        yield f"The picture of {stage.reference} stood beside each item as its reference."
    if stage.hidden_references:
        yield f"The pictures of {stage.hidden_references} were rated like items, unmarked, as hidden references."
    yield (
        "Earlier ratings of a session could be changed; the last one counts."
        if stage.back
        else "Ratings could not be changed later."
    )
    yield from _checks(stage, "session")


def _per_session(stage: RatingStage, items: int | None) -> tuple[str | None, int | None]:
    """Items of a session in words, and ratings of all participants; None where the number of items is unknown."""
    if stage.items is not None:
        return counted(stage.items, "item"), stage.participants * stage.sessions * stage.items
    if items is None:
        return None, None
    fewest, rest = divmod(items, stage.sessions)
    words = counted(fewest, "item") if not rest else f"{number(fewest)} or {counted(fewest + 1, 'item')}"
    return words, stage.participants * items


def _scale(stage: RatingStage) -> str:
    words = list(load("en").under("scale.dcr" if stage.page == "dcr" else "scale.acr").values())
    drawn = PAGES.get(stage.page).scale(stage, words)
    kind = {"slider": "a continuous scale", "acr": "categories (ACR)", "dcr": "categories of degradation (DCR)"}
    what = kind.get(stage.page, f"the page '{stage.page}'")
    labels = "" if drawn is None or not drawn.labels else f", labelled {listed(drawn.labels)} from its low end up"
    return (
        f"The answer was given on {what} from {number(stage.low)} to {number(stage.high)} in steps of "
        f"{number(stage.step)}{labels}."
    )


def _checks(stage: PairStage | RatingStage, unit: str) -> Iterator[str]:
    if stage.checks:
        kinds = {
            "broken": "that showed a broken version of an item",
            "instructed": "that told the answer to give",
            "auto": "with a known answer",
        }
        need = (
            f"; at least {number(stage.checks_needed)} of them had to be right for the answers to be kept"
            if stage.checks_needed
            else ""
        )
        yield f"Each {unit} held {counted(stage.checks, 'check')} {kinds[stage.check]}{need}."
    else:
        yield f"There were no checks on a {unit}."
    if stage.break_seconds:
        yield f"A break of at least {counted(stage.break_seconds, 'second')} stood in the middle of each {unit}."


def questions(study: Study, criteria: Sequence[str]) -> dict[str, list[str]]:
    """Return what participants are asked, in English: for each form of question, pairs first met first, one a criterion.

    Args:
        study: the settings.
        criteria: what is asked; empty: one unnamed criterion.
    """
    texts = load("en")
    found: dict[str, list[str]] = {}
    for stage in study.stage:
        form = "pairs" if isinstance(stage, PairStage) else PAGES.get(stage.page).form
        found[form] = [
            "".join(
                texts.question(form, name, own=in_language(study.pages.questions.get(name, ""), "en"), asked=criteria)
            )
            for name in criteria or [""]
        ]
    return found


def _questions(study: Study, criteria: Sequence[str]) -> Iterator[str]:
    forms = questions(study, criteria)
    for form, asked in forms.items():
        said = [f'"{words}"' for words in asked]
        what = "questions were" if len(said) > 1 else "question was"
        where = {"pairs": "On pairs", "ratings": "On single items"}.get(form, "On items beside their reference")
        yield f"{f'{where}, the' if len(forms) > 1 else 'The'} {what}: {' '.join(said)}"
    languages = [{"en": "English", "zh": "Chinese", "de": "German"}[code] for code in study.pages.languages]
    yield f"The pages were offered in {listed(languages)}."


def _tutorial(study: Study, asked: Asked, criteria: Sequence[str]) -> str:
    """What came before the training: of a tutorial only where cards were shown."""
    own = bool(study.tutorial.example)
    shown = [
        name
        for name, stage in zip(study.stage_names, study.stage, strict=True)
        if asked.cards.get(name, own or tutorial_kind(study, stage, criteria) != "none")
    ]
    if len(shown) == len(study.stage):
        return "Instructions and an illustrated tutorial came first."
    if not shown:
        return "Instructions came first."
    names = listed([f"'{name}'" for name in shown])
    stages = "stage" if len(shown) == 1 else "stages"
    return f"Instructions came first, in the {stages} {names} with an illustrated tutorial."


def _before(study: Study, asked: Asked, criteria: Sequence[str]) -> Iterator[str]:
    yield _tutorial(study, asked, criteria)
    counts: dict[str, int] = {}
    for name in study.stage_names:
        own = [question for question in study.training.question if question.stage in ("", name)]
        counts[name] = asked.questions.get(name, len(own) or study.training.auto)
    attempts = counted(study.training.attempts, "attempt")
    for n in sorted(set(counts.values()), reverse=True):
        names = [f"'{name}'" for name, there in counts.items() if there == n]
        where = (
            "" if len(names) == len(counts) else f" in the {'stage' if len(names) == 1 else 'stages'} {listed(names)}"
        )
        if n:
            yield (
                f"Before the trials{where}, {counted(n, 'training question')} with feedback had to be answered right, in at "
                f"most {attempts}."
            )
        else:
            yield f"There was no training{where}."

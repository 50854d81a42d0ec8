"""The pages `slider`, `acr` and `dcr`: one picture gets a number on a scale."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

import numpy as np

from ...design import RatingStage
from ...errors import BadInput
from .page import Answer, Page, Reference, Scale
from .person import Person, Simulated

__all__ = ["ACR", "DCR", "SLIDER"]

_NUMBER = re.compile(r"-?[0-9]{1,12}(\.[0-9]{1,12})?")
_MOST_GRADES = 11  # buttons in a row; the longest scale of ITU-T P.910 has eleven grades
_CLOSE = Fraction(1, 1000)  # of a step: a browser's own arithmetic on a step such as 1/3


def _layout(references: Sequence[Reference]) -> str:
    return "double" if references else "single"


def _grid(stage: RatingStage) -> tuple[Fraction, Fraction, int]:
    """Low end and step as the decimals that the settings write, and the number of whole steps up to the high end."""
    low, high, step = (Fraction(Decimal(repr(value))) for value in (stage.low, stage.high, stage.step))
    return low, step, int((high - low) / step + _CLOSE)


def _text(value: Fraction) -> str:
    """A number without float noise: 0.3, 3, -1.25; at most ten digits."""
    text = f"{float(value):.10f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def _validate(value: str, stage: RatingStage) -> str:
    low, step, last = _grid(stage)
    if _NUMBER.fullmatch(value):
        steps = (Fraction(Decimal(value)) - low) / step
        whole = round(steps)
        if abs(steps - whole) <= _CLOSE and 0 <= whole <= last:
            return _text(low + whole * step)
    raise BadInput(
        f"answer {value[:20]!r} is not on the scale from {stage.low:g} to {stage.high:g} by {stage.step:g}",
        where="value",
    )


def _on_grid(places: Sequence[Fraction], stage: RatingStage) -> bool:
    low, step, _ = _grid(stage)
    return all(((place - low) / step).denominator == 1 for place in places)


def _places(n: int, stage: RatingStage, *, graded: bool) -> list[Fraction]:
    """Where n words stand.

    On a scale of single grades at the grades, from one end to the other where that meets grades (five words on 1 to 5
    or 1 to 9), else in the middle of equal parts (five words on 0 to 10). Beside a slider two words stand at its ends,
    as many words as it has values at those, and others in the middle of equal parts.
    """
    low, step, last = _grid(stage)
    whole = last * step
    if n == 1:
        return [low + whole / 2]
    ends = [low + whole * i / (n - 1) for i in range(n)]
    middles = [low + whole * (2 * i + 1) / (2 * n) for i in range(n)]
    if graded:
        return middles if _on_grid(middles, stage) and not _on_grid(ends, stage) else ends
    return ends if n in (2, last + 1) else middles


def _scale(stage: RatingStage, words: Sequence[str], *, graded: bool) -> Scale:
    labels = tuple(stage.labels) or tuple(words)
    places = _places(len(labels), stage, graded=graded) if labels else []
    return Scale(stage.low, stage.high, stage.step, labels, tuple(float(place) for place in places))


def _slider_scale(stage: RatingStage, words: Sequence[str]) -> Scale:
    return _scale(stage, words, graded=False)


def _graded_scale(stage: RatingStage, words: Sequence[str]) -> Scale:
    return _scale(stage, words, graded=True)


def _unfit(page: str, stage: object) -> str:
    """Why a stage cannot be asked on any page of this file; '' where it can."""
    if not isinstance(stage, RatingStage):
        return f'page = "{page}" shows one item, and this stage shows two'
    low, step, last = _grid(stage)
    top = low + last * step
    if abs(top - Fraction(Decimal(repr(stage.high)))) > _CLOSE * step:
        return (
            f"high = {stage.high:g} is not a whole number of steps above low = {stage.low:g}; "
            f"set high = {_text(top)}, or another step"
        )
    if len(stage.labels) > last + 1:
        return f"there are {len(stage.labels)} labels for {last + 1} values; give fewer labels, or a smaller step"
    return ""


def _slider_unfit(stage: object) -> str:
    return _unfit("slider", stage)


def _graded_unfit(page: str, stage: object) -> str:
    wrong = _unfit(page, stage)
    if wrong or not isinstance(stage, RatingStage):
        return wrong
    grades = _grid(stage)[2] + 1
    if grades > _MOST_GRADES:
        return (
            f'page = "{page}" has a button for each value, and {stage.low:g} to {stage.high:g} by {stage.step:g} makes '
            f"{grades}; set low = 1, high = 5 and step = 1"
        )
    return ""


def _acr_unfit(stage: object) -> str:
    return _graded_unfit("acr", stage)


def _dcr_unfit(stage: object) -> str:
    wrong = _graded_unfit("dcr", stage)
    if not wrong and isinstance(stage, RatingStage) and not stage.reference:
        return 'page = "dcr" needs reference, the factor whose picture stands beside'
    return wrong


def _simulate(
    felt: Sequence[float],
    stage: RatingStage,
    person: Person,
    rng: np.random.Generator,
    expected: str | None = None,
    stage_name: str | None = None,  # noqa: ARG001  (ratings know no temperature)
) -> Simulated:
    """Rate by what is felt, with the person's offset and inconsistency; a check as expected, unless they lapse.

    Args:
        felt: what the person feels about the item; see `Person.felt`.
        stage: its scale.
        person: who answers.
        rng: every random choice follows from it.
        expected: right answer of a check; None: no check.
        stage_name: name of the stage in tables; not needed here.
    """
    low, step, last = _grid(stage)
    width = float(last * step)
    lapsed = person.lapses(rng)
    seconds = person.seconds(rng)
    if lapsed:
        value = rng.uniform(0.0, width)
    elif expected is not None:
        value = float(expected) - float(low)
    else:
        gain = person.look.gain if person.look.gain is not None else width / 5
        value = width / 2 + gain * felt[0] + person.offset + person.noise * rng.standard_normal()
    steps = min(max(round(value / float(step)), 0), last)
    return Simulated(_text(low + steps * step), seconds)


SLIDER = Page(
    name="slider",
    summary="One picture and a scale beside it; nothing is set before the first touch; arrow keys move by one step.",
    source="ITU-R BT.500-15 (2023), continuous scale with five words; 0 to 5 by 0.1 as in AGIQA-1K",
    needs="item",
    references="may",
    form="ratings",
    answers=Answer("value", "number", "scale units, on the grid low + k step"),
    options=("low", "high", "step", "labels", "reference", "hidden_references", "back", "break_seconds"),
    module="paragone.study.web:rating.js",
    layout=_layout,
    scale=_slider_scale,
    validate=_validate,
    unfit=_slider_unfit,
    simulate=_simulate,
)

ACR = Page(
    name="acr",
    summary="One picture and a button for each grade, Bad to Excellent; number keys choose one.",
    source="ITU-T P.910 (2023), absolute category rating; with hidden references ACR-HR",
    needs="item",
    references="may",
    form="ratings",
    answers=Answer("value", "number", "grades, on the grid low + k step"),
    options=("low", "high", "step", "labels", "reference", "hidden_references", "back", "break_seconds"),
    module="paragone.study.web:rating.js",
    layout=_layout,
    scale=_graded_scale,
    validate=_validate,
    unfit=_acr_unfit,
    simulate=_simulate,
)

DCR = Page(
    name="dcr",
    summary="A picture beside its reference and a button for each grade, Very annoying to Imperceptible.",
    source="ITU-T P.910 (2023), degradation category rating; ITU-R BT.500-15 (2023), double-stimulus impairment scale",
    needs="item",
    references="must",
    form="compared",
    answers=Answer("value", "number", "grades, on the grid low + k step"),
    options=("low", "high", "step", "labels", "reference", "back", "break_seconds"),
    module="paragone.study.web:rating.js",
    layout=_layout,
    scale=_graded_scale,
    validate=_validate,
    unfit=_dcr_unfit,
    simulate=_simulate,
)

"""The page `pairs`: two results side by side, one of them is chosen."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...design import PairStage
from ...errors import BadInput
from .page import Answer, Page, Reference, Scale
from .person import Person, Simulated

__all__ = ["PAIRS"]


def _layout(references: Sequence[Reference]) -> str:
    left = {(factor, picture) for side, factor, picture in references if side == "left"}
    right = {(factor, picture) for side, factor, picture in references if side == "right"}
    return "four" if left == right else "six"


def _no_scale(_stage: object, _words: Sequence[str]) -> Scale | None:
    return None


def _validate(value: str, stage: PairStage) -> str:
    words = ("left", "right") if stage.tie == "none" else ("left", "right", "tie")
    if value not in words:
        raise BadInput(f"answer {value[:20]!r} is not one of {', '.join(words)}", where="value")
    return value


def _unfit(stage: object) -> str:
    return "" if isinstance(stage, PairStage) else 'page = "pairs" shows two items, and this stage shows one'


def _simulate(
    felt: Sequence[float],
    stage: PairStage,
    person: Person,
    rng: np.random.Generator,
    expected: str | None = None,
    stage_name: str | None = None,
) -> Simulated:
    """Choose a side by the model of Davidson with the person's bias; a check by what is expected, unless they lapse.

    Args:
        felt: what the person feels about the left and the right item, in logits.
        stage: whether there is a third button.
        person: who answers.
        rng: every random choice follows from it.
        expected: right answer of a check; None: no check.
        stage_name: name of the stage in tables; None: its own.

    Source:
        Davidson, "On Extending the Bradley-Terry Model to Accommodate Ties in Paired Comparison Experiments", JASA
        65(329), 1970, equation 2.3.
    """
    look = person.look
    lapsed = person.lapses(rng)
    seconds = person.seconds(rng)
    if expected is not None and not lapsed:
        return Simulated(expected, seconds)
    heat = look.stage_temperature.get(stage_name or stage.name, look.temperature)
    logit = person.bias + (0.0 if lapsed else (felt[0] - felt[1]) / heat)
    left, right = (math.exp(max(-250.0, min(250.0, sign * logit / 2))) for sign in (1, -1))
    ties = look.ties if stage.tie != "none" else 0.0
    draw = rng.random() * (left + right + ties)
    return Simulated("left" if draw < left else "right" if draw < left + right else "tie", seconds)


PAIRS = Page(
    name="pairs",
    summary="Two results side by side, references above them; a click, an arrow key or 1 and 2 chooses one.",
    source="ITU-T P.910 (2023), pair comparison; references beside the results as in studies of style transfer",
    needs="pair",
    references="may",
    form="pairs",
    answers=Answer("choice", "word", "left, right, or tie where there is a third button"),
    options=("ask", "tie", "references", "break_seconds"),
    module="paragone.study.web:pairs.js",
    layout=_layout,
    scale=_no_scale,
    validate=_validate,
    unfit=_unfit,
    simulate=_simulate,
)

"""The methods paragraph of a study: who was asked, what, how and on which screens, ready for a paper.

Every number follows from the settings or from what was recorded. What nobody recorded is said to be not recorded; nothing
is guessed.
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .. import __version__
from ..design import RatingStage, Study
from .methods_design import Asked, design_sentences
from .recorded import Recorded, StageRecord
from .texts import load
from .worded import counted, listed, number, spread, tally

__all__ = ["Asked", "Recorded", "StageRecord", "methods_paragraph"]

_SURROUND = "#6C6C6C"
_LEAST, _MOST = (
    1e-3,
    1e6,
)  # our choice: no pixels, ratio or centimetres of a screen lie beyond, whatever a browser sends
_ABOUT = (("gender", "Gender"), ("age", "Age"), ("expertise", "Experience with pictures"), ("region", "Region"))
_WAYS = {
    "open": "People came by an open link.",
    "lab": "The study ran in a laboratory, one participant after another.",
    "prolific": "People were recruited through Prolific.",
    "connect": "People were recruited through CloudResearch Connect.",
    "sona": "People were recruited through a SONA participant pool.",
    "mturk": "People were recruited through a marketplace compatible with Mechanical Turk.",
    "own": "People were recruited through a panel.",
}
_ENDS = {
    "failed-training": "did not pass the training",
    "screened-out": "were screened out",
    "technical": "could not go on for technical reasons",
}


def methods_paragraph(study: Study, *, asked: Asked | None = None, recorded: Recorded | None = None) -> str:
    """Return how the study was done, in plain English sentences.

    Args:
        study: its settings.
        asked: what the settings leave to the benchmark; None: not recorded.
        recorded: what happened; None: nothing has been recorded, so only the plan can be stated.

    Returns:
        One paragraph. Facts that are neither in the settings nor recorded are said to be not recorded.
    """
    asked, recorded = asked or Asked(), recorded or Recorded()
    said = ["All answers are simulated: no person took part."] if recorded.simulated else []
    said += [*_people(study, recorded), *_persons(recorded)]
    said += design_sentences(study, asked)
    said += [*_display(study, recorded), *_room(study, recorded), *_vision(study, recorded), *_times(study, recorded)]
    said.append(f"The study was run with paragone {__version__} (seed {study.seed}).")
    return " ".join(said)


def _people(study: Study, recorded: Recorded) -> Iterator[str]:
    if not recorded.simulated:
        yield _WAYS[study.platform.profile]
        yield _when(recorded)
    if recorded.consented is not None:
        yield f"{counted(recorded.consented, 'person', 'people')} agreed to take part."
    if recorded.declined is not None:
        yield f"{number(recorded.declined)} declined."
    ends = [f"{number(n)} {_ENDS.get(word, word)}" for word, n in (recorded.outcomes or {}).items() if n]
    if recorded.turned_away:
        ends.append(f"{number(recorded.turned_away)} found no sheet free")
    if recorded.unfinished:
        ends.append(f"{number(recorded.unfinished)} did not finish")
    if ends:
        yield f"Of those who agreed, {listed(ends)}."
    for name in study.stage_names:
        yield from _stage(name, study, recorded.stages.get(name, StageRecord()))
    if study.pay.per_session:
        yield f"A completed session was paid {number(study.pay.per_session)} {study.pay.currency}."


def _when(recorded: Recorded) -> str:
    if recorded.began is None or recorded.ended is None:
        return "When they took part is not recorded."
    first, last = (
        datetime.datetime.fromtimestamp(at, tz=datetime.UTC).date().isoformat()
        for at in (recorded.began, recorded.ended)
    )
    return f"They took part on {first}." if first == last else f"They took part from {first} to {last}."


def _stage(name: str, study: Study, came: StageRecord) -> Iterator[str]:
    where = f" the stage '{name}'" if len(study.stage) > 1 else ""
    if came.completed is None:
        yield f"How many people completed{where or ' the study'} is not recorded."
        return
    whole = counted(came.completed, "participant")
    if came.excluded is None:
        yield f"{whole} completed{where or ' the study'}; whether any were excluded is not recorded."
    elif sum(came.excluded.values()):
        out = sum(came.excluded.values())
        why = "; ".join(f"{reason}: {number(n)}" for reason, n in came.excluded.items() if n)
        kept = number(came.completed - out)
        yield f"{whole} completed{where or ' the study'}; {number(out)} were excluded ({why}) and {kept} were kept."
    else:
        yield f"{whole} completed{where or ' the study'}; nobody was excluded."
    gave = []
    if came.answers is not None:
        gave.append(counted(came.answers, "answer"))
    if came.sessions is not None:
        gave.append(f"{'in ' if gave else ''}{counted(came.sessions, 'session')}")
    if gave:
        yield f"They gave {' '.join(gave)}."


def _persons(recorded: Recorded) -> Iterator[str]:
    if recorded.persons is None:
        if not recorded.simulated:
            yield "Gender, age, experience and region of the participants are not recorded."
        return
    texts = load("en")
    silent: list[str] = []
    for key, head in _ABOUT:
        labels = {choice["id"]: choice["label"].lower() for choice in texts.choices(key)}
        if key == "region":
            labels = {choice["id"]: choice["label"] for choice in texts.choices(key)}
        found = Counter(labels.get(person[key], person[key]) for person in recorded.persons if person.get(key))
        if found:
            missing = len(recorded.persons) - found.total()
            rest = f", {number(missing)} gave no answer" if missing else ""
            yield f"{head}: {tally(found)}{rest}."
        else:
            silent.append(head.lower() if silent else head)
    if silent:
        yield f"{listed(silent)} {'is' if len(silent) == 1 else 'are'} not recorded."


def _display(study: Study, recorded: Recorded) -> Iterator[str]:
    display = study.display
    yield (
        f"Pictures were shown on a mid-grey surround ({_SURROUND}) in whole device pixels where the window had room, else "
        "at one common reduced scale."
    )
    exact = [came for came in recorded.stages.values() if came.exact is not None and came.answers]
    if exact:
        share = sum(came.exact or 0 for came in exact) / sum(came.answers or 0 for came in exact)
        yield f"{100 * share:.1f} % of the answers were given to pictures in whole device pixels."
    else:
        yield "What share of the answers was given to pictures in whole device pixels is not recorded."
    if any(not isinstance(stage, RatingStage) for stage in study.stage):
        yield "Pairs could be enlarged, all panes together." if display.zoom else "Pairs could not be enlarged."
    yield f"The window had to have at least {number(display.min_width)} x {number(display.min_height)} CSS pixels."
    said = [study.lab.monitor] if study.lab.monitor else []
    said += [" x ".join(number(side) for side in study.lab.resolution) + " pixels"] if study.lab.resolution else []
    if said:
        yield f"Display: {', '.join(said)}."
    yield from _screens(study, recorded)


def _screens(study: Study, recorded: Recorded) -> Iterator[str]:
    """What browsers reported of the screens."""
    seen = recorded.displays or ()
    ratios = _values(seen, "ratio")
    size = [
        (width * ratio, height * ratio)
        for width, height, ratio in (
            [_value(one, key) for key in ("screen_width", "screen_height", "ratio")] for one in seen
        )
        if width is not None and height is not None and ratio is not None
    ]
    if size:
        width, height = np.median(np.array(size), axis=0)
        yield (
            f"Screens as browsers reported them had a median of {number(round(width))} x {number(round(height))} device "
            f"pixels (n = {number(len(size))})."
        )
    elif not study.lab.resolution:
        yield "The resolution of the screens is not recorded."
    if ratios:
        low, high = min(ratios), max(ratios)
        span = "" if low == high else f" ({number(low)} to {number(high)})"
        yield f"The median pixel ratio was {number(float(np.median(ratios)))}{span}."
    else:
        yield "The pixel ratio is not recorded."
    pitch = _values(seen, "px_per_cm")
    if pitch:
        yield f"Screens matched with a card had {spread(pitch, 'CSS pixels for a centimetre', 1)}, n = {number(len(pitch))}."


def _room(study: Study, recorded: Recorded) -> Iterator[str]:
    lab = study.lab
    cm = _values(recorded.displays or (), "distance_cm")
    centimetres = float(np.median(cm)) if cm else lab.distance_cm
    heights, how = lab.distance_heights, ""
    height, by = _height(study, recorded)
    if cm and lab.height_cm:
        heights, how = float(np.median(cm)) / lab.height_cm, f", computed from {by}"
    elif heights is None and centimetres is not None and height:
        heights, how = centimetres / height, f", computed from {by}"
    elif centimetres is None and heights is not None and height:
        centimetres, how = heights * height, f", the centimetres computed from {by}"
    said = [f"{number(round(heights, 2))} screen heights"] if heights is not None else []
    said += [f"{number(round(centimetres, 1))} cm"] if centimetres is not None else []
    measured = f" (median of {counted(len(cm), 'participant')})" if cm else ""
    if said:
        lacks = "" if len(said) == 2 else f"; in {'cm' if centimetres is None else 'screen heights'} it is not recorded"
        yield f"The viewing distance was {' or '.join(said)}{how}{measured}{lacks}."
    else:
        yield "The viewing distance is not recorded."
    if lab.light_lux is not None:
        yield f"The room light at the display was {number(lab.light_lux)} lux{f' ({lab.light})' if lab.light else ''}."
    elif lab.light:
        yield f"The room light was: {lab.light} (not measured)."
    else:
        yield "The room light is not recorded."


def _height(study: Study, recorded: Recorded) -> tuple[float | None, str]:
    """Height of the display in centimetres, None where nobody knows it, and where that comes from."""
    if study.lab.height_cm:
        return study.lab.height_cm, "the height of the display"
    pairs = [(_value(one, "screen_height"), _value(one, "px_per_cm")) for one in recorded.displays or ()]
    measured = [pixels / pitch for pixels, pitch in pairs if pixels is not None and pitch is not None]
    if not measured:
        return None, ""
    return float(np.median(measured)), f"the height of the display as a card measured it (n = {number(len(measured))})"


def _vision(study: Study, recorded: Recorded) -> Iterator[str]:
    told = False
    for test, results in (recorded.vision or {}).items():
        word = {"acuity": "Visual acuity", "colour": "Colour vision"}.get(test, test)
        if sum(results.values()):
            told = True
            yield f"{word} was tested by the operator: {tally(results)}."
    if recorded.plates:
        told = True
        whole = sum(right == shown for right, shown in recorded.plates)
        most = max(shown for _, shown in recorded.plates)
        yield (
            f"{number(whole)} of {counted(len(recorded.plates), 'participant')} read all of up to "
            f"{counted(most, 'colour-vision plate')} on their screen; the plates exclude nobody by themselves."
        )
    if not told:
        asked = study.display.plates or study.lab.vision
        yield "The results of the vision tests are not recorded." if asked else "Vision was not tested."


def _times(study: Study, recorded: Recorded) -> Iterator[str]:
    for name in study.stage_names:
        where = f" in the stage '{name}'" if len(study.stage) > 1 else ""
        seconds = recorded.stages.get(name, StageRecord()).seconds
        if seconds is not None and len(seconds):
            yield (
                f"The response time of an answer{where}, from the moment when all pictures were painted, was "
                f"{spread(seconds, 's', 1)}."
            )
        else:
            yield f"Response times{where} are not recorded."


def _values(rows: Sequence[Mapping[str, Any]], key: str) -> list[float]:
    return [value for value in (_value(row, key) for row in rows) if value is not None]


def _value(row: Mapping[str, Any], key: str) -> float | None:
    """A number that may be one of a screen, None for whatever else a browser may have sent."""
    value = row.get(key)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not _LEAST <= value <= _MOST:
        return None
    return float(value)

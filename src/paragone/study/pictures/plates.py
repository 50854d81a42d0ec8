"""Colour-vision plates: a number in dots that people with red-green blindness cannot read, and a score that is careful.

A plate is a disc of dots in five lightnesses. Dots of the number and dots of the ground differ along one line of colours:
the line on which a protanope (or a deuteranope) sees one colour only, because only the missing cone type changes along
it. The lightness of each dot is drawn at random, so lightness tells nothing. A control plate differs in lightness and
along blue-yellow and can be read by everybody who looks.

What it is: a screening for dichromacy on an unknown screen. What it is not: a diagnosis, a test for tritan defects or
for weak anomalous trichromacy. Nobody is left out by it; the outcome is a fact for the analysis.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import BadInput, UnknownName
from .sanitise import png_bytes
from .strokes import distance, laid_out

__all__ = [
    "KINDS",
    "NOTHING",
    "SIDE",
    "Plate",
    "Vision",
    "choices",
    "plate",
    "plate_set",
    "score",
    "seen_by",
]

Floats = NDArray[np.float64]

KINDS = ("control", "protan", "deutan")
"""control: everybody reads it; protan, deutan: whoever lacks the L or the M cones does not."""
NOTHING = "nothing"
"""The answer "I see no number"."""
SIDE = 400
"""Width and height of a plate in pixels."""

_LMS = np.array([[17.8824, 43.5161, 4.11935], [3.45565, 27.1554, 3.86714], [0.0299566, 0.184309, 1.46709]])
_MISSING = {"protan": 0, "deutan": 1}  # row of _LMS: L, M
_SEEN = {  # what stands for the missing cone's answer, from L, M, S
    "protan": np.array([0.0, 2.02344, -2.52581]),
    "deutan": np.array([0.494207, 0.0, 1.24827]),
}
_CENTRES = {  # linear RGB midway between number and ground, and how far each lies from it along the confusion line
    "protan": (np.array([0.42, 0.30, 0.13]), 0.20),
    "deutan": (np.array([0.36, 0.30, 0.14]), 0.18),
}
_CONTROL = (np.array([0.93, 0.50, 0.06]), np.array([0.05, 0.085, 0.22]))  # linear RGB of number and ground
_LEVELS = np.array([0.62, 0.71, 0.80, 0.90, 1.0])  # lightness steps, in linear light
_PAPER = (0.93, 0.92, 0.89)  # sRGB behind the dots
_RADII = np.linspace(10.5, 3.5, 15)  # pixels, largest first
_SHARE = 0.07  # of the disc that dots of one radius may cover, but for the smallest, which fill what is left
_AIR = 1.2  # pixels between dots
_DISC = 192.0  # pixels; radius of the disc
_HALF = 0.115  # half width of the number's strokes, in heights
_THIRD = (
    3  # a kind of plate is passed where at most a third was misread, failed where at least two thirds were; our choice
)


class Plate(NamedTuple):
    """One plate of a study: enough to draw it and to judge an answer."""

    seed: int
    digits: str
    kind: str


class Vision(NamedTuple):
    """What a person's answers to the plates say."""

    outcome: Literal["passed", "failed", "unknown"]
    """passed: read as people with normal colour vision do; failed: the control was read, plates of some kind were not;
    unknown: the control was not read, too few plates were answered, or the answers point both ways."""
    failed: tuple[str, ...]
    """Kinds of plates that were not read, the control among them; people fail their own kind and may fail the other."""
    right: int
    """Plates for protan and deutan that were read."""
    answered: int
    """Plates for protan and deutan that were answered, "nothing" among them."""


def plate(seed: int, digits: str, kind: str) -> bytes:
    """Draw a plate.

    Args:
        seed: of the dots, >= 0.
        digits: the number, one or two digits.
        kind: one of `KINDS`.

    Returns:
        PNG, `SIDE` x `SIDE`, sRGB; the same bytes for the same arguments.

    Raises:
        BadInput: not one or two digits.
        UnknownName: no such kind.

    Source:
        Ishihara, "Tests for Colour-Blindness", 1917, for the principle. Colours are computed, see `seen_by`.
    """
    if kind not in KINDS:
        raise UnknownName.among(kind, KINDS, "kind of plate")
    if not (1 <= len(digits) <= 2 and digits.isascii() and digits.isdecimal()):
        raise BadInput(f"a plate shows one or two digits, not '{digits}'")
    rng = np.random.default_rng([seed, KINDS.index(kind), int(digits), len(digits)])
    dots = _packed(rng)
    figure = _in_number(dots[:, :2], digits)
    colours = np.empty((len(dots), 3))
    for part, colour in zip((figure, ~figure), _pair(kind), strict=True):
        levels = _LEVELS[rng.permutation(np.arange(int(part.sum())) % len(_LEVELS))]
        colours[part] = _coded(levels[:, None] * colour)
    return png_bytes(_painted(dots, colours))


def plate_set(seed: int, n: int) -> list[Plate]:
    """Choose the plates of a study: a control first, then those for protan and deutan in turn, all numbers different.

    Args:
        seed: of numbers and dots, >= 0.
        n: how many, 0 to 8; five, two of each kind, are the least with which guessing rarely helps, and below three
            nobody passes.
    """
    rng = np.random.default_rng([seed, 0xC01])
    numbers = [f"{tens}{ones}" for tens in "23456789" for ones in "23456789" if tens != ones]
    chosen = rng.permutation(len(numbers))[:n].tolist()
    kinds = ["control", *(KINDS[1 + place % 2] for place in range(max(0, n - 1)))][:n]
    return [Plate(int(rng.integers(2**31)), numbers[i], kind) for i, kind in zip(chosen, kinds, strict=True)]


def choices(shown: Plate, n: int = 5) -> list[str]:
    """Return the numbers to choose from, the right one among them, sorted; "nothing" (`NOTHING`) comes beside them.

    Args:
        shown: the plate.
        n: how many numbers, >= 2.
    """
    rng = np.random.default_rng([shown.seed, 0xA15])
    length = len(shown.digits)
    others = [f"{number:0{length}d}" for number in range(2 if length == 1 else 20, 10**length)]
    others = [
        number for number in others if number != shown.digits and len(set(number)) == length and "0" not in number
    ]
    if length == 2:  # half of them share a digit with the right one
        near = [number for number in others if (number[0] == shown.digits[0]) != (number[1] == shown.digits[1])]
        far = [number for number in others if not set(number) & set(shown.digits)]
        others = [*rng.permutation(near)[: n // 2], *rng.permutation(far)[: n - 1 - n // 2]]
    else:
        others = rng.permutation(others)[: n - 1].tolist()
    return sorted([shown.digits, *map(str, others)])


def score(shown: Sequence[Plate], answers: Sequence[str | None]) -> Vision:
    """Judge a person's answers to the plates.

    A plate that was not answered counts for nothing. Where the control was not read, neither the screen nor the person's
    attention can be relied on, and nothing is said about the eyes. A kind is passed where at most a third of its plates
    were misread and failed where at least two thirds were. A dichromat who guesses among five numbers, and never says
    "nothing", gets past two plates of a kind in 4 % of cases and past three in 10 %.

    Args:
        shown: the plates.
        answers: digits, `NOTHING`, or None where there is no answer; one for each plate.

    Raises:
        BadInput: another number of answers than of plates.
    """
    if len(shown) != len(answers):
        raise BadInput(f"{len(answers)} answers for {len(shown)} colour plates; give one for each, None for no answer")
    read: dict[str, list[bool]] = {kind: [] for kind in KINDS}
    for one, answer in zip(shown, answers, strict=True):
        if answer is not None:
            read[one.kind].append(answer == one.digits)
    failed = tuple(kind for kind, right in read.items() if right and _THIRD * sum(right) <= len(right))
    passed = [kind for kind, right in read.items() if right and _THIRD * right.count(False) <= len(right)]
    confusion = read["protan"] + read["deutan"]
    outcome: Literal["passed", "failed", "unknown"] = "unknown"
    if len(passed) == len(KINDS):
        outcome = "passed"
    elif failed and "control" in passed:
        outcome = "failed"
    return Vision(outcome, failed, sum(confusion), len(confusion))


def seen_by(light: Floats, kind: str) -> Floats:
    """Return colours that a person with normal vision sees as a dichromat sees the given ones.

    Args:
        light: (..., 3) linear RGB in [0, 1], of a screen with sRGB primaries.
        kind: protan or deutan.

    Returns:
        (..., 3) linear RGB; may leave [0, 1] a little.

    Source:
        Viénot, Brettel and Mollon, "Digital video colourmaps for checking the legibility of displays by dichromats",
        Color Research & Application 24(4), 1999, equations 3 to 6. Departure: their slight reduction of the colour domain
        (0.992 x + 0.004), which keeps results inside the screen's gamut, is left out; it changes no difference.
    """
    cones = light @ _LMS.T
    cones[..., _MISSING[kind]] = cones @ _SEEN[kind]
    made: Floats = cones @ np.linalg.inv(_LMS).T
    return made


def _pair(kind: str) -> tuple[Floats, Floats]:
    """Linear RGB of the number and of the ground, at full level."""
    if kind == "control":
        return _CONTROL
    along = np.linalg.inv(_LMS)[:, _MISSING[kind]]
    along = along * np.sign(along[0]) / np.abs(along).max()
    middle, reach = _CENTRES[kind]
    return middle + reach * along, middle - reach * along


def _coded(light: Floats) -> Floats:
    """Linear light to sRGB in [0, 1]."""
    coded: Floats = np.where(light <= 0.0031308, 12.92 * light, 1.055 * np.maximum(light, 0.0) ** (1 / 2.4) - 0.055)
    return coded


def _packed(rng: np.random.Generator) -> Floats:
    """(n, 3) x, y and radius of dots that fill the disc and do not touch; places do not depend on the number."""
    y, x = np.mgrid[:SIDE, :SIDE] + 0.5
    middle = SIDE / 2
    free = _DISC - np.hypot(x - middle, y - middle)  # distance to the nearest edge
    dots = []
    for radius in _RADII:
        last = radius == _RADII[-1]
        left = SIDE * SIDE if last else int(_SHARE * (_DISC / radius) ** 2)
        open_to = np.flatnonzero(free >= radius + _AIR)
        for place in rng.permutation(open_to).tolist():
            row, column = divmod(place, SIDE)
            if free[row, column] < radius + _AIR:
                continue
            dots.append((column + 0.5, row + 0.5, radius))
            reach = int(radius + _RADII[0] + _AIR) + 2
            near = (slice(max(0, row - reach), row + reach + 1), slice(max(0, column - reach), column + reach + 1))
            away = np.hypot(x[near] - column - 0.5, y[near] - row - 0.5) - radius
            free[near] = np.minimum(free[near], away)
            left -= 1
            if not left:
                break
    return np.array(dots)


def _in_number(points: Floats, digits: str) -> NDArray[np.bool_]:
    strokes, width = laid_out(digits, gap=0.36)
    tall = 225.0 if len(digits) == 1 else 172.0
    placed = (points - SIDE / 2) / tall + np.array([width / 2, 0.5])
    inside: NDArray[np.bool_] = distance(placed, strokes) < _HALF
    return inside


def _painted(dots: Floats, colours: Floats) -> NDArray[np.uint8]:
    canvas = np.tile(np.array(_PAPER), (SIDE, SIDE, 1))
    for (x, y, radius), colour in zip(dots.tolist(), colours, strict=True):
        top, left = int(y - radius - 1), int(x - radius - 1)
        size = int(2 * radius + 4)
        row, column = np.mgrid[top : top + size, left : left + size] + 0.5
        cover = np.clip(radius + 0.5 - np.hypot(column - x, row - y), 0.0, 1.0)[..., None]
        part = canvas[top : top + size, left : left + size]
        part += cover * (colour - part)
    return np.floor(255 * canvas + 0.5).astype(np.uint8)

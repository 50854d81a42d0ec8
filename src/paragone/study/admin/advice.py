"""Stop or go on: the rule that was declared before the study, applied to the looks that were logged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...design import Study
from .figures.progress import Quota
from .live import Curve

__all__ = ["Advice", "Look", "Verdict", "advise", "due", "look_at"]


@dataclass(frozen=True)
class Look:
    """One look at one stage, as the event admin.look keeps it."""

    stage: str
    number: int
    """Which look it is: finished people divided by `stop.every`, rounded down."""
    finished: int
    """Finished people behind it."""
    bounds: dict[str, float | None]
    """Criterion -> lower 2.5 % bound of the rank correlation; None: the ranking was not determined."""
    target: float
    at: float
    """UTC epoch seconds of the numbers."""

    @property
    def reached(self) -> bool:
        """True where the bound of every criterion is at the target."""
        return bool(self.bounds) and all(bound is not None and bound >= self.target for bound in self.bounds.values())


@dataclass(frozen=True)
class Verdict:
    """What the rule says about one stage."""

    stage: str
    word: str
    """'stop', 'go on', or 'too early' (no look is due yet)."""
    why: str
    """One sentence."""
    target: float
    looks: list[Look]
    """Every look, oldest first."""
    next_at: int
    """Finished people at which the next look is due."""


@dataclass(frozen=True)
class Advice:
    """What the rule says about the study."""

    word: str
    """'stop' (every stage has reached its target, or its plan is filled), 'go on', or 'too early'."""
    why: str
    stages: list[Verdict]


def due(curve_people: int, looks: Sequence[Look], every: int) -> int | None:
    """Return the number of the look that is due, None where none is.

    Args:
        curve_people: people who finished the stage and are not excluded.
        looks: the stage's looks so far.
        every: finished sheets between two looks, >= 1.
    """
    number = curve_people // every
    return number if number >= 1 and number > max((look.number for look in looks), default=0) else None


def look_at(stage: str, number: int, curves: Sequence[Curve], at: float) -> Look:
    """Return the look that the curves of one stage amount to.

    Args:
        stage: name of the stage.
        number: as from `due`.
        curves: one per criterion of that stage, one or more.
        at: the moment of the numbers.
    """
    people = max(curve.people for curve in curves)
    return Look(stage, number, people, {curve.criterion: curve.bound for curve in curves}, curves[0].target, at)


def advise(study: Study, looks: Sequence[Look], quotas: Sequence[Quota]) -> Advice:
    """Return what the declared rule says.

    A stage is enough when its last `stop.looks` looks in a row reached the target in every criterion. Only looks count:
    numbers that were seen in between do not, so that looking often cannot stop a study early.

    Args:
        study: its stop rule and stages.
        looks: every look that was logged.
        quotas: the stages against their targets; a stage whose plan is filled needs no more.
    """
    filled = {quota.stage: quota.left <= 0 and quota.needed > 0 for quota in quotas}
    done = {quota.stage: (quota.done, quota.needed) for quota in quotas}
    verdicts = [
        _verdict(study, name, sorted((look for look in looks if look.stage == name), key=lambda look: look.number),
                 filled.get(name, False), *done.get(name, (0, 0)))
        for name in study.stage_names
    ]  # fmt: skip
    words = {verdict.word for verdict in verdicts}
    if words == {"stop"}:
        return Advice("stop", "Every stage is enough by the rule that was declared.", verdicts)
    if "go on" in words:
        open_ = [verdict.stage for verdict in verdicts if verdict.word == "go on"]
        return Advice("go on", f"Not enough yet in stage {', '.join(open_)}.", verdicts)
    early = [verdict.stage for verdict in verdicts if verdict.word == "too early"]
    return Advice("too early", f"No look is due yet in stage {', '.join(early)}.", verdicts)


def _verdict(study: Study, stage: str, looks: list[Look], filled: bool, done: int, needed: int) -> Verdict:
    stop = study.stop
    target = stop.target.get(stage, 0.95)
    last = max((look.number for look in looks), default=0)
    next_at = max(last + 1, done // stop.every + (done < stop.every)) * stop.every
    if filled:
        return Verdict(stage, "stop", "The plan is filled; there is nothing more to ask.", target, looks, next_at)
    if not looks:
        why = f"The first look is due after {stop.every} finished sheets; there are {done}."
        return Verdict(stage, "too early", why, target, looks, next_at)
    row = 0
    for look in reversed(looks):
        if not look.reached:
            break
        row += 1
    if row >= stop.looks:
        why = f"The last {row} looks in a row reached {target:g}; {stop.looks} are needed."
        return Verdict(stage, "stop", why, target, looks, next_at)
    then = (
        f"the next is due at {next_at} finished sheets" if next_at <= needed else "the plan is filled before the next"
    )
    if row:
        why = f"{row} of {stop.looks} looks in a row reached {target:g}; {then}."
        return Verdict(stage, "go on", why, target, looks, next_at)
    low = {name: bound for name, bound in looks[-1].bounds.items() if bound is None or bound < target}
    said = ", ".join(f"{name} {'unknown' if bound is None else f'{bound:.3f}'}" for name, bound in low.items())
    why = f"At the last look the lower bound was below {target:g}: {said}; {then}."
    return Verdict(stage, "go on", why, target, looks, next_at)

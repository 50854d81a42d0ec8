"""`study.toml` as typed records: every key with its meaning, range and default."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Literal

import msgspec

from ..errors import BadConfig
from ..settings import Settings, read_settings
from .pages import Consent, Display, Lab, Pages, Pay, People, Platform, Questionnaire, Stop, Training, Tutorial, once

__all__ = ["MOST_JUDGEMENTS", "PairStage", "RatingStage", "Study", "at_most_judgements", "read_study"]

MOST_JUDGEMENTS = 10_000_000
"""Most trials in all that a plan may hold, and so the most of anything that is counted. Our choice: far more than any
published study collected, so that a mistyped number is told before it is laid out."""
_MOST_SECONDS = 86_400.0  # a day
_LEAST_KEPT = 1e-3  # of a thousand participants one is kept
_MOST_STEPS = 1_000_000  # of a scale
_MOST_SEED = 2**63 - 1


class PairStage(Settings, frozen=True, tag_field="kind", tag="pairs"):
    """A stage that shows two items at a time: `kind = "pairs"`."""

    participants: int
    """Sheets to make, one participant each, >= 1. No default: it is what the study costs."""
    trials: int
    """Comparisons on a sheet, repeats among them, checks not, >= 1. No default: it is what a participant's time
    costs."""
    name: str = ""
    """Name of the stage in every table; empty: its number, from '1'."""
    pairs: Literal["within", "across", "any"] = "within"
    """within: items of one group meet; across: items of different groups meet; any: all items meet all."""
    group: list[str] = msgspec.field(default_factory=list)
    """Factors whose levels together make a group, for example ["content", "style"]. Empty: all items are one group."""
    compare: str = ""
    """Factor under comparison, for example "method": sides are balanced for its levels on each sheet and exposure is
    counted by it. Empty: none."""
    checks: int = 0
    """Trials with a known answer on a sheet, beside `trials`, >= 0."""
    checks_needed: int = 0
    """Right answers needed to be kept, 0 to `checks`; screening reads it."""
    check: Literal["auto", "broken", "instructed"] = "auto"
    """broken: an item against its broken version (column `broken_of` of the items); instructed: the page tells which
    side to choose; auto: broken where the benchmark lists any, else instructed."""
    repeats: int | None = None
    """Comparisons on a sheet that ask an earlier one again, 0 to half of `trials`; left out: a twelfth of `trials`,
    none where that leaves less room than `repeat_distance`."""
    repeat_distance: int = 10
    """Least number of places between a trial and its repeat, >= 1; at most the number of comparisons that are no
    repeats."""
    shared: int | None = None
    """Comparisons on a sheet that `shared_by` participants judge, so that agreement between people can be measured,
    >= 0; left out: a twelfth of `trials`, or as many as connecting the items leaves room for. Not needed, and
    ignored, where the stage shows every pair twice anyway."""
    shared_by: int = 2
    """Participants who judge each shared pair, 2 to `participants`."""
    adaptive: bool = False
    """Deal sheets wave by wave: the first as without it, each further one with the pairs whose outcome would tell most,
    given the votes so far. false: all sheets are dealt before the study. Adaptive votes are not a random sample of
    pairs: shares of wins and counts by pair must not be read as such, scores may."""
    wave: int = 20
    """Sheets dealt at a time where `adaptive`, 1 to `participants`; the first wave must connect the items."""
    break_seconds: int = 60
    """Least length of the break in the middle of a sheet, in seconds; 0: no break."""
    page: str = "pairs"
    """Page kind that asks it; `paragone list pages` names them."""
    ask: Literal["one", "all"] = "one"
    """one: one criterion at a time, in an order drawn per participant; all: every criterion on one page."""
    tie: Literal["none", "tie", "unsure"] = "none"
    """A third button: "no difference", or "not sure"; both are stored as a tie. none: a choice is forced."""
    references: list[str] | None = None
    """Factors whose reference pictures stand beside the results; left out: those of `group` that have any."""

    def __post_init__(self) -> None:
        label = self.name or "pairs"
        once(f"stage '{label}': group", self.group)
        once(f"stage '{label}': references", self.references or [])
        _at_least(label, "participants", self.participants, 1)
        _at_least(label, "trials", self.trials, 1)
        _checks(label, self.checks, self.checks_needed)
        _at_least(label, "repeats", self.n_repeats, 0)
        _at_least(label, "shared", self.shared or 0, 0)
        _at_least(label, "shared_by", self.shared_by, 2)
        _at_least(label, "break_seconds", self.break_seconds, 0)
        _at_least(label, "wave", self.wave, 1)
        _repeats(label, self.trials - self.n_repeats, self.n_repeats, self.repeat_distance)
        at_most_judgements(label, self.participants, self.trials + self.checks)
        if self.shared and self.shared > self.n_main:
            raise _wrong(label, "shared", self.shared, f"is more than the {self.n_main} trials that are no repeats")
        if self.shared and self.shared_by > self.participants:
            raise _wrong(label, "shared_by", self.shared_by, f"is more than the {self.participants} participants")
        if self.pairs == "across" and not self.group:
            raise BadConfig(
                f"stage '{label}': group is empty, but pairs = \"across\" needs the factors that make the groups; "
                'for example group = ["content", "style"]',
                where="stage.group",
            )

    @property
    def judgements(self) -> int:
        """Trials of all participants, checks among them."""
        return self.participants * (self.trials + self.checks)

    @property
    def first_sheets(self) -> int:
        """Sheets that are dealt before the study."""
        return min(self.wave, self.participants) if self.adaptive else self.participants

    @property
    def n_repeats(self) -> int:
        """Repeats on a sheet."""
        if self.repeats is None:
            return self.trials // 12 if self.trials - self.trials // 12 >= self.repeat_distance else 0
        return self.repeats

    @property
    def n_main(self) -> int:
        """Comparisons on a sheet that are no repeats."""
        return self.trials - self.n_repeats

    @property
    def n_shared(self) -> int:
        """Comparisons on a sheet that several participants judge."""
        if self.shared_by > self.participants:
            return 0
        return min(self.trials // 12, self.n_main) if self.shared is None else self.shared


class RatingStage(Settings, frozen=True, tag_field="kind", tag="ratings"):
    """A stage that shows one item at a time: `kind = "ratings"`."""

    participants: int
    """Participants, >= 1. No default: it is what the study costs."""
    name: str = ""
    """Name of the stage in every table; empty: its number, from '1'."""
    low: float = 0.0
    """Lower end of the scale."""
    high: float = 5.0
    """Upper end of the scale, above `low`."""
    step: float = 0.1
    """Distance between two answers of the slider, in (0, high - low]; 1 on a scale of 1 to 5 is ACR."""
    sessions: int = 1
    """Sittings per participant, each a sheet of its own, >= 1."""
    items: int | None = None
    """Different items rated in a session, >= 1; left out: all items of the benchmark shared out over the sessions."""
    stabilising: int = 5
    """Presentations at the start of each session whose answers are dropped, >= 0."""
    checks: int = 0
    """Trials with a known answer in a session, >= 0."""
    checks_needed: int = 0
    """Right answers needed to be kept, 0 to `checks`; screening reads it."""
    check: Literal["auto", "broken", "instructed"] = "auto"
    """broken: a broken item, expected at the low end; instructed: the page tells which value to set; auto: broken where
    the benchmark lists any, else instructed."""
    repeats: int = 0
    """Items of a session that are shown again in it, 0 to `items`."""
    repeat_distance: int = 10
    """Least number of places between a trial and its repeat, >= 1."""
    compare: str = ""
    """Factor by which exposure is counted. Empty: none."""
    group: list[str] = msgspec.field(default_factory=list)
    """Further factors by which exposure is counted."""
    break_seconds: int = 0
    """Least length of a break in the middle of a session, in seconds; 0: no break."""
    minutes: float | None = None
    """Longest session, in minutes at the study's `seconds_per_trial`, stabilising presentations, checks and repeats
    among its trials, breaks aside; `plan` refuses a longer one. Left out: no limit; ITU-R BT.500 asks for under 30."""
    page: str = "slider"
    """Page kind that asks it: slider, acr, dcr; `paragone list pages` names them."""
    labels: list[str] = msgspec.field(default_factory=list)
    """Words of the scale from its low end up, at even distances; empty: ours (Bad to Excellent; DCR: Very annoying to
    Imperceptible)."""
    reference: str = ""
    """Factor whose reference picture stands beside the rated one; dcr needs it. Empty: none."""
    hidden_references: str = ""
    """Factor whose reference pictures are rated like items, unmarked, as `reference:<factor>:<level>`. Empty: none."""
    back: bool = True
    """Previous and next: earlier ratings of the session may be changed; the last one counts, all are kept."""

    def __post_init__(self) -> None:
        label = self.name or "ratings"
        once(f"stage '{label}': group", self.group)
        for key in ("participants", "sessions"):
            _at_least(label, key, getattr(self, key), 1)
        for key in ("stabilising", "repeats", "break_seconds"):
            _at_least(label, key, getattr(self, key), 0)
        if self.items is not None:
            _at_least(label, "items", self.items, 1)
            _repeats(label, self.items, self.repeats, self.repeat_distance)
        _checks(label, self.checks, self.checks_needed)
        _at_least(label, "repeat_distance", self.repeat_distance, 1)
        at_most_judgements(label, self.participants, self.sessions * self.in_session(self.items or 1))
        for key in ("low", "high"):
            if not math.isfinite(getattr(self, key)):
                raise _wrong(label, key, getattr(self, key), "is not finite")
        if not self.low < self.high:
            raise _wrong(label, "high", self.high, f"is not above low = {self.low:g}")
        if not 0 < self.step <= self.high - self.low:
            raise _wrong(label, "step", self.step, f"is not in (0, {self.high - self.low:g}]")
        if self.minutes is not None and not 0 < self.minutes <= _MOST_SECONDS / 60:
            raise _wrong(
                label, "minutes", self.minutes, "is not above 0 and at most a day (1,440); BT.500 asks for under 30"
            )
        if not (self.high - self.low) / self.step <= _MOST_STEPS:
            raise _wrong(label, "step", self.step, f"makes more than {_MOST_STEPS:,} steps from low to high")

    @property
    def judgements(self) -> int:
        """Trials of all participants, checks among them; where `items` is left out, the least there can be."""
        return self.participants * self.sessions * self.in_session(self.items or 1)

    def in_session(self, items: int) -> int:
        """Trials of a session of so many different items."""
        return items + self.repeats + self.stabilising + self.checks


_KINDS = tuple(str(stage.__struct_config__.tag) for stage in (PairStage, RatingStage))


class Study(Settings, frozen=True):
    """What `study.toml` holds."""

    stage: list[PairStage | RatingStage]
    """The stages, in order; later stages join what earlier ones left apart. No default: a study has at least one."""
    name: str = "study"
    """Name of the study."""
    criteria: list[str] = msgspec.field(default_factory=list)
    """What is asked in each trial; empty: the benchmark's criteria."""
    seed: int = 0
    """Every random choice of the plan follows from it, 0 to 2^63 - 1."""
    seconds_per_trial: float = 8.6
    """Expected seconds a trial takes, all criteria together, for the cost, at most a day; 8.6 is what a published study
    measured."""
    kept: float = 0.65
    """Expected share of participants who survive screening, in [.001, 1], for the cost; a published study kept 264 of
    407."""

    pages: Pages = msgspec.field(default_factory=Pages)
    """Words and languages of all pages."""
    consent: Consent = msgspec.field(default_factory=Consent)
    """What a participant agrees to."""
    tutorial: Tutorial = msgspec.field(default_factory=Tutorial)
    """Illustrated explanations."""
    training: Training = msgspec.field(default_factory=Training)
    """Questions that must be answered right before the trials."""
    display: Display = msgspec.field(default_factory=Display)
    """What a screen must be."""
    questionnaire: Questionnaire = msgspec.field(default_factory=Questionnaire)
    """Questions about the person."""
    platform: Platform = msgspec.field(default_factory=Platform)
    """Where participants come from and go back to."""
    people: People = msgspec.field(default_factory=People)
    """Who may do how much."""
    lab: Lab = msgspec.field(default_factory=Lab)
    """The room of a laboratory study."""
    pay: Pay = msgspec.field(default_factory=Pay)
    """What a session earns."""
    stop: Stop = msgspec.field(default_factory=Stop)
    """When it is enough."""

    def __post_init__(self) -> None:
        if not self.stage:
            raise BadConfig("stage is empty; give at least one [[stage]]", where="stage")
        if not 0 <= self.seed <= _MOST_SEED:
            raise BadConfig(f"seed is {self.seed}; give a whole number from 0 to {_MOST_SEED}", where="seed")
        if not _LEAST_KEPT <= self.kept <= 1:
            raise BadConfig(
                f"kept is {self.kept:g}; give a share above 0 (from {_LEAST_KEPT:g}) and at most 1", where="kept"
            )
        if not 0 < self.seconds_per_trial <= _MOST_SECONDS:
            raise BadConfig(
                f"seconds_per_trial is {self.seconds_per_trial:g}; give seconds, at most {_MOST_SECONDS:g}",
                where="seconds_per_trial",
            )
        total = sum(stage.judgements for stage in self.stage)
        if total > MOST_JUDGEMENTS:
            raise BadConfig(
                f"the stages together are {total:,} judgements, and a study holds at most {MOST_JUDGEMENTS:,}; "
                "lower participants or trials",
                where="stage",
            )
        for what, names in (("criterion", self.criteria), ("stage", self.stage_names)):
            twice = [name for name in names if names.count(name) > 1]
            if twice:
                raise BadConfig(f"{what} '{twice[0]}' stands twice; give each its own name", where=what)
        for name in self.stage_names:
            if "=" in name or "/" in name:
                raise BadConfig(f"stage '{name}': a name may hold no '=' and no '/'", where="stage")

    @property
    def stage_names(self) -> list[str]:
        """The stages' names, in order."""
        return [stage.name or str(number) for number, stage in enumerate(self.stage, start=1)]


def read_study(path: str | Path) -> Study:
    """Read `study.toml`.

    Raises:
        NotFound: no such file.
        BadConfig: not TOML, an unknown key, or an impossible value; names file and key.
    """
    path = Path(path)
    try:
        return read_settings(path, Study)
    except BadConfig as error:
        message = error.message if error.message.startswith(path.name) else f"{path.name}: {error.message}"
        if "missing required field `kind`" in message:
            message += f"; a stage's kind is {' or '.join(_KINDS)}"
        if message == error.message:
            raise
        raise BadConfig(message, where=error.where) from error


def at_most_judgements(stage: str, participants: int, each: int) -> None:
    """Hold a stage to `MOST_JUDGEMENTS`.

    Args:
        stage: its name.
        participants: how many.
        each: trials of one of them, checks among them.

    Raises:
        BadConfig: the stage is larger.
    """
    if participants * each > MOST_JUDGEMENTS:
        raise BadConfig(
            f"stage '{stage}': {participants} participants with {each} trials each are {participants * each:,} "
            f"judgements, and a study holds at most {MOST_JUDGEMENTS:,}; lower participants or trials",
            where="stage.participants",
        )


def _wrong(stage: str, key: str, value: float, claim: str) -> BadConfig:
    said = str(value) if isinstance(value, int) else f"{value:g}"
    return BadConfig(f"stage '{stage}': {key} = {said} {claim}", where=f"stage.{key}")


def _at_least(stage: str, key: str, value: int, low: int) -> None:
    if value < low:
        raise _wrong(stage, key, value, f"is below {low}")
    if value > MOST_JUDGEMENTS:
        raise _wrong(stage, key, value, f"is above {MOST_JUDGEMENTS:,}, the most that a study may hold")


def _checks(stage: str, checks: int, needed: int) -> None:
    _at_least(stage, "checks", checks, 0)
    if not 0 <= needed <= checks:
        raise _wrong(stage, "checks_needed", needed, f"is not between 0 and checks = {checks}")


def _repeats(stage: str, main: int, repeats: int, distance: int) -> None:
    _at_least(stage, "repeat_distance", distance, 1)
    if repeats > main:
        raise _wrong(stage, "repeats", repeats, f"is more than the {main} trials left to repeat")
    if repeats and distance > main:
        raise _wrong(
            stage, "repeat_distance", distance, f"does not fit on a sheet with {main} trials that are no repeats"
        )

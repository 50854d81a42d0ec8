"""What participants meet around the trials, as typed records of `study.toml`: texts, consent, training, display, panel.

The study server reads these; dealing a plan needs none of them. A text is one string for all languages, or a table from
language to string.
"""

from __future__ import annotations

import math

import msgspec

from ..errors import BadConfig
from ..settings import Settings

__all__ = [
    "LANGUAGES",
    "MOST_CRITERIA",
    "MOST_LETTERS",
    "MOST_TICKS",
    "MOST_TRAINING",
    "OUTCOMES",
    "Consent",
    "Display",
    "Example",
    "Lab",
    "Pages",
    "Pay",
    "People",
    "Platform",
    "Question",
    "Questionnaire",
    "Stop",
    "Text",
    "Training",
    "Tutorial",
    "in_language",
    "once",
]

Text = str | dict[str, str]

LANGUAGES = ("en", "zh", "de")
"""Languages that have a message file."""
OUTCOMES = ("completed", "screened-out", "no-consent", "failed-training", "technical")
"""How a participant's visit may end; each has a completion code of its own."""
MOST_CRITERIA = 20
"""Most criteria of a trial: a page sends its answers in one request."""
MOST_LETTERS = 200
"""Most characters of a name that goes with an answer: a criterion, a distortion."""
MOST_TICKS = 32
"""Most tick-boxes under a picture."""
MOST_TRAINING = 50
"""Most questions of one training: its answers go in one request."""
_MOST_HOURS = 8760.0  # a year
_MOST_PAY = 1e9  # of any currency
_PLATFORMS = ("open", "lab", "prolific", "connect", "sona", "mturk", "own")
_ASKED = ("gender", "age", "expertise", "region")
_TUTORIALS = ("auto", "style-transfer", "text-to-image", "none")


class Pages(Settings, frozen=True):
    """Words and languages of all pages: `[pages]`."""

    title: Text = ""
    """Title of the study as participants see it; empty: its name."""
    languages: list[str] = msgspec.field(default_factory=lambda: ["en"])
    """Languages offered, the first by default: en, zh, de."""
    questions: dict[str, Text] = msgspec.field(default_factory=dict)
    """Question of each criterion, by its name, with the judged word between asterisks: "Which result keeps the *content*
    better?". Left out: a wording of ours where the criterion is known, else a general one."""
    instructions: Text = ""
    """Instructions of your own, in paragraphs, shown after ours; only plain text and *emphasis*."""
    show: list[str] = msgspec.field(default_factory=list)
    """Factor columns of the items whose text is shown beside a rated picture, for example ["prompt"]."""
    distortions: list[str] = msgspec.field(default_factory=list)
    """Tick-boxes under a rated picture, at most 32, for example ["blur", "artifact", "unnatural", "mismatch"]; empty:
    none."""

    def __post_init__(self) -> None:
        _among("pages.languages", self.languages, LANGUAGES)
        for key in ("languages", "show", "distortions"):
            once(f"pages.{key}", getattr(self, key))
        wrong = [word for word in self.distortions if not 1 <= len(word) <= MOST_LETTERS]
        if wrong:
            raise BadConfig(
                f"pages.distortions: '{wrong[0][:20]}' has {len(wrong[0])} characters; give 1 to {MOST_LETTERS}",
                where="pages.distortions",
            )
        if len(self.distortions) > MOST_TICKS:
            raise BadConfig(
                f"pages.distortions has {len(self.distortions)} words; give at most {MOST_TICKS}",
                where="pages.distortions",
            )
        if not self.languages:
            raise BadConfig("pages.languages is empty; name at least one language", where="pages.languages")


class Consent(Settings, frozen=True):
    """What a participant agrees to: `[consent]`. `serve` refuses to ask people before `who` and `contact` are there."""

    who: Text = ""
    """Who runs the study and answers for the data: name and institution."""
    contact: Text = ""
    """How a participant reaches them."""
    purpose: Text = ""
    """What the study is for; empty: a sentence of ours."""
    data: Text = ""
    """What is stored; empty: a paragraph of ours that says what this server stores."""
    kept: Text = ""
    """How long; empty: ours, with `delete_after_days`."""
    sharing: Text = ""
    """With whom answers are shared; empty: answers may be published without ids."""
    basis: Text = ""
    """Legal basis and ethics approval; empty: consent."""
    delete_after_days: int = 365
    """Days after which the encrypted panel ids are deleted, >= 1."""

    def __post_init__(self) -> None:
        _from("consent.delete_after_days", self.delete_after_days, 1)


class Example(Settings, frozen=True):
    """One illustrated example of the tutorial, with a clear answer: `[[tutorial.example]]`."""

    text: Text
    """What it shows. No default: an example says something."""
    pictures: dict[str, str] = msgspec.field(default_factory=dict)
    """Role (content, style, left, right, item) to picture: a file of the study's folder, or an item of the benchmark."""
    criterion: str = ""
    """Criterion it speaks of; empty: none in particular."""
    answer: str = ""
    """The clear answer: left, right, or a value of the scale; empty: nothing to try."""
    why: Text = ""
    """Why, shown after the participant tried or looked."""


class Tutorial(Settings, frozen=True):
    """Illustrated explanations before the training: `[tutorial]`. They gate nothing."""

    kind: str = "auto"
    """style-transfer: what content, style and transfer are; text-to-image: what one score must weigh; auto: by the
    stages; none: only your own examples."""
    example: list[Example] = msgspec.field(default_factory=list)
    """Examples of your own, after ours."""

    def __post_init__(self) -> None:
        _among("tutorial.kind", [self.kind], _TUTORIALS)


class Question(Settings, frozen=True):
    """One training question with a known answer: `[[training.question]]`."""

    stage: str = ""
    """Stage it belongs to; empty: every stage that can show it."""
    criterion: str = ""
    """Criterion asked; empty: the first."""
    pictures: dict[str, str] = msgspec.field(default_factory=dict)
    """Role (content, style, left, right, item) to picture: a file of the study's folder, or an item of the benchmark."""
    expected: str = ""
    """left or right; for ratings the middle of the accepted range."""
    within: float = 1.0
    """Ratings: largest accepted distance from `expected`, in scale units, >= 0."""
    right: Text = ""
    """Feedback to the right answer; empty: ours."""
    wrong: Text = ""
    """Feedback to a wrong answer; empty: ours."""

    def __post_init__(self) -> None:
        if not 0 <= self.within < math.inf:
            raise BadConfig(f"training.question.within is {self.within:g}; give a number >= 0", where="training")


class Training(Settings, frozen=True):
    """Questions that must be answered right before the trials begin: `[training]`."""

    auto: int = 3
    """Questions made from broken versions (or with the answer told), where none are listed, 0 to 50; 0: no training."""
    attempts: int = 3
    """Tries at the whole training, >= 2 as panels ask; then the outcome is failed-training."""
    question: list[Question] = msgspec.field(default_factory=list)
    """Questions of your own, instead of ours, at most 50."""

    def __post_init__(self) -> None:
        _from("training.auto", self.auto, 0, MOST_TRAINING)
        _from("training.attempts", self.attempts, 2)
        if len(self.question) > MOST_TRAINING:
            raise BadConfig(
                f"training.question stands {len(self.question)} times; give at most {MOST_TRAINING}",
                where="training.question",
            )


class Display(Settings, frozen=True):
    """What a screen must be, and what is found out about it: `[display]`."""

    min_width: int = 1024
    """Least width of the window in CSS pixels, >= 320; smaller screens are refused politely."""
    min_height: int = 600
    """Least height of the window in CSS pixels, >= 320."""
    card: bool = False
    """Let participants match a bank card on the screen, which gives pixels per centimetre."""
    plates: int = 0
    """Colour-vision plates shown, 0 to 8; answers are recorded and exclude nobody by themselves."""
    zoom: bool = True
    """Synchronised zoom in pair stages; rating stages have none."""
    full_screen: bool = False
    """Ask for full screen before the trials."""

    def __post_init__(self) -> None:
        _from("display.min_width", self.min_width, 320)
        _from("display.min_height", self.min_height, 320)
        _from("display.plates", self.plates, 0, 8)


class Questionnaire(Settings, frozen=True):
    """Questions about the person, each skippable: `[questionnaire]`."""

    ask: list[str] = msgspec.field(default_factory=lambda: ["gender", "age", "expertise", "region"])
    """Which of gender, age (a band), expertise, region; empty: no questionnaire."""
    remark: bool = True
    """A box for remarks."""

    def __post_init__(self) -> None:
        _among("questionnaire.ask", self.ask, _ASKED)
        once("questionnaire.ask", self.ask)


class Platform(Settings, frozen=True):
    """Where participants come from and go back to: `[platform]`. A preset's keys may be overridden one by one."""

    profile: str = "open"
    """open (whoever has the link), lab (one-use codes), prolific, connect, sona, mturk, own."""
    person: str = ""
    """URL parameter that names the person; empty: the preset's."""
    submission: str = ""
    """URL parameter that names the submission; empty: the preset's."""
    study: str = ""
    """URL parameter that names the study there; empty: the preset's."""
    back: str = ""
    """Where a participant returns to, with {code}, {person} and {submission}; empty: the preset's."""
    codes: dict[str, str] = msgspec.field(default_factory=dict)
    """Outcome (completed, screened-out, no-consent, failed-training, technical) to completion code; left out: made at
    random when the study is first served, and shown to the admin."""
    frame: str = ""
    """Origin that may show the pages in a frame, for example "https://workersandbox.example"; empty: none."""

    def __post_init__(self) -> None:
        _among("platform.profile", [self.profile], _PLATFORMS)
        _among("platform.codes", list(self.codes), OUTCOMES)
        twice = [code for code in self.codes.values() if list(self.codes.values()).count(code) > 1]
        if twice:
            raise BadConfig(f"platform.codes: '{twice[0]}' stands twice; each outcome needs its own", where="platform")
        if self.profile == "own" and not self.person:
            raise BadConfig(
                'platform.person is empty; profile = "own" needs the URL parameter', where="platform.person"
            )


class People(Settings, frozen=True):
    """Who may do how much, and what happens to sheets that are left: `[people]`."""

    both_stages: bool = False
    """One person may do a sheet of each stage."""
    gap_hours: float = 0.0
    """Least time between two sessions of one person, in hours, 0 to 8,760 (a year)."""
    at_once: int = 300
    """Most sheets that may be under way at the same time, >= 1."""
    abandon_minutes: float = 45.0
    """A sheet without an answer for so long, in minutes, is given to another person, > 0, at most a year."""
    replace: bool = True
    """Deal a copy of an abandoned or excluded sheet."""

    def __post_init__(self) -> None:
        _from("people.at_once", self.at_once, 1)
        if not 0 <= self.gap_hours <= _MOST_HOURS:
            raise BadConfig(
                f"people.gap_hours is {self.gap_hours:g}; give hours from 0 to {_MOST_HOURS:,.0f} (a year)",
                where="people.gap_hours",
            )
        if not 0 < self.abandon_minutes <= 60 * _MOST_HOURS:
            raise BadConfig(
                f"people.abandon_minutes is {self.abandon_minutes:g}; give minutes above 0, at most "
                f"{60 * _MOST_HOURS:,.0f} (a year)",
                where="people.abandon_minutes",
            )


class Pay(Settings, frozen=True):
    """What a session earns: `[pay]`. Only shown and counted; nobody is paid from here."""

    per_session: float = 0.0
    """Amount for a completed session, 0 to 1e9."""
    currency: str = "EUR"
    """Its currency."""
    refuse_after: int = 2
    """Failed *instructed* checks after which pay may be refused, >= 1; panels ask for two, and never accept broken
    pictures as a reason."""

    def __post_init__(self) -> None:
        _from("pay.refuse_after", self.refuse_after, 1)
        if not 0 <= self.per_session <= _MOST_PAY:
            raise BadConfig(
                f"pay.per_session is {self.per_session:g}; give an amount from 0 to {_MOST_PAY:,.0f}",
                where="pay.per_session",
            )


class Lab(Settings, frozen=True):
    """The room of a laboratory study, as the methods paragraph states it: `[lab]`. What is left out is said to be not
    recorded."""

    station: str = ""
    """Name of the place or machine."""
    monitor: str = ""
    """Make and model of the display."""
    resolution: list[int] = msgspec.field(default_factory=list)
    """Width and height of the display in pixels; empty: what the browser reports."""
    height_cm: float | None = None
    """Height of the visible display, in centimetres, > 0."""
    distance_heights: float | None = None
    """Viewing distance in heights of the display, > 0."""
    distance_cm: float | None = None
    """Viewing distance in centimetres, > 0."""
    light_lux: float | None = None
    """Room light at the display, in lux, >= 0."""
    light: str = ""
    """Room light in words, where it was not measured: "normal indoor light"."""
    vision: list[str] = msgspec.field(default_factory=list)
    """Tests of vision that the operator carries out and enters for each participant: acuity, colour."""

    def __post_init__(self) -> None:
        _among("lab.vision", self.vision, ("acuity", "colour"))
        once("lab.vision", self.vision)
        if self.resolution and (len(self.resolution) != 2 or min(self.resolution) < 1):
            raise BadConfig(f"lab.resolution is {self.resolution}; give width and height in pixels", where="lab")
        for key in ("height_cm", "distance_heights", "distance_cm", "light_lux"):
            value = getattr(self, key)
            if value is not None and not (0 <= value < math.inf and (value > 0 or key == "light_lux")):
                raise BadConfig(f"lab.{key} is {value:g}; give a number above 0", where=f"lab.{key}")


class Stop(Settings, frozen=True):
    """When a study is enough, declared before it starts: `[stop]`."""

    target: dict[str, float] = msgspec.field(default_factory=dict)
    """Stage to the rank correlation (Spearman) with the ranking of all answers whose lower 2.5 % bound must be reached,
    in (0, 1); left out: .95."""
    looks: int = 2
    """Looks in a row that must reach it, >= 1."""
    every: int = 10
    """Finished sheets between two looks, >= 1."""

    def __post_init__(self) -> None:
        _from("stop.looks", self.looks, 1)
        _from("stop.every", self.every, 1)
        for stage, value in self.target.items():
            if not 0 < value < 1:
                raise BadConfig(f"stop.target.{stage} is {value:g}; give a number in (0, 1)", where="stop.target")


def in_language(text: Text, language: str) -> str:
    """Return a text in a language, else in English, else in the first it has; '' where there is none."""
    if isinstance(text, str):
        return text
    return text.get(language) or text.get("en") or next(iter(text.values()), "")


def once(key: str, names: list[str]) -> None:
    """Hold a list of names to naming each thing once.

    Args:
        key: where it stands, for the message.
        names: what it names.

    Raises:
        BadConfig: a name stands twice.
    """
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise BadConfig(f"{key}: '{twice}' stands twice; name it once", where=key)


def _from(key: str, value: int, low: int, high: int = 1_000_000) -> None:
    if not low <= value <= high:
        raise BadConfig(f"{key} is {value}; give a whole number from {low} to {high:,}", where=key)


def _among(key: str, values: list[str], known: tuple[str, ...]) -> None:
    wrong = [value for value in values if value not in known]
    if wrong:
        raise BadConfig(f"{key}: '{wrong[0]}' is not one of {', '.join(known)}", where=key)

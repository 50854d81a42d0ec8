"""Bodies of the participant API: strict, bounded, described once for checks and OpenAPI."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import msgspec
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from ...design.pages import MOST_CRITERIA, MOST_LETTERS, MOST_TICKS, MOST_TRAINING

__all__ = [
    "AnswerBody",
    "AnswersDone",
    "AnswersSent",
    "AnyStep",
    "BeginStep",
    "BreakStep",
    "ConsentStep",
    "DeclineStep",
    "DeviceStep",
    "ErrorTold",
    "FinishSent",
    "InstructionsStep",
    "OneAnswer",
    "QuestionnaireStep",
    "StateTold",
    "Step",
    "TelemetrySent",
    "TrainingStep",
    "TutorialStep",
    "answers_described",
]

_UUID = r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"
_MOST_TEXT = 8192  # characters of a step's free facts, as JSON
_MOST_REMARK = 2000
_MOST_SECONDS = 864_000.0  # ten days: a page that was left open
_MOST_WHOLE = 2**53  # the largest whole number that a browser counts to; a longer one is taken as a float

ClientId = Annotated[str, StringConstraints(pattern=_UUID)]
Word = Annotated[str, StringConstraints(max_length=MOST_LETTERS)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


def _small(facts: dict[str, Any]) -> dict[str, Any]:
    if len(facts) > 64 or len(json.dumps(facts, ensure_ascii=False)) > _MOST_TEXT:
        raise ValueError("too much")
    return facts


Whole = Annotated[int, Field(ge=-_MOST_WHOLE, le=_MOST_WHOLE)]
Scalar = bool | Whole | float | Word | None
Facts = Annotated[dict[Word, Scalar | list[Scalar] | dict[Word, Scalar]], AfterValidator(_small)]
"""What a browser tells of itself: names to plain values, at most 64 and 8 KB."""


class _Nothing(_Strict):
    pass


class _Consented(_Strict):
    version: Annotated[str, StringConstraints(max_length=64)] = Field(description="Version of the text that was shown.")


class _Questioned(_Strict):
    trial: Annotated[str, StringConstraints(max_length=64)]
    criterion: Word
    value: Annotated[str, StringConstraints(max_length=32)]
    seconds: Annotated[float, Field(ge=0, le=_MOST_SECONDS, strict=False)] | None = None


class _Trained(_Strict):
    answers: Annotated[list[_Questioned], Field(min_length=1, max_length=MOST_TRAINING)]


class _Asked(_Strict):
    answers: Annotated[dict[Word, Word], Field(max_length=16)] = Field(default_factory=dict)
    remark: Annotated[str, StringConstraints(max_length=_MOST_REMARK)] = ""


class ConsentStep(_Strict):
    """The participant agrees."""

    id: ClientId
    step: Literal["consent"]
    body: _Consented


class DeclineStep(_Strict):
    """The participant does not agree: whatever was stored is deleted."""

    id: ClientId
    step: Literal["decline"]
    body: _Nothing = Field(default_factory=_Nothing)


class DeviceStep(_Strict):
    """The screen was looked at."""

    id: ClientId
    step: Literal["device"]
    body: Facts = Field(default_factory=dict)


class InstructionsStep(_Strict):
    """The instructions were read."""

    id: ClientId
    step: Literal["instructions"]
    body: _Nothing = Field(default_factory=_Nothing)


class TutorialStep(_Strict):
    """The tutorial was seen."""

    id: ClientId
    step: Literal["tutorial"]
    body: Facts = Field(default_factory=dict)


class TrainingStep(_Strict):
    """Answers to training questions, one or several."""

    id: ClientId
    step: Literal["training"]
    body: _Trained


class BeginStep(_Strict):
    """The trials begin."""

    id: ClientId
    step: Literal["begin"]
    body: Facts = Field(default_factory=dict)


class BreakStep(_Strict):
    """The break is over."""

    id: ClientId
    step: Literal["break"]
    body: _Nothing = Field(default_factory=_Nothing)


class QuestionnaireStep(_Strict):
    """Answers about the person; what is left out was skipped."""

    id: ClientId
    step: Literal["questionnaire"]
    body: _Asked


AnyStep = (
    ConsentStep
    | DeclineStep
    | DeviceStep
    | InstructionsStep
    | TutorialStep
    | TrainingStep
    | BeginStep
    | BreakStep
    | QuestionnaireStep
)
Step = Annotated[AnyStep, Field(discriminator="step")]
"""The body of `POST /api/step`."""


class TelemetrySent(_Strict):
    """Something that happened in the browser."""

    id: ClientId
    kind: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z-]{0,31}$")]
    body: Facts = Field(default_factory=dict)


class FinishSent(_Strict):
    """The participant has done everything."""

    id: ClientId


class StateTold(BaseModel):
    """Where the participant is, and all that the page needs to show it. Further keys follow the phase."""

    model_config = ConfigDict(extra="allow")

    phase: str = Field(description="consent, device, instructions, tutorial, training, ready, trial, break, ...")
    now: float = Field(description="The server's clock, UTC epoch seconds.")


class ErrorTold(BaseModel):
    """Why something was not done."""

    error: dict[str, str] = Field(description="kind: one word; message: a sentence in the visitor's language.")


Text = Annotated[str, msgspec.Meta(max_length=MOST_LETTERS)]
Milliseconds = Annotated[float, msgspec.Meta(ge=-1e12, le=1e12)]


class AnswerBody(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """How an answer was given."""

    onset_ms: Milliseconds | None = None
    """When all pictures were painted, on the page's clock."""
    load_ms: Milliseconds | None = None
    """How long the pictures took to be loaded and decoded."""
    input: Annotated[str, msgspec.Meta(max_length=16)] | None = None
    """mouse, touch, pen or key."""
    hidden_ms: Milliseconds | None = None
    """How long the page was out of sight meanwhile."""
    exact: bool | None = None
    """Whether each picture pixel was a whole number of device pixels."""
    scale: Annotated[float, msgspec.Meta(ge=0, le=1e4)] | None = None
    """Device pixels for a picture pixel."""
    zoom: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)] | None = None
    """How often the zoom was used."""
    order: Annotated[int, msgspec.Meta(ge=-1, le=1000)] | None = None
    """Place of the criterion among those of the trial, from 0."""
    distortions: Annotated[list[Text], msgspec.Meta(max_length=MOST_TICKS)] | None = None
    """Ticked boxes."""


class OneAnswer(msgspec.Struct, forbid_unknown_fields=True):
    """One answer to one criterion of a trial."""

    id: Annotated[str, msgspec.Meta(pattern=_UUID)]
    """Made by the client, once for each answer."""
    trial: Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
    """Public id."""
    criterion: Annotated[str, msgspec.Meta(min_length=1, max_length=MOST_LETTERS)]
    value: Annotated[str, msgspec.Meta(min_length=1, max_length=32)]
    """left, right, tie, or a number of the scale."""
    revision: Annotated[int, msgspec.Meta(ge=0, le=100_000)] = 0
    seconds: Annotated[float, msgspec.Meta(ge=0, le=_MOST_SECONDS)] | None = None
    """From the moment all pictures were painted."""
    body: AnswerBody = msgspec.field(default_factory=AnswerBody)


class AnswersSent(msgspec.Struct, forbid_unknown_fields=True):
    """Answers to one trial."""

    answers: Annotated[list[OneAnswer], msgspec.Meta(min_length=1, max_length=MOST_CRITERIA)]


class AnswersDone(msgspec.Struct):
    """What became of each."""

    results: list[dict[str, str]]
    """id and status: stored, known, conflict or gone."""


def answers_described() -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the OpenAPI description of `POST /api/answers`, and the components that it names."""
    (request, done), components = msgspec.json.schema_components(
        [AnswersSent, AnswersDone], ref_template="#/components/schemas/{name}"
    )
    error = {"application/json": {"schema": {"$ref": "#/components/schemas/ErrorTold"}}}
    said = {
        "201": "Stored: at least one of them now.",
        "200": "Known: the same answers had been stored.",
        "409": "An answer of another content, or another id for this place, is there already; the first one stays.",
    }
    refused = {
        "400": "bad-request: not JSON.",
        "401": "bad-token: no bearer token, or nobody's.",
        "404": "not-found: no trial of this session has that id.",
        "410": "replaced: another tab took over, or the session has ended.",
        "422": "bad-request: not what it must be; says where.",
        "425": "too-early: the break is not over, or the trial is not served yet.",
        "429": "too-many: wait for Retry-After seconds.",
        "503": "paused, or the store cannot write at this moment.",
    }
    responses = {
        code: {"description": text, "content": {"application/json": {"schema": done}}} for code, text in said.items()
    }
    responses |= {code: {"description": text, "content": error} for code, text in refused.items()}
    return {
        "tags": ["participant"],
        "summary": "Answers to one trial",
        "description": "Each answer is stored once, whatever is lost on the way; it is acknowledged after the commit.",
        "operationId": "answers",
        "requestBody": {"required": True, "content": {"application/json": {"schema": request}}},
        "responses": responses,
    }, components

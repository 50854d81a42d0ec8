"""What each exported table holds, column by column: the data dictionary."""

from __future__ import annotations

from ....tables import Column, Schema

__all__ = ["FORMATS", "TABLES", "WITHHELD"]

FORMATS = ("csv", "parquet", "json")
"""Formats of a single table."""


def _id(name: str, doc: str) -> Column:
    return Column(name=name, kind="id", doc=doc)


def _text(name: str, doc: str) -> Column:
    return Column(name=name, kind="text", doc=doc)


def _number(name: str, doc: str) -> Column:
    return Column(name=name, kind="number", doc=doc)


def _whole(name: str, doc: str) -> Column:
    return Column(name=name, kind="whole", doc=doc)


_PARTICIPANT = _id("participant", "Who; a name made here, p-0001 and on.")
_SHEET = _id("sheet", "Sheet of the plan.")
_SESSION = _id("session", "Sitting within the sheet's owner.")
_STAGE = _id("stage", "Stage of the study.")
_OWNER = _id("owner", "Owner of the sheets in the plan.")
_LEASE = _whole("lease", "Number of the lease: all sheets of one owner and stage, as one person has them.")
_VERSION = _whole("version", "Number of the frozen version of the study.")
_STATE = _text(
    "state",
    "State of the lease: free, leased, complete, accepted, excluded, abandoned, retired; complete and accepted count.",
)
_TRIAL = _id("trial", "Trial of the plan.")
_AT = "UTC epoch seconds by the server's clock"

_ANSWERS = (
    _PARTICIPANT,
    _SHEET,
    _SESSION,
    _TRIAL,
    _id("criterion", "What was asked."),
    _text("answer", "left, right, tie, or a rating."),
    _number("seconds", "Response time from the moment all pictures were painted; null: unknown."),
    _STAGE,
    _OWNER,
    _LEASE,
    _VERSION,
    _STATE,
    _whole("revision", "0: the first answer; ratings that were changed count up."),
    _number("at", f"When it was stored, {_AT}."),
    _number("onset_ms", "When all pictures were painted, on the page's own clock, in milliseconds."),
    _number("load_ms", "How long the pictures took to load and decode, in milliseconds."),
    _text("input", "mouse, touch, pen or key."),
    _number("hidden_ms", "How long the page was out of sight meanwhile, in milliseconds."),
    Column(name="exact", kind="flag", doc="Each picture pixel was a whole number of device pixels."),
    _number("scale", "Device pixels for one picture pixel."),
    _whole("zoom", "How often the zoom was used."),
    _whole("order", "Place of the criterion among those of the trial, from 0."),
    _text("distortions", "Boxes that were ticked, with ; between them."),
    _text("more", "What else came with the answer, as JSON; null: nothing."),
)

TABLES = {
    schema.name: schema
    for schema in (
        Schema("answers", _ANSWERS),
        Schema("answers_clean", _ANSWERS),
        Schema("revisions", _ANSWERS),
        Schema(
            "trials",
            (
                _LEASE, _PARTICIPANT, _VERSION, _STATE, _STAGE, _OWNER, _SHEET, _SESSION,
                _whole("position", "Place in the sheet, from 1."),
                _TRIAL,
                _text("kind", "What the trial is for: main, check, repeat, training or stabilising."),
                _id("left", "Item on the left; null in a rating trial."),
                _id("right", "Item on the right; null in a rating trial."),
                _id("item", "Item to be rated; null in a pairwise trial."),
                _text("expected", "Right answer of a check; else null."),
                _id("repeat_of", "Trial that this one repeats; null: none."),
                _text("check", "broken or instructed; null: no check."),
            ),
        ),
        Schema(
            "sessions",
            (
                _LEASE, _PARTICIPANT, _VERSION, _STATE, _STAGE, _OWNER, _SESSION, _SHEET,
                _whole("answers", "Answers that were given, the last revision of each."),
                _number("first_at", f"When the first of them was stored, {_AT}."),
                _number("last_at", f"When the last of them was stored, {_AT}."),
                _text("device", "What the browser told of its screen, as JSON; null: nothing."),
            ),
        ),
        Schema(
            "leases",
            (
                _LEASE, _VERSION, _STAGE, _OWNER,
                _whole("copy", "0: the planned one; replacements count up."),
                _STATE,
                _PARTICIPANT,
                _whole("replaces", "Planned lease whose copy this is; null: it is planned itself."),
                _number("taken_at", f"When its person took it, {_AT}."),
                _number("done_at", f"When it was complete, {_AT}."),
            ),
        ),
        Schema(
            "participants",
            (
                _PARTICIPANT,
                _text("platform", "Where they came from."),
                _id("external_hmac", "HMAC of the panel's id under the study's key; null: none, or deleted."),
                _text("language", "Language that they read."),
                _number("arrived_at", f"When they came, {_AT}."),
                _text("consent", "Version of the consent text that they agreed to; null: they did not."),
                _number("consent_at", f"When they agreed, {_AT}."),
                _text("outcome", "completed, screened-out, failed-training or technical; null: not ended."),
                _text("gender", "What they said of themselves; null: skipped or not asked."),
                _text("age", "Age band; null: skipped or not asked."),
                _text("expertise", "Expertise; null: skipped or not asked."),
                _text("region", "Region; null: skipped or not asked."),
                _text("remark", "What they wrote; null: nothing."),
                _number("forgotten_at", f"When their data were deleted on request, {_AT}; null: they were not."),
            ),
        ),
        Schema(
            "events",
            (
                _whole("event", "Number of the event, in order."),
                _number("at", f"When, {_AT}."),
                _text("kind", "What happened."),
                _PARTICIPANT, _LEASE, _SESSION,
                _text("body", "What else is known of it, as JSON."),
            ),
        ),
        Schema(
            "exclusions",
            (
                _whole("event", "Number of the event."),
                _number("at", f"When, {_AT}."),
                _text("deed", "exclude, restore, release, replace, accept or abandoned."),
                _LEASE, _PARTICIPANT, _STAGE, _OWNER,
                _text("state", "State of the lease at the time of the export."),
                _text("who", "Who did it; null: the study itself."),
                _text("why", "The reason that was given."),
            ),
        ),
        Schema(
            "stimuli",
            (
                _VERSION,
                _id("stimulus", "Item, or reference:FACTOR:LEVEL."),
                _text("path", "File in the study's folder."),
                _text("sha256", "SHA-256 of the file."),
                _whole("width", "In pixels."),
                _whole("height", "In pixels."),
                _text("profile", "What the file says about colour."),
                _text("texts", "Texts shown beside it, as JSON; null: none."),
            ),
        ),
    )
}  # fmt: skip
"""Table name -> its columns, in the order they are written."""

WITHHELD = {
    "participants": ("external_hmac", "remark"),
    "sessions": ("device",),
    "exclusions": ("who", "why"),
}
"""Columns that an anonymised export leaves empty."""

"""Where participants come from and how they go back: one generic profile, presets for known panels.

A profile says which URL parameter names the person and which the submission, where a participant returns to and with
which code. Ids that a panel failed to fill in are refused: `{{%PROLIFIC_PID%}}`, `undefined` and the like would make all
participants one.
"""

from __future__ import annotations

import functools
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import quote, urlsplit

from ...design.pages import OUTCOMES, Platform
from ...errors import BadConfig, BadInput

__all__ = [
    "CODE_LETTERS",
    "PRESETS",
    "Ids",
    "PostBack",
    "Profile",
    "Return",
    "completion",
    "completion_codes",
    "ids_of",
    "origin_of",
    "profile_of",
]

CODE_LETTERS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"
"""Letters of codes that people copy: without 0, O, 1, I and L, which are mistaken for each other."""
_CODE_LENGTH = 8  # 31**8 = 8.5e11 codes: not to be guessed through a panel's form
_MOST_LETTERS = 128  # of an id; the longest known (MTurk's) have 30
_UNFILLED = {"undefined", "null", "none", "nan", "nil", "n/a", "na", "[object object]"}
_PLACEHOLDER = re.compile(r"[{}%<>]|\$\(|\[\[|\]\]")
_PLAIN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@+=~-]*")
_FIELD = re.compile(r"\{([a-z_]*)\}")


@dataclass(frozen=True)
class Profile:
    """One way to arrive and to return."""

    name: str
    """Name of the preset; the platform of the participants in the store."""
    person: str = ""
    """URL parameter that names the person; empty: nobody is named (open link, lab code)."""
    submission: str = ""
    """URL parameter that names the submission; empty: the panel has none."""
    study: str = ""
    """URL parameter that names the study there; empty: none."""
    back: str = ""
    """URL to return to, with {code}, {person}, {submission}, {study}; empty: the code alone is shown. A URL without
    {code} credits whoever loads it, so only who completed is sent there."""
    frame: str = ""
    """Origin that may show the pages in a frame; empty: none."""
    submit_to: str = ""
    """URL parameter with the origin that a form is posted to at the end; empty: no form."""
    submit_path: str = ""
    """Path of that form."""
    submit_origins: tuple[str, ...] = ()
    """The only origins that `submit_to` may name; the address comes from the visitor and is never trusted."""
    preview: str = ""
    """Submission id that means "only looking": the consent text is shown and nothing is stored. Empty: none."""


PRESETS: Mapping[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile("open"),
        Profile("lab"),
        Profile(
            "prolific",
            person="PROLIFIC_PID",
            submission="SESSION_ID",
            study="STUDY_ID",
            back="https://app.prolific.com/submissions/complete?cc={code}",
        ),
        Profile("connect", person="participantId", submission="assignmentId", study="projectId"),
        Profile("sona", person="survey_code"),
        Profile(
            "mturk",
            person="workerId",
            submission="assignmentId",
            study="hitId",
            frame="https://www.mturk.com",
            submit_to="turkSubmitTo",
            submit_path="/mturk/externalSubmit",
            submit_origins=("https://www.mturk.com", "https://workersandbox.mturk.com"),
            preview="ASSIGNMENT_ID_NOT_AVAILABLE",
        ),
        Profile("own"),
    )
}
"""Name to profile. MTurk itself closed in 2026; its parameters live on in compatible clones."""


@dataclass(frozen=True)
class Ids:
    """What a panel said about a visitor. Never logged, shown or put into an address; the store keeps it sealed."""

    person: str = field(default="", repr=False)
    """Id of the person there; empty: the profile names nobody."""
    submission: str = field(default="", repr=False)
    """Id of the submission there; empty: the profile has none."""
    study: str = field(default="", repr=False)
    """Id of the study there; empty: the profile has none, or it was left out."""
    submit_to: str = field(default="", repr=False)
    """Origin that the closing form goes to, one of the profile's; empty: no form."""
    preview: bool = False
    """The visitor only looks: show the consent text, store nothing."""


@dataclass(frozen=True)
class PostBack:
    """A form that the participant's page posts to the panel at the end."""

    action: str
    """Address of the form."""
    fields: Mapping[str, str]
    """Name to value of its hidden fields."""


@dataclass(frozen=True)
class Return:
    """How a participant goes back."""

    code: str
    """The code to be shown and copied."""
    url: str | None
    """Address to go to; None: none, the code is enough."""
    form: PostBack | None
    """Form to post instead; None: none."""


def profile_of(platform: Platform) -> Profile:
    """Return the preset of a study's platform with the study's own keys laid over it.

    Args:
        platform: `[platform]` of study.toml.

    Raises:
        BadConfig: `back` is no https address (http on this machine), or has an unknown place-holder; `frame` is no
            origin; two parameters have one name.
    """
    preset = PRESETS[platform.profile]
    named = {key: getattr(platform, key) for key in ("person", "submission", "study", "back") if getattr(platform, key)}
    profile = replace(preset, **named)
    if platform.frame:
        frame = origin_of(platform.frame)
        if frame is None or frame != platform.frame.rstrip("/").lower():
            raise BadConfig(
                f"platform.frame is '{platform.frame}'; give an origin such as https://panel.example",
                where="platform.frame",
            )
        origins = (*preset.submit_origins, frame) if preset.submit_to else ()
        profile = replace(profile, frame=frame, submit_origins=origins)
    if platform.back:
        _check_back(platform.back)
    names = [name for name in (profile.person, profile.submission, profile.study, profile.submit_to) if name]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise BadConfig(
            f"platform: parameter '{twice[0]}' stands for two things; name each once", where="platform.person"
        )
    return profile


def ids_of(profile: Profile, query: Mapping[str, list[str]]) -> Ids:
    """Return the ids in the address that a visitor came by.

    Args:
        profile: how the platform names them.
        query: parameter to all its values, blank ones included.

    Raises:
        BadInput: a parameter that the profile needs is missing, stands twice, was not filled in by the panel, or is no
            id. The message names the parameter and never its value.
    """
    if not profile.person:
        return Ids()
    if profile.preview and query.get(profile.submission) == [profile.preview]:
        return Ids(preview=True)
    person = _id(query, profile.person)
    submission = _id(query, profile.submission) if profile.submission else ""
    study = _id(query, profile.study) if profile.study and query.get(profile.study) else ""
    submit_to = ""
    if profile.submit_to:
        given = query.get(profile.submit_to, [""])
        origin = origin_of(given[0]) if len(given) == 1 else None
        if origin not in profile.submit_origins:
            raise BadInput(f"'{profile.submit_to}' is not a known address of the panel", where=profile.submit_to)
        submit_to = origin or ""
    return Ids(person, submission, study, submit_to)


def completion_codes(platform: Platform, known: Mapping[str, str]) -> dict[str, str]:
    """Return the code of every outcome: the study's own, else the one in use, else a new random one.

    Args:
        platform: `[platform]`; its `codes` win.
        known: outcome -> code as the store keeps them; empty at the first start. Store what comes back.

    Raises:
        BadConfig: two outcomes would share a code, as when a code in use is given to another outcome.
    """
    codes = {**{outcome: code for outcome, code in known.items() if outcome in OUTCOMES}, **platform.codes}
    for outcome in OUTCOMES:
        while not codes.get(outcome) or list(codes.values()).count(codes[outcome]) > 1:
            if outcome in platform.codes:
                if not codes[outcome]:
                    raise BadConfig(f"platform.codes.{outcome} is empty; give a code or leave it out", where="platform")
                other = next(name for name, code in codes.items() if code == codes[outcome] and name != outcome)
                raise BadConfig(
                    f"platform.codes.{outcome} is the code that '{other}' has been using; give it one of its own",
                    where="platform.codes",
                )
            codes[outcome] = "".join(secrets.choice(CODE_LETTERS) for _ in range(_CODE_LENGTH))
    return {outcome: codes[outcome] for outcome in OUTCOMES}


def completion(profile: Profile, codes: Mapping[str, str], outcome: str, ids: Ids) -> Return:
    """Return how a participant goes back after an outcome.

    Args:
        profile: the platform's.
        codes: outcome to code.
        outcome: one of `OUTCOMES`.
        ids: what the panel said on arrival; with ids missing (deleted since) the code alone is shown.

    Raises:
        KeyError: the outcome has no code.
    """
    code = codes[outcome]
    if profile.submit_to and ids.submit_to and ids.submission:
        fields = {"assignmentId": ids.submission, "code": code, "outcome": outcome}
        return Return(code, None, PostBack(ids.submit_to + profile.submit_path, fields))
    if not profile.back or ("{code}" not in profile.back and outcome != "completed"):
        return Return(code, None, None)
    values = {"code": code, "person": ids.person, "submission": ids.submission, "study": ids.study}
    if any(not values[name] for name in _FIELD.findall(profile.back)):
        return Return(code, None, None)
    return Return(code, _FIELD.sub(lambda found: quote(values[found[1]], safe=""), profile.back), None)


@functools.lru_cache(maxsize=256)
def origin_of(address: str) -> str | None:
    """Return the origin of a web address in its one spelling (lower case, no default port); None: it has none."""
    try:
        parts = urlsplit(address.strip())
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc or "\\" in address:
        return None
    if not re.fullmatch(r"[a-z0-9._-]+|[0-9a-f:.]+", parts.hostname):
        return None
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    usual = {"http": 80, "https": 443}[parts.scheme]
    return f"{parts.scheme}://{host}" + ("" if port in (None, usual) else f":{port}")


def _id(query: Mapping[str, list[str]], name: str) -> str:
    given = query.get(name, [])
    if len(given) != 1:
        raise BadInput(f"'{name}' is missing" if not given else f"'{name}' stands twice", where=name)
    value = given[0].strip()
    if not value or value.lower() in _UNFILLED or _PLACEHOLDER.search(value):
        raise BadInput(f"'{name}' was not filled in by the panel", where=name)
    if len(value) > _MOST_LETTERS or not _PLAIN_ID.fullmatch(value):
        raise BadInput(f"'{name}' is no id", where=name)
    return value


def _check_back(back: str) -> None:
    unknown = [name for name in _FIELD.findall(back) if name not in ("code", "person", "submission", "study")]
    if unknown or re.sub(_FIELD, "", back).count("{"):
        raise BadConfig(
            f"platform.back has '{{{unknown[0] if unknown else ''}}}'; there is {{code}}, {{person}}, {{submission}} "
            "and {study}",
            where="platform.back",
        )
    bare = _FIELD.sub("x", back)
    origin = origin_of(bare)
    inside = urlsplit(bare).hostname in ("localhost", "127.0.0.1", "::1") if origin else False
    if origin is None or not (origin.startswith("https://") or inside):
        raise BadConfig(f"platform.back is '{back}'; give an address that begins with https://", where="platform.back")
    if _FIELD.search(urlsplit(back).netloc):
        raise BadConfig(f"platform.back is '{back}'; a place-holder may not stand in the host", where="platform.back")

"""One machine of a laboratory, one participant after another: the start page, and what the operator enters on it.

The start page ends whatever was open in the browser: the participant before is signed out, their cookie goes, and the
page of the study leads back here. Who comes back later types their code again.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import sqlalchemy as sa
from starlette.responses import HTMLResponse

from ...design.pages import Lab
from ..flow import ENDINGS
from ..store import claims, events, people
from ..texts import Texts, load
from .entry_pages import language_links
from .pseudonyms import code_sha256, lab_codes
from .refusals import calm_page

__all__ = ["RESULTS", "Entered", "entered", "first_codes", "is_used", "note", "start_page"]

RESULTS = ("passed", "failed", "not-tested")
"""What may come of a test of vision."""
_WORDS = {"acuity": "lab.acuity", "colour": "lab.colour-vision"}
_FIRST = 10  # codes; our choice: a morning's participants
_FARTHEST = 1000.0  # cm; our choice: a typing error beyond


class Entered(NamedTuple):
    """What the operator entered for a participant."""

    vision: Mapping[str, str]
    """Test (acuity, colour) -> one of `RESULTS`; empty: the study names no test."""
    distance_cm: float | None
    """Viewing distance; None: not measured for this participant."""


def start_page(language: str, offered: Sequence[str], title: str, lab: Lab, said: str = "") -> HTMLResponse:
    """Return the page that waits for the next participant.

    Args:
        language: of the page.
        offered: every language of the study.
        title: of the study.
        lab: the room, as the settings say.
        said: key of the text that says what is wrong with the code; empty: nothing is.
    """
    texts = load(language)
    label, help_, button = (html.escape(texts[f"entry.{name}"]) for name in ("code", "code-help", "code-button"))
    wrong = bool(said)
    body = (
        f'<form method="post" action="/enter" autocomplete="off"><input type="hidden" name="lang" value="{language}">'
        f'<label for="code">{label}</label><p id="code-help">{help_}</p>'
        '<input id="code" class="left" name="code" type="text" required autofocus autocomplete="off" '
        'autocapitalize="characters" spellcheck="false" maxlength="20" aria-describedby="code-help"'
        f"{wrong * ' aria-invalid=true'}>{_operator(texts, lab)}"
        f'<div class="bar"><button type="submit">{button}</button></div></form>{language_links(texts, offered)}'
    )
    told = [title, *([texts[said]] if said else [])]
    headers = {
        "referrer-policy": "same-origin",  # under no-referrer browsers send "Origin: null" with a form
        "cache-control": "no-store",
        "clear-site-data": '"storage"',
    }
    return calm_page(texts, *told, head=texts["lab.head"], body=body, status=422 if wrong else 200, headers=headers)


def _operator(texts: Texts, lab: Lab) -> str:
    """What the person in charge sees and enters."""
    facts = [
        ("station", lab.station),
        ("display", lab.monitor),
        ("resolution", " x ".join(str(side) for side in lab.resolution)),
        ("distance-heights", "" if lab.distance_heights is None else f"{lab.distance_heights:g}"),
        ("light", f"{lab.light_lux:g} lux" if lab.light_lux is not None else lab.light),
    ]
    told = "".join(
        f"<div><dt>{html.escape(texts[f'lab.{name}'])}</dt><dd>{html.escape(value)}</dd></div>"
        for name, value in facts
        if value
    )
    tests = "".join(
        f'<label class="field">{html.escape(texts[_WORDS[test]])}<select name="{test}">'
        + "".join(f'<option value="{one}">{html.escape(texts[f"lab.{one}"])}</option>' for one in reversed(RESULTS))
        + "</select></label>"
        for test in lab.vision
    )
    usual = "" if lab.distance_cm is None else f"{lab.distance_cm:g}"
    distance = (
        f'<label class="field">{html.escape(texts["lab.distance-cm"])}<input type="text" name="distance_cm" '
        f'inputmode="decimal" maxlength="8" pattern="[0-9]+([.,][0-9]+)?" value="{usual}"></label>'
    )
    return f"<h2>{html.escape(texts['lab.operator'])}</h2><dl>{told}</dl>{tests}{distance}"


def entered(lab: Lab, form: Mapping[str, list[str]]) -> Entered:
    """Return what the operator entered; what is no answer counts as not tested, or not measured.

    Args:
        lab: the room, which names the tests.
        form: fields and their values.
    """
    given = {test: (form.get(test) or [""])[0] for test in lab.vision}
    vision = {test: said if said in RESULTS else "not-tested" for test, said in given.items()}
    try:
        distance = float((form.get("distance_cm") or [""])[0].strip().replace(",", "."))
    except ValueError:
        distance = math.nan
    return Entered(vision, distance if 0 < distance <= _FARTHEST else None)


def note(c: sa.Connection, participant_id: int, told: Entered, now: float, *, once: str) -> None:
    """Store what the operator entered.

    Args:
        c: a connection that may write.
        participant_id: about whom.
        told: what was entered.
        now: the server's clock.
        once: names this entry; told again under the same name, nothing is stored twice.
    """
    about: dict[str, dict[str, object]] = {"vision": dict(told.vision), "station": {"distance_cm": told.distance_cm}}
    for kind, body in about.items():
        if any(value is not None for value in body.values()):
            events.append(c, kind, now, participant_id=participant_id, client_id=f"{kind} {once}", body=body)


def first_codes(c: sa.Connection, hmac: Callable[[str], str], now: float) -> list[str]:
    """Return codes for the first participants; none where there are unused ones, which nobody but paper remembers.

    Args:
        c: a connection that may write.
        hmac: text to its HMAC under the study's key.
        now: the server's clock.
    """
    if people.unused_codes(c):
        return []
    made = lab_codes(_FIRST)
    people.add_codes(c, {code_sha256(hmac, code): "made by serve --lab" for code in made}, now)
    return made


def is_used(c: sa.Connection, participant_id: int, stages: int) -> bool:
    """Whether a participant is through, so that their code opens nothing more.

    Args:
        c: a connection.
        participant_id: whose code it is.
        stages: how many stages one person may do.
    """
    if any(event.kind in ENDINGS for event in events.of_participant(c, participant_id)):
        return True
    had = claims.leases_of(c, participant_id)
    return len(had) >= stages and not any(lease.state in ("leased", "abandoned") for lease in had)

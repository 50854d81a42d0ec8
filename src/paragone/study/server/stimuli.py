"""The pictures of a session: served to its own participant, only while they are shown, under names that tell nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import anyio.to_thread
from fastapi import Request, Response

from ..cards import cards_of
from ..pictures import picture_etag, plate, tutorial_picture
from ..pictures.instructed import instructed
from .desk import Desk, Sitting
from .entry import token_sha256_of
from .hot import seated
from .refusals import Refusal
from .shown import Shown, placed, shown_practice, shown_trial
from .states import AHEAD

__all__ = ["picture_answer"]

_HEADERS = {"cache-control": "private, max-age=86400, immutable"}
_FRESH_SECONDS = (
    10.0  # our choice: an ended token opens pictures for so long, in processes that have not heard of its end
)
_SHOWING = ("ready", "trial", "break", "questionnaire", "finish")
_SLOTS = "abcdefghijklmnopqrstuvwxyz"


class _Bytes(NamedTuple):
    """A picture that may be sent."""

    variant: str
    """Names its bytes fully; what the ETag is made of."""
    make: Callable[[], bytes]
    """Gives them; may take a while."""


async def picture_answer(desk: Desk, request: Request, public: str, slot: str) -> Response:
    """Answer `GET /i/{public}/{slot}`.

    Args:
        desk: what this process knows.
        request: with the bearer token.
        public: public id of a trial, a training question, a card or a plate.
        slot: place of the picture there.

    Raises:
        Refusal: nobody's token (401), another tab took over (410), no such picture is served now (404).
    """
    token = token_sha256_of(request.headers)
    sitting = desk.sitting(token)
    found = None
    if sitting is not None and abs(desk.clock() - sitting.at) < _FRESH_SECONDS:
        found = _found(desk, sitting, public, slot)
    if found is None:
        sitting = await seated(desk, token)
        found = _found(desk, sitting, public, slot)
        if found is None:
            raise Refusal(404, "not-found")
    etag = picture_etag(desk.key, f"{public}/{slot}", found.variant)
    headers = {**_HEADERS, "etag": etag}
    if etag in [given.strip() for given in request.headers.get("if-none-match", "").split(",")]:
        return Response(status_code=304, headers=headers)
    return Response(await anyio.to_thread.run_sync(found.make), headers=headers, media_type="image/png")


def _found(desk: Desk, sitting: Sitting, public: str, slot: str) -> _Bytes | None:
    """The picture of that name, where it is served now."""
    place = sitting.index.get(public)
    stage, frozen = sitting.lease.stage, sitting.frozen
    if place is not None:
        back = getattr(frozen.stages[stage], "back", False)
        trial = sitting.trials[place]
        return (
            _of_pane(desk, sitting, shown_trial(trial), trial.expected, slot) if _served(sitting, place, back) else None
        )
    kind, number = sitting.others.get(public, ("", 0))
    if kind == "practice" and sitting.phase == "training":
        question = frozen.practice[stage][number]
        return _of_pane(desk, sitting, shown_practice(question), question.expected, slot)
    if kind == "tutorial" and sitting.phase == "tutorial":
        return _of_card(desk, sitting, number, slot)
    if kind == "plate" and sitting.phase == "device" and slot == "a":
        shown = desk.plates(frozen)[number]
        name = f"plate\n{shown.seed}\n{shown.digits}\n{shown.kind}"
        return _Bytes(name, lambda: desk.pictures.made(name, lambda: plate(shown.seed, shown.digits, shown.kind)))
    return None


def _served(sitting: Sitting, place: int, back: bool) -> bool:
    return sitting.phase in _SHOWING and place <= sitting.frontier + AHEAD and (back or place >= sitting.frontier)


def _of_pane(desk: Desk, sitting: Sitting, shown: Shown, expected: str | None, slot: str) -> _Bytes | None:
    _, panes = placed(sitting.frozen, sitting.lease.stage, shown)
    pane = next((pane for pane in panes if pane.slot == slot), None)
    if pane is None:
        return None
    plain = _of_study(desk, sitting, pane.key)
    if not pane.told or expected is None:
        return plain
    language, where = sitting.language, sitting.frozen.pictures[pane.key].path
    name = f"{plain.variant}\n{expected}\n{language}"

    def make() -> bytes:
        raw = plain.make()  # before the cache is asked for the drawn one: it lets nobody in twice
        return desk.pictures.made(name, lambda: instructed(raw, expected, language, where=where))

    return _Bytes(name, make)


def _of_study(desk: Desk, sitting: Sitting, key: str) -> _Bytes:
    picture = sitting.frozen.pictures[key]
    path = desk.folder / picture.path
    return _Bytes(picture.sha256, lambda: desk.pictures.picture(path, picture.sha256))


def _of_card(desk: Desk, sitting: Sitting, number: int, slot: str) -> _Bytes | None:
    card = cards_of(sitting.frozen, sitting.lease.stage)[number]
    place = _SLOTS.find(slot) if len(slot) == 1 else -1
    if not 0 <= place < len(card.pictures):
        return None
    _, key = card.pictures[place]
    if card.name is None:
        return _of_study(desk, sitting, key)
    return _Bytes(tutorial_picture(key).sha256, lambda: tutorial_picture(key).bytes)

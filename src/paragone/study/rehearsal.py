"""A study with simulated participants in browsers, served here for them or by a server that runs already."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from ..errors import WouldOverwrite
from ..observers import Observers
from ..scores import Scores
from .browser import Walked, walk
from .crowd import Crowd
from .frozen import freeze
from .server.aside import served_aside
from .server.simulated import passes, people_with_sheets
from .store.export import answers_frame
from .store.keys import read_keys

__all__ = ["walk_here", "walk_there"]

_IDS = "public ids"  # purpose of the key from which the server's public ids follow


def walk_here(
    folder: Path,
    store_url: str,
    participants: int,
    latent: Scores,
    *,
    seed: int,
    observers: Observers,
    speed: float = math.inf,
    told: Callable[[str], None] = lambda _line: None,
) -> tuple[list[dict[str, Any]], pl.DataFrame]:
    """Serve a folder's study on this machine while simulated participants walk through it.

    What they need not wait for, the server's clock is moved by: breaks, and gaps between sessions.

    Args:
        folder: holds the study.
        store_url: where answers are kept.
        participants: how many walk.
        latent: what is true.
        seed: every random choice follows from it.
        observers: how participants answer; `careless` is a share of them, rounded to whole people.
        speed: how many times faster than people they are, >= 1.
        told: hears a line for each participant who is through.

    Returns:
        What became of each participant; and all answers in the store, as `collect` takes them.

    Raises:
        WouldOverwrite: people have taken part in the study of that store.
        Lost, MissingExtra, NotFound, BadInput: as `browser.walk` and `served_aside`.
    """
    with served_aside(folder, store_url) as here:
        n = here.store.read_now(people_with_sheets)
        if n:
            raise WouldOverwrite(
                f"{n} {'person has' if n == 1 else 'people have'} taken part in the study of that store, and simulated "
                "participants would take sheets that are meant for people; name another place by --store, or copy the "
                "folder without study.db",
                where=store_url,
            )

        async def rest(seconds: float) -> bool:
            here.clock.move(here.clock() + seconds)
            return True

        crowd = Crowd(here.frozen, here.keys.derived(_IDS), latent, seed=seed, observers=observers)
        signed = passes(here.keys.hmac, participants)
        walked = walk(
            here.address, crowd, signed, careless=observers.careless, speed=speed, rest=rest, told=_teller(told)
        )
        answers = here.store.read_now(answers_frame)
    return [_plain(one) for one in walked], answers


def walk_there(
    folder: Path,
    url: str,
    participants: int,
    latent: Scores,
    *,
    seed: int,
    observers: Observers,
    speed: float = math.inf,
    told: Callable[[str], None] = lambda _line: None,
) -> list[dict[str, Any]]:
    """Walk a study that is served already, from a folder that holds the same study and its study.key.

    Args:
        folder: holds the study.
        url: address that participants open.
        participants, latent, seed, observers, speed, told: as `walk_here`; breaks are waited for, however fast the others.

    Returns:
        What became of each participant.

    Raises:
        NotFound: the folder has no study.key.
        Lost, MissingExtra, BadInput: as `browser.walk`.
    """
    keys = read_keys(folder / "study.key", make=False)
    crowd = Crowd(freeze(folder, rehearsal=True), keys.derived(_IDS), latent, seed=seed, observers=observers)
    signed = passes(keys.hmac, participants)
    address = url.rstrip("/") + "/"
    walked = walk(address, crowd, signed, careless=observers.careless, speed=speed, told=_teller(told))
    return [_plain(one) for one in walked]


def _teller(told: Callable[[str], None]) -> Callable[[Walked], None]:
    def tell(one: Walked) -> None:
        where = "" if one.phase == "done" else f", then: {one.phase}"
        n = len(one.codes)
        told(f"{one.participant}: {n} session{'s' * (n != 1)} finished, {one.answers} answers{where}")

    return tell


def _plain(one: Walked) -> dict[str, Any]:
    return {**one._asdict(), "codes": list(one.codes)}

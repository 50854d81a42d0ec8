"""Simulated participants walk a folder's study through a browser."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ..benchmark import Benchmark
from ..errors import BadConfig
from ..observers import Observers, latent_scores
from ..scores import Scores
from ..tables import write_table
from .serving import store_address
from .study import no_people_lost, with_criteria

__all__ = ["walk_folder"]

_Told = Callable[[str], None]


def walk_folder(
    folder: Path,
    participants: int,
    *,
    url: str | None = None,
    store: str | None = None,
    latent: Path | None = None,
    taste: float = 0.0,
    careless: float = 0.0,
    seed: int = 0,
    speed: float = math.inf,
    told: _Told = lambda _line: None,
) -> dict[str, Any]:
    """Let simulated participants walk the real pages of a study, from consent to code.

    Args:
        folder: holds the study, as `serve` needs it.
        participants: how many, >= 1.
        url: address of a server that serves this folder's study already; None: it is served here meanwhile, from the
            folder's store.
        store: URL of the store where it is served here; None: study.db of the folder.
        latent: scores that are true in the simulation; None: invented effects of every factor.
        taste: standard deviation of personal tastes, in logits, >= 0.
        careless: share of participants who do not look, in [0, 1].
        seed: every random choice follows from it.
        speed: how many times faster than people they are, >= 1; infinite: nothing is waited for.
        told: hears what happens, line by line.

    Returns:
        `participants`: name, phase in which each ended, completion codes, number of answers; `written`: files that were
        written, none where the server is another's.

    Raises:
        MissingExtra: Playwright or a library of the study server is not installed.
        NotFound: a file of the study, or Chromium, is missing.
        WouldOverwrite: answers.csv or the store holds answers of people.
        BadConfig: an option is impossible.
        Lost: a page did not do what it should.
    """
    if not speed >= 1:
        raise BadConfig(f"--speed is {speed:g}; give 1 (as slow as people) or more", where="--speed")
    if url is not None and store:
        raise BadConfig("--store goes with a study that is served here, not with --url", where="--store")
    address = store_address(folder, store, must_exist=False)
    if url is not None and not _is_address(url):
        raise BadConfig(
            f"--url is '{url}'; give the address that participants open, such as http://localhost:8000", where="--url"
        )
    look = Observers(taste_sd=taste, careless=careless)
    benchmark = Benchmark.read(folder)
    truth = Scores.read(latent) if latent else latent_scores(with_criteria(benchmark, folder / "study.toml"), seed=seed)
    from ..study.headless import require_playwright
    from ..study.rehearsal import walk_here, walk_there

    require_playwright()
    if url is not None:
        told(f"answers go into the store of {url}; breaks are waited for, and gaps between sessions end the walk")
        walked = walk_there(folder, url, participants, truth, seed=seed, observers=look, speed=speed, told=told)
        return {"participants": walked, "written": []}
    no_people_lost(folder / "answers.csv")
    if math.isinf(speed):
        told("breaks and gaps between sessions are not waited for: the clock of this server is moved")
    walked, answers = walk_here(folder, address, participants, truth, seed=seed, observers=look, speed=speed, told=told)
    replace(benchmark, simulated=True).write(folder)
    written = [write_table(answers, folder / "answers.csv"), truth.write(folder / "scores" / "simulated-truth.csv")]
    return {"participants": walked, "written": [str(path) for path in written]}


def _is_address(url: str) -> bool:
    from ..study.server.profiles import origin_of

    parts = urlsplit(url if origin_of(url) else "")
    return bool(parts.netloc) and parts.path in ("", "/") and not parts.query and not parts.fragment

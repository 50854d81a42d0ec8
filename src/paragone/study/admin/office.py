"""`Office`: what the desk's pages share while the server runs: the store, the fresh figures, templates and names."""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import jinja2
import polars as pl

from ...benchmark import Benchmark
from ...design import PairStage, in_language
from ...errors import BadConfig, BadTable, NotFound, UnknownName
from ..frozen import Frozen
from ..server.desk import Desk
from ..server.limits import Buckets
from ..server.security import Site
from ..store.keys import Keys
from . import charts, words
from .blind import Blind
from .figures.persons import is_simulated
from .keeper import Keeper
from .live import Live, Material
from .moment import Moment, moment
from .worker import in_process

__all__ = ["COOKIE", "Office"]

P = ParamSpec("P")
T = TypeVar("T")

COOKIE = "paragone_desk"
"""Name of the session's cookie; `__Host-` stands before it under https."""
_FRESH = 1.0  # seconds for which a moment is shown again
_HERE = Path(__file__).parent


class Office:
    """The desk of one server process.

    Args:
        desk: what the server knows.
        site: where it stands.
        keys: the study's secrets.
        run: computes the slow figures; by default in a process of low priority.
    """

    def __init__(self, desk: Desk, site: Site, keys: Keys, *, run: Callable[[Material], Live] = in_process) -> None:
        self.desk, self.site, self.keys = desk, site, keys
        self.store = desk.store
        self.items = _items(desk.folder)
        self.keeper = Keeper(desk.store, desk.version, lambda: desk.current, self.items, clock=desk.clock, run=run)
        self.names = Buckets(1 / 60, 10.0, most=1000)
        """Wrong passwords per name: 10 at once, then one a minute, whichever peers they come from."""
        self.hashing = ThreadPoolExecutor(1, "paragone-password")
        self.pages = _pages()
        self._moment: Moment | None = None
        self._read = -float("inf")

    @property
    def frozen(self) -> Frozen:
        """The version in force."""
        return self.desk.frozen

    @property
    def cookie(self) -> str:
        """Name of the session's cookie."""
        return self.site.cookie_prefix + COOKIE

    @property
    def title(self) -> str:
        """Title of the study as the desk names it."""
        study = self.frozen.study
        return in_language(study.pages.title, "en") or study.name

    async def moment(self, *, fresh: bool = False) -> Moment:
        """What the store says now, or said a second ago.

        Args:
            fresh: not a second ago.
        """
        if self._moment is None or fresh or time.monotonic() - self._read > _FRESH:
            began = time.monotonic()
            self._moment = await self.store.read(lambda c: moment(c, self.frozen, self.desk.current, self.desk.clock()))
            self._read = began
        return self._moment

    async def aside(self, work: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
        """Hash a password in the one thread that may: it takes 64 MiB and a core for a tenth of a second."""
        return await asyncio.get_running_loop().run_in_executor(self.hashing, functools.partial(work, *given, **named))

    def close(self) -> None:
        """Let the background end; nothing is lost."""
        self.keeper.stop()
        self.hashing.shutdown(wait=False, cancel_futures=True)

    def blind(self, at: Moment) -> Blind:
        """Names of what is compared as they may be shown at this moment."""
        levels = {
            factor: self.items[factor].drop_nulls().to_list()
            for factor in {stage.compare for stage in self.frozen.study.stage if stage.compare}
            if factor in self.items.columns
        }
        levels["item"] = self.items["item"].to_list()
        return Blind(self.keys.derived("desk letters"), levels, off=at.unblinded)

    def render(self, page: str, **told: Any) -> str:
        """A page as HTML.

        Args:
            page: name of a template.
            **told: what it says.
        """
        frozen = self.frozen
        return self.pages.get_template(page).render(
            study=frozen.study, title=self.title, now=self.desk.clock(), made_up=frozen.simulated,
            pairwise=any(isinstance(stage, PairStage) for stage in frozen.study.stage),
            preview=self.desk.settings.preview, profile=self.desk.profile.name, **told,
        )  # fmt: skip


def _items(folder: Path) -> pl.DataFrame:
    """item and its factors; only the column item where the folder cannot be read any more."""
    try:
        return Benchmark.read(folder).items.drop("image")
    except (NotFound, BadTable, BadConfig, UnknownName):
        return pl.DataFrame(schema={"item": pl.String})


def _pages() -> jinja2.Environment:
    pages = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE / "templates"), autoescape=True, undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    filters: Mapping[str, Callable[..., Any]] = {
        "ago": words.ago, "figure": words.figure, "fixed": words.fixed, "lasting": words.lasting, "share": words.share,
        "way": words.way, "when": words.when, "made_up": is_simulated,
    }  # fmt: skip
    pages.filters.update(filters)
    pages.globals.update(plural=words.plural, charts=charts)
    return pages

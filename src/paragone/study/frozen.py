"""`Frozen`: one version of a study, whole and unchanging in memory; made from a folder, or from a row of the store.

A study that is being asked must not change under its participants. `freeze(folder)` reads benchmark, settings and plan
once, holds them to each other, and gives the record that everything at run time reads. Its parts that the store keeps
(`Frozen.parts`) bring it back (`Frozen.of_parts`), so that a session goes on in the version in which it began.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import polars as pl

from ..benchmark import Benchmark
from ..design import PairStage, RatingStage, Study, read_study
from ..errors import BadTable, NotFound, UnknownName
from ..plan import Plan
from .faults import Stock, faults, with_references
from .picture_table import Picture, measured, too_small
from .practice import PracticeQuestion, practice

__all__ = ["Frozen", "Parts", "Sheet", "Trial", "freeze", "grown"]

_SHEETS_IN_MEMORY = 512  # our choice: owners whose trials are kept as records; the plan itself is always there


class Trial(NamedTuple):
    """One row of the plan, with its pictures named."""

    trial: str
    sheet: str
    session: str
    stage: str
    position: int
    kind: str
    left: str | None
    """Key of the picture on the left; None in a rating trial."""
    right: str | None
    item: str | None
    """Key of the rated picture; None in a pairwise trial."""
    expected: str | None
    """Right answer of a check; None: no check, or one that cannot be judged."""
    check: str | None
    """'broken', 'instructed' or None."""
    references: tuple[tuple[str, str, str], ...]
    """(side, factor, key of the picture) of what stands beside; side is left, right or item."""


class Sheet(NamedTuple):
    """The trials of one session, in order."""

    session: str
    sheet: str
    trials: tuple[Trial, ...]

    @property
    def half(self) -> int:
        """Trials before the break."""
        return -(-len(self.trials) // 2)


class Parts(NamedTuple):
    """What the store keeps of a version."""

    study: str
    """The settings, as JSON."""
    plan: bytes
    """The plan, as CSV."""
    items: bytes
    """Pictures, texts beside them and training questions, as JSON."""
    leases: list[tuple[str, str]]
    """(stage, owner) of everything that can be handed out, in the plan's order of stages."""


class _Items(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    criteria: tuple[str, ...]
    simulated: bool
    pictures: dict[str, Picture]
    words: dict[str, dict[str, str]]
    practice: dict[str, list[PracticeQuestion]]


@dataclass(frozen=True, eq=False)
class Frozen:
    """A version of a study."""

    study: Study
    plan: pl.DataFrame
    """Columns of `PLAN`, `owner`, `check`, and `left.<factor>`, `right.<factor>`, `item.<factor>` (level of the reference
    beside that side); sorted by stage (in the study's order), owner, session and position; `session` and `owner` are
    never null."""
    pictures: Mapping[str, Picture]
    """Key (item, `reference:<factor>:<level>`, `file:<path>`) -> picture."""
    words: Mapping[str, Mapping[str, str]]
    """Item -> factor -> text that is shown beside a rated picture."""
    practice: Mapping[str, tuple[PracticeQuestion, ...]]
    """Stage -> training questions."""
    name: str
    criteria: tuple[str, ...]
    simulated: bool
    """The benchmark's answers come from simulated participants."""
    folder: Path
    """Where pictures lie."""

    @cached_property
    def parts(self) -> Parts:
        """What the store keeps."""
        text = io.BytesIO()
        self.plan.write_csv(text)
        items = _Items(
            name=self.name,
            criteria=self.criteria,
            simulated=self.simulated,
            pictures=dict(self.pictures),
            words={item: dict(texts) for item, texts in self.words.items()},
            practice={stage: list(questions) for stage, questions in self.practice.items()},
        )
        return Parts(
            msgspec.json.encode(self.study, order="sorted").decode(),
            text.getvalue(),
            msgspec.json.encode(items, order="sorted"),
            list(self._places),
        )

    @classmethod
    def of_parts(cls, study: str, plan: bytes, items: bytes, *, folder: Path) -> Frozen:
        """Return the version that the store kept.

        Args:
            study, plan, items: as in `Parts`.
            folder: where the pictures lie.
        """
        kept = msgspec.json.decode(items, type=_Items)
        texts = pl.read_csv(io.BytesIO(plan), infer_schema=False)
        return cls(
            study=msgspec.json.decode(study, type=Study),
            plan=texts.with_columns(pl.col("position").cast(pl.Int64)),
            pictures=kept.pictures,
            words=kept.words,
            practice={stage: tuple(questions) for stage, questions in kept.practice.items()},
            name=kept.name,
            criteria=kept.criteria,
            simulated=kept.simulated,
            folder=folder,
        )

    def continues(self, other: Frozen) -> bool:
        """Whether it asks everything that another version asks, in the same way, and perhaps further sheets.

        Training questions may differ: those of our own making are drawn from all trials of a plan.

        Args:
            other: the other version.
        """
        if self.study != other.study or set(self.plan.columns) != set(other.plan.columns):
            return False
        if (self.name, self.criteria, self.simulated) != (other.name, other.criteria, other.simulated):
            return False
        mine, theirs = (one.plan.select(other.plan.columns).cast(pl.String) for one in (self, other))
        if not mine.join(theirs, on="trial", how="semi", maintain_order="left").equals(theirs):
            return False
        more = mine.join(theirs, on="trial", how="anti")
        if more.join(theirs, on=["stage", "owner"], how="semi").height:
            return False
        pairs = ((self.pictures, other.pictures), (self.words, other.words))
        return all(one[key] == two[key] for one, two in pairs for key in one.keys() & two.keys())

    @cached_property
    def stages(self) -> Mapping[str, PairStage | RatingStage]:
        """Stage name -> its settings, in the study's order."""
        return dict(zip(self.study.stage_names, self.study.stage, strict=True))

    @cached_property
    def _places(self) -> dict[tuple[str, str], tuple[int, int]]:
        """(stage, owner) -> first row and number of rows, in the plan's order."""
        counts = self.plan.group_by("stage", "owner", maintain_order=True).len("rows")
        starts = counts["rows"].cum_sum() - counts["rows"]
        keys = zip(counts["stage"].to_list(), counts["owner"].to_list(), strict=True)
        return dict(zip(keys, zip(starts.to_list(), counts["rows"].to_list(), strict=True), strict=True))

    def sheets(self, stage: str, owner: str) -> tuple[Sheet, ...]:
        """Return the sessions of an owner, in order.

        Raises:
            UnknownName: the plan has no such owner in that stage.
        """
        return self._sheets_of(stage, owner)

    @cached_property
    def _sheets_of(self) -> Callable[[str, str], tuple[Sheet, ...]]:
        return lru_cache(maxsize=_SHEETS_IN_MEMORY)(self._made_sheets)

    def _made_sheets(self, stage: str, owner: str) -> tuple[Sheet, ...]:
        place = self._places.get((stage, owner))
        if place is None:
            owners = [o for s, o in self._places if s == stage]
            raise UnknownName.among(owner, owners, f"owner of sheets in stage '{stage}'")
        rows = self.plan.slice(*place)
        parts = [(name, *name.partition(".")) for name in rows.columns]
        beside = [
            (name, side, factor) for name, side, _, factor in parts if factor and side in ("left", "right", "item")
        ]
        made: dict[tuple[str, str], list[Trial]] = {}
        for row in rows.iter_rows(named=True):
            made.setdefault((row["session"], row["sheet"]), []).append(_trial(row, beside))
        return tuple(Sheet(session, sheet, tuple(trials)) for (session, sheet), trials in made.items())


def _trial(row: dict[str, Any], beside: list[tuple[str, str, str]]) -> Trial:
    references = tuple(
        (side, factor, f"reference:{factor}:{row[column]}")
        for column, side, factor in beside
        if row[column] is not None and row[side] is not None
    )
    return Trial(
        row["trial"], row["sheet"], row["session"], row["stage"], row["position"], row["kind"], row["left"],
        row["right"], row["item"], row["expected"], row["check"], references,
    )  # fmt: skip


def freeze(folder: str | Path, *, rehearsal: bool = False) -> Frozen:
    """Read a study's folder and return the version that is going to be asked.

    Args:
        folder: holds benchmark.toml, items.csv, study.toml, plan.csv and the pictures.
        rehearsal: nobody outside is asked (preview, tests): consent need not name who asks.

    Raises:
        NotFound: a file is missing.
        BadTable, BadConfig: a file breaks its contract, or they do not fit each other; `faults` holds every fault, one
            line each: pictures that are missing, a plan that is older than the settings, an unknown page kind, training
            that cannot be asked, consent without a name.
    """
    folder = Path(folder)
    study = read_study(folder / "study.toml")
    benchmark = Benchmark.read(folder)
    if not (folder / "plan.csv").is_file():
        raise NotFound(f"no plan.csv in '{folder}'; run: paragone plan {folder}", where=str(folder / "plan.csv"))
    return _frozen(study, benchmark, Plan.read(folder / "plan.csv"), folder, rehearsal=rehearsal)


def grown(frozen: Frozen, plan: Plan) -> Frozen:
    """Return the version that asks another plan, with the same settings and the benchmark as its folder holds it now.

    Args:
        frozen: a version; pictures that it shows are not read again.
        plan: all sheets, old and new.

    Raises:
        NotFound, BadTable, BadConfig: as for `freeze`.
    """
    benchmark = Benchmark.read(frozen.folder)
    return _frozen(frozen.study, benchmark, plan, frozen.folder, rehearsal=True, known=frozen.pictures)


def _frozen(
    study: Study,
    benchmark: Benchmark,
    whole: Plan,
    folder: Path,
    *,
    rehearsal: bool,
    known: Mapping[str, Picture] | None = None,
) -> Frozen:
    plan = with_references(_told(whole.frame), study, benchmark)
    stock = Stock(study, benchmark, plan)
    found = faults(stock, rehearsal=rehearsal)
    questions: dict[str, list[PracticeQuestion]] = {}
    if not found:
        questions, wrong = practice(stock)
        found += wrong
    pictures, missing = measured(stock, questions, known)
    found += missing or too_small(plan, questions, pictures)
    if found:
        raise BadTable.of_faults(str(folder), found)
    return Frozen(
        study=study,
        plan=plan,
        pictures=pictures,
        words=_words(benchmark, study, pictures),
        practice={stage: tuple(asked) for stage, asked in questions.items()},
        name=benchmark.name,
        criteria=stock.criteria,
        simulated=benchmark.simulated,
        folder=folder,
    )


def _told(plan: pl.DataFrame) -> pl.DataFrame:
    """The plan with owner, session and check in each row."""
    for name in ("owner", "check", "session"):
        if name not in plan.columns:
            plan = plan.with_columns(pl.lit(None, dtype=pl.String).alias(name))
    return plan.with_columns(pl.col("owner").fill_null(pl.col("sheet")), pl.col("session").fill_null("1"))


def _words(benchmark: Benchmark, study: Study, pictures: Mapping[str, Picture]) -> dict[str, dict[str, str]]:
    """Texts beside rated pictures."""
    shown = study.pages.show
    if not shown:
        return {}
    rows = benchmark.items.select("item", *shown).iter_rows(named=True)
    return {
        row["item"]: {factor: row[factor] for factor in shown if row[factor]} for row in rows if row["item"] in pictures
    }

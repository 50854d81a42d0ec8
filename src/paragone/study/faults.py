"""What keeps a study from being asked: settings, benchmark and plan held to each other, one line for each fault."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import polars as pl

from ..benchmark import BROKEN, Benchmark
from ..design import PairStage, RatingStage, Study, in_language, references
from ..design.pages import MOST_CRITERIA, MOST_LETTERS
from ..errors import BadConfig, BadInput, UnknownName
from .pages import PAGES

__all__ = ["Stock", "broken_of", "faults", "unfit_pages", "unknown_shown", "unsigned", "with_references"]

_TAKEN = ("revision", "distortions")  # words beside the criteria in what a browser is told
_SIGNED = {"who": "who runs the study", "contact": "how participants reach you"}
_AGAIN = "run paragone plan again"


class Stock(NamedTuple):
    """What a version is made from."""

    study: Study
    benchmark: Benchmark
    plan: pl.DataFrame
    """With owner, session, check and the references of each side."""

    @property
    def criteria(self) -> tuple[str, ...]:
        """What is asked in each trial."""
        return tuple(self.study.criteria) or self.benchmark.criteria

    @property
    def stages(self) -> dict[str, PairStage | RatingStage]:
        """Stage name -> its settings."""
        return dict(zip(self.study.stage_names, self.study.stage, strict=True))

    @property
    def images(self) -> dict[str, str | None]:
        """Key of each picture the benchmark has -> its path; None: it lists none."""
        known = dict(self.benchmark.items.select("item", "image").iter_rows())
        for factor, level, image in self.benchmark.references.iter_rows():
            known[f"reference:{factor}:{level}"] = image
        return known


def with_references(plan: pl.DataFrame, study: Study, benchmark: Benchmark) -> pl.DataFrame:
    """Return the plan in the order in which it is handed out, with the references of each side.

    A plan that names them (columns `left.<factor>`, `right.<factor>`, `item.<factor>`) is taken at its word; else they
    follow from the stage's settings and the items' factors.

    Args:
        plan: with owner and session in each row.
        study: its stages.
        benchmark: the items.

    Raises:
        UnknownName, BadConfig: a stage names references that there are none of.
    """
    if not any(name.startswith(("left.", "right.", "item.")) for name in plan.columns):
        parts = [plan.filter(~pl.col("stage").is_in(study.stage_names))]
        for name, stage in zip(study.stage_names, study.stage, strict=True):
            rows = plan.filter(pl.col("stage") == name)
            parts.append(references.with_references(rows, benchmark, references.beside(benchmark, stage, name)))
        plan = pl.concat(parts, how="diagonal")
    turn = {name: place for place, name in enumerate(study.stage_names)}
    number = pl.col("session").str.extract(r"^(\d{1,9})$").cast(pl.Int64)
    return plan.sort(
        pl.col("stage").replace_strict(turn, default=len(turn), return_dtype=pl.Int64),
        "owner",
        number,
        "session",
        "position",
        nulls_last=True,
        maintain_order=True,
    )


def faults(stock: Stock, *, rehearsal: bool) -> list[str]:
    """Return one line for everything that keeps the study from being asked; missing pictures aside.

    Args:
        stock: what it is made from.
        rehearsal: consent need not name who asks.
    """
    return [
        *_consent(stock.study, rehearsal),
        *_criteria(stock),
        *unfit_pages(stock.study),
        *(line for name, stage in stock.stages.items() for line in _stage(name, stage, stock)),
        *_plan(stock),
    ]


def unsigned(study: Study) -> list[str]:
    """Return which of consent's keys `who` and `contact` are empty; people are asked only when none is."""
    first = study.pages.languages[0]
    return [key for key in _SIGNED if not in_language(getattr(study.consent, key), first).strip()]


def _consent(study: Study, rehearsal: bool) -> Iterator[str]:
    for key in [] if rehearsal else unsigned(study):
        yield f"study.toml: consent.{key} is empty; say {_SIGNED[key]} before people are asked"


def _criteria(stock: Stock) -> Iterator[str]:
    if not stock.criteria:
        yield 'study.toml: criteria is empty, and benchmark.toml names none; for example criteria = ["overall"]'
    if len(stock.criteria) > MOST_CRITERIA:
        yield f"study.toml: a trial asks {len(stock.criteria)} criteria; a page sends at most {MOST_CRITERIA}"
    for name in stock.criteria:
        if name in _TAKEN:
            yield f"study.toml: a criterion may not be called '{name}'; give it another name"
        if not 1 <= len(name) <= MOST_LETTERS:
            yield f"study.toml: criterion '{name[:20]}' has {len(name)} characters; give it a name of 1 to {MOST_LETTERS}"
    for name in stock.study.pages.questions:
        if name not in stock.criteria:
            yield f"study.toml: pages.questions.{name} belongs to no criterion; there is {', '.join(stock.criteria)}"
    yield from unknown_shown(stock.study, stock.benchmark)


def unknown_shown(study: Study, benchmark: Benchmark) -> Iterator[str]:
    """Yield what is to be shown beside rated pictures and is no column of the items, one line each."""
    for factor in study.pages.show:
        if factor not in benchmark.factors:
            yield f"study.toml: pages.show names '{factor}', which is no column of items.csv"


def unfit_pages(study: Study) -> Iterator[str]:
    """Yield which stages cannot be asked on their page, one line each."""
    for name, stage in zip(study.stage_names, study.stage, strict=True):
        if stage.page not in PAGES.names():
            yield f"study.toml: stage '{name}': no page '{stage.page}'; there is {', '.join(PAGES.names())}"
        elif unfit := PAGES.get(stage.page).unfit(stage):
            yield f"study.toml: stage '{name}': {unfit}"


def _stage(name: str, stage: PairStage | RatingStage, stock: Stock) -> Iterator[str]:
    try:
        references.beside(stock.benchmark, stage, name)
        if isinstance(stage, RatingStage):
            references.hidden_items(stock.benchmark, stage, name)
    except (UnknownName, BadConfig) as error:
        yield f"study.toml: {error.message}"


def _plan(stock: Stock) -> Iterator[str]:
    plan, stages = stock.plan, stock.stages
    names = set(plan["stage"].unique())
    for name in sorted(names - set(stages)):
        yield f"plan.csv: stage '{name}' is not in study.toml; {_AGAIN}"
    for name in [name for name in stages if name not in names]:
        yield f"plan.csv: has nothing of stage '{name}'; {_AGAIN}"
    known = set(stock.images)
    shown = {item for side in ("left", "right", "item") for item in plan[side].drop_nulls().unique().to_list()}
    lost = sorted(shown - known)
    if lost:
        yield f"plan.csv: shows {_listed(lost)}, which items.csv does not have; {_AGAIN}"
    for column in plan.columns:
        side, dot, factor = column.partition(".")
        if not dot or side not in ("left", "right", "item"):
            continue
        beside = {f"reference:{factor}:{level}": level for level in plan[column].drop_nulls().unique().to_list()}
        bare = sorted(level for key, level in beside.items() if key not in known)
        if bare:
            yield f"references.csv: no picture of {factor} {_listed(bare)}, which plan.csv shows beside the {side}"
    for name, stage in stages.items():
        if name in names:
            rows = plan.filter(pl.col("stage") == name)
            yield from _sizes(name, stage, rows)
            yield from _trials(name, stage, rows)
    if plan["sheet"].n_unique() != plan.select("sheet", "owner", "stage", "session").n_unique():
        yield f"plan.csv: a sheet belongs to more than one owner, stage or session; {_AGAIN}"


def _trials(name: str, stage: PairStage | RatingStage, rows: pl.DataFrame) -> Iterator[str]:
    """Trials that could be asked, and whose answers no table would take or no check could judge."""
    told = rows.filter(pl.col("expected").is_not_null())
    other = told.filter(pl.col("kind") != "check")
    if other.height:
        yield f"plan.csv: trial '{other['trial'][0]}' is no check and has an expected answer; {_AGAIN}"
    if stage.page in PAGES.names() and not PAGES.get(stage.page).unfit(stage):
        validate = PAGES.get(stage.page).validate
        for trial, expected in told.unique("expected", maintain_order=True).select("trial", "expected").iter_rows():
            try:
                validate(expected, stage)
            except BadInput as error:
                yield f"plan.csv: trial '{trial}' of stage '{name}' expects '{expected}': {error.message}; {_AGAIN}"
    bare = rows.filter((pl.col("check") == "instructed") & pl.col("expected").is_null())
    if bare.height:
        yield f"plan.csv: trial '{bare['trial'][0]}' is an instructed check without an expected answer; {_AGAIN}"
    lost = rows.filter(~pl.col("repeat_of").is_in(rows["trial"].implode()))
    if lost.height:
        trial, first = lost.select("trial", "repeat_of").row(0)
        yield f"plan.csv: trial '{trial}' repeats '{first}', which is no trial of stage '{name}'; {_AGAIN}"


def _sizes(name: str, stage: PairStage | RatingStage, rows: pl.DataFrame) -> Iterator[str]:
    """The plan is of another stage of that name: other kind of trials, other numbers on a sheet."""
    if (rows["item"].is_not_null() if isinstance(stage, PairStage) else rows["left"].is_not_null()).any():
        yield f"plan.csv: stage '{name}' shows {'pairs' if isinstance(stage, RatingStage) else 'single items'}; {_AGAIN}"
        return
    sheets = rows.group_by("sheet").agg(
        (pl.col("kind") == "check").sum().alias("checks"),
        (pl.col("kind") == "repeat").sum().alias("repeats"),
        pl.col("kind").is_in(["main", "repeat"]).sum().alias("trials"),
        pl.col("position").n_unique().alias("places"),
        pl.len().alias("rows"),
    )
    if (sheets["places"] != sheets["rows"]).any():
        yield f"plan.csv: two trials of a sheet of stage '{name}' have one position; {_AGAIN}"
    wanted = {"checks": stage.checks}
    if isinstance(stage, PairStage):
        wanted |= {"trials": stage.trials, "repeats": stage.n_repeats}
    else:
        wanted |= {"repeats": stage.repeats}
        if stage.items is not None and not stage.hidden_references:
            wanted |= {"trials": stage.items + stage.repeats}
    for key, number in wanted.items():
        other = sheets.filter(pl.col(key) != number)
        if other.height:
            sheet, has = other.sort("sheet").select("sheet", key).row(0)
            yield (
                f"plan.csv: sheet '{sheet}' has {has} {key}, and study.toml says {key} = {number} for stage '{name}'; "
                f"the plan is older: {_AGAIN}"
            )
    sittings = rows.group_by("owner").agg(pl.col("session").n_unique().alias("n"))
    sessions = stage.sessions if isinstance(stage, RatingStage) else 1
    other = sittings.filter(pl.col("n") != sessions)
    if other.height:
        owner, n = other.sort("owner").row(0)
        yield f"plan.csv: '{owner}' has {n} sessions, and study.toml says {sessions} for stage '{name}'; {_AGAIN}"


def broken_of(benchmark: Benchmark) -> list[tuple[str, str]]:
    """(broken version, its sound item), by the broken version's id."""
    if BROKEN not in benchmark.factors:
        return []
    rows = benchmark.items.filter(pl.col(BROKEN).is_not_null()).select("item", BROKEN).sort("item")
    return list(rows.iter_rows())


def _listed(words: list[str], shown: int = 6) -> str:
    some = ", ".join(f"'{word}'" for word in words[:shown])
    return some + (f" and {len(words) - shown} more" if len(words) > shown else "")

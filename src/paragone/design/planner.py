"""`plan`: a benchmark and a study's settings become sheets of trials."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ..benchmark import BROKEN, Benchmark
from ..errors import BadConfig, BadInput, UnknownName
from ..plan import Plan
from .checks import Pool, pool
from .even import exposure_cells
from .pairs import Cells, Deck, across_deck, n_components, within_deck
from .ratings import rating_rows
from .references import beside, hidden_items, with_references
from .settings import PairStage, RatingStage, Study
from .sheets import TYPES, Dealing, Rows, Shown, codes, pair_rows

__all__ = ["dealing_of", "group_codes", "plan"]

Ints = NDArray[np.int64]


def plan(benchmark: Benchmark, study: Study) -> Plan:
    """Return every sheet of a study, made from its seed alone.

    Beside the columns of `PLAN` each row has `owner` (whose trial it is: a pairs stage gives an owner one sheet, a
    ratings stage one sheet a session), `check` ('broken', 'instructed', or null), and, for each factor whose reference
    pictures are shown, `left.<factor>` and `right.<factor>` or `item.<factor>`: the level whose picture stands beside
    that side, null where none does.

    Args:
        benchmark: the items; those with a `broken_of` serve checks only.
        study: stages, numbers and seed.

    Returns:
        Sheets `<stage>-<number>` (ratings: `<stage>-<number>-s<session>`) and trials `<sheet>-<position>`. In a stage
        of pairs all `trials` comparisons and the checks are there; each pair and item comes equally often (+-1 before
        repeats and shared pairs); sides balance per pair (+-1 over main trials) and nearly for each level of `compare`
        on each sheet; repeats keep their distance and swap sides half of the time; every group (within) or everything
        (across, any) is connected. Of an adaptive stage only the first wave of sheets is there; `next_wave` deals
        further ones.

    Raises:
        BadConfig: a setting cannot be met with these items; names stage and key.
        UnknownName: a factor in `group` or `compare` is not in the benchmark.
        BadInput: the benchmark or the study is something else, broken versions name no item, or fewer than
            two items are to be judged.
    """
    if not isinstance(benchmark, Benchmark):
        raise BadInput(f"plan takes a Benchmark, not {type(benchmark).__name__}; read one with Benchmark.read")
    if not isinstance(study, Study):
        raise BadInput(f"plan takes a Study, not {type(study).__name__}; read one with read_study")
    stock = pool(benchmark)
    frames: list[pl.DataFrame] = []
    linked = np.empty((0, 2), dtype=np.int64)
    streams = np.random.default_rng(study.seed).spawn(len(study.stage))
    for stage, name, rng in zip(study.stage, study.stage_names, streams, strict=True):
        groups = group_codes(stock.items, stage.group, name)
        _factors(stock.items, [stage.compare] if stage.compare else [], f"stage '{name}': compare")
        references = beside(benchmark, stage, name)
        if isinstance(stage, PairStage):
            rows, stands = _pair_rows(stock, stage, name, groups, linked, rng)
            linked = np.concatenate([linked, np.stack(stands, axis=1)])
        else:
            rows = rating_rows(stock, stage, name, rng, hidden=hidden_items(benchmark, stage, name))
        frame = pl.DataFrame(rows, schema=TYPES)
        _short_enough(frame, stage, name, study.seconds_per_trial)
        frames.append(with_references(frame, benchmark, references))
    return Plan(pl.concat(frames, how="diagonal"))


def _factors(items: pl.DataFrame, names: Sequence[str], where: str) -> None:
    known = [name for name in items.columns[2:] if name != BROKEN]
    for factor in names:
        if factor not in known:
            raise UnknownName(f"{where}: {UnknownName.among(factor, known, 'factor').message}", where=factor)


def _short_enough(trials: pl.DataFrame, stage: PairStage | RatingStage, name: str, seconds: float) -> None:
    """Hold the sessions of a stage of ratings to its `minutes`."""
    if not isinstance(stage, RatingStage) or stage.minutes is None:
        return
    longest = int(trials.group_by("sheet").len()["len"].max() or 0)  # type: ignore[arg-type]
    fitting = math.floor(stage.minutes * 60 / seconds + 1e-9)
    if longest > fitting:
        raise BadConfig(
            f"stage '{name}': a session of {longest} trials takes {longest * seconds / 60:.1f} minutes at "
            f"seconds_per_trial = {seconds:g}, and minutes = {stage.minutes:g} leaves room for {fitting}; raise sessions, "
            "or lower items, repeats, stabilising or checks",
            where="stage.minutes",
        )


def group_codes(items: pl.DataFrame, factors: Sequence[str], stage: str) -> Ints:
    """Return the (n,) index of each item's group; one group where there are no factors.

    Raises:
        UnknownName: no such factor.
        BadConfig: an item has no level of one.
    """
    _factors(items, factors, f"stage '{stage}': group")
    if not factors:
        return np.zeros(items.height, dtype=np.int64)
    bare = items.filter(pl.any_horizontal(pl.col(list(factors)).is_null()))
    if bare.height:
        raise BadConfig(
            f"stage '{stage}': item '{bare['item'][0]}' has no level of {' or '.join(factors)}, so it is in no group",
            where="stage.group",
        )
    return items.select(pl.struct(list(factors)).rank("dense").cast(pl.Int64) - 1).to_series().to_numpy()


def dealing_of(stock: Pool, stage: PairStage, name: str, n_sheets: int, made: int = 0) -> Dealing:
    """Return what sheets of a stage of pairs are made from.

    Args:
        stock: the items.
        stage: its settings; `compare` and `group` are factors of the items.
        name: its name.
        n_sheets: sheets to make.
        made: sheets that there are.
    """
    level = codes(stock.items[stage.compare]) if stage.compare else np.arange(stock.items.height)
    cells = Cells(*exposure_cells(stock.items, stage.compare, stage.group, n_sheets))
    return Dealing(stock, stage, name, level, cells, n_sheets, made)


def _pair_rows(
    stock: Pool, stage: PairStage, name: str, group: Ints, linked: Ints, rng: np.random.Generator
) -> tuple[Rows, Shown]:
    dealing = dealing_of(stock, stage, name, stage.first_sheets)
    deck = _deck(dealing, np.arange(group.size) if stage.pairs == "any" else group, linked, rng)
    none = np.empty(0, dtype=np.int64)
    return pair_rows(dealing, deck, Shown(none, none), rng)


def _deck(dealing: Dealing, group: Ints, linked: Ints, rng: np.random.Generator) -> Deck:
    stage, name, people = dealing.stage, dealing.name, dealing.n_sheets
    n, slots = group.size, people * stage.n_main
    copies = stage.shared_by - 1
    sizes = np.bincount(group)
    within = stage.pairs == "within"
    wanted = int((sizes > 0).sum()) if within else 1
    n_shared = people * stage.n_shared // stage.shared_by if stage.shared_by <= people else 0
    if stage.shared is None:  # nobody asked for them, so they must not cost the pairs that connect the items
        n_shared = max(0, min(n_shared, (slots - n + wanted) // copies))
    allowed = int((sizes * (sizes - 1)).sum()) // 2 if within else (n * n - int((sizes**2).sum())) // 2
    if allowed == 0:
        what = "no group holds two items" if within else "all items are in one group"
        raise BadConfig(
            f"stage '{name}': {what}, so nothing can be compared; change group or pairs", where="stage.group"
        )
    if stage.n_main > allowed:
        raise BadConfig(
            f"stage '{name}': trials = {stage.trials} leaves {stage.n_main} without repeats, more than "
            f"the {allowed} pairs there are; lower trials",
            where="stage.trials",
        )
    deck_of = within_deck if within else across_deck
    deck = deck_of(group, dealing.level, slots, n_shared, copies, rng, dealing.cells)
    edges = np.stack([deck.a, deck.b], axis=1)
    if not within:
        edges = np.concatenate([linked, edges])
    parts = n_components(n, edges[:, 0], edges[:, 1])
    if parts > wanted:
        raise BadConfig(
            f"stage '{name}': {slots} comparisons leave the items in {parts} parts where {wanted} are possible; "
            f"raise {'wave' if stage.adaptive else 'participants'} or trials ({n - wanted} different pairs connect them)",
            where="stage.trials",
        )
    return deck

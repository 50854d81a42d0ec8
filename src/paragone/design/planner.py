"""`plan`: a benchmark and a study's settings become sheets of trials."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ..benchmark import Benchmark
from ..errors import BadConfig, BadInput, UnknownName
from ..plan import Plan
from .checks import SAME_ITEM, Pool, laid_checks, pool, shared_with, uses_broken
from .deal import balanced_sides, dealt, ordered
from .even import even_repeats, evened, exposure_cells
from .pairs import Cells, Deck, across_deck, n_components, within_deck
from .ratings import rating_rows
from .references import beside, hidden_items, with_references
from .settings import PairStage, RatingStage, Study

__all__ = ["plan"]

_OFFERED = 40  # our choice: pairs of the deck among which an instructed check is chosen

Ints = NDArray[np.int64]
Rows = dict[str, list[object]]


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
        (across, any) is connected.

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
        groups = _groups(stock.items, stage.group, name)
        _factors(stock.items, [stage.compare] if stage.compare else [])
        references = beside(benchmark, stage, name)
        if isinstance(stage, PairStage):
            rows, edges = _pair_rows(stock, stage, name, groups, linked, rng)
            linked = np.concatenate([linked, edges])
        else:
            rows = rating_rows(stock, stage, name, rng, hidden=hidden_items(benchmark, stage, name))
        frame = pl.DataFrame(rows, schema=_TYPES)
        _short_enough(frame, stage, name, study.seconds_per_trial)
        frames.append(with_references(frame, benchmark, references))
    return Plan(pl.concat(frames, how="diagonal"))


_TYPES = {
    "trial": pl.String,
    "sheet": pl.String,
    "owner": pl.String,
    "session": pl.String,
    "stage": pl.String,
    "position": pl.Int64,
    "kind": pl.String,
    "left": pl.String,
    "right": pl.String,
    "item": pl.String,
    "expected": pl.String,
    "repeat_of": pl.String,
    "check": pl.String,
}


def _factors(items: pl.DataFrame, names: Sequence[str]) -> None:
    for factor in names:
        if factor not in items.columns[2:]:
            raise UnknownName.among(factor, items.columns[2:], "factor")


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


def _groups(items: pl.DataFrame, factors: Sequence[str], stage: str) -> Ints:
    """(n,) index of each item's group."""
    _factors(items, factors)
    if not factors:
        return np.zeros(items.height, dtype=np.int64)
    bare = items.filter(pl.any_horizontal(pl.col(list(factors)).is_null()))
    if bare.height:
        raise BadConfig(
            f"stage '{stage}': item '{bare['item'][0]}' has no level of {' or '.join(factors)}, so it is in no group",
            where="stage.group",
        )
    return items.select(pl.struct(list(factors)).rank("dense").cast(pl.Int64) - 1).to_series().to_numpy()


def _pair_rows(
    stock: Pool, stage: PairStage, name: str, group: Ints, linked: Ints, rng: np.random.Generator
) -> tuple[Rows, Ints]:
    n = stock.items.height
    if stage.pairs == "any":
        group = np.arange(n)
    level = _codes(stock.items[stage.compare]) if stage.compare else np.arange(n)
    cells = Cells(*exposure_cells(stock.items, stage.compare, stage.group, stage.participants))
    deck = _deck(stage, name, group, level, linked, cells, rng)
    pair = np.minimum(deck.a, deck.b) * n + np.maximum(deck.a, deck.b)
    sheet = dealt(pair, stage.participants, rng)
    if sheet is None:
        raise BadConfig(
            f"stage '{name}': trials = {stage.trials} cannot be dealt from {deck.n_pairs} pairs "
            "without asking somebody the same pair twice; lower trials",
            where="stage.trials",
        )
    low, high = np.minimum(deck.a, deck.b), np.maximum(deck.a, deck.b)
    people = np.arange(stage.participants)
    shown = np.concatenate([cells.ids[low], cells.ids[high]], axis=1)
    sheet = evened(sheet, np.unique(pair, return_inverse=True)[1], people, shown, cells.weight, rng)
    counters = _counters(low, high, level, sheet)
    swap = balanced_sides(pair, counters, rng)
    left, right = np.where(swap, high, low), np.where(swap, low, high)
    return _sheets(stock, stage, name, left, right, sheet, cells, rng), np.stack([left, right], axis=1)


def _deck(
    stage: PairStage, name: str, group: Ints, level: Ints, linked: Ints, cells: Cells, rng: np.random.Generator
) -> Deck:
    n, slots = group.size, stage.participants * stage.n_main
    copies = stage.shared_by - 1
    sizes = np.bincount(group)
    within = stage.pairs == "within"
    wanted = int((sizes > 0).sum()) if within else 1
    n_shared = stage.participants * stage.n_shared // stage.shared_by
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
    deck = (within_deck if within else across_deck)(group, level, slots, n_shared, copies, rng, cells)
    edges = np.stack([deck.a, deck.b], axis=1)
    if not within:
        edges = np.concatenate([linked, edges])
    parts = n_components(n, edges[:, 0], edges[:, 1])
    if parts > wanted:
        raise BadConfig(
            f"stage '{name}': {slots} comparisons leave the items in {parts} parts where {wanted} are possible; "
            f"raise participants or trials ({n - wanted} different pairs connect them)",
            where="stage.trials",
        )
    return deck


def _codes(column: pl.Series) -> Ints:
    codes: Ints = column.fill_null("").rank("dense").to_numpy().astype(np.int64) - 1
    return codes


def _counters(low: Ints, high: Ints, level: Ints, sheet: Ints) -> Ints:
    """(m, 3, 2): the item and the level of `compare` over the whole plan, and that level on the sheet."""
    items = np.stack([low, high], axis=1)
    levels = level[items]
    n, k = level.size, int(level.max()) + 1
    return np.stack([items, n + levels, n + k + sheet[:, None] * k + levels], axis=1)


def _sheets(
    stock: Pool,
    stage: PairStage,
    name: str,
    left: Ints,
    right: Ints,
    sheet: Ints,
    cells: Cells,
    rng: np.random.Generator,
) -> Rows:
    items = stock.items["item"].to_numpy()
    references = _reference_ids(stock.items, stage.group)
    use_broken = uses_broken(stage.check, name, len(stock.broken), stage.checks)
    rows: Rows = {key: [] for key in _TYPES}
    shown = np.concatenate([cells.ids[left], cells.ids[right]], axis=1)
    again = even_repeats(sheet, shown, cells.weight, stage.n_repeats, rng)
    digits = max(3, len(str(stage.participants)))
    for number in range(stage.participants):
        mine = np.flatnonzero(sheet == number)
        pairs = np.stack([left[mine], right[mine]], axis=1)
        repeated = np.searchsorted(mine, again[number])
        places, is_repeat = ordered(_ids(pairs, references), repeated, stage.repeat_distance, rng)
        swapped = np.zeros(len(pairs), dtype=bool)
        swapped[rng.permutation(repeated)[: (repeated.size + number % 2) // 2]] = True
        trials = pairs[places]
        trials = np.where((is_repeat & swapped[places])[:, None], trials[:, ::-1], trials)
        label = f"{name}-{number + 1:0{digits}d}"
        laid = (trials, places, is_repeat)
        _emit(rows, stock, stage, name, label, items, laid, references, use_broken, (left, right), number, rng)
    return rows


def _reference_ids(items: pl.DataFrame, factors: Sequence[str]) -> Ints:
    """(n, f) an id for the reference shown with each item, different for every factor and level."""
    columns, start = [np.empty((items.height, 0), dtype=np.int64)], 0
    for factor in factors:
        codes = _codes(items[factor])
        columns.append((codes + start)[:, None])
        start += int(codes.max()) + 1
    return np.concatenate(columns, axis=1)


def _emit(
    rows: Rows,
    stock: Pool,
    stage: PairStage,
    name: str,
    label: str,
    items: NDArray[np.object_],
    laid: tuple[Ints, Ints, NDArray[np.bool_]],
    references: Ints,
    use_broken: bool,
    deck: tuple[Ints, Ints],
    number: int,
    rng: np.random.Generator,
) -> None:
    """Append one sheet's rows, checks among them."""
    trials, places, is_repeat = laid
    sides = rng.permutation(np.arange(stage.checks) + number) % 2
    trial_ids = _ids(trials, references)
    offered = np.stack([stock.sound, stock.sound], axis=1) if use_broken else np.stack(deck, axis=1)

    def choose(check: int, near: set[int]) -> tuple[int, Ints, int]:
        k = len(offered)
        some = (number * stage.checks + check + np.arange(k)) % k if use_broken else rng.integers(0, k, _OFFERED)
        price = shared_with(near, _ids(offered[some], references), 2)
        if not use_broken and price.min() >= SAME_ITEM:
            some = rng.permutation(k)
            price = shared_with(near, _ids(offered[some], references), 2)
        best = int(price.argmin())
        return int(some[best]), _ids(offered[some[best : best + 1]], references)[0], int(price[best])

    checks = laid_checks(trial_ids, stage.checks, choose, rng)
    first: dict[int, str] = {}
    done = checked = 0
    for position in range(1, len(trials) + stage.checks + 1):
        trial = f"{label}-{position:03d}"
        row: dict[str, object] = dict.fromkeys(_TYPES)
        row |= {"trial": trial, "sheet": label, "owner": label, "stage": name, "position": position}
        if position - 1 in checks:
            side = "left" if sides[checked] == 0 else "right"
            chosen = checks[position - 1]
            row |= {"kind": "check", "expected": side, "check": "broken" if use_broken else "instructed"}
            if use_broken:
                sound, broken = items[stock.sound[chosen]], stock.broken[chosen]
                row |= {"left": sound, "right": broken} if side == "left" else {"left": broken, "right": sound}
            else:
                row |= {"left": items[deck[0][chosen]], "right": items[deck[1][chosen]]}
            checked += 1
        else:
            index = int(places[done])
            row |= {"kind": "repeat" if is_repeat[done] else "main"}
            row |= {"left": items[trials[done, 0]], "right": items[trials[done, 1]]}
            if is_repeat[done]:
                row["repeat_of"] = first[index]
            else:
                first[index] = trial
            done += 1
        for key, value in row.items():
            rows[key].append(value)


def _ids(pairs: Ints, references: Ints) -> Ints:
    """(k, 2 + 2 f) ids of the items of some pairs, then of their references; no reference has an item's id."""
    beside = references[pairs].reshape(len(pairs), -1) + len(references)
    return np.concatenate([pairs, beside], axis=1)

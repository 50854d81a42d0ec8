"""Choosing references by coverage: few pictures of a folder that differ as much as the whole folder does.

Pictures become points (their properties, standardised over the folder); a greedy rule of `stats.coverage` picks among
them, under quotas that are met exactly, with pictures that are fixed by hand, and, if asked, spread over card levels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ...errors import BadConfig, BadInput, UnknownName
from ...stats.coverage import Pick, facility_location, k_centre, log_det
from ...stats.covered import covered_ranges, covered_share, nearest_distance, random_picks
from ...stats.points import standardised
from ...stats.quotas import Quotas, Room, single_faults
from ...stats.statistic import Floats, Ints
from .cards import CARDS, Cards, sentence
from .pool import picture_pool
from .properties import PROPERTIES, SIDE

__all__ = ["RULES", "Selection", "select"]

RULES: Mapping[str, Callable[..., Pick]] = {"facility": facility_location, "k-centre": k_centre, "log-det": log_det}
"""Name -> how the next picture is picked."""

_REASONS = {
    "facility": "adds most likeness to the pool",
    "k-centre": "farthest from the picks before it",
    "log-det": "least told by the picks before it",
}
_MEASURES = ("largest distance", "mean distance", "share within radius", "mean range covered")
_BETTER = ("lower", "lower", "higher", "higher")


@dataclass(frozen=True)
class Selection:
    """What was picked from a folder, why, and how well it covers the folder."""

    picked: pl.DataFrame
    """One row per pick, in order: order (from 1), picture, image (path below the folder), why, fixed, gain (null for the
    first of k-centre), covers (pictures of the pool nearest to this pick), card (its sentence)."""
    pool: pl.DataFrame
    """One row per picture, by name: picture, image, order (null: not picked), nearest (the pick most like it), distance
    (from that pick, in standard deviations), the columns of its card, and its properties."""
    ranges: pl.DataFrame
    """One row per property: property, unit, pool_low, pool_high, low, high (of the picks), share and gap (of the pool's
    range), random_share (median of random picks)."""
    measures: pl.DataFrame
    """One row per measure: measure, better, value, random_low, random_median, random_high (2.5, 50, 97.5 % of random
    picks under the same quotas), beaten (share of random picks that are worse, ties half)."""
    counts: pl.DataFrame
    """One row per level of every factor with a quota or balance: factor, level (null: not said), wanted (null: no quota),
    picked, there (in the pool)."""
    folder: Path
    factor: str
    how: str
    number: int
    side: int
    """Longer side in pixels at which properties were measured."""
    radius: float
    """Radius of 'share within radius', in standard deviations: half of what random picks leave lies within it."""
    seed: int
    notes: tuple[str, ...] = ()
    """What a reader must know, one line each."""

    @property
    def names(self) -> list[str]:
        """Names of the picked pictures, in order."""
        return self.picked["picture"].to_list()


def select(
    pool: str | Path,
    *,
    number: int,
    how: str = "k-centre",
    cards: Cards | None = None,
    factor: str = "content",
    quotas: Mapping[str, Mapping[str, int]] | None = None,
    balance: Sequence[str] = (),
    fixed: Sequence[str] = (),
    using: Sequence[str] = tuple(PROPERTIES),
    side: int = SIDE,
    random: int = 200,
    seed: int = 0,
    jobs: int = 1,
    quiet: bool = True,
) -> Selection:
    """Pick pictures of a folder that cover what the folder holds.

    Args:
        pool: folder of pictures; every picture below it counts. A picture's name is its file's without ending.
        number: how many to pick, >= 1.
        how: 'k-centre' (no picture is far from its nearest pick; takes extremes), 'facility' (every picture resembles a
            pick; takes typical ones), 'log-det' (picks are unlike each other).
        cards: what is known of the pictures; None: cards.csv in the folder or the one above, else no cards.
            Colour and detail that a card does not say are computed.
        factor: which cards are meant, and what the picks will be: 'content', 'style'.
        quotas: column of the cards -> level -> how many, exactly. Levels that are not named share what is left of
            `number`; where nothing is left they are not picked.
        balance: columns of the cards over which the picks spread before the rule decides, for example category, colour,
            detail, region and century of styles.
        fixed: pictures that are kept by hand; they come first and count.
        using: names of `PROPERTIES` that make up a point.
        side: working size in pixels, >= 16.
        random: random picks under the same quotas to compare with, >= 20.
        seed: of the random picks.
        jobs: worker processes for measuring; the result does not depend on it.
        quiet: show no progress.

    Raises:
        NotFound: no such folder.
        BadInput: fewer pictures than asked for, or two with one name.
        BadImage: a picture cannot be read.
        UnknownName: no such rule, property, card column, level or picture.
        BadConfig: quotas that the pool cannot meet (every fault in one line), or that exceed the number.
    """
    if how not in RULES:
        raise UnknownName.among(how, RULES, "rule of selection")
    for name in using:
        if name not in PROPERTIES:
            raise UnknownName.among(name, PROPERTIES, "property")
    if not using or random < 20:
        raise BadConfig("give at least one property and 20 random picks to compare with", where="select")
    folder = Path(pool)
    table, notes = picture_pool(folder, cards=cards, factor=factor, side=side, jobs=jobs, quiet=quiet)
    names = table["picture"].to_list()
    if not 1 <= number <= len(names):
        raise BadInput(f"{number} pictures asked for, '{folder}' holds {len(names)}; ask for 1 to {len(names)}")
    quota = _quotas(table, quotas or {}, number)
    kept = [_place(name, names) for name in dict.fromkeys(fixed)]
    _feasible(table, quota, quotas or {}, kept, number)
    points = standardised(table.select(using).to_numpy())
    level = _levels(table, balance) if balance else None
    pick = RULES[how](points, number, quotas=quota, fixed=kept, balance=level)
    drawn = random_picks(len(table), number, random, seed, quotas=quota, fixed=kept)
    measures, radius = _measures(table.select(using).to_numpy(), points, pick.picked, drawn)
    nearest = _nearest(points, pick.picked)
    return Selection(
        _picked(table, pick, nearest, len(kept), how),
        _with_picks(table, pick, points, nearest),
        _ranges(table, using, pick.picked, drawn),
        measures,
        _counts(table, pick.picked, dict.fromkeys([*(quotas or {}), *balance]), quotas or {}),
        folder,
        factor,
        how,
        number,
        side,
        radius,
        seed,
        (*notes, *_confessions(how, quotas or {}, balance)),
    )


def _place(name: str, names: Sequence[str]) -> int:
    if name not in names:
        raise UnknownName.among(name, names, "picture in the pool")
    return names.index(name)


def _column(table: pl.DataFrame, name: str) -> pl.Series:
    """Levels of one card column as text; null where a card does not say."""
    if name not in (*CARDS.names, *table.columns) or name in PROPERTIES:
        raise UnknownName.among(name, CARDS.names, "card column")
    return table[name].cast(pl.String)


def _quotas(table: pl.DataFrame, quotas: Mapping[str, Mapping[str, int]], number: int) -> Quotas | None:
    """The quotas as arrays; every fault of a single factor in one error."""
    levels, wanted, faults = [], [], []
    for name, numbers in quotas.items():
        column = _column(table, name)
        known = sorted(set(column.drop_nulls()))
        asked = {str(level): int(count) for level, count in numbers.items()}
        if any(count < 0 for count in asked.values()):
            faults.append(f"{name}: a quota below 0")
            continue
        if sum(asked.values()) > number:
            faults.append(f"{name}: the quotas sum to {sum(asked.values())}, more than the {number} pictures asked for")
            continue
        index = {level: place for place, level in enumerate(asked)}
        levels.append([index.get(level, len(asked)) if level is not None else len(asked) for level in column])
        wanted.append(np.array([*asked.values(), number - sum(asked.values())], dtype=np.int64))
        made = Quotas(np.array(levels[-1], dtype=np.int64)[:, None], (wanted[-1],))
        for _, level, count, there in single_faults(made):
            word = f"'{[*asked][level]}'" if level < len(asked) else "no level with a quota"
            faults.append(
                f"{name}: {count} of {word} asked for, the pool has {there} (it has {', '.join(known) or 'none'})"
            )
    if faults:
        raise BadConfig(f"quotas cannot be met: {'; '.join(faults)}", where="quotas")
    return Quotas(np.array(levels, dtype=np.int64).T, tuple(wanted)) if wanted else None


def _feasible(
    table: pl.DataFrame, quota: Quotas | None, names: Mapping[str, Any], kept: Sequence[int], number: int
) -> None:
    """Refuse quotas that no pick meets, in the words of the caller."""
    if len(kept) > number:
        raise BadConfig(f"{len(kept)} pictures are fixed, {number} asked for; ask for more or free some", where="fixed")
    room = Room(len(table), number, quota)
    factors = " and ".join(names)
    if not room.can_be_met():
        raise BadConfig(f"quotas of {factors} cannot be met together by the pool; loosen one of them", where="quotas")
    for index in kept:
        if not room.allows(index):
            raise BadConfig(
                f"with '{table['picture'][index]}' fixed, the quotas of {factors} cannot be met; free it or change them",
                where="fixed",
            )
        room.take(index)


def _levels(table: pl.DataFrame, names: Sequence[str]) -> Ints:
    """(n, f) levels as numbers; what a card does not say is a level of its own."""
    made = []
    for name in names:
        column = _column(table, name)
        index = {level: place for place, level in enumerate(sorted(set(column.drop_nulls())))}
        made.append([index.get(level, len(index)) if level is not None else len(index) for level in column])
    return np.array(made, dtype=np.int64).T


def _nearest(points: Floats, picked: Ints) -> Ints:
    """(n,) place among the picks of the one nearest to each point; of several the first."""
    distances = np.stack([np.square(points - points[index]).sum(axis=1) for index in picked])
    return np.asarray(np.argmin(distances, axis=0), dtype=np.int64)


def _picked(table: pl.DataFrame, pick: Pick, nearest: Ints, kept: int, how: str) -> pl.DataFrame:
    covers = np.bincount(nearest, minlength=len(pick.picked))
    rows = []
    for place, (index, gain) in enumerate(zip(pick.picked.tolist(), pick.gain.tolist(), strict=True)):
        known = gain if np.isfinite(gain) else None
        why = (
            "kept by hand"
            if place < kept
            else _REASONS[how]
            if known is not None
            else "the start, one of the most central"
        )
        rows.append(
            {
                "order": place + 1,
                "picture": table["picture"][index],
                "image": table["image"][index],
                "why": why,
                "fixed": place < kept,
                "gain": known,
                "covers": int(covers[place]),
                "card": sentence(table.row(index, named=True)),
            }
        )
    return pl.DataFrame(rows, schema_overrides={"gain": pl.Float64})


def _with_picks(table: pl.DataFrame, pick: Pick, points: Floats, nearest: Ints) -> pl.DataFrame:
    order: list[int | None] = [None] * len(table)
    for place, index in enumerate(pick.picked.tolist()):
        order[index] = place + 1
    names = [table["picture"][int(pick.picked[place])] for place in nearest]
    return table.insert_column(2, pl.Series("order", order, dtype=pl.Int64)).with_columns(
        nearest=pl.Series(names), distance=pl.Series(nearest_distance(points, pick.picked))
    )


def _ranges(table: pl.DataFrame, using: Sequence[str], picked: Ints, drawn: Ints) -> pl.DataFrame:
    values = table.select(using).to_numpy()
    made = covered_ranges(values, picked)
    others = np.stack([covered_ranges(values, row).share for row in drawn])
    flat = np.isnan(made.share)
    return pl.DataFrame(
        {
            "property": list(using),
            "unit": [PROPERTIES[name].unit for name in using],
            **made._asdict(),
            "random_share": np.where(flat, np.nan, np.median(others, axis=0)),
        }
    ).with_columns(pl.col("share", "gap", "random_share").fill_nan(None))


def _measures(values: Floats, points: Floats, picked: Ints, drawn: Ints) -> tuple[pl.DataFrame, float]:
    """The measures of the picks beside those of random picks, and the radius of 'share within radius'."""
    away = np.stack([nearest_distance(points, row) for row in drawn])
    left = np.ones(away.shape, dtype=bool)
    np.put_along_axis(left, drawn, False, axis=1)
    radius = float(np.median(away[left])) if left.any() else 0.0

    def of(row: Ints) -> list[float]:
        distance = nearest_distance(points, row)
        share = covered_ranges(values, row).share
        ranged = float(np.nanmean(share)) if np.isfinite(share).any() else np.nan
        return [float(distance.max()), float(distance.mean()), covered_share(points, row, radius), ranged]

    own, others = np.array(of(picked)), np.array([of(row) for row in drawn])
    signs = np.array([1.0 if better == "higher" else -1.0 for better in _BETTER])
    ahead = signs * (own - others)
    low, middle, high = np.quantile(others, [0.025, 0.5, 0.975], axis=0)
    frame = pl.DataFrame(
        {
            "measure": list(_MEASURES),
            "better": list(_BETTER),
            "value": own,
            "random_low": low,
            "random_median": middle,
            "random_high": high,
            "beaten": (ahead > 1e-12).mean(axis=0) + 0.5 * (np.abs(ahead) <= 1e-12).mean(axis=0),
        }
    )
    return frame.with_columns(pl.col(pl.Float64).fill_nan(None)), radius


def _counts(
    table: pl.DataFrame, picked: Ints, names: Sequence[str] | Mapping[str, Any], quotas: Mapping[str, Mapping[str, int]]
) -> pl.DataFrame:
    rows = []
    for name in names:
        column = _column(table, name)
        chosen = column.gather(picked)
        asked = {str(level): int(count) for level, count in quotas.get(name, {}).items()}
        levels: list[str | None] = sorted({*column.drop_nulls(), *asked}, key=_by_number)
        for level in [*levels, *([None] if column.null_count() else [])]:
            rows.append(
                {
                    "factor": name,
                    "level": level,
                    "wanted": asked.get(level) if level is not None else None,
                    "picked": int(chosen.eq_missing(pl.Series([level], dtype=pl.String)).sum()),
                    "there": int(column.eq_missing(pl.Series([level], dtype=pl.String)).sum()),
                }
            )
    schema = {"factor": pl.String, "level": pl.String, "wanted": pl.Int64, "picked": pl.Int64, "there": pl.Int64}
    return pl.DataFrame(rows, schema=schema)


def _by_number(level: str | None) -> tuple[float, str]:
    """Whole numbers (centuries) by size, before words by name."""
    word = level or ""
    return (float(word) if word.removeprefix("-").isdigit() else np.inf), word


def _confessions(how: str, quotas: Mapping[str, Any], balance: Sequence[str]) -> list[str]:
    """What is not guaranteed, said plainly."""
    if not quotas and not balance:
        bound = "at most twice the least possible" if how == "k-centre" else "at least 63 % of the largest possible"
        return [f"greedy: the rule's own objective is proved to be {bound}"]
    if balance:
        return ["spread over card levels comes first, so the rule decides among ties only and nothing is proved"]
    return ["quotas are met exactly; what is proved for the greedy rule without quotas does not hold in full with them"]

"""Kernels over pairs of items: rank correlations inside many groups, and over levels drawn again and again."""

from __future__ import annotations

import numpy as np

from ...stats.statistic import Floats, Ints

__all__ = ["alike", "clustered_kendall", "inside_groups"]

_BLOCK = 4_000_000  # pairs of items looked at together: 32 MB


def alike(group: Ints, level: Ints) -> dict[tuple[int, ...], Ints]:
    """Groups whose items have the same levels, so that one set of weights serves them all: levels -> (groups, n) rows."""
    order = np.lexsort((level, group))
    starts = np.flatnonzero(np.r_[True, group[order][1:] != group[order][:-1]]) if len(order) else np.empty(0, np.int64)
    found: dict[tuple[int, ...], list[Ints]] = {}
    for rows in np.split(order, starts[1:]):
        found.setdefault(tuple(level[rows].tolist()), []).append(rows)
    return {levels: np.array(rows) for levels, rows in found.items()}


def inside_groups(x: Floats, y: Floats, weights: Floats, statistic: str) -> Floats:
    """(r, groups) the correlation inside each group under each row of weights; NaN where a side is constant.

    Both statistics are sums over pairs of items: a mid-rank, centred, is half the weighted sum of the signs of the
    differences to all others.

    Args:
        x: (groups, n) predictions.
        y: (groups, n) people.
        weights: (r, n), the same for all groups.
        statistic: srcc or krcc.
    """
    step = max(1, _BLOCK // max(x.shape[1] * max(x.shape[1], len(weights)), 1))
    parts = []
    for i in range(0, len(x), step):
        sign_x = np.sign(x[i : i + step, :, None] - x[i : i + step, None, :])
        sign_y = np.sign(y[i : i + step, :, None] - y[i : i + step, None, :])
        if statistic == "krcc":
            sums = [_pairs(part, weights) for part in (sign_x * sign_y, np.abs(sign_x), np.abs(sign_y))]
            both, only_x, only_y = ((part * weights[:, None, :]).sum(axis=2) for part in sums)
        else:
            a, b = _pairs(sign_x, weights), _pairs(sign_y, weights)
            both, only_x, only_y = ((part * weights[:, None, :]).sum(axis=2) for part in (a * b, a * a, b * b))
        usable = (only_x > 0.5) & (only_y > 0.5)
        scale = np.sqrt(np.where(usable, only_x * only_y, 1.0))
        parts.append(np.where(usable, np.clip(both / scale, -1.0, 1.0), np.nan))
    return np.hstack(parts)


def _pairs(pairs: Floats, weights: Floats) -> Floats:
    """(r, groups, n): for each item the weighted sum over the others of what stands in (groups, n, n)."""
    groups, n, _ = pairs.shape
    return (weights @ pairs.transpose(2, 0, 1).reshape(n, groups * n)).reshape(len(weights), groups, n)


def clustered_kendall(x: Floats, y: Floats, level: Ints, weights: Floats) -> Floats:
    """(r,) tau-b under resampled levels: pairs are summed once by pair of levels, which makes it exact and quick.

    Args:
        x: (n,) predictions.
        y: (n,) people.
        level: (n,) number of the level of each.
        weights: (r, levels) how often each level is drawn.

    Returns:
        NaN where a side is constant under the weights.
    """
    order = np.argsort(level, kind="stable")
    x, y, level = x[order], y[order], level[order]
    starts = np.flatnonzero(np.r_[True, level[1:] != level[:-1]])
    names = level[starts]
    sums = np.zeros((3, len(names), len(names)))
    step = max(1, _BLOCK // len(x))
    for i in range(0, len(x), step):
        sign_x = np.sign(x[i : i + step, None] - x[None, :])
        sign_y = np.sign(y[i : i + step, None] - y[None, :])
        own = np.searchsorted(names, level[i : i + step])
        for k, pairs in enumerate((sign_x * sign_y, np.abs(sign_x), np.abs(sign_y))):
            np.add.at(sums[k], own, np.add.reduceat(pairs, starts, axis=1))
    w = weights[:, names]
    both, only_x, only_y = (((w @ part) * w).sum(axis=1) for part in sums)
    usable = (only_x > 0.5) & (only_y > 0.5)
    return np.where(usable, np.clip(both / np.sqrt(np.where(usable, only_x * only_y, 1.0)), -1.0, 1.0), np.nan)

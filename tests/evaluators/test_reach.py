"""Where an evaluator was trained: distances to the nearest training item, and the limit that unseen levels keep."""

from __future__ import annotations

import numpy as np
import pytest

from paragone.errors import TooFew
from paragone.evaluators.reach import reach_of


def cloud(seed: int, n: int = 60, d: int = 20) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return (rng.standard_normal((n, 5)) @ rng.standard_normal((5, d)) * rng.uniform(0.1, 9, d) + 3).astype(np.float32)


def test_a_training_item_lies_on_itself() -> None:
    x = cloud(0)
    found = reach_of(x, np.arange(len(x)))
    np.testing.assert_allclose(found.distance(x), 0, atol=1e-3)  # five directions, and nothing beside them


def test_what_lies_beside_the_components_counts_too() -> None:
    rng = np.random.default_rng(7)
    x = (cloud(7) + 0.05 * rng.standard_normal((60, 20))).astype(np.float32)  # 15 components of 20 columns
    found = reach_of(x, np.repeat(np.arange(6), 10))
    beside = rng.standard_normal(20) * found.scale
    beside -= found.scale * (found.axes @ (found.axes.T @ (beside / found.scale)))
    assert (found.distance((x + 5 * beside).astype(np.float32)) > 3 * found.distance(x)).all()


def test_two_random_training_items_are_about_one_apart() -> None:
    found = reach_of(cloud(1), np.arange(60))
    p = found.points
    squared = ((p[:, None] - p[None]) ** 2).sum(axis=2)
    assert np.sqrt(squared[~np.eye(60, dtype=bool)].mean()) == pytest.approx(1.0, abs=0.05)


def test_units_of_the_columns_do_not_matter() -> None:
    x = cloud(2)
    rng = np.random.default_rng(0)
    factor, new = rng.uniform(0.01, 100, x.shape[1]), cloud(3)
    plain, stretched = reach_of(x, np.arange(60)), reach_of((x * factor).astype(np.float32), np.arange(60))
    np.testing.assert_allclose(stretched.distance((new * factor).astype(np.float32)), plain.distance(new), rtol=1e-3)


def test_a_constant_column_says_nothing() -> None:
    x = cloud(4)
    more = np.concatenate([x, np.full((60, 1), 7, np.float32)], axis=1)
    moved = np.concatenate([x + 1, np.full((60, 1), 900, np.float32)], axis=1)
    plain, wider = reach_of(x, np.arange(60)), reach_of(more, np.arange(60))
    np.testing.assert_allclose(wider.distance(moved), plain.distance(x + 1), rtol=1e-4)


def test_the_limit_is_learned_from_other_levels() -> None:
    rng = np.random.default_rng(5)
    levels = np.repeat(np.arange(6), 10)
    centres = 10 * rng.standard_normal((6, 20))
    x = (centres[levels] + rng.standard_normal((60, 20))).astype(np.float32)
    assert reach_of(x, levels).limit > 1.5 * reach_of(x, np.arange(60)).limit  # the next level is as far as these are


def test_what_is_unlike_everything_lies_beyond_the_limit() -> None:
    x = cloud(6)
    found = reach_of(x, np.repeat(np.arange(6), 10))
    assert (found.distance(x + np.float32(40)) > found.limit).all()


def test_two_items_are_too_few() -> None:
    with pytest.raises(TooFew, match="2 items have features"):
        reach_of(cloud(0)[:2], np.arange(2))

"""Inner folds: whole groups, each row judged once, nothing that depends on anything but groups and seed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paragone.errors import TooFew
from paragone.evaluators.learners.nested import MOST_FOLDS, inner_folds


@given(groups=st.lists(st.integers(-3, 9), min_size=2, max_size=80), seed=st.integers(0, 5))
def test_every_row_is_judged_once_by_folds_that_share_no_group(groups: list[int], seed: int) -> None:
    levels = np.array(groups)
    if len(set(groups)) < 2:
        with pytest.raises(TooFew, match=r"all .* rows are of one group; fix them instead"):
            inner_folds(levels, seed=seed, name="t")
        return
    folds = inner_folds(levels, seed=seed, name="t")
    assert len(folds) == min(MOST_FOLDS, len(set(groups)))
    assert sorted(np.concatenate([fold.judge for fold in folds])) == list(range(len(groups)))
    for fold in folds:
        assert not set(levels[fold.fit]) & set(levels[fold.judge])
        assert len(fold.fit) + len(fold.judge) == len(groups)
        assert len(fold.judge)


def test_folds_of_eleven_equal_groups_are_as_even_as_can_be() -> None:
    folds = inner_folds(np.repeat(np.arange(11), 72), seed=0, name="t")
    assert sorted(len(fold.judge) // 72 for fold in folds) == [2, 2, 2, 2, 3]


def test_the_seed_deals_groups() -> None:
    groups = np.repeat(np.arange(11), 3)

    def dealt(seed: int) -> list[list[int]]:
        return [fold.judge.tolist() for fold in inner_folds(groups, seed=seed, name="t")]

    assert dealt(1) == dealt(1)
    assert dealt(1) != dealt(2)

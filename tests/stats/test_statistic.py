"""The record of a statistic and the helpers beside it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from paragone.errors import BadInput
from paragone.stats.statistic import Statistic, normal_quantile, paired_floats


def test_an_undefined_statistic_has_no_number_and_a_reason() -> None:
    nothing = Statistic.undefined(3, "too few")
    assert not nothing.defined
    assert (nothing.n, nothing.note) == (3, "too few")
    assert Statistic(0.0, -1.0, 1.0, 5).defined


def test_normal_quantiles_are_two_sided() -> None:
    assert normal_quantile(0.95) == pytest.approx(1.959963985)
    with pytest.raises(BadInput, match="level 95 is not between 0 and 1"):
        normal_quantile(95)


def test_pairs_with_a_missing_side_leave_together() -> None:
    a, b = paired_floats([1, math.nan, 3], [4, 5, math.nan])
    assert a.tolist() == [1]
    assert b.tolist() == [4]
    with pytest.raises(BadInput, match=r"\(2,\) and \(1,\)"):
        paired_floats(np.zeros(2), np.zeros(1))

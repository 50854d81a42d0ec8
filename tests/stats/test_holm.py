"""Holm's adjustment against a textbook case and its laws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paragone.errors import BadInput
from paragone.stats.holm import holm


def test_the_four_hypotheses_of_the_textbook() -> None:
    # Wikipedia, "Holm-Bonferroni method", example: p = .01, .04, .03, .005 -> .03, .06, .06, .02
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_adjusted_values_keep_the_order_and_lie_between_p_and_bonferroni(p: list[float]) -> None:
    adjusted = holm(p)
    assert (adjusted >= np.array(p)).all()
    assert (adjusted <= np.minimum(1.0, len(p) * np.array(p)) + 1e-15).all()
    order = np.argsort(p, kind="stable")
    assert (np.diff(adjusted[order]) >= 0).all()


def test_tests_that_could_not_be_made_do_not_count() -> None:
    adjusted = holm([0.01, math.nan, 0.02])
    assert adjusted[[0, 2]] == pytest.approx([0.02, 0.02])
    assert math.isnan(adjusted[1])
    assert len(holm([])) == 0


def test_what_is_no_p_value_is_refused() -> None:
    with pytest.raises(BadInput, match=r"\[0, 1\]"):
        holm([0.1, 1.2])
    with pytest.raises(BadInput, match="vector"):
        holm([[0.1]])

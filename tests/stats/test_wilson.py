from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paragone.errors import BadInput
from paragone.stats.wilson import wilson_interval


@pytest.mark.parametrize(
    ("wins", "trials", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_published_intervals_are_reproduced(wins, trials, low, high):
    # Newcombe, "Two-sided confidence intervals for the single proportion", Statistics in Medicine 17, 1998, table I
    got = wilson_interval(wins / trials, trials)
    np.testing.assert_allclose(np.ravel(got), [low, high], atol=5e-5)


@given(share=st.floats(0, 1), trials=st.floats(1e-6, 1e9), level=st.floats(0.01, 0.999))
def test_the_interval_holds_the_share_and_stays_inside(share, trials, level):
    low, high = wilson_interval(share, trials, level=level)
    assert 0.0 <= low <= share + 1e-12
    assert share - 1e-12 <= high <= 1.0
    assert high > low or trials > 1e8
    other = wilson_interval(1.0 - share, trials, level=level)
    np.testing.assert_allclose([1.0 - high, 1.0 - low], np.ravel(other), atol=1e-9)


def test_no_trial_and_no_share_have_no_interval():
    low, high = wilson_interval([np.nan, 0.5, 1.0], [3.0, 0.0, 3.0])
    assert np.isnan(low).tolist() == np.isnan(high).tolist() == [True, True, False]
    assert high[2] == 1.0


def test_impossible_input_is_refused():
    with pytest.raises(BadInput, match=r"a share of 1\.2 is not between 0 and 1"):
        wilson_interval([0.5, 1.2], 3)
    with pytest.raises(BadInput, match="trials must be finite numbers of at least 0"):
        wilson_interval(0.5, -1)
    with pytest.raises(BadInput, match="interval level 1 is not between"):
        wilson_interval(0.5, 3, level=1)

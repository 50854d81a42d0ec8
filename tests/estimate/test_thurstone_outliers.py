from __future__ import annotations

import json

import numpy as np
import pytest
from read_votes import as_comparisons, rows_of

from paragone.errors import TooFew
from paragone.estimate.thurstone_outliers import leave_one_out_likelihood, outlier_distance


def test_pwcmp_s_outliers_of_the_tone_mapping_study_are_found(shared):
    # expected.json: pwcmp's outlier analysis per scene, summed, per trial; quartiles as in MATLAB
    rows = rows_of(shared("votes/pwcmp_tmo/votes.csv"))
    rows = [{**row, "item_a": row["group"] + row["item_a"], "item_b": row["group"] + row["item_b"]} for row in rows]
    expected = json.loads(shared("votes/pwcmp_tmo/expected.json").read_text())
    _, people, data = as_comparisons(rows)
    distance = dict(zip(people, outlier_distance(data), strict=True))
    for person, wanted in expected["outlier_dist"].items():
        assert distance[person] == pytest.approx(wanted, abs=2e-6)
    assert {p for p, d in distance.items() if d > 1.5} == set(expected["outliers_pwcmp_dist_over_1.5"])
    assert all(d == 0 for p, d in distance.items() if p not in expected["outlier_dist"])


def study(comparisons, *, people: int = 8, contrary: int | None = None):
    rng = np.random.default_rng(4)
    left = rng.integers(5, size=people * 60)
    right = (left + rng.integers(1, 5, size=left.size)) % 5
    person = np.repeat(np.arange(people), 60)
    wins = rng.random(left.size) < 1 / (1 + np.exp(right - left))
    if contrary is not None:
        wins = np.where(person == contrary, ~wins, wins)
    return comparisons(left, right, wins.astype(float), participant=person)


def test_whoever_answers_the_other_way_round_lies_furthest_out(comparisons):
    distance = outlier_distance(study(comparisons, contrary=3))
    assert np.argmax(distance) == 3
    assert distance[3] > 5


def test_likelihood_is_per_answer_and_worse_than_certain(comparisons):
    likelihood = leave_one_out_likelihood(study(comparisons))
    assert (likelihood < 0).all()
    assert (likelihood > -1).all()


def test_who_saw_only_what_nobody_else_saw_cannot_be_judged(comparisons):
    data = study(comparisons)
    lonely = comparisons([5, 6, 5], [6, 5, 6], [1, 1, 0], participant=9, n=7)
    both = comparisons(
        np.r_[data.left, lonely.left],
        np.r_[data.right, lonely.right],
        np.r_[data.outcome, lonely.outcome],
        participant=np.r_[data.participant, lonely.participant],
    )
    distance = outlier_distance(both)
    assert np.isnan(distance[8:]).all()  # 8 gave no answer at all
    np.testing.assert_allclose(distance[:8], outlier_distance(data), rtol=1e-6, atol=1e-9)


def test_fewer_than_four_people_have_no_quartiles(comparisons):
    with pytest.raises(TooFew, match="at least 4 participants"):
        outlier_distance(study(comparisons, people=3))

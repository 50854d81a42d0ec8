"""Consistency of votes: real repeats, coding by item, plans with and without kinds, and who is resampled."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from paragone.consistency import Consistency, consistency
from paragone.errors import BadInput, TooFew
from paragone.judgements import Votes


def row(found: Consistency, statistic: str, **where: str | None) -> dict[str, object]:
    frame = found.frame.filter(pl.col("statistic") == statistic)
    for name, value in where.items():
        frame = frame.filter(pl.col(name).eq_missing(value))
    assert frame.height == 1
    return frame.row(0, named=True)


def hdr_vdc(shared: Callable[[str], Path]) -> Votes:
    votes = pl.read_csv(shared("votes/hdr_vdc_bright/votes.csv"))
    scene = pl.col("group") + "/"
    return Votes(
        votes.select(
            participant="rater",
            left=scene + pl.col("item_a"),
            right=scene + pl.col("item_b"),
            choice=pl.col("choice").replace_strict({"a": "left", "b": "right"}),
        )
    )


def test_real_repeats_give_the_known_kappa(shared: Callable[[str], Path]) -> None:
    # 647 cases where one person met the same pair twice; kappa and error by statsmodels
    known = json.loads(shared("votes/hdr_vdc_bright/expected.json").read_text())["repeat_consistency"]
    found = consistency(hdr_vdc(shared), seed=1, replicates=400)
    kappa, raw = row(found, "repeat_kappa"), row(found, "repeat_agreement")
    assert kappa["value"] == pytest.approx(known["cohen_kappa"], abs=1e-9)
    assert raw["value"] == pytest.approx(known["raw_agreement"], abs=1e-9)
    assert kappa["n"] == raw["n"] == 647
    (detail,) = found.notes["repeats"]
    assert detail["first_by_second"] == known["table_first_x_second"]
    assert detail["stderr"] == pytest.approx(known["se"], abs=1e-9)
    # people differ, so resampling people gives a wider interval than the analytic error of independent answers
    assert kappa["high"] - kappa["low"] > known["ci95"][1] - known["ci95"][0]  # type: ignore[operator]
    assert row(found, "between_alpha")["value"] < kappa["value"]  # type: ignore[operator]


def repeated(p_agree: float, *, swap: bool, n: int = 3000, seed: int = 0) -> Votes:
    """One pair of n judged twice by each of 10 people; the second answer is the first item's again with p_agree."""
    rng = np.random.default_rng(seed)
    rows = []
    for k in range(n):
        first, second = f"a{k}", f"b{k}"
        if rng.random() < 0.5:
            first, second = second, first
        winner = first if rng.random() < 0.5 else second
        again = winner if rng.random() < p_agree else (second if winner == first else first)
        who, turned = f"p{k % 10}", swap and rng.random() < 0.5
        left, right = (second, first) if turned else (first, second)
        rows.append((who, f"t{k}", "main", None, first, second, "left" if winner == first else "right"))
        rows.append((who, f"r{k}", "repeat", f"t{k}", left, right, "left" if again == left else "right"))
    names = ["participant", "trial", "kind", "repeat_of", "left", "right", "choice"]
    return Votes(pl.DataFrame(rows, schema=names, orient="row"))


@pytest.mark.parametrize("swap", [False, True])
def test_kappa_is_coded_by_item_so_swapped_sides_do_not_matter(swap: bool) -> None:
    # The same repeats coded left/right while sides swap would give -.2 instead of +.2 (2 p_o - 1).
    found = consistency(repeated(0.6015, swap=swap), replicates=200)
    kappa, raw = row(found, "repeat_kappa"), row(found, "repeat_agreement")
    assert raw["value"] == pytest.approx(0.6015, abs=0.03)
    assert kappa["value"] == pytest.approx(2 * raw["value"] - 1, abs=0.01)  # type: ignore[operator]
    assert kappa["low"] < kappa["value"] < kappa["high"]  # type: ignore[operator]


def test_planned_and_detected_repeats_are_the_same_repeats() -> None:
    planned = repeated(0.8, swap=True, n=200)
    bare = Votes(planned.frame.drop("kind", "repeat_of", "trial"))
    a, b = consistency(planned, replicates=50), consistency(bare, replicates=50)
    for name in ("repeat_kappa", "repeat_agreement", "between_alpha"):
        assert row(a, name) == row(b, name)


def test_a_repeat_without_its_first_answer_is_counted_not_guessed() -> None:
    votes = repeated(0.9, swap=False, n=20)
    broken = Votes(votes.frame.with_columns(pl.col("repeat_of").replace({"t3": "nowhere"})))
    found = consistency(broken, replicates=20)
    assert found.notes["unmatched_repeats"] == 1
    assert row(found, "repeat_kappa")["n"] == 19


def test_a_repeat_that_names_no_trial_is_matched_by_its_pair() -> None:
    votes = repeated(0.9, swap=True, n=20)
    unnamed = Votes(votes.frame.with_columns(repeat_of=pl.lit(None, pl.String)))
    assert row(consistency(unnamed), "repeat_agreement") == row(consistency(votes), "repeat_agreement")


def test_ties_are_a_third_answer() -> None:
    rows = [("p", "a", "b", c) for c in ("tie", "tie")] + [("p", "c", "d", c) for c in ("left", "tie")]
    found = consistency(Votes(pl.DataFrame(rows, schema=["participant", "left", "right", "choice"], orient="row")))
    (detail,) = found.notes["repeats"]
    assert detail["answers"] == ["first in order", "tie", "second in order"]
    assert detail["first_by_second"] == [[0, 1, 0], [0, 1, 0], [0, 0, 0]]
    assert row(found, "repeat_agreement")["value"] == 0.5


def test_kappa_is_undefined_when_every_answer_is_the_same_but_agreement_is_given() -> None:
    rows = [(f"p{k}", "a", "b", "left") for k in range(6) for _ in range(2)]
    found = consistency(Votes(pl.DataFrame(rows, schema=["participant", "left", "right", "choice"], orient="row")))
    kappa = row(found, "repeat_kappa")
    assert kappa["value"] is None
    assert kappa["n"] == 6
    assert "all answers are the same" in str(kappa["note"])
    assert row(found, "repeat_agreement")["value"] == 1.0
    assert row(found, "between_alpha")["value"] is None
    assert row(found, "between_agreement")["value"] == 1.0


def test_agreement_between_people_counts_each_person_once_per_pair() -> None:
    # two people, two pairs: they agree on one; p's second answer to the first pair is a repeat and does not count here
    rows = [
        ("p", "a", "b", "left"),
        ("q", "b", "a", "right"),
        ("p", "c", "d", "left"),
        ("q", "c", "d", "right"),
        ("p", "a", "b", "right"),
    ]
    found = consistency(Votes(pl.DataFrame(rows, schema=["participant", "left", "right", "choice"], orient="row")))
    between = row(found, "between_agreement")
    assert between["value"] == 0.5
    assert between["n"] == 2
    assert "2 participants" in str(between["note"])


def test_the_pull_of_the_left_side_is_seen_with_an_interval_over_people() -> None:
    rng = np.random.default_rng(3)
    rows = [
        (f"p{k % 40}", f"a{k}", f"b{k}", "tie" if k % 10 == 0 else "left" if rng.random() < 0.6 else "right")
        for k in range(4000)
    ]
    found = consistency(Votes(pl.DataFrame(rows, schema=["participant", "left", "right", "choice"], orient="row")))
    left = row(found, "left_share")
    assert left["n"] == 3600
    assert 0.57 < left["low"] < 0.6 < left["high"] < 0.63  # type: ignore[operator]


def test_checks_and_training_do_not_count() -> None:
    votes = repeated(0.9, swap=False, n=10).frame
    checks = votes.head(4).with_columns(kind=pl.lit("check"), choice=pl.lit("left"))
    assert row(consistency(Votes(pl.concat([votes, checks]))), "left_share") == row(
        consistency(Votes(votes)), "left_share"
    )
    with pytest.raises(TooFew, match="no main answer"):
        consistency(Votes(checks))


def test_stages_and_criteria_have_rows_of_their_own_and_stages_also_one_together() -> None:
    frame = repeated(0.9, swap=False, n=40).frame
    parts = [
        frame.with_columns(stage=pl.lit(stage), criterion=pl.lit(criterion))
        for stage in ("1", "2")
        for criterion in ("content", "style")
    ]
    found = consistency(Votes(pl.concat(parts)), replicates=20)
    for criterion in ("content", "style"):
        one, both = (
            row(found, "repeat_kappa", criterion=criterion, stage="1"),
            row(found, "repeat_kappa", criterion=criterion, stage=None),
        )
        assert one["n"] == 40
        assert both["n"] == 80


def test_unknown_people_cannot_repeat_or_agree() -> None:
    votes = Votes(pl.DataFrame({"left": ["a", "a", "b"], "right": ["b", "b", "c"], "choice": ["left", "left", "tie"]}))
    found = consistency(votes)
    assert "participants are unknown" in str(row(found, "repeat_kappa")["note"])
    assert row(found, "between_agreement")["value"] is None
    assert row(found, "left_share")["value"] == 1.0


def test_the_same_seed_gives_the_same_intervals_and_row_order_does_not_matter_between_people() -> None:
    votes = repeated(0.7, swap=True, n=100)
    a, b = consistency(votes, seed=4, replicates=100), consistency(votes, seed=4, replicates=100)
    assert a.frame.equals(b.frame)
    people = votes.frame.sort("participant", maintain_order=True)
    assert row(consistency(Votes(people), seed=4), "left_share")["value"] == row(a, "left_share")["value"]


def test_a_self_pair_says_nothing_about_consistency() -> None:
    rows = [("p", "ref", "ref", "left"), ("p", "ref", "ref", "right"), ("q", "ref", "ref", "left")]
    found = consistency(Votes(pl.DataFrame(rows, schema=["participant", "left", "right", "choice"], orient="row")))
    assert row(found, "repeat_kappa")["n"] == 0
    assert row(found, "between_agreement")["n"] == 0


def test_no_replicates_are_refused() -> None:
    with pytest.raises(BadInput, match="0 bootstrap replicates"):
        consistency(repeated(0.9, swap=False, n=5), replicates=0)


def test_participant_intervals_of_kappa_cover_the_truth() -> None:
    hits = 0
    for seed in range(60):
        kappa = row(consistency(repeated(0.75, swap=True, n=300, seed=seed), replicates=200), "repeat_kappa")
        hits += kappa["low"] <= 0.5 <= kappa["high"]  # type: ignore[operator]
    assert 0.8 <= hits / 60 <= 1.0  # ten people: a percentile interval over so few is short (nominal .95)
    assert not math.isnan(hits)

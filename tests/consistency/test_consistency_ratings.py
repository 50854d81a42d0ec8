"""Consistency of ratings: published figures of real studies, and what is done about gaps."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from paragone.consistency import Consistency, consistency, ratings
from paragone.errors import BadInput
from paragone.judgements import Ratings


def row(found: Consistency, statistic: str, criterion: str | None = None) -> dict[str, object]:
    frame = found.frame.filter((pl.col("statistic") == statistic) & pl.col("criterion").eq_missing(criterion))
    assert frame.height == 1
    return frame.row(0, named=True)


@pytest.fixture(scope="module")
def avt(shared: Callable[[str], Path]) -> Consistency:
    ratings = pl.read_csv(shared("votes/avt_ai_images/ratings.csv"))
    return consistency(
        Ratings(ratings.select(participant="rater", item="item", criterion="criterion", value="score")), replicates=100
    )


@pytest.mark.parametrize(
    ("criterion", "single", "average"),
    [("appeal", 0.30, 0.89), ("realism", 0.47, 0.94), ("prompt_matching", 0.55, 0.96)],
)
def test_icc_of_those_who_finished_is_as_published(
    avt: Consistency, criterion: str, single: float, average: float
) -> None:
    # AVT-AI-Image, study 1, full set
    assert row(avt, "icc_2_1", criterion)["value"] == pytest.approx(single, abs=0.005)
    assert row(avt, "icc_2_k", criterion)["value"] == pytest.approx(average, abs=0.005)
    assert row(avt, "icc_2_1", criterion)["n"] == 146
    (detail,) = [d for d in avt.notes["raters"] if d["criterion"] == criterion]
    assert detail["participants"] == 27
    assert "every item" in detail["icc"]


def test_every_statistic_of_a_full_study_has_an_interval_or_says_why(avt: Consistency) -> None:
    bare = avt.frame.filter(pl.col("low").is_null())
    assert set(bare["statistic"]) == {"repeat_correlation", "repeat_rmse"}  # three people met one image twice
    assert bare["note"].null_count() == 0
    known = avt.frame.filter(pl.col("low").is_not_null())
    assert ((known["low"] <= known["value"]) & (known["value"] <= known["high"])).all()


def test_alpha_of_complete_raters_is_as_another_library_gives(shared: Callable[[str], Path]) -> None:
    # krippendorff 0.9.0, interval, complete raters, first of double answers
    ratings = pl.read_csv(shared("votes/avt_ai_images/ratings.csv")).filter(pl.col("rater_complete") == 1)
    found = consistency(
        Ratings(ratings.select(participant="rater", item="item", criterion="criterion", value="score")), replicates=20
    )
    known = json.loads(shared("votes/avt_ai_images/expected.json").read_text())["criteria"]
    for criterion in ("appeal", "realism", "prompt_matching"):
        assert row(found, "alpha_interval", criterion)["value"] == pytest.approx(
            known[criterion]["krippendorff_alpha"]["interval"], abs=1e-9
        )


def test_mean_correlation_between_raters_is_as_published(shared: Callable[[str], Path]) -> None:
    # ImagenHub README: semantic consistency / perceptual quality
    published = {
        "Control-Guided_IG": (0.65, 0.60),
        "Mask-Guided_IE": (0.72, 0.63),
        "Multi-Subject_IG": (0.83, 0.61),
        "Subject-Driven_IE": (0.59, 0.27),
        "Text-To-Image": (0.60, 0.49),
    }
    table = pl.read_csv(shared("images/imagenhub_ratings/ratings.csv"))
    for task, figures in published.items():
        part = table.filter(pl.col("task") == task).with_columns(item=pl.col("method") + "/" + pl.col("sample"))
        for criterion, figure in zip(("semantic_consistency", "perceptual_quality"), figures, strict=True):
            found = consistency(
                Ratings(part.select(participant=pl.col("rater").cast(pl.String), item="item", value=criterion)),
                replicates=10,
            )
            between = row(found, "between_spearman")
            assert between["value"] == pytest.approx(figure, abs=0.0051)
            assert between["n"] == 3
            assert "3 participants" in str(between["note"])


def test_three_raters_of_ten_thousand_cells_take_no_time_and_give_the_known_icc(shared: Callable[[str], Path]) -> None:
    table = pl.read_csv(shared("images/kitov_style_transfer/ratings.csv"))
    table = table.with_columns(item=pl.format("{}_{}_{}", "content", "style", "style_size"))
    long = table.unpivot(["rater1", "rater2", "rater3"], index="item", variable_name="participant")
    found = consistency(Ratings(long), replicates=10)
    # README, full set: .47 and .73; this two-thirds part: .503 and .752
    assert row(found, "icc_2_1")["value"] == pytest.approx(0.47, abs=0.05)
    assert row(found, "icc_2_k")["value"] == pytest.approx(0.73, abs=0.05)
    assert row(found, "split_half")["value"] is None


def test_a_copied_repetition_is_perfectly_repeated(shared: Callable[[str], Path]) -> None:
    ratings = pl.read_csv(shared("votes/bt500_repetitions/ratings.csv"))  # the second layer copies the first
    found = consistency(Ratings(ratings.select(participant="rater", item="item", value="score")), replicates=20)
    assert row(found, "repeat_correlation")["value"] == pytest.approx(1.0)
    assert row(found, "repeat_correlation")["n"] == 598
    assert row(found, "repeat_rmse")["value"] == 0.0


def sparse(seed: int, *, n: int = 80, p: int = 24, share: float = 0.3) -> Ratings:
    """Item variance 1, rater variance .25, rest 1: ICC(2,1) = 4/9. Nobody rates everything."""
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(p, n)) + rng.normal(size=(1, n)) + 0.5 * rng.normal(size=(p, 1))
    who, item = np.nonzero(rng.random((p, n)) < share)
    return Ratings(
        pl.DataFrame(
            {"participant": [f"p{i}" for i in who], "item": [f"i{j}" for j in item], "value": table[who, item]}
        )
    )


def test_where_nobody_finished_the_icc_comes_from_variance_components() -> None:
    found = [consistency(sparse(seed), replicates=20) for seed in range(12)]
    assert "variance components" in found[0].notes["raters"][0]["icc"]
    values = [float(row(one, "icc_2_1")["value"]) for one in found]  # type: ignore[arg-type]
    assert np.mean(values) == pytest.approx(4 / 9, abs=0.06)  # twelve studies: standard error about .02


def test_repeats_by_plan_measure_noise_within_a_person() -> None:
    rng = np.random.default_rng(1)
    rows = []
    for person in range(12):
        for item in range(15):
            true = float(rng.normal())
            rows.append((f"p{person}", f"t{item}", "main", None, f"i{item}", true + 0.3 * rng.normal()))
            if item < 5:
                rows.append((f"p{person}", f"r{item}", "repeat", f"t{item}", f"i{item}", true + 0.3 * rng.normal()))
    names = ["participant", "trial", "kind", "repeat_of", "item", "value"]
    found = consistency(Ratings(pl.DataFrame(rows, schema=names, orient="row")), replicates=200)
    rmse = row(found, "repeat_rmse")
    assert rmse["n"] == 60
    assert rmse["value"] == pytest.approx(0.3 * 2**0.5, rel=0.2)
    assert row(found, "repeat_correlation")["value"] > 0.8  # type: ignore[operator]


def test_unknown_raters_and_equal_ratings_give_reasons_not_numbers() -> None:
    unknown = consistency(Ratings(pl.DataFrame({"item": ["a", "b"], "value": [1.0, 2.0]})))
    assert unknown.frame["value"].null_count() == unknown.frame.height == 10
    assert unknown.frame["note"].str.contains("participants are unknown").all()
    same = Ratings(
        pl.DataFrame(
            [(f"p{i}", f"i{j}", 3.0) for i in range(6) for j in range(4)],
            schema=["participant", "item", "value"],
            orient="row",
        )
    )
    found = consistency(same, replicates=20)
    assert "all ratings are the same" in str(row(found, "icc_2_1")["note"])
    assert "all ratings are the same" in str(row(found, "alpha_interval")["note"])
    assert row(found, "between_spearman")["value"] is None


def test_many_raters_are_compared_by_a_sample_of_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ratings, "_PAIRS", 40)
    answers = sparse(3, n=30, p=20, share=0.8)
    few, again = (row(consistency(answers, replicates=20, seed=5), "between_spearman") for _ in range(2))
    assert few == again
    assert few["n"] == 40  # of 190 pairs


def rated(*rows: tuple[str, str, float]) -> Ratings:
    return Ratings(pl.DataFrame(rows, schema=["participant", "item", "value"], orient="row"))


def test_an_icc_of_two_items_is_undefined_and_says_so() -> None:
    # gave -3.0: the residual of three first ratings is nothing, and variance components know no bounds
    found = consistency(rated(("p", "a", 3), ("p", "a", 5), ("q", "a", 1), ("p", "b", 2), ("q", "b", 4)), replicates=20)
    for name in ("icc_2_1", "icc_2_k"):
        assert row(found, name)["value"] is None
        assert row(found, name)["note"] == "2 items; an ICC needs 3"
    assert row(found, "repeat_correlation")["value"] is None
    assert "1 repeats; a correlation needs 3" in str(row(found, "repeat_correlation")["note"])


def test_two_repeats_have_no_correlation() -> None:
    twice = [("p", item, value) for item, values in {"a": (1, 2), "b": (4, 5)}.items() for value in values]
    found = consistency(rated(*twice), replicates=20)
    assert (row(found, "repeat_correlation")["value"], row(found, "repeat_correlation")["n"]) == (None, 2)
    assert row(found, "repeat_rmse")["value"] == 1.0


@pytest.mark.parametrize("share", [0.4, 0.7, 1.0])
def test_no_reliability_is_below_what_is_possible_whatever_is_rated(share: float) -> None:
    negative = impossible = 0
    for seed in range(120):
        rng = np.random.default_rng(seed)
        p, n = int(rng.integers(2, 5)), int(rng.integers(3, 6))
        cells = [(f"p{i}", f"i{j}", float(rng.integers(1, 6))) for i in range(p) for j in range(n)]
        kept = [cell for cell in cells if rng.random() < share] or cells
        found = consistency(rated(*kept), replicates=10)
        for name, least in (("icc_2_1", -1.0), ("icc_2_k", -1.0), ("spearman_brown", -1.0)):
            one = row(found, name)
            if one["value"] is None:
                impossible += "possible" in str(one["note"]) or "below -1" in str(one["note"])
                assert one["note"]
                continue
            assert least <= one["value"] <= 1.0 + 1e-9  # type: ignore[operator]
            assert (one["low"] is None) == (one["high"] is None)
            assert one["low"] is None or least <= one["low"] < one["high"]  # type: ignore[operator]
            if one["value"] < 0:  # type: ignore[operator]
                negative += 1
                assert str(one["note"]).startswith("negative: ")
    assert negative > 10
    assert impossible > 2


def test_perfect_repeats_have_no_interval_of_no_width() -> None:
    rows = [(f"p{i}", f"i{j}", float(j)) for i in range(6) for j in range(5) for _ in range(2)]
    found = consistency(rated(*rows), replicates=50)
    known = found.frame.drop_nulls("low")
    assert (known["high"] > known["low"]).all()
    assert (row(found, "repeat_correlation")["value"], row(found, "repeat_correlation")["low"]) == (1.0, None)
    assert row(found, "alpha_interval")["note"] == "no interval: every resample gives the same"


def test_a_bare_frame_is_refused_with_what_to_do() -> None:
    with pytest.raises(BadInput, match="consistency takes Votes or Ratings, not DataFrame; read them with read_votes"):
        consistency(pl.DataFrame({"item": ["a"]}))  # type: ignore[arg-type]

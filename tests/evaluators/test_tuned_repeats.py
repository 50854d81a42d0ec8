"""Repeated splits judge a tuned network by groups that it never saw, beside what their mean would have given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import polars as pl
import pytest
from scipy.stats import kendalltau, spearmanr

from installed import needed
from paragone.errors import BadConfig, BadInput, TooFew
from paragone.evaluators.tuned import TunedSettings, crossval_tuned
from paragone.features import torch_threads
from paragone.images import write_image

needed("torch")
needed("timm")
needed("accelerate")
needed("safetensors")

from paragone.evaluators.tuned import repeats  # noqa: E402

SETTINGS = TunedSettings(epochs=2, batch=8, learning_rate=3e-3, resize=32, crop=32, test_crops="centre")


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """24 even pictures; how bright each is, is its score. Four groups of six, three makers."""
    folder = tmp_path_factory.mktemp("bright")
    levels = np.linspace(0.1, 0.9, 24)
    names = [f"p{at:02d}" for at in range(24)]
    images = {
        name: write_image(np.full((32, 40, 3), level, dtype=np.float32), folder / f"{name}.png")
        for name, level in zip(names, levels, strict=True)
    }
    return {
        "images": images,
        "scores": {"bright": dict(zip(names, levels.tolist(), strict=True))},
        "groups": {name: f"g{at % 4}" for at, name in enumerate(names)},
        "makers": {name: f"m{at // 8}" for at, name in enumerate(names)},
    }


def judged(given: dict[str, Any], **options: Any) -> repeats.TunedCrossval:
    named = {name: options.pop(name, given[name]) for name in ("images", "scores", "groups")}
    chosen: dict[str, Any] = {"network": "tiny", "settings": SETTINGS, "random": True, "repeats": 2}
    with torch_threads(1):
        return crossval_tuned(named["images"], named["scores"], named["groups"], **{**chosen, **options})


def test_each_repeat_predicts_whole_groups_that_were_held_out(given: dict[str, Any], monkeypatch: Any) -> None:
    learnt: list[set[str]] = []
    begin = repeats.begin

    def watched(material: Any, rows: Any, *rest: Any, **named: Any) -> Any:
        learnt.append({material.groups[row] for row in rows})
        return begin(material, rows, *rest, **named)

    monkeypatch.setattr(repeats, "begin", watched)
    made = judged(given)
    for repeat, trained in enumerate(learnt):
        part = made.predictions.filter(pl.col("repeat") == repeat)
        assert set(part["group"]) == {"g0", "g1", "g2", "g3"} - trained
        assert part.height == 6
    assert learnt[0] != learnt[1]
    assert (made.notes["epoch_choice"], made.notes["possible"], made.notes["repeats"]) == ("last", 4, 2)


def test_the_statistics_are_those_of_the_predictions(given: dict[str, Any]) -> None:
    made = judged(given)
    assert made.frame.columns == ["predictor", "criterion", "repeat", "statistic", "value", "n"]
    for repeat in (0, 1):
        part = made.predictions.filter(pl.col("repeat") == repeat)
        own = made.frame.filter(pl.col("repeat") == repeat)
        value = dict(zip(own["statistic"], own["value"], strict=True))
        assert value["srcc"] == pytest.approx(spearmanr(part["score"], part["target"])[0])
        assert value["krcc"] == pytest.approx(kendalltau(part["score"], part["target"])[0])
        assert -1 <= value["plcc"] <= 1
        assert own["n"].to_list() == [6, 6, 6]
    mean = made.summary().filter(pl.col("statistic") == "srcc")
    assert mean["mean"][0] == pytest.approx(made.frame.filter(pl.col("statistic") == "srcc")["value"].mean())
    assert mean["repeats"][0] == 2


def test_held_out_scores_reach_nothing_but_the_judgement(given: dict[str, Any]) -> None:
    """A leak is planted: the scores of the held-out group are turned round. Not one prediction of it may move."""
    first = judged(given, repeats=1)
    out = set(first.predictions["item"])
    turned = {item: -value if item in out else value for item, value in given["scores"]["bright"].items()}
    settings = msgspec.structs.replace(SETTINGS, epoch_choice="validation", validation_share=0.3)
    for chosen in (SETTINGS, settings):
        one = judged(given, repeats=1, settings=chosen)
        other = judged(given, repeats=1, settings=chosen, scores={"bright": turned})
        assert one.predictions["score"].equals(other.predictions["score"])
        assert not one.predictions["target"].equals(other.predictions["target"])


def test_a_floor_is_the_mean_of_what_was_trained_on(given: dict[str, Any]) -> None:
    made = judged(given, floors={"maker": given["makers"]})
    floor = made.predictions.filter(pl.col("predictor") == "mean of maker")
    scores = given["scores"]["bright"]
    for row in floor.iter_rows(named=True):
        held = set(floor.filter(pl.col("repeat") == row["repeat"])["item"])
        own = [scores[i] for i in scores if i not in held and given["makers"][i] == given["makers"][row["item"]]]
        assert row["score"] == pytest.approx(np.mean(own))
    with pytest.raises(BadInput, match=r"floor 'maker': item 'p00' has no level \(1 such items\)"):
        judged(given, floors={"maker": {i: m for i, m in given["makers"].items() if i != "p00"}})


def test_a_floor_that_says_the_same_of_all_has_no_correlation(given: dict[str, Any]) -> None:
    made = judged(given, floors={"everything": dict.fromkeys(given["images"], "all")})
    floor = made.frame.filter(pl.col("predictor") == "mean of everything")
    assert floor["value"].null_count() == floor.height == 6


def test_a_stopped_run_goes_on_and_ends_the_same(given: dict[str, Any], tmp_path: Path, monkeypatch: Any) -> None:
    whole = judged(given)
    fit, fitted = repeats.fit, []

    def stopping(*args: Any, **named: Any) -> Any:
        if fitted:
            raise KeyboardInterrupt
        fitted.append(1)
        return fit(*args, **named)

    monkeypatch.setattr(repeats, "fit", stopping)
    with pytest.raises(KeyboardInterrupt):
        judged(given, folder=tmp_path)
    fitted.clear()
    continued = judged(given, folder=tmp_path)  # would stop at a second training
    assert continued.predictions.equals(whole.predictions)
    assert continued.frame.equals(whole.frame)
    assert continued.notes == whole.notes
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".csv", ".csv"]
    fitted.clear()
    judged(given, folder=tmp_path, repeats=1, seed=5)  # another run: its own files
    assert fitted == [1]


def test_no_more_repeats_than_there_are_splits(given: dict[str, Any]) -> None:
    made = judged(given, repeats=9, settings=msgspec.structs.replace(SETTINGS, epochs=1))
    assert made.notes["repeats"] == 4
    with pytest.raises(BadConfig, match="0 repeats; give 1 or more"):
        judged(given, repeats=0)


def test_too_few_groups_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(TooFew, match="group has 2 levels; 3 or more are needed"):
        judged(given, groups={item: f"g{at % 2}" for at, item in enumerate(given["images"])})

"""Rows of several kinds: shapes, keys, and names that stay apart when they are cut."""

from __future__ import annotations

import re

import polars as pl
import pytest

from paragone.report.dots import Look, dots, level_dots
from paragone.report.svg import Spot

LOOKS = {
    "a": Look("first kind", "o", 0, strong=True),
    "b": Look("second kind", "s", 1),
    "c": Look("third kind", "^", 2, hollow=True),
}


def _frame(labels: list[str], kinds: str) -> pl.DataFrame:
    n = len(labels)
    score = [0.1 * k for k in range(n)]
    frame = pl.DataFrame({"label": labels, "kind": list(kinds), "score": score, "place": ["1–2"] * n})
    return frame.with_columns(low=pl.col("score") - 0.1, high=pl.col("score") + 0.1)


def _drawn(frame: pl.DataFrame, **more: object) -> str:
    spots = [Spot(label) for label in frame["label"]]
    return dots(frame, name="one", alt="one", axis="SRCC", looks=LOOKS, spots=spots, **more).inline  # type: ignore[arg-type]


def test_the_key_names_the_kinds_that_are_there() -> None:
    svg = _drawn(_frame(["x", "y"], "ac"))
    assert "first kind" in svg
    assert "third kind" in svg
    assert "second kind" not in svg


def test_names_that_differ_at_the_end_stay_apart_when_cut() -> None:
    names = [f"astra-score:components=256,epochs=40,seeds={n}" for n in (2, 5)]
    texts = re.findall(r">(astra[^<]*)</text>", _drawn(_frame(names, "ab")))
    assert len(texts) == len(set(texts)) == 2
    assert all(len(text) <= 24 for text in texts)


def test_each_point_tells_its_whole_name_whatever_its_kind() -> None:
    names = ["x" * 40, "y", "z"]
    told = re.findall(r"<title>([^<]*)</title>", _drawn(_frame(names, "bab")))
    assert sorted(told) == sorted(names)


def test_places_stand_beside_the_rows() -> None:
    svg = _drawn(_frame(["x", "y"], "ab"), places="rank")
    assert svg.count(">1–2</text>") == 2
    assert ">rank</text>" in svg
    assert "rank" not in _drawn(_frame(["x", "y"], "ab"))


def test_a_row_without_score_or_interval_is_still_a_row() -> None:
    frame = _frame(["x", "y"], "ab").with_columns(low=None, high=None, score=pl.Series([None, 0.5]))
    svg = _drawn(frame.with_columns(pl.col("low", "high").cast(pl.Float64)))
    assert ">x</text>" in svg
    assert svg.count("<title>") == 1


def _height(looks: dict[str, Look]) -> float:
    frame = _frame(["x", "y"], "ab")
    spots = [Spot("x"), Spot("y")]
    svg = dots(frame, name="one", alt="one", axis="a", looks=looks, spots=spots).alone
    found = re.search(r'viewBox="0 0 \d+ ([\d.]+)"', svg)
    assert found is not None
    return float(found[1])


def test_long_words_of_a_key_take_a_line_each() -> None:
    long = {**LOOKS, "a": LOOKS["a"]._replace(words="astra-score:components=256,epochs=40,seeds=5")}
    assert _height(long) == pytest.approx(_height(LOOKS) + 20)


def test_levels_without_a_value_are_called_undefined() -> None:
    frame = pl.DataFrame({"label": ["x", "x", "y", "y"], "kind": list("abab"), "value": [0.5, 0.2, None, None]})
    spots = [Spot(f"{k}") for k in range(4)]
    svg = level_dots(frame, name="one", alt="one", axis="SRCC", looks=LOOKS, spots=spots).inline
    assert re.findall(r"<title>(\d)</title>", svg) == ["0", "1"]
    assert svg.count(">undefined</text>") == 1

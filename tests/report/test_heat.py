"""Distances between methods as a page: the heat map, what to drop, every pair."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest

from paragone.errors import BadInput
from paragone.report.heat import distances_page, heat_map


@dataclass
class Apart:
    """Three methods: a and b near, c far from both."""

    distances: pl.DataFrame
    clusters: pl.DataFrame
    dropped: pl.DataFrame
    statistic: str = "lpips-alexnet"
    within: tuple[str, ...] = ("content", "style")
    notes: tuple[str, ...] = ("a note",)


def apart(*, dropped: bool = False) -> Apart:
    distances = pl.DataFrame(
        {"a": ["a", "a", "b"], "b": ["b", "c", "c"], "distance": [0.11, 0.52, 0.61], "statistic": ["lpips-alexnet"] * 3,
         "low": [0.10, 0.48, None], "high": [0.12, 0.55, None], "n": [12, 12, 11]}
    )  # fmt: skip
    clusters = pl.DataFrame(
        {"method": ["c", "a", "b"], "place": [0, 1, 2], "cluster": [1, 2, 2], "kept": [True, True, not dropped]}
    )
    schema = {"method": pl.String, "nearest": pl.String, "distance": pl.Float64, "low": pl.Float64, "high": pl.Float64}
    gone = pl.DataFrame([("b", "a", 0.11, 0.10, 0.12)] if dropped else [], schema=schema, orient="row")
    return Apart(distances, clusters, gone)


def test_the_page_tells_the_nearest_and_every_pair(tmp_path: Path) -> None:
    page = distances_page(apart(), tmp_path)
    text = page.read_text()
    assert page.name == "distinct.html"
    assert re.search(r"Nearest: a and b \(0\.110? \[0\.100?, 0\.120?\]\)", text)
    assert "n = 11 to 12 cells a pair" in text
    assert "a note" in text
    assert pl.read_csv(tmp_path / "distinct-distances.csv")["distance"].to_list() == [0.11, 0.52, 0.61]
    assert (tmp_path / "figures" / "distinct-map.svg").is_file()


def test_what_to_drop_stands_first(tmp_path: Path) -> None:
    assert "To drop, nearest first: b (near a)." in distances_page(apart(dropped=True), tmp_path / "d.html").read_text()


def test_near_pairs_are_darker_than_far_ones() -> None:
    drawing = heat_map(apart().distances, name="map", alt="a map")
    assert "a map" in drawing.alone
    shades = re.findall(r"fill: (#[0-9a-f]{6})", drawing.alone)
    light = {shade: sum(int(shade[k : k + 2], 16) for k in (1, 3, 5)) for shade in shades}
    assert "#08306b" in light, "the nearest pair has the darkest shade"
    assert "#f7fbff" in light, "the farthest has the lightest"
    numbers = [float(word) for word in re.findall(r">(0\.\d+)<", drawing.alone)]
    assert sorted(numbers) == [0.11, 0.11, 0.52, 0.52, 0.61, 0.61]


def test_another_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"does not end in \.html"):
        distances_page(apart(), tmp_path / "d.pdf")

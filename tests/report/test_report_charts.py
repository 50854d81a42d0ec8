"""Figures: redrawn from their CSV, parted without colour, harmless with any name."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from xml.etree import ElementTree

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paragone.report import charts
from paragone.report.svg import COLOURS, SERIES, Drawing, Spot, clean

ROWS = pl.DataFrame(
    {
        "label": ["a", "b", "c"],
        "score": [3.0, 2.123456789012345, None],
        "low": [2.5, 1.0, None],
        "high": [3.5, 3.0, None],
        "rank_low": [1, 1, None],
        "rank_high": [2, 2, None],
        "n": [10.0, 12.0, 0.0],
    }
)
POINTS = pl.DataFrame(
    {
        "part": ["point"] * 4 + ["curve"] * 2,
        "item": ["p", "q", "r", "s", None, None],
        "series": ["m", "m", "n", "n", None, None],
        "x": [0.1, 0.2, 0.3, 0.4, 0.1, 0.4],
        "y": [1.0, 2.0, 2.5, 4.0, 1.0, 4.0],
        "low": [0.5, None, 2.0, 3.0, None, None],
        "high": [1.5, None, 3.0, 5.0, None, None],
        "count": pl.Series([None] * 6, dtype=pl.Int64),
    }
)
BARS = pl.DataFrame({"label": ["speed", "checks"], "count": [3, 0]})
BINS = pl.DataFrame({"low": [1.0, 1.5], "high": [1.5, 2.0], "count": [4, 7]})
SECONDS = pl.DataFrame(
    {
        "group": ["retained", "retained", "rejected"],
        "value": [8.0, 9.5, 0.4],
        "shift": [0.0, 0.1, -0.1],
        "median": [8.75] * 2 + [0.4],
    }
)
DRAWN: dict[str, tuple[pl.DataFrame, Callable[[pl.DataFrame], Drawing]]] = {
    "intervals": (
        ROWS,
        lambda f: charts.intervals(f, name="i", alt="alt", axis="score", brackets=[(0, 1)], origin=0.0),
    ),
    "scatter": (POINTS, lambda f: charts.scatter(f, name="s", alt="alt", x="x", y="y")),
    "bars": (BARS, lambda f: charts.bars(f, name="b", alt="alt", axis="people")),
    "histogram": (BINS, lambda f: charts.histogram(f, name="h", alt="alt", axis="score")),
    "strips": (SECONDS, lambda f: charts.strips(f, name="t", alt="alt", axis="seconds")),
}
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("kind", DRAWN)
def test_the_csv_redraws_the_figure(kind: str) -> None:
    frame, draw = DRAWN[kind]
    read = pl.read_csv(io.StringIO(frame.write_csv()), schema_overrides=frame.schema)
    assert draw(read) == draw(frame)


@pytest.mark.parametrize("kind", DRAWN)
def test_the_page_s_figure_takes_its_colours_from_the_page(kind: str) -> None:
    frame, draw = DRAWN[kind]
    drawing = draw(frame)
    assert "#" not in re.sub(r'(href="#|url\(#)', "", drawing.inline)
    assert set(re.findall(r"#[0-9a-f]{6}\b", drawing.alone)) <= set(COLOURS.values())
    assert set(re.findall(r"var\(--([\w-]+)\)", drawing.inline)) <= set(COLOURS)


def test_series_differ_by_shape_and_not_by_colour_alone() -> None:
    root = ElementTree.fromstring(DRAWN["scatter"][1](POINTS).alone)
    groups = [group for group in root.iter(f"{SVG}g") if group.get("data-spots")]
    shapes = [path.get("d") for group in groups for path in group.iter(f"{SVG}path")]
    assert len(groups) == 2
    assert len(set(shapes)) == 2
    assert len(set(charts.MARKERS)) == len(charts.MARKERS) == len(SERIES)


def test_each_point_tells_its_own_item() -> None:
    spots = {item: Spot(f"told {item}", f"#{item}", f"pic-{item}") for item in "pqrs"}
    drawing = charts.scatter(POINTS, name="s", alt="alt", x="x", y="y", spots=spots)
    root = ElementTree.fromstring(drawing.inline)
    told = [
        (spot.get("href"), spot.get("data-picture"), spot.findtext(f"{SVG}title"), spot.find(f"{SVG}use"))
        for spot in root.iter(f"{SVG}a")
    ]
    assert [entry[:3] for entry in told] == [(f"#{item}", f"pic-{item}", f"told {item}") for item in "pqrs"]
    places = [float(use.get("x", "nan")) for *_, use in told if use is not None]
    assert places == sorted(places)  # x rises from p to s
    assert len(places) == 4


def test_a_row_without_a_score_has_no_point_and_no_title() -> None:
    spots = [Spot(label) for label in "abc"]
    drawing = charts.intervals(ROWS, name="i", alt="alt", axis="score", spots=spots)
    titles = [title.text for title in ElementTree.fromstring(drawing.inline).iter(f"{SVG}title")]
    assert titles == ["a", "b"]


def test_brackets_that_overlap_stand_side_by_side() -> None:
    assert charts._lanes([(0, 2), (1, 3), (3, 4), (5, 6)]) == {(0, 2): 0, (1, 3): 1, (3, 4): 0, (5, 6): 0}


@settings(max_examples=25, deadline=None)
@given(st.text(min_size=1, max_size=40))
def test_any_name_gives_well_formed_svg_and_stays_text(name: str) -> None:
    frame = pl.DataFrame({"label": [name], "count": [2]}, schema={"label": pl.String, "count": pl.Int64})
    drawing = charts.bars(frame, name="b", alt=name, axis=name)
    for text in drawing:
        root = ElementTree.fromstring(text)
        assert root.get("aria-label") == clean(name)
        assert not list(root.iter(f"{SVG}script"))
    assert "\n" not in clean(name)


def test_many_points_are_drawn_as_cells() -> None:
    cells = pl.DataFrame(
        {"part": ["cell", "cell"], "item": [None] * 2, "series": [None] * 2, "x": [1.0, 2.0], "y": [1.0, 2.0]},
        schema_overrides={"item": pl.String, "series": pl.String},
    ).with_columns(low=pl.lit(None, pl.Float64), high=pl.lit(None, pl.Float64), count=pl.Series([1, 900]))
    root = ElementTree.fromstring(charts.scatter(cells, name="c", alt="alt", x="x", y="y", spots={}).alone)
    assert len(list(root.iter(f"{SVG}path"))) > 2


def test_the_page_and_not_the_drawing_library_chooses_the_font() -> None:
    frame = pl.DataFrame({"label": ["a"], "count": [3]})
    drawing = charts.bars(frame, name="one", alt="one", axis="votes")
    for text in drawing:
        assert "DejaVu" not in text
        assert text.count("font-family") == 1
        assert "font-size: 12px" in text

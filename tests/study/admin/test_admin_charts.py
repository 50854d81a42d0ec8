"""Figures as SVG of the page, and numbers as the desk writes them."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from paragone.study.admin import charts
from paragone.study.admin.figures.numbers import Number
from paragone.study.admin.words import ago, figure, fixed, lasting, plural, share, when

SVG = "{http://www.w3.org/2000/svg}"


def _drawn(markup: str) -> ElementTree.Element:
    return ElementTree.fromstring(str(markup).replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1))


def _all() -> list[str]:
    nasty = '<b>"&x'
    return [
        charts.bar(0.4, alt=nasty, low=0.3, high=0.5),
        charts.bar(None, alt="unknown"),
        charts.columns(["a", nasty], [("x", [1, 0]), ("y", [2, 3])], alt=nasty, axis=nasty),
        charts.columns([], [("x", [])], alt="nothing", axis="x"),
        charts.curve(
            [2, 4], [0.5, 0.9], [-0.3, 0.8], target=0.95, alt=nasty, axis="people", looks=[(4, 0.8), (2, None)]
        ),
        charts.intervals(
            [(nasty, 1.0, 0.5, 1.5), ("b", None, None, None), ("c", 2.0, None, None)], alt=nasty, axis="logit"
        ),
    ]


def test_every_figure_is_well_formed_labelled_and_free_of_styles() -> None:
    for markup in _all():
        root = _drawn(markup)
        assert root.get("role") == "img"
        assert root.get("aria-label")
        for element in root.iter():
            assert "style" not in element.attrib
            assert not [name for name in element.attrib if name.startswith("on") or name in ("fill", "stroke")]
        assert "nan" not in markup
        assert "inf" not in markup.replace("info", "")


def test_a_bar_is_as_long_as_its_share_and_never_longer_than_its_frame() -> None:
    def width(value: float | None) -> float:
        fills = [e for e in _drawn(charts.bar(value, alt="x")).iter(f"{SVG}rect") if e.get("class") == "fill"]
        return float(fills[0].get("width", "0")) if fills else -1.0

    assert width(0.5) == pytest.approx(59.0)
    assert width(0.0) == 0.0
    assert width(7.0) == pytest.approx(118.0)
    assert width(None) == -1.0
    assert width(float("nan")) == -1.0


def test_columns_stack_to_their_sum() -> None:
    root = _drawn(charts.columns(["a", "b"], [("x", [1, 4]), ("y", [3, 0])], alt="x", axis="y"))
    bars = [e for e in root.iter(f"{SVG}rect") if e.get("class") in ("s0", "s1")]
    assert len(bars) == 3  # a count of nothing has no column
    heights = {(e.get("class"), round(float(e.get("x", "0")))): float(e.get("height", "0")) for e in bars}
    tall = {place: sum(h for (_, x), h in heights.items() if x == place) for place in {x for _, x in heights}}
    assert len(set(tall.values())) == 1  # 1 + 3 and 4
    assert [e.find(f"{SVG}title").text for e in bars] == ["a: 1 x", "a: 3 y", "b: 4 x"]


def test_a_higher_bound_is_drawn_higher() -> None:
    root = _drawn(charts.curve([1, 2, 3], [0.9, 0.9, 0.9], [0.1, 0.5, 0.8], target=0.9, alt="x", axis="people"))
    squares = [float(e.get("y", "0")) for e in root.iter(f"{SVG}rect")]
    assert squares == sorted(squares, reverse=True)
    places = [float(e.get("cx", "0")) for e in root.iter(f"{SVG}circle")]
    assert places == sorted(places)


def test_ticks_are_round_and_inside() -> None:
    assert charts.ticks(0, 10) == [0, 5, 10]
    assert charts.ticks(0, 1, most=6) == [0, 0.2, 0.4, 0.6, 0.8, 1.0]
    assert charts.ticks(-0.31, 1.07, most=4) == [0, 0.5, 1.0]
    assert charts.ticks(3, 3) == [3]
    assert charts.ticks(float("nan"), 1) == []
    for high in (0.037, 1, 17, 999, 123456):
        found = charts.ticks(0, high)
        assert 2 <= len(found) <= 6
        assert found[-1] <= high * (1 + 1e-9)


def test_a_figure_has_its_interval_and_what_it_rests_on() -> None:
    assert str(figure(Number(0.7312, 0.68, 0.78, 122))) == (
        '<span class="v">0.73</span> <span class="ci">[0.68, 0.78]</span> <span class="n">n = 122</span>'
    )
    assert "73\N{NARROW NO-BREAK SPACE}%" in figure(Number(0.7312, 0.68, 0.78, 122), "percent")
    assert "[68, 78]" in figure(Number(0.7312, 0.68, 0.78, 122), "percent", of="checks")
    assert "n = 122 checks" in figure(Number(0.7312, 0.68, 0.78, 122), "percent", of="checks")
    assert "−1.3" in figure(Number(-1.31, -2.2, 0.1, 4))
    assert "–" in figure(Number.unknown("nobody <came>"))
    assert "nobody &lt;came&gt;" in figure(Number.unknown("nobody <came>"))
    assert "–" in figure(None)
    assert "0.70" in figure(Number(0.7, 0.2, 1.2, 3), places=2)


def test_numbers_and_times_in_words() -> None:
    assert fixed(1234567.0) == "1\N{NARROW NO-BREAK SPACE}234\N{NARROW NO-BREAK SPACE}567"
    assert fixed(-0.001, 1) == "0.0"
    assert fixed(None) == fixed(float("inf")) == "–"
    assert share(0.934) == "93\N{NARROW NO-BREAK SPACE}%"
    assert [lasting(s) for s in (0.4, 42, 119, 120, 7200, 36_000, 200_000, None)] == [
        "0 s", "42 s", "119 s", "2 min", "2.0 h", "10 h", "2.3 days", "–",
    ]  # fmt: skip
    assert ago(100.0, 102.0) == "just now"
    assert ago(100.0, 142.0) == "42 s ago"
    assert str(when(0.0)) == '<time datetime="1970-01-01T00:00:00Z">1970-01-01 00:00</time>'
    assert when(None) == "–"
    assert when(1e18) == "beyond the calendar"
    assert (plural(1, "sheet"), plural(12, "sheet"), plural(2, "person", "people")) == (
        "1 sheet",
        "12 sheets",
        "2 people",
    )

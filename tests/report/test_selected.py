"""The page of a selection, in the loop from pictures to HTML."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from paragone.images import write_image
from paragone.make.references.cards import Cards
from paragone.make.references.select import Selection, select
from paragone.report.selected import selection_page

HOSTILE = "<b>波 & co"


@pytest.fixture(scope="module")
def selection(tmp_path_factory: pytest.TempPathFactory) -> Selection:
    folder, rng = tmp_path_factory.mktemp("pool"), np.random.default_rng(0)
    for place in range(8):
        name = HOSTILE if place == 0 else f"p{place}"
        picture = place / 8 + rng.random((48, 64, 3)) / 8 * rng.random()
        write_image(picture.astype(np.float32), folder / f"{name}.png")
    card = {"factor": "style", "level": HOSTILE, "artist": HOSTILE, "category": "nature", "century": 19}
    return select(
        folder,
        number=3,
        cards=Cards(pl.DataFrame([card])),
        factor="style",
        balance=["category"],
        fixed=[HOSTILE],
        random=20,
    )


def test_the_page_shows_every_pick_with_its_card(selection: Selection, tmp_path: Path) -> None:
    html = selection_page(selection, tmp_path).read_text(encoding="utf-8")
    assert "<title>3 styles chosen from 8 pictures</title>" in html
    strip = html.partition("In the order of picking")[2].partition("</ul>")[0]
    assert strip.count("<img") == 3
    assert "1. &lt;b&gt;波 &amp; co: nature, low colour" in strip
    assert "kept by hand" in strip
    assert HOSTILE not in html


def test_every_point_of_the_pool_leads_to_a_row_and_its_picture(selection: Selection, tmp_path: Path) -> None:
    html = selection_page(selection, tmp_path).read_text(encoding="utf-8")
    links = re.findall(r'<a class="spot" href="#(p\d+)" data-picture="(p\d+)"', html)
    links += re.findall(r'class="spot" href="#(p\d+)" data-picture="(p\d+)"', html)
    assert links
    ids = set(re.findall(r'<img id="(p\d+)"', html))
    assert {row for row, _ in links} == {picture for _, picture in links} == ids
    assert len(ids) == 8


def test_figures_and_tables_lie_beside_the_page_under_its_name(selection: Selection, tmp_path: Path) -> None:
    selection_page(selection, tmp_path / "style.html")
    names = {path.name for path in (tmp_path / "figures").iterdir()}
    assert {"style-ranges.svg", "style-ranges.csv", "style-measures.csv", "style-pool.csv", "style-counts.csv"} <= names
    assert all(name.startswith("style-") for name in names)
    frame = pl.read_csv(tmp_path / "figures" / "style-ranges.csv")
    assert frame["place"].min() == 0
    assert frame["place"].max() == 1


def test_the_page_needs_no_network_and_repeats(selection: Selection, tmp_path: Path) -> None:
    first = selection_page(selection, tmp_path / "a.html").read_bytes()
    assert first == selection_page(selection, tmp_path / "a.html").read_bytes()
    outside = re.findall(rb'(?:src|href)="(?!data:|#|figures/)([^"]*)"', first)
    assert outside == []


def test_pictures_that_do_not_differ_still_make_a_page(tmp_path: Path) -> None:
    for name in "abc":
        write_image(np.full((32, 32, 3), 0.5, np.float32), tmp_path / f"{name}.png")
    html = selection_page(select(tmp_path, number=2, random=20), tmp_path / "page.html").read_text(encoding="utf-8")
    assert "which do not differ in any property" in html


def test_a_single_property_makes_a_page_without_scatter(selection: Selection, tmp_path: Path) -> None:
    made = select(selection.folder, number=2, using=["light"], random=20)
    html = selection_page(made, tmp_path).read_text(encoding="utf-8")
    assert "Covered range" in html


def test_a_large_pool_is_thinned_in_plots_and_whole_in_the_table(
    selection: Selection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.import_module("paragone.report.selected"), "_MOST_POINTS", 2)
    html = selection_page(selection, tmp_path / "few.html").read_text(encoding="utf-8")
    drawn = pl.read_csv(tmp_path / "figures" / "few-light-contrast.csv")
    assert drawn["order"].drop_nulls().sort().to_list() == [1, 2, 3]
    assert drawn["order"].null_count() == 1
    assert "n = 8 pictures, 4 of them drawn." in html
    assert pl.read_csv(tmp_path / "figures" / "few-pool.csv").height == 8

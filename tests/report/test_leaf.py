"""Pages of their own in the look of the report."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image

from paragone.errors import BadInput
from paragone.report.blocks import Cell, Head, Prose, Row, Section, Strip, Table, Tile
from paragone.report.leaf import leaf_path, thumbnails_of, write_leaf


def test_a_folder_gets_the_usual_name_and_another_ending_is_refused(tmp_path: Path) -> None:
    assert leaf_path(tmp_path, "selected.html") == tmp_path / "selected.html"
    assert leaf_path(tmp_path / "new", "selected.html") == tmp_path / "new" / "selected.html"
    assert leaf_path(tmp_path / "mine.HTML", "selected.html") == tmp_path / "mine.HTML"
    with pytest.raises(BadInput, match=r"mine.pdf' does not end in .html"):
        leaf_path(tmp_path / "mine.pdf", "selected.html")


def test_pictures_that_cannot_be_read_get_no_thumbnail(tmp_path: Path) -> None:
    Image.fromarray(np.zeros((300, 200, 3), np.uint8)).save(tmp_path / "a.png")
    (tmp_path / "b.png").write_bytes(b"no picture")
    made = thumbnails_of({"b": tmp_path / "b.png", "a": tmp_path / "a.png"})
    assert list(made) == ["a"]
    assert made["a"].startswith("data:image/jpeg;base64,")


def test_names_are_text_and_the_same_sections_give_the_same_bytes(tmp_path: Path) -> None:
    hostile = "<script>alert(1)</script>"
    frame = pl.DataFrame({"a": [1]})
    sections = [
        Section(
            "one",
            hostile,
            [
                Prose(hostile),
                Strip("strip", [Tile(hostile, "p0", hostile, "#p0")]),
                Table(
                    "t",
                    [Head("h", kind="text")],
                    [Row([Cell(hostile, picture="p0")])],
                    csv="figures/t.csv",
                    frame=frame,
                ),
            ],
        )
    ]
    sources = {hostile: "data:image/jpeg;base64,AAAA"}
    first = write_leaf(tmp_path / "page.html", sections, title=hostile, sources=sources).read_bytes()
    assert write_leaf(tmp_path / "page.html", sections, title=hostile, sources=sources).read_bytes() == first
    assert hostile.encode() not in first
    assert (tmp_path / "figures" / "t.csv").read_text(encoding="utf-8") == "a\n1\n"

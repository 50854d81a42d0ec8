"""Pictures of a page: who has a thumbnail, and where links lead."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from paragone.images import write_image
from paragone.report.blocks import Cell, Prose, Terms
from paragone.report.listed import Listed, how_section


@pytest.fixture
def listed(tmp_path: Path) -> Listed:
    write_image(np.full((4, 6, 3), 0.5, dtype=np.float32), tmp_path / "seen.png")
    (tmp_path / "broken.png").write_bytes(b"no picture")
    return Listed.of({"seen": tmp_path / "seen.png", "broken": tmp_path / "broken.png"})


def test_a_picture_that_is_none_has_a_row_and_no_thumbnail(listed: Listed) -> None:
    assert set(listed.sources) == {"seen"}
    assert (listed.picture("seen"), listed.picture("broken")) == ("p0", "")
    assert listed.link("broken") == "#p1"


def test_links_find_the_thumbnail_of_a_row_or_the_row_itself(listed: Listed) -> None:
    seen, broken = (listed.row(name, [Cell("3")]) for name in ("seen", "broken"))
    assert ([cell.text for cell in seen.cells], seen.cells[0].picture, seen.id) == (["seen", "3"], "p0", "")
    assert (broken.cells[0].picture, broken.id) == ("", "p1")


def test_a_tile_leads_to_its_row(listed: Listed) -> None:
    tile = listed.tile("seen", "grey")
    assert (tile.picture, tile.text, tile.href) == ("p0", "grey", "#p0")


def test_notes_are_paragraphs_before_the_terms() -> None:
    section = how_section("How", "All measured.", ["two were small"], [("si", "edges")])
    assert section.id == "how"
    assert list(section.blocks) == [Prose("All measured."), Prose("two were small."), Terms([("si", "edges")])]

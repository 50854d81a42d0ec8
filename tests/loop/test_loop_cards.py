"""The cards beside a benchmark, and what they make a contact sheet say."""

from __future__ import annotations

from pathlib import Path

import pytest

from make_world import MAKE, world
from paragone.errors import BadTable
from paragone.loop.carded import cards_beside, drawn_references
from paragone.loop.made import sheet_of, stylised

SAMPLED = MAKE.replace('"in/styles"\n', '"in/styles"\nsamples = ["mondrian"]\nlongest = 48\n').partition(
    "[method.brush]"
)[0]


def test_a_drawn_sample_is_named_on_the_contact_sheet(tmp_path: Path) -> None:
    folder = world(tmp_path / "bench", SAMPLED, contents=1, styles=1)
    stylised(folder)
    assert drawn_references(folder) == {("style", "mondrian")}
    page = sheet_of(folder, output=tmp_path / "sheet.html")[0].read_text()
    for html in (page, (folder / "contact.html").read_text()):
        assert 'no works of an artist: <span class="word">mondrian</span>' in html
        assert html.count("mondrian (drawn)</figcaption>") == 1
        assert "s1 (drawn)" not in html


def test_completed_cards_stand_above_those_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "references").mkdir()
    (tmp_path / "cards.csv").write_text("factor,level,source\nstyle,a,an album\nstyle,b,a museum\n")
    (tmp_path / "references" / "cards.csv").write_text("factor,level,source\nstyle,a,drawn by paragone\n")
    assert {key: card["source"] for key, card in cards_beside(tmp_path).items()} == {
        ("style", "a"): "drawn by paragone",
        ("style", "b"): "a museum",
    }
    assert drawn_references(tmp_path) == {("style", "a")}


def test_a_folder_without_cards_has_none_and_broken_ones_are_refused(tmp_path: Path) -> None:
    assert cards_beside(tmp_path) == {}
    (tmp_path / "cards.csv").write_text("factor,source\nstyle,b\n")
    with pytest.raises(BadTable, match="cards"):
        drawn_references(tmp_path)

"""A folder of pictures as a table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from paragone.errors import BadImage, BadInput, NotFound
from paragone.images import write_image
from paragone.make.references.cards import Cards
from paragone.make.references.pool import longer_side, named_pictures, picture_pool


def _paint(path: Path, side: int = 64) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return write_image(np.random.default_rng(side).random((side, side // 2, 3), dtype=np.float32), path)


def test_names_are_file_names_in_order_and_other_files_are_passed_over(tmp_path: Path) -> None:
    _paint(tmp_path / "b.png")
    _paint(tmp_path / "deep" / "波.PNG".lower())
    (tmp_path / "notes.txt").write_text("no picture")
    assert list(named_pictures(tmp_path)) == ["b", "波"]


def test_two_pictures_of_one_name_are_refused(tmp_path: Path) -> None:
    _paint(tmp_path / "a" / "x.png")
    _paint(tmp_path / "b" / "x.png")
    with pytest.raises(BadInput, match=r"'a/x.png' and 'b/x.png' have one name"):
        named_pictures(tmp_path)


def test_a_folder_without_pictures_is_said(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no picture in"):
        named_pictures(tmp_path)
    with pytest.raises(NotFound, match="no folder of pictures"):
        named_pictures(tmp_path / "nowhere")


def test_cards_are_found_in_the_folder_above(tmp_path: Path) -> None:
    _paint(tmp_path / "styles" / "x.png")
    _paint(tmp_path / "styles" / "y.png")
    Cards(pl.DataFrame({"factor": ["style"], "level": ["x"], "region": ["Asia"]})).write(tmp_path)
    made = picture_pool(tmp_path / "styles", factor="style")
    assert made.frame["region"].to_list() == ["Asia", None]
    assert made.frame["computed"].to_list() == ["colour detail"] * 2
    assert made.notes[0] == "1 of 2 pictures have no card of 'style': y"
    assert "2 of 2 pictures are smaller than the working size of 256 px" in made.notes[1]


def test_levels_are_computed_at_the_usual_size_only(tmp_path: Path) -> None:
    _paint(tmp_path / "x.png", 300)
    assert picture_pool(tmp_path, side=128).frame["colour"].to_list() == [None]
    assert picture_pool(tmp_path).frame["colour"].null_count() == 0
    assert picture_pool(tmp_path).notes == ()


def test_a_card_column_that_the_table_needs_is_refused(tmp_path: Path) -> None:
    _paint(tmp_path / "x.png")
    cards = Cards(pl.DataFrame({"factor": ["content"], "level": ["x"], "light": ["dim"]}))
    with pytest.raises(BadInput, match="column 'light' is a word of the selection itself"):
        picture_pool(tmp_path, cards=cards)


def test_a_broken_picture_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.png").write_bytes(b"no picture")
    with pytest.raises(BadImage, match=r"x.png: not a picture"):
        picture_pool(tmp_path)
    assert longer_side(tmp_path / "x.png") is None
    assert longer_side(_paint(tmp_path / "y.png", 80)) == 80

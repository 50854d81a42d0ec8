"""What a pack says of its pictures: their sizes as published, what was drawn by formula, what is known of rights."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from make_world import MAKE, drawn, world
from paragone.images import write_image
from paragone.make.building import build
from paragone.make.making import read_making
from paragone.make.packs.pack import Packed, pack
from paragone.make.packs.unpack import faults
from paragone.tables import read_table

REFERENCES = MAKE.partition("[method")[0].replace(
    '"in/styles"\n', '"in/styles"\nsamples = ["mondrian", "great-wave"]\n'
)
FOLDER = '[method.{align}]\nkind = "folder"\nroot = "ready"\nlayout = "content_stylized_style"\nalign = "{align}"\n\n'
ALIGNED = ("resize", "crop", "pad")
GIVEN = (64, 40)


@pytest.fixture
def sized(tmp_path: Path) -> Path:
    """Ready results, read by three methods: one of 64 x 40 pixels for a smaller content, and one that fits."""
    make = MAKE.partition("[method")[0] + "".join(FOLDER.format(align=align) for align in ALIGNED)
    folder = world(tmp_path / "bench", make, contents=1, styles=2)
    content = drawn(0)
    (folder / "ready").mkdir()
    rng = np.random.default_rng(5)
    for style, shape in (("s1", (GIVEN[1], GIVEN[0], 3)), ("s2", content.shape)):
        write_image(rng.random(shape, dtype=np.float32), folder / f"ready/c1_stylized_{style}.png")
    build(read_making(folder / "make.toml"), folder)
    return folder


def made_of(folder: Path) -> pl.DataFrame:
    return read_table(folder / "made.csv").sort("method", "style")


@pytest.mark.parametrize("form", ["both sizes", "only the size that was given", "no sizes"])
def test_a_pack_states_the_size_of_the_picture_as_it_is_published(sized: Path, tmp_path: Path, form: str) -> None:
    cells = read_table(sized / "cells.csv")
    if form != "both sizes":
        sizes = ["width", "height", "given_width", "given_height"]
        old = cells.with_columns(width="given_width", height="given_height").drop("given_width", "given_height")
        (old if form == "only the size that was given" else cells.drop(sizes)).write_csv(sized / "cells.csv")
    pack(sized, tmp_path / "pack")
    height, width, _ = drawn(0).shape
    told = made_of(tmp_path / "pack")
    assert (set(told["width"]), set(told["height"])) == ({str(width)}, {str(height)})
    brought = told.filter(pl.col("style") == "s1")
    assert brought["aligned"].to_list() == ["crop", "pad", "resize"]
    assert set(brought["given_width"]) == {str(GIVEN[0])}
    assert set(brought["given_height"]) == {str(GIVEN[1])}
    assert told.filter(pl.col("style") == "s2")["aligned"].null_count() == 3
    card = (tmp_path / "pack/README.md").read_text(encoding="utf-8")
    for method, words in (
        ("resize", "resized, each side"),
        ("crop", "cropped in the centre"),
        ("pad", "resized and padded"),
    ):
        assert f"| {method} | {width} | {height} |" in card
        assert f"| {method} | {GIVEN[0]} | {GIVEN[1]} |" not in card
        rows = [line for line in card.splitlines() if line.startswith(f"| {method} | {words}")]
        assert [row.endswith(f"| {GIVEN[0]} x {GIVEN[1]} | {width} x {height} | 1 |") for row in rows] == [True]
    assert faults(tmp_path / "pack") == []


def test_what_was_given_is_told_without_records_too(sized: Path, tmp_path: Path) -> None:
    for record in (sized / "results").rglob("*.json"):
        record.unlink()
    cells = read_table(sized / "cells.csv")
    cells.with_columns(width="given_width", height="given_height").drop("given_width", "given_height").write_csv(
        sized / "cells.csv"
    )
    pack(sized, tmp_path / "pack")
    height, width, _ = drawn(0).shape
    told = made_of(tmp_path / "pack").filter(pl.col("style") == "s1")
    assert set(told["width"]) == {str(width)}
    assert set(told["given_width"]) == {str(GIVEN[0])}
    row = f"| pad | not said | {GIVEN[0]} x {GIVEN[1]} | {width} x {height} | 1 |"
    assert row in (tmp_path / "pack/README.md").read_text(encoding="utf-8")


def test_cells_without_a_picture_have_no_size_but_what_was_given(sized: Path, tmp_path: Path) -> None:
    make = (sized / "make.toml").read_text(encoding="utf-8").replace('align = "pad"', 'align = "exact"')
    (sized / "make.toml").write_text(make, encoding="utf-8")
    build(read_making(sized / "make.toml"), sized)
    pack(sized, tmp_path / "pack")
    row = made_of(tmp_path / "pack").filter(pl.col("status") == "wrong_size").row(0, named=True)
    assert (row["width"], row["height"], row["aligned"]) == (None, None, None)
    assert (row["given_width"], row["given_height"]) == tuple(map(str, GIVEN))


def sampled(tmp_path: Path, more: str = "") -> tuple[Path, Packed, str]:
    """A benchmark of one content, a style and two drawn samples; its pack, and the pack's card."""
    make = REFERENCES.replace("samples", "longest = 40\nsamples") + "[method.reinhard]\nkind = 'styliser'\n"
    folder = world(tmp_path / "bench", make, contents=1, styles=1)
    if more:
        (folder / "cards.csv").write_text(more, encoding="utf-8")
    build(read_making(folder / "make.toml"), folder)
    packed = pack(folder, tmp_path / "pack")
    return folder, packed, (tmp_path / "pack/README.md").read_text(encoding="utf-8")


def test_references_drawn_by_formula_are_named_on_the_card(tmp_path: Path) -> None:
    _, packed, card = sampled(tmp_path, "factor,level,licence\ncontent,c1,CC0\nstyle,s1,CC BY 4.0\n")
    assert "- mondrian: drawn by formula after the manner of Mondrian; no work of an artist" in card
    assert "- great-wave: drawn by formula after the manner of the Great Wave; no work of an artist" in card
    assert "s1: drawn" not in card
    assert "- 2 pictures drawn by formula, references all (mondrian, great-wave): output of paragone" in card
    assert "- 1 pictures: CC0" in card
    assert "- 3 results: no licence of their own is named; they derive from their references" in card
    assert "no licence is known" not in card
    assert (packed.unlicensed, packed.derived) == (0, 3)
    assert packed.text.endswith("\n3 results: the licences of their references hold; none is their own")
    told = read_table(tmp_path / "pack/licences.csv")
    assert told.filter(pl.col("kind").is_in(["item", "style"]))["licence"].to_list() == [
        *[None] * 3,
        "CC BY 4.0",
        None,
        None,
    ]


def test_results_of_references_without_a_licence_stay_unknown(tmp_path: Path) -> None:
    _, packed, card = sampled(tmp_path, "factor,level,licence\ncontent,c1,CC0\n")
    assert (packed.unlicensed, packed.derived) == (2, 2)  # s1 and what was made after it
    assert "- 2 pictures: no licence is known; ask before you use them" in card


@pytest.mark.parametrize("source", ["", "an album"])
def test_words_of_the_own_cards_do_not_hide_that_a_picture_was_drawn(tmp_path: Path, source: str) -> None:
    folder, _, _ = sampled(tmp_path)
    (folder / "cards.csv").write_text(
        f"factor,level,marks,source\nstyle,mondrian,black lines,{source}\n", encoding="utf-8"
    )
    pack(folder, tmp_path / "again")
    assert "- mondrian: drawn by formula" in (tmp_path / "again/README.md").read_text(encoding="utf-8")


def test_a_licence_of_the_whole_holds_for_drawn_pictures_too(tmp_path: Path) -> None:
    folder, _, _ = sampled(tmp_path)
    toml = folder / "benchmark.toml"
    toml.write_text(toml.read_text(encoding="utf-8").replace('licence = ""', 'licence = "CC0"'), encoding="utf-8")
    assert pack(folder, tmp_path / "again").unlicensed == 0
    card = (tmp_path / "again/README.md").read_text(encoding="utf-8")
    assert "- 7 pictures: CC0" in card
    assert "- mondrian: drawn by formula" in card
    assert "no licence is named" not in card

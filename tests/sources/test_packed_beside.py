"""What goes along when a pack is imported: cards, rights, how it was made; and what a second pack says of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from make_world import MAKE, world
from paragone.errors import BadInput, WouldOverwrite
from paragone.loop.build import import_into
from paragone.loop.carded import cards_beside, drawn_references
from paragone.loop.made import sheet_of
from paragone.make.building import build
from paragone.make.making import read_making
from paragone.make.packs.pack import pack
from paragone.make.packs.packing import Packing
from paragone.sources.packed import read_packed
from paragone.tables import read_table

LAYOUTS = ("imagefolder", "parquet", "webdataset")
SAMPLED = MAKE.replace('"in/styles"\n', '"in/styles"\nsamples = ["mondrian"]\nlongest = 48\n').partition(
    "[method.brush]"
)[0]
TABLES = ("cards.csv", "references/cards.csv", "licences.csv", "made.csv")


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    """A benchmark with a drawn reference, a licence for another, and words on its pictures."""
    folder = world(tmp_path / "bench", SAMPLED, contents=1, styles=1)
    (folder / "cards.csv").write_text("factor,level,licence\nstyle,s1,CC0\n", encoding="utf-8")
    (folder / "PICTURES.md").write_text("Rights.", encoding="utf-8")
    build(read_making(folder / "make.toml"), folder)
    return folder


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_pack_of_an_imported_pack_tells_the_same(bench: Path, tmp_path: Path, layout: Any) -> None:
    pack(bench, tmp_path / "one", Packing(layout=layout))
    import_into("packed", tmp_path / "one", tmp_path / "out")
    pack(tmp_path / "out", tmp_path / "two", Packing(layout=layout))
    for name in TABLES:
        assert read_table(tmp_path / "two" / name).equals(read_table(tmp_path / "one" / name)), name
    for name in ("README.md", "PICTURES.md", "manifest.sha256"):
        assert (tmp_path / "two" / name).read_bytes() == (tmp_path / "one" / name).read_bytes(), name


def test_a_drawn_reference_stays_drawn_on_the_sheet_of_an_import(bench: Path, tmp_path: Path) -> None:
    pack(bench, tmp_path / "pack")
    found, written = import_into("packed", tmp_path / "pack", tmp_path / "out")
    assert cards_beside(tmp_path / "out") == cards_beside(bench)
    assert drawn_references(tmp_path / "out") == {("style", "mondrian")}
    assert "mondrian (drawn)</figcaption>" in sheet_of(tmp_path / "out")[0].read_text(encoding="utf-8")
    assert found.notes == ("layout imagefolder; licences.csv says what is known of the rights in each picture",)
    assert {tmp_path / "out" / name for name in TABLES} <= set(written)
    files = read_table(tmp_path / "out/licences.csv")["file"]
    assert all((tmp_path / "out" / file).is_file() for file in files)


def test_the_reader_brings_the_same_along(bench: Path, tmp_path: Path) -> None:
    pack(bench, tmp_path / "pack", Packing(layout="parquet"))
    read_packed(tmp_path / "pack", into=tmp_path / "out")
    assert all((tmp_path / "out" / name).read_bytes() == (tmp_path / "pack" / name).read_bytes() for name in TABLES)


@pytest.mark.parametrize("ending", [".csv", ".toml", ".draws.parquet"])
def test_what_lies_where_scores_of_a_pack_go_is_asked_for_before_a_picture_is_taken_out(
    bench: Path, tmp_path: Path, ending: str
) -> None:
    (bench / "scores").mkdir()
    (bench / "scores" / "blur.csv").write_text("item,score\nreinhard/c1/s1,1\n", encoding="utf-8")
    pack(bench, tmp_path / "pack", Packing(scores=True))
    mine = tmp_path / "out" / "scores" / f"blur{ending}"
    mine.parent.mkdir(parents=True)
    mine.write_bytes(b"mine")
    with pytest.raises(WouldOverwrite, match=rf"blur{ending}' exists; --force replaces it"):
        import_into("packed", tmp_path / "pack", tmp_path / "out")
    assert [path for path in (tmp_path / "out").rglob("*") if path.is_file()] == [mine]


@pytest.mark.parametrize("name", [*TABLES, "PICTURES.md"])
def test_what_is_there_is_asked_for_before_anything_is_written(bench: Path, tmp_path: Path, name: str) -> None:
    pack(bench, tmp_path / "pack")
    target = tmp_path / "out" / name
    target.parent.mkdir(parents=True)
    target.write_bytes(b"mine")
    with pytest.raises(WouldOverwrite, match=rf"{name.rpartition('/')[2]}' exists; --force replaces it"):
        import_into("packed", tmp_path / "pack", tmp_path / "out")
    assert [path for path in (tmp_path / "out").rglob("*") if path.is_file()] == [target]
    assert target.read_bytes() == b"mine"
    import_into("packed", tmp_path / "pack", tmp_path / "out", force=True)
    assert target.read_bytes() == (tmp_path / "pack" / name).read_bytes()


def test_a_place_that_cannot_take_a_file_is_said_before_pictures_are_taken_out(bench: Path, tmp_path: Path) -> None:
    pack(bench, tmp_path / "pack")
    (tmp_path / "out").mkdir()
    (tmp_path / "out/references").write_bytes(b"mine")
    (tmp_path / "far/made.csv").mkdir(parents=True)
    for force in (False, True):
        with pytest.raises(
            WouldOverwrite, match=r"references' is no folder, and 'cards\.csv' of the pack would go into"
        ):
            import_into("packed", tmp_path / "pack", tmp_path / "out", force=force)
        with pytest.raises(WouldOverwrite, match=r"made\.csv' is a folder, and a file of the pack would go there"):
            import_into("packed", tmp_path / "pack", tmp_path / "far", force=force)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["references"]
    assert [path.name for path in (tmp_path / "far").iterdir()] == ["made.csv"]


def test_licences_name_the_pictures_from_where_the_tables_go(bench: Path, tmp_path: Path) -> None:
    pack(bench, tmp_path / "pack")
    import_into("packed", tmp_path / "pack", tmp_path / "out", options={"into": tmp_path / "pictures"})
    files = read_table(tmp_path / "out/licences.csv")["file"]
    assert files[0].startswith("../pictures/data/test/")
    assert all((tmp_path / "out" / file).is_file() for file in files)


def test_a_pack_is_imported_where_it_lies(bench: Path, tmp_path: Path) -> None:
    pack(bench, tmp_path / "pack")
    before = {name: (tmp_path / "pack" / name).read_bytes() for name in TABLES}
    import_into("packed", tmp_path / "pack", tmp_path / "pack", force=True)
    assert {name: (tmp_path / "pack" / name).read_bytes() for name in TABLES} == before


def test_cards_that_lead_out_of_a_pack_are_not_followed(bench: Path, tmp_path: Path) -> None:
    pack(bench, tmp_path / "pack")
    (tmp_path / "secret").write_bytes(b"key")
    (tmp_path / "pack/licences.csv").unlink()
    (tmp_path / "pack/licences.csv").symlink_to(tmp_path / "secret")
    with pytest.raises(BadInput, match=r"'licences\.csv' is a link that leads out of the pack"):
        import_into("packed", tmp_path / "pack", tmp_path / "out")
    assert not (tmp_path / "out").exists()

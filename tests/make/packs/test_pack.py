"""Packing a benchmark, and what comes back."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from installed import lacking
from paragone.benchmark import Benchmark
from paragone.errors import BadConfig, BadInput, BadTable, NotFound, UnknownName, WouldOverwrite
from paragone.images import write_image
from paragone.make.packs.card_page import licence_tag
from paragone.make.packs.pack import MANIFEST, pack
from paragone.make.packs.packing import Packing, safe_names
from paragone.make.packs.unpack import faults
from paragone.sources.packed import SOURCE, read_packed

LAYOUTS = ("imagefolder", "parquet", "webdataset")
METHODS = ("photo of a train", "test tubes", "v1.5", "北斎")
STYLES = ("001", "Café/Terrace")


def picture(path: Path, seed: int) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return write_image(np.random.default_rng(seed).random((12, 16, 3), dtype=np.float32), path)


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    """Names that trap readers: words for splits, dots, ids that look like numbers, letters that are not Latin."""
    folder = tmp_path / "bench"
    rows = []
    for k, method in enumerate(METHODS):
        for j, style in enumerate(STYLES):
            image = f"results/{method} {j}.png"
            picture(folder / image, 10 * k + j)
            rows.append({"item": f"{method}/{style}", "image": image, "method": method, "style": style, "note": None})
    rows.append({"item": "v1.5/none", "image": None, "method": "v1.5", "style": "001", "note": 'NA, "quoted"'})
    references = []
    for j, style in enumerate(STYLES):
        picture(folder / f"styles/{j}.PNG", 100 + j)
        references.append({"factor": "style", "level": style, "image": f"styles/{j}.PNG", "licence": ["CC0", None][j]})
    Benchmark(
        pl.DataFrame(rows),
        pl.DataFrame(references),
        name='Trap "names": all',
        criteria=("overall",),
        description="Eight pictures\nin two lines.",
        licence="CC BY 4.0",
    ).write(folder)
    return folder


def bytes_of(benchmark: Benchmark) -> dict[str, str]:
    """Item, or factor and level -> digest of its picture."""
    items = {item: image for item, image in benchmark.items.select("item", "image").iter_rows() if image}
    shown = {
        f"{factor}/{level}": image
        for factor, level, image in benchmark.references.select(["factor", "level", "image"]).iter_rows()
    }
    return {
        name: hashlib.sha256((benchmark.folder / image).read_bytes()).hexdigest()
        for name, image in (items | shown).items()
    }


@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_is_packed_comes_back_equal(bench: Path, tmp_path: Path, layout: str) -> None:
    before = Benchmark.read(bench)
    packed = pack(bench, tmp_path / "pack", Packing(layout=layout))  # type: ignore[arg-type]
    assert faults(tmp_path / "pack") == []
    again = read_packed(tmp_path / "pack", into=tmp_path / "out")
    assert again.items.drop("image").equals(before.items.drop("image"))
    assert again.references.drop("image").equals(before.references.drop("image"))
    assert (again.name, again.criteria, again.description, again.licence, again.simulated) == (
        before.name,
        before.criteria,
        before.description,
        before.licence,
        before.simulated,
    )
    assert bytes_of(again) == bytes_of(before)
    assert Benchmark.read(tmp_path / "out").items.equals(again.items)
    assert (packed.pictures, packed.references, packed.without) == (8, 2, 1)
    assert packed.files == sum(path.is_file() for path in (tmp_path / "pack").rglob("*"))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_packing_twice_gives_the_same_bytes(bench: Path, tmp_path: Path, layout: str) -> None:
    for name in ("one", "two"):
        pack(bench, tmp_path / name, Packing(layout=layout))  # type: ignore[arg-type]
    assert (tmp_path / "one" / MANIFEST).read_text() == (tmp_path / "two" / MANIFEST).read_text()


def test_an_image_folder_is_a_benchmark_as_it_is(bench: Path, tmp_path: Path) -> None:
    pack(bench, tmp_path / "pack")
    here = Benchmark.read(tmp_path / "pack")
    assert bytes_of(here) == bytes_of(Benchmark.read(bench))
    assert all(
        set(image) <= set("abcdefghijklmnopqrstuvwxyz0123456789-_/.") for image in here.items["image"].drop_nulls()
    )


def test_the_manifest_is_what_sha256sum_reads(bench: Path, tmp_path: Path) -> None:
    if shutil.which("sha256sum") is None:
        lacking("no sha256sum on this machine")
    pack(bench, tmp_path / "pack")
    told = subprocess.run(["sha256sum", "--check", "--strict", MANIFEST], cwd=tmp_path / "pack", capture_output=True)
    assert told.returncode == 0


def test_the_licence_of_every_picture_is_carried_along(bench: Path, tmp_path: Path) -> None:
    pack(bench, tmp_path / "pack")
    told = pl.read_csv(tmp_path / "pack/licences.csv", infer_schema=False)
    assert told.filter(pl.col("kind") == "style")["licence"].to_list() == ["CC0", "CC BY 4.0"]
    assert set(told.filter(pl.col("kind") == "item")["licence"]) == {"CC BY 4.0"}
    assert set(told["file"]) == {
        path.relative_to(tmp_path / "pack").as_posix() for path in (tmp_path / "pack/data").rglob("*.png")
    }


def test_cards_beside_the_benchmark_tell_licences_and_sources(bench: Path, tmp_path: Path) -> None:
    held = Benchmark.read(bench)
    replace(held, references=held.references.drop("licence")).write(bench)
    (bench / "references").mkdir()
    cards = "factor,level,licence,source,artist\nstyle,001,public domain,Rijksmuseum,Hokusai\n"
    (bench / "references/cards.csv").write_text(cards, encoding="utf-8")
    pack(bench, tmp_path / "pack")
    row = (
        pl.read_csv(tmp_path / "pack/licences.csv", infer_schema=False).filter(pl.col("of") == "001").row(0, named=True)
    )
    assert (row["licence"], row["source"], row["artist"]) == ("public domain", "Rijksmuseum", "Hokusai")


def test_the_card_says_what_is_left_out_and_what_scores_do_not_support(bench: Path, tmp_path: Path) -> None:
    held = Benchmark.read(bench)
    broken = held.items.with_columns(pl.when(pl.col("item") == "v1.5/001").then(pl.lit("v1.5/none")).alias("broken_of"))
    replace(held, items=broken, simulated=True).write(bench)
    (bench / "cells.csv").write_text("item,status\nv1.5/none,refused\nv1.5/001,ok\n", encoding="utf-8")
    pack(
        bench,
        tmp_path / "pack",
        Packing(excluded="Styles that are no paintings.", unsupported="No ranking of artists."),
    )
    card = (tmp_path / "pack/README.md").read_text(encoding="utf-8")
    for said in (
        "Styles that are no paintings.",
        "No ranking of artists.",
        "**Simulated.**",
        "1 items have no picture (1 refused)",
        "1 items are sound ones damaged on purpose",
        "The pack holds no scores",
        "license: cc-by-4.0",
        "8 pictures of 9 items",
    ):
        assert said in card, said


def test_how_cells_were_made_goes_along_without_the_paths_of_who_made_them(bench: Path, tmp_path: Path) -> None:
    told = "item,status,reason,method,steps,digest\nv1.5/001,ok,,v1.5,30,abc\nv1.5/none,failed,no /home/me/x,v1.5,,\n"
    (bench / "generated.csv").write_text(told, encoding="utf-8")
    (bench / "PICTURES.md").write_text("Rights.", encoding="utf-8")
    pack(bench, tmp_path / "pack")
    made = pl.read_csv(tmp_path / "pack/made.csv", infer_schema=False)
    assert made.columns == ["item", "status", "method", "steps", "digest"]
    assert (tmp_path / "pack/PICTURES.md").read_text(encoding="utf-8") == "Rights."
    card = (tmp_path / "pack/README.md").read_text(encoding="utf-8")
    assert "| method | steps | digest |\n|---|---|---|\n| v1.5 | 30 | abc |" in card
    assert "(1 failed)" in card
    assert not any(b"/home/me" in path.read_bytes() for path in (tmp_path / "pack").rglob("*") if path.is_file())
    assert faults(tmp_path / "pack") == []


def test_broken_versions_can_be_left_out(bench: Path, tmp_path: Path) -> None:
    held = Benchmark.read(bench)
    marked = held.items.with_columns(pl.when(pl.col("method") == "v1.5").then(pl.lit("x")).alias("broken_of"))
    replace(held, items=marked).write(bench)
    packed = pack(bench, tmp_path / "pack", Packing(broken=False))
    assert packed.pictures == 6
    assert set(read_packed(tmp_path / "pack").items["method"]) == set(METHODS) - {"v1.5"}


def test_scores_and_answers_go_along_when_asked_for(bench: Path, tmp_path: Path) -> None:
    (bench / "scores").mkdir()
    (bench / "scores/mos.csv").write_text("item,criterion,score\nv1.5/001,overall,3.5\n", encoding="utf-8")
    (bench / "ratings.csv").write_text("participant,item,value\np1,v1.5/001,3\n", encoding="utf-8")
    pack(bench, tmp_path / "pack", Packing(scores=True, answers=True))
    assert (tmp_path / "pack/scores/mos.csv").read_bytes() == (bench / "scores/mos.csv").read_bytes()
    assert faults(tmp_path / "pack") == []
    card = (tmp_path / "pack/README.md").read_text(encoding="utf-8")
    assert "A score orders the pictures of this set" in card
    assert "do not try to find out who gave them" in card


@pytest.mark.parametrize(
    ("asked", "said"), [("scores", "there are no scores in"), ("answers", "there is no votes.csv or")]
)
def test_what_is_not_there_cannot_go_along(bench: Path, tmp_path: Path, asked: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        pack(bench, tmp_path / "pack", Packing(**{asked: True}))
    assert not (tmp_path / "pack").exists()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_levels_of_a_factor_become_splits(bench: Path, tmp_path: Path, layout: str) -> None:
    pack(bench, tmp_path / "pack", Packing(layout=layout, split="style"))  # type: ignore[arg-type]
    assert faults(tmp_path / "pack") == []
    again = read_packed(tmp_path / "pack", into=tmp_path / "out")
    assert bytes_of(again) == bytes_of(Benchmark.read(bench))
    names = {path.name.split("-0")[0] for path in (tmp_path / "pack/data").iterdir()}
    assert names - {"references"} == {"001", "cafe__terrace"}


def test_a_split_that_cannot_be_is_refused(bench: Path, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="no factor 'styel'; did you mean 'style'"):
        pack(bench, tmp_path / "pack", Packing(split="styel"))
    with pytest.raises(BadConfig, match=r"split 'note': item .* has no level of it"):
        pack(bench, tmp_path / "pack", Packing(split="note"))


@pytest.mark.parametrize("layout", ["parquet", "webdataset"])
def test_large_packs_are_cut_into_shards(
    bench: Path, tmp_path: Path, layout: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Benchmark.read(bench)
    for image in held.items["image"].drop_nulls():
        write_image(np.random.default_rng(0).random((400, 500, 3), dtype=np.float32), bench / image)  # 0.6 MiB each
    pack(bench, tmp_path / "pack", Packing(layout=layout, shard_mib=2))  # type: ignore[arg-type]
    assert len([path for path in (tmp_path / "pack/data").iterdir() if path.name.startswith("test-")]) == 3
    assert faults(tmp_path / "pack") == []


def test_tar_headers_say_nothing_of_when_and_by_whom(bench: Path, tmp_path: Path) -> None:
    pack(bench, tmp_path / "pack", Packing(layout="webdataset"))
    with tarfile.open(tmp_path / "pack/data/test-000000.tar") as tar:
        members = tar.getmembers()
    assert {(one.mtime, one.uid, one.gid, one.uname, one.gname, one.mode) for one in members} == {
        (0, 0, 0, "", "", 0o644)
    }
    assert len(members) == 16
    assert all(one.name.count(".") == 1 for one in members)


def test_ids_become_safe_file_names() -> None:
    made = safe_names(["Adain/Great Wave", "v1.5", "Café", "北斎", "北", "a" * 200, "ok-1_2", "__x/"], "items")
    assert list(made.values())[:3] == ["adain__great-wave", "v1-5", "cafe"]
    assert made["ok-1_2"] == "ok-1_2"
    assert made["北斎"] != made["北"]
    assert made["__x/"] == "x__x"
    assert len(made["a" * 200]) <= 120
    assert all(set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-_") for name in made.values())


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8), unique=True, max_size=6))
@settings(max_examples=200, deadline=None)
def test_any_ids_have_names_of_their_own_whatever_their_order(ids: list[str]) -> None:
    made = safe_names(ids, "items")
    assert list(made) == ids
    assert made == safe_names(reversed(ids), "items")
    assert len(set(made.values())) == len(ids)
    assert all(re.fullmatch("[a-z0-9][a-z0-9_-]*", name) for name in made.values())


def test_what_fails_half_way_leaves_the_old_pack_and_nothing_else(
    bench: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack(bench, tmp_path / "pack")
    before = (tmp_path / "pack" / MANIFEST).read_bytes()

    def full(frame: pl.DataFrame, path: Path) -> Path:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr("paragone.make.packs.pack.write_table", full)
    with pytest.raises(OSError, match="No space left"):
        pack(bench, tmp_path / "pack", Packing(layout="parquet"), force=True)
    assert (tmp_path / "pack" / MANIFEST).read_bytes() == before
    assert faults(tmp_path / "pack") == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bench", "pack"]


@pytest.mark.parametrize(
    ("one", "other"), [("A", "a"), ("a b", "a.b"), ("Café", "cafe"), ("m/#x/*", "m/x/x"), ("m/#x/*", "m/*/#x")]
)
def test_ids_that_would_have_one_name_end_in_their_digests(one: str, other: str) -> None:
    made = safe_names([one, other, "far"], "items")
    assert made["far"] == "far"
    stems = {re.fullmatch(r"(.+)-[0-9a-f]{8}", made[name])[1] for name in (one, other)}  # type: ignore[index]
    assert len(stems) == 1
    assert made[one] != made[other]


def test_an_id_that_is_anothers_name_with_its_digest_has_a_longer_one() -> None:
    trap = safe_names(["A", "a"], "items")["a"]
    made = safe_names(["A", "a", trap], "items")
    assert len(set(made.values())) == 3
    assert re.fullmatch(r"a-[0-9a-f]{32}", made["a"])
    assert made["A"] == safe_names(["A", "a"], "items")["A"]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_items_whose_names_would_be_equal_are_packed_and_keep_their_ids(
    bench: Path, tmp_path: Path, layout: str
) -> None:
    held = Benchmark.read(bench)
    ids = ["m/#x/*", "m/x/x", "M/X/X", *held.items["item"][3:]]
    replace(held, items=held.items.with_columns(pl.Series("item", ids))).write(bench)
    pack(bench, tmp_path / "pack", Packing(layout=layout))  # type: ignore[arg-type]
    assert faults(tmp_path / "pack") == []
    again = read_packed(tmp_path / "pack", into=tmp_path / "out")
    assert again.items["item"].to_list() == ids
    assert bytes_of(again) == bytes_of(Benchmark.read(bench))


def test_missing_and_damaged_pictures_are_all_named(bench: Path, tmp_path: Path) -> None:
    (bench / "results/v1.5 0.png").unlink()
    (bench / "results/v1.5 1.png").write_bytes(b"")
    with pytest.raises(BadTable) as told:
        pack(bench, tmp_path / "pack")
    assert len(told.value.faults) == 2
    assert not (tmp_path / "pack").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["bench"]


def test_a_benchmark_without_pictures_is_no_pack(bench: Path, tmp_path: Path) -> None:
    held = Benchmark.read(bench)
    bare = replace(held, items=held.items.with_columns(pl.lit(None, dtype=pl.String).alias("image")))
    with pytest.raises(BadInput, match="has no picture to pack"):
        pack(bare, tmp_path / "pack")


def test_a_factor_named_as_a_column_of_pictures_is_refused(bench: Path, tmp_path: Path) -> None:
    held = Benchmark.read(bench)
    with pytest.raises(BadInput, match="factor 'style_image' has the name of a column of pictures"):
        pack(replace(held, items=held.items.rename({"note": "style_image"})), tmp_path / "pack")


def test_only_a_pack_is_replaced_and_only_when_asked(bench: Path, tmp_path: Path) -> None:
    pack(bench, tmp_path / "pack")
    with pytest.raises(WouldOverwrite, match="--force replaces a pack"):
        pack(bench, tmp_path / "pack")
    pack(bench, tmp_path / "pack", Packing(layout="parquet"), force=True)
    assert not list((tmp_path / "pack").rglob("*.png"))
    with pytest.raises(WouldOverwrite, match="is no pack, so it is not replaced"):
        pack(bench, bench, force=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bench", "pack"]


@pytest.mark.parametrize("name", [".git/HEAD", "notes.txt", "data/mine.txt"])
def test_a_pack_with_somebodys_files_in_it_is_not_replaced(bench: Path, tmp_path: Path, name: str) -> None:
    pack(bench, tmp_path / "pack")
    (tmp_path / "pack/.DS_Store").write_bytes(b"x")
    (tmp_path / "pack" / name).parent.mkdir(exist_ok=True)
    (tmp_path / "pack" / name).write_bytes(b"mine")
    said = ".git/" if name.startswith(".git") else name
    with pytest.raises(WouldOverwrite, match=f"pack' holds {re.escape(said)}, not of the pack; move that away"):
        pack(bench, tmp_path / "pack", force=True)
    assert (tmp_path / "pack" / name).read_bytes() == b"mine"
    (tmp_path / "pack" / name).unlink()
    pack(bench, tmp_path / "pack", force=True)
    assert faults(tmp_path / "pack") == []


def test_a_link_to_a_pack_stays_a_link(bench: Path, tmp_path: Path) -> None:
    pack(bench, tmp_path / "far/pack")
    (tmp_path / "near").symlink_to(tmp_path / "far/pack")
    pack(bench, tmp_path / "near", Packing(layout="parquet"), force=True)
    assert (tmp_path / "near").is_symlink()
    assert list((tmp_path / "far/pack/data").glob("test-*.parquet"))
    assert [path.name for path in (tmp_path / "far").iterdir()] == ["pack"]


def test_pictures_without_a_known_licence_are_counted(bench: Path, tmp_path: Path) -> None:
    assert "licence" not in pack(bench, tmp_path / "told").text
    replace(Benchmark.read(bench), licence="").write(bench)
    packed = pack(bench, tmp_path / "pack")
    assert packed.unlicensed == 5  # the one of two references that names none, and the four items made after it
    assert packed.derived == 4
    assert packed.text.endswith("\n5 pictures: no licence is known")


def test_pictures_inside_of_files_need_a_folder_to_go_to(bench: Path, tmp_path: Path) -> None:
    pack(bench, tmp_path / "pack", Packing(layout="parquet"))
    with pytest.raises(BadConfig, match="the pictures of 'pack' lie inside of parquet files; give a folder"):
        read_packed(tmp_path / "pack")
    with pytest.raises(NotFound, match=r"holds no pack\.toml, so it is no pack"):
        read_packed(bench)


def test_the_importer_knows_a_pack_and_reads_what_went_along(bench: Path, tmp_path: Path) -> None:
    (bench / "ratings.csv").write_text("participant,item,value\np1,v1.5/001,3\n", encoding="utf-8")
    pack(bench, tmp_path / "pack", Packing(answers=True))
    assert SOURCE.fits(tmp_path / "pack")
    assert not SOURCE.fits(bench)
    found = SOURCE.read(tmp_path / "pack")
    assert found.benchmark is not None
    assert found.benchmark.items.height == 9
    assert found.ratings is not None
    assert found.votes is None


def test_the_importer_takes_pictures_out_and_leaves_tables_to_who_asked(bench: Path, tmp_path: Path) -> None:
    pack(bench, tmp_path / "pack", Packing(layout="webdataset"))
    found = SOURCE.read(tmp_path / "pack", into=tmp_path / "out")
    assert found.benchmark is not None
    assert bytes_of(found.benchmark) == bytes_of(Benchmark.read(bench))
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["data"]


Harm = Callable[[Path], object]


def _croissant(folder: Path, part: int = 0, **wrong: object) -> None:
    """croissant.json with other values: of a part of its distribution, or of the whole."""
    made = json.loads((folder / "croissant.json").read_text(encoding="utf-8"))
    (made if "recordSet" in wrong else made["distribution"][part]).update(wrong)
    (folder / "croissant.json").write_text(json.dumps(made), encoding="utf-8")


def _swapped(path: Path, target: Path | None) -> None:
    """A link to the target in place of a file; None: a folder."""
    path.unlink()
    if target is None:
        path.mkdir()
    else:
        path.symlink_to(target)


def _first(folder: Path) -> Path:
    return sorted((folder / "data/test/images").glob("*.png"))[0]


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (lambda folder: _first(folder).unlink(), "the picture of item 'photo of a train/001' is missing"),
        (lambda folder: _first(folder).write_bytes(b"x"), "has changed"),
        (lambda folder: (folder / "data/more.png").write_bytes(b"x"), f"data/more.png is not in {MANIFEST}"),
        (lambda folder: (folder / MANIFEST).unlink(), f"{MANIFEST} is missing"),
        (lambda folder: (folder / MANIFEST).write_text("what"), f"{MANIFEST}, line 1: not a digest and a name"),
        (lambda folder: (folder / "items.csv").write_text("item,image\na,\n"), "items.csv"),
        (
            lambda folder: (folder / "data/test/metadata.parquet").write_bytes(b"x"),
            "the tables in data/ cannot be read",
        ),
        (lambda folder: (folder / "croissant.json").write_text("[]"), "croissant.json is not what it must be"),
        (lambda folder: (folder / "croissant.json").write_text("[" * 100_000), "croissant.json cannot be read"),
        (lambda folder: _croissant(folder, contentUrl=5), "contentUrl of 'items.parquet' is no text"),
        (lambda folder: _croissant(folder, contentUrl="x" * 5000), "croissant.json names xxxx"),
        (lambda folder: _croissant(folder, contentUrl="../bench/items.csv"), "items.csv, which is not in the pack"),
        (lambda folder: _croissant(folder, part=1, includes=5), "includes of 'pictures-png' is no text"),
        (lambda folder: _croissant(folder, recordSet=["x"]), "'recordSet' is no list of sets of records"),
        (lambda folder: _croissant(folder, recordSet=5), "'recordSet' is no list of sets of records"),
        (lambda folder: _croissant(folder, recordSet=[{"field": ["x"]}]), "'field' of 'NoneType' is no list of fields"),
        (lambda folder: _croissant(folder, recordSet=[{"field": [{"source": "x"}]}]), "which is not listed"),
        (lambda folder: (folder / "licences.csv").write_text("name\na\n"), "licences.csv has no column 'file'"),
        (
            lambda folder: _swapped(folder / "items.csv", Path("/dev/zero")),
            "items.csv is a symbolic link that leads out",
        ),
        (lambda folder: _swapped(folder / "items.csv", None), "'items.csv' is no ordinary file"),
        (lambda folder: (folder / "benchmark.toml").write_text("a = " + "[" * 50_000), "benchmark.toml"),
        (lambda folder: (folder / "items.parquet").write_bytes(b"PAR1 no table PAR1"), "items.parquet cannot be read"),
        (
            lambda folder: (folder / "data/out.png").symlink_to(folder.parent / "bench/items.csv"),
            "data/out.png is a symbolic link that leads out of the pack",
        ),
        (lambda folder: (folder / "items.parquet").unlink(), "croissant.json names items.parquet, which is missing"),
        (lambda folder: (folder / "licences.csv").write_text("file\na\n"), "licences.csv has no row for data/"),
    ],
)
def test_every_harm_to_a_pack_is_found(bench: Path, tmp_path: Path, harm: Harm, said: str) -> None:
    pack(bench, tmp_path / "pack")
    harm(tmp_path / "pack")
    (tmp_path / "pack/added.txt").write_bytes(b"x")
    lines = faults(tmp_path / "pack")
    assert any(said in line for line in lines), lines
    assert all("\n" not in line and len(line) < 400 for line in lines)
    if (tmp_path / "pack" / MANIFEST).is_file():
        assert f"added.txt is not in {MANIFEST}" in lines  # one fault is told among others, not in place of them


def test_what_systems_leave_behind_is_no_fault(bench: Path, tmp_path: Path) -> None:
    pack(bench, tmp_path / "pack")
    (tmp_path / "pack/.DS_Store").write_bytes(b"x")
    assert faults(tmp_path / "pack") == []


@pytest.mark.parametrize("layout", ["parquet", "webdataset"])
def test_a_damaged_shard_is_one_line(bench: Path, tmp_path: Path, layout: str) -> None:
    pack(bench, tmp_path / "pack", Packing(layout=layout))  # type: ignore[arg-type]
    shard = next(path for path in (tmp_path / "pack/data").iterdir() if path.name.startswith("test-"))
    shard.write_bytes(shard.read_bytes()[:700])
    lines = faults(tmp_path / "pack")
    assert any("has changed" in line for line in lines)
    assert any("not a table of pictures" in line or "not a tar file" in line or "is missing" in line for line in lines)
    with pytest.raises(BadInput):
        read_packed(tmp_path / "pack", into=tmp_path / "out")


def test_a_path_that_leads_out_of_the_pack_is_refused(bench: Path, tmp_path: Path) -> None:
    pack(bench, tmp_path / "pack")
    items = (tmp_path / "pack/items.csv").read_text(encoding="utf-8")
    (tmp_path / "pack/items.csv").write_text(items.replace("data/test/images/v1-5__001.png", "../../secret.png"))
    with pytest.raises(BadInput, match=r"'\.\./\.\./secret\.png' leads out of the pack"):
        read_packed(tmp_path / "pack", into=tmp_path / "out")


@pytest.mark.parametrize(
    ("licence", "tag"),
    [
        ("CC BY 4.0", "cc-by-4.0"),
        ("CC-BY-SA 4.0", "cc-by-sa-4.0"),
        ("ask me", "other"),
        ("", "unknown"),
        ("MIT", "mit"),
    ],
)
def test_licences_have_the_words_of_the_hub(licence: str, tag: str) -> None:
    assert licence_tag(licence) == tag


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"shard_mib": 0}, "shard_mib is 0"),
        ({"version": "1"}, "version is '1'"),
        ({"published": "May"}, "published is 'May'"),
    ],
)
def test_a_packing_that_cannot_be_is_refused(wrong: dict[str, object], said: str) -> None:
    with pytest.raises(BadConfig, match=said):
        Packing(**wrong)  # type: ignore[arg-type]


def test_croissant_lists_tables_and_pictures(bench: Path, tmp_path: Path) -> None:
    pack(bench, tmp_path / "pack")
    made = json.loads((tmp_path / "pack/croissant.json").read_text(encoding="utf-8"))
    assert [part["@id"] for part in made["distribution"]] == ["items.parquet", "pictures-png"]
    assert [records["@id"] for records in made["recordSet"]] == ["items", "pictures-png-records"]

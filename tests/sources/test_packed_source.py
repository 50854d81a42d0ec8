"""Taking pictures out of a pack: all or none, nothing that is there is touched, and no file of a pack is trusted."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from paragone.benchmark import Benchmark
from paragone.errors import BadInput, BadTable, WouldOverwrite
from paragone.images import MAX_BYTES, write_image
from paragone.loop.build import import_into
from paragone.make.packs.pack import pack
from paragone.make.packs.packing import Packing
from paragone.sources.packed import read_packed


def bench(folder: Path, seed: int = 0) -> Path:
    """Two items of one method."""
    rows = []
    for k, item in enumerate(("a", "b")):
        folder.mkdir(parents=True, exist_ok=True)
        write_image(np.random.default_rng(seed + k).random((8, 8, 3), dtype=np.float32), folder / f"{item}.png")
        rows.append({"item": item, "image": f"{item}.png", "method": "m"})
    references = pl.DataFrame(schema=dict.fromkeys(("factor", "level", "image"), pl.String))
    Benchmark(pl.DataFrame(rows), references, name="two").write(folder)
    return folder


def packed(tmp_path: Path, layout: Any, seed: int = 0) -> Path:
    pack(bench(tmp_path / f"bench-{layout}-{seed}", seed), tmp_path / f"pack-{layout}-{seed}", Packing(layout=layout))
    return tmp_path / f"pack-{layout}-{seed}"


def content(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


LAYOUTS = ("imagefolder", "parquet", "webdataset")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_refused_import_leaves_the_folder_as_it_was(tmp_path: Path, layout: str) -> None:
    import_into("packed", packed(tmp_path, layout), tmp_path / "out")
    before = content(tmp_path / "out")
    with pytest.raises(WouldOverwrite, match="holds a benchmark; --force replaces it"):
        import_into("packed", packed(tmp_path, layout, seed=9), tmp_path / "out")
    assert content(tmp_path / "out") == before
    import_into("packed", tmp_path / f"pack-{layout}-9", tmp_path / "out", force=True, copy=True)
    again = content(tmp_path / "out")
    assert set(again) == set(before)
    assert again["data/test/images/a.png"] == (tmp_path / f"bench-{layout}-9/a.png").read_bytes()


def test_pictures_and_answers_that_are_there_are_not_replaced_unasked(tmp_path: Path) -> None:
    source = packed(tmp_path, "parquet")
    (tmp_path / "out/data/test/images").mkdir(parents=True)
    (tmp_path / "out/data/test/images/b.png").write_bytes(b"mine")
    with pytest.raises(WouldOverwrite, match=r"b\.png' exists; --force replaces it"):
        import_into("packed", source, tmp_path / "out")
    assert content(tmp_path / "out") == {"data/test/images/b.png": b"mine"}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_pack_with_a_missing_picture_leaves_nothing_behind(tmp_path: Path, layout: str) -> None:
    source = packed(tmp_path, layout)
    items = (source / "items.csv").read_text(encoding="utf-8")
    (source / "items.csv").write_text(items + "c,data/test/images/c.png,m\n", encoding="utf-8")
    there = sorted(path.name for path in tmp_path.iterdir())
    with pytest.raises(BadInput, match="1 pictures are missing, first that of item 'c'"):
        import_into("packed", source, tmp_path / "new/out")
    assert sorted(path.name for path in tmp_path.iterdir()) == there


def test_a_broken_table_of_answers_is_found_before_pictures_are_taken_out(tmp_path: Path) -> None:
    source = packed(tmp_path, "webdataset")
    (source / "ratings.csv").write_text("nothing\n1\n", encoding="utf-8")
    with pytest.raises(BadInput):
        import_into("packed", source, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_file_where_a_folder_should_be_is_said_before_anything_moves(tmp_path: Path) -> None:
    source = packed(tmp_path, "parquet")
    (tmp_path / "out").mkdir()
    (tmp_path / "out/data").write_bytes(b"mine")
    with pytest.raises(WouldOverwrite, match=r"data' is no folder, and 'a\.png' would go into it"):
        import_into("packed", source, tmp_path / "out", force=True)
    assert content(tmp_path / "out") == {"data": b"mine"}


@pytest.mark.parametrize("values", [[None, None], ["x", "y"]])
def test_pictures_that_are_no_bytes_are_one_line(tmp_path: Path, values: list[Any]) -> None:
    source = packed(tmp_path, "parquet")
    shard = next((source / "data").glob("*.parquet"))
    kind = pl.Binary if values[0] is None else pl.String
    image = pl.DataFrame({"bytes": pl.Series(values, dtype=kind), "path": ["a.png", "b.png"]}).to_struct("image")
    pl.DataFrame([pl.Series("item", ["a", "b"]), image]).write_parquet(shard)
    with pytest.raises(BadTable, match=r"row 1: image\.bytes is (NoneType|str), not the bytes of a picture"):
        read_packed(source, into=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "", raw: bytes = b"") -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, link, len(raw)
    return info, raw


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ([member("a.png", tarfile.SYMTYPE, "a.png")], "'a.png' is no ordinary file"),
        ([member("a.png", tarfile.LNKTYPE, "b.png"), member("b.png", tarfile.LNKTYPE, "a.png")], "no ordinary file"),
        ([member("a.png", tarfile.FIFOTYPE)], "no ordinary file"),
        ([member("a.png", raw=b"x"), member("a.json", raw=b"[" * 100_000)], "not a tar file of samples"),
        ([member("a.png", raw=b"x"), member("a.json", raw=b'["item"]')], "not a tar file of samples"),
        ([member("a.json", raw=b'{"item": "a"}')], "not a tar file of samples"),
        ([member(f"{k}.png", raw=b"x") for k in range(20)], "'8.png' and others before it have no row"),
    ],
)
def test_members_that_are_no_samples_are_one_line(
    tmp_path: Path, members: list[tuple[tarfile.TarInfo, bytes]], said: str
) -> None:
    source = packed(tmp_path, "webdataset")
    with tarfile.open(next((source / "data").glob("*.tar")), "w", format=tarfile.GNU_FORMAT) as tar:
        for info, raw in members:
            tar.addfile(info, io.BytesIO(raw))
    with pytest.raises(BadInput, match=said) as told:
        read_packed(source, into=tmp_path / "out")
    assert "\n" not in told.value.message
    assert not (tmp_path / "out").exists()


def test_a_huge_or_sparse_member_is_never_read(tmp_path: Path) -> None:
    source = packed(tmp_path, "webdataset")
    shard = next((source / "data").glob("*.tar"))
    huge = tarfile.TarInfo("a.png")
    huge.size = 60 << 30
    shard.write_bytes(huge.tobuf(tarfile.GNU_FORMAT))
    with pytest.raises(BadInput, match=f"'a.png' has {60 << 30} bytes; at most {MAX_BYTES} are read"):
        read_packed(source, into=tmp_path / "out")
    sparse = tarfile.TarInfo("a.png")
    sparse.type = tarfile.GNUTYPE_SPARSE
    header = bytearray(sparse.tobuf(tarfile.GNU_FORMAT))
    header[386:410] = b"00000000000\0" * 2  # one piece of no bytes at the start
    header[483:495] = b"%011o\0" % (7 << 30)  # real size
    header[148:156] = b"%06o\0 " % (sum(header[:148]) + 8 * 32 + sum(header[156:512]))
    shard.write_bytes(bytes(header) + bytes(1024))
    with pytest.raises(BadInput, match="no ordinary file"):
        read_packed(source, into=tmp_path / "out")


def test_a_link_that_leads_out_of_a_pack_is_not_followed(tmp_path: Path) -> None:
    source = packed(tmp_path, "imagefolder")
    (tmp_path / "secret").write_bytes(b"key")
    (source / "data/test/images/a.png").unlink()
    (source / "data/test/images/a.png").symlink_to(tmp_path / "secret")
    with pytest.raises(BadInput, match=r"'data/test/images/a\.png' is a link that leads out of the pack"):
        read_packed(source, into=tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["x" * 5000 + ".png", "data/" + "é" * 200 + ".png", "a\tb.png"])
def test_a_path_that_no_file_can_have_is_one_line(tmp_path: Path, name: str) -> None:
    source = packed(tmp_path, "parquet")
    items = pl.read_csv(source / "items.csv", infer_schema=False)
    items.with_columns(pl.Series("image", [name, items["image"][1]])).write_csv(source / "items.csv")
    with pytest.raises(BadInput, match="cannot be the path of a file"):
        read_packed(source, into=tmp_path / "out")


def test_rows_of_a_sound_pack_are_what_was_packed(tmp_path: Path) -> None:
    source = packed(tmp_path, "webdataset")
    with tarfile.open(next((source / "data").glob("*.tar"))) as tar:
        rows = [json.loads((tar.extractfile(one) or io.BytesIO()).read()) for one in tar if one.name.endswith("json")]
    assert [row["item"] for row in rows] == ["a", "b"]

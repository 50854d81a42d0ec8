"""Packs as others read them: datasets, webdataset and mlcroissant, offline."""

from __future__ import annotations

import io
import json
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from PIL import Image

from installed import needed
from paragone.benchmark import Benchmark
from paragone.images import decode_image, read_image, write_image
from paragone.make.packs.pack import pack
from paragone.make.packs.packing import Packing

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # the readers' own warnings

METHODS = ("photo of a train", "test tubes", "val", "v1.5")


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Names that lose pictures where a reader guesses splits from them, and ids that look like numbers."""
    folder = tmp_path_factory.mktemp("bench")
    rows, references = [], []
    for j, style in enumerate(("001", "002")):
        write_image(np.random.default_rng(100 + j).random((12, 16, 3), dtype=np.float32), folder / f"style {j}.png")
        references.append({"factor": "style", "level": style, "image": f"style {j}.png"})
        for k, method in enumerate(METHODS):
            image = f"{method} {j}.png"
            write_image(np.random.default_rng(10 * k + j).random((12, 16, 3), dtype=np.float32), folder / image)
            note = None if k else "true"
            rows.append({"item": f"{method}/{style}", "image": image, "method": method, "style": style, "note": note})
    Benchmark(pl.DataFrame(rows), pl.DataFrame(references), name="traps", licence="CC BY 4.0").write(folder)
    return folder


def expected(folder: Path) -> list[dict[str, Any]]:
    return Benchmark.read(folder).items.drop("image").sort("item").rows(named=True)


def loaded(folder: Path, cache: Path, name: str | None = None) -> Any:
    datasets = needed("datasets")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return datasets.load_dataset(str(folder), name, cache_dir=str(cache))


def pixels(image: Image.Image) -> np.ndarray:
    return np.asarray(image.convert("RGB"))


def original(folder: Path, item: str) -> np.ndarray:
    path = Benchmark.read(folder).picture(item)
    assert path is not None
    return np.round(read_image(path) * 255).astype(np.uint8)


@pytest.mark.parametrize("layout", ["imagefolder", "parquet"])
@pytest.mark.parametrize("split", ["", "style"])
def test_datasets_reads_every_row_and_column(bench: Path, tmp_path: Path, layout: str, split: str) -> None:
    pack(bench, tmp_path / "pack", Packing(layout=layout, split=split))  # type: ignore[arg-type]
    found = loaded(tmp_path / "pack", tmp_path / "cache")
    assert list(found) == (["001", "002"] if split else ["test"])
    rows = sorted((row for part in found.values() for row in part), key=lambda row: row["item"])
    plain = [{name: row[name] for name in ("item", "method", "style", "note")} for row in rows]
    assert plain == expected(bench)
    assert {row["licence"] for row in rows} == {"CC BY 4.0"}
    assert all(np.array_equal(pixels(row["image"]), original(bench, row["item"])) for row in rows)
    if layout == "imagefolder":
        shown = {level: bench / image for _, level, image in Benchmark.read(bench).references.iter_rows()}
        for row in rows:
            assert np.array_equal(pixels(row["style_image"]), np.round(read_image(shown[row["style"]]) * 255))


def test_datasets_reads_the_references_of_parquet(bench: Path, tmp_path: Path) -> None:
    pack(bench, tmp_path / "pack", Packing(layout="parquet"))
    rows = list(loaded(tmp_path / "pack", tmp_path / "cache", "references")["references"])
    assert [(row["factor"], row["level"]) for row in rows] == [("style", "001"), ("style", "002")]
    assert np.array_equal(pixels(rows[0]["image"]), np.round(read_image(bench / "style 0.png") * 255))


def test_without_the_card_datasets_loses_pictures(bench: Path, tmp_path: Path) -> None:
    """The trap that the card's list of files defuses; should it be gone one day, the list may go too."""
    folder = tmp_path / "bare"
    folder.mkdir()
    for name in ("photo of a train 0.png", "test tubes 0.png", "v1.5 0.png"):
        (folder / name).write_bytes((bench / name).read_bytes())
    found = loaded(folder, tmp_path / "cache")
    assert sum(part.num_rows for part in found.values()) < 3


def test_webdataset_reads_every_sample(bench: Path, tmp_path: Path) -> None:
    webdataset = needed("webdataset")
    pack(bench, tmp_path / "pack", Packing(layout="webdataset"))
    samples = list(webdataset.WebDataset(str(tmp_path / "pack/data/test-000000.tar"), shardshuffle=False))
    rows = sorted((json.loads(sample["json"]) for sample in samples), key=lambda row: row["item"])
    assert [{name: row[name] or None for name in ("item", "method", "style", "note")} for row in rows] == expected(
        bench
    )
    for sample in samples:
        item = json.loads(sample["json"])["item"]
        assert np.array_equal(np.round(decode_image(sample["png"]) * 255), original(bench, item))
    shown = list(webdataset.WebDataset(str(tmp_path / "pack/data/references-000000.tar"), shardshuffle=False))
    assert [sample["__key__"] for sample in shown] == ["style__001", "style__002"]


def test_datasets_reads_the_tar_files_too(bench: Path, tmp_path: Path) -> None:
    pack(bench, tmp_path / "pack", Packing(layout="webdataset"))
    rows = [row["json"] for row in loaded(tmp_path / "pack", tmp_path / "cache")["test"]]
    assert sorted(row["item"] for row in rows) == [row["item"] for row in expected(bench)]


@pytest.mark.parametrize("layout", ["imagefolder", "parquet", "webdataset"])
def test_a_column_that_is_empty_at_first_is_read(bench: Path, tmp_path: Path, layout: str) -> None:
    whole = Benchmark.read(bench)
    late = [None] * (whole.items.height - 1) + [whole.items["item"][0]]
    items = whole.items.with_columns(pl.Series("broken_of", late, dtype=pl.String))
    pack(replace(whole, items=items), tmp_path / "pack", Packing(layout=layout))  # type: ignore[arg-type]
    rows = loaded(tmp_path / "pack", tmp_path / "cache")["test"]
    told = [(row["json"] if layout == "webdataset" else row)["broken_of"] or None for row in rows]
    assert sorted(told, key=str) == sorted(late, key=str)


@pytest.mark.parametrize("layout", ["imagefolder", "parquet", "webdataset"])
def test_mlcroissant_finds_nothing_wrong_and_reads_the_items(bench: Path, tmp_path: Path, layout: str) -> None:
    mlcroissant = needed("mlcroissant")
    facts = {"homepage": "https://example.org/traps", "citation": "Somebody", "published": "2026-01-31"}
    pack(bench, tmp_path / "pack", Packing(layout=layout, **facts))  # type: ignore[arg-type]
    data = mlcroissant.Dataset(str(tmp_path / "pack/croissant.json"))
    assert not data.metadata.issues.errors
    assert not data.metadata.issues.warnings
    rows = [
        {name.split("/")[-1]: value.decode() if isinstance(value, bytes) else value for name, value in row.items()}
        for row in data.records("items")
    ]
    plain = [{name: row[name] for name in ("item", "method", "style", "note")} for row in rows]
    assert sorted(plain, key=lambda row: row["item"]) == expected(bench)
    if layout == "imagefolder":
        found = list(data.records("pictures-png-records"))
        assert len(found) == 10
        assert all(isinstance(row["pictures-png-records/picture"], Image.Image) for row in found)


def test_the_tables_can_be_opened_without_the_card(bench: Path, tmp_path: Path) -> None:
    pack(bench, tmp_path / "pack", Packing(layout="parquet"))
    frame = pl.read_parquet(tmp_path / "pack/data/test-00000-of-00001.parquet")
    assert frame.columns == ["image", "item", "method", "style", "note", "licence"]
    raw = frame["image"].struct.field("bytes")[0]
    assert np.array_equal(pixels(Image.open(io.BytesIO(raw))), original(bench, frame["item"][0]))

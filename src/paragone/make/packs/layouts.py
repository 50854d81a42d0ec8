"""The three layouts of a pack: picture files with a table, tables with pictures inside, tar files."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from ...images import read_bytes
from .packing import Content, PackedPicture

__all__ = ["LAYOUTS", "Laid", "imagefolder", "parquet", "webdataset"]

_GROUP = 100  # rows of a row group; the hub's own choice for pictures, so that a reader need not take a file at once


@dataclass(frozen=True)
class Laid:
    """What a layout wrote, as the card and croissant.json need it."""

    configs: Mapping[str, Mapping[str, str]]
    """Configuration -> split -> pattern of its files."""
    features: Mapping[str, Mapping[str, str]]
    """Configuration -> column -> 'image' or 'string'; empty where readers find out by themselves."""
    sets: Mapping[str, tuple[str, str]]
    """Name of a set of files -> its pattern and media type."""


def imagefolder(content: Content, folder: Path, shard_bytes: int) -> Laid:
    """Write `data/<split>/images/`, `references/` and `metadata.parquet`; columns `<factor>_image` show references.

    Args:
        content: what is packed.
        folder: of the pack.
        shard_bytes: has no meaning here.
    """
    del shard_bytes
    factors = content.shown_factors
    for number, split in enumerate(content.splits):
        home = folder / "data" / split
        rows = []
        used: set[tuple[str, str]] = set(content.shown) if number == 0 else set()
        for row in content.rows(split):
            picture = content.pictures[row["item"]]
            _copy(picture, folder / picture.name)
            keys = {factor: (factor, row[factor]) for factor in factors}
            used |= {key for key in keys.values() if key in content.shown}
            files = {
                f"{factor}_image_file_name": _inside(content.shown[key]) if key in content.shown else None
                for factor, key in keys.items()
            }
            rows.append({"file_name": _inside(picture), **row, **files})
        for key in sorted(used):
            _copy(content.shown[key], home / _inside(content.shown[key]))
        frame = pl.DataFrame(rows, schema=dict.fromkeys(rows[0], pl.String))
        frame.write_parquet(home / "metadata.parquet", row_group_size=_GROUP)
    endings = sorted({picture.ending for picture in (*content.pictures.values(), *content.shown.values())})
    return Laid(
        {"default": {split: f"data/{split}/**" for split in content.splits}},
        {},
        {f"pictures-{ending[1:]}": (f"data/**/*{ending}", _media(ending)) for ending in endings},
    )


def parquet(content: Content, folder: Path, shard_bytes: int) -> Laid:
    """Write `data/<split>-*.parquet` with a column `image`, and `data/references-*.parquet`.

    Args:
        content: what is packed.
        folder: of the pack.
        shard_bytes: size of pictures at which a new file begins.
    """
    items = {split: ((content.pictures[row["item"]], row) for row in content.rows(split)) for split in content.splits}
    features = {"default": _write_tables(items, folder, shard_bytes)}
    configs = {"default": {split: f"data/{split}-*.parquet" for split in content.splits}}
    if content.shown:
        features["references"] = _write_tables({"references": _reference_rows(content)}, folder, shard_bytes)
        configs["references"] = {"references": "data/references-*.parquet"}
    return Laid(configs, features, {"tables": ("data/*.parquet", "application/x-parquet")})


def webdataset(content: Content, folder: Path, shard_bytes: int) -> Laid:
    """Write `data/<split>-*.tar`, two members a sample: the picture and its row as JSON; references likewise.

    What a row does not have is an empty text there: readers that take types from the first rows fail at null.

    Args:
        content: what is packed.
        folder: of the pack.
        shard_bytes: size of pictures at which a new file begins.
    """
    configs = {"default": {split: f"data/{split}-*.tar" for split in content.splits}}
    for split in content.splits:
        rows = ((content.pictures[row["item"]], row) for row in content.rows(split))
        _write_tars(split, rows, folder, shard_bytes, _item_key)
    if content.shown:
        _write_tars("references", _reference_rows(content), folder, shard_bytes, _reference_key)
        configs["references"] = {"references": "data/references-*.tar"}
    return Laid(configs, {}, {"shards": ("data/*.tar", "application/x-tar")})


LAYOUTS = {"imagefolder": imagefolder, "parquet": parquet, "webdataset": webdataset}
"""layout -> function(content, folder, shard_bytes)."""

Rows = Iterable[tuple[PackedPicture, Mapping[str, Any]]]


def _inside(picture: PackedPicture) -> str:
    """The path below the folder of a split."""
    return picture.name.split("/", 2)[2]


def _copy(picture: PackedPicture, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(read_bytes(picture.source))


def _media(ending: str) -> str:
    known = {".jpg": "jpeg", ".tif": "tiff", ".ppm": "x-portable-pixmap", ".pgm": "x-portable-graymap"}
    return f"image/{known.get(ending, ending[1:])}"


def _reference_rows(content: Content) -> list[tuple[PackedPicture, dict[str, Any]]]:
    return [
        (picture, {"factor": factor, "level": level, **picture.credits})
        for (factor, level), picture in content.shown.items()
    ]


def _shards(rows: Rows, shard_bytes: int) -> Iterator[list[tuple[PackedPicture, Mapping[str, Any]]]]:
    """Rows in groups whose pictures together are not larger than a shard, one picture at least."""
    group: list[tuple[PackedPicture, Mapping[str, Any]]] = []
    size = 0
    for picture, row in rows:
        more = picture.source.stat().st_size
        if group and size + more > shard_bytes:
            yield group
            group, size = [], 0
        group.append((picture, row))
        size += more
    yield group


def _write_tables(splits: Mapping[str, Rows], folder: Path, shard_bytes: int) -> dict[str, str]:
    columns: dict[str, str] = {}
    (folder / "data").mkdir(exist_ok=True)
    for split, rows in splits.items():
        groups = list(_shards(rows, shard_bytes))
        for k, group in enumerate(groups):
            named = list(group[0][1])
            raw = pl.Series("bytes", [read_bytes(one.source) for one, _ in group], dtype=pl.Binary)
            names = pl.Series("path", [Path(one.name).name for one, _ in group], dtype=pl.String)
            facts = pl.DataFrame([row for _, row in group], schema=dict.fromkeys(named, pl.String))
            frame = facts.select(pl.DataFrame([raw, names]).to_struct("image"), *named)
            frame.write_parquet(
                folder / "data" / f"{split}-{k:05d}-of-{len(groups):05d}.parquet",
                row_group_size=_GROUP,
                compression="uncompressed",  # pictures do not get smaller
                statistics=False,  # nobody asks for the smallest picture
            )
            columns = {"image": "image", **dict.fromkeys(named, "string")}
    return columns


def _write_tars(name: str, rows: Rows, folder: Path, shard_bytes: int, key_of: Callable[[PackedPicture], str]) -> None:
    (folder / "data").mkdir(exist_ok=True)
    for k, group in enumerate(_shards(rows, shard_bytes)):
        path = folder / "data" / f"{name}-{k:06d}.tar"
        with tarfile.open(path, "w", format=tarfile.GNU_FORMAT) as tar:
            for picture, row in group:
                key = key_of(picture)
                _add(tar, f"{key}{picture.ending}", read_bytes(picture.source))
                told = {name: "" if value is None else value for name, value in row.items()}
                _add(tar, f"{key}.json", json.dumps(told, ensure_ascii=False).encode())


def _item_key(picture: PackedPicture) -> str:
    return Path(picture.name).stem


def _reference_key(picture: PackedPicture) -> str:
    path = Path(picture.name)
    return f"{path.parent.name}__{path.stem}"


def _add(tar: tarfile.TarFile, name: str, raw: bytes) -> None:
    """One member whose header says nothing of when and by whom it was made."""
    info = tarfile.TarInfo(name)
    info.size, info.mode, info.mtime = len(raw), 0o644, 0
    tar.addfile(info, io.BytesIO(raw))

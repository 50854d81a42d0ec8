"""A benchmark that `paragone pack` wrote, in any of its layouts: pictures are taken out, the tables are as they were."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath

import polars as pl

from ..benchmark import Benchmark
from ..errors import BadConfig, BadInput, BadTable, NotFound
from ..judgements import Ratings, Votes
from ..scores import Scores
from ..settings import Settings, read_settings
from ..tables import whole_file
from .records import Imported, Source

__all__ = ["SOURCE", "pack_layout", "packed_pictures", "read_packed"]

_NOTE = "pack.toml"
_LAYOUTS = ("imagefolder", "parquet", "webdataset")


class _Note(Settings, frozen=True):
    """`pack.toml`."""

    layout: str
    """One of the three layouts."""
    splits: tuple[str, ...] = ()
    """Names of its splits."""

    def __post_init__(self) -> None:
        if self.layout not in _LAYOUTS:
            raise BadConfig(f"pack.toml: layout is '{self.layout}'; it is one of {', '.join(_LAYOUTS)}", where="layout")


def pack_layout(folder: str | Path) -> str:
    """Return the layout of a pack.

    Raises:
        NotFound: no such folder, or it is no pack.
        BadConfig: pack.toml is not what it must be.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise NotFound.path(folder, "folder")
    if not (folder / _NOTE).is_file():
        raise NotFound(f"'{folder}' holds no {_NOTE}, so it is no pack", where=str(folder))
    return read_settings(folder / _NOTE, _Note).layout


def read_packed(folder: str | Path, *, into: str | Path | None = None) -> Benchmark:
    """Return the benchmark that lies in a pack.

    Args:
        folder: the pack.
        into: folder that gets the benchmark and its pictures; None: an image folder is read where it is.

    Raises:
        NotFound: it is no pack, or a file of it is missing.
        BadConfig: a layout that keeps pictures inside of tables or tar files, and no folder to take them out to.
        BadInput: a picture that items.csv or references.csv name is not in it, or a path leads out of the folder.
        BadTable: a table is damaged.
    """
    folder = Path(folder)
    layout = pack_layout(folder)
    held = Benchmark.read(folder)
    if into is None:
        if layout != "imagefolder":
            raise BadConfig(
                f"the pictures of '{folder.name}' lie inside of {layout} files; give a folder to take them out to",
                where="into",
            )
        return held
    made = _taken_out(folder, held, Path(into))
    made.write(into)
    return made


def packed_pictures(folder: str | Path) -> Iterator[tuple[str, bytes]]:
    """Yield path and bytes of every picture that the tables of a pack name and that is there, whatever the layout.

    Args:
        folder: the pack.

    Raises:
        NotFound, BadConfig: it is no pack.
        BadInput: a file of the layout is damaged, or a path leads out of the folder.
    """
    folder = Path(folder)
    layout = pack_layout(folder)
    held = Benchmark.read(folder)
    wanted = _wanted(held)
    if layout == "imagefolder":
        for name in wanted:
            if (folder / name).is_file():
                yield name, (folder / name).read_bytes()
        return
    items = dict(zip(held.items["item"], held.items["image"], strict=True))
    shown = {(factor, level): image for factor, level, image in held.references.select(_KEYS).iter_rows()}
    for path in sorted((folder / "data").glob("*.parquet" if layout == "parquet" else "*.tar")):
        references = path.name.startswith("references-")
        rows = _table_rows(path, references) if layout == "parquet" else _tar_rows(path, references)
        for key, raw in rows:
            picture = shown.get((key[0], key[1])) if references else items.get(key[0])
            if picture is not None:
                yield picture, raw


_KEYS = ("factor", "level", "image")


def _taken_out(folder: Path, held: Benchmark, into: Path) -> Benchmark:
    """The benchmark with its pictures in another folder; tables are not written."""
    wanted = _wanted(held)
    for name, raw in packed_pictures(folder):
        if wanted.pop(name, None) is not None:
            with whole_file(into / name) as aside:
                aside.write_bytes(raw)
    if wanted:
        first, what = next(iter(wanted.items()))
        raise BadInput(
            f"{folder.name}: {len(wanted)} pictures are missing, first that of {what} ('{first}')", where=str(folder)
        )
    return replace(held, folder=into)


def _wanted(benchmark: Benchmark) -> dict[str, str]:
    """Path of every picture -> what it is a picture of; each stays inside of the folder."""
    named = [(image, f"item '{item}'") for item, image in benchmark.items.select("item", "image").iter_rows() if image]
    named += [(image, f"{factor} '{level}'") for factor, level, image in benchmark.references.select(_KEYS).iter_rows()]
    for image, what in named:
        path = PurePosixPath(image)
        if path.is_absolute() or ".." in path.parts or "\\" in image or ":" in image:
            raise BadInput(f"picture of {what}: '{image}' leads out of the pack", where=image)
    return dict(named)


def _table_rows(path: Path, references: bool) -> Iterator[tuple[tuple[str, ...], bytes]]:
    keys = ["factor", "level"] if references else ["item"]
    try:
        frame = pl.read_parquet(path, columns=[*keys, "image"], glob=False)
        for row in frame.iter_rows(named=True):
            yield tuple(row[key] for key in keys), row["image"]["bytes"]
    except (pl.exceptions.PolarsError, OSError, TypeError, KeyError) as error:
        raise BadTable(f"{path.name}: not a table of pictures ({_line(error)})", where=str(path)) from error


def _tar_rows(path: Path, references: bool) -> Iterator[tuple[tuple[str, ...], bytes]]:
    keys = ["factor", "level"] if references else ["item"]
    pictures: dict[str, bytes] = {}
    try:
        with tarfile.open(path, "r:") as tar:
            for member in tar:
                stem, _, ending = member.name.partition(".")
                file = tar.extractfile(member)
                raw = b"" if file is None else file.read()
                if ending != "json":
                    pictures[stem] = raw
                    continue
                row = json.load(io.BytesIO(raw))
                yield tuple(str(row[key]) for key in keys), pictures.pop(stem)
    except (tarfile.TarError, OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(f"{path.name}: not a tar file of samples ({_line(error)})", where=str(path)) from error


def _line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0][:120]


def _read(path: str | Path, *, into: str | Path | None = None) -> Imported:
    """The benchmark of a pack, with the scores, votes and ratings that were taken along.

    Args:
        path: folder of the pack.
        into: folder that gets the pictures; needed for parquet and webdataset. Tables are not written there.
    """
    path = Path(path)
    benchmark = read_packed(path) if into is None else _taken_out(path, Benchmark.read(path), Path(into))
    scores = sorted((path / "scores").glob("*.csv"))
    return Imported(
        benchmark=benchmark,
        votes=Votes.read(path / "votes.csv") if (path / "votes.csv").is_file() else None,
        ratings=Ratings.read(path / "ratings.csv") if (path / "ratings.csv").is_file() else None,
        scores=tuple(Scores.read(one) for one in scores),
        notes=(f"layout {pack_layout(path)}; licences.csv says what is known of the rights in each picture",),
    )


def _fits(path: Path) -> bool:
    return path.is_dir() and (path / _NOTE).is_file() and (path / "manifest.sha256").is_file()


SOURCE = Source(
    name="packed",
    summary="A benchmark that paragone packed: image folder, Parquet or WebDataset",
    gives=("benchmark", "votes", "ratings", "scores"),
    licence="as its licences.csv says, picture by picture",
    citation="as its README.md says",
    read=_read,
    fits=_fits,
)

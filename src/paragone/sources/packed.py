"""A benchmark that `paragone pack` wrote, in any of its layouts: pictures are taken out, the tables are as they were."""

from __future__ import annotations

import json
import os
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath

import polars as pl

from ..benchmark import Benchmark
from ..errors import BadConfig, BadInput, BadTable, NotFound, WouldOverwrite
from ..images import MAX_BYTES, read_bytes
from ..judgements import Ratings, Votes
from ..scores import Scores
from ..settings import Settings, read_settings
from .beside_pack import beside_pack, bring_along
from .records import Imported, Source

__all__ = ["SOURCE", "leads_out", "pack_layout", "packed_benchmark", "packed_pictures", "read_packed"]

_NOTE = "pack.toml"
_MOST_JSON = 16 << 20  # bytes of one row in a tar file; our choice
_MOST_WAITING = 8  # pictures of a tar file that wait for their row; a pack has one at a time
_LONGEST = 1024  # characters of a path in a pack; systems take no more than that everywhere
_LAYOUTS = ("imagefolder", "parquet", "webdataset")
_RIGHTS = "; licences.csv says what is known of the rights in each picture"


def leads_out(path: str | Path, folder: str | Path) -> bool:
    """Return whether a path, its symbolic links followed, lies outside of a folder.

    Args:
        path: a file or folder, there or not.
        folder: the one that it must stay in.
    """
    home = os.path.realpath(folder)
    return not os.path.realpath(path).startswith(home.rstrip(os.sep) + os.sep)


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
    try:
        return read_settings(folder / _NOTE, _Note).layout
    except RecursionError as error:
        raise BadConfig(f"{_NOTE} is nested too deep", where=str(folder / _NOTE)) from error


def packed_benchmark(folder: str | Path) -> Benchmark:
    """Return the benchmark whose tables lie in a pack, its pictures named as there; none is looked at.

    Args:
        folder: the pack.

    Raises:
        NotFound, BadConfig, BadTable: a table is missing or damaged.
        BadInput: a table is no ordinary file, or a link that leads out of the pack.
    """
    folder = Path(folder)
    for name in ("benchmark.toml", "items.csv", "references.csv"):
        if os.path.lexists(folder / name):
            _stays(folder / name, folder)
            if (folder / name).exists() and not (folder / name).is_file():
                raise BadInput(f"'{name}' is no ordinary file", where=str(folder / name))
    try:
        return Benchmark.read(folder)
    except RecursionError as error:
        raise BadConfig("benchmark.toml is nested too deep", where=str(folder / "benchmark.toml")) from error


def read_packed(folder: str | Path, *, into: str | Path | None = None) -> Benchmark:
    """Return the benchmark that lies in a pack.

    Args:
        folder: the pack.
        into: folder that gets the benchmark and its pictures, all of them or, where one is damaged, none, and the cards,
            licences.csv and made.csv of the pack; None: an image folder is read where it is.

    Raises:
        NotFound: it is no pack, or a file of it is missing.
        WouldOverwrite: a folder lies where a picture should go, or a file where a folder should.
        BadConfig: a layout that keeps pictures inside of tables or tar files, and no folder to take them out to.
        BadInput: a picture that items.csv or references.csv name is not in it, or a path leads out of the folder.
        BadTable: a table is damaged.
    """
    folder = Path(folder)
    layout = pack_layout(folder)
    held = packed_benchmark(folder)
    if into is None:
        if layout != "imagefolder":
            raise BadConfig(
                f"the pictures of '{folder.name}' lie inside of {layout} files; give a folder to take them out to",
                where="into",
            )
        return held
    beside_pack(folder, into)
    made = _taken_out(folder, held, Path(into))
    bring_along(folder, into)
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
    held = packed_benchmark(folder)
    wanted = _wanted(held)
    if layout == "imagefolder":
        for name in wanted:
            if (folder / name).is_file():
                _stays(folder / name, folder)
                yield name, read_bytes(folder / name)
        return
    items = dict(zip(held.items["item"], held.items["image"], strict=True))
    shown = {(factor, level): image for factor, level, image in held.references.select(_KEYS).iter_rows()}
    for path in sorted((folder / "data").glob("*.parquet" if layout == "parquet" else "*.tar")):
        _stays(path, folder)
        if not path.is_file():
            raise BadInput(f"'{path.name}' is no ordinary file", where=str(path))
        references = path.name.startswith("references-")
        rows = _table_rows(path, references) if layout == "parquet" else _tar_rows(path, references)
        for key, raw in rows:
            picture = shown.get((key[0], key[1])) if references else items.get(key[0])
            if picture is not None:
                yield picture, raw


_KEYS = ("factor", "level", "image")


def _stays(path: Path, folder: Path) -> None:
    if leads_out(path, folder):
        name = path.relative_to(folder).as_posix()
        raise BadInput(
            f"'{name}' is a link that leads out of the pack; copy the pack with the files themselves", where=str(path)
        )


def _taken_out(folder: Path, held: Benchmark, into: Path) -> Benchmark:
    """The benchmark with its pictures in another folder, all of them or none; tables are not written."""
    wanted = _wanted(held)
    home = Path(os.path.realpath(into))
    for name in wanted:
        _check_place(home, name)
    nearest = next(parent for parent in home.parents if parent.is_dir())
    with tempfile.TemporaryDirectory(dir=nearest, prefix=f".{home.name}.", suffix=".part") as aside:
        missing = dict(wanted)
        for name, raw in packed_pictures(folder):
            if missing.pop(name, None) is not None:
                target = Path(aside) / name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(raw)
        if missing:
            first, what = next(iter(missing.items()))
            raise BadInput(
                f"{folder.name}: {len(missing)} pictures are missing, first that of {what} ('{first}')",
                where=str(folder),
            )
        for name in wanted:
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.move(Path(aside) / name, home / name)
    return replace(held, folder=into)


def _check_place(home: Path, name: str) -> None:
    """A picture can go there: nothing but a file is in its place, nothing but folders on the way."""
    place = home / name
    if place.is_dir():
        raise WouldOverwrite(f"'{place}' is a folder, and a picture would go there", where=str(place))
    for above in [one for one in place.parents if one == home or home in one.parents]:
        if os.path.lexists(above) and not above.is_dir():
            raise WouldOverwrite(f"'{above}' is no folder, and pictures would go into it", where=str(above))


def _wanted(benchmark: Benchmark) -> dict[str, str]:
    """Path of every picture -> what it is a picture of; each stays inside of the folder."""
    named = [(image, f"item '{item}'") for item, image in benchmark.items.select("item", "image").iter_rows() if image]
    named += [(image, f"{factor} '{level}'") for factor, level, image in benchmark.references.select(_KEYS).iter_rows()]
    for image, what in named:
        path = PurePosixPath(image)
        if path.is_absolute() or ".." in path.parts or "\\" in image or ":" in image:
            raise BadInput(f"picture of {what}: '{image}' leads out of the pack", where=image)
        if len(image) > _LONGEST or not image.isprintable() or any(len(part.encode()) > 255 for part in path.parts):
            raise BadInput(f"picture of {what}: {image[:60]!r} cannot be the path of a file", where=image[:60])
    return dict(named)


def _table_rows(path: Path, references: bool) -> Iterator[tuple[tuple[str, ...], bytes]]:
    keys = ["factor", "level"] if references else ["item"]
    try:
        frame = pl.read_parquet(path, columns=[*keys, "image"], glob=False)
        for number, row in enumerate(frame.iter_rows(named=True), start=1):
            raw = row["image"]["bytes"]
            if not isinstance(raw, bytes):
                raise BadTable(
                    f"{path.name}, row {number}: image.bytes is {type(raw).__name__}, not the bytes of a picture",
                    where=str(path),
                )
            yield tuple(row[key] for key in keys), raw
    except (*_BROKEN, KeyError, IndexError) as error:
        raise BadTable(f"{path.name}: not a table of pictures ({_line(error)})", where=str(path)) from error


def _tar_rows(path: Path, references: bool) -> Iterator[tuple[tuple[str, ...], bytes]]:
    keys = ["factor", "level"] if references else ["item"]
    pictures: dict[str, bytes] = {}
    try:
        with tarfile.open(path, "r:") as tar:
            for member in tar:
                stem, _, ending = member.name.partition(".")
                raw = _member(tar, member, path, _MOST_JSON if ending == "json" else MAX_BYTES)
                if ending != "json":
                    pictures[stem] = raw
                    if len(pictures) > _MOST_WAITING:
                        raise BadInput(
                            f"{path.name}: '{member.name}' and others before it have no row", where=str(path)
                        )
                    continue
                row = json.loads(raw)
                yield tuple(str(row[key]) for key in keys), pictures.pop(stem)
    except (*_BROKEN, tarfile.TarError, EOFError, KeyError, OverflowError) as error:
        raise BadInput(f"{path.name}: not a tar file of samples ({_line(error)})", where=str(path)) from error


def _member(tar: tarfile.TarFile, member: tarfile.TarInfo, path: Path, most: int) -> bytes:
    """The bytes of an ordinary member that is not too large; links, devices and sparse files are never read."""
    name = member.name[:60]
    if not member.isreg() or member.issparse():
        raise BadInput(f"{path.name}: '{name}' is no ordinary file, and nothing else is read", where=str(path))
    if not 0 <= member.size <= most:
        raise BadInput(f"{path.name}: '{name}' has {member.size} bytes; at most {most} are read", where=str(path))
    file = tar.extractfile(member)
    return b"" if file is None else file.read()


_BROKEN = (
    pl.exceptions.PolarsError,
    pl.exceptions.PanicException,
    OSError,
    ValueError,
    TypeError,
    RecursionError,
    MemoryError,
)
"""What readers of damaged files raise."""


def _line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0][:120]


def _read(path: str | Path, *, into: str | Path | None = None) -> Imported:
    """The benchmark of a pack, with the scores, votes and ratings that were taken along.

    Args:
        path: folder of the pack.
        into: folder that gets the pictures; needed for parquet and webdataset. Tables are not written there.
    """
    path = Path(path)
    layout = pack_layout(path)
    votes = Votes.read(path / "votes.csv") if (path / "votes.csv").is_file() else None
    ratings = Ratings.read(path / "ratings.csv") if (path / "ratings.csv").is_file() else None
    scores = tuple(Scores.read(one) for one in sorted((path / "scores").glob("*.csv")) if one.is_file())
    return Imported(  # pictures last, when all else is known to be sound
        votes=votes,
        ratings=ratings,
        scores=scores,
        benchmark=read_packed(path) if into is None else _taken_out(path, packed_benchmark(path), Path(into)),
        notes=(f"layout {layout}{_RIGHTS if (path / 'licences.csv').is_file() else ''}",),
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

"""Publish a benchmark: one folder in a layout that others read, with card, licences, digests and Croissant metadata."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from ...benchmark import Benchmark
from ...errors import BadInput, WouldOverwrite
from ...provenance import digest
from ...settings import write_toml
from ...sources.beside_pack import FROM_BENCHMARK
from ...tables import FORMAT, write_table
from .card_page import card_page
from .croissant import croissant
from .layouts import LAYOUTS, Laid
from .packing import Content, Packing, content_of
from .rights import rights_of

__all__ = ["MANIFEST", "MANIFEST_LINE", "Packed", "pack"]

MANIFEST = "manifest.sha256"
"""File of digests, as `sha256sum` reads it: every file of the pack but this one."""

MANIFEST_LINE = re.compile(r"([0-9a-f]{64}) [ *](.+)")
"""One line of it: digest and name."""

_SYSTEMS = (".DS_Store", "Thumbs.db", "desktop.ini")  # files that systems put into every folder; nobody misses them


@dataclass(frozen=True)
class Packed:
    """What was packed."""

    folder: Path
    layout: str
    pictures: int
    """Pictures of items."""
    references: int
    """Reference pictures."""
    without: int
    """Items without a picture; they are in items.csv only."""
    files: int
    """Files in the folder."""
    bytes: int
    """Their size together."""
    unlicensed: int = 0
    """Pictures, references among them, of which no licence is known."""
    derived: int = 0
    """Results without a licence of their own, made from references of which something is known."""

    @property
    def text(self) -> str:
        """What was packed, for the terminal; further lines say how many pictures have no licence of their own."""
        more = f", {self.without} items without a picture" if self.without else ""
        return (
            f"{self.folder}: {self.pictures} pictures and {self.references} references as {self.layout}{more}; "
            f"{self.files} files, {self.bytes / 2**20:.1f} MiB"
            + (
                f"\n{self.derived} results: the licences of their references hold; none is their own"
                if self.derived
                else ""
            )
            + (f"\n{self.unlicensed} pictures: no licence is known" if self.unlicensed else "")
        )


def pack(
    benchmark: Benchmark | str | Path, out: str | Path, packing: Packing | None = None, *, force: bool = False
) -> Packed:
    """Write a benchmark as a folder to publish, whole or not at all.

    Pictures keep their bytes and get safe names. Beside the layout's own files lie README.md (the card), benchmark.toml,
    items.csv and references.csv (in the layout imagefolder the folder is a benchmark as it is), items.parquet,
    licences.csv, croissant.json, pack.toml and manifest.sha256; made.csv, where a table beside the benchmark tells how
    each cell was made; cards of the references and files on rights (LICENCE, NOTICE, PICTURES.md). The same benchmark
    gives the same bytes.

    Args:
        benchmark: the noun, or the folder it lies in.
        out: the new folder; a link to a pack stays, and the pack behind it is replaced.
        packing: layout and words for the card; None: an image folder.
        force: replace a pack that is there; anything else is never replaced.

    Raises:
        WouldOverwrite: the folder is there, and `force` is off, it is no pack, or it holds files that are not of the pack.
        NotFound, BadTable, BadConfig: the benchmark cannot be read.
        BadTable: pictures are missing or damaged.
        BadInput: no item has a picture, names collide, or scores or answers to be taken along are not there.
        UnknownName: `split` names no factor.
    """
    packing = packing or Packing()
    held = benchmark if isinstance(benchmark, Benchmark) else Benchmark.read(benchmark)
    out = Path(out)
    content = content_of(held, packing)
    taken = _taken(held.folder, packing)
    with _whole_folder(out, force) as aside:
        laid = LAYOUTS[packing.layout](content, aside, packing.shard_mib << 20)
        for name in taken:
            (aside / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(held.folder / name, aside / name)
        content.benchmark.write(aside)
        write_table(content.benchmark.items, aside / "items.parquet")
        write_table(_licences(content), aside / "licences.csv")
        if content.made is not None:
            write_table(content.made, aside / "made.csv")
        (aside / "README.md").write_text(card_page(content, packing, laid, taken=taken), encoding="utf-8")
        _write_croissant(content, packing, laid, aside)
        write_toml({"format": FORMAT, "layout": packing.layout, "splits": list(content.splits)}, aside / "pack.toml")
        files = _write_manifest(aside)
        size = sum(path.stat().st_size for path in files)
    rights = rights_of(content)
    return Packed(
        out,
        packing.layout,
        len(content.pictures),
        len(content.shown),
        content.benchmark.items.height - len(content.pictures),
        len(files) + 1,
        size,
        rights.unknown,
        rights.derived,
    )


def _taken(folder: Path, packing: Packing) -> list[str]:
    """Files beside the benchmark that go along, relative to it; words on rights and cards of references always do."""
    taken = [name for name in FROM_BENCHMARK if (folder / name).is_file()]
    if packing.scores:
        found = sorted(path for path in (folder / "scores").glob("*") if path.suffix in (".csv", ".toml", ".parquet"))
        if not found:
            raise BadInput(f"there are no scores in '{folder / 'scores'}' to take along", where="scores")
        taken += [path.relative_to(folder).as_posix() for path in found]
    if packing.answers:
        there = [name for name in ("votes.csv", "ratings.csv") if (folder / name).is_file()]
        if not there:
            raise BadInput(f"there is no votes.csv or ratings.csv in '{folder}' to take along", where="answers")
        taken += there
    return taken


@contextmanager
def _whole_folder(out: Path, force: bool) -> Iterator[Path]:
    """A folder beside `out` that takes its place when the block ends well."""
    out = Path(os.path.realpath(out))
    if out.exists() and not force:
        raise WouldOverwrite(f"'{out}' exists; --force replaces a pack", where=str(out))
    if out.exists() and not (out / MANIFEST).is_file():
        raise WouldOverwrite(f"'{out}' is no pack, so it is not replaced; name another folder", where=str(out))
    _check_own(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(dir=out.parent, prefix=f".{out.name}.", suffix=".part"))
    try:
        yield aside
        mask = os.umask(0)
        os.umask(mask)
        aside.chmod(0o777 & ~mask)
        if out.exists():
            _check_own(out)  # packing may have taken long
            old = Path(tempfile.mkdtemp(dir=out.parent, prefix=f".{out.name}.", suffix=".old"))
            out.rename(old / out.name)
            aside.rename(out)
            shutil.rmtree(old)
        else:
            aside.rename(out)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _check_own(out: Path) -> None:
    """All that lies in a folder is of the pack that was written there: nobody's notes, no .git of a clone."""
    if not out.exists():
        return
    lines = (out / MANIFEST).read_text(encoding="utf-8", errors="replace").splitlines()
    own = {MANIFEST, *(match[2] for line in lines if (match := MANIFEST_LINE.fullmatch(line)))}
    there = [path for path in out.rglob("*") if path.is_symlink() or not path.is_dir()]
    names = (path.relative_to(out).as_posix() for path in there if path.name not in _SYSTEMS)
    strange = sorted({_short(name, own) for name in names if name not in own})
    if strange:
        more = f" and {len(strange) - 3} more" if len(strange) > 3 else ""
        raise WouldOverwrite(
            f"'{out}' holds {', '.join(strange[:3])}{more}, not of the pack; move that away, or name another folder",
            where=str(out),
        )


def _short(name: str, own: set[str]) -> str:
    """A file's name; its uppermost folder where nothing of the pack lies in that, for example .git/."""
    top, below, _ = name.partition("/")
    return f"{top}/" if below and not any(one.startswith(f"{top}/") for one in own) else name


def _licences(content: Content) -> pl.DataFrame:
    rows = [
        {"file": picture.name, "kind": kind, "of": name, **picture.credits}
        for kind, name, picture in [
            *(("item", item, picture) for item, picture in content.pictures.items()),
            *((factor, level, picture) for (factor, level), picture in content.shown.items()),
        ]
    ]
    return pl.DataFrame(rows, schema=dict.fromkeys(rows[0], pl.String))


def _write_croissant(content: Content, packing: Packing, laid: Laid, folder: Path) -> None:
    benchmark = content.benchmark
    described = {"item": "Id of the item.", "image": "Its picture, as a path in the unpacked benchmark."}
    columns = [(name, described.get(name, f"Level of the factor '{name}'.")) for name in benchmark.items.columns]
    facts = {
        "name": benchmark.name,
        "description": benchmark.description or f"Benchmark '{benchmark.name}'.",
        "license": benchmark.licence or "unknown",
        "url": packing.homepage,
        "version": packing.version,
        "citeAs": packing.citation,
        "datePublished": packing.published,
    }
    made = croissant(facts, {"items.parquet": (digest(folder / "items.parquet"), columns)}, laid.sets)
    (folder / "croissant.json").write_text(json.dumps(made, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _write_manifest(folder: Path) -> list[Path]:
    """Write the digests of all files, and return the files."""
    files = sorted((path for path in folder.rglob("*") if path.is_file()), key=lambda path: path.as_posix())
    lines = [f"{digest(path)}  {path.relative_to(folder).as_posix()}\n" for path in files]
    (folder / MANIFEST).write_text("".join(lines), encoding="utf-8")
    return files

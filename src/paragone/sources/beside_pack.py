"""What lies beside the tables and pictures of a pack and goes along when it is imported: cards, rights, how it was made."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import polars as pl

from ..errors import BadInput, WouldOverwrite
from ..tables import read_table, whole_file, write_table

__all__ = ["FROM_BENCHMARK", "FROM_PACK", "beside_pack", "bring_along"]

FROM_BENCHMARK = (
    *("PICTURES.md", "LICENCE", "LICENCE.md", "LICENCE.txt", "LICENSE", "LICENSE.md", "LICENSE.txt", "NOTICE"),
    *("cards.csv", "references/cards.csv"),
)
"""Files beside a benchmark that every pack takes along, and every import: words on rights, cards of the references."""
FROM_PACK = ("licences.csv", "made.csv")
"""Tables that a pack adds: the rights in every picture, and how every cell was made."""


def beside_pack(pack: str | Path, folder: str | Path | None = None) -> list[str]:
    """Return which of these files a pack has, as paths in it.

    Args:
        pack: its folder.
        folder: where they are to go; None: nowhere yet.

    Raises:
        BadInput: one is no ordinary file, or a link that leads out of the pack.
        WouldOverwrite: in `folder`, a folder lies where a file should go, or a file where a folder should.
    """
    pack = Path(pack)
    home = os.path.realpath(pack)
    there = [name for name in (*FROM_BENCHMARK, *FROM_PACK) if os.path.lexists(pack / name)]
    for name in there:
        if not os.path.realpath(pack / name).startswith(home.rstrip(os.sep) + os.sep):
            raise BadInput(
                f"'{name}' is a link that leads out of the pack; copy the pack with the files themselves",
                where=str(pack / name),
            )
        if not (pack / name).is_file():
            raise BadInput(f"'{name}' is no ordinary file", where=str(pack / name))
        if folder is not None:
            _check_place(Path(folder), name)
    return there


def bring_along(pack: str | Path, folder: str | Path, *, pictures: str | Path | None = None) -> list[Path]:
    """Copy these files of a pack to a benchmark's folder, in place of those that are there, and return the copies.

    Args:
        pack: its folder.
        folder: the benchmark's; may be the pack itself.
        pictures: folder that got the pictures of the pack, so that licences.csv names them from `folder`; None: `folder`.

    Raises:
        BadInput, WouldOverwrite: as `beside_pack`.
    """
    pack, folder = Path(pack), Path(folder)
    written = []
    for name in beside_pack(pack, folder):
        source, target = pack / name, folder / name
        if name == "licences.csv" and pictures is not None and os.path.realpath(pictures) != os.path.realpath(folder):
            write_table(_seen_from(read_table(source), Path(pictures), folder), target)
        elif not (target.exists() and target.samefile(source)):
            with whole_file(target) as aside:
                shutil.copyfile(source, aside)
        written.append(target)
    return written


def _check_place(folder: Path, name: str) -> None:
    place = folder / name
    if place.is_dir():
        raise WouldOverwrite(f"'{place}' is a folder, and a file of the pack would go there", where=str(place))
    if os.path.lexists(place.parent) and not place.parent.is_dir():
        raise WouldOverwrite(
            f"'{place.parent}' is no folder, and '{place.name}' of the pack would go into it", where=str(place.parent)
        )


def _seen_from(licences: pl.DataFrame, pictures: Path, folder: Path) -> pl.DataFrame:
    """The table with its column `file` as paths from another folder."""
    if "file" not in licences.columns:
        return licences
    seen = [
        None if file is None else Path(os.path.relpath(pictures / file, folder)).as_posix() for file in licences["file"]
    ]
    return licences.with_columns(pl.Series("file", seen, dtype=pl.String))

"""The verbs `generate` and `pack`: pictures from prompts, and a benchmark as others can download it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
import polars as pl

from ..errors import BadConfig, BadTable, WouldOverwrite
from ..make.making import Making
from ..make.packs.pack import Packed, pack
from ..make.packs.packing import Packing
from ..make.packs.unpack import faults
from ..make.prompts.generate import Generated, generate
from ..make.prompts.generation import jobs_of
from ..make.prompts.grammar import prompts_of
from ..tables import read_table
from .made import drawn, making_of

__all__ = ["generated", "pack_faults", "packed", "planned"]


def planned(folder: Path) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Return the jobs of a folder's make.toml, with prompts and seeds, and what may surprise about the prompts.

    Raises:
        NotFound, BadConfig, BadTable: there is no make.toml, or it has no prompts or no models.
    """
    making = making_of(folder)
    prompts, warnings = _prompts(making, folder)
    if making.generate is None:
        raise BadConfig("make.toml has no [generate]; name the plan and at least one model", where="generate")
    return jobs_of(prompts, making.generate), warnings


def generated(
    folder: Path,
    *,
    shard: tuple[int, int] = (1, 1),
    limit: int | None = None,
    quiet: bool = True,
    say: Callable[[str], None] | None = None,
) -> tuple[Generated, list[Path]]:
    """Make the pictures of a folder's make.toml that are not there yet, the benchmark and a contact sheet.

    Args:
        folder: holds make.toml.
        shard: (i, n): every n-th job from the i-th on.
        limit: most pictures of this run.
        quiet: show no progress.
        say: is given a line where the contact sheet cannot be drawn.

    Raises:
        WouldOverwrite: the folder holds a benchmark that was not generated.
        NotFound, BadConfig, BadTable, MissingExtra, BadInput: as `generate` and `planned`.
    """
    making = making_of(folder)
    if (folder / "benchmark.toml").exists() and not (folder / "generated.csv").exists():
        raise WouldOverwrite(
            f"'{folder}' holds a benchmark that was not generated; name another folder", where=str(folder)
        )
    prompts, warnings = _prompts(making, folder)
    if making.generate is None:
        raise BadConfig("make.toml has no [generate]; name the plan and at least one model", where="generate")
    made = generate(
        prompts,
        making.generate,
        folder,
        beside=folder,
        criteria=making.criteria,
        shard=shard,
        limit=limit,
        quiet=quiet,
    )
    written = [folder / "benchmark.toml", folder / "generated.csv"]
    if made.benchmark.items["image"].null_count() < made.benchmark.items.height:
        written += drawn(folder, quiet=quiet, say=say)
    return replace(made, warnings=(*warnings, *made.warnings)), written


def packed(
    folder: Path, out: Path, *, layout: str = "", force: bool = False, scores: bool = False, answers: bool = False
) -> Packed:
    """Pack a benchmark folder by the [pack] of its make.toml, if there is one.

    Args:
        folder: the benchmark's.
        out: the new folder.
        layout: imagefolder, parquet or webdataset; empty: as make.toml says.
        force: replace a pack that is there.
        scores, answers: take them along.

    Raises:
        WouldOverwrite, NotFound, BadTable, BadConfig, BadInput, UnknownName: as `pack`.
    """
    making = making_of(folder) if (folder / "make.toml").is_file() else None
    packing = making.pack if making is not None else Packing()
    changes: dict[str, object] = {}
    if layout:
        changes["layout"] = layout
    if making is not None and making.excluded and not packing.excluded:
        changes["excluded"] = making.excluded
    if scores:
        changes["scores"] = True
    if answers:
        changes["answers"] = True
    return pack(folder, out, msgspec.structs.replace(packing, **changes), force=force)


def pack_faults(folder: Path) -> list[str]:
    """Return what is wrong with a pack, one line each.

    Raises:
        NotFound, BadConfig: the folder is no pack.
    """
    return faults(folder)


def _prompts(making: Making, folder: Path) -> tuple[pl.DataFrame, tuple[str, ...]]:
    if making.grammar is not None:
        found = prompts_of(making.grammar)
        return found.frame, found.warnings
    if not making.prompts:
        raise BadConfig("make.toml has neither [grammar] nor prompts; say what is to be generated", where="grammar")
    frame = read_table(folder / making.prompts)
    missing: Sequence[str] = [name for name in ("id", "prompt") if name not in frame.columns]
    if missing:
        raise BadTable(f"{making.prompts}: no column '{missing[0]}'; it needs id and prompt", where=making.prompts)
    return frame, ()

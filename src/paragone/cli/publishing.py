"""Verbs that generate pictures from prompts and publish a benchmark: generate, pack."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from .options import emit, json_option, must_exist, quiet_option, say, show_frame

__all__ = ["generate", "pack"]

_PATH = click.Path(path_type=Path)


@click.command()
@click.argument("folder", type=_PATH, default=Path())
@click.option("--dry-run", is_flag=True, help="Print every job with its prompt and seed, and make nothing.")
@click.option("--shard", metavar="I/N", default="1/1", show_default=True, help="Every N-th job from the I-th on.")
@click.option("--limit", type=click.IntRange(min=1), help="Most pictures of this run.")
@json_option
@quiet_option
def generate(folder: Path, dry_run: bool, shard: str, limit: int | None, as_json: bool, quiet: bool) -> None:
    """Generate pictures from prompts with diffusion models.

    Reads make.toml of FOLDER: [grammar] or prompts, and [generate] with its models, each a folder in the layout of
    diffusers or a hub id in the local cache. Writes jobs.csv (all prompts and seeds), generated/, generated.csv (what became
    of each, with model digest and settings), the benchmark and contact.html. A run that was stopped goes on.

    Example: paragone generate my-benchmark --dry-run
    """
    must_exist(folder, what="folder")
    from ..loop import generated as loop

    silent = quiet or as_json
    if dry_run:
        jobs, warnings = loop.planned(folder)
        if as_json:
            emit({"jobs": jobs.to_dicts()})
        else:
            show_frame(jobs)
        for line in warnings:
            say(line, quiet=silent)
        return
    first, _, last = shard.partition("/")
    if not (first.isdigit() and last.isdigit()):
        raise click.UsageError(f"--shard {shard}: write I/N, for example 1/4")
    made, written = loop.generated(
        folder,
        shard=(int(first), int(last)),
        limit=limit,
        quiet=silent,
        say=lambda line: say(line, quiet=silent),
    )
    if as_json:
        emit({"pictures": made.frame.to_dicts(), "written": [str(path) for path in written]})
    else:
        click.echo(made.text)
    for line in [*made.warnings, *map(str, written)]:
        say(line, quiet=silent)


@click.command()
@click.argument("folder", type=_PATH, default=Path())
@click.option("-o", "--output", type=_PATH, help="The new folder, which must not be there yet.")
@click.option(
    "--layout",
    type=click.Choice(["imagefolder", "parquet", "webdataset"]),
    help="Default: as make.toml says, else imagefolder.",
)
@click.option("--scores", is_flag=True, help="Take along scores/.")
@click.option("--answers", is_flag=True, help="Take along votes.csv and ratings.csv; look at them first.")
@click.option(
    "--check", "only_check", is_flag=True, help="FOLDER is a pack: say whether it is whole, and pack nothing."
)
@click.option("--force", is_flag=True, help="Replace a pack that is there.")
@json_option
@quiet_option
def pack(
    folder: Path,
    output: Path | None,
    layout: str | None,
    scores: bool,
    answers: bool,
    only_check: bool,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Publish a benchmark: a folder that others can download, check and load.

    Writes pictures, tables, licences, a dataset card, Croissant metadata and SHA-256 digests: as an image folder for the
    Hugging Face hub, as Parquet or as WebDataset. `paragone import packed PACK -o FOLDER` reads it back; --check says
    whether a pack is whole.

    Example: paragone pack my-benchmark -o published --layout parquet
    """
    must_exist(folder, what="folder")
    from ..loop import generated as loop

    silent = quiet or as_json
    if only_check:
        found = loop.pack_faults(folder)
        if as_json:
            emit({"faults": found})
        else:
            for line in found:
                click.echo(line)
        say(f"{len(found)} faults", quiet=silent)
        if found:
            sys.exit(1)
        return
    if output is None:
        raise click.UsageError("give -o, the folder that is written")
    made = loop.packed(folder, output, layout=layout or "", force=force, scores=scores, answers=answers)
    if as_json:
        emit(
            {
                "folder": str(made.folder),
                "layout": made.layout,
                "pictures": made.pictures,
                "references": made.references,
                "without": made.without,
                "files": made.files,
                "bytes": made.bytes,
                "unlicensed": made.unlicensed,
                "derived": made.derived,
            }
        )
    say(made.text, quiet=silent)

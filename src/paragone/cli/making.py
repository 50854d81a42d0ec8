"""Verbs that make a benchmark and look at its pictures: select, stylise, contact, distinct, attributes."""

from __future__ import annotations

from pathlib import Path

import click

from .options import (
    assignments,
    emit,
    jobs_option,
    json_option,
    must_exist,
    quiet_option,
    say,
    seed_option,
    show_frame,
)

__all__ = ["attributes", "contact", "distinct", "select", "stylise"]

_PATH = click.Path(path_type=Path)


@click.command()
@click.argument("folder", type=_PATH, default=Path())
@click.option("--only", "factors", multiple=True, metavar="FACTOR", help="Only this factor; may be given again.")
@click.option("--fix", multiple=True, metavar="PICTURE", help="A picture to keep by hand; may be given again.")
@click.option(
    "--reference", "references", multiple=True, metavar="FACTOR=FOLDER", help="Pool to choose from, not make.toml's."
)
@jobs_option
@json_option
@quiet_option
def select(
    folder: Path,
    factors: tuple[str, ...],
    fix: tuple[str, ...],
    references: tuple[str, ...],
    jobs: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Choose references by coverage: few pictures that differ as much as a whole pool does.

    Reads make.toml of FOLDER ([reference.FACTOR.select]: how many, by which rule, under which quotas) and cards.csv, if it
    is there. Writes selection/FACTOR.csv, which stylise follows, and selection/FACTOR.html: the picked pictures, the range
    of each property that they cover, and the pool around them.

    Example: paragone select my-benchmark --fix cat
    """
    must_exist(folder, what="folder")
    from ..loop import made
    from ..loop.selected import selected

    silent = quiet or as_json
    making = made.making_of(folder, assignments(references, "--reference"))
    found, written = selected(making, folder, factors=factors, fix=fix, jobs=jobs, quiet=silent)
    if as_json:
        emit({"selected": {factor: one.picked.to_dicts() for factor, one in found.items()}})
    else:
        for factor, one in found.items():
            click.echo(f"{factor}: {', '.join(one.names)}")
    for one in found.values():
        for note in one.notes:
            say(note, quiet=silent)
    for path in written:
        say(str(path), quiet=silent)


@click.command()
@click.argument("folder", type=_PATH, default=Path())
@click.option("--example", is_flag=True, help="Print a commented make.toml to start from, and do nothing else.")
@click.option("--only", "methods", multiple=True, metavar="METHOD", help="Only this method; may be given again.")
@click.option(
    "--reference", "references", multiple=True, metavar="FACTOR=FOLDER", help="References from here, not make.toml's."
)
@click.option("--again", is_flag=True, help="Try cells again that were refused, invalid or of a wrong size.")
@click.option("--remake", multiple=True, metavar="METHOD", help="Make all its cells again; may be given again.")
@click.option("--dry-run", is_flag=True, help="Check everything, say what would be made and how long it takes.")
@jobs_option
@json_option
@quiet_option
def stylise(
    folder: Path,
    example: bool,
    methods: tuple[str, ...],
    references: tuple[str, ...],
    again: bool,
    remake: tuple[str, ...],
    dry_run: bool,
    jobs: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Make every method's pictures of a make.toml, and the benchmark.

    Reads make.toml of FOLDER: references and methods. Writes references/, results/, cells.csv (what became of each cell,
    and why), benchmark.toml, items.csv, references.csv and contact.html with contact.png. A run that was stopped goes on
    where it was; cells whose settings or references changed are made again. A make.toml to start from:
    paragone stylise --example > my-benchmark/make.toml

    Example: paragone stylise my-benchmark --jobs -1
    """
    if example:
        from ..loop.making_example import EXAMPLE

        click.echo(EXAMPLE, nl=False)
        return
    must_exist(folder, what="folder")
    from ..loop import made

    silent = quiet or as_json
    given = assignments(references, "--reference")
    if dry_run:
        plan = made.outlook(folder, references=given, methods=methods, quiet=silent)
        if as_json:
            emit(made.outlook_document(plan))
        else:
            click.echo(plan.text)
        return
    built, written = made.stylised(
        folder,
        references=given,
        methods=methods,
        again=again,
        remake=remake,
        jobs=jobs,
        quiet=silent,
        say=lambda line: say(line, quiet=silent),
    )
    if as_json:
        emit(made.made_document(built, written))
    else:
        show_frame(built.counts)
    for line in [*made.told_lines(built), *map(str, written)]:
        say(line, quiet=silent)


@click.command()
@click.argument("folder", type=_PATH, default=Path())
@click.option(
    "-o", "--output", type=_PATH, help="The page; default: contact.html of the folder. Its PNG lies beside it."
)
@json_option
@quiet_option
def contact(folder: Path, output: Path | None, as_json: bool, quiet: bool) -> None:
    """Write a contact sheet: every picture of a benchmark, as HTML and PNG.

    Reads the benchmark of FOLDER. Contents and styles go down, methods across; references stand at the left. Cells that
    have no picture say why, where cells.csv knows.

    Example: paragone contact my-benchmark
    """
    must_exist(folder, what="folder")
    from ..loop import made

    written = made.sheet_of(folder, output=output, quiet=quiet or as_json)
    if as_json:
        emit({"written": [str(path) for path in written]})
    for path in written:
        say(str(path), quiet=quiet or as_json)


@click.command()
@click.argument("folder", type=_PATH, default=Path())
@click.option(
    "--statistic",
    default="",
    help="lpips-alexnet, kid-vgg16, frechet-alexnet, handcrafted, ...; default: lpips-alexnet where torch and weights are.",
)
@click.option("--factor", default="method", show_default=True, help="Whose levels are compared.")
@click.option("--keep", type=click.IntRange(min=2), help="Suggest which to drop so that this many stay.")
@click.option("--threshold", type=float, help="Suggest which to drop so that those that stay are this far apart.")
@click.option("--weights", type=_PATH, help="Weight file of the statistic's network.")
@click.option("-o", "--output", type=_PATH, help="The page; default: distinct.html of the folder.")
@seed_option
@json_option
@quiet_option
def distinct(
    folder: Path,
    statistic: str,
    factor: str,
    keep: int | None,
    threshold: float | None,
    weights: Path | None,
    output: Path | None,
    seed: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Say which methods repeat each other: distances on the same references, and what to drop.

    Reads the benchmark of FOLDER and compares every two methods on the cells that both filled. Writes distinct.html (heat
    map and table) with distinct-distances.csv.

    Example: paragone distinct my-benchmark --statistic handcrafted --keep 2
    """
    must_exist(folder, weights, what="folder or file")
    from ..loop.pictured import methods_apart

    silent = quiet or as_json
    apart, written = methods_apart(
        folder,
        statistic=statistic,
        factor=factor,
        keep=keep,
        threshold=threshold,
        weights=weights,
        seed=seed,
        output=output,
        quiet=silent,
    )
    if as_json:
        emit({"distances": apart.distances.to_dicts(), "dropped": apart.dropped.to_dicts(), "notes": list(apart.notes)})
    else:
        show_frame(apart.distances.sort("distance"))
    for row in apart.dropped.iter_rows(named=True):
        say(f"drop {row['method']}: it is near {row['nearest']}", quiet=silent)
    for line in [*apart.notes, *map(str, written)]:
        say(line, quiet=silent)


@click.command()
@click.argument("folder", type=_PATH, default=Path())
@click.option("--natural", type=_PATH, required=True, help="Folder of photographs, or a benchmark; KonIQ-10k is known.")
@click.option("--generator", default="method", show_default=True, help="Factor that names what made a picture.")
@click.option(
    "--side",
    type=click.IntRange(64, 4096),
    help="Longer side in pixels at which all are measured; default: 512 or the smallest.",
)
@click.option("-o", "--output", type=_PATH, help="The page; default: attributes.html of the folder.")
@seed_option
@jobs_option
@json_option
@quiet_option
def attributes(
    folder: Path,
    natural: Path,
    generator: str,
    side: int | None,
    output: Path | None,
    seed: int,
    jobs: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Compare five attributes of generated pictures with those of natural ones.

    Light, contrast, colourfulness, blur and spatial information, all at one size: differences of means and medians,
    Wasserstein distance and likeness to a Gaussian, with intervals, for all pictures and for each generator; and whether
    'blurrier, with more spatial information' holds. FOLDER is a benchmark or a folder of pictures. Writes attributes.html
    and attributes.csv.

    Example: paragone attributes my-benchmark --natural photographs
    """
    must_exist(folder, natural, what="folder")
    from ..loop.pictured import beside_natural

    silent = quiet or as_json
    compared, written = beside_natural(
        folder, natural, generator=generator, side=side, seed=seed, jobs=jobs, output=output, quiet=silent
    )
    if as_json:
        emit({"table": compared.table.to_dicts(), "claims": compared.claims.to_dicts(), "notes": list(compared.notes)})
    else:
        show_frame(compared.claims)
    for line in [*compared.notes, *map(str, written)]:
        say(line, quiet=silent)

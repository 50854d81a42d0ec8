"""Verbs that meet machines: measure, compare."""

from __future__ import annotations

from pathlib import Path

import click

from .options import (
    assignments,
    emit,
    jobs_option,
    json_option,
    must_exist,
    output_option,
    quiet_option,
    say,
    seed_option,
    show_frame,
)

__all__ = ["compare", "measure"]

_PATH = click.Path(path_type=Path)


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME... [DIR or FILES]")
@click.option("--content", type=_PATH, help="Folder of content references, or one picture for all.")
@click.option("--style", type=_PATH, help="Folder of style references, or one picture for all.")
@click.option("--cache", type=_PATH, help="Folder that keeps results by the content of pictures.")
@output_option("Where the scores go; several metrics: a folder. Default in a benchmark folder: scores/NAME.csv")
@jobs_option
@json_option
@quiet_option
def measure(
    names: tuple[str, ...],
    content: Path | None,
    style: Path | None,
    cache: Path | None,
    output: Path | None,
    jobs: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Measure pictures by machine metrics.

    Names of metrics come first (all: every metric whose inputs are there; the folder of a trained evaluator is a metric
    too), then a benchmark folder, a folder of pictures, or pictures; default: the current folder. A picture that cannot be
    scored has a status that says why.

    Bare pictures are items named by their path below the folder that was given, without ending: results/wave/cat.png is
    'wave/cat'. The reference of an item is the picture in --content (or --style) of the same path or file name, else the
    one whose file name is a whole word of the item's: 'cat_stylized_wave' has cat.jpg of --content and wave.png of
    --style. Where several would do, it has none. A benchmark folder names its references in references.csv.

    Example: paragone measure contrast ssim results/ --content contents/
    """
    must_exist(content, style, what="picture or folder")
    from ..loop import machine, outputs, told

    if output is not None and output.suffix:
        outputs.may_write(output, outputs.SCORINGS)
    metrics, places = machine.split_names(names)
    target, notes = machine.to_measure(places, content=content, style=style)
    scores = machine.measured(metrics, target, jobs=jobs, cache=cache, quiet=quiet or as_json)
    if output is None and machine.is_folder_of_ours(places):
        output = (places[0] if places else Path()) / "scores"
    written = machine.write_all(scores, output) if output else []
    if as_json:
        from ..loop.documents import measure_document

        emit(measure_document(scores))
    elif not output:
        show_frame(machine.side_by_side(scores))
    notes += machine.left_out(metrics, target)
    for line in [*notes, *machine.statuses(scores, target), *told.measured_lines(scores), *map(str, written)]:
        say(line, quiet=quiet or as_json)


@click.command()
@click.argument("human", type=_PATH)
@click.argument("machines", type=_PATH, nargs=-1, required=True)
@click.option("--group", "factor", metavar="FACTOR", help="Also compare within each level of this factor.")
@click.option(
    "--items", type=_PATH, help="Table with item and factor columns, for --group and --cluster on bare files."
)
@click.option("--cluster", metavar="FACTOR", help="Resample whole levels of this factor, for example content.")
@click.option(
    "--better", default="", metavar="NAME=lower,...", help="Which end is good, where a bare table does not say."
)
@click.option("--replicates", type=click.IntRange(100), default=1000, show_default=True, help="Bootstrap replicates.")
@output_option("Where the table goes; default in a benchmark folder: agreement.csv")
@seed_option
@json_option
@quiet_option
def compare(
    human: Path,
    machines: tuple[Path, ...],
    factor: str | None,
    items: Path | None,
    cluster: str | None,
    better: str,
    replicates: int,
    output: Path | None,
    seed: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Compare machine scores with people's, with intervals and significance.

    Reads a scores table of people and one or more of machines (item and score, or item and one column per metric).
    Prints or writes SRCC, KRCC, PLCC raw and after the logistic, RMSE, outlier ratio, pairwise accuracy and more, and
    tests between predictors. A positive correlation means agreement where the table says which end is better. Of
    scores/*.csv, people's own table and tables of other things (levels of a factor) are left out, and told.

    Example: paragone compare scores/human.csv scores/ssim.csv scores/psnr.csv --group method
    """
    must_exist(human, *machines, items)
    from ..loop import machine, outputs, told
    from ..loop.documents import agreement_document

    if output is None and (human.parent.parent / "benchmark.toml").is_file():
        output = human.parent.parent / "agreement.csv"
    outputs.may_write(output, outputs.AGREEMENTS, inputs=[human, *machines, items])
    agreement = machine.compared(
        human,
        machines,
        factor=factor,
        items=items,
        cluster=cluster,
        better=assignments(better, "--better"),
        replicates=replicates,
        seed=seed,
    )
    if output:
        agreement.write(output)
    if as_json:
        emit(agreement_document(agreement))
    elif not output:
        show_frame(agreement.frame, short=told.short)
    for line in [*machine.warnings_of(agreement), *told.agreement_lines(agreement), *([str(output)] if output else [])]:
        say(line, quiet=quiet or as_json)

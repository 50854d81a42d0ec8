"""Verbs that learn: crossval, train, rate."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from .options import emit, jobs_option, json_option, must_exist, quiet_option, say, seed_option, show_frame

__all__ = ["crossval", "rate", "train"]

_PATH = click.Path(path_type=Path)
Command = TypeVar("Command", bound=Callable[..., Any])
_NETWORK = ("backbone", "weights", "random", "download", "device", "precision", "features", "framing", "side", "batch")
"""Fields of `loop.described.Network`, which a verb is handed together."""


def _network_options(command: Callable[..., None]) -> Callable[..., None]:
    """Which network reads the pictures, and how: options that the command gets as one argument, `network`."""

    @functools.wraps(command)
    def with_network(**given: Any) -> None:
        network = {name: given.pop(name) for name in _NETWORK}
        must_exist(network["weights"])
        command(network=network, **given)

    made: Callable[..., None] = with_network
    for option in reversed(
        [
            click.option(
                "--backbone",
                default="vgg11",
                show_default=True,
                help="Frozen network that reads the pictures; paragone list backbones.",
            ),
            click.option("--weights", type=_PATH, help="Its weight file; default: looked for on this machine."),
            click.option(
                "--random-weights",
                "random",
                type=click.IntRange(min=0),
                metavar="SEED",
                help="Random weights in place of trained ones: a control, labelled so.",
            ),
            click.option("--download", is_flag=True, help="Fetch weights from the Hugging Face hub if none are here."),
            click.option(
                "--device", default="cpu", show_default=True, help="Where the network computes: cpu, cuda, cuda:1, mps."
            ),
            click.option(
                "--precision",
                type=click.Choice(["float32", "bfloat16"]),
                default="float32",
                show_default=True,
                help="What it computes in.",
            ),
            click.option(
                "--features",
                default="",
                help="triplet-v1, image-v1 or references-v1; default: what the references allow.",
            ),
            click.option(
                "--framing",
                type=click.Choice(["crop", "pad"]),
                default="crop",
                show_default=True,
                help="How pictures become squares: the middle, or the whole with a border.",
            ),
            click.option(
                "--side", type=click.IntRange(1), help="Side of the squares in pixels; default: the network's."
            ),
            click.option(
                "--batch", type=click.IntRange(1), default=8, show_default=True, help="Pictures in one go; less memory."
            ),
            click.option("--cache", type=_PATH, help="Folder that keeps features; default: .features of DIR."),
        ]
    ):
        made = option(made)
    return made


def _people_options(command: Command) -> Command:
    """What is learned."""
    for option in reversed(
        [
            click.option("--people", type=_PATH, help="Scores of people; default: scores/human.csv of DIR."),
            click.option(
                "--targets",
                type=click.Choice(["all", "refit"]),
                default="all",
                show_default=True,
                help="What is learned in each fold: people's scores as they are, or estimated anew from answers that "
                "touch no held-out item.",
            ),
            click.option(
                "--blind",
                multiple=True,
                metavar="CRITERION=REFERENCE",
                help="Heads that do not see a reference, for example content=style; may be repeated.",
            ),
        ]
    ):
        command = option(command)
    return command


@click.command()
@click.argument("folder", type=_PATH, default=Path())
@click.option(
    "--leave-out",
    "factors",
    multiple=True,
    required=True,
    metavar="FACTOR",
    help="Factor whose levels are left out in turn, for example method; may be repeated.",
)
@click.option(
    "--learner",
    "learners",
    multiple=True,
    metavar="NAME[:OPTION=VALUE,...]",
    help="Learner, for example ridge or astra-score:components=256; may be repeated. "
    "Default: astra-score, astra-score:components=256, ridge, svr.",
)
@_people_options
@click.option(
    "--metric",
    "metrics",
    type=_PATH,
    multiple=True,
    help="Scores of a metric to judge beside; may be repeated. Default: those in scores/.",
)
@_network_options
@click.option("--replicates", type=click.IntRange(0), default=1000, show_default=True, help="Bootstrap replicates.")
@click.option("-o", "--output", type=_PATH, help="Folder of the tables; default: crossval/ of DIR.")
@jobs_option
@seed_option
@json_option
@quiet_option
def crossval(
    folder: Path,
    factors: tuple[str, ...],
    learners: tuple[str, ...],
    people: Path | None,
    targets: Any,
    blind: tuple[str, ...],
    metrics: tuple[Path, ...],
    network: dict[str, Any],
    cache: Path | None,
    replicates: int,
    output: Path | None,
    jobs: int,
    seed: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Validate learned evaluators by leaving out methods, contents, styles or any factor.

    Reads a benchmark with scores of people and pictures. A frozen network describes each picture once; learners are trained
    without each level in turn and judged on it by SRCC and KRCC, beside metrics (scores/), and floors that look at no
    picture. Writes one set of tables for each factor and prints the table of papers.

    Example: paragone crossval my-benchmark --leave-out method --backbone vgg16
    """
    must_exist(folder, what="folder")
    must_exist(people, *metrics)
    from ..loop import evaluated
    from ..loop.described import Network, blindness
    from ..loop.learned import crossval_document, crossval_table
    from ..loop.told import validation_lines

    silent = quiet or as_json
    found = evaluated.crossval_folder(
        folder,
        list(factors),
        Network(**network),
        learners=learners or evaluated.DEFAULT_LEARNERS,
        without=blindness(blind),
        targets=targets,
        people=people,
        metrics=metrics or None,
        output=output,
        replicates=replicates,
        seed=seed,
        jobs=jobs,
        cache=cache,
        quiet=silent,
        say=lambda line: say(line, quiet=silent),
    )
    if as_json:
        emit({"crossval": [crossval_document(factor, one) for factor, one in found.items()]})
        return
    show_frame(crossval_table(found))
    for line in validation_lines(found):
        say(line, quiet=silent)
    more = "" if output else f"; intervals and tests in a page: paragone report {folder}"
    say(f"{output or folder / 'crossval'}{more}", quiet=silent)


@click.command()
@click.argument("folder", type=_PATH, default=Path())
@click.option(
    "--learner",
    default="astra-score",
    show_default=True,
    metavar="NAME[:OPTION=VALUE,...]",
    help="Learner, for example ridge or astra-score:components=256.",
)
@click.option(
    "--leave-out",
    "factor",
    metavar="FACTOR",
    help="Factor that is left out to learn the errors, and that leaderboards rank; default: method.",
)
@_people_options
@_network_options
@click.option("--name", default="", help="Name of the evaluator; default: the learner's.")
@click.option("--no-validation", is_flag=True, help="Do not learn the errors; intervals then tell the seeds' spread.")
@click.option("-o", "--output", type=_PATH, help="Folder of the evaluator; default: evaluators/NAME of DIR.")
@jobs_option
@seed_option
@json_option
@quiet_option
def train(
    folder: Path,
    learner: str,
    factor: str | None,
    people: Path | None,
    targets: Any,
    blind: tuple[str, ...],
    network: dict[str, Any],
    cache: Path | None,
    name: str,
    no_validation: bool,
    output: Path | None,
    jobs: int,
    seed: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Train an evaluator: a machine that says what people said, kept in a folder.

    Reads a benchmark with scores of people and pictures; writes evaluator.toml, the weights, people's scores and a card
    that says what it learned from and how wrong it was about levels that it had not seen.

    Example: paragone train my-benchmark --backbone vgg16
    """
    must_exist(folder, what="folder")
    must_exist(people)
    from ..loop import evaluated
    from ..loop.described import Network, blindness

    silent = quiet or as_json
    made = evaluated.train_folder(
        folder,
        Network(**network),
        learner=learner,
        factor=factor,
        without=blindness(blind),
        targets=targets,
        people=people,
        name=name,
        output=output,
        validate=not no_validation,
        seed=seed,
        jobs=jobs,
        cache=cache,
        quiet=silent,
        say=lambda line: say(line, quiet=silent),
    )
    if as_json:
        from ..loop.learned import evaluator_document

        emit(evaluator_document(made))
    else:
        click.echo(str(made))


@click.command()
@click.argument("results", type=_PATH)
@click.option(
    "--evaluator",
    type=_PATH,
    required=True,
    metavar="FOLDER",
    help="Folder of the evaluator, as paragone train writes it.",
)
@click.option(
    "--benchmark",
    type=_PATH,
    metavar="FOLDER",
    help="Benchmark whose references the results are of; default: the one that the evaluator lies in.",
)
@click.option("--name", default="", help="Name of the new method; default: the folder's.")
@click.option(
    "--pattern",
    default="",
    help="How results are named, for example '{content}_{style}.png'; default: a known layout that fits.",
)
@click.option("--weights", type=_PATH, help="Weight file of the backbone; default: looked for on this machine.")
@click.option("--download", is_flag=True, help="Fetch weights from the Hugging Face hub if none are here.")
@click.option("--device", default="cpu", show_default=True, help="Where the network computes: cpu, cuda, cuda:1, mps.")
@click.option("--batch", type=click.IntRange(1), default=8, show_default=True, help="Pictures in one go; less memory.")
@click.option(
    "-o", "--output", type=_PATH, help="Folder of scores and page; default: rated-by-EVALUATOR/NAME beside it."
)
@jobs_option
@json_option
@quiet_option
def rate(
    results: Path,
    evaluator: Path,
    benchmark: Path | None,
    name: str,
    pattern: str,
    weights: Path | None,
    download: bool,
    device: str,
    batch: int,
    output: Path | None,
    jobs: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Score a new method by a trained evaluator, and rank it among the known ones.

    Reads a folder of the method's results on the benchmark's references, and an evaluator. Writes scores of the pictures
    and of the method with intervals, and a leaderboard page; warns of pictures that are out of the evaluator's range.
    Weights of another digest than the evaluator's are refused.

    Example: paragone rate new-method/ --evaluator my-benchmark/evaluators/astra-score
    """
    must_exist(results, evaluator, benchmark, what="folder")
    must_exist(weights)
    from ..loop import rated
    from ..loop.learned import rated_document

    silent = quiet or as_json
    found = rated.rate_folder(
        results,
        evaluator,
        benchmark=benchmark,
        name=name,
        pattern=pattern,
        weights=weights,
        download=download,
        device=device,
        batch=batch,
        output=output,
        jobs=jobs,
        quiet=silent,
    )
    if as_json:
        emit(rated_document(found))
        return
    show_frame(found.board)
    for line in [*found.warnings, *map(str, found.files)]:
        say(line, quiet=silent)

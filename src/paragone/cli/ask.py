"""Verbs of a study: plan, simulate, collect."""

from __future__ import annotations

from pathlib import Path

import click

from .options import emit, json_option, must_exist, quiet_option, say

__all__ = ["collect", "plan", "simulate"]

_FOLDER = click.Path(path_type=Path)


@click.command()
@click.argument("folder", type=_FOLDER, default=Path())
@click.option("-o", "--output", type=_FOLDER, help="Where the plan goes; default: plan.csv of the folder.")
@click.option("--example", is_flag=True, help="Print a commented study.toml to start from, and do nothing else.")
@json_option
@quiet_option
def plan(folder: Path, output: Path | None, example: bool, as_json: bool, quiet: bool) -> None:
    """Deal the trials of a study: who is shown what, in which order.

    Reads benchmark.toml, items.csv and study.toml of FOLDER, writes plan.csv, and prints what the plan asks of people:
    trials and minutes a person, participants to recruit, exposure of items and cells. A study.toml to start from:
    paragone plan --example > my-benchmark/study.toml

    Example: paragone plan my-benchmark
    """
    if example:
        from ..loop.example import EXAMPLE

        click.echo(EXAMPLE, nl=False)
        return
    must_exist(folder, what="folder")
    from ..loop import outputs, study

    target = output or folder / "plan.csv"
    outputs.may_write(target, outputs.PLANS, inputs=[folder / "items.csv", folder / "study.toml"])
    made, costs = study.make_plan(folder)
    path = made.write(target)
    if as_json:
        emit({"plan": str(path), **study.cost_document(costs)})
    for line in [*costs.text.splitlines(), str(path)]:
        say(line, quiet=quiet or as_json)


@click.command()
@click.argument("folder", type=_FOLDER, default=Path())
@click.option("--latent", type=_FOLDER, help="Scores table that is true for the simulation; default: invented effects.")
@click.option("--taste", type=float, default=0.0, show_default=True, help="Spread of personal tastes, in logits, >= 0.")
@click.option("--careless", type=float, default=0.0, show_default=True, help="Share of careless participants, 0 to 1.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of all randomness.")
@json_option
@quiet_option
def simulate(
    folder: Path, latent: Path | None, taste: float, careless: float, seed: int, as_json: bool, quiet: bool
) -> None:
    """Let simulated participants answer a plan.

    Reads plan.csv of FOLDER; writes answers.csv and the scores that were true, scores/simulated-truth.csv. Simulated
    participants are named sim-0001 and so on, and everything that rests on their answers is labelled simulated.

    Example: paragone simulate my-benchmark --taste 0.5 --seed 1
    """
    must_exist(folder, what="folder")
    must_exist(latent)
    from ..loop import study

    paths = study.simulate_folder(folder, latent=latent, taste=taste, careless=careless, seed=seed)
    if as_json:
        emit({"written": paths, "simulated": True})
    for path in paths:
        say(str(path), quiet=quiet or as_json)


@click.command()
@click.argument("folder", type=_FOLDER, default=Path())
@click.option("--answers", type=_FOLDER, help="Raw answers; default: answers.csv of the folder.")
@json_option
@quiet_option
def collect(folder: Path, answers: Path | None, as_json: bool, quiet: bool) -> None:
    """Turn raw answers into votes.csv and ratings.csv.

    Reads plan.csv and answers.csv of FOLDER. The first answer of a participant to a trial and criterion counts; later
    ones and missing ones are counted and said.

    Example: paragone collect my-benchmark
    """
    must_exist(folder, what="folder")
    must_exist(answers)
    from ..loop import study

    paths, notes = study.collect_folder(folder, answers=answers)
    if as_json:
        emit({"written": [str(path) for path in paths], "notes": notes})
    for line in [*(f"{key}: {value}" for key, value in notes.items() if not isinstance(value, dict)), *map(str, paths)]:
        say(line, quiet=quiet or as_json)

"""Verbs of a study: plan, simulate, collect."""

from __future__ import annotations

import math
from pathlib import Path

import click

from .options import emit, json_option, must_exist, quiet_option, say

__all__ = ["collect", "plan", "simulate"]

_FOLDER = click.Path(path_type=Path)


@click.command()
@click.argument("folder", type=_FOLDER, default=Path())
@click.option("-o", "--output", type=_FOLDER, help="Where the plan goes; default: plan.csv of the folder.")
@click.option("--example", is_flag=True, help="Print a commented study.toml to start from, and do nothing else.")
@click.option(
    "--wave",
    metavar="[STAGE]",
    is_flag=False,
    flag_value="",
    help="Add the next wave of an adaptive stage to plan.csv; without STAGE the first that has sheets left.",
)
@click.option(
    "--store", metavar="URL", help="With --wave: store of the answers; default: FOLDER/study.db, else votes.csv."
)
@json_option
@quiet_option
def plan(
    folder: Path,
    output: Path | None,
    example: bool,
    wave: str | None,
    store: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Deal the trials of a study: who is shown what, in which order.

    Reads benchmark.toml, items.csv and study.toml of FOLDER, writes plan.csv, and prints what the plan asks of people:
    trials and minutes a person, participants to recruit, exposure of items and cells. A study.toml to start from:
    paragone plan --example > my-benchmark/study.toml

    With --wave it reads plan.csv and the answers so far too, and adds the sheets that would tell most; everything else
    stays. A study that is being served does so by itself.

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
    from ..loop import waves

    if store is not None and wave is None:
        raise click.UsageError("--store goes with --wave")
    if wave is not None:
        dealt, made, costs = waves.deal_wave(folder, wave, store=store)
        lines = [
            f"stage {dealt.stage}: {dealt.sheets} sheets more, from {dealt.answers} votes; {dealt.left} left to deal"
        ]
        document = {"stage": dealt.stage, "sheets": dealt.sheets, "answers": dealt.answers, "left": dealt.left}
    else:
        made, costs = study.make_plan(folder)
        waves.no_wave_lost(target, made)
        lines, document = [], {}
    path = made.write(target)
    if as_json:
        emit({"plan": str(path), **document, **study.cost_document(costs)})
    following = (
        []
        if wave is not None
        else [
            *study.unasked_lines(folder),
            *study.unsigned_lines(folder),
            f"next, to click through it yourself: paragone serve {folder} --preview",
        ]
    )
    for line in [*lines, *costs.text.splitlines(), *following, str(path)]:
        say(line, quiet=quiet or as_json)


@click.command()
@click.argument("folder", type=_FOLDER, default=Path())
@click.option("--latent", type=_FOLDER, help="Scores table that is true for the simulation; default: invented effects.")
@click.option("--taste", type=float, default=0.0, show_default=True, help="Spread of personal tastes, in logits, >= 0.")
@click.option("--careless", type=float, default=0.0, show_default=True, help="Share of careless participants, 0 to 1.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of all randomness.")
@click.option(
    "--through-browser",
    "browsers",
    metavar="N",
    type=click.IntRange(min=1),
    help="N participants walk the real pages in Chromium; default: all answer the plan without a browser.",
)
@click.option(
    "--url", metavar="URL", help="With --through-browser: a server that serves FOLDER already; default: none."
)
@click.option("--store", metavar="URL", help="With --through-browser: store of the answers; default: FOLDER/study.db.")
@click.option(
    "--speed",
    type=float,
    help="With --through-browser: how many times faster than people, >= 1; default: nothing is waited for.",
)
@json_option
@quiet_option
def simulate(
    folder: Path,
    latent: Path | None,
    taste: float,
    careless: float,
    seed: int,
    browsers: int | None,
    url: str | None,
    store: str | None,
    speed: float | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Let simulated participants answer a plan.

    Reads plan.csv of FOLDER; writes answers.csv and the scores that were true, scores/simulated-truth.csv. Simulated
    participants are named sim-0001 and so on, and everything that rests on their answers is labelled simulated. With
    --through-browser they go from consent to the completion code, by clicks and keys, on a server of their own.

    Example: paragone simulate my-benchmark --taste 0.5 --seed 1
    """
    must_exist(folder, what="folder")
    must_exist(latent)
    alone = [name for name, given in (("--url", url), ("--store", store), ("--speed", speed)) if given is not None]
    if browsers is None and alone:
        raise click.UsageError(f"{alone[0]} goes with --through-browser N")
    if browsers is not None:
        from ..loop.walking import walk_folder

        walked = walk_folder(
            folder,
            browsers,
            url=url,
            store=store,
            latent=latent,
            taste=taste,
            careless=careless,
            seed=seed,
            speed=math.inf if speed is None else speed,
            told=lambda line: say(line, quiet=quiet or as_json),
        )
        if as_json:
            emit({**walked, "simulated": True})
        for path in walked["written"]:
            say(path, quiet=quiet or as_json)
        return
    from ..loop import study

    paths = study.simulate_folder(folder, latent=latent, taste=taste, careless=careless, seed=seed)
    if as_json:
        emit({"written": paths, "simulated": True})
    for path in paths:
        say(str(path), quiet=quiet or as_json)


@click.command()
@click.argument("folder", type=_FOLDER, default=Path())
@click.option("--answers", type=_FOLDER, help="Table of raw answers; default: answers.csv of FOLDER, else study.db.")
@click.option(
    "--store", metavar="URL", help="Store of a served study; default: FOLDER/study.db where no answers.csv is."
)
@click.option("--everything", is_flag=True, help="Of a store: unfinished and excluded sheets too.")
@json_option
@quiet_option
def collect(
    folder: Path, answers: Path | None, store: str | None, everything: bool, as_json: bool, quiet: bool
) -> None:
    """Turn raw answers into votes.csv and ratings.csv.

    Reads answers.csv and plan.csv of FOLDER or, where there is none or only one of simulated participants, the store of
    its served study: finished sheets that were not excluded at the desk. The first answer of a participant to a trial and
    criterion counts, of ratings that were changed the last; others and missing ones are counted and said.

    Example: paragone collect my-benchmark
    """
    must_exist(folder, what="folder")
    must_exist(answers)
    from ..loop import study

    paths, notes = study.collect_folder(folder, answers=answers, store=store, everything=everything)
    if as_json:
        emit({"written": [str(path) for path in paths], "notes": notes})
    for line in [*(f"{key}: {value}" for key, value in notes.items() if not isinstance(value, dict)), *map(str, paths)]:
        say(line, quiet=quiet or as_json)

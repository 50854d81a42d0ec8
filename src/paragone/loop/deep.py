"""The demo's second half: a learned evaluator on the demo benchmark, validated, trained, and asked about a new method."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import NamedTuple

from ..benchmark import Benchmark
from ..images import read_image, write_image
from ..make.stylise import stylise
from .described import Network
from .evaluated import crossval_folder, train_folder
from .gather import gather
from .rated import rate_folder

__all__ = ["NEW_METHOD", "Deep", "deepened"]

NEW_METHOD = "optimal-transport"
"""A styliser that the demo's people do not judge: the new method that the evaluator rates."""


class Deep(NamedTuple):
    """Where to look."""

    report: Path
    leaderboard: Path
    evaluator: Path


def deepened(place: Path, network: Network, *, seed: int, quiet: bool, say: Callable[[str], None]) -> Deep:
    """Validate and train ASTRA-Score in a demo folder, rate a new method with it, and write the report anew.

    Args:
        place: a demo that has run.
        network: what reads the pictures.
        seed: of learners and the new method.
        quiet: show no progress.
        say: takes one line per step.
    """
    from ..report import report

    benchmark = Benchmark.read(place)
    crossval_folder(
        place,
        ["method", "content", "style"],
        network,
        learners=("astra-score:components=256", "ridge", "svr"),
        seed=seed,
        quiet=quiet,
        say=say,
    )
    judge = train_folder(place, network, learner="astra-score:components=256", seed=seed, quiet=quiet, say=say)
    new = place / "new-method" / NEW_METHOD
    shown = {
        (factor, level): place / image
        for factor, level, image in benchmark.references.select("factor", "level", "image").iter_rows()
    }
    contents, styles = (sorted(level for kind, level in shown if kind == factor) for factor in ("content", "style"))
    for content, style in product(contents, styles):
        pair = (read_image(shown["content", content]), read_image(shown["style", style]))
        made = stylise(*pair, NEW_METHOD, seed=seed)
        write_image(made, new / f"{content}_stylized_{style}.png")
    say(f"new method: {len(contents) * len(styles)} results of {NEW_METHOD}, which nobody was shown")
    found = rate_folder(new, judge, quiet=quiet)
    for line in found.warnings:
        say(line)
    return Deep(report(gather(place), place / "report.html"), found.files[-1], judge)

"""The demo: the main job from shipped pictures to a report, with simulated and so labelled participants."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ..design import plan, read_study
from ..make import demo_benchmark
from ..metrics import measure
from ..observers import Observers, mixed_scores, simulate
from ..scores import Scores
from ..study import collect
from ..tables import whole_file, write_table
from . import demo_marker
from .main_job import run

__all__ = ["demo"]

_STUDY = """\
# Two stages, as in the style-transfer study this package rebuilds: first within a content-style group, then across groups.
name = "Which picture keeps the content better, which shows the style better, and which is better overall?"
criteria = ["content", "style", "overall"]
seed = {seed}

[[stage]]
kind = "pairs"
name = "within"
pairs = "within"
group = ["content", "style"]
compare = "method"
participants = 30
trials = 36
checks = 4
checks_needed = 3
repeats = 3

[[stage]]
kind = "pairs"
name = "across"
pairs = "across"
group = ["content", "style"]
compare = "method"
participants = 30
trials = 30
checks = 4
checks_needed = 3
repeats = 3
"""


def demo(
    folder: str | Path = "demo",
    *,
    seed: int = 0,
    force: bool = False,
    deep: str = "",
    jobs: int = -1,
    quiet: bool = True,
    say: Callable[[str], None] | None = None,
) -> Path:
    """Run the whole loop on shipped pictures and return the report.

    The simulated participants' truth is a stated mix of metrics: content follows SSIM with the photograph, style the colour
    distance to the painting, overall both, style more. So in this demo those metrics must come out well; on answers of
    real people nothing of the kind is granted.

    Args:
        folder: where everything goes.
        seed: of the stylisers, the plan, the participants and the bootstrap.
        force: replace a demo that is there, whatever else lies in it.
        deep: backbone with which an evaluator is then trained, validated and asked about a new method; empty: none is.
        jobs: worker processes, -1 for one per core; the numbers do not depend on it.
        quiet: show no progress bars.
        say: takes one line per step.

    Raises:
        WouldOverwrite: the folder holds something that no demo made, or that was changed since, and `force` is off; or no
            demo was ever made in it.
    """
    place = Path(folder)
    demo_marker.clear(place, force=force)
    demo_marker.begin(place)
    page = None
    tell = say or (lambda _: None)
    if deep:
        from .described import Network

        Network(backbone=deep).load()  # what is missing is told before anything is made
    try:
        page = _made(place, seed=seed, jobs=jobs, quiet=quiet, tell=tell)
        if deep:
            from .deep import deepened

            more = deepened(place, Network(backbone=deep), seed=seed, quiet=quiet, say=tell)
            tell(f"evaluator: {more.evaluator}; a new method among the known ones: {more.leaderboard}")
            page = more.report
    finally:
        demo_marker.record(place, finished=page is not None)
    return page


def _made(place: Path, *, seed: int, jobs: int, quiet: bool, tell: Callable[[str], None]) -> Path:
    benchmark = replace(demo_benchmark(place, seed=seed, jobs=jobs, quiet=quiet), simulated=True)
    benchmark.write(place)
    tell(f"pictures: {benchmark.items.height} results and references in {place}")
    with whole_file(place / "study.toml") as aside:
        aside.write_text(_STUDY.format(seed=seed), encoding="utf-8")
    study = read_study(place / "study.toml")
    made = plan(benchmark, study)
    made.write(place / "plan.csv")
    tell(f"plan: {len(made.sheets)} sheets, {made.frame.height} trials")
    truth = _truth(measure(["ssim", "colour-transport", "si"], benchmark, jobs=jobs, quiet=quiet))
    truth.write(place / "scores" / "simulated-truth.csv")
    watchers = Observers(taste_sd=0.5, careless=0.1, stage_temperature={"across": 1.3})
    answers = simulate(made, truth, seed=seed, observers=watchers)
    write_table(answers, place / "answers.csv")
    found = collect(made, answers)
    if found.votes is not None:
        found.votes.write(place / "votes.csv")
    tell(f"answers: {answers.height} of simulated participants")
    return run(place, group="method", seed=seed, jobs=jobs, quiet=quiet, say=tell)


def _truth(measured: list[Scores]) -> Scores:
    ssim, colour, detail = measured
    return mixed_scores(
        {
            "content": [(ssim, 1.0), (detail, 0.3)],
            "style": [(colour, 1.0), (detail, 0.4)],
            "overall": [(ssim, 0.4), (colour, 1.0)],
        },
        sd=1.2,
    )

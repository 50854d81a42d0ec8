"""A small study without pictures, answered by made-up people, as the desk sees it; shared by the tests of the desk."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import polars as pl

from paragone.benchmark import Benchmark
from paragone.design import PairStage, RatingStage, Study, plan
from paragone.design.pages import Pay, Stop
from paragone.observers import Observers, latent_scores, simulate
from paragone.plan import Plan
from paragone.study.admin.live import Material

__all__ = ["CRITERIA", "World", "answered", "benchmark", "pairs_study", "ratings_study"]

CRITERIA = ("content", "style")


@dataclass(frozen=True)
class World:
    """A study, its plan and everybody's answers."""

    study: Study
    benchmark: Benchmark
    plan: Plan
    answers: pl.DataFrame
    """As in `Material.answers`; every lease finished, none excluded."""

    def material(self, answers: pl.DataFrame | None = None) -> Material:
        """The moment at which all these answers are there."""
        given = self.answers if answers is None else answers
        return Material(self.study, CRITERIA, self.plan.frame, self.benchmark.items, given, 1_764_000_000.0)


def benchmark() -> Benchmark:
    cells = product(range(4), range(2), range(2))
    rows = [
        {"item": f"m{m}/c{c}/s{s}", "image": None, "method": f"m{m}", "content": f"c{c}", "style": f"s{s}"}
        for m, c, s in cells
    ]
    items = pl.DataFrame(rows, schema_overrides={"image": pl.String})
    none = pl.DataFrame(schema={"factor": pl.String, "level": pl.String, "image": pl.String})
    return Benchmark(items, none, name="grid", criteria=CRITERIA)


def pairs_study() -> Study:
    shared = {"group": ["content", "style"], "compare": "method", "check": "instructed", "break_seconds": 0}
    return Study(
        name="small",
        stage=[
            PairStage(name="1", participants=12, trials=12, checks=2, repeats=2, repeat_distance=3, **shared),
            PairStage(name="2", participants=8, trials=10, checks=2, repeats=0, pairs="across", **shared),
        ],
        pay=Pay(per_session=3.0),
        stop=Stop(target={"1": 0.8}, looks=2, every=4),
    )  # fmt: skip


def ratings_study() -> Study:
    stage = RatingStage(
        name="r", participants=8, checks=2, check="instructed", repeats=3, repeat_distance=3, stabilising=2,
        compare="method", group=["content"],
    )  # fmt: skip
    return Study(name="rated", stage=[stage], stop=Stop(every=4))


def answered(study: Study, observers: Observers) -> World:
    grid = benchmark()
    made = plan(grid, study)
    latent = latent_scores(grid, seed=5)
    said = simulate(made, latent, seed=9, observers=observers)
    owner = made.frame.select("trial", "stage", pl.concat_str("stage", "owner", separator="/").alias("unit"))
    said = said.join(owner, on="trial", maintain_order="left")
    leases = {unit: number for number, unit in enumerate(said["unit"].unique(maintain_order=True).to_list(), start=1)}
    answers = said.select(
        pl.col("unit").replace_strict(leases, return_dtype=pl.Int64).alias("lease"), "participant", "trial", "criterion",
        pl.lit(0, dtype=pl.Int64).alias("revision"), pl.col("answer").alias("value"), "seconds",
        (1_763_990_000.0 + pl.int_range(pl.len()) * 8.0).alias("at"),
        pl.lit(False).alias("excluded"), pl.lit(True).alias("finished"),
    )  # fmt: skip
    return World(study, grid, made, answers)

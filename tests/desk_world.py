"""A small study without pictures, answered by made-up people, as the desk sees it; shared by the tests of the desk."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import polars as pl
import sqlalchemy as sa

from paragone.benchmark import Benchmark
from paragone.design import PairStage, RatingStage, Study, plan
from paragone.design.pages import Pay, Stop
from paragone.observers import Observers, latent_scores, simulate
from paragone.plan import Plan
from paragone.study.admin.live import Material
from paragone.study.frozen import Frozen
from paragone.study.store import Store, claims, events, people, versions
from paragone.study.store.tables import answer, lease

__all__ = [
    "CRITERIA",
    "NOW",
    "World",
    "answered",
    "benchmark",
    "dealt",
    "fill",
    "frozen_of",
    "pairs_study",
    "ratings_study",
]

CRITERIA = ("content", "style")
NOW = 1_764_000_000.0
"""The clock of the small studies."""


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
        return Material(self.study, CRITERIA, self.plan.frame, self.benchmark.items, given, NOW)


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
        (NOW - 10_000.0 + pl.int_range(pl.len()) * 8.0).alias("at"),
        pl.lit(False).alias("excluded"), pl.lit(True).alias("finished"),
    )  # fmt: skip
    return World(study, grid, made, answers)


def frozen_of(world: World, folder: Path) -> Frozen:
    """The version of a small study, without pictures; its benchmark is written into the folder."""
    world.benchmark.write(folder)
    columns = [name for name in world.plan.frame.columns if "." not in name]
    plan = world.plan.frame.select(columns).with_columns(pl.col("session").fill_null("1"))
    return Frozen(
        study=world.study, plan=plan, pictures={}, words={}, practice={}, name="grid", criteria=CRITERIA, simulated=False,
        folder=folder,
    )  # fmt: skip


def fill(
    store: Store, frozen: Frozen, world: World, *, finished: int | None = None, platform: str = "prolific"
) -> None:
    """Let everybody come, consent, answer and finish, in the order of the leases.

    Args:
        store: empty but for the version.
        frozen: as from `frozen_of`, dealt into the store.
        world: whose answers are stored.
        finished: how many finish; the next one stops half way, the others never come. None: all finish.
        platform: where they come from.
    """
    units = world.answers["lease"].unique(maintain_order=True).to_list()
    owner = dict(world.plan.frame.select("trial", "owner").iter_rows())
    stage = dict(world.plan.frame.select("trial", "stage").iter_rows())
    session = dict(frozen.plan.select("trial", "session").iter_rows())

    def job(c: sa.Connection) -> None:
        for number, unit in enumerate(units):
            part = world.answers.filter(pl.col("lease") == unit)
            done = finished is None or number < finished
            if not done and number > (finished or 0):
                return
            rows = part.to_dicts() if done else part.head(part.height // 2).to_dicts()
            began, ended = rows[0]["at"] - 120.0, rows[-1]["at"]
            person = people.arrive(c, platform, f"hmac {number}", None, "en", began)
            people.open_visit(c, person.id, f"key {number}", f"cookie {number}", None, began)
            first = rows[0]["trial"]
            where = sa.and_(lease.c.stage == stage[first], lease.c.owner == owner[first])
            taken = {"state": "leased", "participant_id": person.id, "taken_at": began, "seen_at": ended}
            held = c.execute(lease.update().where(where).values(**taken).returning(lease.c.id)).scalar_one()
            told = {"participant_id": person.id, "lease_id": held, "session": session[first]}
            events.append(c, "consent", began, **told)
            events.append(c, "device", began + 30, body={"width": 1440, "ratio": 2.0, "agent": "Testbrowser"}, **told)
            events.append(c, "trials-begun", began + 60, **told)
            for place, row in enumerate(rows):
                kept = {"client_id": f"{unit} {place}", "lease_id": held, "participant_id": person.id, "at": row["at"],
                        **{key: row[key] for key in ("trial", "criterion", "revision", "value", "seconds")},
                        "body": json.dumps({"input": "key", "hidden_ms": 0, "exact": True})}  # fmt: skip
                c.execute(answer.insert(), kept)
            if done:
                events.append(c, "questionnaire", ended + 20, body={"answers": {"age": "30-39"}, "remark": ""}, **told)
                events.append(c, "finished", ended + 30, body={"outcome": "completed"}, **told)
                claims.finish(c, held, ended + 30)

    store.write_now(job)


def dealt(store: Store, frozen: Frozen) -> int:
    """Make the version the one that is served; return its id."""
    study, plan, items, leases = frozen.parts
    return store.write_now(lambda c: versions.freeze(c, study, plan, items, leases, NOW - 20_000.0))

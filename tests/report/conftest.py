"""A small study as the report gets it: real verbs on made-up answers, so that tests meet the tables that users have."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image

from paragone.agreement import compare
from paragone.benchmark import Benchmark
from paragone.consistency import consistency
from paragone.estimate import Question, estimate
from paragone.estimate.diagnosis import diagnose
from paragone.judgements import Votes
from paragone.report import Material, answers_of
from paragone.scores import Scores
from paragone.screen import screen

HOSTILE = "<script>alert(1)</script>"
"""The name of a method, and so part of the ids of its items, labels, legends and titles."""
METHODS = (HOSTILE, "_gatys", '"adain" & co', "$x^2$ 中")
CONTENTS = ("cat", "castle", "hopper")


@pytest.fixture(scope="session")
def benchmark(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    folder = tmp_path_factory.mktemp("benchmark")
    rng = np.random.default_rng(3)
    items = [f"{method}/{content}" for method in METHODS for content in CONTENTS]
    for number in range(len(items)):
        noise = rng.integers(0, 256, (40, 60, 3), dtype=np.uint8)
        Image.fromarray(noise).resize((120, 80)).save(folder / f"{number}.png")
    table = pl.DataFrame(
        {
            "item": items,
            "image": [f"{number}.png" for number in range(len(items))],
            "method": [method for method in METHODS for _ in CONTENTS],
            "content": list(CONTENTS) * len(METHODS),
        }
    )
    none = pl.DataFrame(schema={"factor": pl.String, "level": pl.String, "image": pl.String})
    return Benchmark(table, none, folder=folder, criteria=("style", "overall"))


@pytest.fixture(scope="session")
def votes(benchmark: Benchmark) -> Votes:
    """18 people, two criteria, a check each; person 0 fails the checks, and everybody says how old they are."""
    rng = np.random.default_rng(4)
    items = benchmark.items["item"].to_list()
    worth = rng.normal(0, 1, len(items))
    rows = []
    for person in range(18):
        for criterion in ("style", "overall"):
            for trial in range(24):
                left, right = rng.choice(len(items), 2, replace=False)
                wins = rng.random() < 1 / (1 + np.exp(worth[right] - worth[left]))
                check = trial < 2
                rows.append(
                    {
                        "participant": f"prolific-{person:03d}",
                        "trial": f"{criterion}-{trial}",
                        "kind": "check" if check else "main",
                        "criterion": criterion,
                        "left": items[left],
                        "right": items[right],
                        "choice": ("left" if person else "right") if check else "left" if wins else "right",
                        "expected": "left" if check else None,
                        "seconds": float(rng.lognormal(1.5, 0.4)) if person else 0.3,
                        "age_band": ("18-29", "30-49", "50+")[person % 3],
                    }
                )
    return Votes(pl.DataFrame(rows, infer_schema_length=None))


@pytest.fixture(scope="session")
def study(benchmark: Benchmark, votes: Votes) -> Callable[..., Material]:
    """The whole material of a simulated study; keyword arguments replace parts of it."""
    human = estimate(votes, "bradley-terry-ridge", question=Question(replicates=100))
    levels = Question(replicates=100, levels=benchmark.levels("method"), factor="method")
    rng = np.random.default_rng(5)
    score = human.of_criterion("style")["score"].to_numpy()
    items = human.of_criterion("style")["item"]

    def metric(name: str, values: np.ndarray, **facts: object) -> Scores:
        better = facts.pop("better", "higher")
        frame = pl.DataFrame({"item": items, "score": values})
        return Scores(frame, name=name, better=better, made=facts)  # type: ignore[arg-type]

    machine = [
        metric("good", score + rng.normal(0, 0.3, len(score)), unit="dB", reconstruction=True),
        metric("turned", -score + rng.normal(0, 0.6, len(score)), better="lower", badges=["random weights"]),
        metric("noise", rng.normal(0, 1, len(score))),
    ]
    whole = {
        "title": "A <b>small</b> study",
        "asked": "Which picture has the better <i>style</i>?",
        "human": human,
        "level_scores": [estimate(votes, "bradley-terry-ridge", question=levels)],
        "machine": machine,
        "agreement": compare(human, *machine, group=benchmark.items.select("item", "method"), replicates=100),
        "screening": screen(votes),
        "consistency": consistency(votes, replicates=100),
        "graph": diagnose(votes),
        "benchmark": benchmark,
        "answers": answers_of(votes, about=["age_band"]),
        "provenance": [{"table": "scores/human.csv", **human.made, "date": "2026-01-31", "sha256": "ab" * 32}],
        "notes": ["One input\x1b has changed since."],
        "simulated": True,
    }

    def build(**parts: object) -> Material:
        return Material(**{**whole, **parts})  # type: ignore[arg-type]

    return build


@pytest.fixture(scope="session")
def page(study: Callable[..., Material], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole report, written once."""
    from paragone.report import report

    return report(study(), tmp_path_factory.mktemp("page"))

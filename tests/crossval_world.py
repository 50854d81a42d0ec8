"""A small world for validations: items of three crossed factors, features that tell something of the truth, learners."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from paragone.evaluators.task import Fitted, Learner, Predicted, Task
from paragone.features.described import Block, Features
from paragone.scores import Better, Scores


class World:
    """6 methods x 5 contents x 4 styles, two criteria; people's scores have effects of all factors and of the picture."""

    def __init__(
        self, *, seed: int = 0, methods: int = 6, contents: int = 5, styles: int = 4, noise: float = 0.3
    ) -> None:
        rng = np.random.default_rng(seed)
        rows = [
            (f"m{m}-c{c}-s{s}", f"m{m}", f"c{c}", f"s{s}")
            for m in range(methods)
            for c in range(contents)
            for s in range(styles)
        ]
        self.factors = pl.DataFrame(rows, schema=["item", "method", "content", "style"], orient="row")
        self.items = tuple(self.factors["item"].sort())
        n = len(self.items)
        own = rng.standard_normal((n, 3))
        effect = {name: rng.standard_normal(12) for name in ("method", "content", "style")}
        at = {name: np.array([int(level[1:]) for level in self.factors.sort("item")[name]]) for name in effect}
        base = sum(effect[name][at[name]] for name in effect)
        self.truth: dict[str | None, NDArray[np.float64]] = {
            "content": base + own[:, 0] + noise * rng.standard_normal(n),
            "style": base + own[:, 1] + noise * rng.standard_normal(n),
        }
        values = np.hstack([own, base[:, None] + 0.5 * rng.standard_normal((n, 1)), rng.standard_normal((n, 4))])
        blocks = (
            Block(name="picture", start=0, stop=4, reads=("image",), kind="vector"),
            Block(name="beside style", start=4, stop=6, reads=("image", "style"), kind="scalar"),
            Block(name="beside content", start=6, stop=8, reads=("image", "content"), kind="scalar"),
        )
        self.features = Features(
            items=self.items,
            values=values.astype(np.float32),
            blocks=blocks,
            definition="made-1",
            backbone="made by code",
            sha256="ab" * 32,
            source="the test",
        )
        self.people = self.scores(self.truth)

    def levels(self, factor: str) -> pl.DataFrame:
        return self.factors.select("item", pl.col(factor).alias("level"))

    def level_of(self, factor: str) -> dict[str, str]:
        return dict(self.levels(factor).iter_rows())

    def scores(self, values: Mapping[str | None, Any], *, name: str = "human", better: Better = "higher") -> Scores:
        parts = [
            pl.DataFrame({"item": self.items, "score": np.asarray(own, dtype=np.float64)}).with_columns(
                pl.lit(criterion, dtype=pl.String).alias("criterion")
            )
            for criterion, own in values.items()
        ]
        return Scores(pl.concat(parts), name=name, better=better)


class Linear:
    """A fitted ridge, closed form."""

    def __init__(self, task: Task, strength: float) -> None:
        self.mean, self.scale = task.x.mean(axis=0), task.x.std(axis=0) + 1e-9
        x = ((task.x - self.mean) / self.scale).astype(np.float64)
        self.offset = float(task.y.mean())
        self.w = np.linalg.solve(x.T @ x + strength * np.eye(x.shape[1]), x.T @ (task.y - self.offset))
        self.notes: Mapping[str, Any] = {
            "strength": strength,
            "n": len(task.y),
            "groups": len(set(task.groups.tolist())),
        }

    def predict(self, x: NDArray[np.float32]) -> Predicted:
        score = ((x - self.mean) / self.scale).astype(np.float64) @ self.w + self.offset
        return Predicted(score, score - 0.1, score + 0.1)

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {"w": self.w}


def learner(
    fit: Callable[..., list[Fitted]] | None = None, *, name: str = "linear", columns: Literal["all", "scalar"] = "all"
) -> Learner:
    """A ridge, or a learner of another fit."""

    def ridge(tasks: Sequence[Task], *, seed: int, quiet: bool = True, strength: float = 1.0) -> list[Fitted]:
        return [Linear(task, strength) for task in tasks]

    def restore(arrays: Mapping[str, NDArray[Any]], notes: Mapping[str, Any]) -> Fitted:
        raise NotImplementedError

    return Learner(
        name=name,
        label=name,
        summary="a ridge for tests",
        source="closed form",
        columns=columns,
        fit=fit or ridge,
        restore=restore,
    )

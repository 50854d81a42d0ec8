"""How long a leave-one-method-out table of learned evaluators takes to train, beside the plain loop over networks.

    python benchmarks/bench_heads.py [--full] [--columns 3614] [--baselines] [--folds 12]

The size is that of the paper: 12 folds of 792 training rows, 3 criteria, 5 seeds, 40 epochs, batches of 32, hidden 256:
180 heads. Features are random (how long it takes does not depend on them); with 256 principal components, with `--full`
also with every column. The rival trains one `torch.nn.Sequential` at a time with autograd and `torch.optim.AdamW`, for a
few epochs in the same run, in turns with ours, and is scaled up; on all cores and on one, and what took less counts.
`--baselines` also times ridge and SVR. Wall seconds count; CPU seconds beside them tell whether the machine was shared
(less than wall x cores) while it ran.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch

from paragone.evaluators import LEARNERS, Task
from paragone.evaluators.learners.heads import fit_heads

FOLDS, ROWS, CRITERIA, SEEDS, EPOCHS, BATCH, HIDDEN = 12, 792, 3, 5, 40, 32, 256
SCALARS = 30


class Took(NamedTuple):
    """Seconds."""

    wall: float
    cpu: float


def clocked(work: Callable[[], object]) -> Took:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return Took(time.perf_counter() - wall, time.process_time() - cpu)


def on_cores(n: int, work: Callable[[], object]) -> Took:
    before = torch.get_num_threads()
    torch.set_num_threads(n)
    took = clocked(work)
    torch.set_num_threads(before)
    return took


def tasks_of(folds: int, columns: int) -> list[Task]:
    """Three criteria of a fold share one array, as a cross-validation hands them over."""
    rng = np.random.default_rng(0)
    made = []
    for fold in range(folds):
        x = rng.standard_normal((ROWS, columns), dtype=np.float32)
        x[:, 1:] += x[:, :-1]  # neighbours say much the same
        groups = np.arange(ROWS) % (FOLDS - 1)
        for criterion in range(CRITERIA):
            y = np.tanh(x[:, criterion]) + 0.3 * rng.standard_normal(ROWS)
            made.append(Task(x, y.astype(np.float64), groups, f"fold {fold}, criterion {criterion}"))
    return made


def naive(x: torch.Tensor, y: torch.Tensor, epochs: int) -> None:
    """One head as it is usually written."""
    net = torch.nn.Sequential(
        torch.nn.Linear(x.shape[1], HIDDEN), torch.nn.ReLU(), torch.nn.Dropout(0.2), torch.nn.Linear(HIDDEN, 1)
    )
    optimiser = torch.optim.AdamW(net.parameters(), lr=2e-4)
    loss_of = torch.nn.SmoothL1Loss()
    for _ in range(epochs):
        order = torch.randperm(len(x))
        for start in range(0, len(x), BATCH):
            rows = order[start : start + BATCH]
            optimiser.zero_grad()
            loss_of(net(x[rows])[:, 0], y[rows]).backward()
            optimiser.step()


def race(label: str, tasks: Sequence[Task], components: int | None, rival_epochs: int) -> None:
    """Train all heads, fold by fold, with a slice of the rival before each: both meet the same machine."""
    inputs = components or tasks[0].x.shape[1]
    x = torch.randn(ROWS, inputs)
    y = torch.randn(ROWS)
    folds = len(tasks) // CRITERIA
    ours: list[Took] = []
    theirs: list[Took] = []
    naive(x, y, 1)
    for fold in range(folds):
        part = tasks[fold * CRITERIA : (fold + 1) * CRITERIA]
        theirs.append(min(on_cores(n, lambda: naive(x, y, rival_epochs)) for n in {1, torch.get_num_threads()}))
        ours.append(clocked(lambda part=part: fit_heads(part, seed=0, components=components)))  # type: ignore[misc]
    heads = folds * CRITERIA * SEEDS
    scale, rival_scale = FOLDS / folds, FOLDS * CRITERIA * SEEDS / folds * EPOCHS / rival_epochs
    wall, cpu = (scale * sum(took[i] for took in ours) for i in (0, 1))
    rival, rival_cpu = (rival_scale * sum(took[i] for took in theirs) for i in (0, 1))
    best, rival_best = FOLDS * min(ours).wall, rival_scale * folds * min(theirs).wall
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{label:<18} ours {wall:7.1f} s (CPU {cpu:7.1f}; by the quickest fold {best:7.1f})   one by one {rival:7.1f} s "
        f"(CPU {rival_cpu:7.1f}; by the quickest {rival_best:7.1f})   ratio {rival / wall:4.1f} "
        f"({rival_best / best:4.1f})   {heads} heads trained, peak memory {memory:.2f} GB",
        flush=True,
    )


def together(label: str, tasks: Sequence[Task], name: str, **options: object) -> None:
    """All tasks in one call."""
    took = clocked(lambda: LEARNERS.get(name)(tasks, seed=0, **options))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{label:<18} {took.wall:7.1f} s (CPU {took.cpu:.1f}) for {len(tasks)} tasks at once, peak memory {memory:.2f} GB"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--baselines", action="store_true")
    parser.add_argument("--columns", type=int, default=3614)
    parser.add_argument("--folds", type=int, default=FOLDS, help="fewer are scaled up to 12")
    given = parser.parse_args()
    print(f"{torch.get_num_threads()} cores, torch {torch.__version__}, numpy {np.__version__}")
    tasks = tasks_of(given.folds, given.columns)
    race("256 components", tasks, 256, 8)
    if given.full:
        race("every column", tasks, None, 1)
    together("together, 256", tasks, "astra-score", components=256)
    if given.full:
        together("together, all", tasks, "astra-score")
    if given.baselines:
        together("ridge-all", tasks, "ridge-all")
        few = [task._replace(x=task.x[:, :SCALARS].copy()) for task in tasks]
        together("ridge", few, "ridge")
        together("svr", few, "svr")


if __name__ == "__main__":
    main()

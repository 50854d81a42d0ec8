"""Our models of ratings against SUREAL's solvers: same data, one run, same answer, seconds.

    python benchmarks/bench_ratings.py [--ratings nflx_public.csv] [--repeats 3] [--skip-slow]

`--ratings` is a long CSV with columns rater, item, content, score; by default the Netflix set beside the project, where
it is there. A second table is simulated: 320 items, 65 participants who saw 180 of them each, the size of SUREAL's AGH
set. Both sides start from data that is already in memory; SUREAL's progress lines are swallowed. SUREAL (sureal from
PyPI) is optional: without it only our own times are printed. Where the scores lie apart, the log-likelihoods say who is
nearer the maximum: the Newton solver of the full model can stop where some inconsistencies are stuck at 0. Both sides
get one thread, since the matrices are small and threads would only wait for each other.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
from threadpoolctl import threadpool_limits

from paragone.estimate.arrays import Estimate, Opinions
from paragone.estimate.mean_opinion import mos
from paragone.estimate.subject_model import P910, p910
from paragone.estimate.sureal_full import sureal

SHARED = Path(os.environ.get("PARAGONE_SHARED", Path(__file__).resolve().parents[2] / "shared"))
NFLX = SHARED / "data" / "votes" / "nflx_public" / "nflx_public.csv"

# SUREAL's class, ours at the same settings, and whether SUREAL needs more than a few seconds
PAIRS: tuple[tuple[str, Callable[[Opinions], Estimate], bool], ...] = (
    ("MaximumLikelihoodEstimationModelContentOblivious", lambda data: p910(data, prior=0), False),
    ("SubjectMLEModelProjectionSolver2", lambda data: p910(data, prior=0), False),
    ("MaximumLikelihoodEstimationModel", lambda data: sureal(data, prior=0), True),
)


def read(path: Path) -> Opinions:
    """A long CSV as arrays; items, raters and contents are numbered in the order of their names."""
    frame = pl.read_csv(path)
    codes = {name: sorted(frame[name].unique()) for name in ("item", "rater", "content")}
    number = {name: {word: k for k, word in enumerate(words)} for name, words in codes.items()}
    item = np.array([number["item"][word] for word in frame["item"]])
    content = np.zeros(len(codes["item"]), dtype=np.int64)
    content[item] = [number["content"][word] for word in frame["content"]]
    return opinions(
        item, np.array([number["rater"][word] for word in frame["rater"]]), frame["score"].to_numpy(), content
    )


def simulate(*, items: int = 320, people: int = 65, seen: int = 180, contents: int = 20, seed: int = 0) -> Opinions:
    """Whole-number ratings by participants with a bias and a noise of their own."""
    rng = np.random.default_rng(seed)
    item = np.concatenate([rng.choice(items, seen, replace=False) for _ in range(people)])
    who = np.repeat(np.arange(people), seen)
    truth, bias, noise = rng.uniform(1, 5, items), rng.normal(0, 0.3, people), rng.uniform(0.4, 0.9, people)
    value = truth[item] + bias[who] + noise[who] * rng.standard_normal(item.size)
    return opinions(item, who, np.clip(np.round(value), 1, 5), np.arange(items) % contents)


def opinions(item: np.ndarray, who: np.ndarray, value: np.ndarray, content: np.ndarray) -> Opinions:
    """Arrays without sessions, weights or references."""
    n, k = content.size, item.size
    zeros, ones = np.zeros(k, dtype=np.int64), np.ones(k)
    return Opinions(n, int(who.max()) + 1, item, who, zeros, value.astype(float), ones, np.full(n, -1), content)


def reader(data: Opinions) -> Any:
    """The same ratings as SUREAL's data set, converted before the clock starts."""
    from sureal.dataset_reader import RawDatasetReader

    scores: list[dict[str, float]] = [{} for _ in range(data.n)]
    for item, who, value in zip(data.item, data.participant, data.value, strict=True):
        scores[item][f"p{who:03d}"] = float(value)
    contents = range(int(data.content.max()) + 1)
    dataset = SimpleNamespace(
        dataset_name="bench",
        ref_videos=[{"content_id": c, "path": f"r{c}"} for c in contents],
        dis_videos=[
            {"content_id": int(data.content[j]), "asset_id": j, "path": f"v{j}", "os": scores[j]} for j in range(data.n)
        ],
    )
    made = RawDatasetReader(dataset)
    assert made.opinion_score_3darray is not None
    return made


def timed(action: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """Least seconds of several runs, and the last result."""
    best, result = float("inf"), None
    for _ in range(repeats):
        start = time.perf_counter()
        result = action()
        best = min(best, time.perf_counter() - start)
    return best, result


def rival(name: str, data: Opinions, repeats: int) -> tuple[float, np.ndarray, float]:
    """Seconds, scores and log-likelihood of one of SUREAL's models."""
    import sureal.subjective_model as models

    model = getattr(models, name)(reader(data))

    def run() -> Any:
        with contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
            return model.run_modeling()

    seconds, result = timed(run, repeats)
    return seconds, np.asarray(result["quality_scores"]), float(result["loglikelihood"]) * data.value.size


def compare(title: str, data: Opinions, repeats: int, skip_slow: bool) -> None:
    """One table: our seconds, theirs, their ratio and the largest difference of a score."""
    print(f"\n{title}: {data.n} items, {data.p} participants, {data.value.size} ratings")
    for name, model in (("mos", mos), ("p910, prior 5", p910), ("sureal, prior 5", sureal)):
        print(f"  {name:50s} {timed(lambda m=model: m(data), repeats)[0]:8.4f} s")
    weights = np.random.default_rng(0).multinomial(data.p, np.full(data.p, 1 / data.p), size=1000).astype(float)
    assert P910.replicate is not None
    bootstrap = timed(lambda: P910.replicate(data, weights), 1)[0]  # type: ignore[misc]
    print(f"  {'p910, prior 5, 1,000 bootstrap replicates':50s} {bootstrap:8.4f} s")
    for name, ours, slow in PAIRS:
        if slow and skip_slow:
            continue
        seconds, estimate = timed(lambda m=ours: m(data), max(repeats, 3))
        try:
            theirs, scores, likelihood = rival(name, data, 1 if slow else repeats)
        except ModuleNotFoundError as error:
            print(f"  {name:50s} {seconds:8.4f} s; no rival here ({error.name} is not installed: pip install sureal)")
            continue
        apart = float(np.abs(scores - estimate.score).max())
        higher = estimate.notes["log_likelihood"] - likelihood
        print(
            f"  {name:50s} {seconds:8.4f} s, SUREAL {theirs:8.3f} s: {theirs / seconds:6.1f}x, "
            f"apart {apart:.1e}, our log-likelihood higher by {higher:.1e}"
        )


def main() -> None:
    """Run both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ratings", type=Path, default=NFLX, help="long CSV: rater, item, content, score")
    parser.add_argument("--repeats", type=int, default=3, help="runs of which the fastest counts")
    parser.add_argument(
        "--skip-slow", action="store_true", help="leave out the full model, which takes SUREAL a minute"
    )
    given = parser.parse_args()
    with threadpool_limits(1):
        if given.ratings.exists():
            compare(given.ratings.stem, read(given.ratings), given.repeats, given.skip_slow)
        else:
            print(f"no {given.ratings.name} beside the project; only simulated ratings")
        compare("simulated", simulate(), given.repeats, given.skip_slow)


if __name__ == "__main__":
    main()

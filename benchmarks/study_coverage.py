"""How often 95 % intervals hold the truth: simulate answers, estimate, count.

    python benchmarks/study_coverage.py [--simulations 200] [--estimators bradley-terry,mos,...]

Participants differ only by chance (votes) or by bias and noise (ratings), and the truth is known. Pairwise scores sum
to zero, so the truth is centred; models that take the participants' biases out speak of differences between items, so the
truth is moved to their mean. For estimators with a prior (shrinkage) coverage is reported and not bounded.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
import polars as pl

from paragone.errors import BadConfig, CannotScore
from paragone.estimate import ESTIMATORS, Question, estimate
from paragone.judgements import Ratings, Votes

VOTING = ("bradley-terry", "bradley-terry-ridge", "rank-centrality", "rank-centrality-plain", "thurstone", "davidson")
RATING = ("mos", "bias-removed", "p910")


def votes(rng: np.random.Generator, *, people: int = 30, each: int = 60, items: int = 8) -> tuple[Votes, np.ndarray]:
    """Seeded Bradley-Terry votes and their true scores in logits."""
    truth = rng.normal(0, 0.7, items)
    left = rng.integers(items, size=people * each)
    right = (left + rng.integers(1, items, size=left.size)) % items
    won = rng.random(left.size) < 1 / (1 + np.exp(truth[right] - truth[left]))
    frame = pl.DataFrame(
        {
            "participant": np.repeat(np.arange(people), each).astype(str),
            "left": left.astype(str),
            "right": right.astype(str),
            "choice": np.where(won, "left", "right"),
        }
    )
    return Votes(frame), truth - truth.mean()


def ratings(rng: np.random.Generator, *, people: int = 24, items: int = 12) -> tuple[Ratings, np.ndarray]:
    """Seeded ratings whose participants differ in bias and noise, and the items' true means."""
    truth = rng.uniform(2, 4, items)
    bias, noise = rng.normal(0, 0.3, people), rng.uniform(0.4, 0.9, people)
    value = truth + bias[:, None] + noise[:, None] * rng.standard_normal((people, items))
    frame = pl.DataFrame(
        {
            "participant": np.repeat(np.arange(people), items).astype(str),
            "item": np.tile(np.arange(items), people).astype(str),
            "value": value.ravel(),
        }
    )
    return Ratings(frame), truth


def coverage(name: str, intervals: str, simulations: int, seed: int = 0) -> tuple[float, float, int]:
    """Share of intervals that hold the truth, its standard error, and simulations without an answer."""
    record = ESTIMATORS.get(name)
    make: Callable[..., tuple[Votes | Ratings, np.ndarray]] = votes if record.reads == "votes" else ratings
    hits, failed = [], 0
    for number in range(simulations):
        answers, truth = make(np.random.default_rng([seed, number]))
        question = Question(intervals=intervals, replicates=300, seed=number)
        try:
            frame = estimate(answers, record, question=question).frame.sort(pl.col("item").cast(pl.Int64))
        except CannotScore:
            failed += 1
            continue
        low, high = frame["low"].to_numpy(), frame["high"].to_numpy()
        if record.unit == "JOD":
            truth = truth * _JOD_PER_LOGIT
        if name in _FLOATING:
            truth = truth - truth.mean() + frame["score"].to_numpy().mean()
        hits.append(np.mean((low <= truth) & (truth <= high)))
    return float(np.mean(hits)), float(np.std(hits) / np.sqrt(len(hits))), failed


_FLOATING = ("bias-removed", "p910")
_JOD_PER_LOGIT = 1.4826 / 1.702  # normal and logistic curves agree to .01 at this ratio of slopes


def main() -> None:
    """Print one row per estimator and kind of interval."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=200)
    parser.add_argument("--estimators", default=",".join((*VOTING, *RATING)))
    options = parser.parse_args()
    print(f"{'estimator':24} {'intervals':10} {'coverage':>9} {'+-':>6}  shrinks  without answer")
    for name in options.estimators.split(","):
        for kind in ("analytic", "bootstrap"):
            try:
                share, error, failed = coverage(name, kind, options.simulations)
            except BadConfig:
                continue
            print(f"{name:24} {kind:10} {share:9.3f} {1.96 * error:6.3f}  {ESTIMATORS.get(name).shrinks!s:7}  {failed}")


if __name__ == "__main__":
    main()

"""Is P.910 with the prior ever worse than a plain mean? Simulate few and many ratings, rank, compare with the truth.

    python benchmarks/study_p910_prior.py [--seeds 100]

Two studies (24 people and 80 items, 60 people and 200 items), with and without people who answer at random, 3 to 24
ratings an item dealt evenly, whole-number ratings 1 to 5. Printed: mean Spearman correlation with the true scores of
the mean, of bias removal, of the published model (prior 0, over the runs in which it has an answer) and of the model
with the prior, and the paired difference between the last and the mean with its 95 % interval over seeds.
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.stats import spearmanr, t

from paragone.errors import CannotScore
from paragone.estimate.arrays import Opinions
from paragone.estimate.bias_removed import bias_removed
from paragone.estimate.mean_opinion import mos
from paragone.estimate.subject_model import p910

STUDIES = ((24, 80, 0), (24, 80, 3), (60, 200, 0), (60, 200, 8))  # people, items, people who answer at random
VOTES = (3, 4, 5, 6, 8, 12, 16, 24)


def simulate(rng: np.random.Generator, people: int, items: int, random: int, votes: int) -> tuple[Opinions, np.ndarray]:
    """Ratings, and the items' true scores."""
    load, dealt = np.zeros(people), []
    for _ in range(items):
        chosen = np.lexsort((rng.random(people), load))[:votes]
        load[chosen] += 1
        dealt.append(chosen)
    item, who = np.repeat(np.arange(items), votes), np.concatenate(dealt)
    truth, bias, noise = rng.uniform(1.2, 4.8, items), rng.normal(0, 0.4, people), rng.gamma(10, 0.06, people)
    value = truth[item] + bias[who] + noise[who] * rng.standard_normal(item.size)
    value = np.where(who < random, rng.uniform(0.5, 5.5, item.size), value)
    value, zeros = np.clip(np.round(value), 1, 5), np.zeros(item.size, dtype=np.int64)
    content = np.zeros(items, dtype=np.int64)
    return Opinions(items, people, item, who, zeros, value, np.ones(item.size), np.full(items, -1), content), truth


def run(people: int, items: int, random: int, votes: int, seeds: int) -> bool:
    """Print one line; True where the prior's model is not worse than the mean."""
    plain, removed, published, ours = (np.full(seeds, np.nan) for _ in range(4))
    for seed in range(seeds):
        data, truth = simulate(np.random.default_rng(seed), people, items, random, votes)
        plain[seed] = spearmanr(mos(data).score, truth).statistic
        removed[seed] = spearmanr(bias_removed(data).score, truth).statistic
        ours[seed] = spearmanr(p910(data).score, truth).statistic
        try:
            published[seed] = spearmanr(p910(data, prior=0).score, truth).statistic
        except CannotScore:
            continue
    gain = ours - plain
    reach = t.ppf(0.975, seeds - 1) * gain.std(ddof=1) / np.sqrt(seeds)
    answers = int((~np.isnan(published)).sum())
    known = f"{np.nanmean(published):.4f}" if answers else "     -"
    print(
        f"{people:4d} x {items:3d}, {random} at random, {votes:2d} votes: mean {plain.mean():.4f}, bias removed "
        f"{removed.mean():.4f}, published {known} ({answers}/{seeds} answers), with prior {ours.mean():.4f}, "
        f"gain {gain.mean():+.4f} [{gain.mean() - reach:+.4f}, {gain.mean() + reach:+.4f}]"
    )
    return bool(gain.mean() >= 0)


def main() -> None:
    """Run every study and say whether the mean ever won."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=100, help="simulations a line")
    seeds = parser.parse_args().seeds
    held = [run(*study, votes, seeds) for study in STUDIES for votes in VOTES]
    print(f"never worse than the mean: {all(held)} ({sum(held)} of {len(held)} lines)")


if __name__ == "__main__":
    main()

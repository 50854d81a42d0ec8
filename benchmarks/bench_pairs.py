"""Speed and memory of Bradley-Terry, Rank Centrality and their bootstrap, beside evalica and choix in the same run.

    python benchmarks/bench_pairs.py               # everything; the rivals' large runs take several minutes
    python benchmarks/bench_pairs.py --skip-slow   # without the rivals on a million votes

Data: scores from N(0, 1), uniformly random pairs, no ties. Every run has a process of its own, so that its peak memory is
its own. Rivals are handed lists in their own form and timed on the call alone; ours starts from the bare arrays (left,
right, outcome) and ends with scores and notes. The fastest of the repeats counts, for all alike.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

from paragone.estimate.arrays import Comparisons
from paragone.estimate.bradley_terry import bradley_terry
from paragone.estimate.rank_centrality import RANK_CENTRALITY, rank_centrality, rank_centrality_plain

SMALL, LARGE = (1_000, 50_000), (10_000, 1_000_000)
REPLICATES, CRITERIA, JOBS = 1_000, 3, 2
# Who, on what, repeats, slow.
RUNS = [
    ("ours-bt", SMALL, 15, False),
    ("evalica-bt", SMALL, 5, False),
    ("choix-ilsr", SMALL, 1, False),
    ("ours-rc", SMALL, 15, False),
    ("choix-rc", SMALL, 3, False),
    ("ours-bt", LARGE, 7, False),
    ("evalica-bt", LARGE, 1, True),
    ("ours-rc", LARGE, 5, False),
    ("choix-rc", LARGE, 1, True),
]
# Ours, rival, data, at least so many times faster.
BARS = [
    ("ours-bt", "evalica-bt", SMALL, 2),
    ("ours-bt", "choix-ilsr", SMALL, 20),
    ("ours-rc", "choix-rc", SMALL, 1),
    ("ours-bt", "evalica-bt", LARGE, 40),
    ("ours-rc", "choix-rc", LARGE, 15),
]
MOST_GB = 0.5
MOST_BOOTSTRAP_SECONDS = 30.0


def uniform(items: int, votes: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """left, right, outcome of votes on uniformly random pairs."""
    rng = np.random.default_rng(0)
    truth = rng.standard_normal(items)
    left = rng.integers(0, items, votes)
    right = (left + rng.integers(1, items, votes)) % items
    return left, right, (rng.random(votes) < 1 / (1 + np.exp(truth[right] - truth[left]))).astype(float)


def comparisons(left: np.ndarray, right: np.ndarray, outcome: np.ndarray) -> Comparisons:
    m = left.size
    nobody, ones = np.zeros(m, dtype=np.int64), np.ones(m)
    return Comparisons(int(max(left.max(), right.max())) + 1, left, right, outcome, nobody, nobody, ones, ones)


def two_stages(seed: int) -> Comparisons:
    """864 items in 72 groups of 12: 122 people with 2 questions a group, then 142 people with 120 across groups."""
    rng = np.random.default_rng(seed)
    truth = rng.standard_normal(864)
    group = np.tile(np.repeat(np.arange(72), 2), 122)
    first = np.argsort(rng.random((group.size, 12)), axis=1)[:, :2] + 12 * group[:, None]
    across = np.argsort(rng.random((142 * 120, 72)), axis=1)[:, :2] * 12 + rng.integers(0, 12, (142 * 120, 2))
    left, right = np.concatenate([first, across]).T
    people = np.concatenate([np.repeat(np.arange(122), 144), 122 + np.repeat(np.arange(142), 120)])
    outcome = (rng.random(left.size) < 1 / (1 + np.exp(truth[right] - truth[left]))).astype(float)
    stage = (people >= 122).astype(np.int64)
    return comparisons(left, right, outcome)._replace(participant=people, stage=stage)


def call(name: str, left: np.ndarray, right: np.ndarray, outcome: np.ndarray) -> Callable[[], np.ndarray]:
    """The call that is timed; what comes before it is not."""
    items = int(max(left.max(), right.max())) + 1
    if name == "ours-bt":
        return lambda: bradley_terry(comparisons(left, right, outcome)).score
    if name == "ours-rc":
        return lambda: rank_centrality(comparisons(left, right, outcome)).score
    if name == "evalica-bt":
        import evalica

        winners = [evalica.Winner.X if won else evalica.Winner.Y for won in outcome]
        lefts, rights = left.tolist(), right.tolist()
        return lambda: np.log(evalica.bradley_terry(lefts, rights, winners).scores.sort_index().to_numpy())
    import choix

    data = list(zip(np.where(outcome, left, right).tolist(), np.where(outcome, right, left).tolist(), strict=True))
    solver = choix.ilsr_pairwise if name == "choix-ilsr" else choix.rank_centrality
    return lambda: solver(items, data)


def off(name: str, score: np.ndarray, left: np.ndarray, right: np.ndarray, outcome: np.ndarray) -> float:
    """How wrong the answer is: largest |gradient| per vote of an item, or largest imbalance of the walk."""
    votes = comparisons(left, right, outcome)
    if name.endswith("rc"):
        model = rank_centrality if name == "ours-rc" else rank_centrality_plain
        other = model(votes).score
        return (
            float(np.abs(score - score.mean() - other).max()) if name == "choix-rc" else model(votes).notes["residual"]
        )
    p = 1 / (1 + np.exp(score[right] - score[left]))
    n = score.size
    gradient = np.bincount(left, outcome - p, minlength=n) - np.bincount(right, outcome - p, minlength=n)
    return float(np.max(np.abs(gradient) / (np.bincount(left, minlength=n) + np.bincount(right, minlength=n))))


def run_one(name: str, items: int, votes: int, repeats: int) -> dict[str, float]:
    data = uniform(items, votes)
    timed = call(name, *data)
    seconds, cpu = [], []
    for _ in range(repeats):
        begin, busy = time.perf_counter(), time.process_time()
        score = timed()
        seconds.append(time.perf_counter() - begin)
        cpu.append(time.process_time() - busy)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {"seconds": min(seconds), "cpu": min(cpu), "gb": peak, "off": off(name, score, *data)}


def run_bootstrap() -> dict[str, float]:
    """Regularised Rank Centrality of three criteria under 1,000 draws of 264 people, two processes."""
    from joblib import Parallel, delayed

    studies = [two_stages(seed) for seed in range(CRITERIA)]
    draws = np.random.default_rng(0).multinomial(264, np.full(264, 1 / 264), size=REPLICATES)
    replicate = RANK_CENTRALITY.replicate
    pieces = [(study, part) for study in studies for part in np.array_split(draws, JOBS)]
    with Parallel(n_jobs=JOBS) as pool:
        pool(delayed(replicate)(study, draws[:2]) for study in studies[:JOBS])  # processes start before the clock
        begin = time.perf_counter()
        rows = pool(delayed(replicate)(*piece) for piece in pieces)
        wall = time.perf_counter() - begin
    begin = time.process_time()
    alone = replicate(studies[0], draws[:100])
    each = (time.process_time() - begin) / 100
    assert np.allclose(alone, rows[0][:100], equal_nan=True)
    return {"wall": wall, "cpu_each": each, "lost": float(sum(np.isnan(part).all(axis=1).sum() for part in rows))}


def in_own_process(*arguments: str) -> dict[str, float]:
    done = subprocess.run([sys.executable, __file__, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(arguments)} failed:\n{done.stderr}")
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--skip-slow", action="store_true", help="leave out the rivals' runs on a million votes")
    parser.add_argument("--run", nargs=4, metavar=("NAME", "ITEMS", "VOTES", "REPEATS"), help=argparse.SUPPRESS)
    parser.add_argument("--bootstrap", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        name, *numbers = options.run
        print(json.dumps(run_one(name, *map(int, numbers))))
        return
    if options.bootstrap:
        print(json.dumps(run_bootstrap()))
        return
    found = {}
    print(f"{'run':12} {'items':>7} {'votes':>9} {'seconds':>9} {'CPU s':>9} {'peak GB':>8} {'off':>8}")
    for name, (items, votes), repeats, slow in RUNS:
        if slow and options.skip_slow:
            continue
        one = found[name, items] = in_own_process("--run", name, str(items), str(votes), str(repeats))
        print(
            f"{name:12} {items:7} {votes:9} {one['seconds']:9.3f} {one['cpu']:9.3f} {one['gb']:8.2f} {one['off']:8.0e}",
            flush=True,
        )
    print()
    for ours, rival, (items, _), least in BARS:
        if (rival, items) in found:
            ratio = found[rival, items]["seconds"] / found[ours, items]["seconds"]
            cpu = found[rival, items]["cpu"] / found[ours, items]["cpu"]
            word = "met" if ratio >= least else "MISSED"
            print(
                f"{ours} against {rival}, {items} items: {ratio:.1f} times faster (bar {least}): {word}; "
                f"{cpu:.1f} times less CPU"
            )
    for ours in ("ours-bt", "ours-rc"):
        peak = found[ours, LARGE[0]]["gb"]
        print(f"{ours}, {LARGE[0]} items: {peak:.2f} GB (bar {MOST_GB}): {'met' if peak < MOST_GB else 'MISSED'}")
    boot = in_own_process("--bootstrap")
    word = "met" if boot["wall"] < MOST_BOOTSTRAP_SECONDS else "MISSED"
    print(
        f"bootstrap, {REPLICATES} replicates x {CRITERIA} criteria, {JOBS} processes: {boot['wall']:.1f} s "
        f"(bar {MOST_BOOTSTRAP_SECONDS:.0f}): {word}; {1e3 * boot['cpu_each']:.1f} ms CPU a replicate, "
        f"{boot['lost']:.0f} rows lost"
    )


if __name__ == "__main__":
    main()

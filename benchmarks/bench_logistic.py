"""How long a logistic fit takes, and whether any usual start does better.

    python benchmarks/bench_logistic.py [FOLDER]

FOLDER holds avt_ai_images as in the shared data (metric_values.csv, published_means.csv); without it, made-up scores are
fitted. Prints one line per metric and criterion: seconds and squared error of our free and monotone fits, and the best of
six local fits by scipy from the starts found in public code.
"""

from __future__ import annotations

import csv
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from scipy.optimize import curve_fit
from scipy.special import expit

from paragone.stats.logistic import fit_logistic, out_of_fold
from paragone.stats.statistic import Floats


def five(x: Floats, b1: float, b2: float, b3: float, b4: float, b5: float) -> Floats:
    return b1 * (0.5 - 1 / (1 + np.exp(b2 * (x - b3)))) + b4 * x + b5


def four(x: Floats, b1: float, b2: float, b3: float, b4: float) -> Floats:
    return (b1 - b2) / (1 + np.exp(-(x - b3) / abs(b4))) + b2


def local_fits(x: Floats, y: Floats) -> Iterator[float]:
    """Squared errors that scipy reaches from each usual start."""
    top, low, mean_x, mean_y, sd = y.max(), y.min(), x.mean(), y.mean(), x.std()
    starts: list[tuple[Callable[..., Floats], list[float]]] = [
        (five, [10, 0, mean_y, 0.1, 0.1]),
        (five, [top, low, mean_x, 0.1, 0.1]),
        (five, [top, low, mean_x, 1, 0]),
        (five, [top - low, 1 / sd, mean_x, 0, mean_y]),
        (four, [top, low, mean_x, 0.5]),
        (four, [top, low, mean_x, sd / 4]),
    ]
    for form, start in starts:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found = curve_fit(form, x, y, p0=start, maxfev=20000)[0]
            except RuntimeError:
                continue
            yield float(((y - form(x, *found)) ** 2).sum())


def real(folder: Path) -> Iterator[tuple[str, Floats, Floats]]:
    def rows(name: str, key: str) -> dict[str, dict[str, str]]:
        with (folder / name).open(newline="") as file:
            return {row[key]: row for row in csv.DictReader(file)}

    metrics, means = rows("metric_values.csv", "item"), rows("published_means.csv", "image_key")
    items = sorted(metrics)
    for criterion in ("appeal", "realism"):
        y = np.array([float(means[item][f"{criterion}_mean"]) for item in items])
        for metric in [name for name in metrics[items[0]] if name != "item"]:
            yield f"{criterion} {metric}", np.array([float(metrics[item][metric]) for item in items]), y


def made() -> Iterator[tuple[str, Floats, Floats]]:
    rng = np.random.default_rng(0)
    for n in (30, 146, 864, 5000, 50_000):
        x = rng.normal(size=n)
        yield f"made, {n} items", x, 4 * expit(2 * x) + rng.normal(size=n)


def main() -> None:
    cases = real(Path(sys.argv[1])) if len(sys.argv) > 1 else made()
    print(
        f"{'case':24}{'free s':>8}{'mono s':>8}{'free':>10}{'mono':>10}{'6 starts':>10}{'plcc':>7}{'fold':>7}{'raw':>7}"
    )
    for name, x, y in cases:
        seconds = []
        fits = []
        for monotone in (False, True):
            start = time.perf_counter()
            fits.append(fit_logistic(x, y, monotone=monotone))
            seconds.append(time.perf_counter() - start)
        best = min(local_fits(x, y), default=float("nan"))
        fold = out_of_fold(x, y) if len(x) < 2000 else float("nan")
        print(
            f"{name:24}{seconds[0]:8.3f}{seconds[1]:8.3f}{fits[0].sse:10.3f}{fits[1].sse:10.3f}{best:10.3f}"
            f"{fits[1].plcc:7.3f}{fold:7.3f}{fits[1].plcc_raw:7.3f}"
        )


if __name__ == "__main__":
    main()

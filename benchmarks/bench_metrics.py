"""Speed of the metrics beside scikit-image's on the same pictures, and of `measure` on one and on two processes.

    python benchmarks/bench_metrics.py [--side 512] [--pictures 200]

Prints the best of several runs for each metric at one size, and the ratio to the rival's best in the same run; then the
time of a folder of pictures at `--jobs 1` and 2, whether the scores are the same bits, and the peak memory.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import ndimage
from skimage import color, measure, metrics
from threadpoolctl import threadpool_limits

from paragone.images import as_picture, luma, write_image
from paragone.metrics import METRICS, from_files
from paragone.metrics import measure as measure_pictures


def best(work: Callable[[], object], runs: int) -> float:
    """Least processor time of several runs, in milliseconds: other work on the machine hardly moves it."""
    times = []
    for _ in range(runs):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return 1e3 * min(times)


def picture(side: int, seed: int) -> np.ndarray:
    """A picture with structure at several scales."""
    rng = np.random.default_rng(seed)
    layers = [
        ndimage.zoom(rng.random((max(2, side // step), max(2, side // step), 3)), (step, step, 1), order=1)
        for step in (1, 8, 64)
    ]
    return as_picture(np.clip(sum(layer[:side, :side] for layer in layers) / 3, 0, 1))


def rivals(first: np.ndarray, second: np.ndarray) -> dict[str, Callable[[], object]]:
    """scikit-image's calls for the same numbers, fed the type that it is fastest on and gives the same digits with."""
    one, two = first.astype(np.float64), second.astype(np.float64)
    wide = {"data_range": 1.0}
    gauss = {**wide, "gaussian_weights": True, "use_sample_covariance": False}
    grey_one, grey_two = luma(first) / 255, luma(second) / 255
    return {
        "mse": lambda: metrics.mean_squared_error(one, two),
        "psnr": lambda: metrics.peak_signal_noise_ratio(one, two, data_range=1.0),
        "ssim": lambda: metrics.structural_similarity(one, two, channel_axis=2, **gauss),
        "ssim-y": lambda: metrics.structural_similarity(grey_one, grey_two, **gauss),
        "ssim-uniform": lambda: metrics.structural_similarity(one, two, channel_axis=2, **wide),
        "blur": lambda: measure.blur_effect(color.rgb2gray(one)),
    }


def kernels(side: int, runs: int) -> None:
    """One line for each metric."""
    first, second = picture(side, 0), picture(side, 1)
    others = rivals(first, second)
    print(f"{side} x {side} RGB, processor time on one thread, best of {runs}")
    print(f"{'metric':18}{'ms':>9}{'scikit-image ms':>18}{'ratio':>8}")
    for name in METRICS.names():
        record = METRICS.get(name)
        inputs = (first, second)[: len(record.inputs)]
        ours = best(lambda record=record, inputs=inputs: record.compute(*inputs), runs)
        if name in others:
            theirs = best(others[name], runs)
            print(f"{name:18}{ours:9.1f}{theirs:18.1f}{theirs / ours:7.2f}x")
        else:
            print(f"{name:18}{ours:9.1f}{'-':>18}{'-':>8}")


def folder(side: int, count: int) -> None:
    """Time of a whole folder by jobs, and whether the scores agree to the bit."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        for seed in range(8):
            write_image(picture(side, seed), place / "style" / f"s{seed}.png")
        for number in range(count):
            made = np.clip(picture(side, number % 8) + number / (4 * count), 0, 1)
            write_image(made, place / "out" / f"p{number:04d}_s{number % 8}.png")
        listed = from_files(place / "out", content=place / "style", style=place / "style").benchmark
        names = METRICS.names()
        results, times = {}, {}
        for jobs in (1, 2):
            measure_pictures(["light"], from_files(place / "style").benchmark, jobs=jobs, quiet=True)  # start processes
            start = time.perf_counter()
            results[jobs] = measure_pictures(names, listed, jobs=jobs, quiet=True)
            times[jobs] = time.perf_counter() - start
        start = time.perf_counter()
        measure_pictures(names, listed, cache=place / "cache", quiet=True)
        first = time.perf_counter() - start
        start = time.perf_counter()
        measure_pictures(names, listed, cache=place / "cache", quiet=True)
        again = time.perf_counter() - start
    same = all(one.frame.equals(two.frame) for one, two in zip(results[1], results[2], strict=True))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\n{count} pictures, {len(names)} metrics, two references each, {side} x {side}")
    print(f"wall time; load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(f"jobs 1: {times[1]:.1f} s ({1e3 * times[1] / count:.0f} ms a picture)")
    print(f"jobs 2: {times[2]:.1f} s, {times[1] / times[2]:.2f}x, same bits: {same}")
    print(f"with a cache: {first:.1f} s, again {again:.2f} s; peak memory of the parent {peak:.0f} MiB")


def main() -> None:
    """Run both parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--side", type=int, default=512, help="pixels of both sides (default 512)")
    parser.add_argument("--pictures", type=int, default=200, help="pictures in the folder (default 200)")
    parser.add_argument("--runs", type=int, default=9, help="runs of each metric (default 9)")
    options = parser.parse_args()
    with threadpool_limits(1):
        kernels(options.side, options.runs)
        folder(options.side, options.pictures)


if __name__ == "__main__":
    main()

"""Speed of `extract` beside plain timm in eager mode on the same pictures, how often pictures are decoded, and memory.

    python benchmarks/bench_extract.py [--network vgg16] [--pictures FOLDER] [--count 64] [--rounds 3] [--memory]

Plain timm: Pillow opens a picture, timm's own evaluation transform, `features_only` in batches of 8 under
`inference_mode`, one process, torch's own threads; nothing is made of the maps. Ours: the whole of `extract` with
triplet-v1 (six of the pictures are references), vectors and their cache included. Both take turns on the same files,
so that other work on the machine meets both; the ratio of each round is printed, and their median; that of
processor time (all threads, waiting in a loop included) is hardly moved by other work. Weights are random:
speed does not depend on them.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy import ndimage

from paragone.benchmark import Benchmark
from paragone.features import describer
from paragone.features.backbones import load_backbone
from paragone.features.extraction import extract
from paragone.features.nets import ALEXNET
from paragone.images import write_image


def generated(folder: Path, count: int, side: int) -> list[Path]:
    """Pictures with structure at several scales, 512 x 384 or so."""
    made = []
    for number in range(count):
        rng = np.random.default_rng(number)
        shape = (side * 3 // 4, side)
        layers = [
            ndimage.zoom(rng.random((shape[0] // step + 2, shape[1] // step + 2, 3)), (step, step, 1), order=1)
            for step in (1, 8, 64)
        ]
        picture = sum(layer[: shape[0], : shape[1]] for layer in layers) / 3
        made.append(write_image(np.clip(picture, 0, 1).astype(np.float32), folder / f"{number:05d}.png"))
    return made


def benchmark_of(pictures: list[Path]) -> Benchmark:
    """The first three pictures are contents, the next three styles, all others results."""
    contents, styles, results = pictures[:3], pictures[3:6], pictures[6:]
    rows = [(str(i), str(path), str(i % 3), str(i // 3 % 3)) for i, path in enumerate(results)]
    shown = [("content", str(i), str(path)) for i, path in enumerate(contents)]
    shown += [("style", str(i), str(path)) for i, path in enumerate(styles)]
    return Benchmark(
        pl.DataFrame(rows, schema=["item", "image", "content", "style"], orient="row"),
        pl.DataFrame(shown, schema=["factor", "level", "image"], orient="row"),
    )


def plain(name: str) -> Any:
    """A function that sends pictures through timm, as its documentation does."""
    import timm
    import torch
    from PIL import Image

    if name == "alexnet":  # timm has none: the same layers in the eager way
        network, model = ALEXNET.at_random(seed=0), None
        given = {"input_size": (3, 224, 224), "interpolation": "bicubic", "crop_pct": 0.875}
        transform = timm.data.create_transform(**given)
    else:
        model = timm.create_model(name, pretrained=False, features_only=True).eval()
        transform = timm.data.create_transform(**timm.data.resolve_data_config({}, model=model))

    def run(pictures: list[Path]) -> int:
        seen = 0
        with torch.inference_mode():
            for start in range(0, len(pictures), 8):
                opened = [Image.open(path).convert("RGB") for path in pictures[start : start + 8]]
                batch = torch.stack([transform(one) for one in opened])
                seen += len((network.stack(batch) if model is None else model(batch))[-1])
        return seen

    return run


def beside_timm(name: str, pictures: list[Path], rounds: int) -> None:
    """Alternate the two; print seconds, pictures a second and ratios."""
    import torch

    rival, network = plain(name), load_backbone(name, seed=0)
    benchmark = benchmark_of(pictures)
    counts: Counter[str] = Counter()
    decode = describer.decode_image

    def counting(raw: bytes, *, where: str) -> Any:
        counts[where] += 1
        return decode(raw, where=where)

    describer.decode_image = counting  # type: ignore[attr-defined]
    rival(pictures[:8])
    extract(benchmark_of(pictures[:8]), network)
    counts.clear()
    ratios, costs = [], []
    print(f"{name}, {len(pictures)} pictures, {torch.get_num_threads()} threads, load {os.getloadavg()[0]:.1f}")
    print(
        f"{'round':>5}{'timm images/s':>16}{'ours images/s':>16}{'ours / timm':>13}{'processor time, ours / timm':>29}"
    )
    for number in range(1, rounds + 1):
        times, worked = {}, {}
        for who in ("timm", "ours") if number % 2 else ("ours", "timm"):
            start, before = time.perf_counter(), time.process_time()
            rival(pictures) if who == "timm" else extract(benchmark, network)
            times[who], worked[who] = time.perf_counter() - start, time.process_time() - before
        ratios.append(times["timm"] / times["ours"])
        costs.append(worked["ours"] / worked["timm"])
        rates = {who: len(pictures) / seconds for who, seconds in times.items()}
        print(f"{number:5}{rates['timm']:16.2f}{rates['ours']:16.2f}{ratios[-1]:13.2f}{costs[-1]:29.2f}", flush=True)
    print(
        f"median ratio {statistics.median(ratios):.2f} (the bar: 0.85), of processor time {statistics.median(costs):.2f}"
    )
    print(f"{len(counts)} files, decoded in one run: {sorted({count / rounds for count in counts.values()})} times")


def peak(name: str, count: int, side: int) -> None:
    """Print the peak resident memory of this process after so many pictures."""
    with tempfile.TemporaryDirectory() as folder:
        few = generated(Path(folder), 20, 512)
        many = [few[number % 20] for number in range(count)]
        for number in range(20, count):  # other bytes for every item, so that no vector is kept already
            many[number] = Path(folder) / f"copy{number}.png"
            many[number].write_bytes(few[number % 20].read_bytes() + number.to_bytes(4, "big"))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        start = time.perf_counter()
        features = extract(benchmark_of(many), load_backbone(name, seed=0), side=side)
        seconds = time.perf_counter() - start
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        size = features.values.nbytes / 2**20
        print(f"{name} at {side} px, {count:5} pictures: peak {after:.0f} MiB ({before:.0f} before), the vectors alone")
        print(f"  {size:.1f} MiB, {seconds:.0f} s, {len(features.items)} vectors")


def main() -> None:
    """Run the comparison, and with --memory the memory of growing numbers of pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--network",
        default="vgg16",
        help="alexnet, or one that timm calls alike: vgg11, vgg16, resnet18, resnet50, ... (default vgg16)",
    )
    parser.add_argument("--pictures", type=Path, help="folder of pictures (default: generated)")
    parser.add_argument("--count", type=int, default=48, help="pictures in a round (default 48)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--memory", action="store_true", help="peak memory at 100 and 1,000 pictures, AlexNet")
    parser.add_argument("--peak", nargs=2, type=int, metavar=("COUNT", "SIDE"), help="only this; what --memory starts")
    options = parser.parse_args()
    if options.peak:
        peak(options.network, *options.peak)
        return
    if options.memory:
        for count in (100, 1000):
            command = [sys.executable, __file__, "--network", "alexnet", "--peak", str(count), "224"]
            subprocess.run(command, check=True)
        return
    with tempfile.TemporaryDirectory() as folder:
        if options.pictures:
            pictures = sorted(one for one in options.pictures.rglob("*") if one.suffix in (".png", ".jpg"))
            pictures = pictures[: options.count]
        else:
            pictures = generated(Path(folder), options.count, 512)
        beside_timm(options.network, pictures, options.rounds)


if __name__ == "__main__":
    main()

"""CPU seconds, memory and repeatability of every styliser and manner at 512 pixels, and colour transport beside POT.

    python benchmarks/bench_stylise.py [--contents DIR --styles DIR] [--gatys]

Times are CPU seconds of one process (`process_time`), the better of two calls after a first one that compiles; memory is
the peak of a process of its own. "same" says whether a second call with another number of threads gave the same bytes.
Pictures: those of the two folders, else the package's own, enlarged to 512 pixels.
"""

from __future__ import annotations

import argparse
import hashlib
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from paragone.images import Picture, read_image, resize
from paragone.make import demo_pictures
from paragone.make.stylise import STYLISERS, Styliser, stylise
from paragone.make.stylise.manners import MANNERS
from paragone.make.stylise.manners.samples import SAMPLES, sample_style
from paragone.make.stylise.transport import sliced_transport

SIDE = 512


def shown(path: Path) -> Picture:
    """A picture with its longer side at 512 pixels."""
    picture = read_image(path)
    scale = SIDE / max(picture.shape[:2])
    return resize(picture, round(picture.shape[0] * scale), round(picture.shape[1] * scale), resizer="pil-bicubic")


def pictures(asked: argparse.Namespace) -> tuple[Picture, Picture]:
    """The content and the style that everything is timed on."""
    contents = asked.contents or demo_pictures() / "contents"
    styles = asked.styles or demo_pictures() / "styles"
    return shown(sorted(contents.glob("*.jpg"))[0]), shown(sorted(styles.glob("*.jpg"))[0])


def record(name: str) -> Styliser:
    """A styliser, or a manner of 'llip/<manner>'."""
    found: Styliser = MANNERS.get(name.removeprefix("llip/")) if name.startswith("llip/") else STYLISERS.get(name)
    return found


def timed(name: str, asked: argparse.Namespace) -> None:
    """Print one line about one styliser: its seconds, peak memory and whether threads change nothing."""
    content, style = pictures(asked)
    manner = name.removeprefix("llip/")
    if manner != name and manner in SAMPLES:
        style = sample_style(manner, side=SIDE)
    chosen = record(name)
    small = content[:64, :64]
    stylise(small, small, chosen, options={"iterations": 3} if chosen.slow else None)
    took, made = [], []
    for threads in (1, 2):
        with threadpool_limits(threads):
            began = time.process_time()
            result = stylise(content, style, chosen, seed=1)
            took.append(time.process_time() - began)
        made.append(hashlib.sha256(result.tobytes()).hexdigest())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    same = "same" if made[0] == made[1] else "DIFFERENT" if chosen.exact else "differs"
    print(f"{name:24s} {min(took):7.2f} CPU-s  {peak:6.0f} MB  {same}", flush=True)


def beside_pot(asked: argparse.Namespace) -> None:
    """Colour transport of 1,000 pixels each, exact by POT, against ours of all pixels."""
    try:
        import ot
    except ImportError:
        print("POT is not installed: pip install POT")
        return
    content, style = pictures(asked)
    pixels, target = (image.reshape(-1, 3).astype(np.float64) for image in (content, style))
    began = time.process_time()
    sliced_transport(pixels, target)
    ours = time.process_time() - began
    rng = np.random.default_rng(0)
    model: Any = ot.da.EMDTransport()
    few, wanted = (rng.permutation(side)[:1000] for side in (pixels, target))
    began = time.process_time()
    model.fit(Xs=few, Xt=wanted)
    model.transform(Xs=pixels)
    theirs = time.process_time() - began
    print(
        f"transport: {ours:.2f} CPU-s for all pixels; POT's EMDTransport {theirs:.2f} CPU-s; ratio {theirs / ours:.1f}"
    )


def main() -> None:
    """Time everything, each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--contents", type=Path)
    parser.add_argument("--styles", type=Path)
    parser.add_argument("--gatys", action="store_true", help="also the one that takes minutes")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one == "pot":
        beside_pot(asked)
        return
    if asked.one:
        timed(asked.one, asked)
        return
    names = [name for name in sorted(STYLISERS.builtin) if name not in ("llip", "onnx", "gatys")]
    names += [f"llip/{name}" for name in MANNERS.builtin] + (["gatys"] if asked.gatys else []) + ["pot"]
    for name in names:
        subprocess.run([sys.executable, __file__, *sys.argv[1:], "--one", name], check=True)


if __name__ == "__main__":
    main()

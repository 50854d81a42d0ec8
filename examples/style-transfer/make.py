"""864 pictures for the example study: 12 methods on 6 contents and 12 styles, all made here from what the package ships.

Run: python examples/style-transfer/make.py DIR [--jobs N]. Pictures that are there already are kept, so a stopped
run goes on.

The contents and five of the styles are photographs and paintings of the package (see DIR/PICTURES.md for their
rights); the other seven styles are drawn by the formulas below. The methods are the package's eight handcrafted
stylisers and four pairs of them, one after the other. They stand for twelve published methods: this example shows
how a study of that size is asked, not how good these methods are.
"""

from __future__ import annotations

import argparse
import shutil
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from paragone.images import read_image, write_image
from paragone.make import demo_pictures, new_benchmark, with_broken
from paragone.make.stylise import stylise
from paragone.parallel import spread

SIDE = 256  # pixels of the drawn styles
PATTERN = "results/{method}/{content}_stylized_{style}.png"
METHODS = {
    "bristles": ("bristles",),
    "kuwahara": ("kuwahara",),
    "monge-kantorovich": ("monge-kantorovich",),
    "patches": ("patches",),
    "reinhard": ("reinhard",),
    "strokes": ("strokes",),
    "superpixels": ("superpixels",),
    "xdog": ("xdog",),
    "colour-then-kuwahara": ("monge-kantorovich", "kuwahara"),
    "colour-then-bristles": ("reinhard", "bristles"),
    "colour-then-superpixels": ("monge-kantorovich", "superpixels"),
    "strokes-then-colour": ("strokes", "monge-kantorovich"),
}

Floats = NDArray[np.float64]


def drawn_styles() -> dict[str, Floats]:
    """Seven styles by formula: (SIDE, SIDE, 3) in [0, 1] each."""
    y, x = np.mgrid[0:SIDE, 0:SIDE] / SIDE
    rng = np.random.default_rng(7)
    angle, radius = np.arctan2(y - 0.5, x - 0.5), np.hypot(y - 0.5, x - 0.5)
    wave = np.sin(40 * y + 6 * np.sin(9 * x))
    spots = rng.random((60, 2))
    nearest = np.min(np.hypot(y[..., None] - spots[:, 0], x[..., None] - spots[:, 1]), axis=2)
    cell = np.argmin(np.hypot(y[..., None] - spots[:, 0], x[..., None] - spots[:, 1]), axis=2)
    tiles = rng.random((60, 3)) * 0.7 + 0.2
    grid = np.ones((SIDE, SIDE, 3)) * 0.95
    for top, left, bottom, right, colour in (
        (0.0, 0.0, 0.4, 0.3, (0.8, 0.1, 0.1)),
        (0.55, 0.5, 1.0, 1.0, (0.1, 0.2, 0.6)),
        (0.0, 0.7, 0.25, 1.0, (0.95, 0.8, 0.1)),
    ):
        grid[int(top * SIDE) : int(bottom * SIDE), int(left * SIDE) : int(right * SIDE)] = colour
    for line in (0.25, 0.4, 0.55):
        grid[int(line * SIDE) : int(line * SIDE) + 7] = 0.05
    for line in (0.3, 0.5, 0.7):
        grid[:, int(line * SIDE) : int(line * SIDE) + 7] = 0.05
    return {
        "waves": _between((0.05, 0.15, 0.35), (0.85, 0.9, 0.85), 0.5 + 0.5 * wave),
        "rings": _between((0.9, 0.55, 0.2), (0.25, 0.05, 0.3), 0.5 + 0.5 * np.sin(70 * radius)),
        "rays": _between((0.95, 0.9, 0.75), (0.6, 0.15, 0.1), 0.5 + 0.5 * np.sin(14 * angle)),
        "dots": _between((0.15, 0.3, 0.25), (0.9, 0.85, 0.6), (nearest < 0.035).astype(np.float64)),
        "mosaic": tiles[cell],
        "grid": grid,
        "ink": _between(
            (0.08, 0.08, 0.1), (0.93, 0.91, 0.85), np.clip(0.5 + wave * y + rng.normal(0, 0.1, y.shape), 0, 1)
        ),
    }


def _between(low: tuple[float, ...], high: tuple[float, ...], share: Floats) -> Floats:
    return np.asarray(low) + (np.asarray(high) - np.asarray(low)) * share[..., None]


def make_one(cell: tuple[str, str, str], *, folder: Path) -> None:
    """Make one result unless it is there."""
    method, content, style = cell
    path = folder / PATTERN.format(method=method, content=content, style=style)
    if path.exists():
        return
    picture = read_image(folder / "contents" / f"{content}.jpg")
    reference = next((folder / "styles").glob(f"{style}.*"))
    for step in METHODS[method]:
        picture = stylise(picture, read_image(reference), step, seed=1)
    write_image(picture, path)


def main() -> None:
    """Make the pictures, the benchmark and its broken versions, and put study.toml beside them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jobs", type=int, default=-1, help="worker processes; -1: one per core")
    asked = parser.parse_args()
    folder: Path = asked.folder
    for kind in ("contents", "styles"):
        (folder / kind).mkdir(parents=True, exist_ok=True)
        for source in sorted((demo_pictures() / kind).glob("*.jpg")):
            shutil.copyfile(source, folder / kind / source.name)
    shutil.copyfile(demo_pictures() / "README.md", folder / "PICTURES.md")
    for name, picture in drawn_styles().items():
        write_image(picture.astype(np.float32), folder / "styles" / f"{name}.png")
    contents = sorted(path.stem for path in (folder / "contents").iterdir())
    styles = sorted(path.stem for path in (folder / "styles").iterdir())
    grid = list(product(METHODS, contents, styles))
    spread(partial(make_one, folder=folder), grid, jobs=asked.jobs, label="stylising")
    found = new_benchmark(
        PATTERN,
        folder=folder,
        criteria=("content", "style", "overall"),
        references={"content": "contents/{content}.jpg", "style": "styles/{style}.*"},
        name="style-transfer-example",
    )
    with_broken(found, 24, seed=1).write(folder)
    shutil.copyfile(Path(__file__).with_name("study.toml"), folder / "study.toml")
    print(f"{len(grid)} pictures of {len(METHODS)} methods in {folder}; next: paragone plan {folder}")


if __name__ == "__main__":
    main()

"""1,080 pictures for the example study: the prompts of a published text-to-image set, drawn by formulas.

Run: python examples/text-to-image/make.py DIR [--jobs N]. Pictures that are there already are kept, so a stopped
run goes on.

720 prompts (12 main objects x 15 second objects x 2 places x 2 styles) by the "generator" alpha, 360 of them (9 x
10 x 2 x 2) by beta too. No model made these pictures: simple shapes stand for what the prompt says, and blur,
grain, misplaced and missing parts, drawn at random and more often for beta, stand for what goes wrong. They show
how a study of that size is asked, nothing about any generator.
"""

from __future__ import annotations

import argparse
import shutil
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from PIL import Image, ImageDraw, ImageFilter

from paragone.benchmark import Benchmark
from paragone.make import with_broken
from paragone.parallel import spread
from paragone.tables import whole_file

SIDE = 256  # pixels
OBJECTS = (
    "bird", "cat", "dog", "batman", "snoopy", "teddy bear", "kid", "man", "woman", "alien", "demon", "witch",
)  # fmt: skip
SECONDS = (
    "driving aircraft", "driving bike", "driving car", "having hamburger", "having icecream", "having pizza",
    "playing baseball", "playing football", "playing yoga", "using CD", "using laptop", "using phone", "wearing coat",
    "wearing hat", "wearing shirt",
)  # fmt: skip
PLACES = ("city", "wild")
STYLES = ("anime style", "realistic style")
NOT_BETA = ({"kid", "demon", "witch"}, set(SECONDS[:5]))  # main and second objects that beta was not asked for
SKIN = {
    "bird": "#4aa3df", "cat": "#d9a25f", "dog": "#9b6b43", "batman": "#2b2b33", "snoopy": "#f2f2f2",
    "teddy bear": "#b97a3d", "kid": "#f1c9a5", "man": "#d7a77f", "woman": "#e6b899", "alien": "#7bc96f",
    "demon": "#b8332e", "witch": "#8fae7c",
}  # fmt: skip


class Cell(NamedTuple):
    """One picture to draw."""

    generator: str
    main: int
    second: int
    place: int
    style: int

    @property
    def name(self) -> str:
        """generator_main_second_place_style, as numbers."""
        return f"{self.generator}_{self.main}_{self.second}_{self.place}_{self.style}"

    @property
    def prompt(self) -> str:
        """The four keywords."""
        return ", ".join((OBJECTS[self.main], SECONDS[self.second], PLACES[self.place], STYLES[self.style]))


def cells() -> list[Cell]:
    """All 1,080, alpha first."""
    grid = [
        Cell(generator, main, second, place, style)
        for generator in ("alpha", "beta")
        for main in range(len(OBJECTS))
        for second in range(len(SECONDS))
        for place in range(2)
        for style in range(2)
    ]
    return [c for c in grid if c.generator == "alpha" or _asked_of_beta(c)]


def _asked_of_beta(cell: Cell) -> bool:
    return OBJECTS[cell.main] not in NOT_BETA[0] and SECONDS[cell.second] not in NOT_BETA[1]


def draw(cell: Cell) -> Image.Image:
    """Draw one picture; the same cell gives the same picture."""
    rng = np.random.default_rng([ord(cell.generator[0]), cell.main, cell.second, cell.place, cell.style])
    clumsy = 0.8 if cell.generator == "alpha" else 1.8
    faults = rng.exponential(clumsy, 4).tolist()  # blur, grain, displacement, mismatch
    second = cell.second if faults[3] < 2.5 else int(rng.integers(len(SECONDS)))
    picture = Image.new("RGB", (SIDE, SIDE), "#bcd9ee" if cell.place == 0 else "#cfe8d4")
    pen = ImageDraw.Draw(picture)
    _background(pen, cell.place, rng)
    edge = "#111111" if cell.style == 0 else None
    shift = (8 * faults[2] * rng.standard_normal(2)).tolist()
    _figure(pen, cell.main, edge, rng, missing=faults[2] > 2.2)
    _prop(pen, second, edge, shift)
    if cell.style == 1:
        picture = picture.filter(ImageFilter.GaussianBlur(1.2))
    values = np.asarray(picture, dtype=np.float64)
    if cell.style == 1:
        light = np.linspace(1.15, 0.75, SIDE)[:, None, None]
        values = values * light
    values = values + rng.normal(0, 4 + 9 * faults[1], values.shape) * (1 if cell.style else 0.6)
    picture = Image.fromarray(np.clip(values, 0, 255).astype(np.uint8))
    return picture.filter(ImageFilter.GaussianBlur(0.9 * faults[0])) if faults[0] > 0.3 else picture


def _background(pen: ImageDraw.ImageDraw, place: int, rng: np.random.Generator) -> None:
    pen.rectangle((0, 190, SIDE, SIDE), fill="#8a8f96" if place == 0 else "#6d9b4f")
    if place == 0:
        for left in range(0, SIDE, 32):
            top = int(rng.integers(40, 140))
            pen.rectangle((left + 2, top, left + 29, 190), fill="#5f6b7a")
            for row in range(top + 8, 180, 16):
                pen.rectangle((left + 7, row, left + 12, row + 7), fill="#f3d97a")
                pen.rectangle((left + 18, row, left + 23, row + 7), fill="#f3d97a")
    else:
        for _ in range(9):
            x, height = int(rng.integers(0, SIDE)), int(rng.integers(40, 90))
            pen.polygon([(x - 22, 192), (x, 192 - height), (x + 22, 192)], fill="#2f6b3a")


def _figure(pen: ImageDraw.ImageDraw, main: int, edge: str | None, rng: np.random.Generator, *, missing: bool) -> None:
    skin, name = SKIN[OBJECTS[main]], OBJECTS[main]
    pen.rounded_rectangle((88, 128, 152, 216), 22, fill=skin, outline=edge, width=3)
    pen.ellipse((82, 58, 158, 134), fill=skin, outline=edge, width=3)
    if name in ("cat", "batman", "demon", "dog", "teddy bear"):
        for x in (92, 148):
            pen.polygon([(x - 12, 76), (x, 36), (x + 12, 76)], fill=skin, outline=edge)
    if name == "witch":
        pen.polygon([(78, 66), (120, 6), (162, 66)], fill="#31204f", outline=edge)
    if name in ("man", "woman", "kid"):
        pen.pieslice((82, 54, 158, 120), 180, 360, fill="#4a3022" if name != "woman" else "#c98a2b", outline=edge)
    if name == "bird":
        pen.polygon([(152, 92), (184, 100), (152, 110)], fill="#f0a030", outline=edge)
    for number, x in enumerate((106, 134)):
        if missing and number == int(rng.integers(2)):
            continue
        pen.ellipse((x - 9, 86, x + 9, 104), fill="white", outline=edge)
        pen.ellipse((x - 4, 91, x + 4, 99), fill="black")
    pen.arc((106, 98, 134, 122), 20, 160, fill="black", width=3)
    for x in (76, 152) if not missing else (76,):
        pen.rounded_rectangle((x, 140, x + 14, 190), 6, fill=skin, outline=edge, width=2)


def _prop(pen: ImageDraw.ImageDraw, second: int, edge: str | None, shift: list[float]) -> None:
    x, y = 196 + shift[0], 170 + shift[1]
    verb, what = SECONDS[second].split(" ", 1)
    colour = ("#d1495b", "#edae49", "#00798c")[second % 3]
    if verb == "driving":
        pen.rounded_rectangle((x - 44, y, x + 44, y + 30), 10, fill=colour, outline=edge, width=3)
        if what == "aircraft":
            pen.polygon([(x - 8, y + 15), (x - 40, y - 30), (x + 14, y + 10)], fill=colour, outline=edge)
        for wheel in (x - 26, x + 26):
            pen.ellipse((wheel - 12, y + 22, wheel + 12, y + 46), fill="#222222", outline=edge)
    elif verb == "having":
        pen.ellipse((x - 30, y - 12, x + 30, y + 22), fill="#e0b060", outline=edge, width=3)
        pen.chord((x - 30, y - 24, x + 30, y + 20), 180, 360, fill=colour, outline=edge, width=3)
    elif verb == "playing":
        pen.ellipse((x - 24, y - 20, x + 24, y + 28), fill="white", outline=colour, width=6)
    elif verb == "using":
        pen.rounded_rectangle((x - 26, y - 30, x + 26, y + 26), 6, fill="#20242c", outline=edge, width=3)
        pen.rectangle((x - 20, y - 24, x + 20, y + 14), fill=colour)
    else:
        pen.rounded_rectangle(
            (84 + shift[0], 134 + shift[1], 156 + shift[0], 200 + shift[1]), 14, fill=colour, outline=edge
        )


def make_one(cell: Cell, *, folder: Path) -> None:
    """Draw one picture unless it is there."""
    path = folder / "pictures" / f"{cell.name}.png"
    if path.exists():
        return
    with whole_file(path) as aside:
        draw(cell).save(aside, format="PNG")


def main() -> None:
    """Draw the pictures, write the benchmark, and put study.toml beside them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jobs", type=int, default=-1, help="worker processes; -1: one per core")
    asked = parser.parse_args()
    folder: Path = asked.folder
    (folder / "pictures").mkdir(parents=True, exist_ok=True)
    grid = cells()
    spread(partial(make_one, folder=folder), grid, jobs=asked.jobs, label="drawing")
    items = pl.DataFrame(
        {
            "item": [cell.name for cell in grid],
            "image": [f"pictures/{cell.name}.png" for cell in grid],
            "generator": [cell.generator for cell in grid],
            "object": [OBJECTS[cell.main] for cell in grid],
            "second": [SECONDS[cell.second] for cell in grid],
            "place": [PLACES[cell.place] for cell in grid],
            "style": [STYLES[cell.style] for cell in grid],
            "prompt": [cell.prompt for cell in grid],
        }
    )
    none = pl.DataFrame(schema={"factor": pl.String, "level": pl.String, "image": pl.String})
    benchmark = Benchmark(
        items,
        none,
        name="text-to-image-example",
        criteria=("quality",),
        folder=folder,
        description="1,080 prompts drawn by formulas (examples/text-to-image/make.py); no model made these pictures",
        licence="CC0-1.0",
    )
    with_broken(benchmark, 12, seed=1).write(folder)
    shutil.copyfile(Path(__file__).with_name("study.toml"), folder / "study.toml")
    print(f"{len(grid)} pictures in {folder}; next: paragone plan {folder}")


if __name__ == "__main__":
    main()

"""The two example studies, cut small: their own study.toml with fewer people and trials, and pictures made by code.

Every picture carries what a generator leaves in its files: prompt, model and method, in PNG text chunks.
"""

from __future__ import annotations

import csv
from itertools import product
from pathlib import Path

import numpy as np
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from paragone.benchmark import Benchmark
from paragone.design import plan, read_study

__all__ = ["CHUNK", "METHODS", "PAIRS_CUT", "RATINGS_CUT", "ratings_folder", "style_folder"]

CHUNK = "zebra-in-a-teacup"
"""A word of the prompt in every file's text chunk; no page shows it."""
METHODS = (
    "bristles", "kuwahara", "monge-kantorovich", "reinhard", "superpixels", "xdog", "colour-then-kuwahara",
    "colour-then-bristles", "colour-then-superpixels", "strokes-then-colour", "patches-of-paint", "strokes-of-oil",
)  # fmt: skip
"""No page speaks of any of them; "strokes" and "patches" alone are words of the tutorial."""
PAIRS_CUT = {
    "participants = 122": "participants = 4",
    "trials = 144": "trials = 6",
    "checks = 6": "checks = 2",
    "checks_needed = 5": "checks_needed = 2",
    "participants = 142": "participants = 4",
    "trials = 120": "trials = 5",
    "checks = 4": "checks = 1",
    "checks_needed = 3": "checks_needed = 1",
    "repeats = 12": "repeats = 1\nrepeat_distance = 3",
    "break_seconds = 60": "break_seconds = 3",
    "auto = 3": "auto = 2",
}
RATINGS_CUT = {
    "participants = 22": "participants = 3",
    "sessions = 5": "sessions = 2\nitems = 4",
    "stabilising = 5": "stabilising = 1",
    "checks = 2": "checks = 1",
    "repeats = 4": "repeats = 0",
    "plates = 4": "plates = 2",
}
_EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


def style_folder(folder: Path, cut: dict[str, str], *, methods: int = 3, side: int = 200) -> Path:
    """The style-transfer study on so many methods, 2 contents and 2 styles."""
    rows, references = [], []
    for method, content, style in product(METHODS[:methods], ("ct-harbour", "ct-meadow"), ("st-gouache", "st-etching")):
        rows.append(
            (
                f"{method}/{content}/{style}",
                f"results/{method}/{content}_stylized_{style}.png",
                method,
                content,
                style,
                "",
            )
        )
    for number, row in enumerate(rows[::3]):
        rows.append((f"broken-{number}", f"checks/broken-{number}.png", *row[2:5], row[0]))
    for factor, levels in (("content", ("ct-harbour", "ct-meadow")), ("style", ("st-gouache", "st-etching"))):
        references += [(factor, level, f"{factor}s/{level}.png") for level in levels]
    columns = ("item", "image", "method", "content", "style", "broken_of")
    _write(folder, columns, rows, references, criteria=("content", "style", "overall"), side=side)
    return _planned(folder, "style-transfer", cut)


def ratings_folder(folder: Path, cut: dict[str, str], *, items: int = 12, side: int = 160) -> Path:
    """The text-to-image study on as many pictures as asked for."""
    rows = []
    for number in range(items):
        generator, words = ("gen-alpha", "gen-beta")[number % 2], f"a lighthouse number {number}, city, anime style"
        rows.append((f"{generator}_{number}", f"pictures/{generator}_{number}.png", generator, words, ""))
    rows += [(f"broken-{n}", f"checks/broken-{n}.png", *rows[n][2:4], rows[n][0]) for n in range(4)]
    columns = ("item", "image", "generator", "prompt", "broken_of")
    _write(folder, columns, rows, [], criteria=("quality",), side=side)
    return _planned(folder, "text-to-image", cut)


def _write(
    folder: Path,
    columns: tuple[str, ...],
    rows: list[tuple[str, ...]],
    references: list[tuple[str, str, str]],
    *,
    criteria: tuple[str, ...],
    side: int,
) -> None:
    folder.mkdir(parents=True)
    for name, head, lines in (
        ("items.csv", columns, rows),
        ("references.csv", ("factor", "level", "image"), references),
    ):
        if lines:
            with (folder / name).open("w", newline="") as file:
                csv.writer(file).writerows([head, *lines])
    factors = ", ".join(f'"{name}"' for name in columns[2:])
    listed = ", ".join(f'"{name}"' for name in criteria)
    (folder / "benchmark.toml").write_text(f'name = "cut"\ncriteria = [{listed}]\nfactors = [{factors}]\n')
    rng = np.random.default_rng(5)
    for path in [row[1] for row in rows] + [row[2] for row in references]:
        made = folder / path
        made.parent.mkdir(parents=True, exist_ok=True)
        coarse = rng.integers(0, 255, (8, 8, 3)).astype(np.uint8)
        told = PngInfo()
        told.add_text("parameters", f"{CHUNK}, steps 20, made from {path}")
        Image.fromarray(coarse).resize((side, side), Image.Resampling.BICUBIC).save(made, pnginfo=told)


def _planned(folder: Path, example: str, cut: dict[str, str]) -> Path:
    settings = (_EXAMPLES / example / "study.toml").read_text(encoding="utf-8")
    for old, new in cut.items():
        assert old in settings, f"the example's study.toml has no '{old}'"
        settings = settings.replace(old, new)
    (folder / "study.toml").write_text(settings, encoding="utf-8")
    plan(Benchmark.read(folder), read_study(folder / "study.toml")).write(folder / "plan.csv")
    return folder

"""A small benchmark whose pictures say what people like: results that keep more or less of a content and of a style."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from paragone.benchmark import Benchmark
from paragone.images import write_image
from paragone.scores import Scores

CONTENTS, STYLES = ("bridge", "face", "hill"), ("dots", "lines", "wash")
KEPT = {"faint": 0.85, "half": 0.55, "mixed": 0.7, "strong": 0.25}  # method -> share of the content in its results


def picture(name: str, side: int = 64) -> np.ndarray:
    """A smooth random picture of its name's own."""
    rng = np.random.default_rng(sum(name.encode()))
    coarse = rng.random((8, 8, 3))
    y = np.linspace(0, 7, side)
    low, part = np.floor(y).astype(int).clip(0, 6), (y - np.floor(y).clip(0, 6))[:, None, None]
    rows = coarse[low] * (1 - part) + coarse[low + 1] * part
    columns = rows.transpose(1, 0, 2)
    both = columns[low] * (1 - part) + columns[low + 1] * part
    return both.transpose(1, 0, 2).astype(np.float32)


def result(content: str, style: str, kept: float, side: int = 64) -> np.ndarray:
    """A mixture, with a little noise of its own."""
    rng = np.random.default_rng(sum(f"{content}{style}{kept}".encode()))
    mixed = kept * picture(content, side) + (1 - kept) * picture(style, side)
    return np.clip(mixed + 0.02 * rng.standard_normal(mixed.shape), 0, 1).astype(np.float32)


def write_results(folder: Path, kept: float, *, side: int = 64) -> Path:
    """Results of one method as `<content>_stylized_<style>.png`."""
    folder.mkdir(parents=True, exist_ok=True)
    for content in CONTENTS:
        for style in STYLES:
            write_image(result(content, style, kept, side), folder / f"{content}_stylized_{style}.png")
    return folder


def learning_folder(folder: Path, *, side: int = 64) -> Path:
    """A benchmark folder with pictures, references and scores of simulated people for content and style."""
    for factor, levels in (("content", CONTENTS), ("style", STYLES)):
        (folder / factor).mkdir(parents=True, exist_ok=True)
        for level in levels:
            write_image(picture(level, side), folder / factor / f"{level}.png")
    rows, scores = [], []
    rng = np.random.default_rng(0)
    for method, kept in KEPT.items():
        write_results(folder / "results" / method, kept, side=side)
        for content in CONTENTS:
            for style in STYLES:
                item = f"{method}/{content}/{style}"
                image = f"results/{method}/{content}_stylized_{style}.png"
                rows.append({"item": item, "image": image, "method": method, "content": content, "style": style})
                for criterion, value in (("content", kept), ("style", 1 - kept)):
                    score = 4 * value + 0.1 * rng.standard_normal()
                    scores.append(
                        {"item": item, "criterion": criterion, "score": score, "low": score - 0.3, "high": score + 0.3}
                    )
    references = [
        {"factor": factor, "level": level, "image": f"{factor}/{level}.png"}
        for factor, levels in (("content", CONTENTS), ("style", STYLES))
        for level in levels
    ]
    made = Benchmark(
        pl.DataFrame(rows), pl.DataFrame(references), name="learning", criteria=("content", "style"), simulated=True
    )
    made.write(folder)
    Scores(pl.DataFrame(scores), name="human", made={"verb": "score", "simulated": True}).write(
        folder / "scores" / "human.csv"
    )
    return folder

"""Cells of a small benchmark, their reference pictures, and a folder to fill with results."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path

import pytest

from make.adapters.adapter_world import CONTENTS, STYLES, Jobs, Paint, smooth
from paragone.images import write_image
from paragone.make.cells import Job, seed_of


@pytest.fixture
def paint() -> Paint:
    """Writes a picture file that is different for every seed."""

    def write(path: Path, seed: int = 1, *, height: int = 24, width: int = 32) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        return write_image(smooth(seed, height, width), path)

    return write


@pytest.fixture
def jobs_of(tmp_path: Path, paint: Paint) -> Jobs:
    """Makes the cells of one method on every pair of references, whose pictures lie in `references`."""

    def make(
        contents: Sequence[str] = CONTENTS,
        styles: Sequence[str] = STYLES,
        *,
        method: str = "adain",
        hints: dict[str, str] | None = None,
    ) -> list[Job]:
        folder = tmp_path / "references"
        shown = {
            (factor, level): paint(folder / factor / f"{number:03}.png", 100 * k + number)
            for k, (factor, levels) in enumerate((("content", contents), ("style", styles)))
            for number, level in enumerate(levels)
        }
        return [
            Job(
                method=method,
                levels={"content": content, "style": style},
                inputs={"content": shown["content", content], "style": shown["style", style]},
                target=tmp_path / "results" / method / f"{content}_stylized_{style}.png",
                seed=seed_of(method, content, style),
                key=f"{content}-{style}",
                hints=hints or {},
            )
            for content, style in product(contents, styles)
        ]

    return make


@pytest.fixture
def prompt_jobs(tmp_path: Path) -> Jobs:
    """Makes cells that hang on a prompt alone."""

    def make(prompts: Sequence[str], *, method: str = "deepai", texts: Sequence[str] = ()) -> list[Job]:
        return [
            Job(
                method=method,
                levels={"prompt": prompt},
                inputs={},
                target=tmp_path / "results" / method / f"{number}.png",
                seed=number,
                key=prompt,
                hints={"prompt": texts[number]} if texts else {},
            )
            for number, prompt in enumerate(prompts)
        ]

    return make

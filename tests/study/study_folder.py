"""A small study in a folder: pictures made by code, settings, a plan."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from paragone.benchmark import Benchmark
from paragone.design import plan, read_study
from paragone.study.frozen import Frozen, freeze

__all__ = ["PAIRS", "RATINGS", "frozen_study", "study_folder"]

HEAD = """name = "Small"
criteria = ["content", "style"]
seed = 3
[consent]
who = "A university"
contact = "study@example.org"
"""
PAIRS = """[[stage]]
kind = "pairs"
name = "within"
participants = 4
trials = 6
group = ["content"]
compare = "method"
checks = 2
checks_needed = 1
repeats = 0
break_seconds = 30
"""
RATINGS = """[[stage]]
kind = "ratings"
name = "rate"
participants = 3
sessions = 2
items = 4
stabilising = 1
checks = 1
checks_needed = 1
break_seconds = 0
"""
METHODS = ("aa", "bb", "cc", "dd")
CONTENTS = ("cat", "dog")


def study_folder(folder: Path, settings: str = PAIRS, *, head: str = HEAD, side: int = 136) -> Path:
    """Write benchmark, pictures, study.toml and plan.csv; broken versions of two items."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(1)
    items = ["item,image,method,content,broken_of"]
    for content in CONTENTS:
        for method in METHODS:
            items.append(f"{method}/{content},{method}-{content}.png,{method},{content},")
    for content in CONTENTS:
        items.append(f"broken/{content},broken-{content}.png,aa,{content},aa/{content}")
    (folder / "items.csv").write_text("\n".join(items) + "\n")
    refs = ["factor,level,image"] + [f"content,{content},ref-{content}.png" for content in CONTENTS]
    (folder / "references.csv").write_text("\n".join(refs) + "\n")
    (folder / "benchmark.toml").write_text(
        'name = "small"\ncriteria = ["content", "style"]\nfactors = ["method", "content"]\n'
    )
    names = {line.split(",")[1] for line in items[1:]} | {f"ref-{content}.png" for content in CONTENTS}
    for name in sorted(names):
        pixels = rng.integers(0, 255, (side, side, 3)).astype(np.uint8)
        Image.fromarray(pixels).save(folder / name)
    (folder / "study.toml").write_text(head + settings)
    plan(Benchmark.read(folder), read_study(folder / "study.toml")).write(folder / "plan.csv")
    return folder


def frozen_study(folder: Path, settings: str = PAIRS, *, head: str = HEAD) -> Frozen:
    """The same, frozen."""
    return freeze(study_folder(folder, settings, head=head))

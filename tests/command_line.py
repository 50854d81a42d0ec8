"""The command line in this process, and small studies made by code for it to work on; fixtures stand in tests/cli."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from PIL import Image

from paragone.cli import main

METHODS = {"alpha": 0.2, "beta": 0.5, "gamma": 0.9}
PAIRS = """\
name = "Which picture is better?"
seed = 1

[[stage]]
kind = "pairs"
name = "within"
pairs = "within"
group = ["content", "style"]
compare = "method"
participants = 12
trials = 12
checks = 2
checks_needed = 1
check = "instructed"
repeats = 2
repeat_distance = 5

[[stage]]
kind = "pairs"
name = "across"
pairs = "across"
group = ["content", "style"]
participants = 12
trials = 12
repeats = 2
repeat_distance = 5
"""
RATED = """\
name = "How good is this picture?"
criteria = ["overall"]
seed = 2

[[stage]]
kind = "ratings"
name = "rated"
low = 1
high = 5
step = 1
participants = 10
stabilising = 2
checks = 2
checks_needed = 1
check = "instructed"
repeats = 3
repeat_distance = 4
"""


class Said(NamedTuple):
    """What one call of the command line left behind."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """stdout as the one JSON document that it must be."""
        lines = self.out.splitlines()
        assert len(lines) == 1, f"--json printed {len(lines)} lines"
        return json.loads(self.out, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))

    @property
    def refusal(self) -> str:
        """The one line of a refusal; remarks on reading may stand before it."""
        lines = [line for line in self.err.splitlines() if line.startswith("paragone: ")]
        assert self.code == 1
        assert len(lines) == 1, self.err
        assert self.err.splitlines()[-1] == lines[0]
        assert "Traceback" not in self.err
        return lines[0]


Cli = Callable[..., Said]


def call(*words: object) -> Said:
    """Run the command line in this process."""
    out, err = io.StringIO(), io.StringIO()
    code = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main([str(word) for word in words])
        except SystemExit as leave:
            code = leave.code if isinstance(leave.code, int) else 0
    return Said(code, out.getvalue(), err.getvalue())


def _picture(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (24, 24, 3)).astype(np.float64)


def draw(root: Path) -> None:
    """Twelve results of three methods on two contents and two styles, and their references, 24 pixels wide."""
    contents = {"boat": _picture(0), "tree": _picture(1)}
    styles = {"ink": _picture(10), "oil": _picture(11)}
    shown = {f"contents/{name}.png": picture for name, picture in contents.items()}
    shown |= {f"styles/{name}.png": picture for name, picture in styles.items()}
    for method, share in METHODS.items():
        for content, below in contents.items():
            for style, above in styles.items():
                shown[f"results/{method}/{content}_{style}.png"] = (1 - share) * below + share * above
    for name, picture in shown.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(picture.astype(np.uint8)).save(root / name)


def made(*words: object) -> None:
    """Run the command line; anything but success ends the test."""
    said = call(*words)
    assert said.code == 0, said.err


def voted_study(root: Path) -> None:
    """Pictures, and in `bench` a benchmark with a plan and simulated votes on two criteria."""
    draw(root)
    references = [("--reference", f"{factor}={factor}s/{{{factor}}}.png") for factor in ("content", "style")]
    pattern = "results/{method}/{content}_{style}.png"
    criteria = ("--criteria", "overall,style")
    made(
        "new", root / "bench", "--root", root, "--images", pattern, *(w for pair in references for w in pair), *criteria
    )
    (root / "bench" / "study.toml").write_text(PAIRS)
    made("plan", root / "bench")
    made("simulate", root / "bench", "--careless", "0.2", "--seed", "1")
    made("collect", root / "bench")


def rated_study(root: Path) -> None:
    """In a copy of `voted_study`: the same pictures with simulated ratings from 1 to 5."""
    for name in ("plan.csv", "answers.csv", "votes.csv"):
        (root / "bench" / name).unlink()
    (root / "bench" / "study.toml").write_text(RATED)
    made("plan", root / "bench")
    made("simulate", root / "bench", "--seed", "2")
    made("collect", root / "bench")

"""What a folder holds, for its report."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from paragone.benchmark import Benchmark
from paragone.loop.gather import gather


@pytest.mark.parametrize(
    ("study", "asked"),
    [
        (None, ""),
        ('name = "no question"', "How good is this picture overall?"),
        ('criteria = ["style"]\n[pages.questions]\nstyle = "How *old* is the style?"', "How old is the style?"),
    ],
)
def test_only_a_study_says_what_was_asked(tmp_path: Path, study: str | None, asked: str) -> None:
    """A benchmark's description says what the pictures are, not what people were asked."""
    items = pl.DataFrame({"item": ["a"], "image": ["a.png"]})
    none = pl.DataFrame(schema=dict.fromkeys(("factor", "level", "image"), pl.String))
    Benchmark(items, none, name="b", description="Pictures of boats.").write(tmp_path)
    if study is not None:
        stage = '[[stage]]\nkind = "ratings"\nparticipants = 3\n'
        (tmp_path / "study.toml").write_text(f"{study}\n{stage}")
    assert gather(tmp_path).asked == asked


@pytest.mark.parametrize(
    ("study", "order"),
    [
        (None, ["content", "style", "overall"]),
        ('name = "no criteria"', ["content", "style", "overall"]),
        ('criteria = ["overall", "style"]', ["overall", "style", "content"]),
    ],
)
def test_criteria_stand_in_the_order_of_the_study_and_then_of_the_benchmark(
    tmp_path: Path, study: str | None, order: list[str]
) -> None:
    items = pl.DataFrame({"item": ["a"], "image": ["a.png"]})
    none = pl.DataFrame(schema=dict.fromkeys(("factor", "level", "image"), pl.String))
    Benchmark(items, none, name="b", criteria=("content", "style", "overall")).write(tmp_path)
    if study is not None:
        (tmp_path / "study.toml").write_text(f'{study}\n[[stage]]\nkind = "ratings"\nparticipants = 3\n')
    assert gather(tmp_path).known_criteria == order

"""What a person is told after a run of make.toml."""

from __future__ import annotations

import polars as pl

from paragone.benchmark import Benchmark
from paragone.loop.made import told_lines
from paragone.make.building import Built


def _built(*cells: tuple[str, str, str, str]) -> Built:
    """Cells of (method, style, status, reason), all of one content."""
    rows = [
        {"item": f"{method}/cat/{style}", "method": method, "content": "cat", "style": style, "status": status}
        | {"reason": reason, "image": None, "width": None, "height": None, "seconds": None}
        for method, style, status, reason in cells
    ]
    frame = pl.DataFrame(rows, schema_overrides={"image": pl.String, "seconds": pl.Float64})
    items = frame.filter(pl.col("status") == "ok").select("item", "image", "method", "content", "style")
    references = pl.DataFrame(schema=dict.fromkeys(("factor", "level", "image"), pl.String))
    return Built(Benchmark(items, references), frame, made=frame.height - 1, kept=1)


def test_faults_of_one_kind_are_told_once_and_by_the_commonest_reason() -> None:
    failed = [("usage", f"s{k}", "failed", "no card" if k % 3 else f"s{k} is odd") for k in range(9)]
    lines = told_lines(_built(("xdog", "s0", "ok", ""), ("usage", "t", "wrong_size", "80 x 80"), *failed))
    assert lines[0] == "10 cells made, 1 kept; 1 results"
    assert lines[-2:] == [
        "usage: 9 failed, for example usage/cat/s1: no card (3 more reasons in cells.csv)",
        "usage: 1 wrong_size, for example usage/cat/t: 80 x 80",
    ]
    assert "1 ok, 9 failed, 1 wrong_size of 11 cells (2 methods x 1 content x 10 styles)" in lines


def test_what_is_whole_is_told_in_two_lines() -> None:
    assert told_lines(_built(("xdog", "s0", "ok", ""), ("llip", "s0", "ok", ""))) == [
        "1 cells made, 1 kept; 2 results",
        "complete: 2 of 2 cells (2 methods x 1 content x 1 style)",
    ]

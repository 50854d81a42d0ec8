"""Benchmarks without pictures."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import polars as pl
import pytest

from paragone.benchmark import Benchmark

Maker = Callable[..., Benchmark]


def grid(
    methods: int = 4, contents: int = 2, styles: int = 3, *, broken: int = 0, left_out: frozenset[int] = frozenset()
) -> Benchmark:
    """A method x content x style benchmark; `broken` items also have a broken version."""
    cells = product(range(methods), range(contents), range(styles))
    rows = [
        {"item": f"m{m:02d}/c{c}/s{s:02d}", "method": f"m{m:02d}", "content": f"c{c}", "style": f"s{s:02d}"}
        for number, (m, c, s) in enumerate(cells)
        if number not in left_out
    ]
    frame = pl.DataFrame(rows).with_columns(pl.lit(None, dtype=pl.String).alias("broken_of"))
    worse = frame.head(broken).with_columns(broken_of=pl.col("item"), item=pl.lit("broken/") + pl.col("item"))
    items = pl.concat([frame, worse]) if broken else frame.drop("broken_of")
    none = pl.DataFrame(schema={"factor": pl.String, "level": pl.String, "image": pl.String})
    return Benchmark(items, none, name="grid", criteria=("content", "style"))


@pytest.fixture(scope="session")
def grid_benchmark() -> Maker:
    return grid

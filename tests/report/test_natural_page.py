"""The page of generated against natural pictures."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from paragone.benchmark import Benchmark
from paragone.images import write_image
from paragone.make.natural import NaturalComparison, compare_natural
from paragone.report.natural import natural_page

HOSTILE = "<i>gen"


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> NaturalComparison:
    folder, rng = tmp_path_factory.mktemp("pictures"), np.random.default_rng(0)
    for place in range(24):
        write_image(rng.random((64, 80, 3), dtype=np.float32) ** (1 + place % 3), folder / f"{place:02d}.png")
    references = pl.DataFrame(schema=dict.fromkeys(("factor", "level", "image"), pl.String))

    def part(start: int, methods: list[str | None]) -> Benchmark:
        numbers = range(start, start + 12)
        items = {"item": [f"i{n}" for n in numbers], "image": [f"{n:02d}.png" for n in numbers], "method": methods}
        return Benchmark(pl.DataFrame(items, schema_overrides={"method": pl.String}), references, folder=folder)

    return compare_natural(part(0, [HOSTILE, "other"] * 6), part(12, [None] * 12), replicates=100)


def test_the_page_answers_both_claims_first(comparison: NaturalComparison, tmp_path: Path) -> None:
    html = natural_page(comparison, tmp_path).read_text(encoding="utf-8")
    first = html.partition('<section id="answer"')[2].partition("</section>")[0]
    for row in comparison.claims.filter(pl.col("generator").is_null()).iter_rows(named=True):
        said = {"open": "left open"}.get(row["verdict"], row["verdict"])
        assert f"{row['claim'].capitalize()}&#39; is {said}" in first
    assert "12 generated pictures and 12 natural ones" in first
    assert HOSTILE not in html


def test_five_panels_hold_all_pictures(comparison: NaturalComparison, tmp_path: Path) -> None:
    html = natural_page(comparison, tmp_path / "n.html").read_text(encoding="utf-8")
    part = html.partition('<section id="distributions"')[2].partition("</section>")[0]
    assert part.count("<figure") == 5
    for attribute in ("light", "contrast", "colourfulness", "blur", "si"):
        frame = pl.read_csv(tmp_path / "figures" / f"n-{attribute}.csv")
        assert frame["natural"].sum() == pytest.approx(1)
        assert frame["generated"].sum() == pytest.approx(1)


def test_each_generator_has_its_row_for_each_claim(comparison: NaturalComparison, tmp_path: Path) -> None:
    html = natural_page(comparison, tmp_path).read_text(encoding="utf-8")
    part = html.partition('<section id="generators"')[2].partition("</section>")[0]
    assert part.count("<tr>") == 1 + 2 * 2


def test_the_page_needs_no_network_and_repeats(comparison: NaturalComparison, tmp_path: Path) -> None:
    first = natural_page(comparison, tmp_path / "a.html").read_bytes()
    assert first == natural_page(comparison, tmp_path / "a.html").read_bytes()
    assert re.findall(rb'(?:src|href)="(?!data:|#|figures/)([^"]*)"', first) == []


def test_a_comparison_without_generators_has_no_section_for_them(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    for name in ("a/0", "a/1", "b/0", "b/1"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write_image(rng.random((64, 64, 3), dtype=np.float32), tmp_path / f"{name}.png")
    made = compare_natural(tmp_path / "a", tmp_path / "b", replicates=100)
    html = natural_page(made, tmp_path / "page.html").read_text(encoding="utf-8")
    assert 'id="generators"' not in html
    assert "as few as 2 units" in html

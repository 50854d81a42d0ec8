"""Which cells are filled, as a grid that people read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from paragone.benchmark import Benchmark
from paragone.errors import BadInput, UnknownName
from paragone.make import coverage, new_benchmark
from paragone.make.cells import STATUSES
from paragone.make.grid import SIGNS, CellGrid

Filled = Callable[..., Path]
PATTERN = "{method}/{content}_stylized_{style}.png"


def test_coverage_counts_cells_and_lists_what_is_missing(filled: Filled) -> None:
    folder = filled("a/x_stylized_s.png", "a/y_stylized_s.png", "a/x_stylized_t.png", "b/x_stylized_s.png")
    made = new_benchmark(PATTERN, folder=folder)
    grid = coverage(made)
    assert grid.frame.rows() == [("a", 2, 1), ("b", 1, 0)]
    assert grid.missing == ["a/y/t", "b/x/t", "b/y/s", "b/y/t"]
    assert grid.text.splitlines() == ["method  s  t", "a       2  1", "b       1  0", grid.text.splitlines()[-1]]
    assert "missing 4 of 8: a/y/t, b/x/t, b/y/s, b/y/t" in grid.text
    assert coverage(made, "content", "method").frame.rows() == [("x", 2, 1), ("y", 1, 0)]


def test_coverage_of_one_factor_is_a_count(filled: Filled) -> None:
    grid = coverage(new_benchmark("{method}.png", folder=filled("a.png", "b.png")))
    assert grid.frame.rows() == [("a", 1), ("b", 1)]
    assert "complete: 2 of 2" in grid.text


def test_coverage_needs_a_known_factor(filled: Filled) -> None:
    made = new_benchmark("{method}.png", folder=filled("a.png"))
    with pytest.raises(UnknownName, match="no factor 'metod'; did you mean 'method'"):
        coverage(made, "metod")
    with pytest.raises(BadInput, match="has no factors"):
        coverage(Benchmark(made.items.select("item", "image"), made.references))


def test_a_grid_too_large_to_list_is_not_called_complete() -> None:
    rows = [{"item": f"{k}", "image": None, "a": f"{k}", "b": f"{k}", "c": f"{k}"} for k in range(101)]
    frame = pl.DataFrame(rows, schema_overrides={"image": pl.String})
    references = pl.DataFrame(schema=dict.fromkeys(("factor", "level", "image"), pl.String))
    grid = coverage(Benchmark(frame, references))
    assert (grid.expected, grid.n_missing, grid.missing) == (101**3, 101**3 - 101, [])
    assert "missing 1030200 of 1030301, too many combinations to list" in grid.text


def _cells(*odd: tuple[str, str, str]) -> dict[tuple[str, str], str]:
    """Two contents by three styles, all ok but those that are named."""
    made = dict.fromkeys(
        [(content, style) for content in ("cat", "hopper") for style in ("wave", "spring", "dots")], "ok"
    )
    return made | {(content, style): status for content, style, status in odd}


def test_every_status_has_a_sign_of_its_own() -> None:
    assert set(SIGNS) == {*STATUSES, "duplicate"}
    assert len(set(SIGNS.values())) == len(SIGNS)


def test_the_grid_shows_the_methods_that_lack_cells_and_names_the_others() -> None:
    odd = _cells(("cat", "spring", "missing"), ("hopper", "spring", "duplicate"), ("hopper", "dots", "wrong_size"))
    grid = CellGrid(("content", "style"), {"adain": odd, "llip": _cells()}, {"adain": ["a.png", "b.png"]})
    assert grid.text.splitlines() == [
        "method  wave  spring  dots",
        "adain   ..    -2      .S",
        ". ok  - missing  2 ambiguous (several files)  S wrong_size; one sign for each content: cat, hopper",
        "complete: llip",
        "9 ok, 1 missing, 1 ambiguous (several files), 1 wrong_size of 12 cells (2 methods x 2 contents x 3 styles); "
        "2 files of no cell",
    ]


def test_a_complete_grid_is_one_line() -> None:
    grid = CellGrid(("content", "style"), {"llip": _cells()})
    assert grid.text == "complete: 6 of 6 cells (1 method x 2 contents x 3 styles)"


def test_a_wide_grid_is_broken_into_blocks_and_loses_no_column() -> None:
    styles = [f"painting_number_{k:02d}" for k in range(12)]
    cells = {("cat", style): "missing" if style.endswith("7") else "ok" for style in styles}
    lines = CellGrid(("content", "style"), {"adain": cells}).text.splitlines()
    assert max(map(len, lines[:-2])) <= 118
    heads = [word for line in lines if line.startswith("method") for word in line.split()[1:]]
    signs = [word for line in lines if line.startswith("adain") for word in line.split()[1:]]
    assert dict(zip(heads, signs, strict=True)) == {s: "-" if s.endswith("7") else "." for s in styles}


def test_very_many_levels_are_counted_and_holes_are_no_cells() -> None:
    cells = {(f"{k}", style): "ok" for k in range(200) for style in ("wave", "dots") if (k, style) != (7, "dots")}
    cells["3", "wave"] = "failed"
    lines = CellGrid(("content", "style"), {"adain": cells}).text.splitlines()
    assert lines[1].split() == ["adain", "199/200", "199/199"]
    assert lines[2] == "in each column: cells that are ok, of all levels of content; cells.csv names the others"
    assert lines[-1].startswith("398 ok, 1 failed of 399 cells")
    few = CellGrid(("content", "style"), {"a": {("x", "s"): "ok", ("y", "s"): "missing", ("y", "t"): "ok"}})
    assert few.text.splitlines()[1] == "a       .-   ."


def test_one_factor_and_three_are_drawn_too() -> None:
    one = CellGrid(("prompt",), {"m": {("1",): "ok", ("2",): "refused"}})
    assert one.text.splitlines()[:2] == ["method  prompt", "m       .R"]
    three = CellGrid(("content", "style", "size"), {"m": {("a", "s", "1"): "ok", ("a", "s", "2"): "failed"}})
    assert three.text.splitlines()[:2] == ["method  s/1  s/2", "m       .    F"]


def test_wide_letters_take_two_columns_and_no_name_breaks_a_line() -> None:
    cells = {("猫", "波浪"): "ok", ("猫", "a\nb"): "missing", ("犬", "波浪"): "failed", ("犬", "a\nb"): "ok"}
    lines = CellGrid(("content", "style"), {"m": cells}).text.splitlines()
    assert lines[:2] == ["method  波浪  a?b", "m       .F    -."]

"""Methods that lack combinations of the other factors are told wherever methods are compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import polars as pl
import pytest

from paragone.benchmark import BROKEN, Benchmark
from paragone.report import Material
from paragone.report.answer import answer_section
from paragone.report.blocks import Block, Folded, Plates, Prose, Section, Table
from paragone.report.index import index_of
from paragone.report.lacking import lacking
from paragone.report.methods import methods_paragraph
from paragone.report.scored import scores_section
from paragone.scores import Scores

CONTENTS, STYLES = ("boat", "cat", "hill", "lamp"), ("fauve", "wave", "tiles")
Cell = tuple[str, str, str]


def _grid(*methods: str) -> list[Cell]:
    return [(method, content, style) for method in methods for content in CONTENTS for style in STYLES]


def _without(cells: Iterable[Cell], method: str, *contents: str) -> list[Cell]:
    return [cell for cell in cells if cell[0] != method or cell[1] not in contents]


def _benchmark(
    cells: Iterable[Cell], pictured: Iterable[str] = (), **more: Callable[[int, Cell], str | None]
) -> Benchmark:
    """Items of method, content and style; `more` are further factors, from an item's number and cell."""
    rows = list(cells)
    columns = {
        "item": [f"i{k}" for k in range(len(rows))],
        "image": [f"{k}.png" for k in range(len(rows))],
        **{name: [row[at] for row in rows] for at, name in enumerate(("method", "content", "style"))},
        **{name: [made(k, row) for k, row in enumerate(rows)] for name, made in more.items()},
    }
    text = dict.fromkeys(columns, pl.String)
    shown = [(factor, "any", "any.png") for factor in pictured]
    references = pl.DataFrame(shown, schema=dict.fromkeys(("factor", "level", "image"), pl.String), orient="row")
    return Benchmark(pl.DataFrame(columns, schema=text), references)


def _said(benchmark: Benchmark, factor: str = "method") -> str:
    found = lacking(benchmark, factor)
    return "" if found is None else found.sentence


PARTLY = _without(_grid("alpha", "beta", "imaginary"), "imaginary", "boat", "cat")
"""imaginary has 6 of 12 combinations."""


def test_a_method_that_lacks_combinations_is_named_with_how_many_it_has() -> None:
    assert _said(_benchmark(_grid("alpha", "beta"))) == ""
    assert _said(_benchmark(PARTLY)) == (
        "imaginary has 6 of 12 combinations of content and style; its score rests on fewer, and other, pictures than those "
        "of the rest."
    )
    both = _without(PARTLY, "beta", "hill")
    assert _said(_benchmark(both)) == (
        "Of 12 combinations of content and style, imaginary has 6 and beta has 9; their scores do not rest on the same "
        "pictures."
    )
    alike = _without(PARTLY, "beta", "hill", "lamp")
    assert "beta and imaginary have 6 of 12 combinations of content and style each;" in _said(_benchmark(alike))


def test_methods_that_all_lack_the_same_are_compared_on_the_same_pictures() -> None:
    cells = _without(_without(_grid("alpha", "beta"), "alpha", "cat"), "beta", "cat")
    assert _said(_benchmark([cell for cell in cells if cell[2] == "wave" or cell[1] == "boat"])) == ""
    assert _said(_benchmark(cells[1:])).startswith("alpha has 8 of 9 combinations of content and style;")


def test_of_many_methods_the_one_that_lacks_most_is_named() -> None:
    names = [f"m{k}" for k in range(9)]
    cells = _grid(*names)
    for name in names[:8]:
        cells = _without(cells, name, "cat")
    assert _said(_benchmark(_without(cells, "m3", "hill", "lamp"))) == (
        "8 of 9 methods lack some of 12 combinations of content and style; m3 has the fewest, 3. Their scores do not rest "
        "on the same pictures."
    )


def test_broken_versions_and_what_has_no_method_do_not_count() -> None:
    cells = [*_grid("alpha", "beta"), ("alpha", "ruin", "wave")]
    broken = _benchmark(cells, **{BROKEN: lambda k, _: "i0" if k == 24 else None})
    assert _said(broken) == ""
    assert "beta has 12 of 13" in _said(_benchmark(cells))
    nobody = _benchmark(_grid("alpha", "beta")).items.with_columns(
        method=pl.when(pl.col("item") == "i3").then(None).otherwise(pl.col("method"))
    )
    assert "alpha has 11 of 12" in _said(Benchmark(nobody, _benchmark([]).references))


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("family", lambda _, cell: "neural" if cell[0] == "alpha" else "painted"),  # follows from the method
        ("mood", lambda _, cell: "calm" if cell[1] in ("boat", "hill") else "lively"),  # follows from the content
        ("seed", lambda k, _: str(k)),  # of each item its own
        ("seed", lambda k, _: str(k * k % 7)),  # drawn at random
        ("nothing", lambda *_: None),
    ],
)
def test_factors_that_no_method_can_lack_raise_no_alarm(name: str, made: Callable[[int, Cell], str | None]) -> None:
    assert _said(_benchmark(_grid("alpha", "beta"), **{name: made})) == ""
    assert "combinations of content and style;" in _said(_benchmark(PARTLY, **{name: made}))


def test_a_further_factor_that_methods_share_counts_though_it_has_no_pictures() -> None:
    cells = [cell for cell in _grid("alpha", "beta") for _ in range(2)]
    weak = _benchmark(cells, ("content", "style"), strength=lambda k, _: ("weak", "strong")[k % 2])
    assert _said(weak) == ""
    fewer = Benchmark(
        weak.items.filter((pl.col("method") == "alpha") | (pl.col("strength") == "weak")), weak.references
    )
    assert _said(fewer).startswith("beta has 12 of 24 combinations of content, style and strength;")


def test_one_other_factor_has_levels_and_none_says_nothing() -> None:
    items = _benchmark(PARTLY).items.drop("style").unique(["method", "content"])
    none = _benchmark([]).references
    assert _said(Benchmark(items, none)).startswith("imaginary has 2 of 4 levels of content;")
    assert _said(Benchmark(items.drop("content"), none)) == ""
    assert _said(_benchmark(PARTLY), "content").startswith(
        "boat and cat have 6 of 9 combinations of method and style each"
    )


def _texts(blocks: Iterable[Block]) -> str:
    return " ".join(block.text for block in blocks if isinstance(block, Prose))


def _material(cells: list[Cell], factor: str = "method") -> Material:
    made = _benchmark(cells)
    levels = sorted(made.items[factor].unique())
    scored = {
        "of": [factor] * len(levels),
        "level": levels,
        "score": [float(k) for k in range(len(levels))],
        "rank_low": range(len(levels), 0, -1),
        "rank_high": range(len(levels), 0, -1),
    }
    human = pl.DataFrame({"item": made.items["item"], "score": [float(k) for k in range(made.items.height)]})
    return Material(human=Scores(human), level_scores=[Scores(pl.DataFrame(scored))], benchmark=made)


def _verdict(section: Section) -> str:
    return next(text for block in section.blocks if isinstance(block, Prose) for text in [block.text] if "Best" in text)


def test_the_report_says_so_where_methods_are_compared() -> None:
    whole, partly = index_of(_material(_grid("alpha", "beta", "imaginary"))), index_of(_material(PARTLY))
    sentence = "imaginary has 6 of 12 combinations of content and style; its score rests on fewer, and other, pictures"
    caution = "Caution: not every method has the same combinations of content and style."
    assert _verdict(answer_section(partly)).endswith(f"2 others. {caution}")
    for section in (answer_section(partly), scores_section(partly)):
        assert sentence in _texts(section.blocks)
    assert sentence in methods_paragraph(partly)
    for section in (answer_section(whole), scores_section(whole)):
        assert "combinations" not in _texts(section.blocks)
    assert "Best method" in _verdict(answer_section(whole))
    assert "combinations" not in methods_paragraph(whole)


def test_methods_are_told_where_the_levels_of_another_factor_are_scored() -> None:
    section = answer_section(index_of(_material(PARTLY, "style")))
    assert "imaginary has 6 of 12 combinations" in _texts(section.blocks)
    assert "Caution" not in _texts(section.blocks), "each style has the same methods and contents"
    assert any(isinstance(block, Plates) for block in section.blocks)
    tables = list(scores_section(index_of(_material(PARTLY, "content"))).blocks)
    at = next(k for k, block in enumerate(tables) if isinstance(block, (Table, Folded)))
    after = tables[at + 1]
    assert isinstance(after, Prose)
    assert after.text.startswith("boat and cat have 6 of 9 combinations")

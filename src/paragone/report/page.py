"""`report`: one self-contained HTML page, and beside it every figure as SVG and the CSV that it is drawn from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from ..errors import BadInput
from ..tables import whole_file, write_table
from .agreed import agreement_section
from .answer import answer_section
from .blocks import Block, Folded, Plate, Plates, Section, Table
from .compared import graph_section
from .index import Index, index_of
from .material import Material
from .methods import methods_section, provenance_section
from .pages import page_of
from .people import participants_section
from .referenced import references_sections
from .scored import scores_section
from .validated import validated_sections

__all__ = ["report", "sections_of"]

_SIMULATED = (
    "Every answer here comes from simulated participants: no person took part, so nothing on this page says what people "
    "think."
)


def report(material: Material, path: str | Path) -> Path:
    """Write the report as one HTML file that needs no network, and `figures/` with SVG and CSV beside it.

    The same material gives the same bytes. Whatever comes from the material (titles, ids, reasons) is text to the page,
    never markup.

    Args:
        material: what there is to tell; parts that are absent become a sentence that says how to add them.
        path: the page, ending in .html; or a folder, in which it is called report.html.

    Returns:
        Where the page lies.

    Raises:
        BadInput: the path has an ending that is not .html.
        MissingExtra: matplotlib or jinja2 is not installed.
    """
    path = Path(path)
    if path.is_dir() or not path.suffix:
        path = path / "report.html"
    if path.suffix.lower() not in (".html", ".htm"):
        raise BadInput(f"'{path}' does not end in .html; name the page or a folder", where=str(path))
    index = index_of(material)
    sections = sections_of(index)
    figures = path.parent / "figures"
    for plate in _plates(sections):
        write_table(plate.frame, figures / f"{plate.name}.csv")
        with whole_file(figures / f"{plate.name}.svg") as aside:
            aside.write_text(plate.drawing.alone, encoding="utf-8", newline="\n")
    for table in _tables(sections):
        if table.frame is not None and table.csv:
            write_table(_flat(table.frame), path.parent / table.csv)
    html = _html(index, sections)
    with whole_file(path) as aside:
        aside.write_text(html, encoding="utf-8", newline="\n")
    return path


def sections_of(index: Index) -> list[Section]:
    """The parts of the page in reading order: who stops after any of them has a true picture."""
    return [
        answer_section(index),
        scores_section(index),
        agreement_section(index),
        *validated_sections(index),
        *references_sections(index),
        participants_section(index),
        graph_section(index),
        methods_section(index),
        provenance_section(index),
    ]


def _html(index: Index, sections: Sequence[Section]) -> str:
    return page_of(
        "report.html.j2",
        script_name="report.js",
        title=index.material.title,
        badges=index.material.human_badges,
        banner=_SIMULATED if index.material.made_up else "",
        sections=sections,
        sources=index.thumbs.sources,
        number=index.number,
    )


def _blocks(sections: Sequence[Section]) -> Iterator[Block]:
    def inside(blocks: Sequence[Block]) -> Iterator[Block]:
        for block in blocks:
            yield block
            if isinstance(block, Folded):
                yield from inside(block.blocks)

    for section in sections:
        yield from inside(section.blocks)


def _plates(sections: Sequence[Section]) -> Iterator[Plate]:
    for block in _blocks(sections):
        if isinstance(block, Plates):
            yield from block.plates


def _tables(sections: Sequence[Section]) -> Iterator[Table]:
    for block in _blocks(sections):
        if isinstance(block, Table):
            yield block


def _flat(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame without lists and records, which a CSV cannot hold."""
    kept: list[Any] = [name for name, dtype in frame.schema.items() if not dtype.is_nested()]
    return frame.select(kept)

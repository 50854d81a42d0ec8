"""`write_leaf`: a page of its own in the look of the report, for what is told outside a study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from ..benchmark import Benchmark
from ..errors import BadInput
from ..tables import whole_file, write_table
from .blocks import Folded, Plates, Section, Table
from .pages import page_of
from .pictures import thumbnails

__all__ = ["leaf_path", "thumbnails_of", "write_leaf"]


def leaf_path(path: str | Path, name: str) -> Path:
    """Give the file that a page is written to.

    Args:
        path: the page, ending in .html; or a folder, in which it takes the name.
        name: for example 'selected.html'.

    Raises:
        BadInput: the path has another ending.
    """
    path = Path(path)
    if path.is_dir() or not path.suffix:
        path = path / name
    if path.suffix.lower() not in (".html", ".htm"):
        raise BadInput(f"'{path}' does not end in .html; name the page or a folder", where=str(path))
    return path


def thumbnails_of(images: Mapping[str, Path]) -> Mapping[str, str]:
    """Make thumbnails of pictures by name, the first ones first, within the limits of a page.

    Args:
        images: name -> picture file; a file that cannot be read gets none.

    Returns:
        Name -> data URI of a JPEG.
    """
    frame = pl.DataFrame(
        {"item": list(images), "image": [str(path.absolute()) for path in images.values()]},
        schema={"item": pl.String, "image": pl.String},
    )
    references = pl.DataFrame(schema=dict.fromkeys(("factor", "level", "image"), pl.String))
    return thumbnails(Benchmark(frame, references), list(images)).sources


def write_leaf(
    path: Path,
    sections: Sequence[Section],
    *,
    title: str,
    sources: Mapping[str, str],
    badges: Sequence[str] = (),
    banner: str = "",
) -> Path:
    """Write one HTML file that needs no network, `figures/` with SVG and CSV beside it, and the tables' CSV.

    The same sections give the same bytes; whatever comes from outside is text to the page, never markup.

    Args:
        path: the page.
        sections: its parts, in reading order.
        title: of the page.
        sources: name -> data URI of the pictures that strips and tables show.
        badges: beside the title.
        banner: what must be seen first, above all sections; empty: nothing.

    Raises:
        MissingExtra: jinja2 is not installed.
    """
    blocks = [block for section in sections for block in section.blocks]
    blocks += [inner for block in blocks if isinstance(block, Folded) for inner in block.blocks]
    html = page_of(
        "report.html.j2",
        script_name="report.js",
        title=title,
        badges=badges,
        banner=banner,
        sections=sections,
        sources=sources,
        number={},
    )
    for block in blocks:
        if isinstance(block, Plates):
            for plate in block.plates:
                write_table(plate.frame, path.parent / "figures" / f"{plate.name}.csv")
                with whole_file(path.parent / "figures" / f"{plate.name}.svg") as aside:
                    aside.write_text(plate.drawing.alone, encoding="utf-8", newline="\n")
        if isinstance(block, Table) and block.frame is not None and block.csv:
            write_table(block.frame, path.parent / block.csv)
    with whole_file(path) as aside:
        aside.write_text(html, encoding="utf-8", newline="\n")
    return path

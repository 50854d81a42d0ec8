"""The contact sheet: every picture of a benchmark at a glance, as one HTML page and as PNG."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from urllib.parse import quote

import polars as pl
from PIL import Image, ImageDraw, ImageFont

from ..benchmark import BROKEN, Benchmark
from ..errors import BadInput, MissingExtra
from ..parallel import track
from ..tables import whole_file
from .pages import page_of

__all__ = ["contact_page", "contact_picture"]

_SIDE = 112  # pixels of a thumbnail's longer side on the page, shown at most that large
_QUALITY = 74
_MOST = 3000  # thumbnails on a page; our choice: about 12 MB
_CELL, _GAP, _LABEL = 96, 4, 120  # pixels in the PNG
_MOST_ROWS = 120  # of one PNG; more rows go into a second one
_COLUMN_FACTORS = ("method", "model", "generator")


@dataclass(frozen=True)
class _Grid:
    """Items laid out: one row per combination of the other factors, one column per method."""

    across: str
    down: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    items: dict[tuple[tuple[str, ...], str], tuple[str, str | None]]
    """(row, column) -> item and picture."""
    references: dict[tuple[str, str], str]
    told: dict[tuple[tuple[str, ...], str], tuple[str, str]]
    """(row, column) -> status and reason of a cell that is no item."""


def contact_page(
    benchmark: Benchmark,
    path: str | Path,
    *,
    cells: pl.DataFrame | None = None,
    drawn: Collection[tuple[str, str]] = (),
    quiet: bool = True,
) -> Path:
    """Write a page with a thumbnail of every picture: contents and styles down, methods across.

    Pictures are linked, thumbnails are inside the page; a click shows a result beside its references.

    Args:
        benchmark: the items; broken versions are left out.
        path: the page, ending in .html.
        cells: columns method, the other factors, status and reason: why a cell has no item; None: it is just empty.
        drawn: (factor, level) of references that were made by formula; they are marked, and named above the sheet.
        quiet: show no progress.

    Raises:
        BadInput: the benchmark has no factor, or the path does not end in .html.
        MissingExtra: jinja2 is not installed.
    """
    path = Path(path)
    if path.suffix.lower() not in (".html", ".htm"):
        raise BadInput(f"'{path}' does not end in .html; name the page", where=str(path))
    grid = _grid(benchmark, cells)
    base = path.parent.resolve()
    left_out = 0
    shown: list[dict[str, object]] = []
    used = 0
    for row in track(grid.rows, "contact sheet", quiet=quiet):
        entries = []
        for column in grid.columns:
            item, image = grid.items.get((row, column), ("", None))
            entry: dict[str, object] = {
                "item": item,
                "column": column,
                "thumb": "",
                "href": "",
                "why": "",
                "reason": "",
            }
            if image is not None and used < _MOST:
                used += 1
                entry |= _entry(benchmark.folder / image, base)
            elif image is not None:
                left_out += 1
                entry["why"] = "left out"
            else:
                status, reason = grid.told.get((row, column), ("", ""))
                entry["why"], entry["reason"] = status or "empty", reason
            entries.append(entry)
        references = [
            {"factor": factor, "level": level, "drawn": (factor, level) in drawn}
            | (
                _entry(benchmark.folder / grid.references[factor, level], base)
                if (factor, level) in grid.references
                else {"thumb": "", "href": ""}
            )
            for factor, level in zip(grid.down, row, strict=True)
        ]
        shown.append(
            {"references": references, "entries": entries, "label": " / ".join(row), "first": row[0] if row else ""}
        )
    style = (resources.files(__package__) / "templates" / "contact.css").read_text(encoding="utf-8")
    html = page_of(
        "contact.html.j2",
        title=benchmark.name,
        badges=("simulated answers",) if benchmark.simulated else (),
        description=benchmark.description,
        licence=benchmark.licence,
        across=grid.across,
        down=grid.down,
        columns=grid.columns,
        rows=shown,
        firsts=tuple(dict.fromkeys(row[0] for row in grid.rows if row)),
        n_items=len(grid.items),
        n_cells=len(grid.rows) * len(grid.columns),
        left_out=left_out,
        drawn=_seen_of(drawn, grid),
        more_style=style,
        script_name="contact.js",
    )
    with whole_file(path) as aside:
        aside.write_text(html, encoding="utf-8", newline="\n")
    return path


def contact_picture(
    benchmark: Benchmark,
    path: str | Path,
    *,
    cells: pl.DataFrame | None = None,
    drawn: Collection[tuple[str, str]] = (),
    quiet: bool = True,
) -> list[Path]:
    """Draw the contact sheet as PNG: one row per content and style, references first, then a column per method.

    Args:
        benchmark: the items; broken versions are left out.
        path: the picture, ending in .png; more than 120 rows go on in `<name>-2.png` and so on.
        cells, drawn: as for `contact_page`; the mark lies on the picture.
        quiet: show no progress.

    Raises:
        BadInput: the benchmark has no factor, or the path does not end in .png.
        MissingExtra: matplotlib, whose font is used, is not installed.
    """
    path = Path(path)
    if path.suffix.lower() != ".png":
        raise BadInput(f"'{path}' does not end in .png; name the picture", where=str(path))
    grid = _grid(benchmark, cells)
    factors = [f for f in grid.down if any(factor == f for factor, _ in grid.references)]
    pieces = [grid.rows[k : k + _MOST_ROWS] for k in range(0, max(len(grid.rows), 1), _MOST_ROWS)]
    written = []
    for number, rows in enumerate(track(pieces, "contact sheet", quiet=quiet), start=1):
        target = path if number == 1 else path.with_name(f"{path.stem}-{number}.png")
        sheet = _sheet(benchmark, grid, rows, factors, drawn)
        with whole_file(target) as aside:
            sheet.save(aside, format="PNG")
        written.append(target)
    return written


def _grid(benchmark: Benchmark, cells: pl.DataFrame | None) -> _Grid:
    factors = [factor for factor in benchmark.factors if factor != BROKEN]
    items = benchmark.items
    if BROKEN in benchmark.factors:
        items = items.filter(pl.col(BROKEN).is_null())
    if not factors:
        raise BadInput("the benchmark has no factors, so a contact sheet has no rows and columns", where="items")
    shown = {
        (f, level): image for f, level, image in benchmark.references.select("factor", "level", "image").iter_rows()
    }
    across = next((name for name in _COLUMN_FACTORS if name in factors), factors[0])
    down = _telling(items, [factor for factor in factors if factor != across], shown)
    every = items if cells is None else cells
    columns = tuple(dict.fromkeys(str(v) for v in every[across]))
    rows = tuple(dict.fromkeys(tuple(str(v) for v in row) for row in every.select(down).iter_rows())) if down else ((),)
    if down and all(any(factor == f for f, _ in shown) for factor in down):
        rows = tuple(sorted(rows, key=lambda row: [_place(benchmark, f, v) for f, v in zip(down, row, strict=True)]))
    places = {
        (tuple(str(v) for v in row[:-3]), str(row[-3])): (row[-2], row[-1])
        for row in items.select(*down, across, "item", "image").iter_rows()
    }
    told = {}
    if cells is not None:
        told = {
            (tuple(str(v) for v in row[:-3]), str(row[-3])): (row[-2], row[-1])
            for row in cells.filter(pl.col("status") != "ok").select(*down, across, "status", "reason").iter_rows()
        }
    return _Grid(across, tuple(down), columns, rows, places, shown, told)


def _seen_of(drawn: Collection[tuple[str, str]], grid: _Grid) -> tuple[str, ...]:
    """Levels of the rows whose reference was made by formula."""
    pairs = dict.fromkeys(pair for row in grid.rows for pair in zip(grid.down, row, strict=True))
    return tuple(dict.fromkeys(pair[1] for pair in pairs if pair in drawn and pair in grid.references))


def _telling(items: pl.DataFrame, factors: list[str], shown: dict[tuple[str, str], str]) -> list[str]:
    """The factors that make a row: those with reference pictures; without any, those that are needed to tell items apart,
    fewest levels first."""
    with_pictures = [factor for factor in factors if any(f == factor for f, _ in shown)]
    if with_pictures:
        return with_pictures
    few = sorted(factors, key=lambda factor: (items[factor].n_unique(), factor))
    return [factor for factor in few if items[factor].n_unique() > 1] or few


def _place(benchmark: Benchmark, factor: str, level: str) -> int:
    levels = benchmark.references.filter(pl.col("factor") == factor)["level"].to_list()
    return levels.index(level) if level in levels else len(levels)


def _entry(path: Path, base: Path) -> dict[str, object]:
    small = _thumbnail(path, _SIDE)
    if small is None:
        return {"thumb": "", "href": "", "why": "cannot be read"}
    buffer = io.BytesIO()
    small.save(buffer, "JPEG", quality=_QUALITY, optimize=True)
    data = base64.b64encode(buffer.getvalue()).decode("ascii")
    return {
        "thumb": f"data:image/jpeg;base64,{data}",
        "href": _link(path, base),
        "width": small.width,
        "height": small.height,
    }


def _link(path: Path, base: Path) -> str:
    import os

    return quote(Path(os.path.relpath(path.resolve(), base)).as_posix())


def _thumbnail(path: Path, side: int) -> Image.Image | None:
    """The picture made small, on white; None where it cannot be read."""
    try:
        with Image.open(path) as opened:
            opened.draft("RGB", (2 * side, 2 * side))
            picture = opened.convert("RGBA") if opened.mode not in ("RGB", "L") else opened.convert("RGB")
            picture.thumbnail((side, side), Image.Resampling.LANCZOS)
            if picture.mode == "RGBA":
                paper = Image.new("RGBA", picture.size, "white")
                picture = Image.alpha_composite(paper, picture).convert("RGB")
            return picture
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None


def _sheet(
    benchmark: Benchmark,
    grid: _Grid,
    rows: Sequence[tuple[str, ...]],
    factors: Sequence[str],
    drawn: Collection[tuple[str, str]],
) -> Image.Image:
    pen_font, small_font = _font(15), _font(11)
    step = _CELL + _GAP
    longest = max((pen_font.getlength(word) for word in (*grid.columns, *factors)), default=0.0)
    head = 24 if longest <= _CELL else min(round(longest) + 12, 4 * _LABEL)
    label = 0 if factors else 2 * _LABEL
    across = len(factors) + len(grid.columns)
    tops = _tops(rows, head, step, named=len(grid.down) > 1)
    sheet = Image.new("RGB", (label + across * step + _GAP + (8 if factors else 0), tops[-1] + step), "white")
    pen = ImageDraw.Draw(sheet)
    left = {
        name: label + k * step + _GAP + (8 if factors and k >= len(factors) else 0)
        for k, name in enumerate([*(f"\0{f}" for f in factors), *grid.columns])
    }
    for name, x in left.items():
        _heading(sheet, name.removeprefix("\0"), x, head, pen_font)
    for number, (row, top) in enumerate(zip(rows, tops, strict=True)):
        if len(grid.down) > 1 and (number == 0 or rows[number - 1][0] != row[0]):
            pen.text((4, top - 18), f"{grid.down[0]}: {row[0]}", font=pen_font, fill="black")
        levels = dict(zip(grid.down, row, strict=True))
        if label:
            pen.multiline_text((4, top), "\n".join(_wrapped(" / ".join(row), 34)), font=small_font, fill="black")
        for factor in factors:
            image = grid.references.get((factor, levels[factor]))
            _put(
                sheet,
                pen,
                benchmark.folder / image if image else None,
                left[f"\0{factor}"],
                top,
                levels[factor],
                small_font,
            )
            if image and (factor, levels[factor]) in drawn:
                _mark(pen, left[f"\0{factor}"], top, small_font)
        for column in grid.columns:
            _, image = grid.items.get((row, column), ("", None))
            status, _ = grid.told.get((row, column), ("empty", ""))
            _put(sheet, pen, benchmark.folder / image if image else None, left[column], top, status, small_font)
    return sheet


def _tops(rows: Sequence[tuple[str, ...]], head: int, step: int, *, named: bool) -> list[int]:
    """Where each row begins; a line is left free above the first row of each part that has a name."""
    tops, y = [], head + _GAP
    for number, row in enumerate(rows):
        y += 22 if named and (number == 0 or rows[number - 1][0] != row[0]) else 0
        tops.append(y)
        y += step
    return tops or [y]


def _put(
    sheet: Image.Image,
    pen: ImageDraw.ImageDraw,
    path: Path | None,
    x: int,
    y: int,
    word: str,
    font: ImageFont.FreeTypeFont,
) -> None:
    picture = _thumbnail(path, _CELL) if path is not None else None
    if picture is None:
        pen.rectangle((x, y, x + _CELL - 1, y + _CELL - 1), outline="#999999")
        pen.multiline_text((x + 4, y + 4), "\n".join(_wrapped(word, 14)), font=font, fill="#555555")
    else:
        sheet.paste(picture, (x + (_CELL - picture.width) // 2, y + (_CELL - picture.height) // 2))


def _mark(pen: ImageDraw.ImageDraw, x: int, y: int, font: ImageFont.FreeTypeFont) -> None:
    """The word 'drawn' in the lower left corner of a cell."""
    _, top, right, bottom = (round(edge) for edge in pen.textbbox((0, 0), "drawn", font=font))
    foot = y + _CELL
    pen.rectangle((x, foot - (bottom - top) - 6, x + right + 6, foot - 1), fill="white")
    pen.text((x + 3, foot - bottom - 3), "drawn", font=font, fill="black")


def _heading(sheet: Image.Image, text: str, x: int, height: int, font: ImageFont.FreeTypeFont) -> None:
    """The word upright where it is short, else turned so that it fits above its column."""
    if height <= 24:
        ImageDraw.Draw(sheet).text((x, 4), text, font=font, fill="black")
        return
    strip = Image.new("L", (height, _CELL), 0)
    ImageDraw.Draw(strip).text((4, _CELL // 2 - 8), text, font=font, fill=255)
    turned = strip.rotate(90, expand=True)
    sheet.paste(Image.new("RGB", turned.size, "black"), (x, 0), turned)


def _wrapped(text: str, width: int) -> list[str]:
    words = [piece for word in re.split(r"[\s_]+", text) for piece in re.findall(f".{{1,{width}}}", word)]
    lines: list[str] = []
    for word in words:
        if lines and len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines[:5]


def _font(size: int) -> ImageFont.FreeTypeFont:
    try:
        from matplotlib import font_manager
    except ImportError as error:
        raise MissingExtra.library("a contact sheet as PNG", "matplotlib", "report") from error
    return ImageFont.truetype(font_manager.findfont("DejaVu Sans"), size)

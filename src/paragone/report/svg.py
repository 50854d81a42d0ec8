"""From a matplotlib figure to two SVG texts: one that stands alone in a paper, one that lives in the page.

Text stays text, ids do not clash when many figures share a page, colours in the page follow its light or dark scheme,
and a point may carry a title (shown on hover) and a link to its row.
"""

from __future__ import annotations

import contextlib
import io
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from xml.etree import ElementTree

from ..errors import MissingExtra

__all__ = ["COLOURS", "SERIES", "Drawing", "Spot", "clean", "printable", "sheet", "to_svg"]

SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""Okabe and Ito, "Color Universal Design", 2008, without black (ink here) and yellow (too faint on white)."""
COLOURS = {
    "ink": "#1a1c1e",
    "muted": "#5c6166",
    "grid": "#d8dbde",
    "paper": "#ffffff",
    **{f"series-{number}": colour for number, colour in enumerate(SERIES)},
}
"""Name of the page's CSS variable -> its light value, which the lone SVG uses as it is."""

_SVG = "http://www.w3.org/2000/svg"
_LINK = "http://www.w3.org/1999/xlink"
_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
_STYLE = {
    "svg.fonttype": "none",
    "text.parse_math": False,
    "axes.unicode_minus": True,
    "font.size": 12,
    "axes.labelsize": 12,
    "xtick.labelsize": 12,
    "ytick.labelsize": 12,
    "text.color": COLOURS["ink"],
    "axes.labelcolor": COLOURS["ink"],
    "axes.edgecolor": COLOURS["muted"],
    "xtick.color": COLOURS["muted"],
    "ytick.color": COLOURS["muted"],
    "grid.color": COLOURS["grid"],
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "path.simplify": False,
}
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_PLACES = {"d", "x", "y", "transform", "width", "height"}
_NUMBER = re.compile(r"-?\d+\.\d{3,}")
_FONT_RULE = re.compile(r"font: ((?:(?:bold|italic|\d{3}) )*)(\d+(?:\.\d+)?)px [^;\"]+")
_FAMILY = re.compile(r"font-family: [^;\"]+;? ?")  # matplotlib 3.11 writes size, weight and family apart
_HEX = re.compile(r"#[0-9a-f]{6}\b")
_VARIABLE = {value: f"var(--{name})" for name, value in COLOURS.items()}


class Spot(NamedTuple):
    """What one point of a figure tells when a reader points at it."""

    title: str
    href: str = ""
    """Where a click leads within the page; empty: nowhere."""
    picture: str = ""
    """Id of the picture to show beside the title; empty: none."""


class Drawing(NamedTuple):
    """One figure in both forms."""

    alone: str
    """A whole SVG document in the light colours, for papers and slides."""
    inline: str
    """The same as an element of the page: colours are the page's CSS variables, points have titles and links."""


def clean(text: object) -> str:
    """The text on one line, without characters that XML forbids (each becomes U+FFFD)."""
    return " ".join(printable(str(text)).split())


def printable(text: str) -> str:
    """The text with U+FFFD in place of characters that XML and HTML forbid."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)


@contextlib.contextmanager
def sheet(width: float, height: float) -> Iterator[Any]:
    """Give an empty matplotlib figure of that many CSS pixels, outside any global state, in the style of the report.

    Draw, and call `to_svg`, inside the block; the user's own matplotlib settings do not reach in.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    try:
        from matplotlib import style
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra.library("a report's figures", "matplotlib", "report") from error
    with style.context(["default", _STYLE]):
        yield Figure(figsize=(width / 72, height / 72), dpi=72)


def to_svg(figure: Any, *, name: str, alt: str, spots: Mapping[str, Sequence[Spot]] | None = None) -> Drawing:
    """Write the figure as SVG, the same bytes for the same figure.

    Args:
        figure: a matplotlib figure.
        name: unique in the page; salts the ids inside.
        alt: what the figure shows, in a sentence, for those who cannot see it.
        spots: group id of a scatter -> one spot per point, in drawing order.

    Returns:
        Both forms.
    """
    from matplotlib import rc_context

    target = io.StringIO()
    with rc_context({"svg.hashsalt": name}), warnings.catch_warnings():
        # Letters that the measuring font lacks are still written as text, and the reader's own fonts have them.
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        figure.savefig(target, format="svg", facecolor="none", metadata={"Date": None, "Creator": None})
    for prefix, space in (("", _SVG), ("xlink", _LINK)):
        ElementTree.register_namespace(prefix, space)
    root = ElementTree.fromstring(target.getvalue().partition("?>")[2])
    _strip(root)
    root.set("role", "img")
    root.set("aria-label", clean(alt))
    root.set("font-family", _FONT)
    alone = '<?xml version="1.0" encoding="utf-8"?>\n' + _text(root) + "\n"
    for group in root.iter(f"{{{_SVG}}}g"):
        told = (spots or {}).get(group.get("data-spots", ""))
        if told is not None:
            _tell(group, told)
    for size in ("width", "height"):
        root.attrib.pop(size, None)
    for element in root.iter():
        style = element.get("style")
        if style:
            element.set("style", _HEX.sub(lambda found: _VARIABLE.get(found[0], found[0]), style))
    root.set("style", f"max-width:{_outer(root)}px")
    return Drawing(alone, _text(root))


def _outer(root: ElementTree.Element) -> int:
    """The width to which the figure may grow in the page: a quarter above its own."""
    return round(float(root.get("viewBox", "0 0 400 300").split()[2]) * 1.25)


def _text(root: ElementTree.Element) -> str:
    return ElementTree.tostring(root, encoding="unicode")


def _strip(root: ElementTree.Element) -> None:
    """Drop metadata and ids nobody refers to; keep the id of point groups as data; let the page choose the font."""
    for child in list(root):
        if child.tag.endswith("metadata"):
            root.remove(child)
    used = set()
    for element in root.iter():
        for value in element.attrib.values():
            used.update(re.findall(r"url\(#([^)]+)\)", value))
        used.add(element.get(f"{{{_LINK}}}href", "").removeprefix("#"))
    for element in root.iter():
        own = element.get("id", "")
        if own.startswith("spots"):
            element.set("data-spots", own)
        if own and own not in used:
            del element.attrib["id"]
        style = element.get("style")
        if style and "font" in style:
            element.set("style", _FAMILY.sub("", _FONT_RULE.sub(_sized, style)))
        for place in _PLACES.intersection(element.keys()):
            element.set(place, _NUMBER.sub(_shorter, element.attrib[place]))


def _shorter(found: re.Match[str]) -> str:
    """A hundredth of a pixel is enough."""
    return f"{float(found[0]):.2f}".rstrip("0").rstrip(".")


def _sized(found: re.Match[str]) -> str:
    weight = "font-weight: bold; " if "bold" in found[1] or "700" in found[1] else ""
    return f"{weight}font-size: {found[2]}px"


def _tell(group: ElementTree.Element, spots: Sequence[Spot]) -> None:
    """Give each point of a scatter its title and link."""
    points = [(parent, child) for parent in group.iter() for child in parent if child.tag == f"{{{_SVG}}}use"]
    if len(points) != len(spots):
        raise AssertionError(f"{len(points)} points were drawn and {len(spots)} described")
    for (parent, point), spot in zip(points, spots, strict=True):
        outer = ElementTree.Element(f"{{{_SVG}}}a" if spot.href else f"{{{_SVG}}}g", {"class": "spot"})
        if spot.href:
            outer.set("href", spot.href)
        if spot.picture:
            outer.set("data-picture", spot.picture)
        title = ElementTree.SubElement(outer, f"{{{_SVG}}}title")
        title.text = clean(spot.title)
        parent[list(parent).index(point)] = outer
        outer.append(point)

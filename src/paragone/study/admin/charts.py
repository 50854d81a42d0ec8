"""Small figures as SVG elements of the page: no script, no style attribute, colours by the classes of admin.css.

Every figure is drawn from numbers that the page also shows as a table, and reads in greyscale: series differ in shape or
hatching as well. Texts are escaped here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from markupsafe import Markup

__all__ = ["bar", "columns", "curve", "intervals", "ticks"]

_WIDTH = 400  # a phone shows it almost at full size
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 12, 10, 34


def ticks(low: float, high: float, *, most: int = 5) -> list[float]:
    """Return round numbers inside [low, high], at most `most` of them, a power of ten times 1, 2 or 5 apart."""
    if not (math.isfinite(low) and math.isfinite(high)) or high <= low:
        return [low] if math.isfinite(low) else []
    rough = (high - low) / max(1, most - 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * k for k in (1, 2, 5, 10) if power * k >= rough * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(k * step, 10) for k in range(first, last + 1)]


def _said(value: float) -> str:
    return f"{value:g}".replace("-", "−")


def _svg(width: float, height: float, alt: str, parts: Sequence[str], *, small: bool = False) -> Markup:
    kind = "chart small" if small else "chart"
    head = f'<svg class="{kind}" viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{escape(alt)}">'
    return Markup(head + "".join(parts) + "</svg>")


def _text(x: float, y: float, said: str, *, at: str = "middle", kind: str = "tick") -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{at}">{escape(said)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def bar(share: float | None, *, alt: str, low: float | None = None, high: float | None = None) -> Markup:
    """A share as a bar of 120 x 12, with its interval as a whisker; an empty frame where it is unknown.

    Args:
        share: in [0, 1]; larger ones fill the frame; None: unknown.
        alt: what it says, in words.
        low: lower end of the interval in [0, 1]; None: none.
        high: upper end.
    """
    width, height = 120.0, 12.0
    parts = [f'<rect class="frame" x="0.5" y="0.5" width="{width - 1:g}" height="{height - 1:g}"/>']
    if share is not None and math.isfinite(share):
        filled = (width - 2) * min(max(share, 0.0), 1.0)
        parts.append(f'<rect class="fill" x="1" y="1" width="{filled:.1f}" height="{height - 2:g}"/>')
    if low is not None and high is not None:
        ends = [1 + (width - 2) * min(max(end, 0.0), 1.0) for end in (low, high)]
        parts.append(_line(ends[0], height / 2, ends[1], height / 2, "whisker"))
        parts += [_line(end, 3, end, height - 3, "whisker") for end in ends]
    return _svg(width, height, alt, parts, small=True)


def columns(
    labels: Sequence[str], series: Sequence[tuple[str, Sequence[float]]], *, alt: str, axis: str, height: int = 180
) -> Markup:
    """Stacked columns of counts.

    Args:
        labels: one for each column; every column has one, and so many are written as there is room for.
        series: (name, counts >= 0), drawn from the bottom up, filled, then hatched.
        alt: the figure in a sentence.
        axis: what the columns are.
        height: in pixels at a width of 400.
    """
    n = len(labels)
    most = max((sum(counts[k] for _, counts in series) for k in range(n)), default=0) or 1
    inside, tall = _WIDTH - _LEFT - _RIGHT, height - _TOP - _BOTTOM
    wide = inside / max(n, 1)
    parts = []
    for value in ticks(0, most, most=4):
        y = _TOP + tall * (1 - value / most)
        parts += [_line(_LEFT, y, _WIDTH - _RIGHT, y, "grid"), _text(_LEFT - 6, y + 4, _said(value), at="end")]
    every = max(1, math.ceil(n * 44 / inside))
    for k, label in enumerate(labels):
        base = 0.0
        for number, (name, counts) in enumerate(series):
            size = tall * counts[k] / most
            if size > 0:
                y = _TOP + tall - tall * base / most - size
                parts.append(
                    f'<rect class="s{number}" x="{_LEFT + k * wide + 1:.1f}" y="{y:.1f}" width="{max(wide - 2, 1):.1f}" '
                    f'height="{size:.1f}"><title>{escape(f"{label}: {_said(counts[k])} {name}")}</title></rect>'
                )
            base += counts[k]
        if k % every == 0:
            parts.append(_text(_LEFT + (k + 0.5) * wide, height - _BOTTOM + 14, label))
    parts.append(_line(_LEFT, _TOP + tall, _WIDTH - _RIGHT, _TOP + tall, "axis"))
    parts.append(_text(_LEFT + inside / 2, height - 4, axis, kind="name"))
    return _svg(_WIDTH, height, alt, parts)


def curve(
    sizes: Sequence[int],
    median: Sequence[float],
    low: Sequence[float],
    *,
    target: float,
    alt: str,
    axis: str,
    looks: Sequence[tuple[int, float | None]] = (),
    height: int = 220,
) -> Markup:
    """Median (line, circles) and lower bound (dashed, squares) over a number of people, with a target line.

    Args:
        sizes: rising numbers of people.
        median: in [-1, 1], one for each size.
        low: the lower bound.
        target: what the bound has to reach.
        alt: the figure in a sentence.
        axis: what the horizontal axis counts.
        looks: (people, bound) of the looks that were logged, drawn as diamonds; None: not determined.
        height: in pixels at a width of 400.
    """
    bounds = [bound for _, bound in looks if bound is not None]
    bottom = min([0.0, *low, *bounds])
    bottom = math.floor(bottom * 5) / 5
    right = max([*sizes, *(people for people, _ in looks), 1])
    inside, tall = _WIDTH - _LEFT - _RIGHT, height - _TOP - _BOTTOM

    def x(people: float) -> float:
        return _LEFT + inside * people / right

    def y(value: float) -> float:
        return _TOP + tall * (1 - (value - bottom) / (1 - bottom))

    parts = []
    for value in ticks(bottom, 1.0, most=6):
        parts += [
            _line(_LEFT, y(value), _WIDTH - _RIGHT, y(value), "grid"),
            _text(_LEFT - 6, y(value) + 4, _said(value), at="end"),
        ]
    parts += [
        _text(x(value), height - _BOTTOM + 14, _said(value)) for value in ticks(0, right, most=6) if value == int(value)
    ]
    parts.append(_line(_LEFT, y(target), _WIDTH - _RIGHT, y(target), "target"))
    parts.append(
        _text(
            _LEFT + 4,
            y(target) - 4 if y(target) > _TOP + 12 else y(target) + 14,
            f"target {target:g}",
            at="start",
            kind="mark",
        )
    )
    for values, kind in ((median, "line"), (low, "line dashed")):
        points = " ".join(f"{x(size):.1f},{y(value):.1f}" for size, value in zip(sizes, values, strict=True))
        parts.append(f'<polyline class="{kind}" points="{points}"/>')
    for size, middle, bound in zip(sizes, median, low, strict=True):
        title = f"{size} people: median {middle:.3f}, lower bound {bound:.3f}"
        parts.append(
            f'<circle class="dot" cx="{x(size):.1f}" cy="{y(middle):.1f}" r="4"><title>{escape(title)}</title></circle>'
        )
        parts.append(
            f'<rect class="dot" x="{x(size) - 3.5:.1f}" y="{y(bound) - 3.5:.1f}" width="7" height="7">'
            f"<title>{escape(title)}</title></rect>"
        )
    for people, seen in looks:
        if seen is not None:
            px, py = x(people), y(seen)
            points = f"{px:.1f},{py - 6:.1f} {px + 6:.1f},{py:.1f} {px:.1f},{py + 6:.1f} {px - 6:.1f},{py:.1f}"
            title = f"look at {people} people: {seen:.3f}"
            parts.append(f'<polygon class="look" points="{points}"><title>{escape(title)}</title></polygon>')
    parts.append(_text(_LEFT + inside / 2, height - 4, axis, kind="name"))
    return _svg(_WIDTH, height, alt, parts)


def intervals(rows: Sequence[tuple[str, float | None, float | None, float | None]], *, alt: str, axis: str) -> Markup:
    """A point with its interval per row.

    Args:
        rows: (label, value, low, high); None: unknown.
        alt: the figure in a sentence.
        axis: what the horizontal axis shows, with its unit.
    """
    known = [end for _, *ends in rows for end in ends if end is not None and math.isfinite(end)]
    if not known:
        return Markup("")
    low, high = min(known), max(known)
    pad = (high - low) * 0.04 or 0.5
    low, high = low - pad, high + pad
    letters = min(max((len(label) for label, *_ in rows), default=1), 18)
    left = 16 + 7.5 * letters
    row, top = 22, 8
    height = top + row * len(rows) + _BOTTOM
    inside = _WIDTH - left - _RIGHT

    def x(value: float) -> float:
        return left + inside * (value - low) / (high - low)

    foot = top + row * len(rows)
    parts = []
    for value in ticks(low, high, most=6):
        parts += [_line(x(value), top, x(value), foot, "grid"), _text(x(value), foot + 14, _said(value))]
    for place, (label, centre, start, end) in enumerate(rows):
        y = top + row * (place + 0.5)
        short = label if len(label) <= 18 else label[:17] + "…"
        parts.append(_text(left - 8, y + 4, short, at="end", kind="label"))
        if start is not None and end is not None:
            parts.append(_line(x(start), y, x(end), y, "whisker"))
            parts += [_line(x(stop), y - 4, x(stop), y + 4, "whisker") for stop in (start, end)]
        if centre is not None:
            parts.append(
                f'<circle class="dot" cx="{x(centre):.1f}" cy="{y:.1f}" r="4.5"><title>{escape(label)}</title></circle>'
            )
    parts.append(_text(left + inside / 2, height - 4, axis, kind="name"))
    return _svg(_WIDTH, height, alt, parts)

"""Numbers and times as the desk writes them: digits as the interval allows, n beside, a dash where nothing is known."""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from typing import Literal

from markupsafe import Markup, escape

from .figures.numbers import Number

__all__ = ["DASH", "ago", "decimals", "figure", "fixed", "lasting", "plural", "share", "way", "when"]

DASH = "–"
As = Literal["plain", "percent", "whole", "time"]
_MOST_DECIMALS = 4


def decimals(number: Number) -> int:
    """Decimals that an interval allows: half of it spans 5 to 50 steps of the last one. 2 where there is none."""
    if number.low is None or number.high is None or not number.high > number.low:
        return 2
    return min(max(math.ceil(math.log10(10 / (number.high - number.low)) - 1e-9), 0), _MOST_DECIMALS)


def fixed(value: float | None, places: int = 0) -> str:
    """A number with so many decimals, thin spaces between thousands, a true minus sign; a dash where there is none."""
    if value is None or not math.isfinite(value):
        return DASH
    text = f"{value:,.{places}f}".replace(",", "\N{NARROW NO-BREAK SPACE}")
    if text.startswith("-"):
        text = text[1:] if not text.strip("-0.") else "−" + text[1:]
    return text


def figure(
    number: Number | None, as_: As = "plain", *, unit: str = "", of: str = "", places: int | None = None
) -> Markup:
    """A figure with its interval and n.

    Args:
        number: what to show.
        as_: plain; percent (a share of 1); whole (no decimals); time (epoch seconds).
        unit: written after the value.
        of: what n counts; empty: nothing beside 'n'.
        places: decimals of a whole column; None: as this interval allows.
    """
    if number is None or number.value is None:
        note = number.note if number is not None else ""
        return Markup('<span class="none" title="{}">{}</span>').format(note or "not known yet", DASH)
    ends: Sequence[float | None] = (number.value, number.low, number.high)
    if as_ == "time":
        said = [when(end) for end in ends]
    else:
        scale = 100.0 if as_ == "percent" else 1.0
        value, low, high = (None if end is None else end * scale for end in ends)
        scaled = Number(value, low, high)
        places = places if places is not None else 0 if as_ == "whole" else decimals(scaled)
        if as_ == "percent" and low is None:
            places = 0
        said = [Markup(escape(fixed(end, places))) for end in (value, low, high)]
    tail = "\N{NARROW NO-BREAK SPACE}%" if as_ == "percent" else f" {unit}" if unit else ""
    shown = Markup('<span class="v">{}{}</span>').format(said[0], tail)
    if number.low is not None and number.high is not None:
        shown += Markup(' <span class="ci">[{}, {}]</span>').format(said[1], said[2])
    elif number.low is not None:
        shown += Markup(' <span class="ci">[{}, ?]</span>').format(said[1])
    if number.n:
        counted = of.removesuffix("s") if number.n == 1 else of
        shown += Markup(' <span class="n">n = {}{}</span>').format(fixed(number.n), f" {counted}" if of else "")
    return shown


def share(value: float | None) -> str:
    """A share as whole per cent, a dash where there is none."""
    return DASH if value is None or not math.isfinite(value) else f"{100 * value:.0f}\N{NARROW NO-BREAK SPACE}%"


def when(at: float | None) -> Markup:
    """A moment in UTC, to the minute, as a `time` element."""
    if at is None or not math.isfinite(at):
        return Markup(DASH)
    try:
        moment = datetime.datetime.fromtimestamp(at, datetime.UTC)
    except (OverflowError, ValueError, OSError):
        return Markup("beyond the calendar")
    return Markup('<time datetime="{}">{}</time>').format(
        moment.isoformat(timespec="seconds").replace("+00:00", "Z"), moment.strftime("%Y-%m-%d %H:%M")
    )


def ago(at: float | None, now: float) -> str:
    """How long ago a moment was, in words."""
    if at is None:
        return DASH
    return "just now" if now - at < 5 else f"{lasting(now - at)} ago"


def lasting(seconds: float | None) -> str:
    """A length of time in its largest fitting unit: 42 s, 3 min, 2.5 h, 4 days."""
    if seconds is None or not math.isfinite(seconds):
        return DASH
    for size, unit in ((86_400.0, "days"), (3600.0, "h"), (60.0, "min")):
        if seconds >= 2 * size:
            value = seconds / size
            return f"{value:.1f} {unit}" if value < 10 and unit != "min" else f"{value:.0f} {unit}"
    return f"{max(seconds, 0):.0f} s"


def way(platform: str) -> str:
    """How participants come by a platform's profile, after 'come' or 'came'."""
    ways = {
        "open": "by the open link", "lab": "with a lab code", "own": "from a panel of your own",
        "simulated": "as simulated participants do", "prolific": "from Prolific", "connect": "from CloudResearch Connect",
        "sona": "from SONA", "mturk": "from Mechanical Turk",
    }  # fmt: skip
    return ways.get(platform, f"from {platform}")


def plural(count: int, word: str, many: str = "") -> str:
    """'1 sheet', '12 sheets'."""
    return f"{fixed(count)} {word if count == 1 else many or word + 's'}"

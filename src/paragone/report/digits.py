"""Numbers as a reader should see them: as many digits as the interval allows, a true minus sign, ranks as ranges."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

__all__ = ["count", "decimals_for", "fixed", "joined", "p_words", "ranks", "with_interval"]

MINUS = "\N{MINUS SIGN}"
MOST_DECIMALS = 6
_FEWEST_STEPS = 5  # of the last digit in half an interval


def decimals_for(halves: Iterable[float | None], values: Iterable[float | None] = ()) -> int:
    """Decimals that a column of numbers deserves.

    Args:
        halves: half the width of each interval, in the unit of the column; None or NaN: no interval.
        values: the numbers, used only where no interval is known: three significant digits of the median size.

    Returns:
        Decimals in [0, 6]: so many that the median half-width spans 5 to 50 steps of the last digit, as in
        '0.73 [0.68, 0.78]'. A coarser number would hide that intervals differ, a finer one feign knowledge.
    """
    known = sorted(half for half in halves if half is not None and math.isfinite(half) and half > 0)
    if known:
        steps = math.log10(_FEWEST_STEPS / known[len(known) // 2])
        return min(max(math.ceil(steps - 1e-9), 0), MOST_DECIMALS)
    sizes = sorted(abs(value) for value in values if value is not None and math.isfinite(value) and value != 0)
    if not sizes:
        return 0
    return min(max(2 - math.floor(math.log10(sizes[len(sizes) // 2])), 0), MOST_DECIMALS)


def fixed(value: float | None, decimals: int) -> str:
    """The number with that many decimals and a true minus sign; an en dash where there is none."""
    if value is None or not math.isfinite(value):
        return "\N{EN DASH}"
    text = f"{value:,.{decimals}f}".replace(",", "\N{NARROW NO-BREAK SPACE}")
    if text.startswith("-"):
        text = text[1:] if not text.strip("-0.") else MINUS + text[1:]
    return text


def with_interval(value: float | None, low: float | None, high: float | None, decimals: int | None = None) -> str:
    """'0.73 [0.68, 0.78]', or the number alone where there is no interval.

    Args:
        value: the number; None or NaN gives an en dash.
        low: lower end of its interval, or None.
        high: upper end, or None.
        decimals: for a whole column; None: as this interval allows.
    """
    half = None if low is None or high is None else (high - low) / 2
    if decimals is None:
        decimals = decimals_for([half], [value])
    if value is None or not math.isfinite(value) or half is None or not math.isfinite(half):
        return fixed(value, decimals)
    return f"{fixed(value, decimals)} [{fixed(low, decimals)}, {fixed(high, decimals)}]"


def p_words(p: float | None) -> str:
    """'0.03', '0.004' or '< 0.001'; an en dash where there is none."""
    if p is None or not math.isfinite(p):
        return "\N{EN DASH}"
    return "< 0.001" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def ranks(low: int | None, high: int | None) -> str:
    """'1', or '1–3' where the data cannot tell; an en dash where ranks are unknown."""
    if low is None or high is None:
        return "\N{EN DASH}"
    return str(low) if low == high else f"{low}\N{EN DASH}{high}"


def count(n: float | None, word: str, plural: str | None = None) -> str:
    """'1 picture', '12 pictures', with thin spaces between thousands."""
    if n is None:
        return f"an unknown number of {plural or word + 's'}"
    return f"{fixed(n, 0 if float(n).is_integer() else 1)} {word if n == 1 else plural or word + 's'}"


def joined(words: Sequence[str], last: str = "and") -> str:
    """'a', 'a and b', 'a, b and c'."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"

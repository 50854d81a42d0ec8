"""Names that are spelled by a pattern: every way of reading one, so that nobody has to guess."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

__all__ = ["Part", "every_reading"]

Part = tuple[str, str]
"""(kind, value): ('text', literal), or a placeholder of a kind of its own."""


def every_reading(
    text: str, parts: Sequence[Part], ends: Callable[[Part, int], Iterable[tuple[int, str | None]]]
) -> list[dict[str, str]]:
    """Return every way of reading a text by the parts of a pattern, each once.

    Args:
        text: the whole of it must be read.
        parts: in order; literal text is compared here.
        ends: given a placeholder and where it starts, the places where it can end, each with the level that it would then
            name; None: it names none. A placeholder that stands twice must name the same level.

    Returns:
        One mapping of the placeholders' values to levels for each different reading.
    """
    found: list[dict[str, str]] = []
    tried: set[tuple[int, int, tuple[str, ...]]] = set()

    def read(at: int, number: int, levels: dict[str, str]) -> None:
        state = (at, number, tuple(levels.values()))  # which placeholders they are of follows from the number
        if state in tried:
            return
        tried.add(state)
        if number == len(parts):
            if at == len(text) and levels not in found:
                found.append(levels)
            return
        kind, value = parts[number]
        if kind == "text":
            if text.startswith(value, at):
                read(at + len(value), number + 1, levels)
            return
        for end, level in ends(parts[number], at):
            if level is None:
                read(end, number + 1, levels)
            elif levels.get(value, level) == level:
                read(end, number + 1, {**levels, value: level})

    read(0, 0, {})
    return found

"""Words from outside: names of scores as names of files, words of a command line as values."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["file_name", "value_of"]


def file_name(name: str) -> str:
    """The name of scores as the name of a file in one folder: nothing in it leads elsewhere, and it is never empty.

    Args:
        name: any text; a foreign table's column, for example.
    """
    return re.sub(r"[^\w.,=+() -]", "-", name).strip(". ")[:60] or "scores"


def value_of(text: str) -> Any:
    """The word as the TOML value it looks like: true or false, a whole number, a number, else the text itself."""
    text = text.strip()
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text

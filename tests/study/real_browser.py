"""A Chromium for tests, or the reason why there is none."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from installed import lacking
from paragone.study.headless import chromium

__all__ = ["needed", "wanted"]


def needed() -> str:
    """Path of a Chromium; without one, or without Playwright, the test is skipped, and fails in CI."""
    found = chromium()
    if found is None or find_spec("playwright") is None:
        lacking(f"no {'Chromium' if found is None else 'Playwright'} on this machine")
    return found


def wanted(module: str) -> ModuleType:
    """A module that browser tests need; without it the test is skipped, and fails in CI."""
    if find_spec(module.partition(".")[0]) is None:
        lacking(f"no {module} on this machine")
    return import_module(module)

"""A Chromium for tests, or the reason why there is none."""

from __future__ import annotations

import os
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

import pytest

from paragone.study.headless import chromium

__all__ = ["needed", "wanted"]


def needed() -> str:
    """Path of a Chromium; without one, or without Playwright, the test is skipped, and fails in CI."""
    found = chromium()
    if found is None or find_spec("playwright") is None:
        lack = "no Chromium" if found is None else "no Playwright"
        if os.environ.get("CI") == "true":
            pytest.fail(f"{lack}; in CI it must be there")
        pytest.skip(f"{lack} on this machine")
    return found


def wanted(module: str) -> ModuleType:
    """A module that browser tests need; without it the test is skipped, and fails in CI."""
    if find_spec(module.partition(".")[0]) is None:
        if os.environ.get("CI") == "true":
            pytest.fail(f"no {module}; in CI it must be there")
        pytest.skip(f"no {module} on this machine")
    return import_module(module)

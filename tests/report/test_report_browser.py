"""The page in a real browser: its own script runs under its own policy, and nothing is written to the console."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def chromium() -> str:
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        if os.environ.get("CI") == "true":
            pytest.fail("no Chromium; in CI it must be there")
        pytest.skip("no Chromium on this machine")
    return found


def _opened(chromium: str, page: Path, profile: Path) -> subprocess.CompletedProcess[str]:
    quiet = ("no-first-run", "disable-background-networking", "disable-component-update", "disable-sync", "disable-gpu")
    flags = ["--headless", "--no-sandbox", f"--user-data-dir={profile}", *(f"--{flag}" for flag in quiet)]
    command = [chromium, *flags, "--enable-logging=stderr", "--virtual-time-budget=3000", "--dump-dom", page.as_uri()]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)


def test_the_script_runs_and_the_console_stays_empty(chromium: str, page: Path, tmp_path: Path) -> None:
    seen = _opened(chromium, page, tmp_path)
    spots = re.findall(r'<(?:a|g) class="spot"[^>]*>', seen.stdout)
    assert len(spots) > 50
    assert [spot for spot in spots if "aria-label" not in spot] == []  # the script moves each title there
    assert "data-sortable" in seen.stdout
    assert [line for line in seen.stderr.splitlines() if "CONSOLE" in line] == []

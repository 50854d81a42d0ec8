"""The page in a real browser: its own script runs under its own policy, and nothing is written to the console."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from installed import lacking

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def chromium() -> str:
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        lacking("no Chromium on this machine")
    return found


def _opened(chromium: str, page: Path, profile: Path, *more: str) -> subprocess.CompletedProcess[str]:
    quiet = ("no-first-run", "disable-background-networking", "disable-component-update", "disable-sync", "disable-gpu")
    flags = ["--headless", "--no-sandbox", f"--user-data-dir={profile}", *(f"--{flag}" for flag in quiet)]
    command = [
        chromium,
        *flags,
        *more,
        "--enable-logging=stderr",
        "--virtual-time-budget=3000",
        "--dump-dom",
        page.as_uri(),
    ]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)


def test_the_script_runs_and_the_console_stays_empty(chromium: str, page: Path, tmp_path: Path) -> None:
    seen = _opened(chromium, page, tmp_path)
    spots = re.findall(r'<(?:a|g) class="spot"[^>]*>', seen.stdout)
    assert len(spots) > 50
    assert [spot for spot in spots if "aria-label" not in spot] == []  # the script moves each title there
    assert "data-sortable" in seen.stdout
    assert [line for line in seen.stderr.splitlines() if "CONSOLE" in line] == []


def test_tables_of_agreement_and_consistency_fit_a_page_of_1280_pixels(
    chromium: str, page: Path, tmp_path: Path
) -> None:
    measure = (
        "<script>for (const box of document.querySelectorAll('.scroll')) "
        "box.setAttribute('data-over', box.scrollWidth - box.clientWidth);</script>"
    )
    text = re.sub(r"<meta http-equiv.*?>", "", page.read_text(encoding="utf-8")).replace("<details", "<details open")
    copy = tmp_path / "measured.html"
    copy.write_text(text.replace("</body>", f"{measure}</body>"), encoding="utf-8")
    seen = _opened(chromium, copy, tmp_path / "profile", "--window-size=1280,2000").stdout
    over = {
        label: int(pixels)
        for pixels, label in re.findall(r'<div class="scroll" data-over="(\d+)"><table[^>]*aria-label="([^"]*)"', seen)
    }
    checked = [label for label in over if label.startswith(("Agreement with", "SRCC with", "Consistency"))]
    assert len(checked) >= 5
    assert {label: over[label] for label in checked if over[label]} == {}

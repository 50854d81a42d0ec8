"""Each picture pixel is a whole number of device pixels, whatever the screen: compared with a photograph of the window."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_study import FakeStudy, noise, serving
from PIL import Image
from visitor import FLAGS, Visitor

pytestmark = pytest.mark.browser
RATIOS = (1, 1.1, 1.25, 1.3333, 1.5, 1.75, 2, 2.5, 3)
SIZE = (150, 131)  # width and height; odd, so that nothing falls on whole numbers by chance


@pytest.mark.parametrize("ratio", RATIOS)
def test_no_pixel_differs_in_any_pane_of_any_layout(driver: Any, chromium: str, tmp_path: Path, ratio: float) -> None:
    # the real flag: the emulation of Playwright's device_scale_factor shows differences that no screen has
    flags = [*FLAGS, f"--force-device-scale-factor={ratio}", "--window-size=1440,900", "--hide-scrollbars"]
    context = driver.chromium.launch_persistent_context(
        str(tmp_path), executable_path=chromium, args=flags, no_viewport=True
    )
    try:
        for layout, page in (("four", "pairs"), ("six", "pairs"), ("double", "dcr"), ("single", "slider")):
            study = FakeStudy(phases=("trial", "finish", "done"), n=1, size=SIZE, layout=layout, page=page)
            study.min_size = (320, 320)
            with serving(study) as origin:
                who = Visitor(context.new_page(), study, origin)
                who.page.goto(origin + "/")
                data = who.trial()
                assert abs(who.page.evaluate("devicePixelRatio") - ratio) < 1e-3
                assert data["exact"] == "true", (layout, data)
                assert _differing(who, int(data["scale"])) == dict.fromkeys("abcdef"[: _panes(layout)], 0)
                assert who.console == []
                who.page.close()
    finally:
        context.close()


def _panes(layout: str) -> int:
    return {"four": 4, "six": 6, "double": 2, "single": 1}[layout]


def _differing(who: Visitor, scale: int) -> dict[str, int]:
    """Pane -> pixels of the window that are not those of the picture."""
    ratio = who.page.evaluate("devicePixelRatio")
    window = np.asarray(Image.open(io.BytesIO(who.page.screenshot())).convert("RGB"))
    trial = who.study.trials[0]
    found = {}
    for slot, image in zip("abcdef", who.page.locator("main img").all(), strict=False):
        left, top = image.evaluate(
            "image => { const {left, top} = image.getBoundingClientRect(); return [left, top]; }"
        )
        seed = int.from_bytes(f"{trial}{slot}".encode()) % 2**32
        wanted = noise(seed, *SIZE).repeat(scale, 0).repeat(scale, 1)
        x, y = round(left * ratio), round(top * ratio)
        shown = window[y : y + wanted.shape[0], x : x + wanted.shape[1]]
        assert shown.shape == wanted.shape, (slot, x, y, window.shape)
        found[slot] = int((shown != wanted).any(axis=2).sum())
    return found

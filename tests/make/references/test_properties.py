"""Properties of pictures whose values are known, and the levels made of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from installed import needed
from paragone.errors import BadConfig, BadImage, UnknownName
from paragone.images import lab, luma, read_image
from paragone.make.references.properties import (
    PROPERTIES,
    at_side,
    busyness,
    colour_level,
    detail_level,
    edge_density,
    hue_spread,
    mean_gradient,
    picture_properties,
)

Shared = Callable[[str], Path]
Array = NDArray[np.float32]


def _flat(*colour: float, height: int = 64, width: int = 64) -> Array:
    return np.broadcast_to(np.asarray(colour, dtype=np.float32), (height, width, 3)).copy()


def _halves(left: Array, right: Array) -> Array:
    return np.concatenate([left, right], axis=1)


def _noise(seed: int = 0, height: int = 64, width: int = 64) -> Array:
    return np.random.default_rng(seed).random((height, width, 3), dtype=np.float32)


def test_a_flat_picture_has_light_and_nothing_else() -> None:
    made = picture_properties(_flat(0.3, 0.3, 0.3))
    assert made.pop("light") == pytest.approx(0.3 * 255, abs=1e-3)
    assert made == pytest.approx(dict.fromkeys(made, 0.0), abs=1e-5)


def test_a_slope_has_its_steepness() -> None:
    slope = np.repeat(np.linspace(0, 1, 256, dtype=np.float32)[None, :, None], 64, axis=0).repeat(3, axis=2)
    assert mean_gradient(slope[:, 20:-20]) == pytest.approx(1.0, rel=0.03)  # mirrored borders are flatter
    assert edge_density(slope) == 0


def test_one_step_is_one_thin_edge() -> None:
    step = _halves(_flat(0.2, 0.2, 0.2), _flat(0.8, 0.8, 0.8))
    assert edge_density(step) * step.shape[1] == pytest.approx(1.0)
    assert edge_density(step.transpose(1, 0, 2)) == edge_density(step)


def test_a_faint_step_is_no_edge_but_a_faint_end_of_a_strong_edge_is() -> None:
    rise = np.linspace(8, 60, 64, dtype=np.float32)[:, None] / 255  # the step grows from 8 to 60 levels downwards
    picture = np.concatenate([np.full((64, 64), 0.2, np.float32), 0.2 + np.repeat(rise, 64, axis=1)], axis=1)
    faint = picture[:2].repeat(32, axis=0)
    assert edge_density(np.stack([faint] * 3, axis=2)) == 0
    whole = edge_density(np.stack([picture] * 3, axis=2)) * 128
    assert 0.8 < whole <= 1.0


def test_edges_are_about_as_many_as_scikit_image_finds(shared: Shared) -> None:
    """Its Sobel gradient is 8 times the slope, so its thresholds are; Sobel smooths by a variance of 1/2, so its Gaussian
    has the other half. Its derivative is wider, and it leaves the border out: 4 to 11 % more edges on 18 pictures."""
    skimage = needed("skimage.feature")
    for name in ("styles/great_wave", "contents/castle", "styles/night_cafe"):
        picture = at_side(read_image(shared(f"art/{name}.jpg")))
        theirs = skimage.canny(luma(picture), sigma=0.5**0.5, low_threshold=32.0, high_threshold=80.0).mean()
        assert 0.85 * theirs < edge_density(picture) < theirs


def test_busyness_is_the_share_that_is_busy() -> None:
    assert busyness(_halves(_noise(), _flat(0.5, 0.5, 0.5))) == pytest.approx(0.5)
    assert busyness(_noise()) == 1.0


def test_one_hard_contour_is_not_busy_all_over() -> None:
    assert busyness(_halves(_flat(0, 0, 0, width=128), _flat(1, 1, 1, width=128))) <= 0.125


def test_a_picture_smaller_than_a_block_has_a_busyness() -> None:
    assert busyness(_noise(height=5, width=7)) == 1.0


def test_hue_spread_of_two_colours_is_mean_chroma_less_chroma_of_the_mean() -> None:
    red, green = _flat(1, 0, 0), _flat(0, 1, 0)
    a, b = (lab(part)[0, 0, 1:] for part in (red, green))
    expected = (np.hypot(*a) + np.hypot(*b)) / 2 - np.hypot(*((a + b) / 2))
    assert hue_spread(_halves(red, green)) == pytest.approx(expected)
    assert hue_spread(red) == pytest.approx(0, abs=1e-4)


def test_turning_a_picture_changes_no_property() -> None:
    picture = at_side(_noise(1, 96, 160))
    for name, entry in PROPERTIES.items():
        turned = np.ascontiguousarray(picture[::-1, ::-1])
        assert entry.compute(turned) == pytest.approx(entry.compute(picture), rel=0.02), name


def test_all_properties_are_finite_and_repeat() -> None:
    picture = _noise(2)
    before = picture.copy()
    made = picture_properties(picture)
    assert list(made) == list(PROPERTIES)
    assert np.isfinite(list(made.values())).all()
    assert made == picture_properties(picture)
    assert np.array_equal(picture, before)


def test_the_working_size_keeps_proportions() -> None:
    assert at_side(_noise(height=100, width=400), 256).shape == (64, 256, 3)
    assert at_side(_noise(height=400, width=2), 64).shape == (64, 1, 3)


def test_a_size_or_resizer_that_cannot_be_is_refused() -> None:
    with pytest.raises(BadConfig, match="a working size of 8 pixels is too small"):
        at_side(_noise(), 8)
    with pytest.raises(UnknownName, match="no resizer 'arae'; did you mean 'area'"):
        at_side(_noise(), resizer="arae")
    with pytest.raises(BadImage, match="are not in"):
        picture_properties(_noise() * 255)


def test_levels_of_paintings_are_those_that_the_bounds_were_set_on(shared: Shared) -> None:
    expected = {"great_wave": ("low", "low"), "night_cafe": ("medium", "medium"), "pere_tanguy": ("high", "high")}
    for name, levels in expected.items():
        made = picture_properties(read_image(shared(f"art/styles/{name}.jpg")))
        assert (colour_level(made["colourfulness"]), detail_level(made["busyness"])) == levels


def test_levels_begin_at_their_bounds() -> None:
    assert [colour_level(value) for value in (51.9, 52.0, 70.5)] == ["low", "medium", "high"]
    assert [detail_level(value) for value in (0.79, 0.80, 0.95)] == ["low", "medium", "high"]

"""Optimal transport of colours: closed forms and an exact assignment."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from paragone.images import as_picture
from paragone.make.stylise import stylise
from paragone.make.stylise.colour import linear_transport
from paragone.make.stylise.transport import OPTIMAL_TRANSPORT, guided_filter, sliced_transport

Make = Callable[..., NDArray[np.float32]]


def clusters(seed: int, n: int = 400) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    return rng.random((3, 3))[rng.integers(0, 3, n)] + 0.07 * rng.standard_normal((n, 3))


def test_in_one_dimension_sorted_values_meet_sorted_values() -> None:
    rng = np.random.default_rng(0)
    own, target = rng.random((200, 1)), rng.exponential(size=(200, 1))
    moved = sliced_transport(own, target, rounds=1)
    assert np.allclose(moved[np.argsort(own[:, 0])], np.sort(target, axis=0))


def test_gaussian_clouds_take_the_closed_form() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((2, 3, 3))
    own, target = rng.standard_normal((20000, 3)) @ a, rng.standard_normal((20000, 3)) @ b + 1.0
    moved, exact = sliced_transport(own, target), linear_transport(own, target)
    # samples of 20,000 differ from the Gaussian they are drawn from, and the rounds follow the sample
    assert np.sqrt(((moved - exact) ** 2).mean()) < 0.04 * np.sqrt(((own - exact) ** 2).mean())


@pytest.mark.parametrize("seed", [0, 2, 4])
def test_clusters_are_moved_nearly_as_cheaply_as_can_be(seed: int) -> None:
    # the optimum is the exact assignment (equal to POT 0.9.7's emd2 to 1e-12 on these clouds)
    own, target = clusters(seed), clusters(seed + 1)
    cost = cdist(own, target, "sqeuclidean")
    best = cost[linear_sum_assignment(cost)].mean()
    moved = sliced_transport(own, target)
    left = cdist(moved, target, "sqeuclidean")
    assert left[linear_sum_assignment(left)].mean() < 0.015 * best  # of the way; the linear map alone leaves 6-10 %
    assert ((moved - own) ** 2).sum(axis=1).mean() < 1.03 * best


def test_pixels_of_one_colour_stay_of_one_colour() -> None:
    rng = np.random.default_rng(3)
    palette = rng.random((5, 3))
    index = rng.integers(0, 5, 300)
    moved = sliced_transport(palette[index], clusters(0))
    for one in range(5):
        assert np.ptp(moved[index == one], axis=0).max() < 1e-9


def test_a_share_lies_between_the_linear_map_and_the_whole_distribution() -> None:
    own, target = clusters(0), clusters(1)
    ends = [sliced_transport(own, target, share=share) for share in (0.0, 1.0)]
    assert np.allclose(ends[0], linear_transport(own, target, ridge=1e-9))
    assert np.allclose(sliced_transport(own, target, share=0.25), 0.75 * ends[0] + 0.25 * ends[1])


def test_a_cloud_is_transported_onto_itself_unchanged() -> None:
    assert np.allclose(sliced_transport(clusters(0), clusters(0)), clusters(0), atol=1e-6)


def test_the_guided_filter_passes_affine_functions_of_its_guide() -> None:
    guide = np.random.default_rng(0).random((20, 24, 3))
    planes = guide @ np.array([[1.0, 0.2], [0.0, -1.0], [2.0, 0.5]]) + 0.3
    assert np.allclose(guided_filter(planes, guide, radius=3, epsilon=1e-9), planes, atol=1e-5)


def test_the_guided_filter_averages_where_the_guide_is_flat() -> None:
    noise = np.random.default_rng(0).standard_normal((40, 40, 1))
    smooth = guided_filter(noise, np.full((40, 40, 3), 0.5), radius=4, epsilon=1e-4)
    assert smooth.std() < 2 * noise.std() / 9  # a mean over 81 pixels, and another over 81


def test_an_edge_gets_no_halo_and_grain_does_not_grow(picture: Make) -> None:
    rng = np.random.default_rng(0)
    content = np.where(np.arange(128)[None, :, None] < 64, 0.3, 0.6) + 0.005 * rng.standard_normal((128, 128, 3))
    sides = np.where(np.arange(100)[None, :, None] < 50, np.array([0.1, 0.2, 0.6]), np.array([0.9, 0.7, 0.2]))
    style = np.clip(sides + 0.05 * rng.standard_normal((100, 100, 3)), 0, 1)
    made = stylise(as_picture(content), as_picture(style), OPTIMAL_TRANSPORT).astype(np.float64)
    near, far = made[:, 60:64].mean(axis=(0, 1)), made[:, 20:50].mean(axis=(0, 1))
    assert np.abs(near - far).max() < 0.02  # the last four columns before the edge look as the rest of their side
    assert np.abs(made[:, 64:68].mean(axis=(0, 1)) - made[:, 80:110].mean(axis=(0, 1))).max() < 0.02
    moved = sliced_transport(content.reshape(-1, 3), style.reshape(-1, 3), rounds=12).reshape(content.shape)
    assert made[:, 20:50].std(axis=(0, 1)).max() < 0.5 * moved[:, 20:50].std(axis=(0, 1)).max()


def test_the_result_has_the_styles_quantiles(picture: Make) -> None:
    content, style = picture(96, 128), picture(96, 128, seed=1)
    made = stylise(content, style, OPTIMAL_TRANSPORT)
    share = np.linspace(0.05, 0.95, 10)
    off = [np.abs(np.quantile(made[..., c], share) - np.quantile(style[..., c], share)).max() for c in range(3)]
    assert max(off) < 0.06


@pytest.mark.parametrize("shape", [(16, 16), (17, 90)])
def test_flat_pictures_take_the_styles_middle(shape: tuple[int, int], picture: Make) -> None:
    flat = np.full((*shape, 3), 0.4, dtype=np.float32)
    assert np.isfinite(stylise(flat, picture(), OPTIMAL_TRANSPORT)).all()
    assert np.allclose(stylise(picture(*shape), flat, OPTIMAL_TRANSPORT), 0.4, atol=0.02)


def test_seeds_matter_little(picture: Make) -> None:
    made = [stylise(picture(), picture(seed=1), OPTIMAL_TRANSPORT, seed=seed) for seed in (0, 1)]
    assert 0 < np.abs(made[0] - made[1]).mean() < 0.05

"""Colour transfer: closed forms."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import sqrtm

from paragone.make.stylise.colour import (
    _AXES,
    _decorrelated,
    linear_transport,
    matched_moments,
    monge_kantorovich,
    reinhard,
)

Make = Callable[..., NDArray[np.float32]]


def samples(seed: int, n: int = 500) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, 3)) @ rng.standard_normal((3, 3)) + rng.standard_normal(3)


def test_matched_moments_are_the_targets() -> None:
    moved = matched_moments(samples(0), samples(1))
    assert np.allclose(moved.mean(axis=0), samples(1).mean(axis=0))
    assert np.allclose(moved.std(axis=0), samples(1).std(axis=0))


def test_transported_pixels_have_the_targets_mean_and_covariance() -> None:
    moved = linear_transport(samples(0), samples(1), ridge=1e-12)
    assert np.allclose(moved.mean(axis=0), samples(1).mean(axis=0))
    assert np.allclose(np.cov(moved.T), np.cov(samples(1).T))


def test_the_transport_is_the_closed_form_of_the_gaussian_optimum() -> None:
    a, b = np.cov(samples(0).T), np.cov(samples(1).T)
    root = sqrtm(a).real
    expected = np.linalg.inv(root) @ sqrtm(root @ b @ root).real @ np.linalg.inv(root)
    moved = linear_transport(samples(0), samples(1), ridge=1e-12)
    found = np.linalg.lstsq(samples(0) - samples(0).mean(axis=0), moved - moved.mean(axis=0), rcond=None)[0]
    assert np.allclose(found, expected)
    assert np.allclose(found, found.T)  # the optimum is the gradient of a convex function
    assert (np.linalg.eigvalsh(found) > 0).all()


def test_no_linear_map_to_the_same_covariance_is_cheaper() -> None:
    own, target = samples(0), samples(1)
    moved = linear_transport(own, target, ridge=1e-12)
    cost = ((moved - own) ** 2).sum()
    centre = target.mean(axis=0)
    root, rng = sqrtm(np.cov(target.T)).real, np.random.default_rng(2)
    for _ in range(20):
        turn = np.linalg.qr(rng.standard_normal((3, 3)))[0]
        other = centre + (moved - centre) @ np.linalg.inv(root) @ turn @ root
        assert np.allclose(np.cov(other.T), np.cov(target.T))
        assert ((other - own) ** 2).sum() >= cost


def test_a_picture_is_transported_onto_itself_unchanged(picture: Make) -> None:
    assert np.allclose(monge_kantorovich(picture(), picture()), picture(), atol=1e-5)
    bright = np.maximum(picture(), 0.05)  # no value below the floor of the logarithm
    assert np.allclose(reinhard(bright, bright), bright, atol=2e-3)  # the paper's matrices have four digits


def test_reinhard_gives_the_styles_moments_on_its_axes(picture: Make) -> None:
    content, style = np.maximum(picture(), 0.1), np.maximum(picture(seed=1), 0.1)
    made = _decorrelated(reinhard(content, style))
    wanted = _decorrelated(style)
    assert np.allclose(made.mean(axis=0), wanted.mean(axis=0), atol=5e-3)
    assert np.allclose(made.std(axis=0), wanted.std(axis=0), atol=5e-3)


def test_a_channel_that_does_not_vary_takes_the_targets_mean() -> None:
    flat = np.zeros((10, 2))
    assert np.allclose(matched_moments(flat, np.array([[1.0, 2.0], [3.0, 4.0]])), [[2.0, 3.0]] * 10)


def test_the_axes_of_reinhard_part_grey_from_colour() -> None:
    # equation 6: for equal L, M and S, alpha and beta are 0 and l is sqrt(3) times the logarithm
    assert np.allclose(_AXES @ np.ones(3), [np.sqrt(3), 0, 0])
    assert np.allclose(_AXES @ _AXES.T, np.eye(3))

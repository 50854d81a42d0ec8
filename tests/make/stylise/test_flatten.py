"""Labels of flat colour: nearest entry, majority around, means of regions."""

from __future__ import annotations

import numpy as np
import pytest

from paragone.make.stylise.flatten import calm, joined, nearest, region_means


def test_the_nearest_colour_is_the_nearest() -> None:
    rng = np.random.default_rng(0)
    colours, palette = rng.uniform(-50, 90, (9, 7, 3)), rng.uniform(-50, 90, (5, 3))
    expected = ((colours[:, :, None] - palette) ** 2).sum(axis=3).argmin(axis=2)
    assert np.array_equal(nearest(colours, palette), expected)


def test_specks_vanish_and_large_areas_stay() -> None:
    label = np.zeros((30, 40), dtype=np.int64)
    label[:, 20:] = 2
    speckled = label.copy()
    speckled[5, 5] = speckled[20, 30] = 1
    calmed = calm(speckled, 3, 1.5)
    assert np.array_equal(calmed, label)


def test_a_label_that_nobody_has_is_never_chosen() -> None:
    label = np.random.default_rng(1).integers(0, 2, (20, 20)) * 2
    assert set(np.unique(calm(label, 4, 3.0)).tolist()) <= {0, 2}


def test_means_of_regions_are_their_means() -> None:
    values = np.arange(24, dtype=np.float64).reshape(2, 4, 3)
    label = np.array([[0, 0, 2, 2], [0, 0, 2, 2]])
    means = region_means(values, label)
    assert np.allclose(means[0], values[:, :2].mean(axis=(0, 1)))
    assert np.allclose(means[2], values[:, 2:].mean(axis=(0, 1)))
    assert np.array_equal(means[1], np.zeros(3))


def _apart(a: np.ndarray, b: np.ndarray, colours: np.ndarray, room: float) -> float:
    """Distance of two regions, each given by where it is."""
    n_a, n_b = a.sum(), b.sum()
    share = min(1.0, n_a * n_b / ((n_a + n_b) * room))
    return float(share**0.5 * np.linalg.norm(colours[a].mean(axis=0) - colours[b].mean(axis=0)))


def _touching(label: np.ndarray) -> set[tuple[int, int]]:
    sides = ((label[1:], label[:-1]), (label[:, 1:], label[:, :-1]))
    pairs = {(int(min(p, q)), int(max(p, q))) for a, b in sides for p, q in zip(a.flat, b.flat, strict=True)}
    return {(p, q) for p, q in pairs if p != q}


@pytest.mark.parametrize("seed", range(4))
def test_joining_is_as_taking_the_closest_neighbours_one_pair_after_the_other(seed: int) -> None:
    rng = np.random.default_rng(seed)
    colours = rng.uniform(0, 20, (16, 18, 3))
    start = np.arange(72).reshape(8, 9).repeat(2, axis=0).repeat(2, axis=1)
    label = start.copy()
    while True:
        closest = min((_apart(label == a, label == b, colours, 6.0), a, b) for a, b in _touching(label))
        if closest[0] >= 3.0:
            break
        label[label == closest[2]] = closest[1]
    made = joined(start, colours, limit=3.0, room=6.0)
    assert 5 < len(np.unique(label)) < 60
    assert np.array_equal(made, np.unique(label, return_inverse=True)[1].reshape(label.shape))


def test_regions_that_touch_nowhere_stay_two_however_alike() -> None:
    label = np.array([[0, 1, 2], [0, 1, 2]])
    colours = np.array([0.0, 50.0, 0.0])[label][..., None]
    assert np.array_equal(joined(label, colours, limit=10.0, room=1.0), label)


def test_a_region_is_joined_sooner_the_smaller_it_is() -> None:
    label = np.zeros((20, 20), dtype=np.int64)
    label[:, 10:] = 3
    label[5, 5] = 8
    colours = (label != 0).astype(np.float64)[..., None] * 10.0
    made = joined(label, colours, limit=5.0, room=16.0)
    assert np.array_equal(made, (label == 3).astype(np.int64))


def test_labels_come_without_gaps_in_the_order_of_reading() -> None:
    label = np.array([[9, 9, 4, 4, 7]])
    colours = label.astype(np.float64)[..., None]
    assert joined(label, colours, limit=0.5, room=1.0).tolist() == [[0, 0, 1, 1, 2]]

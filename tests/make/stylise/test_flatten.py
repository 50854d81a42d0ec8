"""Labels of flat colour: nearest entry, majority around, means of regions."""

from __future__ import annotations

import numpy as np

from paragone.make.stylise.flatten import calm, nearest, region_means


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

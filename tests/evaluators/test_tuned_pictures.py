"""Pictures for tuning keep their proportions, and crops come from where they should."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from paragone.evaluators.tuned.pictures import cut, prepare, random_place, read_prepared, test_places
from paragone.evaluators.tuned.settings import TunedSettings
from paragone.images import read_image, write_image

SETTINGS = TunedSettings(resize=20, crop=16)
test_places.__test__ = False  # type: ignore[attr-defined]  # a function of ours, not a test


def written(folder: Path, name: str, height: int, width: int) -> Path:
    rng = np.random.default_rng([height, width])
    return write_image(rng.random((height, width, 3), dtype=np.float32), folder / f"{name}.png")


def test_the_shorter_side_is_brought_to_its_size_and_the_other_follows(tmp_path: Path) -> None:
    wide = read_prepared(written(tmp_path, "wide", 40, 90), SETTINGS)
    high = read_prepared(written(tmp_path, "high", 15, 10), SETTINGS)
    assert (wide.values.shape, high.values.shape) == ((20, 45, 3), (30, 20, 3))
    assert wide.values.dtype == np.uint8


def test_a_picture_of_the_right_size_is_left_as_it_is(tmp_path: Path) -> None:
    path = written(tmp_path, "same", 20, 26)
    assert np.array_equal(read_prepared(path, SETTINGS).values, np.rint(read_image(path) * 255))


def test_prepared_pictures_are_those_that_are_read_one_by_one(tmp_path: Path) -> None:
    images = {f"i{n}": written(tmp_path, f"i{n}", 20 + n, 30 - n) for n in range(5)}
    for jobs in (1, 2):
        made = prepare(images, SETTINGS, jobs=jobs)
        for at, item in enumerate(made.items):
            alone = read_prepared(images[item], SETTINGS)
            assert np.array_equal(made.picture(at), alone.values)
            assert made.sha256[at] == alone.sha256


def test_five_crops_are_the_corners_and_the_centre() -> None:
    assert test_places((20, 45), SETTINGS) == [(0, 0), (0, 29), (4, 0), (4, 29), (2, 14)]
    assert test_places((20, 45), TunedSettings(resize=20, crop=16, test_crops="centre")) == [(2, 14)]
    picture = np.arange(20 * 45 * 3, dtype=np.int64).astype(np.uint8).reshape(20, 45, 3)
    assert np.array_equal(cut(picture, (4, 29), 16), picture[4:, 29:])


def test_random_crops_reach_every_place_and_follow_from_seed_epoch_and_picture() -> None:
    drawn = {random_place((20, 18), 16, seed=1, epoch=epoch, index=3) for epoch in range(300)}
    assert drawn == {(top, left) for top in range(5) for left in range(3)}
    one = [
        random_place((99, 99), 16, seed=s, epoch=e, index=i) for s, e, i in ((1, 2, 3), (2, 2, 3), (1, 3, 3), (1, 2, 4))
    ]
    assert len(set(one)) == 4
    assert one[0] == random_place((99, 99), 16, seed=1, epoch=2, index=3)


def test_a_fault_comes_back_as_one_line(tmp_path: Path) -> None:
    (tmp_path / "bad.png").write_bytes(b"nothing")
    read = read_prepared(tmp_path / "bad.png", SETTINGS)
    assert read.values.size == 0
    assert "not a picture that can be read" in read.fault
    assert "\n" not in read.fault
    with pytest.raises(ValueError, match="read-only"):
        prepare({"a": written(tmp_path, "a", 20, 20)}, SETTINGS).picture(0)[:] = 0

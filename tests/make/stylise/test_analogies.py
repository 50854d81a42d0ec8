"""Image analogies: cases whose answer is known, and what must never change it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import ndimage
from threadpoolctl import threadpool_limits

from installed import needed
from paragone.errors import BadImage, MissingExtra
from paragone.images import lab
from paragone.make.stylise import stylise
from paragone.make.stylise.analogies import ANALOGIES, analogy, fitted, repainted
from paragone.make.stylise.analogy_scan import compiled_scan

needed("numba")

Make = Callable[..., NDArray[np.float32]]


def by_numbers() -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32], NDArray[np.int64]]:
    """A and B of three flat labels, A' of red stripes, blue checks and green grain; and the channel B' must have."""
    y, x = np.mgrid[0:96, 0:128]
    label = np.where(y >= 60, 2, np.where(x >= 64, 1, 0))
    nothing = np.zeros(y.shape)
    stripes = np.stack([0.4 + 0.5 * ((y // 3) % 2), nothing, nothing], axis=-1)
    checks = np.stack([nothing, nothing, 0.3 + 0.6 * ((y // 4 + x // 4) % 2)], axis=-1)
    grain = np.stack([nothing, 0.2 + 0.7 * np.random.default_rng(0).random(y.shape), nothing], axis=-1)
    a_prime = np.stack([stripes, checks, grain])[label, y, x].astype(np.float32)
    v, u = np.mgrid[0:80, 0:120]
    wanted = np.where(u < 25, 2, np.where((v - 40) ** 2 + (u - 60) ** 2 < 30**2, 1, 0))
    flat = np.eye(3, dtype=np.float32)
    return flat[label], a_prime, flat[wanted], np.array([0, 2, 1])[wanted]


def test_texture_by_numbers_puts_each_texture_where_its_label_is() -> None:
    a, a_prime, b, channel = by_numbers()
    made = analogy(a, a_prime, b, guide=3.0)
    right = made.argmax(axis=2) == channel
    inside = ndimage.minimum_filter(channel, 7) == ndimage.maximum_filter(channel, 7)
    assert right.mean() > 0.985  # the rest are within two pixels of an outline
    assert right[inside].all()


def test_texture_by_numbers_goes_on_with_the_texture() -> None:
    a, a_prime, b, channel = by_numbers()
    made = analogy(a, a_prime, b, guide=3.0)
    stripes = made[4:76, 100:118, 0]  # far from outlines
    assert (channel[4:76, 100:118] == 0).all()
    assert np.abs(np.diff(stripes, axis=1)).mean() < 0.02  # a stripe runs on
    shift = [np.abs(stripes[d:] - stripes[: len(stripes) - d]).mean() for d in (3, 6)]
    assert shift[0] > 0.3  # after half a period dark stands where light stood
    assert shift[1] < 0.12


def test_b_equal_to_a_gives_a_prime_back(picture: Make) -> None:
    a_prime = picture(70, 90)
    a = ndimage.gaussian_filter(lab(a_prime) / 100, (2, 2, 0))
    assert np.array_equal(analogy(a, a_prime, a), a_prime)


def test_every_value_is_one_of_a_prime_and_only_of_allowed_pixels(picture: Make) -> None:
    a_prime = picture(50, 60)
    allowed = np.zeros((50, 60), dtype=bool)
    allowed[10:40, 20:50] = True
    made = analogy(lab(a_prime) / 100, a_prime, lab(picture(45, 66, seed=1)) / 100, allowed=allowed)
    free = {tuple(value) for value in a_prime[allowed].tolist()}
    assert {tuple(value) for value in made.reshape(-1, 3).tolist()} <= free


def test_crowding_spreads_the_sources() -> None:
    a_prime = np.random.default_rng(1).random((64, 64, 3)).astype(np.float32)  # every pixel has a colour of its own
    place = {tuple(value): i for i, value in enumerate(a_prime.reshape(-1, 3).tolist())}
    spread = []
    for crowding in (0.0, 1.0):
        made = analogy(np.full((64, 64), 0.5), a_prime, np.full((64, 64), 0.5), crowding=crowding)
        source = np.array([place[tuple(value)] for value in made.reshape(-1, 3).tolist()])
        uses = np.bincount(source // 64 // 8 * 8 + source % 64 // 8, minlength=64)
        spread.append(uses.std() / uses.mean())
    assert spread[1] < 0.6 * spread[0]


def test_a_seed_gives_one_result_for_any_number_of_threads(picture: Make) -> None:
    content, style = picture(90, 120), picture(80, 100, seed=1)
    made = []
    for threads in (1, 2, 2):
        with threadpool_limits(threads):
            made.append(repainted(lab(content), style, seed=4))
    assert np.array_equal(made[0], made[1])
    assert np.array_equal(made[1], made[2])


def test_equal_sources_do_not_make_the_search_slow() -> None:
    flat = np.full((256, 256, 3), 0.4, dtype=np.float32)  # a tree of equal points would be one leaf: hours
    assert np.array_equal(stylise(flat, flat, ANALOGIES), flat)


@pytest.mark.parametrize("shape", [(16, 16), (17, 90), (16, 300)])
def test_small_and_narrow_pictures_go_through(shape: tuple[int, int], picture: Make) -> None:
    assert stylise(picture(*shape), picture(64, 30, 1), ANALOGIES).shape == (*shape, 3)


def test_the_result_has_the_styles_colours_and_the_contents_light(picture: Make) -> None:
    content, style = picture(96, 96), picture(96, 96, seed=1)
    made = stylise(content, style, ANALOGIES)
    assert {tuple(v) for v in made.reshape(-1, 3).tolist()} <= {tuple(v) for v in style.reshape(-1, 3).tolist()}
    blurred = [ndimage.gaussian_filter(lab(image)[..., 0], 4) for image in (content, made)]
    assert np.corrcoef(blurred[0].reshape(-1), blurred[1].reshape(-1))[0, 1] > 0.8


def test_a_style_keeps_its_shape_and_takes_the_contents_longer_side(picture: Make) -> None:
    assert fitted(picture(40, 80), (100, 160)).shape == (80, 160, 3)
    assert fitted(picture(40, 40), (16, 400)).shape[0] ** 2 <= 4.1 * 16 * 400  # a strip is not met by a huge square


def test_shapes_that_do_not_go_together_are_refused(picture: Make) -> None:
    with pytest.raises(BadImage, match="do not go together"):
        analogy(np.zeros((4, 5)), picture(), np.zeros((4, 5)))
    with pytest.raises(BadImage, match="no pixel of A' is allowed"):
        analogy(np.zeros((48, 64)), picture(), np.zeros((4, 5)), allowed=np.zeros((48, 64), dtype=bool))


def test_without_numba_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "numba", None)
    with pytest.raises(MissingExtra, match=r"image analogies needs numba: pip install 'paragone\[make\]'"):
        compiled_scan.__wrapped__()


def test_where_no_folder_can_be_written_the_scan_is_compiled_without_a_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    import numba

    plain = numba.njit

    def refusing(function: Callable[..., None], *, cache: bool = False) -> object:
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return plain(function)

    monkeypatch.setattr(numba, "njit", refusing)
    assert callable(compiled_scan.__wrapped__())

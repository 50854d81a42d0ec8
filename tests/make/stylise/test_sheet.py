"""What is drawn on a sheet lies where it was put."""

from __future__ import annotations

import numpy as np

from paragone.make.stylise.sheet import Sheet

RED = (1.0, 0.0, 0.0)


def test_an_empty_sheet_has_its_colour() -> None:
    made = Sheet((20, 30), (0.2, 0.4, 1.7)).picture()
    assert made.shape == (20, 30, 3)
    assert made.dtype == np.float32
    assert np.allclose(made, (0.2, 0.4, 1.0), atol=1e-6)


def test_a_disk_covers_its_area_about_its_middle() -> None:
    sheet = Sheet((60, 80), (0, 0, 0))
    sheet.disk(50.0, 20.0, 12.0, RED)
    red = sheet.picture()[..., 0].astype(np.float64)
    y, x = np.mgrid[0:60, 0:80] + 0.5
    assert np.isclose(red.sum(), np.pi * 144, rtol=0.03)
    assert np.isclose((red * x).sum() / red.sum(), 50.0, atol=0.3)
    assert np.isclose((red * y).sum() / red.sum(), 20.0, atol=0.3)


def test_a_polygon_a_line_and_an_arc_have_their_areas() -> None:
    sheet = Sheet((60, 60), (0, 0, 0))
    sheet.polygon([(10, 10), (40, 10), (40, 30), (10, 30)], RED)
    assert np.isclose(sheet.picture()[..., 0].sum(), 600, rtol=0.05)
    sheet = Sheet((60, 60), (0, 0, 0))
    sheet.line([(10, 30), (50, 30)], RED, 4.0)
    assert np.isclose(sheet.picture()[..., 0].sum(), 160 + np.pi * 4, rtol=0.1)
    sheet = Sheet((60, 60), (0, 0, 0))
    sheet.arc(30, 30, 20.0, (0.0, 180.0), RED, 2.0)
    drawn = sheet.picture()[..., 0]
    assert np.isclose(drawn.sum(), np.pi * 19 * 2, rtol=0.1)
    assert drawn[:29].sum() < 3  # clockwise from the right is below

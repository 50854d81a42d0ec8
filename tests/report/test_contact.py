"""The contact sheet: every picture once, what is missing told, nothing from outside taken for markup."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image

from make_world import drawn
from paragone.benchmark import Benchmark
from paragone.errors import BadInput
from paragone.images import write_image
from paragone.report.contact import contact_page, contact_picture


def bench(folder: Path, *, methods: tuple[str, ...] = ("m1", "m2"), contents: int = 2) -> Benchmark:
    rows, references = [], []
    for c in range(contents):
        write_image(drawn(c), folder / "refs" / f"c{c}.png")
        references.append({"factor": "content", "level": f"c{c}", "image": f"refs/c{c}.png"})
        for k, method in enumerate(methods):
            image = f"out/{k}/c{c}.png"
            write_image(drawn(50 + 10 * k + c), folder / image)
            rows.append(
                {"item": f"{method}/c{c}/s", "image": image, "method": method, "content": f"c{c}", "style": "s"}
            )
    return Benchmark(pl.DataFrame(rows), pl.DataFrame(references), name="sheet", folder=folder)


def test_the_page_holds_every_picture_once_and_links_to_it(tmp_path: Path) -> None:
    page = contact_page(bench(tmp_path), tmp_path / "contact.html").read_text()
    assert page.count("data:image/jpeg") == 4 + 2, "four results, and each row's content"
    assert set(re.findall(r'href="(out/[^"]+)"', page)) == {f"out/{k}/c{c}.png" for k in (0, 1) for c in (0, 1)}
    assert "4 of 4 pictures" in page


def test_links_lead_from_the_page_wherever_it_lies(tmp_path: Path) -> None:
    page = contact_page(bench(tmp_path / "b"), tmp_path / "elsewhere" / "contact.html")
    for href in re.findall(r'href="([^"#]+\.png)"', page.read_text()):
        assert (page.parent / href).is_file()


def test_names_are_text_and_never_markup(tmp_path: Path) -> None:
    page = contact_page(bench(tmp_path, methods=("<b>x</b>", "m & n")), tmp_path / "contact.html").read_text()
    assert "<b>x</b>" not in page
    assert "&lt;b&gt;x&lt;/b&gt;" in page


def test_a_missing_cell_says_why(tmp_path: Path) -> None:
    whole = bench(tmp_path)
    part = Benchmark(whole.items.head(3), whole.references, name="sheet", folder=tmp_path)
    cells = whole.items.with_columns(
        status=pl.when(pl.col("item") == "m2/c1/s").then(pl.lit("refused")).otherwise(pl.lit("ok")),
        reason=pl.lit("the service declined"),
    )
    page = contact_page(part, tmp_path / "contact.html", cells=cells).read_text()
    assert "3 of 4 pictures" in page
    assert '<span class="none" title="the service declined">refused</span>' in page
    assert "left out" not in page


def test_a_picture_that_cannot_be_read_leaves_the_rest(tmp_path: Path) -> None:
    made = bench(tmp_path)
    (tmp_path / "out" / "0" / "c0.png").write_bytes(b"no picture")
    assert "cannot be read" in contact_page(made, tmp_path / "contact.html").read_text()
    assert contact_picture(made, tmp_path / "contact.png") == [tmp_path / "contact.png"]


def test_a_reference_made_by_formula_is_marked_on_its_thumbnail_and_named_above(tmp_path: Path) -> None:
    made = bench(tmp_path)
    plain = contact_page(made, tmp_path / "plain.html").read_text()
    assert "rawn" not in plain.partition("<body>")[2].partition("<script>")[0]
    page = contact_page(made, tmp_path / "c.html", drawn={("content", "c1"), ("style", "c0"), ("content", "gone")})
    html = page.read_text()
    note = '<p class="small">Drawn references, made by formula and no works of an artist: <span class="word">c1</span>.</p>'
    assert note in html
    captions = re.findall(r"<figcaption[^>]*>([^<]*)</figcaption>", html)
    assert captions == ["c0", "c1 (drawn)"]
    assert 'alt="content: c1 (drawn)"' in html


def test_the_drawing_marks_a_reference_made_by_formula_and_no_other_cell(tmp_path: Path) -> None:
    made = bench(tmp_path)
    plain, marked = (
        np.asarray(Image.open(contact_picture(made, tmp_path / f"{k}.png", drawn=drawn)[0])).astype(int)
        for k, drawn in enumerate(((), {("content", "c1")}))
    )
    changed = np.argwhere((plain != marked).any(axis=2))
    assert 60 < len(changed) < 1500, "one word on a white ground"
    assert changed[:, 1].max() < 100, "in the column of contents"
    assert changed[:, 0].min() > 128, "in the second row"


def test_broken_versions_are_left_out(tmp_path: Path) -> None:
    made = bench(tmp_path)
    items = made.items.with_columns(
        broken_of=pl.when(pl.col("item") == "m2/c1/s").then(pl.lit("m1/c1/s")).otherwise(pl.lit(None, dtype=pl.String))
    )
    page = contact_page(Benchmark(items, made.references, folder=tmp_path), tmp_path / "c.html").read_text()
    assert "3 of 4 pictures" in page


def test_the_drawing_shows_pictures_in_their_cells(tmp_path: Path) -> None:
    made = bench(tmp_path, contents=1)
    write_image(np.full((32, 40, 3), [1.0, 0.0, 0.0], np.float32), tmp_path / "out" / "0" / "c0.png")
    write_image(np.full((32, 40, 3), [0.0, 0.0, 1.0], np.float32), tmp_path / "out" / "1" / "c0.png")
    sheet = np.asarray(Image.open(contact_picture(made, tmp_path / "c.png")[0]).convert("RGB")).astype(int)
    red = np.argwhere((sheet == [255, 0, 0]).all(axis=2))
    blue = np.argwhere((sheet == [0, 0, 255]).all(axis=2))
    assert len(red) == len(blue) == 32 * 40, "small pictures are not enlarged"
    assert red[:, 1].max() < blue[:, 1].min(), "the first method stands left of the second"
    assert abs(red[:, 0].mean() - blue[:, 0].mean()) < 1, "in one row"


def test_many_rows_go_on_in_further_pictures(tmp_path: Path) -> None:
    rows = [{"item": f"m/{k:03d}", "image": None, "method": "m", "prompt": f"{k:03d}"} for k in range(130)]
    empty = pl.DataFrame(schema=dict.fromkeys(("factor", "level", "image"), pl.String))
    made = Benchmark(pl.DataFrame(rows, schema_overrides={"image": pl.String}), empty, folder=tmp_path)
    assert [path.name for path in contact_picture(made, tmp_path / "c.png")] == ["c.png", "c-2.png"]


def test_another_ending_or_no_factor_is_refused(tmp_path: Path) -> None:
    made = bench(tmp_path)
    with pytest.raises(BadInput, match=r"does not end in \.html"):
        contact_page(made, tmp_path / "c.pdf")
    with pytest.raises(BadInput, match=r"does not end in \.png"):
        contact_picture(made, tmp_path / "c.jpg")
    with pytest.raises(BadInput, match="no factors"):
        contact_page(
            Benchmark(made.items.select("item", "image"), made.references, folder=tmp_path), tmp_path / "c.html"
        )

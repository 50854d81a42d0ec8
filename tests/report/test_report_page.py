"""The page as a file: self-contained, safe, the same every time, and with every figure beside it."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest

from paragone.errors import BadInput
from paragone.report import Material, report
from paragone.report.blocks import Folded, Plates
from paragone.report.index import index_of
from paragone.report.page import sections_of
from paragone.report.scored import scores_section

ORDER = ["answer", "scores", "agreement", "participants", "graph", "methods", "provenance"]
HOSTILE = "<script>alert(1)</script>"  # a method of the study is called so
VOID = {"meta", "img", "link", "br", "hr", "input"}


class Page(HTMLParser):
    """Elements, ids, links and the text of a page; complains about tags that do not close."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("script", "style"):
            self.words.append(data)

    def values(self, *names: str) -> list[str]:
        return [attributes[name] or "" for _, attributes in self.elements for name in names if name in attributes]


@pytest.fixture(scope="module")
def parsed(page: Path) -> Page:
    return Page(page.read_text(encoding="utf-8"))


def test_every_tag_closes(parsed: Page) -> None:
    assert parsed.open == []


def test_sections_stand_in_reading_order(parsed: Page) -> None:
    assert [attributes["id"] for tag, attributes in parsed.elements if tag == "section"] == ORDER


def test_nothing_is_loaded_from_elsewhere(page: Path, parsed: Page) -> None:
    inside = ("#", "data:image/jpeg;base64,", "figures/")
    links = parsed.values("src", "href", "xlink:href", "srcset", "poster", "action", "data")
    assert [link[:60] for link in links if not link.startswith(inside)] == []
    assert not {"link", "iframe", "object", "embed", "base"} & {tag for tag, _ in parsed.elements}
    text = page.read_text(encoding="utf-8")
    assert re.findall(r"@import|url\((?!#)", text) == []


def test_only_the_script_of_the_package_may_run(page: Path, parsed: Page) -> None:
    assert [tag for tag, _ in parsed.elements].count("script") == 1
    script = re.search(r"<script>(.*?)</script>", page.read_text(encoding="utf-8"), re.DOTALL)
    assert script is not None
    digest = base64.b64encode(hashlib.sha256(script[1].encode()).digest()).decode()
    policies = [attributes["content"] for tag, attributes in parsed.elements if "http-equiv" in attributes]
    assert len(policies) == 1
    assert f"script-src 'sha256-{digest}'" in str(policies[0])
    assert "default-src 'none'" in str(policies[0])
    handlers = [name for _, attributes in parsed.elements for name in attributes if name.startswith("on")]
    assert handlers == []


def test_ids_are_unique_and_every_link_within_the_page_arrives(parsed: Page) -> None:
    ids = parsed.values("id")
    assert sorted(ids) == sorted(set(ids))
    targets = {link[1:] for link in parsed.values("href", "xlink:href") if link.startswith("#")}
    assert targets <= set(ids)
    assert set(parsed.values("data-picture")) <= set(ids)
    clips = {name for value in parsed.values("clip-path") for name in re.findall(r"url\(#(.*?)\)", value)}
    assert clips <= set(ids)


def test_words_of_users_are_text_and_never_markup(page: Path, parsed: Page) -> None:
    text = page.read_text(encoding="utf-8")
    for raw in (HOSTILE, "<b>small", "<i>style"):
        assert raw not in text
        assert any(raw in words for words in parsed.words)
    assert not re.search("[\x00-\x08\x0b-\x1f]", text)


def test_every_figure_lies_beside_the_page_as_svg_and_csv(page: Path, parsed: Page) -> None:
    files = [link for link in parsed.values("href") if link.startswith("figures/")]
    assert len(files) > 30
    assert [link for link in files if not (page.parent / link).is_file()] == []
    drawn = {link.removesuffix(".svg") for link in files if link.endswith(".svg")}
    assert drawn <= {link.removesuffix(".csv") for link in files}
    assert len(drawn) == [tag for tag, _ in parsed.elements].count("figure")
    assert {f"figures/{path.name}" for path in (page.parent / "figures").iterdir()} == set(files)


def test_lone_figures_are_whole_documents_with_their_text(page: Path) -> None:
    for path in (page.parent / "figures").glob("*.svg"):
        root = ElementTree.fromstring(path.read_text(encoding="utf-8"))
        assert root.get("role") == "img"
        assert len(root.get("aria-label", "")) > 20
        assert len(root.findall(".//{http://www.w3.org/2000/svg}text")) >= 3
        assert "var(--" not in path.read_text(encoding="utf-8")


def test_the_csv_holds_what_was_drawn(page: Path, study: Callable[..., Material]) -> None:
    plates = [
        plate
        for section in sections_of(index_of(study()))
        for block in section.blocks
        if isinstance(block, Plates)
        for plate in block.plates
    ]
    assert len(plates) >= 14
    for plate in plates:
        path = page.parent / "figures" / f"{plate.name}.csv"
        read = pl.read_csv(path, schema_overrides=plate.frame.schema)
        assert read.equals(plate.frame), plate.name


def test_the_same_material_gives_the_same_bytes(page: Path, study: Callable[..., Material], tmp_path: Path) -> None:
    again = report(study(), tmp_path / "again.html")
    assert again.read_bytes() == page.read_bytes()
    for path in (page.parent / "figures").iterdir():
        assert (tmp_path / "figures" / path.name).read_bytes() == path.read_bytes(), path.name


BADGE = '<span class="badge">simulated</span>'


def test_a_badge_stands_by_every_figure_table_and_section_of_people(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for figure in re.findall(r"<figcaption>.*?</figcaption>", text):
        assert BADGE in figure
    for title in (
        "The answer",
        "Scores",
        "Agreement of metrics with people",
        "Participants",
        "Methods, ready to quote",
    ):
        assert re.search(rf"{title} {BADGE}</h2>", text), title
    for caption in re.findall(r'<p class="caption">(?!What went into|Record of).*?</p>', text):
        assert BADGE in caption
    assert re.search(rf'<p class="lead">\d+ simulated participants gave [^<]* {BADGE}</p>', text)


def test_badges_crowd_neither_heads_nor_sentences(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert [head for head in re.findall(r"<th .*?</th>", text) if "badge" in head] == []
    answer = re.search(r'<section id="answer".*?<div class="plates">', text, re.DOTALL)
    assert answer is not None
    assert answer[0].count(BADGE) == 2  # the heading and the counts


def test_a_banner_says_once_that_nobody_took_part(page: Path, study: Callable[..., Material], tmp_path: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert text.count("Every answer here comes from simulated participants") == 1
    assert text.index('class="banner"') < text.index("<nav")
    assert 'class="banner"' not in report(study(simulated=False), tmp_path).read_text(encoding="utf-8")


def test_it_is_said_once_where_the_files_lie(page: Path) -> None:
    assert page.read_text(encoding="utf-8").count("files beside this page in figures/") == 1


def test_badges_of_a_metric_stand_beside_its_name(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert 'good \N{UPWARDS ARROW}</span> <span class="badge">reconstruction</span>' in text
    assert 'turned \N{DOWNWARDS ARROW}</span> <span class="badge">random weights</span>' in text
    assert "<strong>turned and style</strong> " in text
    assert re.search(r"<strong>turned and style</strong>.*?random weights.*?</figcaption>", text)


def test_without_simulation_no_badge_is_shown(study: Callable[..., Material], tmp_path: Path) -> None:
    material = study(simulated=False, machine=(), agreement=None)
    assert 'class="badge"' not in report(material, tmp_path).read_text(encoding="utf-8")


def test_best_and_second_best_carry_numerals(page: Path) -> None:
    table = re.search(
        r'<p class="caption">Agreement with style.*?</table>', page.read_text(encoding="utf-8"), re.DOTALL
    )
    assert table is not None
    rows = re.findall(r"<tr>.*?</tr>", table[0], re.DOTALL)
    good = next(row for row in rows if "good \N{UPWARDS ARROW}" in row)
    noise = next(row for row in rows if "noise \N{UPWARDS ARROW}" in row)
    assert '<span class="mark first" title="best">1</span>' in good
    assert "mark first" not in noise


def test_an_empty_material_says_what_is_missing_and_how_to_add_it(tmp_path: Path) -> None:
    text = report(Material(), tmp_path).read_text(encoding="utf-8")
    for command in ("score", "measure", "screen", "consistency", "report DIR"):
        assert f"<code>paragone {command}" in text, command
    sections = re.findall(r'<section id="(\w+)".*?</section>', text, re.DOTALL)
    assert sections == ORDER
    for section in re.findall(r"<section.*?</section>", text, re.DOTALL):
        assert 'class="missing"' in section or "quote" in section or "is not recorded" in section


MISSING = {
    "human": (None, "There are no scores by people"),
    "level_scores": ((), "Scores of methods, or of the levels of another factor, are not there"),
    "machine": ((), "Scatter plots are missing"),
    "agreement": (None, "The metrics were not compared with people"),
    "screening": (None, "Nobody was screened"),
    "consistency": (None, "How far people agree with people was not computed"),
    "graph": ({}, "The compared pairs were not examined"),
    "benchmark": (None, "The pictures are not shown, because no benchmark folder was given"),
    "answers": (None, "Who answered how much is not known"),
    "asked": ("", "The wording of the question is not known"),
}


@pytest.mark.parametrize(
    "parts",
    [
        ("human", "asked"),
        ("machine", "answers", "screening"),
        ("agreement", "benchmark", "level_scores", "consistency", "graph"),
    ],
    ids=" ".join,
)
def test_each_part_may_be_absent(study: Callable[..., Material], tmp_path: Path, parts: tuple[str, ...]) -> None:
    text = report(study(**{part: MISSING[part][0] for part in parts}), tmp_path).read_text(encoding="utf-8")
    assert [part for part in parts if MISSING[part][1] not in text] == []
    assert Page(text).open == []


def test_ids_of_participants_do_not_leave_with_the_report(page: Path) -> None:
    written = [page, *(page.parent / "figures").iterdir()]
    assert [path.name for path in written if "prolific-" in path.read_text(encoding="utf-8")] == []


def test_the_page_is_named_or_lies_in_the_named_folder(study: Callable[..., Material], tmp_path: Path) -> None:
    bare = Material(title="Nothing yet")
    assert report(bare, tmp_path / "new").name == "report.html"
    assert report(bare, tmp_path / "page.htm").name == "page.htm"
    with pytest.raises(BadInput, match=r"does not end in \.html; name the page or a folder"):
        report(bare, tmp_path / "page.pdf")


def test_a_long_table_is_folded(page: Path, study: Callable[..., Material]) -> None:
    assert "<summary>Table of 12" not in page.read_text(encoding="utf-8")
    human = study().human
    assert human is not None
    rows = pl.concat([human.frame.with_columns(item=pl.col("item") + f" {copy}") for copy in range(4)])
    longer = study(human=dataclasses.replace(human, frame=rows, draws=None))
    blocks = scores_section(index_of(longer)).blocks
    assert [block.title for block in blocks if isinstance(block, Folded)] == ["Table of 48 pictures"]


@pytest.mark.slow
def test_a_large_study_stays_below_15_megabytes(study: Callable[..., Material], tmp_path: Path) -> None:
    """1,080 pictures of pure noise (which compress worst), 3 criteria, 12 metrics: the size of AGIQA-1K."""
    import numpy as np
    from PIL import Image

    from paragone.benchmark import Benchmark
    from paragone.scores import Scores

    rng = np.random.default_rng(0)
    Image.fromarray(rng.integers(0, 256, (256, 256, 3), dtype=np.uint8)).save(tmp_path / "noise.png")
    items = [f"item-{number:04d}" for number in range(1080)]
    none = pl.DataFrame(schema={"factor": pl.String, "level": pl.String, "image": pl.String})
    benchmark = Benchmark(pl.DataFrame({"item": items, "image": "noise.png"}), none, folder=tmp_path)
    frames = []
    for criterion in ("a", "b", "c"):
        score = rng.normal(size=1080)
        bounds = {"low": score - 0.3, "high": score + 0.3, "rank_low": 1, "rank_high": 1080, "n": 22.0}
        frames.append(pl.DataFrame({"item": items, "criterion": criterion, "score": score, **bounds}))
    machine = [
        Scores(pl.DataFrame({"item": items, "score": rng.normal(size=1080)}), name=f"metric {number}")
        for number in range(12)
    ]
    material = study(human=Scores(pl.concat(frames)), machine=machine, agreement=None, benchmark=benchmark)
    written = report(dataclasses.replace(material, agreement=study().agreement), tmp_path / "large.html")
    assert written.stat().st_size < 15_000_000

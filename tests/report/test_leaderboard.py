"""The leaderboard page: ranges of ranks, what judged, and what must be seen before any number."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image

from crossval_world import World, learner
from paragone.benchmark import Benchmark
from paragone.errors import BadInput
from paragone.evaluators.entrant import Entrant
from paragone.evaluators.evaluator import UNKNOWN_ERRORS, Evaluator, Read
from paragone.evaluators.leaderboard import LEADERBOARD, leaderboard
from paragone.evaluators.making import fit_evaluator
from paragone.evaluators.protocol.crossval import crossval
from paragone.report.leader_facts import LeaderFacts, ShownResult, leader_facts, shown_results
from paragone.report.leaderboard import leaderboard_page
from paragone.scores import Scores
from paragone.splits import leave_one_out

NEW = "<i>mine & co"
WORLD = World(methods=7)
READ = Read(
    features="triplet-v1",
    definition="made-1",
    framing="fit",
    side=224,
    backbone="vgg16",
    label="vgg16 (fallback)",
    sha256="ab" * 32,
    source="a package",
)


def _evaluator(*, simulated: bool = True, validated: bool = True) -> Evaluator:
    """Trained on methods m0 to m5, which people judged; m6 is the new one."""
    old = WORLD.factors.filter(pl.col("method") != "m6")
    frame = WORLD.people.frame.filter(pl.col("item").is_in(old["item"].to_list()))
    frame = frame.with_columns(low=pl.col("score") - 0.4, high=pl.col("score") + 0.4)
    people = Scores(frame, name="human", made={"simulated": simulated})
    entrant = Entrant(name="judge", learner=learner())
    foretold = None
    if validated:
        folds = leave_one_out(old.select("item", level="method"), "method")
        foretold = crossval(WORLD.features, people, folds, [entrant], factors=old, replicates=0).predictions
        foretold = foretold.filter(pl.col("predictor") == "judge")
    return fit_evaluator(
        WORLD.features,
        people,
        entrant,
        READ,
        factors=old,
        factor="method",
        foretold=foretold,
        protocol="leave one method out" if validated else "",
        made={"date": "2026-01-31", "paragone": "9.8.7", "rests_on": {"answers": 4321, "participants": 65}},
    )


@pytest.fixture(scope="module")
def evaluator() -> Evaluator:
    return _evaluator()


@pytest.fixture(scope="module")
def new(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    folder, rng = tmp_path_factory.mktemp("new"), np.random.default_rng(0)
    items = WORLD.factors.filter(pl.col("method") == "m6")
    for name in [*items["item"], *(f"c{k}" for k in range(5)), *(f"s{k}" for k in range(4))]:
        noise = rng.integers(0, 256, (16, 24, 3), dtype=np.uint8)
        Image.fromarray(noise).save(folder / f"{name}.png")
    references = [("content", f"c{k}", f"c{k}.png") for k in range(5)] + [
        ("style", f"s{k}", f"s{k}.png") for k in range(4)
    ]
    return Benchmark(
        items.with_columns(image=pl.col("item") + ".png", method=pl.lit(NEW)),
        pl.DataFrame(references, schema=["factor", "level", "image"], orient="row"),
        folder=folder,
    )


@pytest.fixture(scope="module")
def rated(evaluator: Evaluator, new: Benchmark) -> Scores:
    items = new.items["item"].sort().to_list()
    features = replace(WORLD.features, items=tuple(items), values=WORLD.features.of(items))
    said = evaluator.predict(features)
    return Scores(said.frame, name=said.name, made={**said.made, "far": items[3:5], "date": "2026-02-28"})


@pytest.fixture(scope="module")
def board(evaluator: Evaluator, rated: Scores, new: Benchmark) -> pl.DataFrame:
    return leaderboard(evaluator, rated, level=NEW, items=new.items.drop("image"))


@pytest.fixture(scope="module")
def facts(evaluator: Evaluator, rated: Scores, new: Benchmark) -> LeaderFacts:
    return leader_facts(evaluator, "the <b> benchmark", rated=rated, new=new, folder="bench/evaluators/judge")


@pytest.fixture(scope="module")
def write(facts: LeaderFacts, board: pl.DataFrame) -> Callable[..., str]:
    def written(path: Path, **parts: object) -> str:
        whole = {"facts": facts, "board": board, "level": NEW, **parts}
        page = leaderboard_page(whole.pop("facts"), whole.pop("board"), path, **whole)  # type: ignore[arg-type]
        return page.read_text(encoding="utf-8")

    return written


@pytest.fixture(scope="module")
def html(write: Callable[..., str], new: Benchmark, rated: Scores, tmp_path_factory: pytest.TempPathFactory) -> str:
    notes = ["2 combinations <of> references have no result"]
    return write(tmp_path_factory.mktemp("page"), notes=notes, pictures=shown_results(new, rated))


def _words(html: str) -> str:
    """The page's text, spaces joined."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", html.partition("<body>")[2]))


def test_facts_name_judge_digest_references_and_what_it_rests_on(facts: LeaderFacts) -> None:
    assert (facts.evaluator, facts.factor, facts.sha256, facts.items) == ("judge", "method", "ab" * 32, 120)
    assert facts.levels == {"method": 6, "content": 5, "style": 4}
    assert facts.references == {"content": [f"c{k}" for k in range(5)], "style": [f"s{k}" for k in range(4)]}
    assert facts.badges == ("simulated", "fallback backbone")
    assert (facts.answers, facts.participants, facts.trained, facts.rated) == (4321, 65, "2026-01-31", "2026-02-28")


def test_what_the_evaluator_does_not_record_is_said_to_be_unknown(
    evaluator: Evaluator, write: Callable[..., str], tmp_path: Path
) -> None:
    words = _words(write(tmp_path, facts=leader_facts(replace(evaluator, made={}))))
    assert "how many answers is not recorded" in words
    assert "date not recorded, paragone version not recorded" in words
    assert "benchmark not recorded" in words


def test_the_answer_is_a_range_of_ranks_on_each_criterion(board: pl.DataFrame, html: str) -> None:
    lead = re.search(r'<p class="lead">(.*?)<span', html)
    assert lead is not None
    for criterion, low, high in board.filter(pl.col("by") == "evaluator")[
        "criterion", "rank_low", "rank_high"
    ].iter_rows():
        told = "any rank" if (low, high) == (1, 7) else str(low) if low == high else f"{low}–{high}"
        assert f"{told} on {criterion}" in lead[1]
    assert lead[1].startswith("Of 7 methods, &lt;i&gt;mine &amp; co may hold")


def test_a_range_that_says_nothing_is_called_any_rank(
    board: pl.DataFrame, write: Callable[..., str], tmp_path: Path
) -> None:
    wide = board.with_columns(
        rank_low=pl.when(pl.col("by") == "evaluator").then(1).otherwise("rank_low"),
        rank_high=pl.when(pl.col("by") == "evaluator").then(7).otherwise("rank_high"),
    )
    assert "may hold any rank on content and any rank on style." in _words(write(tmp_path, board=wide))
    one = wide.filter(pl.col("criterion") == "style").with_columns(criterion=pl.lit(None, dtype=pl.String))
    assert "may hold any rank from 1 to 7; the evaluator cannot place it." in _words(write(tmp_path, board=one))


def test_numbers_of_the_table_are_those_of_the_board(board: pl.DataFrame, html: str, tmp_path: Path) -> None:
    values = [float(value) for value in re.findall(r'<td class="n" data-v="([^"]*)"><span class="v">', html)]
    assert set(board["score"]) <= set(values)
    assert {float(n) for n in board["n"]} <= set(values)


def test_figures_are_drawn_from_the_board_and_mark_the_new_one(
    board: pl.DataFrame, write: Callable[..., str], tmp_path: Path
) -> None:
    write(tmp_path / "page.html")
    frame = pl.read_csv(tmp_path / "figures" / "page-style.csv")
    own = board.filter(pl.col("criterion") == "style")
    assert frame["score"].to_list() == pytest.approx(own["score"].to_list())
    assert frame["label"].to_list() == [
        f"new: {NEW}" if by == "evaluator" else level for level, by in own["level", "by"].iter_rows()
    ]
    svg = (tmp_path / "figures" / "page-style.svg").read_text(encoding="utf-8")
    assert "new, by judge" in svg
    assert "known, by simulated people" in svg
    assert re.search(r"font-weight: (bold|700)[^>]*>new: ", svg)
    again = pl.read_csv(tmp_path / "figures" / "page-all.csv")
    assert again["score"].to_list() == pytest.approx(board["score"].to_list())


def test_who_judged_is_said_in_every_row_of_the_table(html: str, board: pl.DataFrame) -> None:
    assert html.count("people (simulated)") == 6  # m0 to m5
    assert board["simulated"].all()
    assert "the mean of its pictures" in html  # and not the number by which a report compares methods


def test_what_must_be_seen_stands_above_all(html: str) -> None:
    banner = re.search(r'<p class="banner">(.*?)</p>', html, re.DOTALL)
    assert banner is not None
    assert "learned from simulated participants" in banner[1]
    assert "10 % of the new pictures lie out of the evaluator&#39;s range" in banner[1]
    assert html.index("2 combinations &lt;of&gt; references have no result.") < html.index("<figure")


def test_a_share_out_of_range_below_half_a_percent_is_not_rounded_away(
    board: pl.DataFrame, write: Callable[..., str], tmp_path: Path
) -> None:
    few = board.with_columns(far=pl.when(pl.col("by") == "evaluator").then(0.001))
    assert "Under 1 % of the new pictures lie out" in _words(write(tmp_path, board=few))


def test_people_in_range_need_no_banner(board: pl.DataFrame, write: Callable[..., str], tmp_path: Path) -> None:
    facts = leader_facts(_evaluator(simulated=False))
    near = board.with_columns(far=pl.when(pl.col("by") == "evaluator").then(0.0))
    html = write(tmp_path, facts=facts, board=near)
    assert 'class="banner"' not in html
    assert "known, by people" in html
    assert "fallback backbone" in html


def test_the_two_kinds_of_intervals_are_told_apart(html: str) -> None:
    assert "The intervals are of two kinds" in _words(html)
    assert "leave one method out" in html


def test_without_validation_the_page_says_that_errors_are_unknown(write: Callable[..., str], tmp_path: Path) -> None:
    facts = leader_facts(_evaluator(validated=False))
    words = _words(write(tmp_path, facts=facts))
    assert "was not validated on unseen levels" in words
    assert "nothing is known of its error" in words
    assert "The intervals are of two kinds" not in words


def test_an_evaluator_that_places_no_better_than_a_guess_is_told(
    facts: LeaderFacts, write: Callable[..., str], tmp_path: Path
) -> None:
    said = "no better than the mean of the known ones does, said of each"
    errors = {name: own._replace(level=1.0, guess=2.0) for name, own in facts.errors.items()}
    assert said not in _words(write(tmp_path, facts=replace(facts, errors=errors)))
    errors["style"] = errors["style"]._replace(level=2.5)
    words = _words(write(tmp_path, facts=replace(facts, errors=errors)))
    assert f"The evaluator foretold the mean of an unseen method on style {said}" in words


def test_without_intervals_there_are_no_ranks(board: pl.DataFrame, write: Callable[..., str], tmp_path: Path) -> None:
    none = board.with_columns(pl.lit(None, dtype=pl.Float64).alias(n) for n in ("low", "high"))
    none = none.with_columns(pl.lit(None, dtype=pl.Int64).alias(n) for n in ("rank_low", "rank_high"))
    words = _words(write(tmp_path, board=none))
    assert "it has no rank, since not every interval is known" in words
    assert "A point without a bar has no interval" in words


def test_without_known_levels_scores_stand_alone(
    board: pl.DataFrame, facts: LeaderFacts, write: Callable[..., str], tmp_path: Path
) -> None:
    own = board.filter(pl.col("by") == "evaluator").with_columns(rank_low=pl.lit(1), rank_high=pl.lit(1))
    words = _words(write(tmp_path, board=own, facts=replace(facts, factor="")))
    assert "nothing is ranked" in words
    assert "rated by judge" in words
    assert "no known method to rank it among" in _words(write(tmp_path, board=own))


def test_an_empty_board_still_makes_a_page(write: Callable[..., str], tmp_path: Path) -> None:
    words = _words(write(tmp_path, board=pl.DataFrame(schema=LEADERBOARD)))
    assert "The evaluator gave no score." in words


def test_badges_digest_and_the_way_to_submit_are_there(html: str) -> None:
    assert html.count('<span class="badge">simulated</span>') > 5
    assert html.count('<span class="badge">fallback backbone</span>') > 5
    words = _words(html)
    assert "ab" * 32 in words
    assert "paragone rate RESULTS --evaluator bench/evaluators/judge" in words
    assert "the path is from the folder that holds the benchmark" in words
    assert "5: c0, c1, c2, c3, c4" in words
    assert "4 321 answers of 65 participants" in words.replace("\N{NARROW NO-BREAK SPACE}", " ")


def test_the_page_needs_no_network_escapes_names_and_repeats(
    html: str, write: Callable[..., str], tmp_path: Path
) -> None:
    assert NEW not in html
    assert "the &lt;b&gt; benchmark" in html
    assert re.findall(r'(?:src|href)="(?!data:|#|figures/)([^"]*)"', html) == []
    assert "default-src 'none'" in html
    assert write(tmp_path) == write(tmp_path)


def test_results_are_shown_beside_their_references_those_out_of_range_first(
    html: str, new: Benchmark, rated: Scores
) -> None:
    shown = shown_results(new, rated)
    assert len(shown) == 12
    assert [one.far for one in shown[:3]] == [True, True, False]
    assert {one.caption for one in shown[:2]} == set(rated.made["far"])
    assert html.count('class="result"') == 12
    assert html.count("<figcaption>content</figcaption>") == html.count("<figcaption>style</figcaption>") == 12
    assert html.count('<span class="badge">out of range</span>') == 2
    ranked = rated.frame.with_columns(place=pl.col("score").rank(descending=True).over("criterion"))
    order = ranked.group_by("item").agg(pl.col("place").mean()).sort("place", "item")["item"]
    order = order.filter(~order.is_in(rated.made["far"])).to_list()
    assert [one.caption for one in shown[2:]] == [*order[:5], *order[-5:]]
    assert len(shown_results(new, rated, most=1)) == 1
    assert len({one.caption for one in shown_results(new, rated, most=100)}) == 20


def test_a_result_that_cannot_be_read_leaves_its_place(write: Callable[..., str], tmp_path: Path) -> None:
    lost = ShownResult("lost <one>", tmp_path / "none.png", tmp_path / "nor.png")
    html = write(tmp_path, pictures=[lost] * 20)
    assert html.count('<span class="lost">no picture</span>') == 12
    assert "lost &lt;one&gt;" in html


def test_only_html_is_written(write: Callable[..., str], tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"does not end in \.html"):
        write(tmp_path / "page.pdf")


def test_unknown_errors_are_dashes(facts: LeaderFacts, write: Callable[..., str], tmp_path: Path) -> None:
    assert math.isnan(UNKNOWN_ERRORS.item)
    write(tmp_path, facts=replace(facts, errors={"content": UNKNOWN_ERRORS, "style": facts.errors["style"]}))
    errors = pl.read_csv(tmp_path / "figures" / "leaderboard-errors.csv")
    assert errors["error_item"].to_list() == [None, pytest.approx(facts.errors["style"].item)]
    assert errors["protocol"].to_list() == [None, "leave one method out"]

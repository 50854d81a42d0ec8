"""Learned evaluators in the report: who wins is said first, and figures are those of the tables."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from crossval_world import World, learner
from paragone.evaluators.entrant import Entrant
from paragone.evaluators.protocol.crossval import crossval
from paragone.evaluators.protocol.papers import paper_table
from paragone.evaluators.protocol.validation import CrossValidation
from paragone.loop.gather import validations_in
from paragone.report import Material, report
from paragone.report.blocks import Folded, Plates, Prose, Section, Table
from paragone.report.index import index_of
from paragone.report.leaders import gain_figures, gain_words, leaders_of, verdict_words
from paragone.report.validated import validated_sections
from paragone.scores import Scores
from paragone.splits import leave_one_out

WORLD = World()
HOSTILE = "<b>dino & co"
"""The name of a metric."""


def _validated(*, noise: bool = False, **parts: Any) -> CrossValidation:
    """Methods left out of a small world; with noise the features say nothing of the truth."""
    features = WORLD.features
    if noise:
        values = np.random.default_rng(9).standard_normal(features.values.shape).astype(np.float32)
        features = replace(features, values=values)
    metrics = [
        WORLD.scores({None: WORLD.truth["content"] + 2 * WORLD.truth["style"]}, name=HOSTILE),
        WORLD.scores({None: np.random.default_rng(1).standard_normal(120)}, name="noise"),
        Scores(
            pl.DataFrame({"of": ["method"] * 6, "level": [f"m{k}" for k in range(6)], "score": [5.0, 3, 4, 1, 2, 0]}),
            name="fid",
            better="lower",
        ),
    ]
    whole: dict[str, Any] = {"metrics": metrics, "factors": WORLD.factors, "replicates": 30}
    folds = leave_one_out(WORLD.levels("method"), "method")
    people = parts.pop("people", WORLD.people)
    entrants = parts.pop("entrants", [Entrant(name="ridge", learner=learner())])
    return crossval(features, people, folds, entrants, **{**whole, **parts})


@pytest.fixture(scope="module")
def learned() -> CrossValidation:
    """Learners win; answers are simulated, the backbone a stand-in."""
    people = Scores(WORLD.people.frame, name="human", made={"simulated": True})
    done = _validated(people=people)
    features = {**done.notes["features"], "backbone": "vgg16 (fallback)"}
    return replace(done, notes={**done.notes, "features": features})


@pytest.fixture(scope="module")
def blind() -> CrossValidation:
    """Features say nothing of the truth."""
    return _validated(noise=True)


@pytest.fixture(scope="module")
def section(learned: CrossValidation) -> Section:
    return _section(learned)


def _section(done: CrossValidation, **parts: Any) -> Section:
    (section,) = validated_sections(index_of(Material(validations=[done], **parts)))
    return section


def _blocks(section: Section, kind: type) -> list[Any]:
    inner = [block for folded in section.blocks if isinstance(folded, Folded) for block in folded.blocks]
    return [block for block in [*section.blocks, *inner] if isinstance(block, kind)]


def _text(section: Section) -> str:
    return "\n".join(block.text for block in _blocks(section, Prose))


def test_without_validations_there_is_no_section() -> None:
    assert validated_sections(index_of(Material())) == []


def test_the_first_sentence_says_where_a_floor_wins(blind: CrossValidation) -> None:
    first = _section(blind).blocks[0]
    assert isinstance(first, Prose)
    assert re.match(r"On .*(a floor wins: without looking|no learner beats the strongest floor)", first.text)
    assert "the best learner beats" not in first.text


def test_a_floor_that_the_folds_tell_apart_wins_and_one_that_they_do_not_is_only_ahead(blind: CrossValidation) -> None:
    own = leaders_of(blind)[0]
    assert own.learner is not None
    assert own.floor is not None
    assert own.contest is not None
    sure = own._replace(contest={**own.contest, "difference": -0.3, "p_holm": 0.01})
    unsure = own._replace(contest={**own.contest, "difference": -0.3, "p_holm": None})
    bare = own._replace(contest=None, learner={**own.learner, "mean": own.floor["mean"] - 0.1})
    assert bare.verdict == "floor ahead"
    assert verdict_words([sure])[0].startswith("On content a floor wins: ")
    assert "by less than the folds can tell" in verdict_words([unsure])[0]
    assert verdict_words([sure._replace(criterion=None)])[0].startswith("A floor wins: ")


def test_a_learner_that_wins_is_said_to_and_so_is_a_metric_ahead_of_it(learned: CrossValidation) -> None:
    content, style = leaders_of(learned)
    assert (content.verdict, style.verdict) == ("learner wins", "learner wins")
    assert style.rivalry is not None
    ahead = style._replace(rivalry={**style.rivalry, "difference": -0.2, "p_holm": 0.01})
    said = verdict_words([content, ahead])
    assert said[0].startswith("On content and style the best learner beats the strongest floor")
    assert said[1] == f"On style the metric {HOSTILE} is ahead of every learner."
    unsure = ahead._replace(rivalry={**style.rivalry, "difference": -0.2, "p_holm": None})
    assert verdict_words([unsure])[1].endswith("ahead of every learner, by less than the folds can tell.")


def test_leaders_are_the_rows_with_the_largest_means(learned: CrossValidation) -> None:
    for own in leaders_of(learned):
        table = learned.table.filter((pl.col("criterion") == own.criterion) & (pl.col("statistic") == "srcc"))
        for kind in ("floor", "metric", "learner"):
            best = table.filter(pl.col("kind") == kind)["mean"].max()
            row = getattr(own, kind)
            assert row["mean"] == best


def test_the_gain_is_told_in_words_with_its_interval_and_baseline(learned: CrossValidation, section: Section) -> None:
    text = _text(section)
    rows = learned.gains.filter((pl.col("statistic") == "srcc") & (pl.col("baseline_kind") == "metric"))
    assert rows.height == 2
    for row in rows.iter_rows(named=True):
        assert f"elative gain of ridge over {HOSTILE}, the strongest metric: {' '.join(gain_figures(row))}" in text
    known = {"gain": 0.539, "low": 0.301, "high": 0.802, "note": None, "folds": 12}
    assert gain_figures(known) == ("+54 %", "[+30, +80]")
    assert gain_figures({**known, "gain": -0.0539, "low": -0.08, "high": -0.03}) == ("−5.4 %", "[−8.0, −3.0]")


def test_an_undefined_gain_says_why() -> None:
    row = {"learner": "ridge", "baseline": "m", "baseline_kind": "metric", "gain": None, "note": "m is not above 0"}
    assert gain_words(row).endswith("the strongest metric: undefined, since m is not above 0")
    assert gain_figures(row) == ("–", "")


def test_the_table_of_papers_has_their_figures_and_marks(learned: CrossValidation, section: Section) -> None:
    table = _blocks(section, Table)[0]
    paper = paper_table(learned)
    figures = paper.frame.filter(pl.col("kind") != "gain")
    assert [row.cells[0].text for row in table.rows] == figures["predictor"].to_list()
    for at, column in enumerate(figures.columns[2:], start=2):
        for row, text, mark in zip(table.rows, figures[column], paper.marks[column], strict=False):
            cell = row.cells[at]
            assert f"{cell.text} {cell.interval}".strip() == (text or "–").replace("-", "−")
            assert cell.mark == {"best": "first", "second": "second"}.get(mark, "")
    assert sum(cell.mark == "first" for row in table.rows for cell in row.cells) == 4


def test_figures_hold_the_means_and_the_folds_of_the_tables(learned: CrossValidation, section: Section) -> None:
    plates = {plate.name: plate.frame for block in _blocks(section, Plates) for plate in block.plates}
    means = plates["validated-method-style"]
    wanted = learned.table.filter(
        (pl.col("criterion") == "style") & (pl.col("statistic") == "srcc") & (pl.col("kind") != "set")
    ).drop_nulls("mean")
    assert dict(means.select("label", "score").iter_rows()) == dict(wanted.select("predictor", "mean").iter_rows())
    assert means["score"].is_sorted(descending=True)
    levels = plates["validated-levels-method-style"].filter(pl.col("predictor") == "ridge")
    assert sorted(levels["label"]) == [f"m{k}" for k in range(6)]
    assert levels["value"].is_sorted()
    folds = learned.per_fold.filter(
        (pl.col("predictor") == "ridge") & (pl.col("criterion") == "style") & (pl.col("statistic") == "srcc")
    )
    assert sorted(levels["value"]) == sorted(folds["value"])


def test_kinds_part_by_shape_and_not_by_colour_alone(section: Section) -> None:
    plate = _blocks(section, Plates)[0].plates[0]
    shapes = re.findall(r'<path id="[^"]*" d="([^"]*)"', plate.drawing.alone)
    assert len(set(shapes)) >= 3
    for words in ("learned from people", "metric", "floor: looks at no picture"):
        assert words in plate.drawing.alone


def test_every_predictor_has_pooled_and_within_group_figures(learned: CrossValidation, section: Section) -> None:
    tables = [table for table in _blocks(section, Table) if table.caption.startswith("SRCC with style")]
    (table,) = tables
    assert [head.hint for head in table.heads[2:5]] == ["over folds", "all held-out items", "same content and style"]
    own = next(row for row in table.rows if row.cells[0].text == "ridge")
    row = learned.table.filter(
        (pl.col("predictor") == "ridge") & (pl.col("criterion") == "style") & (pl.col("statistic") == "srcc")
    ).row(0, named=True)
    assert [cell.sort for cell in own.cells[2:]] == [
        row[c] for c in ("mean", "pooled", "within", "folds", "n", "groups")
    ]


def test_badges_stand_beside_the_numbers(learned: CrossValidation) -> None:
    section = _section(learned, badges={"noise": ["random weights"]})
    assert section.badges == ["simulated"]
    table = _blocks(section, Table)[0]
    badges = {row.cells[0].text: list(row.cells[0].badges) for row in table.rows}
    assert (badges["ridge"], badges["noise"], badges["constant"]) == (["fallback backbone"], ["random weights"], [])
    assert list(section.blocks[0].badges) == ["simulated", "fallback backbone"]  # type: ignore[union-attr]
    features = {**learned.notes["features"], "backbone": "vgg11 (random weights, seed 0)", "sha256": ""}
    random = _section(replace(learned, notes={**learned.notes, "features": features}))
    assert "random weights" in _blocks(random, Table)[0].rows[-1].cells[0].badges


def test_undefined_folds_are_told_with_their_reason() -> None:
    values = WORLD.truth["content"].copy()
    values[[item.startswith("m2") for item in WORLD.items]] = 1.0
    text = _text(_section(_validated(metrics=[WORLD.scores({None: values}, name="half dead")])))
    assert "half dead, content: 5 of 6 folds defined (1 of 6 folds undefined" in text
    assert "constant, content" not in text


def test_one_unnamed_criterion_and_no_metric_still_make_a_section() -> None:
    section = _section(_validated(people=WORLD.scores({None: WORLD.truth["style"]}), metrics=[]))
    assert [plate.title for plate in _blocks(section, Plates)[0].plates] == ["Agreement with score on unseen methods"]
    assert "strongest metric" not in _text(section)


def test_without_learners_metrics_and_floors_are_told(tmp_path: Path) -> None:
    done = _validated(entrants=[])
    section = _section(done)
    assert "no learner has a correlation with people" in _text(section)
    assert "ridge" not in report(Material(validations=[done]), tmp_path).read_text(encoding="utf-8")


def test_two_protocols_on_one_factor_get_sections_of_their_own(learned: CrossValidation) -> None:
    sections = validated_sections(index_of(Material(validations=[learned, learned])))
    assert [section.id for section in sections] == ["validated-method", "validated-method-2"]


def test_the_page_escapes_names_and_lies_beside_its_figures(
    learned: CrossValidation, study: Callable[..., Material], tmp_path: Path
) -> None:
    page = report(study(validations=[learned]), tmp_path)
    html = page.read_text(encoding="utf-8")
    assert '<section id="validated-method"' in html
    assert "&lt;b&gt;dino &amp; co" in html
    assert HOSTILE not in html
    assert re.findall(r'(?:src|href)="(?!data:|#|figures/)([^"]*)"', html) == []
    for name in re.findall(r'href="(figures/validated[^"]*)"', html):
        assert (tmp_path / name).is_file(), name
    figures = pl.read_csv(tmp_path / "figures" / "validated-table-method.csv")
    assert figures.equals(paper_table(learned).frame)


def test_methods_and_provenance_name_the_validation(learned: CrossValidation, tmp_path: Path) -> None:
    html = report(Material(validations=[learned]), tmp_path).read_text(encoding="utf-8")
    methods, provenance = html.partition('id="methods"')[2].split('id="provenance"')
    assert "The learned evaluator ridge was judged on held-out levels of method (6 folds) by SRCC and KRCC" in methods
    assert "Training targets come from all answers." in methods
    assert "crossval-method" in provenance
    assert "ab" * 32 in provenance


def test_a_folder_of_validations_is_gathered_methods_first(learned: CrossValidation, tmp_path: Path) -> None:
    folds = leave_one_out(WORLD.levels("content"), "content")
    content = crossval(WORLD.features, WORLD.people, folds, [], factors=WORLD.factors, replicates=0)
    content.write(tmp_path)
    learned.write(tmp_path)
    assert [one.factor for one in validations_in(tmp_path)] == ["method", "content"]
    assert validations_in(tmp_path / "nothing") == []

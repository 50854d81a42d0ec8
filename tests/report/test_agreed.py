"""Agreement of metrics with people: marks, legends, which scatters are drawn and what is said of their curves."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from paragone.agreement import compare
from paragone.report import Material
from paragone.report.agreed import agreement_section
from paragone.report.blocks import Folded, Plates, Prose, Section, Table, Terms
from paragone.report.index import index_of
from paragone.report.scattered import MOST_POINTS, scatter_plates
from paragone.scores import Scores


def _prose(section: Section) -> str:
    return " ".join(block.text for block in section.blocks if isinstance(block, Prose))


def _tables(section: Section) -> list[Table]:
    inner = [block for outer in section.blocks if isinstance(outer, Folded) for block in outer.blocks]
    return [block for block in [*section.blocks, *inner] if isinstance(block, Table)]


@pytest.fixture
def judged(study: Callable[..., Material]) -> Callable[..., Section]:
    """The section on agreement for predictors given as name -> (better, sign, noise) of people's scores on style."""

    def build(**given: tuple[str, float, float]) -> Section:
        human = study().human
        assert human is not None
        truth = human.of_criterion("style")
        people = dataclasses.replace(human, frame=human.frame.filter(pl.col("criterion") == "style"), draws=None)
        rng = np.random.default_rng(0)
        machine = []
        for name, (better, sign, noise) in given.items():
            score = sign * truth["score"].to_numpy() + rng.normal(0, noise, truth.height)
            frame = pl.DataFrame({"item": truth["item"], "score": score})
            machine.append(Scores(frame, name=name, better=better))  # type: ignore[arg-type]
        agreement = compare(people, *machine, replicates=0)
        return agreement_section(index_of(Material(human=people, machine=machine, agreement=agreement)))

    return build


def _marks(table: Table) -> dict[str, dict[str, str]]:
    """Predictor -> statistic -> mark."""
    names = [head.text for head in table.heads]
    return {
        row.cells[0].text: {name: cell.mark for name, cell in zip(names, row.cells, strict=True)} for row in table.rows
    }


def test_predictors_that_agree_with_nobody_are_said_to(judged: Callable[..., Section]) -> None:
    noise = {"blur": ("higher", 0.0, 1.0), "contrast": ("higher", -1.0, 0.2)}
    said = _prose(judged(**noise))
    assert "None of 2 predictors is shown to agree with people on style: no interval lies above 0. blur has the" in said
    assert "is shown to agree" not in _prose(judged(**noise, good=("higher", 1.0, 0.2)))
    assert "is shown to agree" not in _prose(judged(**noise, free=("unknown", -1.0, 0.2)))
    assert "contrast is not shown to agree with people on style: SRCC" in _prose(judged(contrast=noise["contrast"]))


def test_marks_go_to_predictors_that_run_with_people(judged: Callable[..., Section]) -> None:
    section = judged(
        against=("higher", -1, 0.01), fair=("higher", 1, 0.3), weak=("higher", 1, 1.0), plain=("unknown", -1, 0.01)
    )
    table = _tables(section)[0]
    marks = _marks(table)
    assert [row.cells[0].text for row in table.rows] == ["fair ↑", "weak ↑", "against ↑", "plain"]
    for statistic in ("SRCC", "PLCC", "KRCC", "RMSE"):  # a curve bends either way, so 'against' has the best fit
        assert (marks["fair ↑"][statistic], marks["weak ↑"][statistic]) == ("first", "second"), statistic
        assert (marks["against ↑"][statistic], marks["plain"][statistic]) == ("", ""), statistic
    assert "A filled 1 marks the best" in _prose(section)
    assert "without an arrow it has no direction and stands last, by size" in _prose(section)


def test_a_legend_of_marks_stands_only_where_there_are_marks(judged: Callable[..., Section]) -> None:
    section = judged(one=("higher", 1, 0.3), two=("higher", 1, 1.0), plain=("unknown", 1, 0.3))
    assert not any(table.marked for table in _tables(section))
    assert "A filled 1" not in _prose(section)


def test_words_of_the_tables_are_explained_in_one_line_each(judged: Callable[..., Section]) -> None:
    section = judged(one=("higher", 1, 0.3), two=("higher", 1, 1.0))
    folded = [block for outer in section.blocks if isinstance(outer, Folded) for block in outer.blocks]
    terms = dict(entry for block in [*section.blocks, *folded] if isinstance(block, Terms) for entry in block.entries)
    tables = [table for table in _tables(section) if table.caption.startswith("Agreement with")]
    heads = {head.text for table in tables for head in table.heads} - {"predictor", "n"}
    assert len(heads) > 8
    assert heads <= set(terms)
    assert terms["PLCC (4)"].endswith("logistic curve of 4 parameters")
    assert "F test of ITU-T P.1401" in terms["P.1401 F"]


def test_predictors_without_an_srcc_are_not_drawn_and_named(study: Callable[..., Material]) -> None:
    material = study()
    assert material.agreement is not None
    frame = material.agreement.frame
    lost = (pl.col("predictor") == "noise") & (pl.col("statistic") == "srcc")
    without = dataclasses.replace(
        material.agreement, frame=frame.with_columns(value=pl.when(lost).then(None).otherwise("value"))
    )
    section = agreement_section(index_of(study(agreement=without)))
    plates = [plate.title for block in section.blocks if isinstance(block, Plates) for plate in block.plates]
    assert [title for title in plates if title.startswith("noise")] == []
    assert "Not drawn, since no SRCC was computed: noise." in _prose(section)


def test_a_curve_that_is_a_step_is_said_to_flatter(study: Callable[..., Material]) -> None:
    material = study()
    assert material.agreement is not None
    curves = [{**entry, "steep": entry["predictor"] == "noise"} for entry in material.agreement.notes["curves"]]
    changed = study(agreement=dataclasses.replace(material.agreement, notes={"curves": curves}))
    pooled = material.agreement.frame.filter(pl.col("group").is_null())
    captions = {plate.title: plate.caption for plate in scatter_plates(pooled, index_of(changed))[0]}
    said = {title for title, caption in captions.items() if "The curve jumps at one place" in caption}
    assert said == {"noise and style", "noise and overall"}
    row = pooled.filter(
        pl.col("predictor") == "noise", pl.col("criterion") == "style", pl.col("statistic") == "plcc_oof"
    )
    shown = f"{row['value'][0]:.2f}".replace("-", "\N{MINUS SIGN}")
    assert f"out of fold {shown}" in captions["noise and style"]


def test_a_scatter_draws_the_curve_behind_the_table(study: Callable[..., Material]) -> None:
    material = study()
    assert material.agreement is not None
    kept = next(entry for entry in material.agreement.notes["curves"] if entry["predictor"] == "turned")
    shifted = [*kept["parameters"][:-1], kept["parameters"][-1] + 100]
    notes = {"curves": [{**kept, "form": "logistic5", "parameters": shifted}]}
    pooled = material.agreement.frame.filter(pl.col("group").is_null())
    changed = study(agreement=dataclasses.replace(material.agreement, notes=notes))

    def curve(given: Material) -> np.ndarray:
        plates = {plate.title: plate.frame for plate in scatter_plates(pooled, index_of(given))[0]}
        frame = plates[f"turned and {kept['criterion']}"]
        return frame.filter(pl.col("part") == "curve")["y"].to_numpy()

    np.testing.assert_allclose(curve(changed) - curve(material), 100.0, rtol=1e-9)
    without = study(agreement=dataclasses.replace(material.agreement, notes={}))
    # Refitted on the metric as it stands rather than turned: the same curve up to the optimiser's tolerance.
    np.testing.assert_allclose(curve(without), curve(material), atol=1e-3)


def test_a_scatter_of_very_many_points_counts_them_in_cells() -> None:
    n = MOST_POINTS + 500
    items = [f"i{number}" for number in range(n)]
    rng = np.random.default_rng(1)
    human = Scores(pl.DataFrame({"item": items, "score": rng.normal(size=n)}))
    machine = Scores(pl.DataFrame({"item": items, "score": rng.normal(size=n)}), name="m")
    plates, _ = scatter_plates(
        compare(human, machine, replicates=0).frame, index_of(Material(human=human, machine=[machine]))
    )
    (plate,) = plates
    assert plate.frame.filter(pl.col("part") == "cell")["count"].sum() == n
    assert plate.frame.filter(pl.col("part") == "point").height == 0

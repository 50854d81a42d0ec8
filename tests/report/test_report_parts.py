"""What the parts of the page say: counts, reasons, curves, pictures, methods."""

from __future__ import annotations

import base64
import dataclasses
import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image

from paragone.agreement import compare
from paragone.benchmark import Benchmark
from paragone.errors import BadTable
from paragone.judgements import Ratings, Votes
from paragone.report import Material, answers_of
from paragone.report.agreed import agreement_section
from paragone.report.answer import answer_section
from paragone.report.blocks import Folded, Missing, Plates, Prose, Section, Table
from paragone.report.compared import graph_section
from paragone.report.index import Index, index_of, slug
from paragone.report.methods import methods_paragraph, provenance_section
from paragone.report.people import participants_section, screened
from paragone.report.pictures import MOST_PICTURES, SIDE, thumbnails
from paragone.report.scattered import MOST_POINTS, scatter_plates
from paragone.scores import Scores

NONE = pl.DataFrame(schema={"factor": pl.String, "level": pl.String, "image": pl.String})


def _prose(section: Section) -> str:
    return " ".join(block.text for block in section.blocks if isinstance(block, Prose))


def _tables(section: Section) -> list[Table]:
    inner = [block for outer in section.blocks if isinstance(outer, Folded) for block in outer.blocks]
    return [block for block in [*section.blocks, *inner] if isinstance(block, Table)]


def test_answers_are_counted_without_checks_and_once_per_person(votes: Votes) -> None:
    answers = answers_of(votes, about=["age_band", "not_asked"])
    assert (answers.kind, answers.participants, answers.n, answers.items) == ("votes", 18, 18 * 2 * 22, 12)
    assert answers.per_criterion["answers"].to_list() == [396, 396]
    assert answers.composition is not None
    assert answers.composition.rows() == [("age_band", "18-29", 6), ("age_band", "30-49", 6), ("age_band", "50+", 6)]


def test_answers_of_unknown_people_are_not_given_a_number() -> None:
    ratings = Ratings(pl.DataFrame({"item": ["a", "b", "a"], "value": [1.0, 2.0, 3.0]}))
    answers = answers_of(ratings=ratings)
    assert (answers.participants, answers.n, answers.items) == (None, 3, 2)
    assert "An unknown number of people gave 3 ratings of 2 items" in _prose(
        answer_section(index_of(Material(answers=answers)))
    )
    assert answers_of().n == 0


def test_the_answer_names_the_leader_and_those_who_may_be_as_good() -> None:
    frame = pl.DataFrame(
        {"item": ["a", "b", "c"], "score": [3.0, 2.9, 1.0], "low": [2.8, 2.7, 0.8], "high": [3.2, 3.1, 1.2]}
    )
    ranks = frame.with_columns(rank_low=pl.Series([1, 1, 3]), rank_high=pl.Series([2, 2, 3]))
    said = _prose(answer_section(index_of(Material(human=Scores(ranks)))))
    assert "Best item on score: a, 3.00 [2.80, 3.20]; b may be as good." in said
    alone = ranks.with_columns(rank_low=pl.Series([1, 2, 3]), rank_high=pl.Series([1, 2, 3]))
    said = _prose(answer_section(index_of(Material(human=Scores(alone)))))
    assert "the data tell it apart from the 2 others" in said
    said = _prose(answer_section(index_of(Material(human=Scores(frame)))))
    assert "whether others are as good is not known" in said
    assert "groups that cannot be told apart are not marked" in said


def test_forty_rows_are_drawn_as_they_are_and_more_by_level_or_by_their_ends() -> None:
    def drawn(n: int, **parts: object) -> list[pl.DataFrame]:
        frame = pl.DataFrame({"item": [f"i{k:02d}" for k in range(n)], "score": np.arange(n, dtype=float)})
        section = answer_section(index_of(Material(human=Scores(frame), **parts)))  # type: ignore[arg-type]
        return [plate.frame for block in section.blocks if isinstance(block, Plates) for plate in block.plates]

    levels = Scores(pl.DataFrame({"of": ["method"] * 2, "level": ["x", "y"], "score": [1.0, 2.0]}))
    assert [frame.height for frame in drawn(40)] == [40]
    ends = drawn(41)[0]["label"].to_list()
    assert (ends[0], ends[9], ends[10], ends[19]) == ("i40", "i31", "i09", "i00")
    assert drawn(41, level_scores=[levels])[0]["label"].to_list() == ["y", "x"]


def test_items_that_were_never_compared_have_no_common_leader() -> None:
    frame = pl.DataFrame({"item": ["a", "b"], "score": [1.0, 2.0], "connected_group": [1, 2]})
    section = answer_section(index_of(Material(human=Scores(frame))))
    assert "Best" not in _prose(section)
    captions = [plate.caption for block in section.blocks if isinstance(block, Plates) for plate in block.plates]
    assert "groups that were never compared" in captions[0]


def test_a_screening_is_counted_alike_as_record_and_as_table(study: Callable[..., Material]) -> None:
    screening = study().screening
    table = study().screening_table
    assert table is not None
    counted = screened(screening)
    assert counted is not None
    assert (counted.submitted, counted.retained, counted.rejected) == (18, 17, 1)
    text = table.with_columns(pl.col("reasons", "broken", "remarks").list.join("; "))
    assert screened(text) == counted
    bare = pl.DataFrame(
        {"participant": ["p", "q"], "kept": [True, False], "reasons": ["", "speed: 0.3 s; checks: 0 of 2"]}
    )
    assert screened(bare) == (2, 1, {"checks": 1, "speed": 1})


def test_a_screening_table_without_verdicts_is_refused() -> None:
    with pytest.raises(BadTable, match="column 'kept' is missing"):
        Material(screening=pl.DataFrame({"participant": ["p"]}))


def test_seconds_of_retained_and_rejected_stand_side_by_side(study: Callable[..., Material]) -> None:
    section = participants_section(index_of(study()))
    plates = [plate for block in section.blocks if isinstance(block, Plates) for plate in block.plates]
    seconds = next(plate for plate in plates if plate.name == "screening-seconds")
    assert seconds.frame["group"].value_counts().sort("group").rows() == [("rejected", 1), ("retained", 17)]
    assert "n = 17" in seconds.caption
    assert "rejected 0.300 s (n = 1)" in seconds.caption


def test_consistency_is_one_row_per_statistic_with_criteria_beside_each_other(study: Callable[..., Material]) -> None:
    table = next(t for t in _tables(participants_section(index_of(study()))) if t.caption.startswith("Consistency"))
    assert [head.text for head in table.heads][:5] == ["statistic", "overall", "n", "style", "n"]
    assert len({row.cells[0].text for row in table.rows}) == len(table.rows)


def test_the_graph_warns_of_what_scores_cannot_mean() -> None:
    facts = {"components": 3, "never_winning": ["x"], "spectral_gap": 0.0, "mixing_time": float("inf")}
    section = graph_section(index_of(Material(graph={"style": facts})))
    assert "3 groups on style that were never compared" in _prose(section)
    assert "1 item never won a vote on style" in _prose(section)
    cells = [cell.text for row in _tables(section)[0].rows for cell in row.cells]
    assert "infinite" in cells


def test_the_graph_is_found_in_the_notes_of_scores(study: Callable[..., Material]) -> None:
    given = study()
    assert given.human is not None
    kept = {"never_winning", "components", "spectral_gap"}
    assert kept <= set(given.human.made["notes"]["style"])
    assert _tables(graph_section(index_of(study(graph=None))))[0].rows
    rated = graph_section(
        index_of(Material(answers=answers_of(ratings=Ratings(pl.DataFrame({"item": ["a"], "value": [1.0]})))))
    )
    assert rated.blocks == [Missing("There are no compared pairs, because single items were rated.")]


def test_marks_go_by_value_and_by_size_only_without_a_direction(study: Callable[..., Material]) -> None:
    human = study().human
    assert human is not None
    truth = human.of_criterion("style")
    one = human.frame.filter(pl.col("criterion") == "style")
    people = dataclasses.replace(human, frame=one, draws=None)
    rng = np.random.default_rng(0)

    def metric(name: str, better: str, sign: float, noise: float) -> Scores:
        score = sign * truth["score"].to_numpy() + rng.normal(0, noise, truth.height)
        return Scores(pl.DataFrame({"item": truth["item"], "score": score}), name=name, better=better)  # type: ignore[arg-type]

    machine = [
        metric("wrong way", "higher", -1, 0.01),
        metric("fair", "higher", 1, 0.5),
        metric("plain", "unknown", -1, 0.2),
    ]
    agreement = compare(people, *machine, replicates=0)
    table = _tables(agreement_section(index_of(Material(human=people, machine=machine, agreement=agreement))))[0]
    assert table.heads[1].text == "SRCC"
    marks = {row.cells[0].text: row.cells[1].mark for row in table.rows}
    assert marks == {
        "plain, no direction": "first",
        "fair, higher is better": "second",
        "wrong way, higher is better": "",
    }
    # A curve bends either way, so after it the predictor that runs the wrong way is the best; SRCC says which way it runs.
    fitted = {row.cells[0].text: row.cells[2].mark for row in table.rows}
    assert fitted["wrong way, higher is better"] == "first"


def test_a_scatter_draws_the_curve_behind_the_table(study: Callable[..., Material]) -> None:
    material = study()
    assert material.agreement is not None
    kept = next(entry for entry in material.agreement.notes["curves"] if entry["predictor"] == "turned")
    shifted = [*kept["parameters"][:-1], kept["parameters"][-1] + 100]
    notes = {"curves": [{**kept, "form": "logistic5", "parameters": shifted}]}
    pooled = material.agreement.frame.filter(pl.col("group").is_null())
    changed = study(agreement=dataclasses.replace(material.agreement, notes=notes))

    def curve(given: Material) -> np.ndarray:
        plates = {plate.title: plate.frame for plate in scatter_plates(pooled, index_of(given))}
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
    plate = scatter_plates(
        compare(human, machine, replicates=0).frame, index_of(Material(human=human, machine=[machine]))
    )[0]
    assert plate.frame.filter(pl.col("part") == "cell")["count"].sum() == n
    assert plate.frame.filter(pl.col("part") == "point").height == 0


def test_methods_say_what_was_done_and_that_nobody_took_part(study: Callable[..., Material]) -> None:
    said = methods_paragraph(index_of(study()))
    assert said.startswith("All answers are simulated: no person took part.")
    assert "18 simulated participants gave 792 pairwise comparisons of 12 pictures on overall and style." in said
    assert "17 were retained and 1 rejected by rules (checks: 1)." in said
    assert "computed by the method bradley-terry-ridge" in said
    assert "a bootstrap over participants with 100 replicates" in said
    assert "3 predictors (good, turned and noise) were compared with the scores of people by SRCC" in said
    assert "over up to 12 pictures" in said
    assert "The predictor good is marked \N{LEFT DOUBLE QUOTATION MARK}reconstruction" in said


def test_methods_admit_what_is_not_recorded() -> None:
    human = Scores(pl.DataFrame({"item": ["a"], "score": [1.0]}))
    said = methods_paragraph(index_of(Material(human=human)))
    assert "How many people answered is not recorded." in said
    assert "Participants were not screened." in said
    assert "How the scores of people were computed is not recorded." in said


def test_provenance_keeps_people_s_ids_to_itself() -> None:
    made = {
        "verb": "score",
        "settings": {"reliability": {"worker-7": 0.5}},
        "notes": {"": {"participant_bias": {"worker-7": 0.1}, "participants": 24}},
        "inputs": [{"path": "votes.csv", "sha256": "ab" * 32}],
    }
    section = provenance_section(index_of(Material(provenance=[{"table": "human", **made}])))
    cells = {row.cells[0].text: row.cells[1].text for table in _tables(section)[1:] for row in table.rows}
    assert cells["inputs 1.sha256"] == "ab" * 32
    assert cells["notes..participants"] == "24"
    assert cells["settings.reliability"] == "1 entries, kept in the table"
    assert not [text for text in cells.values() if "worker-7" in text]


@pytest.fixture
def pictures(tmp_path: Path) -> Callable[..., Benchmark]:
    def build(**saved: Image.Image | bytes | None) -> Benchmark:
        for name, picture in saved.items():
            if isinstance(picture, bytes):
                (tmp_path / f"{name}.png").write_bytes(picture)
            elif picture is not None:
                picture.save(tmp_path / f"{name}.png")
        images = [f"{name}.png" if picture is not None else None for name, picture in saved.items()]
        table = pl.DataFrame({"item": list(saved), "image": images}, schema_overrides={"image": pl.String})
        return Benchmark(table, NONE, folder=tmp_path)

    return build


def test_thumbnails_are_small_upright_jpegs_on_white(pictures: Callable[..., Benchmark]) -> None:
    clear = Image.new("RGBA", (400, 200), (255, 0, 0, 0))
    found = thumbnails(pictures(clear=clear, grey=Image.new("L", (10, 30), 128)), ["clear", "grey"])
    made = Image.open(io.BytesIO(base64.b64decode(found.sources["clear"].removeprefix("data:image/jpeg;base64,"))))
    assert (made.format, made.size) == ("JPEG", (SIDE, SIDE // 2))
    assert made.getpixel((3, 3)) == (255, 255, 255)
    assert set(found.sources) == {"clear", "grey"}


def test_pictures_that_are_missing_or_broken_are_named(pictures: Callable[..., Benchmark]) -> None:
    benchmark = pictures(none=None, broken=b"no picture", good=Image.new("RGB", (4, 4)))
    (benchmark.folder / "gone.png").unlink(missing_ok=True)
    found = thumbnails(benchmark, ["none", "broken", "good", "stranger"])
    assert (list(found.sources), found.unreadable, found.left_out) == (["good"], ("broken",), 0)


def test_thumbnails_stop_at_their_limit(tmp_path: Path) -> None:
    Image.new("RGB", (8, 8)).save(tmp_path / "one.png")
    items = [f"i{number}" for number in range(MOST_PICTURES + 5)]
    benchmark = Benchmark(pl.DataFrame({"item": items, "image": "one.png"}), NONE, folder=tmp_path)
    found = thumbnails(benchmark, items)
    assert (len(found.sources), found.left_out) == (MOST_PICTURES, 5)


def test_file_names_are_plain_and_never_collide() -> None:
    index: Index = index_of(Material())
    assert [index.name("a", "Ünï/..%"), index.name("a", "uni"), index.name("中"), index.name(None)] == [
        "a-uni",
        "a-uni-2",
        "x",
        "figure",
    ]
    assert slug("x" * 80) == "x" * 40

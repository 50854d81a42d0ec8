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
from paragone.estimate import Question, estimate
from paragone.judgements import Ratings, Votes
from paragone.report import Material, answers_of
from paragone.report.agreed import agreement_section
from paragone.report.answer import answer_section
from paragone.report.blocks import Folded, Missing, Plates, Prose, Section, Strip, Table, Terms
from paragone.report.compared import graph_section
from paragone.report.counted import headline, reconciled, screened
from paragone.report.index import Index, index_of, slug
from paragone.report.methods import methods_paragraph, provenance_section
from paragone.report.people import participants_section
from paragone.report.pictures import MOST_PICTURES, SIDE, thumbnails
from paragone.report.scattered import MOST_POINTS, scatter_plates
from paragone.report.scored import scores_section
from paragone.report.words import note_words, stopped
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


def _drawn(n: int, **parts: object) -> list[pl.DataFrame]:
    """Frames of the figures in the answer about n items."""
    frame = pl.DataFrame({"item": [f"i{k:02d}" for k in range(n)], "score": np.arange(n, dtype=float)})
    section = answer_section(index_of(Material(human=Scores(frame), **parts)))  # type: ignore[arg-type]
    return [plate.frame for block in section.blocks if isinstance(block, Plates) for plate in block.plates]


def _levels(factor: str) -> Scores:
    return Scores(pl.DataFrame({"of": [factor] * 2, "level": ["x", "y"], "score": [1.0, 2.0]}))


def test_forty_rows_are_drawn_as_they_are_and_more_by_level_or_by_their_ends() -> None:
    assert [frame.height for frame in _drawn(40)] == [40]
    assert [frame.height for frame in _drawn(40, level_scores=[_levels("content")])] == [40]
    ends = _drawn(41)[0]["label"].to_list()
    assert (ends[0], ends[9], ends[10], ends[19]) == ("i40", "i31", "i09", "i00")
    assert _drawn(41, level_scores=[_levels("content")])[0]["label"].to_list() == ["y", "x"]


def test_methods_lead_the_answer_even_where_items_are_few() -> None:
    levels = [_levels("content"), _levels("model"), _levels("method")]
    assert _drawn(6, level_scores=levels)[0]["label"].to_list() == ["y", "x"]
    human = Scores(pl.DataFrame({"item": ["a", "b", "c"], "score": [1.0, 2.0, 3.0]}))
    index = index_of(Material(human=human, level_scores=levels))
    said = _prose(answer_section(index))
    assert "Best method on score: y" in said
    plates = [block for block in scores_section(index).blocks if isinstance(block, Plates)]
    titles = [plate.title for block in plates for plate in block.plates]
    assert titles == ["Score by item", "Score by content", "Score by model"]


def test_a_criterion_and_a_factor_of_one_name_are_told_apart(study: Callable[..., Material]) -> None:
    material = study()
    assert material.human is not None
    assert material.benchmark is not None
    named = material.human.frame.with_columns(criterion=pl.lit("content"))
    human = Scores(named.unique("item", keep="first", maintain_order=True))
    content = Scores(_levels("content").frame.with_columns(criterion=pl.lit("content")))

    def title(benchmark: Benchmark) -> str:
        index = index_of(Material(human=human, level_scores=[content], benchmark=benchmark))
        plates = [block for block in scores_section(index).blocks if isinstance(block, Plates)]
        return [plate.title for block in plates for plate in block.plates][-1]

    assert title(material.benchmark) == "Content score by content level"
    shown = pl.DataFrame({"factor": ["content"], "level": ["cat"], "image": ["0.png"]})
    assert title(dataclasses.replace(material.benchmark, references=shown)) == "Content score by content picture"


def test_best_and_worst_are_at_most_a_third_each(study: Callable[..., Material]) -> None:
    strips = [block for block in scores_section(index_of(study())).blocks if isinstance(block, Strip)]
    assert [len(strip.tiles) for strip in strips] == [4, 4, 4, 4]  # of 12 pictures, on two criteria
    shown = [{tile.item for tile in strip.tiles} for strip in strips]
    assert not shown[0] & shown[1]


def test_submitted_answers_are_reconciled_with_those_that_scores_use(
    study: Callable[..., Material], votes: Votes
) -> None:
    """18 people gave 24 votes on each of two criteria, 2 of them checks; the first one is rejected."""
    kept = Votes(votes.frame.filter(pl.col("participant") != "prolific-000"))
    human = estimate(kept, "bradley-terry-ridge", question=Question(intervals="none"))
    index = index_of(study(human=human, simulated=False))
    assert headline(index) == "17 people gave 748 votes on pairs of 12 pictures on 2 criteria: overall and style."
    assert reconciled(index) == (
        "18 participants submitted 864 votes in all, 72 of them to checks or in training, which scores never use. "
        "44 votes came from the participant whom screening rejected. The scores use the other 748 votes."
    )
    assert 864 - 72 - 44 == 748
    assert "17 simulated participants gave 748 votes" in _prose(answer_section(index_of(study(human=human))))


def test_scores_that_use_rejected_people_say_so(study: Callable[..., Material]) -> None:
    index = index_of(study())
    assert headline(index).startswith("18 simulated participants gave 792 votes")
    assert "Screening rejected 1 participant, but these scores use their votes too." in reconciled(index)


def test_what_scores_use_is_said_to_be_unknown_where_it_is(study: Callable[..., Material], votes: Votes) -> None:
    material = study()
    assert material.human is not None
    bare = dataclasses.replace(material.human, made={})
    told = reconciled(index_of(study(human=bare)))
    assert told.endswith("Screening rejected 1 participant. Whether the scores use their votes is not recorded.")
    unchecked = answers_of(votes.main)
    assert reconciled(index_of(study(human=bare, screening=None, answers=unchecked))) == ""
    fewer = answers_of(Votes(votes.frame.head(100)))
    assert "so they were made from others" in reconciled(index_of(study(answers=fewer)))


def test_intervals_of_resampled_people_may_be_lopsided(study: Callable[..., Material]) -> None:
    assert "its interval may be lopsided" in _prose(answer_section(index_of(study())))
    frame = pl.DataFrame({"item": ["a", "b"], "score": [1.0, 2.0], "low": [0.5, 1.5], "high": [1.5, 2.5]})
    assert "lopsided" not in _prose(answer_section(index_of(Material(human=Scores(frame)))))


def test_notes_are_sentences_in_grammar() -> None:
    assert note_words("1 resamples gave no number") == "1 resample gave no number"
    assert note_words("21 resamples gave no number") == "21 resamples gave no number"


def test_a_question_ends_with_one_full_stop_after_the_quotation() -> None:
    assert [stopped(text)[-3:] for text in ("Which is better?", "Choose one.", "Choose one")] == [
        "?\N{RIGHT DOUBLE QUOTATION MARK}.",
        "e\N{RIGHT DOUBLE QUOTATION MARK}.",
        "e\N{RIGHT DOUBLE QUOTATION MARK}.",
    ]


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


def test_methods_say_what_was_done_and_that_nobody_took_part(study: Callable[..., Material]) -> None:
    said = methods_paragraph(index_of(study()))
    assert said.startswith("All answers are simulated: no person took part.")
    assert (
        "18 simulated participants gave 792 pairwise comparisons of 12 pictures on overall and style, "
        "and 72 answers to checks or in training. The question was "
        "\N{LEFT DOUBLE QUOTATION MARK}Which picture has the better <i>style</i>?\N{RIGHT DOUBLE QUOTATION MARK}. Of 18"
    ) in said
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

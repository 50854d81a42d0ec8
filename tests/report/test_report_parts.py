"""What the parts of the page say: counts, reasons, curves, pictures, methods."""

from __future__ import annotations

import base64
import dataclasses
import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image

from paragone.benchmark import Benchmark
from paragone.errors import BadTable
from paragone.judgements import Ratings
from paragone.report import Material, answers_of
from paragone.report.answer import answer_section
from paragone.report.blocks import Block, Folded, Missing, Plates, Prose, Section, Strip, Table
from paragone.report.compared import graph_section
from paragone.report.index import Index, index_of, slug
from paragone.report.methods import methods_paragraph, provenance_section
from paragone.report.page import sections_of
from paragone.report.people import participants_section
from paragone.report.pictures import MOST_PICTURES, SIDE, thumbnails
from paragone.report.scored import scores_section
from paragone.report.words import note_words, stopped
from paragone.scores import Agreement, Scores

NONE = pl.DataFrame(schema={"factor": pl.String, "level": pl.String, "image": pl.String})


def _prose(section: Section) -> str:
    return " ".join(block.text for block in section.blocks if isinstance(block, Prose))


def _tables(section: Section) -> list[Table]:
    inner = [block for outer in section.blocks if isinstance(outer, Folded) for block in outer.blocks]
    return [block for block in [*section.blocks, *inner] if isinstance(block, Table)]


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


def test_intervals_of_resampled_people_may_be_lopsided(study: Callable[..., Material]) -> None:
    assert "its interval may be lopsided" in _prose(answer_section(index_of(study())))
    frame = pl.DataFrame({"item": ["a", "b"], "score": [1.0, 2.0], "low": [0.5, 1.5], "high": [1.5, 2.5]})
    assert "lopsided" not in _prose(answer_section(index_of(Material(human=Scores(frame)))))
    rated = Scores(frame, made={"settings": {"intervals": "bootstrap"}, "notes": {"": {"answers": 9.0}}})
    said = _prose(answer_section(index_of(Material(human=rated))))
    assert "resamples of the participants: their percentiles where ten people or more judged" in said


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
    assert [head.text for head in table.heads][:5] == ["statistic", "style", "n", "overall", "n"]
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


def test_methods_say_what_was_done_and_that_nobody_took_part(study: Callable[..., Material]) -> None:
    said = methods_paragraph(index_of(study()))
    assert said.startswith("All answers are simulated: no person took part.")
    assert (
        "18 simulated participants gave 792 pairwise comparisons of 12 pictures on style and overall, "
        "and 72 answers to checks, in training or to settle in. The question was "
        "\N{LEFT DOUBLE QUOTATION MARK}Which picture has the better <i>style</i>?\N{RIGHT DOUBLE QUOTATION MARK}. Of 18"
    ) in said
    assert "17 were retained and 1 rejected by rules (checks: 1)." in said
    assert "computed by the method bradley-terry-ridge" in said
    assert "a bootstrap over participants with 100 replicates" in said
    assert "3 predictors (good, turned and noise) were compared with the scores of people by SRCC" in said
    assert "over up to 12 pictures" in said
    assert "The predictor good is marked \N{LEFT DOUBLE QUOTATION MARK}reconstruction" in said


def _criteria_in(index: Index) -> Iterator[tuple[str, str]]:
    """What stands first in each text or table of the report that names both criteria, and that text."""

    def texts(block: Block) -> Iterator[str]:
        if isinstance(block, Prose):
            yield block.text
        elif isinstance(block, Plates):
            yield "; ".join(plate.title for plate in block.plates)
        elif isinstance(block, Table):
            yield "; ".join(head.text for head in block.heads)
            yield "; ".join(cell.text for row in block.rows for cell in row.cells)
        elif isinstance(block, Folded):
            yield "; ".join(text for inner in block.blocks for text in texts(inner))

    for section in sections_of(index)[:-1]:  # the last one shows records as they were written
        shown = [text for block in section.blocks for text in texts(block)]
        captions = "; ".join(block.caption for block in section.blocks if isinstance(block, Table))
        strips = "; ".join(block.title for block in section.blocks if isinstance(block, Strip))
        for text in [*shown, captions, strips]:
            found = re.findall(r"(?<!better <i>)\b(style|overall)\b", text)
            if len(set(found)) == 2:
                yield found[0], text


@pytest.mark.parametrize("order", [("style", "overall"), ("overall", "style")])
def test_criteria_keep_their_order_throughout_the_report(
    study: Callable[..., Material], order: tuple[str, str]
) -> None:
    """That of the study where it is known, else that of the benchmark, here style before overall."""
    given = study(criteria=order if order[0] == "overall" else ())
    firsts = list(_criteria_in(index_of(given)))
    assert len(firsts) > 9
    assert [text for first, text in firsts if first != order[0]] == []


def test_criteria_that_nobody_named_come_last() -> None:
    index = index_of(Material(criteria=["style", "overall"]))
    assert index.criteria([None, "depth", "overall", "style"]) == ["style", "overall", None, "depth"]
    frame = pl.DataFrame({"criterion": ["depth", "style", None, "style"], "n": [1, 2, 3, 4]})
    assert index.in_order(frame)["n"].to_list() == [2, 4, 1, 3]


def test_methods_name_all_predictors_so_that_they_can_be_quoted(study: Callable[..., Material]) -> None:
    def said(n: int) -> str:
        rows = [(f"m{k:02d}", "style", "srcc", 0.5, 9) for k in range(n)]
        frame = pl.DataFrame(rows, schema=["predictor", "criterion", "statistic", "value", "n"], orient="row")
        return methods_paragraph(index_of(study(agreement=Agreement(frame), machine=())))

    assert "13 predictors (m00, m01," in said(13)
    assert "more" not in said(30)
    assert all(f"m{k:02d}" in said(30) for k in range(30))
    assert "m29 and 1 more, listed with the agreement)" in said(31)


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


def test_a_note_says_of_which_criterion_it_speaks(study: Callable[..., Material]) -> None:
    frame = pl.DataFrame(
        {
            "statistic": ["repeat_kappa"] * 2,
            "criterion": ["style", "overall"],
            "stage": pl.Series([None, None], dtype=pl.String),
            **dict.fromkeys(("value", "low", "high", "n"), pl.Series([0.5, 0.5])),
            "note": [None, "1 resamples gave no number"],
        }
    )
    told = _tables(participants_section(index_of(study(consistency=frame))))
    table = next(table for table in told if table.caption.startswith("Consistency"))
    assert table.rows[0].cells[-1].text == "overall: 1 resample gave no number"

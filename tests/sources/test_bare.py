"""Votes and ratings of anybody's making: whose words are recognised, what is converted, dropped and told."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from installed import needed
from paragone.errors import BadTable, UnknownName
from paragone.judgements import Votes
from paragone.sources import Reading, read_ratings, read_votes
from paragone.sources.words import holds_votes

Read = Callable[..., Reading[Votes]]


@pytest.fixture
def put(tmp_path: Path) -> Callable[[str], Path]:
    """Write a CSV file and give its path."""

    def build(text: str, name: str = "t.csv") -> Path:
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return build


def _choices(reading: Reading[Votes]) -> list[str]:
    return reading.noun.frame["choice"].to_list()


@pytest.mark.parametrize(
    ("header", "answers"),
    [
        ("left,right,choice", ["left", "right", "tie"]),
        ("left,right,choice", ["Left", "RIGHT", " tie "]),
        ("left,right,winner", ["a", "b", "tie"]),
        ("left,right,answer", ["A", "B", "equal"]),
        ("left,right,choice", ["1", "2", "0"]),
        ("left,right,choice", ["1.0", "2.0", "0.0"]),
        ("left,right,choice", ["x", "y", "draw"]),
        ("model_a,model_b,winner", ["model_a", "model_b", "tie (bothbad)"]),
        ("item1,item2,preferred", ["item1", "item2", "neither"]),
        ("Image A,Image B,vote", ["image a", "IMAGE B", "same"]),
    ],
)
def test_each_convention_of_answers_is_found(put: Callable[[str], Path], header: str, answers: list[str]) -> None:
    rows = "\n".join(f"x,y,{answer}" for answer in answers)
    assert _choices(read_votes(put(f"{header}\n{rows}\n"))) == ["left", "right", "tie"]


def test_the_winner_may_be_named_by_its_id_on_either_side(put: Callable[[str], Path]) -> None:
    reading = read_votes(put("left,right,choice\nx,y,x\ny,x,x\nz,x,tie\n"))
    assert _choices(reading) == ["left", "right", "tie"]
    assert "answers are read as the id of the winner" in reading.notes


def test_two_conventions_that_say_the_same_are_no_conflict(put: Callable[[str], Path]) -> None:
    assert _choices(read_votes(put("left,right,choice\na,b,a\na,b,b\n"))) == ["left", "right"]


def test_words_for_ties_are_counted(put: Callable[[str], Path]) -> None:
    reading = read_votes(put("model_a,model_b,winner\nx,y,model_a\nx,y,tie (bothbad)\nx,y,tie (bothbad)\n"))
    assert "answers 'tie (bothbad)' read as tie: 2" in reading.notes


def test_words_that_we_do_not_know_can_be_given(put: Callable[[str], Path]) -> None:
    path = put("left,right,choice\nx,y,0\nx,y,1\n")
    assert _choices(read_votes(path, choices={"1": "left", "0": "right"})) == ["right", "left"]
    with pytest.raises(BadTable, match=r"row 3: choice '1' is not the words given"):
        read_votes(path, choices={"0": "right"})


def test_right_answers_of_checks_follow_the_same_convention(put: Callable[[str], Path]) -> None:
    reading = read_votes(put("left,right,choice,expected,kind\nx,y,b,,main\nx,y,a,B,check\n"))
    assert reading.noun.frame["expected"].to_list() == [None, "right"]
    by_id = read_votes(put("left,right,choice,expected,kind\nx,y,y,,main\ny,x,y,y,check\n"))
    assert by_id.noun.frame["expected"].to_list() == [None, "left"]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from("pqrs"), st.sampled_from("pqrs"), st.sampled_from([0, 1, 2])), min_size=1))
def test_every_convention_gives_the_same_votes(tmp_path: Path, rows: list[tuple[str, str, int]]) -> None:
    rows = [(left, right, k) for left, right, k in rows if left != right] or [("p", "q", 0)]
    wanted = [("left", "right", "tie")[k] for _, _, k in rows]
    spellings = {
        "words": lambda left, right, k: ("left", "right", "tie")[k],
        "letters": lambda left, right, k: ("a", "b", "tie")[k],
        "headers": lambda left, right, k: ("img_a", "img_b", "tie")[k],
        "ids": lambda left, right, k: (left, right, "tie")[k],
    }
    for name, spell in spellings.items():
        lines = [f"{left},{right},{spell(left, right, k)}" for left, right, k in rows]
        (tmp_path / f"{name}.csv").write_text("img_a,img_b,choice\n" + "\n".join(lines) + "\n")
        assert _choices(read_votes(tmp_path / f"{name}.csv")) == wanted


@pytest.mark.parametrize("who", ["worker", "rater", "user", "subject", "observer", "annotator", "user_id", "Worker ID"])
@pytest.mark.parametrize("what", ["image", "stimulus", "file"])
@pytest.mark.parametrize("value", ["rating", "score", "mos"])
def test_common_words_are_recognised_and_told(put: Callable[[str], Path], who: str, what: str, value: str) -> None:
    reading = read_ratings(put(f"{who},{what},{value}\np,i,3\n"))
    assert reading.noun.frame.select("participant", "item", "value").row(0) == ("p", "i", 3.0)
    assert reading.mapped == {"participant": who, "item": what, "value": value}
    assert f"column '{who}' is read as participant" in reading.notes


def test_a_map_says_which_column_is_which(put: Callable[[str], Path]) -> None:
    path = put("who,scene,clip,stars\np,s,c,3\n")
    columns = {"participant": "who", "item": "scene+clip", "value": "stars", "content": "scene"}
    frame = read_ratings(path, columns).noun.frame
    assert frame.select("participant", "item", "value", "content", "clip").row(0) == ("p", "s/c", 3.0, "s", "c")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"participnt": "who"}, "no column of ours 'participnt'; did you mean 'participant'"),
        ({"participant": "whom"}, r"no column in t\.csv 'whom'; did you mean 'who'"),
    ],
)
def test_a_map_with_a_slip_is_refused(put: Callable[[str], Path], columns: Mapping[str, str], message: str) -> None:
    with pytest.raises(UnknownName, match=message):
        read_ratings(put("who,item,value\np,c,3\n"), columns)


def test_both_sides_cannot_be_one_column(put: Callable[[str], Path]) -> None:
    with pytest.raises(BadTable, match="left and right are both mapped to 'x'"):
        read_votes(put("x,choice\na,left\n"), {"left": "x", "right": "x"})


def test_a_map_wins_over_a_column_of_our_name(put: Callable[[str], Path]) -> None:
    reading = read_ratings(put("participant,rater,item,value\n1,p,i,3\n"), {"participant": "rater"})
    assert reading.noun.frame["participant"].to_list() == ["p"]
    assert "column 'participant' is left out: 'rater' was named for it" in reading.notes


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("clip,s1,s2\nx,3,4\ny,,5\n", {"item": "clip", "participant": "s*"}),
        ("clip,s1,s2\nx,3,4\ny,,5\n", {"participant": "s1|s2"}),
        ("clip,s1,s2\nx,3,4\ny,NA,5\n", {"item": "clip", "participant": "*"}),
        ("rater,x,y\ns1,3,\ns2,4,5\n", {"item": "*"}),
        ("rater;x;y\ns1;3,0;\ns2;4,0;5,0\n", {"item": "x|y"}),
    ],
)
def test_wide_tables_become_long(put: Callable[[str], Path], text: str, columns: Mapping[str, str]) -> None:
    reading = read_ratings(put(text), columns)
    frame = reading.noun.frame.select("participant", "item", "value").sort("participant", "item")
    assert frame.rows() == [("s1", "x", 3.0), ("s2", "x", 4.0), ("s2", "y", 5.0)]
    assert "empty cells, which count as not rated: 1" in reading.notes


def test_columns_may_be_criteria(put: Callable[[str], Path]) -> None:
    reading = read_ratings(put("rater,item,look,fit\np,i,3,4\n"), {"criterion": "look|fit"})
    assert reading.noun.frame.select("criterion", "value").rows() == [("look", 3.0), ("fit", 4.0)]


def test_a_wide_table_names_every_broken_cell(put: Callable[[str], Path]) -> None:
    with pytest.raises(BadTable) as caught:
        read_ratings(put("item,s1,s2\nx,3,bad\n,worse,4\n"), {"participant": "s*"})
    assert caught.value.faults == (
        "row 3: s1 'worse' is not a finite number",
        "row 2: s2 'bad' is not a finite number",
        "row 3: item is empty",
    )


def test_two_patterns_are_one_too_many(put: Callable[[str], Path]) -> None:
    with pytest.raises(BadTable, match="participant and item both name several columns"):
        read_ratings(put("a,b\n1,2\n"), {"participant": "a*", "item": "b*"})


def test_a_pattern_that_matches_nothing_is_told(put: Callable[[str], Path]) -> None:
    with pytest.raises(UnknownName, match=r"no column is left that matches participant=z\*"):
        read_ratings(put("item,s1\nx,2\n"), {"participant": "z*"})


def test_decimal_commas_are_read_where_semicolons_part_the_cells(put: Callable[[str], Path]) -> None:
    reading = read_ratings(put("item;value;seconds\na;3,5;1,250\nb;4;2\n"))
    assert reading.noun.frame["value"].to_list() == [3.5, 4.0]
    assert reading.noun.frame["seconds"].to_list() == [1.25, 2.0]
    assert "column 'value' has decimal commas" in reading.notes


def test_blanks_around_ids_are_taken_off_and_told(put: Callable[[str], Path]) -> None:
    reading = read_votes(put("left, right, choice\nx, y, left\ny, x, right\n"))
    assert reading.noun.items == ["x", "y"]
    assert any("blanks around cells of column 'right' taken off: 2" in note for note in reading.notes)


def test_blank_rows_are_left_out_and_rows_keep_their_numbers(put: Callable[[str], Path]) -> None:
    assert read_ratings(put("item,value\na,1\n\nb,2\n")).notes[0] == "blank rows left out: 1"
    with pytest.raises(BadTable, match="row 4: value 'x'"):
        read_ratings(put("item,value\na,1\n\nb,x\n"))


def test_rows_that_lack_an_answer_can_be_dropped(put: Callable[[str], Path]) -> None:
    path = put("item,value\na,1\nb,\n,2\nc,NA\n")
    with pytest.raises(BadTable, match="row 4: item is empty; row 3: value is empty; row 5: value is empty"):
        read_ratings(path)
    reading = read_ratings(path, missing="drop")
    assert reading.noun.items == ["a"]
    assert "dropped rows without item or value: 3" in reading.notes


def test_copies_with_a_trial_or_a_time_are_dropped(put: Callable[[str], Path]) -> None:
    text = "participant,item,value,{}\np,i,3,7\np,i,3,7\np,i,3,8\n"
    for stamp in ("trial", "timestamp", "submitted_at"):
        reading = read_ratings(put(text.format(stamp)))
        assert reading.noun.frame.height == 2
        assert f"dropped rows that copy another in every cell, {stamp} included: 1" in reading.notes
    assert read_ratings(put(text.format("trial")), copies="keep").noun.frame.height == 3


def test_second_answers_without_a_trial_are_kept_and_counted(put: Callable[[str], Path]) -> None:
    reading = read_ratings(put("participant,item,value\np,i,3\np,i,3\np,i,4\nq,i,3\n"))
    assert reading.noun.frame.height == 4
    assert "kept answers to items that the same participant had answered before: 2" in reading.notes
    votes = read_votes(put("participant,left,right,choice,criterion\np,x,y,left,c\np,y,x,left,c\np,y,x,left,d\n"))
    assert "kept answers to pairs that the same participant had answered before: 1" in votes.notes


def test_planned_repeats_are_no_second_answers(put: Callable[[str], Path]) -> None:
    reading = read_ratings(put("participant,item,value,kind\np,i,3,main\np,i,3,repeat\n"))
    assert not any("before" in note for note in reading.notes)


def test_items_with_one_answer_and_nameless_people_are_told(put: Callable[[str], Path]) -> None:
    notes = read_votes(put("left,right,choice\nx,y,left\nx,z,left\n")).notes
    assert "items with a single answer: 2 (y, z)" in notes
    assert "no column names the participants, so all answers count as one unknown person's" in notes


def test_answers_of_nameless_people_among_others_are_counted(put: Callable[[str], Path]) -> None:
    notes = read_ratings(put("participant,item,value\np,i,3\n,i,4\n")).notes
    assert "answers without a participant, which count as one unknown person's: 1" in notes


def test_many_levels_are_counted_without_overflow(put: Callable[[str], Path]) -> None:
    rows = [f"p{k},s{k},g{k},c{k},i{k},j{k},left" for k in range(3000)]
    text = "participant,session,stage,criterion,left,right,choice\n" + "\n".join([*rows, rows[0]]) + "\n"
    notes = read_votes(put(text)).notes
    assert "kept answers to pairs that the same participant had answered before: 1" in notes


def test_parquet_with_numbers_and_categories_is_read(tmp_path: Path) -> None:
    frame = pl.DataFrame({"left": [1, 2], "right": [2.0, 3.0], "choice": ["a", "b"], "worker": ["x", "x"]})
    frame.with_columns(pl.col("choice").cast(pl.Categorical)).write_parquet(tmp_path / "t.parquet")
    reading = read_votes(tmp_path / "t.parquet")
    assert reading.noun.frame.select("left", "right", "choice").rows() == [("1", "2", "left"), ("2", "3", "right")]


def test_a_workbook_is_read_like_any_table(tmp_path: Path) -> None:
    openpyxl = needed("openpyxl")
    book = openpyxl.Workbook()
    for row in (["Rater", "Image", "Score"], ["001", 7, 3.5], [2, "b", 4]):
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    frame = read_ratings(tmp_path / "t.xlsx").noun.frame
    assert frame.select("participant", "item", "value").rows() == [("001", "7", 3.5), ("2", "b", 4.0)]


@pytest.mark.parametrize(
    ("header", "columns"),
    [
        ("winner,loser", None),
        ("Winner ID,Loser ID", None),
        ("chosen,rejected", None),
        ("w,l", {"winner": "w", "loser": "l"}),
    ],
)
def test_winner_and_loser_are_left_and_right_with_left_chosen(
    tmp_path: Path, header: str, columns: dict[str, str] | None
) -> None:
    path = tmp_path / "v.csv"
    path.write_text(f"{header},voter\na,b,p\nc,a,q\n")
    read = read_votes(path, columns)
    assert read.noun.frame.select("participant", "left", "right", "choice").rows() == [
        ("p", "a", "b", "left"),
        ("q", "c", "a", "left"),
    ]
    assert any(
        "sides are unknown, so the share of left answers and the rule straight mean nothing" in n for n in read.notes
    )
    assert holds_votes([*header.split(","), "voter"], columns)


def test_a_winner_beside_two_sides_is_still_the_choice(tmp_path: Path) -> None:
    path = tmp_path / "v.csv"
    path.write_text("model_a,model_b,winner,loser\nx,y,y,x\nx,z,x,z\n")
    assert read_votes(path).noun.frame["choice"].to_list() == ["right", "left"]


def test_winners_without_losers_are_no_votes(tmp_path: Path) -> None:
    path = tmp_path / "v.csv"
    path.write_text("winner,loser\na,\nb,c\n")
    with pytest.raises(BadTable, match="row 2: loser is empty"):
        read_votes(path)
    assert read_votes(path, missing="drop").noun.frame.height == 1


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("item,rater1,rater2\na,1,2\n", "if each of rater1 to rater2 is one participant, say --map participant=rater*"),
        ("worker,img1,img2,img3\np,1,2,3\n", "if each of img1 to img3 is one item, say --map item=img*"),
        ("image,ann,bob,carl\na,1,2,3\n", "if each of ann to carl is one participant, say --map participant=*"),
    ],
)
def test_a_wide_table_is_refused_with_the_map_that_reads_it(tmp_path: Path, text: str, hint: str) -> None:
    path = tmp_path / "r.csv"
    path.write_text(text)
    assert not holds_votes(text.splitlines()[0].split(","))
    with pytest.raises(BadTable) as caught:
        read_ratings(path)
    assert caught.value.message.endswith(hint)
    ours, _, pattern = hint.rpartition(" ")[2].partition("=")
    assert read_ratings(path, {ours: pattern}).noun.frame.height == len(text.splitlines()[0].split(",")) - 1


@pytest.mark.parametrize(("word", "ours"), [("rater", "participant"), ("image", "item"), ("mos", "value")])
def test_a_map_that_uses_another_word_for_ours_is_told_ours(tmp_path: Path, word: str, ours: str) -> None:
    path = tmp_path / "r.csv"
    path.write_text("worker,item,value\np,a,1\n")
    with pytest.raises(UnknownName, match=f"'{word}' is our {ours}; write {ours}=worker"):
        read_ratings(path, {word: "worker"})

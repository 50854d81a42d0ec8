"""Votes and Ratings: what they refuse, what they keep, and that writing loses nothing."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paragone.errors import BadTable
from paragone.judgements import KINDS, RATINGS, VOTES, Ratings, Votes

IDS = st.one_of(
    st.text(min_size=1, max_size=6).filter(lambda text: text.strip() != "" and "\0" not in text),
    st.sampled_from(["NA", "001", "1.0", "null", 'a"b', "a,b", "a;b", "a\nb", " a", "-", "日本", "left"]),
)
MAYBE = st.one_of(st.none(), IDS)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
SIDES = st.sampled_from(["left", "right", "tie"])
HERE = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
ASKED = {
    "participant": MAYBE,
    "session": MAYBE,
    "stage": MAYBE,
    "trial": MAYBE,
    "kind": st.one_of(st.none(), st.sampled_from(KINDS)),
    "criterion": MAYBE,
    "repeat_of": MAYBE,
    "seconds": st.one_of(st.none(), NUMBERS),
}
VOTE = st.fixed_dictionaries(
    {**ASKED, "left": IDS, "right": IDS, "choice": SIDES, "expected": st.one_of(st.none(), SIDES), "content": MAYBE}
)
RATING = st.fixed_dictionaries(
    {**ASKED, "item": IDS, "value": NUMBERS, "expected": st.one_of(st.none(), NUMBERS), "content": MAYBE}
)


def _schema(numbers: set[str], names: list[str]) -> dict[str, type[pl.DataType]]:
    return {name: pl.Float64 if name in numbers else pl.String for name in names}


@HERE
@given(st.lists(VOTE, min_size=1, max_size=8), st.sampled_from(["v.csv", "v.tsv", "v.parquet"]))
def test_votes_that_are_written_are_read_back_equal(tmp_path: Path, rows: list[dict[str, object]], name: str) -> None:
    frame = pl.DataFrame(rows, schema=_schema({"seconds"}, [*VOTES.names, "content"]))
    votes = Votes(frame)
    read = Votes.read(votes.write(tmp_path / name))
    kept = [column for column in votes.frame.columns if column in read.frame.columns]
    assert read.frame.select(kept).equals(votes.frame.select(kept), null_equal=True)
    assert set(votes.frame.columns) - set(kept) <= {"content"}


@HERE
@given(st.lists(RATING, min_size=1, max_size=8), st.sampled_from(["r.csv", "r.tsv", "r.parquet"]))
def test_ratings_that_are_written_are_read_back_equal(tmp_path: Path, rows: list[dict[str, object]], name: str) -> None:
    frame = pl.DataFrame(rows, schema=_schema({"seconds", "value", "expected"}, [*RATINGS.names, "content"]))
    ratings = Ratings(frame)
    read = Ratings.read(ratings.write(tmp_path / name))
    kept = [column for column in ratings.frame.columns if column in read.frame.columns]
    assert read.frame.select(kept).equals(ratings.frame.select(kept), null_equal=True)
    assert set(ratings.frame.columns) - set(kept) <= {"content"}


def test_a_bare_table_gets_every_column_of_the_contract() -> None:
    votes = Votes(pl.DataFrame({"left": ["a"], "right": ["b"], "choice": ["tie"]}))
    assert tuple(votes.frame.columns) == VOTES.names
    assert votes.frame["seconds"].dtype == pl.Float64
    assert votes.items == ["a", "b"]


def test_scores_come_from_main_and_repeat_answers_only() -> None:
    kinds = [None, *KINDS]
    ratings = Ratings(pl.DataFrame({"item": [str(k) for k in kinds], "value": [1.0] * len(kinds), "kind": kinds}))
    assert ratings.main.items == ["None", "main", "repeat"]


def test_a_table_without_rows_is_refused(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("item,value\n")
    with pytest.raises(BadTable, match=r"^r\.csv: a header and no rows"):
        Ratings.read(tmp_path / "r.csv")


def test_every_fault_of_a_file_is_in_the_error(tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text("left,right,choice,kind,seconds\na,b,Left,main,1\n,b,left,trap,x\n")
    with pytest.raises(BadTable) as caught:
        Votes.read(tmp_path / "v.csv")
    assert caught.value.faults == (
        "row 3: kind 'trap' is not one of main, check, repeat, training, stabilising",
        "row 3: left is empty",
        "row 2: choice 'Left' is not one of left, right, tie",
        "row 3: seconds 'x' is not a finite number",
    )


def test_a_missing_column_is_named_with_those_that_are_there() -> None:
    with pytest.raises(BadTable, match=r"^ratings: column 'value' is missing \(there is item, score\)$"):
        Ratings(pl.DataFrame({"item": ["a"], "score": [1.0]}))

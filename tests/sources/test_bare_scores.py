"""Scores of anybody's making: one column, one column a metric, or one row a metric and item."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from paragone.errors import UnknownName
from paragone.scores import Scores
from paragone.sources import read_scores


@pytest.fixture
def put(tmp_path: Path) -> Callable[[str], Path]:
    """Write a CSV file and give its path."""

    def build(text: str) -> Path:
        (tmp_path / "t.csv").write_text(text, encoding="utf-8")
        return tmp_path / "t.csv"

    return build


def test_one_column_of_scores_takes_the_name_of_the_file(put: Callable[[str], Path]) -> None:
    (scores,) = read_scores(put("image,mos\nb,2\na,1\n"), better="higher").noun
    assert (scores.name, scores.better) == ("t", "higher")
    assert scores.frame.select("item", "score").rows() == [("a", 1.0), ("b", 2.0)]


def test_a_column_a_metric_gives_scores_of_unknown_direction(put: Callable[[str], Path]) -> None:
    reading = read_scores(put("file;kind;NIQE;MUSIQ\na;x;3,5;60\nb;y;;70\n"))
    assert [scores.name for scores in reading.noun] == ["NIQE", "MUSIQ"]
    assert {scores.better for scores in reading.noun} == {"unknown"}
    assert reading.noun[0].frame.select("score", "status").rows() == [(3.5, "ok"), (None, "missing")]
    assert "columns without numbers are left out: kind" in reading.notes


def test_a_row_a_metric_and_item_gives_scores_by_metric(put: Callable[[str], Path]) -> None:
    reading = read_scores(put("algorithm,item,score\nelo,a,1\nelo,b,2\nwins,a,3\n"))
    assert [(scores.name, scores.frame.height) for scores in reading.noun] == [("elo", 2), ("wins", 1)]


def test_criteria_and_intervals_are_kept(put: Callable[[str], Path]) -> None:
    reading = read_scores(put("item,criterion,value,low,high,n\na,c,1,0,2,9\na,d,2,1,3,9\n"))
    assert reading.noun[0].criteria == ["c", "d"]
    assert reading.noun[0].frame.select("low", "high", "n").row(0) == (0.0, 2.0, 9.0)


def test_levels_of_a_factor_may_be_scored(put: Callable[[str], Path]) -> None:
    (scores,) = read_scores(put("of,level,score\nmethod,a,1\nmethod,b,2\n")).noun
    assert scores.key == "level"


def test_what_this_package_wrote_comes_back_as_it_was(tmp_path: Path) -> None:
    frame = pl.DataFrame({"item": ["a", "NA"], "score": [1.5, 2.5]})
    scores = Scores(frame, name="niqe", better="lower")
    (read,) = read_scores(scores.write(tmp_path / "s.csv")).noun
    assert (read.name, read.better) == ("niqe", "lower")
    assert read.frame.equals(scores.frame)


def test_a_settings_file_beside_a_table_does_not_make_it_ours(put: Callable[[str], Path]) -> None:
    path = put("item,niqe\na,3\n")
    path.with_suffix(".toml").write_text('title = "notes"\n')
    assert read_scores(path).noun[0].frame["score"].to_list() == [3.0]


def test_a_map_picks_one_column(put: Callable[[str], Path]) -> None:
    (scores,) = read_scores(put("scene,cond,jod,lo\ns,c,9,8\n"), {"item": "scene+cond", "score": "jod"}).noun
    assert scores.frame.select("item", "score").row(0) == ("s/c", 9.0)
    with pytest.raises(UnknownName, match=r"no column in t\.csv 'jot'; did you mean 'jod'"):
        read_scores(put("scene,cond,jod,lo\ns,c,9,8\n"), {"item": "scene", "score": "jot"})

"""Results never go onto what they were made from, nor onto a table of another kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from command_line import call
from paragone.errors import UnknownName, WouldOverwrite
from paragone.loop.outputs import SCORINGS, may_write

VOTES = "participant,left,right,choice\n" + "".join(
    f"p{i},{a},{b},{side}\n"
    for i in range(8)
    for a, b, side in (("x", "y", "left"), ("y", "x", "left"), ("x", "z", "right"))
)


@pytest.fixture
def votes(tmp_path: Path) -> Path:
    path = tmp_path / "votes.csv"
    path.write_text(VOTES)
    return path


@pytest.mark.parametrize("verb", [["score"], ["screen"], ["consistency"], ["screen", "--keep", "VOTES"]])
def test_answers_are_never_replaced_by_what_was_made_of_them(votes: Path, verb: list[str]) -> None:
    words = [str(votes) if word == "VOTES" else word for word in verb]
    target = [] if "--keep" in verb else ["-o", str(votes)]
    said = call(words[0], str(votes), *words[1:], *target)
    assert said.code == 1
    assert "is what the result is made from; name another file with -o" in said.refusal
    assert votes.read_text() == VOTES


def test_scores_replace_scores_and_nothing_else(votes: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    assert call("score", str(votes), "-o", str(target)).code == 0
    assert call("score", str(votes), "-o", str(target), "--method", "counting").code == 0
    other = tmp_path / "thesis.csv"
    other.write_text("chapter,words\n1,20000\n")
    said = call("score", str(votes), "-o", str(other))
    assert (said.code, other.read_text()) == (1, "chapter,words\n1,20000\n")
    assert "holds something else than this command writes" in said.refusal


def test_a_bad_second_output_leaves_the_first_unwritten(votes: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept.csv"
    assert call("screen", str(votes), "--keep", str(kept), "-o", str(tmp_path / "bad.txt")).code == 1
    assert call("screen", str(votes), "--keep", str(kept), "-o", str(kept)).code == 1
    assert not kept.exists()


def test_endings_and_folders_are_refused_before_any_work(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match=r"no table format for '.*x.txt', ending '.txt'"):
        may_write(tmp_path / "x.txt", SCORINGS)
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(WouldOverwrite, match=r"folder.csv' is a folder; name a file in it"):
        may_write(tmp_path / "folder.csv", SCORINGS)
    may_write(None, SCORINGS)
    may_write(tmp_path / "new.csv", SCORINGS, inputs=[tmp_path / "old.csv", None])


def test_a_screening_that_keeps_nobody_of_these_answers_says_so(votes: Path, tmp_path: Path) -> None:
    screening = tmp_path / "screening.csv"
    screening.write_text("participant,kept\nsomebody,true\n")
    said = call("score", str(votes), "--screening", str(screening))
    assert "the screening keeps nobody who gave these answers" in said.refusal
    screening.write_text("participant,kept\np0,yes\n")
    said = call("score", str(votes), "--screening", str(screening))
    assert "screening.csv: kept 'yes' is not true or false" in said.refusal

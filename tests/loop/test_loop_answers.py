"""From files of answers to scores."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from paragone.errors import BadConfig, NotFound, UnknownName
from paragone.judgements import Ratings, Votes
from paragone.loop.answers import (
    answer_files,
    checks_of,
    is_simulated,
    levels_of,
    read_answers,
    score,
    screen_answers,
    screening_rules,
)
from paragone.loop.screened import kept_by, not_screened


@pytest.fixture
def ratings() -> Ratings:
    rows = [("p", "x", 1.0, "u"), ("p", "y", 3.0, "v"), ("q", "x", 2.0, "u"), ("q", "y", 5.0, "v")]
    return Ratings(pl.DataFrame(rows, schema=["participant", "item", "value", "origin"], orient="row"))


def test_files_are_those_that_were_named_or_lie_there(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"no votes\.csv or ratings\.csv"):
        answer_files(folder=tmp_path)
    for name in ("votes.csv", "ratings.parquet", "other.csv"):
        (tmp_path / name).touch()
    assert answer_files(folder=tmp_path) == [tmp_path / "votes.csv", tmp_path / "ratings.parquet"]
    assert answer_files(Path("named.csv"), None, folder=tmp_path) == [Path("named.csv")]


def test_what_a_file_holds_is_told_by_its_columns_or_the_map(tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text("a,b,winner\nx,y,a\n")
    (tmp_path / "r.csv").write_text("a,b,c\nx,1,p\n")
    assert isinstance(read_answers([tmp_path / "v.csv"]), Votes)
    assert isinstance(read_answers([tmp_path / "r.csv"], {"item": "a", "value": "b"}), Ratings)


def test_levels_may_be_a_column_of_the_ratings(ratings: Ratings) -> None:
    assert levels_of(ratings, "origin").sort("item").rows() == [("x", "u"), ("y", "v")]
    with pytest.raises(UnknownName, match="no factor 'orign'; did you mean 'origin'"):
        levels_of(ratings, "orign")


def test_an_item_of_two_levels_is_refused(ratings: Ratings) -> None:
    mixed = Ratings(ratings.frame.with_columns(origin=pl.Series(["u", "v", "v", "v"])))
    with pytest.raises(BadConfig, match="item 'x' has two levels of origin"):
        levels_of(mixed, "origin")


def test_who_is_kept_must_be_kept_in_every_row(tmp_path: Path, ratings: Ratings) -> None:
    path = tmp_path / "screening.csv"
    path.write_text("participant,kept\np,true\np,false\nq,True\n007,TRUE\n")
    assert kept_by(path) == {"q", "007"}
    assert not_screened(ratings, path) == []
    path.write_text("participant,kept\nq,true\n")
    assert not_screened(ratings, path) == ["p"]


def test_scores_say_who_was_left_out_and_from_what(tmp_path: Path, ratings: Ratings) -> None:
    path = tmp_path / "r.csv"
    ratings.write(path)
    made = score(ratings, kept={"q"}, inputs=[path], simulated=True)
    assert made.frame["score"].to_list() == [2.0, 5.0]
    assert made.made["screened"] is True
    assert made.made["simulated"] is True
    assert made.made["inputs"][0]["path"].endswith("r.csv")
    assert len(made.made["inputs"][0]["sha256"]) == 64


def test_simulated_people_are_known_by_their_names(tmp_path: Path) -> None:
    def answered(*people: str | None) -> Votes:
        return Votes(
            pl.DataFrame([{"participant": who, "left": "x", "right": "y", "choice": "left"} for who in people])
        )

    path = tmp_path / "votes.csv"
    assert is_simulated(answered("sim-1", "sim-2"), [path])
    assert is_simulated(answered("sim-1", "ann"), [path]), "a number that rests on any simulated answer is labelled"
    assert not is_simulated(answered("ann", None), [path])
    (tmp_path / "items.csv").write_text("item,image\nx,\n")
    (tmp_path / "benchmark.toml").write_text('name = "b"\nsimulated = true\n')
    assert is_simulated(answered("ann"), [path])
    assert not is_simulated(answered("ann"), [tmp_path / "elsewhere" / "votes.csv"])


def test_rules_of_a_file_are_overlaid_and_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    path.write_text('reject = ["speed"]\n[speed]\nmedian = 3.0\n')
    rules = screening_rules(path, settings=["speed.share=0.5", "checks.needed.one=2"])
    assert (rules.reject, rules.speed.median, rules.speed.share) == (("speed",), 3.0, 0.5)
    assert rules.checks.needed == {"one": 2}


EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def test_the_checks_of_a_study_are_needed_as_its_settings_count_them() -> None:
    """Of ratings in each session, as the server judges them; how near a rating must be comes with them."""
    assert checks_of(EXAMPLES / "style-transfer" / "study.toml") == ["checks.needed.within=5", "checks.needed.across=3"]
    rules = screening_rules(None, settings=checks_of(EXAMPLES / "text-to-image" / "study.toml"))
    assert (rules.checks.needed, rules.checks.by_session) == ({"rated": 1}, True)
    assert rules.checks.within == {"rated/broken": 1.5, "rated/instructed": 0.1}
    shown = [
        {"participant": who, "item": "x", "value": value, "kind": "check", "expected": 0.0, "check": "broken",
         "stage": "rated", "session": session, "trial": f"{session}-{k}"}
        for who, second in (("careful", 0.0), ("tired", 5.0))
        for session, value in (("1", 0.0), ("2", second))
        for k in range(2)
    ]  # fmt: skip
    found = screen_answers(Ratings(pl.DataFrame(shown)), rules).frame
    assert dict(found.select("participant", "kept").iter_rows()) == {"careful": True, "tired": False}

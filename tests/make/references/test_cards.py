"""Reference cards: what they may say, what is computed, and the sentence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from paragone.errors import BadTable, NotFound, UnknownName
from paragone.images import write_image
from paragone.make.demo import demo_pictures
from paragone.make.references.cards import CARDS, DRAWN, Cards, completed, sentence, shipped_cards

WAVE = {
    "factor": "style",
    "level": "great_wave",
    "category": "nature",
    "colour": "low",
    "detail": "low",
    "region": "Asia",
    "century": 19,
    "artist": "Hokusai",
}


def _cards(*rows: dict[str, Any]) -> Cards:
    return Cards(pl.DataFrame(list(rows)))


@pytest.fixture
def painted(tmp_path: Path) -> Callable[..., Path]:
    """Makes a picture of one colour, or of noise."""

    def paint(name: str, *, noise: bool = False, colour: tuple[float, float, float] = (0.5, 0.5, 0.5)) -> Path:
        flat = np.broadcast_to(np.array(colour, dtype=np.float32), (64, 64, 3))
        made = np.random.default_rng(0).random((64, 64, 3), dtype=np.float32) if noise else flat
        return write_image(np.ascontiguousarray(made), tmp_path / f"{name}.png")

    return paint


def test_the_sentence_of_the_great_wave() -> None:
    assert sentence(WAVE) == "Hokusai: nature, low colour, low detail; Asia, 19th c."


@pytest.mark.parametrize(
    ("card", "said"),
    [
        ({"level": "cat"}, "cat"),
        ({"level": "cat", "category": "nature", "title": "Chelsea", "artist": "S. van der Walt"}, "Chelsea: nature"),
        ({"factor": "style", "level": "x", "century": -3, "region": "Africa"}, "x: Africa, 3rd c. BC"),
        ({"level": "x", "century": 12}, "x: 12th c."),
        ({"level": "x", "century": 21}, "x: 21st c."),
        ({"level": "x", "colour": "low", "computed": "colour"}, "x: low colour (computed)"),
        (
            {"level": "x", "colour": "low", "detail": "high", "computed": "detail"},
            "x: low colour, high detail (computed)",
        ),
        (
            {"level": "x", "colour": "low", "detail": "high", "computed": "colour detail"},
            "x: low colour, high detail (both computed)",
        ),
        ({"level": "x", "marks": "dots in rings", "difficulty": "high"}, "x: known by dots in rings; high difficulty"),
    ],
)
def test_what_is_not_known_is_left_out_of_the_sentence(card: dict[str, Any], said: str) -> None:
    assert sentence(card) == said


def test_a_drawn_reference_is_not_said_to_be_by_an_artist() -> None:
    card = {"factor": "style", "level": "mondrian", "artist": "drawn after mondrian", "source": DRAWN, "colour": "high"}
    assert sentence(card) == "mondrian: drawn by formula, no work of an artist; high colour"
    assert sentence({**card, "factor": "content"}) == sentence(card)
    assert sentence({**card, "source": "museum", "artist": "Piet Mondrian"}) == "Piet Mondrian: high colour"


def test_cards_survive_writing_and_reading(tmp_path: Path) -> None:
    made = _cards({**WAVE, "gallery": "Met"}, {"factor": "content", "level": "001", "category": "people"})
    made.write(tmp_path)
    again = Cards.read(tmp_path)
    assert again.frame.equals(made.frame)
    assert again.of("content", "001")["category"] == "people"
    assert again.of("style", "great_wave")["gallery"] == "Met"


def test_missing_levels_are_computed_and_say_so(painted: Callable[..., Path]) -> None:
    known = _cards({"factor": "content", "level": "grey", "detail": "high"})
    made = completed(known, {("content", "grey"): painted("grey"), ("content", "busy"): painted("busy", noise=True)})
    grey, busy = made.of("content", "grey"), made.of("content", "busy")
    assert (grey["colour"], grey["detail"], grey["computed"]) == ("low", "high", "colour")
    assert (busy["colour"], busy["detail"], busy["computed"]) == ("high", "high", "colour detail")
    assert known.of("content", "grey")["colour"] is None


def test_a_card_that_says_all_needs_no_picture(tmp_path: Path) -> None:
    assert completed(_cards(WAVE), {("style", "great_wave"): tmp_path / "nowhere.png"}).frame.equals(_cards(WAVE).frame)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([WAVE, WAVE], "style 'great_wave' has two cards"),
        ([{**WAVE, "colour": "loud"}], "colour 'loud' is not one of low, medium, high"),
        ([{**WAVE, "century": 0}], "century 0 does not exist"),
        ([{**WAVE, "century": 1831}], "is above 21"),
        ([{**WAVE, "computed": "hue"}], "computed 'hue' is not one of"),
        ([{"factor": "style"}], "column 'level' is missing"),
    ],
)
def test_cards_that_cannot_be_are_refused(rows: list[dict[str, Any]], said: str) -> None:
    with pytest.raises(BadTable, match=said):
        _cards(*rows)


def test_an_absent_table_or_card_is_said(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no table of cards"):
        Cards.read(tmp_path)
    with pytest.raises(UnknownName, match="no card of style 'great_wav'; did you mean 'great_wave'"):
        _cards(WAVE).of("style", "great_wav")


def test_every_shipped_picture_has_a_card_that_agrees_with_its_readme() -> None:
    made, readme = shipped_cards(), (demo_pictures() / "README.md").read_text(encoding="utf-8")
    for factor, folder in (("content", "contents"), ("style", "styles")):
        names = sorted(path.stem for path in (demo_pictures() / folder).glob("*.jpg"))
        assert made.frame.filter(pl.col("factor") == factor)["level"].to_list() == names
    for row in made.frame.iter_rows(named=True):
        assert f"{row['level']}.jpg" in readme
        assert row["artist"].split()[-1] in readme
        assert row["source"].split(",")[0].split()[-1] in readme
        assert row["licence"].split(",")[0].split(";")[0].split(" as ")[0] in readme


def test_every_column_says_what_it_holds() -> None:
    assert all(column.doc for column in CARDS.columns)

"""The pictures of the tutorials are all there, small, free of words, and show what their cards say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import ndimage

from paragone.design.pages import LANGUAGES
from paragone.errors import UnknownName
from paragone.images import Picture, decode_image, lab, luma
from paragone.study.pictures.cards import TUTORIALS, tutorial_cards, tutorial_picture
from paragone.study.texts import load

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "src" / "paragone" / "study" / "pictures" / "tutorial"
STYLE = ["what-content", "what-style", "what-transfer", "balance", "try-content", "try-style", "not-appeal"]
TEXT = ["one-score", "blur", "artifact", "unnatural", "mismatch", "good"]


def picture(name: str) -> Picture:
    return decode_image(tutorial_picture(f"{name}.png").bytes)


def alike(one: str, other: str) -> float:
    """Correlation of the large forms of two pictures of one size."""
    forms = [ndimage.gaussian_filter(luma(picture(name)), 3).ravel() for name in (one, other)]
    return float(np.corrcoef(*forms)[0, 1])


def colours_apart(one: str, other: str) -> float:
    """Distance between the mean colours and spreads of two pictures, in CIELAB."""
    first, second = (lab(picture(name)).reshape(-1, 3) for name in (one, other))
    return float(np.linalg.norm(first.mean(0) - second.mean(0)) + np.linalg.norm(first.std(0) - second.std(0)))


def sharpness(name: str) -> float:
    return float(np.abs(ndimage.laplace(luma(picture(name)))).mean())


def test_the_cards_are_those_of_the_study() -> None:
    assert [card.id for card in tutorial_cards("style-transfer")] == STYLE
    assert [card.id for card in tutorial_cards("text-to-image")] == TEXT
    with pytest.raises(UnknownName, match="no tutorial 'none'"):
        tutorial_cards("none")


def test_every_card_has_its_words_in_every_language() -> None:
    for language in LANGUAGES:
        texts = load(language)
        for card in (*tutorial_cards("style-transfer"), *tutorial_cards("text-to-image")):
            for part in ("head", "text", "why"):
                assert texts[f"tutorial.{card.id}.{part}"]
            assert not card.words or card.words[language]


def test_an_answer_stands_where_something_is_asked() -> None:
    for tutorial in TUTORIALS:
        for card in tutorial_cards(tutorial):
            assert (card.criterion is None) == (card.answer is None) == ("left" not in card.pictures)
    answers = [card.answer for card in tutorial_cards("style-transfer") if card.answer]
    assert sorted(answers) == ["left", "left", "right", "right"]


def test_files_and_cards_name_each_other() -> None:
    named = {file for tutorial in TUTORIALS for card in tutorial_cards(tutorial) for file in card.pictures.values()}
    shipped = {path.name for path in FOLDER.glob("*.png")}
    assert named == shipped
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert [name for name in shipped if f"| {name} |" not in readme] == []
    with pytest.raises(UnknownName, match=r"no picture of the tutorials .*README"):
        tutorial_picture("../README.md")


def test_pictures_are_small_and_hold_pixels_only() -> None:
    files = list(FOLDER.glob("*.png"))
    assert sum(path.stat().st_size for path in files) < 350_000
    for path in files:
        assert tutorial_picture(path.name).bytes == path.read_bytes()


def test_the_results_show_what_their_cards_claim() -> None:
    assert alike("content", "transfer") > 0.8
    assert alike("content", "plain-transfer") > 0.8
    assert alike("content", "style-lost") > 0.98
    assert abs(alike("content", "content-lost")) < 0.3
    assert abs(alike("content", "appealing")) < 0.4
    for kept in ("transfer", "plain-transfer", "content-lost"):
        assert colours_apart("style", kept) < colours_apart("style", "style-lost") - 10


def test_the_faults_can_be_seen() -> None:
    assert sharpness("blur") < 0.2 * sharpness("mismatch")
    assert sharpness("good") > 2 * sharpness("blur")
    changed = np.abs(picture("unnatural") - picture("content")).max(axis=2)
    assert changed[12:50, 112:158].mean() > 3 * np.median(changed)


@pytest.mark.slow
def test_the_script_makes_the_pictures_that_ship() -> None:
    run = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "tutorial_pictures.py"), "--check"], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout + run.stderr

"""What the pages around the trials say follows what the study shows."""

from __future__ import annotations

from pathlib import Path

import pytest
from scene import scene
from study_folder import HEAD, PAIRS, RATINGS, frozen_study

from paragone.study.cards import cards_of
from paragone.study.frozen import Frozen
from paragone.study.server import parts

TRAINED, UNTRAINED = "[training]\nauto = 2\n", "[training]\nauto = 0\n"
OVERALL = HEAD.replace('criteria = ["content", "style"]', 'criteria = ["overall"]')


def _consent(folder: Path, settings: str, language: str = "en", *, head: str = HEAD, named: bool = False) -> str:
    frozen = frozen_study(folder, settings, head=head)
    told = parts.consent(frozen, language, next(iter(frozen.stages)), named=named)
    return "\n".join(line for part in told["parts"] for line in part["text"])


@pytest.mark.parametrize(
    ("settings", "head", "said"),
    [
        (PAIRS + TRAINED, HEAD, "First come an explanation, a few examples and a short training."),
        (PAIRS + UNTRAINED, HEAD, "First come an explanation and a few examples."),
        (PAIRS + TRAINED, OVERALL, "First come an explanation and a short training."),
        (PAIRS + UNTRAINED, OVERALL, "First comes an explanation."),
    ],
)
def test_the_consent_promises_examples_and_training_only_where_there_are_any(
    tmp_path: Path, settings: str, head: str, said: str
) -> None:
    assert [line for line in _consent(tmp_path, settings, head=head).split("\n") if line.startswith("First")] == [said]


def _worded(folder: Path, criteria: str) -> Frozen:
    """A rating study beside whose pictures the level of the content stands as words."""
    head = HEAD.replace('criteria = ["content", "style"]', f"criteria = {criteria}") + '[pages]\nshow = ["content"]\n'
    return frozen_study(folder, RATINGS, head=head)


def _instructed(frozen: Frozen) -> list[str]:
    told = parts.instructions(frozen, "en", "rate")
    return [line for part in told["parts"] for line in part["text"]]


def test_one_score_for_everything_is_told_only_where_one_criterion_is_asked(tmp_path: Path) -> None:
    one, two = _worded(tmp_path / "one", '["quality"]'), _worded(tmp_path / "two", '["quality", "alignment"]')
    cards = [[card.name for card in cards_of(frozen, "rate")] for frozen in (one, two)]
    assert cards[0] == ["one-score", *cards[1]]
    assert len(cards[1]) == 5
    several = "There are 2 questions about each picture, each with a scale of its own. Answer each of them by itself."
    assert several in _instructed(two)
    assert not any("scale of its own" in line for line in _instructed(one))


def test_the_words_are_said_to_stand_where_the_page_has_them(tmp_path: Path) -> None:
    said = _instructed(_worded(tmp_path, '["quality"]'))
    assert any(line.startswith("Below the picture stand the words") for line in said)


@pytest.mark.parametrize(("language", "words"), [("en", ("panel",)), ("de", ("Panel",)), ("zh", ("平台",))])
def test_the_consent_speaks_of_a_panel_only_where_one_names_the_people(
    tmp_path: Path, language: str, words: tuple[str, ...]
) -> None:
    said = _consent(tmp_path / "named", PAIRS, language, named=True)
    assert all(word in said for word in words)
    said = _consent(tmp_path / "open", PAIRS, language)
    assert not any(word in said for word in words)


ENDS = ("done.code-text", "done.return", "button.return")
PANEL = '[platform]\nprofile = "prolific"\n'


def test_the_ends_speak_of_a_platform_only_where_a_panel_names_the_people(tmp_path: Path) -> None:
    with scene(tmp_path / "open", PAIRS) as there:
        state = there.person().state()
        assert "panel" not in str(state["consent"]["parts"])
        assert not any("platform" in state["texts"][key] for key in ENDS)
    with scene(tmp_path / "panel", PAIRS, platform=PANEL) as there:
        state = there.person("?PROLIFIC_PID=5a1b2c3d&SESSION_ID=6e7f8a9b&STUDY_ID=7c8d9e0f").state()
        assert "panel" in str(state["consent"]["parts"])
        assert all("platform" in state["texts"][key] for key in ENDS)

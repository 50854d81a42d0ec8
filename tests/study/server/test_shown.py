"""How a trial is told to the browser: panes, questions, scales."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from study_folder import HEAD, PAIRS, RATINGS, frozen_study

from paragone.study.server.shown import asked, shown_trial

ACROSS = PAIRS.replace('name = "within"', 'name = "across"\npairs = "across"')
DCR = RATINGS.replace("items = 4", 'items = 4\npage = "dcr"\nreference = "content"\nlow = 1\nhigh = 5\nstep = 1')


def told(folder: Path, settings: str, language: str = "en", head: str = HEAD, kind: str = "main") -> dict[str, Any]:
    """The first trial of a kind of the first owner."""
    frozen = frozen_study(folder, settings, head=head)
    stage, owner = frozen.parts.leases[0]
    trial = next(t for sheet in frozen.sheets(stage, owner) for t in sheet.trials if t.kind == kind)
    return asked(frozen, stage, shown_trial(trial), frozen.criteria, "public", language)


def panes(trial: dict[str, Any]) -> list[tuple[str, str | None, str]]:
    return [(pane["role"], pane["side"], pane["label"]) for pane in trial["panes"]]


def test_results_with_the_same_references_share_them(tmp_path: Path) -> None:
    trial = told(tmp_path, PAIRS)
    assert trial["layout"] == "four"
    assert panes(trial) == [("content", None, "Content"), ("left", None, "Result A"), ("right", None, "Result B")]


def test_results_with_other_references_stand_with_their_own(tmp_path: Path) -> None:
    trial = told(tmp_path, ACROSS)
    assert trial["layout"] == "six"
    assert panes(trial) == [
        ("content", "left", "Content A"),
        ("left", "left", "Result A"),
        ("content", "right", "Content B"),
        ("right", "right", "Result B"),
    ]


def test_a_check_looks_like_the_other_trials_of_its_stage(tmp_path: Path) -> None:
    """Both of its results have the same references: alone in a stage of triplets it would be known by its four panes."""
    check = told(tmp_path / "across", ACROSS, kind="check")
    assert check["layout"] == "six"
    assert panes(check) == panes(told(tmp_path / "again", ACROSS))
    assert told(tmp_path / "within", PAIRS, kind="check")["layout"] == "four"


def test_a_rated_picture_stands_alone_or_beside_its_reference(tmp_path: Path) -> None:
    alone, beside = told(tmp_path / "a", RATINGS), told(tmp_path / "b", DCR)
    assert (alone["layout"], panes(alone)) == ("single", [("item", None, "Picture")])
    assert (beside["layout"], panes(beside)) == (
        "double",
        [("reference", None, "Reference"), ("item", None, "Picture")],
    )


def test_panes_say_how_large_their_pictures_are_and_nothing_of_where_they_lie(tmp_path: Path) -> None:
    trial = told(tmp_path, PAIRS)
    assert [(pane["slot"], pane["w"], pane["h"], pane["src"]) for pane in trial["panes"]] == [
        (slot, 136, 136, f"/i/public/{slot}") for slot in "abc"
    ]
    assert set(trial["panes"][0]) == {"slot", "role", "side", "label", "w", "h", "src"}


def test_scales_tell_their_words_and_where_they_stand(tmp_path: Path) -> None:
    scale = told(tmp_path, RATINGS)["scale"]
    assert (scale["low"], scale["high"], scale["step"]) == (0.0, 5.0, 0.1)
    assert list(zip(scale["labels"], scale["at"], strict=True)) == [
        ("Bad", 0.5), ("Poor", 1.5), ("Fair", 2.5), ("Good", 3.5), ("Excellent", 4.5),
    ]  # fmt: skip


def test_a_question_has_its_marked_word_in_the_middle(tmp_path: Path) -> None:
    first, second = told(tmp_path, PAIRS)["criteria"]
    assert first == {"id": "content", "question": ("Which result keeps the ", "content", " better?")}
    assert second["question"][1] == "style"


def test_the_studys_own_questions_win(tmp_path: Path) -> None:
    head = HEAD + '[pages.questions]\ncontent = { en = "More *like* it?", de = "*Ähnlicher*?" }\n'
    assert told(tmp_path, PAIRS, "de", head)["criteria"][0]["question"] == ("", "Ähnlicher", "?")


@pytest.mark.parametrize(("settings", "word"), [(PAIRS, "Please choose the "), (RATINGS, "Please set the score to ")])
def test_an_instructed_check_asks_what_it_tells(tmp_path: Path, settings: str, word: str) -> None:
    instructed = settings.replace("checks_needed", 'check = "instructed"\nchecks_needed')
    questions = [one["question"] for one in told(tmp_path, instructed, kind="check")["criteria"]]
    assert {question[0] for question in questions} == {word}
    assert all(question[1] for question in questions)


def test_words_stand_beside_a_rated_picture(tmp_path: Path) -> None:
    trial = told(tmp_path, RATINGS, head=HEAD + '[pages]\nshow = ["content"]\ndistortions = ["blur", "haze"]\n')
    assert trial["text"][0][1] in ("cat", "dog")
    assert trial["distortions"] == [{"id": "blur", "label": "Blur or unclear texture"}, {"id": "haze", "label": "haze"}]
    assert (trial["zoom"], trial["back"], trial["ask"], trial["third"]) == (False, True, "all", None)

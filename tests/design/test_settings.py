"""study.toml: read strictly, refused in one line that names the key."""

from __future__ import annotations

import ast
import inspect
import itertools
from pathlib import Path

import pytest

from paragone.design import PairStage, RatingStage, Study, read_study
from paragone.design import settings as module
from paragone.errors import BadConfig

GOOD = """
format = 1
name = "style transfer"
criteria = ["content", "style", "overall"]
seed = 7

[[stage]]
kind = "pairs"
name = "within"
pairs = "within"
group = ["content", "style"]
compare = "method"
participants = 122
trials = 144
checks = 6
checks_needed = 5

[[stage]]
kind = "ratings"
participants = 22
sessions = 5
"""


def read(folder: Path, text: str) -> Study:
    (folder / "study.toml").write_text(text)
    return read_study(folder / "study.toml")


def test_a_study_is_read_with_its_defaults(tmp_path: Path) -> None:
    study = read(tmp_path, GOOD)
    pairs, ratings = study.stage
    assert isinstance(pairs, PairStage)
    assert isinstance(ratings, RatingStage)
    assert (pairs.n_main, pairs.n_repeats, pairs.n_shared, pairs.repeat_distance) == (132, 12, 12, 10)
    assert (ratings.low, ratings.high, ratings.step, ratings.stabilising) == (0.0, 5.0, 0.1, 5)
    assert study.stage_names == ["within", "2"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("seed = 7", "sed = 7", "no key 'sed'; did you mean 'seed'"),
        ("seed = 7", "seed = -1", "seed is -1"),
        ("seed = 7", 'seed = "a"', "seed: expected `int`"),
        ("trials = 144", "trials = 0", "stage 'within': trials = 0 is below 1"),
        ("trials = 144", "", r"stage\[0\]: object missing required field `trials`"),
        ("participants = 22", "participants = 0", "stage 'ratings': participants = 0 is below 1"),
        ("checks_needed = 5", "checks_needed = 7", "checks_needed = 7 is not between 0 and checks = 6"),
        ("checks = 6", "checks = -1", "checks = -1 is below 0"),
        ("checks = 6", "checks = 6\nrepeats = 100", "repeats = 100 is more than the 44 trials left to repeat"),
        ("checks = 6", "checks = 6\nrepeats = -1", "repeats = -1 is below 0"),
        ("checks = 6", "checks = 6\nrepeats = 12\nrepeat_distance = 140", "repeat_distance = 140 does not fit"),
        ("checks = 6", "checks = 6\nshared = 133", "shared = 133 is more than the 132 trials"),
        ("checks = 6", "checks = 6\nshared = 9\nshared_by = 123", "shared_by = 123 is more than the 122 participants"),
        ("checks = 6", "checks = 6\nshared_by = 1", "shared_by = 1 is below 2"),
        ("checks = 6", "checks = 6\nbreak_seconds = -1", "break_seconds = -1 is below 0"),
        ('pairs = "within"', 'pairs = "inside"', r"stage\[0\].pairs: invalid enum value 'inside'"),
        ('pairs = "within"\ngroup = ["content", "style"]', 'pairs = "across"', "group is empty"),
        ('kind = "ratings"', 'kind = "stars"', r"stage\[1\].kind: invalid value 'stars'"),
        ("sessions = 5", "sessions = 5\nhigh = 0", "high = 0 is not above low = 0"),
        ("sessions = 5", "sessions = 5\nstep = 9", r"step = 9 is not in \(0, 5\]"),
        ("sessions = 5", "sessions = 0", "sessions = 0 is below 1"),
        ("sessions = 5", "items = 3\nrepeats = 4\nrepeat_distance = 1", "repeats = 4 is more than the 3 trials"),
        ("sessions = 5", 'sessions = 5\nname = "within"', "stage 'within' stands twice"),
        ('"content", "style", "overall"', '"style", "style"', "criterion 'style' stands twice"),
        ("seed = 7", "kept = 0", "kept is 0"),
        ("seed = 7", "seconds_per_trial = 0", "seconds_per_trial is 0"),
    ],
)
def test_a_bad_setting_is_refused_in_one_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in GOOD
    with pytest.raises(BadConfig, match=message) as caught:
        read(tmp_path, GOOD.replace(old, new, 1))
    assert caught.value.message.startswith("study.toml: ")
    assert "\n" not in caught.value.message


def test_a_study_without_stages_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadConfig, match=r"stage is empty; give at least one \[\[stage\]\]"):
        read(tmp_path, "stage = []")


def test_every_key_is_documented() -> None:
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.ClassDef):
            for field, after in itertools.pairwise(node.body):
                if isinstance(field, ast.AnnAssign):
                    assert isinstance(after, ast.Expr), f"{node.name}.{ast.unparse(field.target)} has no docstring"

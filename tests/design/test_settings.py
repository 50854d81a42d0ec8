"""study.toml: read strictly, refused in one line that names the key."""

from __future__ import annotations

import ast
import inspect
import itertools
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from paragone.benchmark import Benchmark
from paragone.design import PairStage, RatingStage, Study, plan, read_study
from paragone.design import settings as module
from paragone.errors import BadConfig

Maker = Callable[..., Benchmark]

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
        ('pairs = "within"', 'pairs = "inside"', r"stage\[0\].pairs: 'inside' is not one of within, across, any"),
        ('pairs = "within"\ngroup = ["content", "style"]', 'pairs = "across"', "group is empty"),
        (
            'kind = "ratings"',
            'kind = "stars"',
            r"stage\[1\].kind: 'stars' is not one of pairs, ratings",
        ),
        ('kind = "ratings"', "", "missing required field `kind`; a stage's kind is pairs or ratings"),
        ("sessions = 5", "sessions = 5\nhigh = 0", "high = 0 is not above low = 0"),
        ("sessions = 5", "sessions = 5\nstep = 9", r"step = 9 is not in \(0, 5\]"),
        ("sessions = 5", "sessions = 0", "sessions = 0 is below 1"),
        ("sessions = 5", "items = 3\nrepeats = 4\nrepeat_distance = 1", "repeats = 4 is more than the 3 trials"),
        ("sessions = 5", 'sessions = 5\nname = "within"', "stage 'within' stands twice"),
        ("sessions = 5", 'sessions = 5\nname = "a=b"', "stage 'a=b': a name may hold no '=' and no '/'"),
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


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[pages]\nlanguages = ["en", "de", "en"]', "pages.languages: 'en' stands twice"),
        ('[pages]\nshow = ["prompt", "prompt"]', "pages.show: 'prompt' stands twice"),
        ('[pages]\ndistortions = ["blur", "blur"]', "pages.distortions: 'blur' stands twice"),
        ('[questionnaire]\nask = ["age", "age"]', "questionnaire.ask: 'age' stands twice"),
        ('[lab]\nvision = ["acuity", "acuity"]', "lab.vision: 'acuity' stands twice"),
        ('[[stage]]\nkind = "pairs"\ntrials = 9\nparticipants = 1\ngroup = ["a", "a"]', "stage 'pairs': group: 'a' st"),
        ('[[stage]]\nkind = "ratings"\nparticipants = 1\ngroup = ["a", "a"]', "stage 'ratings': group: 'a' stands"),
        (
            '[[stage]]\nkind = "pairs"\ntrials = 9\nparticipants = 1\nreferences = ["a", "a"]',
            "stage 'pairs': references: 'a' stands twice",
        ),
    ],
)
def test_a_list_of_names_names_each_thing_once(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(BadConfig, match=re.escape(message)):
        read(tmp_path, f"{GOOD}\n{text}\n")


@pytest.mark.parametrize("huge", ["1e308", "inf", "nan", "-1.0", "1e10"])
@pytest.mark.parametrize(
    ("section", "key"),
    [
        ("[people]", "gap_hours"),
        ("[people]", "abandon_minutes"),
        ("[pay]", "per_session"),
        ('[[stage]]\nkind = "ratings"\nparticipants = 1', "minutes"),
    ],
)
def test_times_and_amounts_stay_such_that_sums_of_them_are_numbers(
    tmp_path: Path, section: str, key: str, huge: str
) -> None:
    with pytest.raises(BadConfig, match=key):
        read(tmp_path, f"{GOOD}\n{section}\n{key} = {huge}\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[training]\nauto = 51", "training.auto is 51; give a whole number from 0 to 50"),
        (51 * "[[training.question]]\n", "training.question stands 51 times; give at most 50"),
        ('[pages]\ndistortions = [""]', "pages.distortions: '' has 0 characters; give 1 to 200"),
        (f'[pages]\ndistortions = ["{201 * "x"}"]', "has 201 characters; give 1 to 200"),
        (f"[pages]\ndistortions = {[str(n) for n in range(33)]}", "pages.distortions has 33 words; give at most 32"),
    ],
)
def test_what_a_page_could_not_send_back_is_not_asked(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(BadConfig, match=re.escape(message)):
        read(tmp_path, f"{GOOD}\n{text}\n")


def test_a_study_without_stages_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadConfig, match=r"stage is empty; give at least one \[\[stage\]\]"):
        read(tmp_path, "stage = []")


def test_every_key_is_documented() -> None:
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.ClassDef):
            for field, after in itertools.pairwise(node.body):
                if isinstance(field, ast.AnnAssign):
                    assert isinstance(after, ast.Expr), f"{node.name}.{ast.unparse(field.target)} has no docstring"


@pytest.mark.parametrize("huge", [10**8, 99999999999999999999])
@pytest.mark.parametrize(
    ("kind", "key"),
    [
        *[("pairs", key) for key in ("participants", "trials", "checks", "repeats", "repeat_distance", "shared")],
        *[("pairs", key) for key in ("shared_by", "break_seconds")],
        *[("ratings", key) for key in ("participants", "sessions", "items", "stabilising", "checks", "repeats")],
        *[("ratings", key) for key in ("repeat_distance", "break_seconds")],
    ],
)
def test_numbers_beyond_any_study_are_refused_by_name(kind: str, key: str, huge: int, tmp_path: Path) -> None:
    needed = {"participants": 3} | ({"trials": 20} if kind == "pairs" else {})
    lines = "\n".join(f"{name} = {value}" for name, value in {**needed, key: huge}.items())
    with pytest.raises(BadConfig, match=rf"{key}( = {huge}|: expected)"):
        read(tmp_path, f'[[stage]]\nkind = "{kind}"\n{lines}\n')


def test_every_whole_number_of_a_stage_has_an_upper_limit() -> None:
    for stage in (PairStage, RatingStage):
        needed = {"participants": 3} | ({"trials": 20} if stage is PairStage else {})
        for name, kind in stage.__annotations__.items():
            if kind in ("int", "int | None"):
                with pytest.raises(BadConfig):
                    stage(**{**needed, name: 10**9})


def test_a_study_holds_ten_million_judgements_and_not_one_more() -> None:
    PairStage(participants=10_000, trials=990, checks=10)
    with pytest.raises(BadConfig, match="10001 participants with 1000 trials each are 10,001,000 judgements"):
        PairStage(participants=10_001, trials=990, checks=10)
    with pytest.raises(BadConfig, match="10,000,200 judgements"):
        RatingStage(participants=100, sessions=2, items=49_001, stabilising=1000, checks=0)
    half = PairStage(participants=6_000, trials=1_000, name="one")
    with pytest.raises(BadConfig, match="the stages together are 12,000,000 judgements"):
        Study(stage=[half, PairStage(participants=6_000, trials=1_000, name="two")])


def test_ratings_of_all_items_are_counted_when_the_items_are_known(grid_benchmark: Maker) -> None:
    study = Study(stage=[RatingStage(participants=1_000_000)])
    with pytest.raises(BadConfig, match="1000000 participants with 29 trials each"):
        plan(grid_benchmark(), study)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"high": float("inf")}, "high = inf is not finite"),
        ({"low": float("-inf")}, "low = -inf is not finite"),
        ({"high": float("nan")}, "high = nan is not finite"),
        ({"step": 1e-300}, "makes more than 1,000,000 steps"),
    ],
)
def test_a_scale_is_finite(settings: dict[str, float], message: str) -> None:
    with pytest.raises(BadConfig, match=message):
        RatingStage(participants=3, **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "settings", [{"seed": 2**63}, {"kept": 1e-300}, {"seconds_per_trial": float("inf")}, {"seconds_per_trial": 1e9}]
)
def test_the_cost_of_a_study_can_be_reckoned(settings: dict[str, float]) -> None:
    (key,) = settings
    with pytest.raises(BadConfig, match=f"{key} is "):
        Study(stage=[RatingStage(participants=3)], **settings)  # type: ignore[arg-type]

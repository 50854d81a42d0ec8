"""A version of a study: what it is made of, how it comes back, and what keeps it from being asked."""

from __future__ import annotations

import io
import json
from pathlib import Path

import polars as pl
import pytest
from PIL import Image
from study_folder import HEAD, PAIRS, RATINGS, frozen_study, study_folder

from paragone.errors import BadTable, NotFound, UnknownName
from paragone.plan import Plan
from paragone.study.frozen import Frozen, freeze


def changed(folder: Path, old: str, new: str) -> Path:
    """The folder with something else in its study.toml; the plan stays."""
    path = folder / "study.toml"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    return folder


def lines(folder: Path, **options: bool) -> list[str]:
    """The faults of a folder."""
    with pytest.raises(BadTable, match=folder.name) as caught:
        freeze(folder, **options)
    return list(caught.value.faults)


def test_a_version_comes_back_from_its_parts_as_it_was(tmp_path: Path) -> None:
    frozen = frozen_study(tmp_path / "s", PAIRS + RATINGS)
    again = Frozen.of_parts(*frozen.parts[:3], folder=tmp_path / "s")
    assert again.parts == frozen.parts
    assert again.sheets("rate", "rate-002") == frozen.sheets("rate", "rate-002")
    assert again.practice == frozen.practice


def test_leases_are_the_owners_of_the_plan_in_the_order_of_the_stages(tmp_path: Path) -> None:
    frozen = frozen_study(tmp_path / "s", RATINGS + PAIRS)
    assert frozen.parts.leases == [("rate", f"rate-00{n}") for n in (1, 2, 3)] + [
        ("within", f"within-00{n}") for n in (1, 2, 3, 4)
    ]


def test_sheets_hold_the_trials_in_order_with_the_references_of_each_side(tmp_path: Path) -> None:
    frozen = frozen_study(tmp_path / "s", PAIRS)
    (sheet,) = frozen.sheets("within", "within-001")
    assert [trial.position for trial in sheet.trials] == list(range(1, 9))
    trial = next(trial for trial in sheet.trials if trial.kind == "main")
    content = (trial.left or "").split("/")[1]
    key = f"reference:content:{content}"
    assert trial.references == (("left", "content", key), ("right", "content", key))
    assert frozen.pictures[key].path == f"ref-{content}.png"


def test_a_plan_without_columns_of_references_gets_them_from_the_settings(tmp_path: Path) -> None:
    folder = study_folder(tmp_path / "s", PAIRS)
    with_columns = freeze(folder)
    plan = Plan.read(folder / "plan.csv").frame
    Plan(plan.drop("left.content", "right.content")).write(folder / "plan.csv")
    assert freeze(folder).sheets("within", "within-003") == with_columns.sheets("within", "within-003")


def test_only_pictures_that_are_shown_are_measured(tmp_path: Path) -> None:
    frozen = frozen_study(tmp_path / "s", PAIRS, head=HEAD + "[training]\nauto = 0\n")
    shown = set(frozen.plan["left"]) | set(frozen.plan["right"])
    assert {key for key in frozen.pictures if not key.startswith("reference:")} == shown
    assert {(p.width, p.height) for p in frozen.pictures.values()} == {(136, 136)}


def test_a_picture_that_is_turned_by_its_camera_is_measured_upright(tmp_path: Path) -> None:
    folder = study_folder(tmp_path / "s", PAIRS)
    picture = Image.new("RGB", (140, 180), "red")
    exif = picture.getexif()
    exif[0x0112] = 6
    picture.save(folder / "aa-cat.png", exif=exif)
    found = freeze(folder).pictures["aa/cat"]
    assert (found.width, found.height) == (180, 140)


def test_nobody_is_asked_before_consent_names_who_asks(tmp_path: Path) -> None:
    folder = study_folder(tmp_path / "s", PAIRS, head='name = "n"\n')
    assert [line.split(";")[0] for line in lines(folder)] == [
        "study.toml: consent.who is empty",
        "study.toml: consent.contact is empty",
    ]
    assert freeze(folder, rehearsal=True).name == "small"


def test_every_missing_picture_is_named(tmp_path: Path) -> None:
    folder = study_folder(tmp_path / "s", PAIRS)
    (folder / "aa-cat.png").unlink()
    (folder / "bb-dog.png").write_text("no picture")
    found = lines(folder)
    assert len(found) == 2
    assert "aa-cat.png" in found[0]
    assert "bb-dog.png" in found[1]


def test_a_picture_whose_pixels_are_cut_off_is_found_before_people_meet_it(tmp_path: Path) -> None:
    folder = study_folder(tmp_path / "s", PAIRS)
    whole = io.BytesIO()
    Image.open(folder / "bb-dog.png").save(whole, format="JPEG")
    (folder / "bb-dog.png").write_bytes(whole.getvalue()[:-2000])
    Image.new("F", (136, 136)).save(folder / "aa-cat.png", format="TIFF")
    found = lines(folder)
    assert len(found) == 2
    assert "aa-cat.png: a picture in mode F" in found[0]
    assert "bb-dog.png: damaged or cut off" in found[1]


def test_without_a_plan_the_next_command_is_named(tmp_path: Path) -> None:
    folder = study_folder(tmp_path / "s", PAIRS)
    (folder / "plan.csv").unlink()
    with pytest.raises(NotFound, match="run: paragone plan"):
        freeze(folder)


@pytest.mark.parametrize(
    ("criteria", "said"),
    [
        ([""], "criterion '' has 0 characters"),
        (["x" * 201], "has 201 characters; give it a name of 1 to 200"),
        ([f"c{number}" for number in range(21)], "a trial asks 21 criteria; a page sends at most 20"),
    ],
)
def test_criteria_that_no_page_could_answer_are_refused(tmp_path: Path, criteria: list[str], said: str) -> None:
    folder = changed(study_folder(tmp_path / "s", PAIRS), '["content", "style"]', json.dumps(criteria))
    assert any(said in line for line in lines(folder))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("trials = 6", "trials = 7", "sheet 'within-001' has 6 trials, and study.toml says trials = 7"),
        ("checks = 2", "checks = 3", "has 2 checks, and study.toml says checks = 3"),
        ('name = "within"', 'name = "other"', "stage 'within' is not in study.toml"),
        ("[[stage]]", RATINGS + "[[stage]]", "has nothing of stage 'rate'"),
    ],
)
def test_a_plan_that_is_older_than_the_settings_is_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    found = lines(changed(study_folder(tmp_path / "s", PAIRS), old, new))
    assert any(said in line for line in found)
    assert all("run paragone plan again" in line for line in found)


@pytest.mark.parametrize(
    ("settings", "where", "values", "said"),
    [
        (PAIRS, pl.col("kind") == "check", {"expected": "up"}, "expects 'up': answer 'up' is not one of left, right"),
        (
            PAIRS,
            pl.col("kind") == "check",
            {"expected": "tie"},
            "expects 'tie': answer 'tie' is not one of left, right",
        ),
        (PAIRS, pl.col("kind") == "main", {"expected": "left"}, "is no check and has an expected answer"),
        (PAIRS, pl.col("kind") == "main", {"repeat_of": "nowhere"}, "repeats 'nowhere', which is no trial of stage"),
        (PAIRS, pl.col("kind") == "check", {"check": "instructed", "expected": None}, "without an expected answer"),
        (RATINGS, pl.col("kind") == "check", {"expected": "1e999"}, "is not on the scale from 0 to 5 by 0.1"),
        (RATINGS, pl.col("kind") == "check", {"expected": "7"}, "is not on the scale from 0 to 5 by 0.1"),
        (RATINGS, pl.col("kind") == "check", {"expected": "nan"}, "is not on the scale from 0 to 5 by 0.1"),
        (RATINGS, pl.col("kind") == "check", {"expected": "left"}, "is not on the scale from 0 to 5 by 0.1"),
    ],
)
def test_a_plan_whose_answers_no_table_would_take_is_refused(
    tmp_path: Path, settings: str, where: pl.Expr, values: dict[str, str | None], said: str
) -> None:
    folder = study_folder(tmp_path / "s", settings)
    rows = Plan.read(folder / "plan.csv").frame
    edited = [
        pl.when(where).then(pl.lit(value, pl.String)).otherwise(pl.col(name)).alias(name)
        for name, value in values.items()
    ]
    Plan(rows.with_columns(edited)).write(folder / "plan.csv")
    found = lines(folder)
    assert len(found) == 1
    assert said in found[0]


def test_a_plan_that_still_fits_is_asked_in_other_words(tmp_path: Path) -> None:
    folder = changed(study_folder(tmp_path / "s", PAIRS), 'who = "A university"', 'who = "Another one"')
    assert freeze(folder).study.consent.who == "Another one"


def test_a_plan_that_was_cut_short_is_asked(tmp_path: Path) -> None:
    folder = study_folder(tmp_path / "s", PAIRS)
    plan = Plan.read(folder / "plan.csv").frame
    Plan(plan.filter(pl.col("owner") != "within-002")).write(folder / "plan.csv")
    assert len(freeze(folder).parts.leases) == 3


def test_items_that_went_are_named(tmp_path: Path) -> None:
    folder = study_folder(tmp_path / "s", PAIRS, head=HEAD + "[training]\nauto = 0\n")
    path = folder / "items.csv"
    path.write_text(path.read_text().replace("cc/dog,", "ee/dog,"))
    assert lines(folder) == ["plan.csv: shows 'cc/dog', which items.csv does not have; run paragone plan again"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("break_seconds", 'page = "pears"\nbreak_seconds', "stage 'within': no page 'pears'; there is acr, dcr, pairs"),
        ("break_seconds", 'page = "acr"\nbreak_seconds', "shows one item, and this stage shows two"),
        ('criteria = ["content", "style"]', 'criteria = ["revision"]', "a criterion may not be called 'revision'"),
        ("[consent]", '[pages]\nshow = ["prompt"]\n[consent]', "pages.show names 'prompt', which is no column"),
        ("[consent]", '[pages.questions]\nmood = "?"\n[consent]', "pages.questions.mood belongs to no criterion"),
    ],
)
def test_settings_that_cannot_be_asked_are_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    found = lines(changed(study_folder(tmp_path / "s", PAIRS), old, new))
    assert any(said in line for line in found), found


QUESTION = """[[training.question]]
criterion = "{criterion}"
pictures = {pictures}
expected = "{expected}"
"""


@pytest.mark.parametrize(
    ("criterion", "pictures", "expected", "said"),
    [
        ("content", '{ left = "aa/cat", right = "bb/cat" }', "up", "expected is 'up'; give left or right"),
        ("mood", '{ left = "aa/cat", right = "bb/cat" }', "left", "no criterion 'mood'; there is content, style"),
        ("content", '{ left = "aa/cat" }', "left", "pictures need either left and right, or item"),
        ("content", '{ left = "../secret.png", right = "bb/cat" }', "left", "lies outside the study's folder"),
        ("content", '{ left = "nothing.png", right = "bb/cat" }', "left", "nothing.png"),
    ],
)
def test_training_that_cannot_be_asked_is_refused(
    tmp_path: Path, criterion: str, pictures: str, expected: str, said: str
) -> None:
    head = HEAD + QUESTION.format(criterion=criterion, pictures=pictures, expected=expected)
    found = lines(study_folder(tmp_path / "s", PAIRS, head=head))
    assert any(said in line for line in found), found


def test_questions_of_the_settings_come_instead_of_ours(tmp_path: Path) -> None:
    head = HEAD + QUESTION.format(
        criterion="style", pictures='{ content = "ref-cat.png", left = "aa/cat", right = "bb/cat" }', expected="right"
    )
    (question,) = frozen_study(tmp_path / "s", PAIRS, head=head).practice["within"]
    assert (question.criterion, question.expected, question.left) == ("style", "right", "aa/cat")
    assert question.references == (
        ("left", "content", "file:ref-cat.png"),
        ("right", "content", "file:ref-cat.png"),
    )


def test_our_questions_show_broken_versions_with_the_sound_one_on_either_side(tmp_path: Path) -> None:
    questions = frozen_study(tmp_path / "s", PAIRS).practice["within"]
    assert {question.expected for question in questions} == {"left", "right"}
    for question in questions:
        sound = question.left if question.expected == "left" else question.right
        broken = question.right if question.expected == "left" else question.left
        assert (broken or "").startswith("broken/")
        assert not (sound or "").startswith("broken/")


def test_an_instruction_needs_pictures_that_it_can_be_drawn_on(tmp_path: Path) -> None:
    settings = PAIRS.replace("checks = 2", 'check = "instructed"\nchecks = 2')
    folder = study_folder(tmp_path / "s", settings, side=100)
    assert any("100 x 100 pixels are too few to draw an instruction on" in line for line in lines(folder))


def test_an_owner_that_the_plan_does_not_have_is_unknown(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="no owner of sheets in stage 'within' 'within-009'"):
        frozen_study(tmp_path / "s", PAIRS).sheets("within", "within-009")


def test_hidden_references_are_rated_like_items(tmp_path: Path) -> None:
    settings = RATINGS.replace("items = 4", 'items = 4\nhidden_references = "content"')
    frozen = frozen_study(tmp_path / "s", settings)
    rated = {trial.item for sheet in frozen.sheets("rate", "rate-001") for trial in sheet.trials}
    assert {"reference:content:cat", "reference:content:dog"} <= rated
    assert frozen.pictures["reference:content:cat"].path == "ref-cat.png"

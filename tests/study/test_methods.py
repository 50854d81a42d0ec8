"""The methods paragraph states every number of both published studies, and never one that nobody recorded."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from paragone.design import PairStage, RatingStage, Study, read_study
from paragone.design.pages import Display, Lab, Pages, Pay, Platform, Question, Training, Tutorial
from paragone.study.methods import Asked, Recorded, StageRecord, methods_paragraph

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
BESIDE = {"within": ["content", "style"], "across": ["content", "style"]}


def _two_stages() -> Study:
    """The study of ASTRA (arXiv 2610.10003): 122 and 142 people kept of 407, 144 and 120 comparisons each."""
    shared = {"group": ["content", "style"], "compare": "method", "repeats": 12, "break_seconds": 60}
    return Study(
        name="astra",
        criteria=["content", "style", "overall"],
        stage=[
            PairStage(name="within", participants=122, trials=144, checks=6, checks_needed=5, **shared),  # type: ignore[arg-type]
            PairStage(name="across", pairs="across", participants=142, trials=120, checks=4, checks_needed=3, **shared),  # type: ignore[arg-type]
        ],
        platform=Platform(profile="prolific"),
    )


def _one_score() -> Study:
    """The study of AGIQA-1K (arXiv 2303.12618): 22 people, 1,080 pictures, 5 sessions, slider 0 to 5 by 0.1."""
    return Study(
        name="agiqa-1k",
        criteria=["quality"],
        stage=[RatingStage(name="rated", participants=22, sessions=5, minutes=30)],
        platform=Platform(profile="lab"),
        lab=Lab(
            monitor="iMac", resolution=[4096, 2304], distance_heights=1.5, distance_cm=45, light="normal indoor light"
        ),
    )


def test_the_two_stage_study_is_stated_with_every_number() -> None:
    recorded = Recorded(
        consented=430,
        declined=12,
        outcomes={"failed-training": 23, "screened-out": 0, "technical": 1},
        turned_away=4,
        unfinished=9,
        stages={
            "within": StageRecord(completed=190, excluded={"checks": 60, "too fast": 8}, answers=52_704, sessions=122),
            "across": StageRecord(completed=217, excluded={"checks": 75}, answers=51_120, sessions=142),
        },
    )
    said = methods_paragraph(_two_stages(), asked=Asked(items=864, references=BESIDE), recorded=recorded)
    for part in (
        "People were recruited through Prolific.",
        "430 people agreed to take part. 12 declined.",
        "Of those who agreed, 23 did not pass the training, 1 could not go on for technical reasons, 4 found no sheet free "
        "and 9 did not finish.",
        "190 participants completed the stage 'within'; 68 were excluded (checks: 60; too fast: 8) and 122 were kept.",
        "217 participants completed the stage 'across'; 75 were excluded (checks: 75) and 142 were kept.",
        "They gave 52,704 answers in 122 sessions.",
        "The stimuli were 864 items.",
        "122 sheets of 144 comparisons were planned, 17,568 comparisons in all, each on 3 criteria.",
        "142 sheets of 120 comparisons were planned, 17,040 comparisons in all, each on 3 criteria.",
        "Both items of a pair came from one group of equal content and style.",
        "The items of a pair came from different groups of content and style.",
        "12 comparisons repeated an earlier one, at least 10 places later and half of them with swapped sides.",
        "The pictures of content and style stood beside the results as references.",
        "Each sheet held 6 checks with a known answer; at least 5 of them had to be right",
        "Each sheet held 4 checks with a known answer; at least 3 of them had to be right",
        "A break of at least 60 seconds stood in the middle of each sheet.",
        '"Which result is the better balance of content and style?"',
        "A choice was forced",
    ):
        assert part in said


def test_the_rating_study_is_stated_with_every_number() -> None:
    seconds = [6.0, 7.0, 8.0, 9.0, 10.0]
    recorded = Recorded(
        stages={
            "rated": StageRecord(completed=22, excluded={}, sessions=110, answers=23_760, seconds=seconds, exact=23_760)
        },
        persons=[{"gender": "female", "expertise": "research"}] * 12 + [{"gender": "male"}] * 10,
        displays=[{"screen_width": 2048, "screen_height": 1152, "ratio": 2}] * 22,
        vision={"acuity": {"passed": 22}, "colour": {"passed": 21, "failed": 1}},
        plates=[(4, 4)] * 21 + [(3, 4)],
        began=1_764_400_000.0,
        ended=1_765_400_000.0,
    )
    said = methods_paragraph(_one_score(), asked=Asked(items=1080), recorded=recorded)
    for part in (
        "The study ran in a laboratory",
        "They took part from 2025-11-29 to 2025-12-10.",
        "22 participants completed the study; nobody was excluded.",
        "They gave 23,760 answers in 110 sessions.",
        "Gender: 12 female, 10 male.",
        "12 work or studies in image processing or computer vision, 10 gave no answer.",
        "Age and region are not recorded.",
        "The stimuli were 1,080 items.",
        "22 participants were planned to rate items one by one in 5 sessions of 216 items, 23,760 ratings in all.",
        "on a continuous scale from 0 to 5 in steps of 0.1, labelled Bad, Poor, Fair, Good and Excellent",
        "Each session began with 5 stabilising presentations whose answers were dropped.",
        "Sessions were planned to last at most 30 minutes.",
        "Display: iMac, 4,096 x 2,304 pixels.",
        "a median of 4,096 x 2,304 device pixels (n = 22).",
        "The median pixel ratio was 2.",
        "The viewing distance was 1.5 screen heights or 45 cm.",
        "The room light was: normal indoor light (not measured).",
        "Visual acuity was tested by the operator: 22 passed.",
        "Colour vision was tested by the operator: 21 passed, 1 failed.",
        "21 of 22 participants read all of up to 4 colour-vision plates",
        "was median 8.0 s (quartiles 7.0 and 9.0 s)",
        "100.0 % of the answers",
    ):
        assert part in said
    assert "Response times are not recorded" not in said


def test_what_nobody_recorded_is_said_to_be_unknown_and_never_made_up() -> None:
    said = methods_paragraph(Study(stage=[PairStage(participants=3, trials=12)]))
    for part in (
        "When they took part is not recorded.",
        "How many people completed the study is not recorded.",
        "Gender, age, experience and region of the participants are not recorded.",
        "How many items were judged is not recorded.",
        "Whether references stood beside the items is not recorded.",
        "The resolution of the screens is not recorded.",
        "The pixel ratio is not recorded.",
        "The viewing distance is not recorded.",
        "The room light is not recorded.",
        "Vision was not tested.",
        "Response times are not recorded.",
        "pictures in whole device pixels is not recorded.",
    ):
        assert part in said
    assert "nan" not in said.lower()
    assert "None" not in said


def test_every_number_follows_from_settings_or_records() -> None:
    said = methods_paragraph(_two_stages(), asked=Asked(items=864, references=BESIDE))
    found = {int(word.replace(",", "")) for word in re.findall(r"(?<![\w.#])\d[\d,]*(?![\w.]*[.\w]\d)", said)}
    settings = {864, 122, 144, 17_568, 3, 142, 120, 17_040, 12, 10, 2, 6, 5, 4, 60, 1024, 600, 0, 1}
    assert found <= settings


def test_the_distance_is_computed_only_from_what_is_known() -> None:
    def of(**lab: float) -> str:
        study = Study(stage=[RatingStage(participants=2)], lab=Lab(**lab))  # type: ignore[arg-type]
        return methods_paragraph(study)

    assert "distance was 45 cm; in screen heights it is not recorded." in of(distance_cm=45)
    assert "distance was 1.5 screen heights; in cm it is not recorded." in of(distance_heights=1.5)
    assert "distance was 1.5 screen heights or 45 cm, computed from the height" in of(distance_cm=45, height_cm=30)
    assert "1.5 screen heights or 45 cm, the centimetres computed" in of(distance_heights=1.5, height_cm=30)


def test_measured_distances_come_before_the_room_s() -> None:
    study = Study(stage=[RatingStage(participants=3)], lab=Lab(distance_cm=50, height_cm=30))
    recorded = Recorded(displays=[{"distance_cm": 60}, {"distance_cm": 66}, {"distance_cm": 57}])
    said = methods_paragraph(study, recorded=recorded)
    assert "2 screen heights or 60 cm, computed from the height of the display (median of 3 participants)." in said


def test_nonsense_of_a_browser_is_left_out() -> None:
    displays = [
        {"screen_width": -5, "screen_height": "x", "ratio": float("nan")},
        {"screen_width": True, "screen_height": 10, "ratio": float("inf")},
        {"screen_width": 10**400, "screen_height": 10**400, "ratio": 10**400, "px_per_cm": 10**400},
        {"screen_width": 1e308, "screen_height": 1e308, "ratio": 1e308, "px_per_cm": 1e-320, "distance_cm": 1e308},
        {},
        {"screen_width": 1000, "screen_height": 500, "ratio": 1.5, "px_per_cm": None},
    ]
    said = methods_paragraph(Study(stage=[RatingStage(participants=2)]), recorded=Recorded(displays=displays))
    assert "a median of 1,500 x 750 device pixels (n = 1)." in said
    assert "The median pixel ratio was 1.5." in said
    assert "card" not in said


def test_a_card_gives_the_size_of_the_screen() -> None:
    displays = [{"px_per_cm": 37.8, "ratio": 1}, {"px_per_cm": 40.0, "ratio": 2}]
    said = methods_paragraph(Study(stage=[RatingStage(participants=2)]), recorded=Recorded(displays=displays))
    assert (
        "median 38.9 CSS pixels for a centimetre (quartiles 38.3 and 39.5 CSS pixels for a centimetre), n = 2." in said
    )
    assert "The median pixel ratio was 1.5 (1 to 2)." in said


def test_simulated_people_are_never_said_to_be_people() -> None:
    said = methods_paragraph(_two_stages(), recorded=Recorded(simulated=True))
    assert said.startswith("All answers are simulated: no person took part.")
    assert "recruited" not in said


def test_settings_that_change_what_people_meet_change_the_words() -> None:
    study = Study(
        criteria=["realism"],
        stage=[
            PairStage(name="a", participants=4, trials=8, pairs="any", references=[], tie="unsure", checks=2,
                      check="broken"),
            RatingStage(
                name="b", participants=1, page="dcr", low=1, high=5, step=1, reference="source",
                hidden_references="source", items=40, stabilising=0, repeats=3, back=False, checks=1, check="instructed",
            ),
        ],
        pages=Pages(questions={"realism": "Which is *real*?"}, languages=["de", "en"]),
        tutorial=Tutorial(kind="none"),
        training=Training(question=[Question(stage="a", expected="left")], auto=0, attempts=2),
        display=Display(zoom=False, plates=4),
        pay=Pay(per_session=2.5, currency="GBP"),
    )  # fmt: skip
    said = methods_paragraph(study)
    for part in (
        "Any two items could meet.",
        "No references were shown.",
        'A third answer, "Not sure", was open.',
        "Each sheet held 2 checks that showed a broken version of an item.",
        "1 participant was planned to rate items one by one in 1 session of 40 items, 40 ratings in all.",
        "on categories of degradation (DCR) from 1 to 5 in steps of 1, labelled Very annoying, Annoying,",
        "The picture of source stood beside each item as its reference.",
        "rated like items, unmarked, as hidden references.",
        "In each session 3 items were shown again",
        "Ratings could not be changed later.",
        "Each session held 1 check that told the answer to give.",
        'On pairs, the question was: "Which is real?"',
        "The pages were offered in German and English.",
        "Instructions came first.",
        "Before the trials in the stage 'a', 1 training question with feedback had to be answered right, in at most 2",
        "There was no training in the stage 'b'.",
        "Pairs could not be enlarged.",
        "The results of the vision tests are not recorded.",
        "A completed session was paid 2.5 GBP.",
    ):
        assert part in said


def test_uneven_sessions_are_told() -> None:
    study = Study(stage=[RatingStage(participants=10, sessions=4)])
    said = methods_paragraph(study, asked=Asked(items=1082))
    assert "in 4 sessions of 270 or 271 items, 10,820 ratings in all." in said


def test_a_tutorial_is_told_only_where_cards_were_shown() -> None:
    pairs = Study(criteria=["overall"], stage=[PairStage(name="a", participants=2, trials=4)])
    assert "Instructions came first." in methods_paragraph(pairs)
    styled = Study(criteria=["content", "style"], stage=pairs.stage)
    assert "Instructions and an illustrated tutorial came first." in methods_paragraph(styled)
    assert "Instructions came first." in methods_paragraph(styled, asked=Asked(cards={"a": 0}))
    both = Study(criteria=["content", "style"], stage=[*pairs.stage, RatingStage(name="b", participants=1)])
    assert "Instructions came first, in the stage 'a' with an illustrated tutorial." in methods_paragraph(both)


@pytest.mark.parametrize("example", ["style-transfer", "text-to-image"])
def test_the_examples_can_be_stated(example: str) -> None:
    said = methods_paragraph(read_study(EXAMPLES / example / "study.toml"))
    assert "paragone" in said
    assert "  " not in said
    assert ".." not in said

"""Page kinds: what they take, what they answer, and how simulated people answer them."""

from __future__ import annotations

import importlib.metadata
import math
import re
import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paragone.catalog import Catalog
from paragone.design import PairStage, RatingStage
from paragone.errors import BadInput, UnknownName
from paragone.observers import Observers
from paragone.study import texts
from paragone.study.pages import PAGES, Page, Person, Reference

FIVE = list(texts.load("en").under("scale.acr").values())
every = pytest.mark.parametrize("name", sorted(PAGES.builtin))


def _pairs(**settings: object) -> PairStage:
    return PairStage(participants=2, trials=20, **settings)  # type: ignore[arg-type]


def _ratings(page: str = "slider", **settings: object) -> RatingStage:
    grades = {} if page == "slider" else {"low": 1, "high": 5, "step": 1}
    beside = {"reference": "source"} if page == "dcr" else {}
    return RatingStage(participants=2, page=page, **{**grades, **beside, **settings})  # type: ignore[arg-type]


def _stage(page: Page) -> PairStage | RatingStage:
    return _pairs() if page.needs == "pair" else _ratings(page.name)


@every
def test_every_page_says_everything_about_itself(name: str) -> None:
    page = PAGES.get(name)
    assert page.name == name
    assert page.answers.name in ("choice", "value")
    fields = {*PairStage.__struct_fields__, *RatingStage.__struct_fields__}
    assert set(page.options) <= fields
    assert page.reads.startswith(("two items", "an item"))
    assert page.form in {key.partition(".")[0] for key in texts.load("en").under("question")}


@every
def test_every_page_has_a_script(name: str) -> None:
    page = PAGES.get(name)
    script = page.script().decode()
    assert re.search(r"export (async )?function show\(", script)
    assert page.module.endswith(f":{page.script_name}")
    assert "eval(" not in script


@every
def test_every_page_fits_its_own_kind_of_stage_and_no_other(name: str) -> None:
    page = PAGES.get(name)
    assert page.unfit(_stage(page)) == ""
    other = _ratings() if page.needs == "pair" else _pairs()
    assert page.unfit(other).startswith(f'page = "{name}" shows ')


@every
def test_simulated_answers_are_answers(name: str) -> None:
    page = PAGES.get(name)
    stage = _stage(page)
    rng = np.random.default_rng(1)
    for _ in range(200):
        person = Person.drawn(rng, Observers(careless=0.3, ties=1.0))
        said = page.simulate((1.5, -1.5), stage, person, rng)
        assert page.validate(said.value, stage) == said.value
        assert said.seconds > 0


@every
def test_the_same_seed_gives_the_same_answer(name: str) -> None:
    page = PAGES.get(name)

    def answers() -> list[tuple[str, float]]:
        rng = np.random.default_rng(7)
        return [page.simulate((0.2, 0.1), _stage(page), Person.drawn(rng), rng) for _ in range(20)]

    assert answers() == answers()


@every
def test_attentive_people_pass_checks(name: str) -> None:
    page = PAGES.get(name)
    rng = np.random.default_rng(2)
    person = Person.drawn(rng, Observers(lapse=0.0), careless=False)
    expected = "right" if page.needs == "pair" else "2"
    said = {page.simulate((9.0, -9.0), _stage(page), person, rng, expected).value for _ in range(50)}
    assert said == {expected}


def test_pairs_take_sides_and_a_tie_only_with_a_third_button() -> None:
    page = PAGES.get("pairs")
    assert page.validate("left", _pairs()) == "left"
    for third in ("tie", "unsure"):
        assert page.validate("tie", _pairs(tie=third)) == "tie"
    with pytest.raises(BadInput, match=r"answer 'tie' is not one of left, right$"):
        page.validate("tie", _pairs())
    for wrong in ("Left", "", "unsure", "left ", "1"):
        with pytest.raises(BadInput, match="is not one of left, right, tie"):
            page.validate(wrong, _pairs(tie="unsure"))


def test_slider_answers_stand_on_the_grid_without_float_noise() -> None:
    page, stage = PAGES.get("slider"), _ratings()
    values = [page.validate(f"{k / 10:.1f}", stage) for k in range(51)]
    assert values[:4] == ["0", "0.1", "0.2", "0.3"]
    assert values[-1] == "5"
    assert page.validate("0.30000000000", stage) == "0.3"
    assert page.validate("-0", stage) == "0"
    assert page.validate("3.00", stage) == "3"


@pytest.mark.parametrize(
    "wrong",
    [
        "3.55",
        "5.1",
        "-0.1",
        "",
        " 3",
        "3 ",
        "3.",
        ".5",
        "1e0",
        "nan",
        "inf",
        "0x1",
        "1_0",
        "3,5",
        "٣",
        "9" * 400,
        "left",
    ],
)
def test_what_is_not_on_the_scale_is_no_answer(wrong: str) -> None:
    with pytest.raises(BadInput, match=r"is not on the scale from 0 to 5 by 0\.1$"):
        PAGES.get("slider").validate(wrong, _ratings())


def test_grades_are_whole_steps() -> None:
    page, stage = PAGES.get("acr"), _ratings("acr")
    assert [page.validate(str(grade), stage) for grade in (1, 3, 5)] == ["1", "3", "5"]
    for wrong in ("0", "6", "2.5"):
        with pytest.raises(BadInput, match="is not on the scale from 1 to 5 by 1"):
            page.validate(wrong, stage)


@settings(deadline=None)  # machines differ
@given(
    low=st.integers(-50, 50),
    steps=st.integers(2, 200),
    step=st.sampled_from([0.01, 0.05, 0.1, 0.125, 0.25, 0.3, 0.5, 1.0, 2.0, 10.0, 1 / 3]),
    data=st.data(),
)
def test_every_step_of_every_scale_is_an_answer_that_stays_itself(
    low: int, steps: int, step: float, data: st.DataObject
) -> None:
    page = PAGES.get("slider")
    stage = _ratings(low=low / 10, high=low / 10 + steps * step, step=step)
    k = data.draw(st.integers(0, steps))
    as_a_browser_says = f"{round(low / 10 + k * step, 9):.9f}"
    value = page.validate(as_a_browser_says, stage)
    assert float(value) == pytest.approx(low / 10 + k * step, abs=1e-8)
    assert page.validate(value, stage) == value
    assert "e" not in value
    assert not value.endswith((".", ".0"))


def test_a_high_end_off_the_grid_is_refused_before_anybody_is_asked() -> None:
    assert PAGES.get("slider").unfit(_ratings(low=0, high=5, step=0.3)) == (
        "high = 5 is not a whole number of steps above low = 0; set high = 4.8, or another step"
    )
    assert PAGES.get("slider").unfit(_ratings(low=0, high=1, step=1 / 3)) == ""


def test_grades_need_a_short_scale_and_dcr_a_reference() -> None:
    long = replace_stage(_ratings("acr"), low=0, high=5, step=0.1)
    assert PAGES.get("acr").unfit(long) == (
        'page = "acr" has a button for each value, and 0 to 5 by 0.1 makes 51; set low = 1, high = 5 and step = 1'
    )
    assert PAGES.get("acr").unfit(replace_stage(_ratings("acr"), low=0, high=10, step=1)) == ""
    bare = replace_stage(_ratings("dcr"), reference="")
    assert PAGES.get("dcr").unfit(bare) == 'page = "dcr" needs reference, the factor whose picture stands beside'
    crowded = replace_stage(_ratings("acr"), labels=list("abcdef"))
    assert PAGES.get("acr").unfit(crowded) == "there are 6 labels for 5 values; give fewer labels, or a smaller step"


def replace_stage(stage: RatingStage, **changes: object) -> RatingStage:
    return RatingStage(**{**{name: getattr(stage, name) for name in stage.__struct_fields__}, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("page", "scale", "at"),
    [
        # ITU-R BT.500, continuous scale: the words stand in the middle of five equal parts
        ("slider", {"low": 0, "high": 5, "step": 0.1}, [0.5, 1.5, 2.5, 3.5, 4.5]),
        ("slider", {"low": 0, "high": 100, "step": 1}, [10, 30, 50, 70, 90]),
        ("slider", {"low": 1, "high": 5, "step": 1}, [1, 2, 3, 4, 5]),
        # ITU-T P.910, scales of five, nine and eleven grades: words at 1..5, at 1, 3, 5, 7, 9, and at 1, 3, 5, 7, 9
        ("acr", {"low": 1, "high": 5, "step": 1}, [1, 2, 3, 4, 5]),
        ("acr", {"low": 1, "high": 9, "step": 1}, [1, 3, 5, 7, 9]),
        ("acr", {"low": 0, "high": 10, "step": 1}, [1, 3, 5, 7, 9]),
    ],
)
def test_words_stand_where_the_recommendations_put_them(page: str, scale: dict[str, float], at: list[float]) -> None:
    drawn = PAGES.get(page).scale(_ratings(page, **scale), FIVE)
    assert drawn.labels == tuple(FIVE)
    assert list(drawn.at) == at


def test_labels_of_the_study_replace_ours() -> None:
    drawn = PAGES.get("slider").scale(_ratings(labels=["worst", "best"]), FIVE)
    assert (drawn.labels, drawn.at) == (("worst", "best"), (0.0, 5.0))
    assert PAGES.get("slider").scale(_ratings(labels=["so so"]), FIVE).at == (2.5,)
    assert PAGES.get("slider").scale(_ratings(), []).labels == ()
    assert PAGES.get("pairs").scale(_pairs(), FIVE) is None


def _beside(*sides: str, other: bool = False) -> list[Reference]:
    return [
        (side, factor, f"{factor}-{'2' if other and side == 'right' else '1'}")
        for side in sides
        for factor in ("content", "style")
    ]


@pytest.mark.parametrize(
    ("page", "references", "layout"),
    [
        ("pairs", _beside("left", "right"), "four"),
        ("pairs", _beside("left", "right", other=True), "six"),
        ("pairs", _beside("left"), "six"),
        ("pairs", [], "four"),
        ("slider", [], "single"),
        ("slider", [("item", "source", "s-1")], "double"),
        ("dcr", [("item", "source", "s-1")], "double"),
    ],
)
def test_equal_references_are_shown_once(page: str, references: Sequence[Reference], layout: str) -> None:
    assert PAGES.get(page).layout(references) == layout
    assert PAGES.get(page).layout(list(reversed(references))) == layout


def _share(page: Page, stage: PairStage, look: Observers, felt: tuple[float, float], word: str, n: int = 4000) -> float:
    rng = np.random.default_rng(3)
    person = replace(Person.drawn(rng, look, careless=False), bias=0.0)
    return sum(page.simulate(felt, stage, person, rng).value == word for _ in range(n)) / n


def test_simulated_choices_follow_bradley_terry() -> None:
    for difference in (0.0, 0.7, -1.5):
        share = _share(PAGES.get("pairs"), _pairs(), Observers(lapse=0.0), (difference, 0.0), "left")
        assert share == pytest.approx(1 / (1 + math.exp(-difference)), abs=0.03)  # 4 standard errors of 4,000


def test_simulated_ties_follow_davidson() -> None:
    look = Observers(lapse=0.0, ties=0.8)
    share = _share(PAGES.get("pairs"), _pairs(tie="tie"), look, (1.0, 0.0), "tie")
    assert share == pytest.approx(0.8 / (math.exp(0.5) + math.exp(-0.5) + 0.8), abs=0.03)
    assert _share(PAGES.get("pairs"), _pairs(), look, (1.0, 0.0), "tie") == 0


def test_a_hotter_stage_is_noisier() -> None:
    look = Observers(lapse=0.0, stage_temperature={"2": 4.0})
    rng, page = np.random.default_rng(4), PAGES.get("pairs")
    person = replace(Person.drawn(rng, look, careless=False), bias=0.0)
    said = [page.simulate((2.0, 0.0), _pairs(), person, rng, stage_name="2").value for _ in range(4000)]
    assert said.count("left") / 4000 == pytest.approx(1 / (1 + math.exp(-0.5)), abs=0.03)


def test_careless_people_answer_at_random_and_fast() -> None:
    rng, page = np.random.default_rng(5), PAGES.get("pairs")
    person = replace(Person.drawn(rng, Observers(), careless=True), bias=0.0)
    said = [page.simulate((8.0, -8.0), _pairs(), person, rng, "left") for _ in range(2000)]
    assert sum(answer.value == "left" for answer in said) / 2000 == pytest.approx(0.5, abs=0.05)
    assert person.median_seconds < 8.6


def test_simulated_ratings_are_centred_on_what_is_felt() -> None:
    rng, page, stage = np.random.default_rng(6), PAGES.get("slider"), _ratings()
    person = replace(Person.drawn(rng, Observers(lapse=0.0), careless=False), offset=0.4, noise=0.3)
    values = [float(page.simulate((0.5,), stage, person, rng).value) for _ in range(2000)]
    assert np.mean(values) == pytest.approx(2.5 + 1.0 * 0.5 + 0.4, abs=0.03)
    assert np.std(values) == pytest.approx(0.3, abs=0.03)


def test_a_person_keeps_their_taste() -> None:
    look = Observers(taste_sd=0.5)
    people = [Person.drawn(np.random.default_rng(seed), look) for seed in range(400)]
    felt = np.array([person.felt(1.0, "item-1", "style") for person in people])
    assert [person.felt(1.0, "item-1", "style") for person in people] == felt.tolist()
    assert people[0].felt(1.0, "item-2", "style") != felt[0]
    assert people[0].felt(1.0, "item-1", "content") != felt[0]
    assert felt.mean() == pytest.approx(1.0, abs=0.1)
    assert felt.std() == pytest.approx(0.5, abs=0.08)


def test_a_page_of_others_has_a_script_name_that_meets_none_of_ours() -> None:
    assert replace(PAGES.get("acr"), name="thumbs", module="our_package:rating.js").script_name == "page-thumbs.js"


def test_a_script_that_is_not_there_is_told() -> None:
    for module in (
        "paragone.study.web:nothing.js",
        "no_such_package:a.js",
        "paragone.study.web:../a.js",
        "a.js",
        ":a.js",
    ):
        page = replace(PAGES.get("pairs"), name="mine", module=module)
        with pytest.raises(BadInput, match=r"page 'mine': script '.*' is not there; give 'package:file\.js'"):
            page.script()


def test_a_third_party_page_is_found_by_its_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    point = importlib.metadata.EntryPoint("mine", "paragone.study.pages.pair:PAIRS", "paragone.pages")
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [point] if group == "paragone.pages" else [])
    catalog = Catalog(PAGES.group, PAGES.what, PAGES.builtin)  # PAGES itself has looked already
    assert "mine" in catalog.names()
    assert catalog.get("mine").needs == "pair"


def test_a_page_is_found_fast_enough_for_every_answer() -> None:
    PAGES.get("slider")
    began = time.perf_counter()
    for _ in range(200):
        PAGES.get("slider")
    assert time.perf_counter() - began < 0.2  # a look through the installed packages takes 10 ms each time


def test_an_unknown_page_is_told() -> None:
    with pytest.raises(UnknownName, match=r"no page 'slide'; did you mean 'slider'\?"):
        PAGES.get("slide")

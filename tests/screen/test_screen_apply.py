from __future__ import annotations

import json

import msgspec
import polars as pl
import pytest

from paragone.errors import BadConfig, BadInput, UnknownName
from paragone.judgements import Ratings, Votes
from paragone.screen import RULES, ScreenRules, screen, seconds_per_question
from paragone.screen.settings import (
    Bt500,
    Checks,
    Completeness,
    Correlation,
    Inconsistency,
    Repeats,
    Speed,
    Straight,
)
from paragone.settings import read_settings

RANDOM = ["s27", "s28", "s29", "s30"]


def votes(*rows: dict) -> Votes:
    """Rows over a harmless default."""
    default = {"participant": "a", "left": "x", "right": "y", "choice": "left"}
    return Votes(pl.DataFrame([{**default, **row} for row in rows]))


def ratings(*rows: dict) -> Ratings:
    return Ratings(pl.DataFrame([{"participant": "a", "item": "x", "value": 3.0, **row} for row in rows]))


def checks(right: int, wrong: int, *, stage: str | None = None, participant: str = "a") -> list[dict]:
    said = ["left"] * right + ["right"] * wrong
    return [
        {
            "participant": participant,
            "stage": stage,
            "kind": "check",
            "trial": f"c{stage}-{k}",
            "choice": answer,
            "expected": "left",
        }
        for k, answer in enumerate(said)
    ]


def reasons(screening, participant: str = "a") -> list[str]:
    return screening.frame.filter(pl.col("participant") == participant)["reasons"].to_list()[0]


def remarks(screening, participant: str = "a") -> list[str]:
    return screening.frame.filter(pl.col("participant") == participant)["remarks"].to_list()[0]


def left_out(screening) -> list[str]:
    return screening.frame.filter(~pl.col("kept"))["participant"].to_list()


@pytest.fixture(scope="module")
def nflx(shared):
    def read(name: str) -> Ratings:
        frame = pl.read_csv(shared(f"votes/nflx_public/{name}.csv"))
        return Ratings(frame.select(participant="rater", item="item", value="score"))

    return read


def test_by_default_only_attention_checks_reject_and_one_may_be_missed():
    kept = screen(votes(*checks(5, 1), {}))
    assert kept.retained == 1
    gone = screen(votes(*checks(4, 2), {}))
    assert reasons(gone) == ["checks: 4 of 6 right, 5 needed"]
    assert gone.frame["broken"].to_list() == [["checks"]]


def test_the_right_answers_needed_can_be_named_for_each_stage():
    rules = ScreenRules(checks=Checks(needed={"1": 5, "2": 3}))
    answers = votes(
        *checks(3, 3, stage="1", participant="a"),
        *checks(3, 1, stage="2", participant="b"),
        *checks(2, 2, stage="2", participant="c"),
        {"participant": "d", "stage": "1"},
    )
    screening = screen(answers, rules)
    assert reasons(screening, "a") == ["checks: 3 of 6 right, 5 needed (stage 1)"]
    assert reasons(screening, "b") == []
    assert reasons(screening, "c") == ["checks: 2 of 4 right, 3 needed (stage 2)"]
    assert reasons(screening, "d") == ["checks: none shown, 5 needed (stage 1)"]


def test_each_session_can_be_judged_by_itself():
    rows = [
        {**row, "session": session, "trial": f"{session}-{row['trial']}"}
        for session, right, wrong in (("1", 2, 0), ("2", 0, 2))
        for row in checks(right, wrong, stage="rated")
    ]
    together = ScreenRules(checks=Checks(needed={"rated": 1}))
    assert screen(votes(*rows, {}), together).retained == 1
    each = ScreenRules(checks=Checks(needed={"rated": 1}, by_session=True))
    assert reasons(screen(votes(*rows, {}), each)) == ["checks: 0 of 2 right, 1 needed (stage rated, session 2)"]


@pytest.mark.parametrize(
    ("right", "shown", "needed", "kept"), [(4, 6, 5, False), (5, 6, 5, True), (2, 4, 3, False), (3, 4, 3, True)]
)
def test_the_published_thresholds_keep_and_reject(right, shown, needed, kept):
    rules = ScreenRules(checks=Checks(needed={"s": needed}))
    assert screen(votes(*checks(right, shown - right, stage="s"), {}), rules).retained == kept


def test_a_single_check_must_be_right():
    assert screen(votes(*checks(0, 1), {})).rejected == 1
    assert screen(votes(*checks(1, 0), {})).rejected == 0


def test_a_check_asked_on_several_criteria_is_one_check():
    rows = [{**row, "criterion": c} for row in checks(3, 1) for c in ("content", "style")]
    screening = screen(votes(*rows, {}))
    assert screening.frame["checks"].to_list() == [4]
    assert screening.frame["checks_right"].to_list() == [3]


def test_a_rating_check_allows_the_tolerance():
    rows = [{"kind": "check", "trial": str(k), "value": 4.6, "expected": 5.0} for k in range(3)]
    assert screen(ratings(*rows, {})).rejected == 1
    assert screen(ratings(*rows, {}), ScreenRules(checks=Checks(tolerance=0.5))).rejected == 0


def test_other_rules_only_remark_until_they_are_named():
    answers = votes(*[{"seconds": 0.2, "trial": str(k)} for k in range(20)])
    shown = screen(answers)
    assert shown.rejected == 0
    assert any(line.startswith("speed: median 0.20 s") for line in remarks(shown))
    named = screen(answers, ScreenRules(reject=("speed", "straight")))
    assert named.rejected == 1
    assert named.rejected_by == {"speed": 1, "straight": 1}
    assert len(reasons(named)) == 2


def test_a_share_of_fast_answers_is_too_fast_even_at_a_slow_median():
    times = [0.1, 0.1, 0.1] + [5.0] * 17
    screening = screen(
        votes(*[{"seconds": t, "trial": str(k)} for k, t in enumerate(times)]), ScreenRules(reject=("speed",))
    )
    assert reasons(screening) == ["speed: 15% of answers faster than 0.4 s, at most 10% allowed"]


def test_time_is_counted_once_a_trial_and_impossible_times_are_left_out():
    rows = [{"trial": "1", "criterion": c, "seconds": s} for c, s in (("u", 6.0), ("v", 0.0), ("w", 0.0))]
    rows += [{"trial": "2", "criterion": "u", "seconds": -1.4}]
    screening = screen(votes(*rows))
    assert screening.frame["median_seconds"].to_list() == [6.0]
    assert screening.frame["fast_share"].to_list() == [0.0]


def test_the_same_side_over_and_over_is_straight_lining_whatever_is_shown():
    rows = [{"left": f"i{k}", "right": f"j{k}"} for k in range(12)]
    screening = screen(votes(*rows), ScreenRules(reject=("straight",)))
    assert reasons(screening) == ["straight: 100% of 12 answers are left, at most 95% allowed"]


def test_a_long_run_is_straight_lining_where_a_limit_is_set():
    rows = [{"choice": "right"}] * 8 + [{"choice": "left"}] * 8
    rules = ScreenRules(reject=("straight",), straight=Straight(run=7))
    assert reasons(screen(votes(*rows), rules)) == ["straight: 8 answers of right in a row, at most 7 allowed"]
    assert screen(votes(*rows), ScreenRules(reject=("straight",))).rejected == 0


def test_always_the_same_rating_is_straight_lining_within_one_criterion():
    rows = [{"item": f"i{k}", "criterion": "u", "value": 4.0} for k in range(10)]
    rows += [{"item": f"i{k}", "criterion": "v", "value": float(k % 5)} for k in range(10)]
    screening = screen(ratings(*rows), ScreenRules(reject=("straight",)))
    assert reasons(screening) == ["straight: 100% of 10 answers are 4, at most 95% allowed"]


def test_the_one_who_always_answers_a_gave_one_answer_only(shared):
    """In the DynaVect survey worker 8 answered A in 100 % of one vote: no pattern, but hardly a session."""
    frame = pl.read_csv(shared("images/dynavect_2afc/votes.csv"))
    question = pl.col("question").cast(pl.String)
    answers = Votes(
        frame.select(
            participant=pl.col("worker").cast(pl.String),
            left=pl.format("{}/{}", question, "method_A"),
            right=pl.format("{}/{}", question, "method_B"),
            choice=pl.col("answer").replace_strict({"A": "left", "B": "right"}),
        )
    )
    strict = ScreenRules(reject=("straight",), straight=Straight(answers=1))
    assert left_out(screen(answers, strict)) == ["8"]
    usual = screen(answers, ScreenRules(reject=("straight", "completeness")))
    assert usual.rejected_by == {"straight": 0, "completeness": 6}
    assert reasons(usual, "8") == ["completeness: 1 of 58 answers, 90% needed"]


def test_repeats_compare_the_winning_item_not_the_side():
    first = [{"trial": str(k), "left": "x", "right": "y", "choice": "left"} for k in range(6)]
    swapped = [
        {"trial": f"r{k}", "kind": "repeat", "repeat_of": str(k), "left": "y", "right": "x", "choice": "right"}
        for k in range(6)
    ]
    screening = screen(votes(*first, *swapped), ScreenRules(reject=("repeats",)))
    assert screening.frame["repeat_agreement"].to_list() == [1.0]
    same_side = [{**row, "choice": "left"} for row in swapped]
    screening = screen(votes(*first, *same_side), ScreenRules(reject=("repeats",)))
    assert reasons(screening) == ["repeats: 0 of 6 answered as before, 50% needed"]


def test_a_repeat_of_another_pair_is_not_compared():
    rows = [{"trial": "1"}, {"trial": "2", "kind": "repeat", "repeat_of": "1", "left": "x", "right": "z"}]
    assert screen(votes(*rows)).frame["repeats"].to_list() == [None]


def test_repeated_ratings_allow_the_tolerance():
    rows = [{"trial": str(k), "value": 3.0} for k in range(5)]
    rows += [{"trial": f"r{k}", "kind": "repeat", "repeat_of": str(k), "value": 4.0} for k in range(5)]
    assert screen(ratings(*rows), ScreenRules(reject=("repeats",))).rejected == 1
    lenient = ScreenRules(reject=("repeats",), repeats=Repeats(tolerance=1.0))
    assert screen(ratings(*rows), lenient).rejected == 0


def test_a_broken_off_session_is_measured_by_the_longest_of_the_same_stage():
    rows = [{"participant": "a", "stage": "1"}] * 10 + [{"participant": "b", "stage": "2"}] * 4
    rows += [{"participant": "c", "stage": "1"}] * 8
    screening = screen(votes(*rows), ScreenRules(reject=("completeness",)))
    assert left_out(screening) == ["c"]
    assert reasons(screening, "c") == ["completeness: 8 of 10 answers, 90% needed"]


def test_the_complete_raters_of_the_avt_pictures_are_those_its_authors_kept(shared):
    frame = pl.read_csv(shared("votes/avt_ai_images/ratings.csv"))
    answers = Ratings(frame.select("item", "criterion", participant="rater", value="score", seconds="response_time_s"))
    rules = ScreenRules(reject=("completeness",), completeness=Completeness(answers=401))
    screening = screen(answers, rules)
    complete = frame.filter(pl.col("rater_complete") == 1)["rater"].unique().sort().to_list()
    assert screening.frame.filter(pl.col("kept"))["participant"].to_list() == complete
    assert (screening.submitted, screening.retained, screening.rejected) == (27, 22, 5)
    assert sorted(screening.apply(answers).frame["participant"].unique()) == complete


@pytest.mark.parametrize("name", ["nflx_public", "nflx_public_last4random"])
def test_bt500_rejects_whom_the_text_and_sureal_reject(nflx, shared, name):
    expected = json.loads(shared(f"votes/nflx_public/{name}.expected.json").read_text())
    text = screen(nflx(name), ScreenRules(reject=("bt500",)))
    assert left_out(text) == expected["screening_bt500_text"]["rejected"]
    sureal = screen(nflx(name), ScreenRules(reject=("bt500",), bt500=Bt500(convention="sureal")))
    assert left_out(sureal) == expected["screening_bt500_sureal_convention"]["rejected"]
    assert left_out(sureal) == expected["sureal_SR_MOS"]["rejected"]


def test_sureals_reading_of_bt500_rejects_nobody_where_it_would_reject_all(shared):
    case = json.loads(shared("votes/textbook/cases.json").read_text())["bt500_unanimous_items"]
    table = case["scores_items_by_raters"]
    rows = [
        {"participant": f"p{i:02d}", "item": f"i{j:02d}", "value": float(value)}
        for j, row in enumerate(table)
        for i, value in enumerate(row)
    ]
    rules = ScreenRules(reject=("bt500",), bt500=Bt500(convention="sureal"))
    assert screen(ratings(*rows), rules).rejected == 0
    assert screen(ratings(*rows), ScreenRules(reject=("bt500",))).rejected == 0


@pytest.mark.parametrize(
    "rules",
    [
        ScreenRules(reject=("inconsistency",)),
        ScreenRules(reject=("correlation",)),
        ScreenRules(reject=("correlation",), correlation=Correlation(kind="spearman", against="all", adaptive=True)),
    ],
    ids=["inconsistency", "correlation", "as SUREAL"],
)
def test_all_four_random_raters_are_found_and_nobody_else(nflx, rules):
    assert left_out(screen(nflx("nflx_public_last4random"), rules)) == RANDOM


def test_a_measured_inconsistency_takes_the_place_of_the_plain_one(nflx):
    answers = nflx("nflx_public")
    v = dict.fromkeys(answers.frame["participant"].unique(), 0.6) | {"s05": 1.3}
    screening = screen(answers, ScreenRules(reject=("inconsistency",)), measured={"inconsistency": v})
    assert reasons(screening, "s05") == ["inconsistency: 1.30, more than 2 times the middle participant's 0.60"]
    assert left_out(screening) == ["s05"]


def test_outlier_distances_are_handed_in():
    answers = votes({"participant": "a"}, {"participant": "b"})
    screening = screen(answers, ScreenRules(reject=("distance",)), measured={"distance": {"a": 4.467, "b": 0.2}})
    assert reasons(screening) == ["distance: 4.47 inter-quartile ranges from the quartile, at most 1.5 allowed"]
    with pytest.raises(BadConfig, match="hand them in"):
        screen(answers, ScreenRules(reject=("distance",)))


def test_a_rule_that_cannot_be_applied_is_refused():
    with pytest.raises(BadConfig, match="rule 'bt500' needs ratings"):
        screen(votes({}), ScreenRules(reject=("bt500",)))
    with pytest.raises(UnknownName, match="did you mean 'distance'"):
        screen(votes({}), measured={"distanse": {}})
    with pytest.raises(UnknownName, match="no participant 'z'"):
        screen(votes({}), measured={"distance": {"z": 1.0}})


def test_an_unknown_rule_or_an_impossible_threshold_is_refused(tmp_path):
    with pytest.raises(BadConfig, match="did you mean 'speed'"):
        ScreenRules(reject=("speeed",))
    with pytest.raises(BadConfig, match=r"speed\.share = 2 is not between 0 and 1"):
        ScreenRules(speed=Speed(share=2))
    file = tmp_path / "screen.toml"
    file.write_text('reject = ["checks", "speed"]\n[checks]\nneeded = {"1" = 5, "2" = 3}\n[speed]\nmedian = 2.0\n')
    read = read_settings(file, ScreenRules)
    assert read.reject == ("checks", "speed")
    assert read.checks.needed == {"1": 5, "2": 3}
    file.write_text("[speed]\nmedain = 2.0\n")
    with pytest.raises(BadConfig, match="did you mean 'median'"):
        read_settings(file, ScreenRules)
    file.write_text("[speed]\nshare = 3.0\n")
    with pytest.raises(BadConfig, match=r"speed\.share = 3"):
        read_settings(file, ScreenRules)


def test_rules_are_records_that_write_as_they_read():
    rules = ScreenRules(reject=("bt500",), inconsistency=Inconsistency(factor=3))
    assert msgspec.convert(msgspec.to_builtins(rules), ScreenRules) == rules


def test_every_rule_has_a_setting_of_its_name():
    assert set(RULES) | {"reject"} == set(ScreenRules.__struct_fields__)


def test_answers_of_those_who_are_kept_and_no_strangers():
    answers = votes({"participant": "a"}, *checks(0, 2, participant="b"), {"participant": None})
    screening = screen(answers)
    kept = screening.apply(answers)
    assert isinstance(kept, Votes)
    assert kept.frame["participant"].to_list() == ["a", None]
    with pytest.raises(BadInput, match="participant 'c' was not screened"):
        screening.apply(votes({"participant": "c"}))


def test_counts_and_seconds_tell_retained_from_rejected():
    """The published study: 264 of 407 kept, 8.573 s a question against 4.526 s."""
    rows = []
    for i in range(30):
        bad = i >= 20
        rows += [{**row, "seconds": 3.0} for row in checks(2 if bad else 6, 4 if bad else 0, participant=f"p{i:02d}")]
        rows += [
            {"participant": f"p{i:02d}", "trial": f"t{k}", "seconds": (4 if bad else 8) + 0.1 * i + k} for k in range(9)
        ]
    screening = screen(votes(*rows))
    assert (screening.submitted, screening.retained, screening.rejected) == (30, 20, 10)
    assert screening.rejected_by == {"checks": 10}
    seconds = seconds_per_question(screening, seed=1)
    assert seconds["retained"].value == pytest.approx(8 + 0.95 + 4)
    assert seconds["rejected"].value == pytest.approx(4 + 2.45 + 4)
    assert seconds["retained"].n == 20
    assert seconds["retained"].low < seconds["retained"].value < seconds["retained"].high
    assert seconds == seconds_per_question(screening, seed=1)


def test_seconds_are_undefined_where_nobody_has_any():
    found = seconds_per_question(screen(votes({"seconds": 2.0, "trial": "1"})))
    assert found["retained"].value == 2.0
    assert found["retained"].note == "one participant; no interval"
    assert found["rejected"].note == "no response times of rejected participants"


def test_the_document_holds_participants_reasons_and_statistics():
    document = screen(votes(*checks(1, 3), {"participant": "b"})).document()
    first, second = document["participants"]
    assert first["participant"] == "a"
    assert first["kept"] is False
    assert first["reasons"] == ["checks: 1 of 4 right, 3 needed"]
    assert first["statistics"]["checks"] == 4
    assert second["kept"] is True
    assert "checks" not in second["statistics"]
    assert document["rejected_by"] == {"checks": 1}
    assert json.loads(json.dumps(document)) == document


def test_people_who_answered_checks_only_are_screened_too():
    answers = ratings(*[{"kind": "check", "trial": str(k), "expected": 3.0} for k in range(3)])
    screening = screen(answers)
    assert screening.retained == 1
    assert remarks(screening) == ["completeness: 0 of 0 answers, 90% needed"]


def test_no_answers_are_refused():
    empty = Votes(votes({}).frame.clear())
    with pytest.raises(BadInput, match="no answers to screen"):
        screen(empty)


def test_the_order_of_participants_does_not_matter(nflx):
    answers = nflx("nflx_public_last4random")
    shuffled = Ratings(answers.frame.sample(fraction=1.0, shuffle=True, seed=3))
    one, two = screen(answers).frame.drop("longest_run"), screen(shuffled).frame.drop("longest_run")
    assert one.select(pl.exclude(pl.Float64)).equals(two.select(pl.exclude(pl.Float64)))
    for name in one.select(pl.col(pl.Float64)).columns:
        assert one[name].to_list() == pytest.approx(two[name].to_list(), nan_ok=True), name


@pytest.mark.parametrize("given", [pl.DataFrame({"participant": ["a"]}), None, [{"participant": "a"}]])
def test_what_is_no_table_of_answers_is_refused_with_what_to_do(given: object) -> None:
    words = f"screen takes Votes or Ratings, not {type(given).__name__}; read them with read_votes or read_ratings"
    with pytest.raises(BadInput, match=words):
        screen(given)  # type: ignore[arg-type]


def test_thresholds_beyond_any_sense_are_refused() -> None:
    with pytest.raises(BadConfig, match=r"straight\.run"):
        ScreenRules(straight=Straight(run=10**20))


def test_each_kind_of_rating_check_has_its_own_tolerance():
    rows = [
        {"participant": "anna", "item": "x", "value": value, "kind": "check", "expected": right, "check": check}
        for value, right, check in ((1.2, 0.0, "broken"), (3.5, 3.4, "instructed"))
    ]
    ratings = Ratings(pl.DataFrame(rows))
    rules = {"wrong": 0, "within": {"broken": 1.5, "instructed": 0.1}}
    kept = screen(ratings, msgspec.convert({"checks": rules}, ScreenRules))
    assert kept.frame["checks_right"].to_list() == [2]
    assert screen(ratings, ScreenRules()).frame["checks_right"].to_list() == [0]


def test_each_stage_may_have_a_tolerance_of_its_own():
    rows = [
        {"kind": "check", "check": "broken", "stage": stage, "trial": stage, "value": 20.0, "expected": 0.0}
        for stage in ("wide", "narrow")
    ]
    within = {"wide/broken": 30.0, "broken": 1.5}
    found = screen(ratings(*rows), ScreenRules(checks=Checks(within=within, wrong=0)))
    assert reasons(found) == ["checks: 0 of 1 right, 1 needed (stage narrow)"]

"""Profiles: who a panel's address speaks of, and how a participant goes back."""

from __future__ import annotations

import string
from urllib.parse import parse_qs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paragone.design.pages import OUTCOMES, Platform
from paragone.errors import BadConfig, BadInput
from paragone.study.server.profiles import (
    CODE_LETTERS,
    PRESETS,
    Ids,
    completion,
    completion_codes,
    ids_of,
    origin_of,
    profile_of,
)

CODES = {outcome: f"CODE{number}" for number, outcome in enumerate(OUTCOMES)}
PERSON, SUBMISSION, STUDY = "5f8c0a1b2c3d4e5f60718293", "65aa0a1b2c3d4e5f60718294", "64bb0a1b2c3d4e5f60718295"


def _query(text: str) -> dict[str, list[str]]:
    return parse_qs(text, keep_blank_values=True)


def _prolific(person: str = PERSON, submission: str = SUBMISSION) -> dict[str, list[str]]:
    return _query(f"PROLIFIC_PID={person}&STUDY_ID={STUDY}&SESSION_ID={submission}")


def test_prolific_names_person_submission_and_study() -> None:
    assert ids_of(PRESETS["prolific"], _prolific()) == Ids(PERSON, SUBMISSION, STUDY)


def test_prolific_takes_everybody_back_with_the_code_of_the_outcome() -> None:
    urls = {completion(PRESETS["prolific"], CODES, outcome, Ids(PERSON)).url for outcome in OUTCOMES}
    assert urls == {f"https://app.prolific.com/submissions/complete?cc={code}" for code in CODES.values()}


@pytest.mark.parametrize(
    "value",
    ["", " ", "%7B%7B%25PROLIFIC_PID%25%7D%7D", "{{%PROLIFIC_PID%}}", "%25SURVEY_CODE%25", "undefined", "NULL", "None",
     "NaN", "%24%7Be%3A%2F%2FField%2Fpid%7D", "%5B%5BID%5D%5D", "<id>", "[object Object]"],
)  # fmt: skip
def test_an_id_that_the_panel_did_not_fill_in_is_refused(value: str) -> None:
    with pytest.raises(BadInput, match="'PROLIFIC_PID' was not filled in by the panel"):
        ids_of(PRESETS["prolific"], _prolific(person=value))


@pytest.mark.parametrize("value", ["a" * 129, "a%00b", "a%0Ab", "a b", "%F0%9F%98%80", "-a", "a%27--", "a/../b"])
def test_what_is_no_id_is_refused_and_not_repeated(value: str) -> None:
    with pytest.raises(BadInput, match="'PROLIFIC_PID' is no id") as caught:
        ids_of(PRESETS["prolific"], _prolific(person=value))
    assert caught.value.message == "'PROLIFIC_PID' is no id"


def test_a_missing_or_doubled_parameter_is_refused() -> None:
    with pytest.raises(BadInput, match="'SESSION_ID' is missing"):
        ids_of(PRESETS["prolific"], _query(f"PROLIFIC_PID={PERSON}"))
    with pytest.raises(BadInput, match="'PROLIFIC_PID' stands twice"):
        ids_of(PRESETS["prolific"], _query(f"PROLIFIC_PID={PERSON}&PROLIFIC_PID=other&SESSION_ID={SUBMISSION}"))


def test_ids_are_not_in_what_is_printed_of_them() -> None:
    assert PERSON not in repr(ids_of(PRESETS["prolific"], _prolific()))


def test_open_and_lab_read_no_ids() -> None:
    for name in ("open", "lab"):
        assert ids_of(PRESETS[name], _prolific()) == Ids()


def test_connect_shows_the_code_unless_an_address_is_given() -> None:
    profile = PRESETS["connect"]
    ids = ids_of(profile, _query("participantId=P1&assignmentId=A1&projectId=J1"))
    assert ids == Ids("P1", "A1", "J1")
    assert completion(profile, CODES, "completed", ids) == (completion(profile, CODES, "completed", Ids()))
    assert completion(profile, CODES, "completed", ids).url is None


def test_sona_credits_only_those_who_completed() -> None:
    back = "https://school.sona-systems.com/webstudy_credit.aspx?experiment_id=1&credit_token=ab&survey_code={person}"
    profile = profile_of(Platform(profile="sona", back=back))
    ids = ids_of(profile, _query("survey_code=4711"))
    assert completion(profile, CODES, "completed", ids).url == back.replace("{person}", "4711")
    assert completion(profile, CODES, "screened-out", ids).url is None


def test_mturk_posts_a_form_to_the_panel() -> None:
    profile = PRESETS["mturk"]
    query = _query("workerId=W1&assignmentId=A1&hitId=H1&turkSubmitTo=https%3A%2F%2Fworkersandbox.mturk.com")
    form = completion(profile, CODES, "completed", ids_of(profile, query)).form
    assert form is not None
    assert form.action == "https://workersandbox.mturk.com/mturk/externalSubmit"
    assert form.fields == {"assignmentId": "A1", "code": CODES["completed"], "outcome": "completed"}


@pytest.mark.parametrize(
    "address",
    ["https://evil.example", "http://www.mturk.com", "https://www.mturk.com.evil.example", "https://www.mturk.com:8443",
     "https://www.mturk.com@evil.example", "javascript:alert(1)", "", "//www.mturk.com", "https://www.mturk.com%5C@x"],
)  # fmt: skip
def test_a_form_never_goes_to_an_address_that_only_the_visitor_named(address: str) -> None:
    query = {"workerId": ["W1"], "assignmentId": ["A1"], "hitId": ["H1"], "turkSubmitTo": [address]}
    with pytest.raises(BadInput, match="'turkSubmitTo' is not a known address of the panel"):
        ids_of(PRESETS["mturk"], query)


def test_mturk_without_an_assignment_only_looks() -> None:
    assert ids_of(PRESETS["mturk"], _query("assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId=H1")) == Ids(preview=True)


def test_a_clone_of_mturk_is_named_by_its_frame() -> None:
    profile = profile_of(Platform(profile="mturk", frame="https://clone.example"))
    query = {"workerId": ["W1"], "assignmentId": ["A1"], "turkSubmitTo": ["https://clone.example/"]}
    assert profile.frame == "https://clone.example"
    assert ids_of(profile, query).submit_to == "https://clone.example"


def test_a_platform_of_ones_own_is_settings_only() -> None:
    platform = Platform(
        profile="own", person="uid", submission="sid", back="https://panel.example/done/{code}?s={submission}"
    )
    profile = profile_of(platform)
    ids = ids_of(profile, _query("uid=u.1&sid=a+b".replace("+", "%2B")))
    assert (
        completion(profile, CODES, "technical", ids).url == f"https://panel.example/done/{CODES['technical']}?s=a%2Bb"
    )


def test_with_ids_deleted_the_code_alone_is_left() -> None:
    profile = profile_of(Platform(profile="own", person="uid", back="https://panel.example/{code}/{person}"))
    assert completion(profile, CODES, "completed", Ids()).url is None


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"back": "http://panel.example/{code}"}, "begins with https://"),
        ({"back": "javascript:alert('{code}')"}, "begins with https://"),
        ({"back": "https://panel.example/{worker}"}, r"'\{worker\}'; there is \{code\}"),
        ({"back": "https://{person}.example/"}, "may not stand in the host"),
        ({"frame": "panel.example"}, "give an origin such as"),
        ({"frame": "https://panel.example/page"}, "give an origin such as"),
        ({"frame": "https://panel.example; script-src *"}, "give an origin such as"),
        ({"submission": "PROLIFIC_PID"}, "'PROLIFIC_PID' stands for two things"),
    ],
)
def test_an_impossible_platform_is_told_before_the_study_starts(keys: dict[str, str], message: str) -> None:
    with pytest.raises(BadConfig, match=message):
        profile_of(Platform(profile="prolific", **keys))


def test_codes_are_made_once_differ_and_hold_no_ambiguous_letter() -> None:
    codes = completion_codes(Platform(), {})
    assert set(codes) == set(OUTCOMES)
    assert len(set(codes.values())) == len(OUTCOMES)
    assert set("".join(codes.values())) <= set(CODE_LETTERS)
    assert not set("01OIL") & set(CODE_LETTERS)
    assert completion_codes(Platform(), codes) == codes
    assert completion_codes(Platform(), {}) != codes


def test_a_code_of_the_study_wins_over_the_one_in_use() -> None:
    known = completion_codes(Platform(), {})
    codes = completion_codes(Platform(codes={"completed": "C1ABCD"}), known)
    assert codes == {**known, "completed": "C1ABCD"}


def test_a_code_in_use_is_never_given_to_another_outcome() -> None:
    known = completion_codes(Platform(), {})
    with pytest.raises(BadConfig, match="is the code that 'technical' has been using"):
        completion_codes(Platform(codes={"completed": known["technical"]}), known)
    with pytest.raises(BadConfig, match=r"platform.codes.completed is empty"):
        completion_codes(Platform(codes={"completed": ""}), {})


@pytest.mark.parametrize(
    ("address", "origin"),
    [
        ("https://Study.Example:443/x?y", "https://study.example"),
        ("http://study.example:80", "http://study.example"),
        ("http://study.example:8000/", "http://study.example:8000"),
        ("http://[::1]:8000", "http://[::1]:8000"),
        ("null", None),
        ("https://", None),
        ("https://a@b", None),
        ("https://a:99999", None),
        ("ftp://a", None),
        ("https://a b", None),
        ("https://a'b", None),
    ],
)
def test_an_origin_has_one_spelling(address: str, origin: str | None) -> None:
    assert origin_of(address) == origin


@given(st.dictionaries(st.sampled_from(["PROLIFIC_PID", "SESSION_ID", "STUDY_ID"]), st.lists(st.text(), max_size=3)))
def test_whatever_the_address_says_gives_plain_ids_or_a_refusal(query: dict[str, list[str]]) -> None:
    refused = False
    try:
        ids = ids_of(PRESETS["prolific"], query)
    except BadInput:
        refused = True
    if not refused:
        assert ids.person
        assert set(ids.person + ids.submission + ids.study) <= set(string.ascii_letters + string.digits + "._:@+=~-")

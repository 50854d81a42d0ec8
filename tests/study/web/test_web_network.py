"""Answers survive the network: lost acknowledgements, no connection, reloads, refusals, other tabs."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from fake_study import FakeStudy
from visitor import Visitor

pytestmark = pytest.mark.browser
Visit = Callable[..., Visitor]


def _study(**more: object) -> FakeStudy:
    settings: dict[str, object] = {"phases": ("trial", "finish", "done"), "n": 4, "criteria": ("overall",)}
    return FakeStudy(**{**settings, **more})  # type: ignore[arg-type]


def _answer(who: Visitor, *keys: str, first: int = 0) -> None:
    for number, key in enumerate(keys):
        who.trial(who.study.trials[first + number])
        who.page.keyboard.press(key)


def test_lost_acknowledgements_store_each_answer_once(visit: Visit) -> None:
    study = _study()
    study.lose_acks = 3
    who = visit(study)
    who.network_faults_wanted = True
    _answer(who, "1", "2", "1", "2")
    who.phase("done")
    assert list(who.answered().values()) == ["left", "right", "left", "right"]
    assert len(study.answers) == 4
    assert len(study.posts) == 7
    assert len({post["id"] for post in study.posts}) == 4  # the same id whenever it was sent again


def test_answers_wait_while_there_is_no_connection_and_nobody_is_held_up(visit: Visit) -> None:
    study = _study()
    who = visit(study)
    who.trial(study.trials[0])
    who.until(
        lambda: sum(path.startswith("/i/") for _, _, path in study.requests) >= 12, "the next two trials' pictures"
    )
    who.network_faults_wanted = True
    who.page.context.set_offline(True)
    _answer(who, "1", "2", "1")  # the current one and the two that were loaded ahead
    who.until(lambda: who.data()["waiting"] == "3", "three answers that wait")
    who.page.get_by_text("No connection", exact=False).first.wait_for()
    assert study.answers == {}
    who.page.context.set_offline(False)
    _answer(who, "2", first=3)
    who.phase("done")
    assert list(who.answered().values()) == ["left", "right", "left", "right"]
    assert len(study.posts) == 4


def test_a_reload_in_mid_retry_keeps_the_answers(visit: Visit) -> None:
    study = _study()
    study.refuse = [503] * 3
    who = visit(study)
    who.network_faults_wanted = True
    _answer(who, "1", "2")
    who.until(lambda: who.data()["waiting"] == "2", "two answers that wait")
    assert study.answers == {}
    who.page.on("dialog", lambda dialog: dialog.accept())
    who.page.reload()
    _answer(who, "1", "2", first=2)
    who.phase("done")
    assert list(who.answered().values()) == ["left", "right", "left", "right"]


def test_a_reload_between_two_questions_goes_on_with_the_second(visit: Visit) -> None:
    study = _study(criteria=("content", "style"), n=1)
    who = visit(study)
    who.trial(criterion="content")
    who.page.keyboard.press("1")
    who.trial(criterion="style")
    who.page.reload()
    data = who.trial()
    assert data["criterion"] == "style"
    who.page.keyboard.press("2")
    who.phase("done")
    assert [row["criterion"] for row in study.posts] == ["content", "style"]


@pytest.mark.parametrize("status", [425, 429, 503])
def test_not_now_is_waited_for(visit: Visit, status: int) -> None:
    study = _study(n=1)
    study.refuse = [status, status]
    who = visit(study)
    who.network_faults_wanted = True
    _answer(who, "2")
    who.phase("done")
    assert list(who.answered().values()) == ["right"]


@pytest.mark.parametrize("fault", ["cut", "wall"])
@pytest.mark.parametrize("page", ["pairs", "slider"])
def test_a_yes_that_did_not_come_whole_from_the_server_is_no_yes(visit: Visit, fault: str, page: str) -> None:
    criteria = ("overall",)
    phases = ("instructions", "ready", "trial", "finish", "done")
    study = FakeStudy(phases=phases, n=3, criteria=criteria, page=page, layout="four" if page == "pairs" else "single")
    setattr(study, fault, 3)
    who = visit(study)  # the session, the state
    who.network_faults_wanted = True
    who.phase("instructions")
    for name, following in (("Continue", "ready"), ("Start the study", "trial")):  # steps
        setattr(study, fault, 2)
        who.press(name)
        who.phase(following)
    for trial in study.trials:  # answers, and the state after the last of them
        who.trial(trial)
        setattr(study, fault, 2)
        for key in ("1",) if page == "pairs" else ("Home", "Enter"):
            who.page.locator("input.slider").focus() if key == "Home" else None
            who.page.keyboard.press(key)
    who.phase("done")
    assert list(who.answered().values()) == ["left" if page == "pairs" else "0"] * 3
    assert len(study.answers) == len({post["id"] for post in study.posts}) == 3
    assert who.data()["waiting"] == "0"


@pytest.mark.parametrize(("page", "layout"), [("pairs", "four"), ("slider", "single")])
def test_the_script_of_a_page_that_does_not_come_is_asked_for_again(visit: Visit, page: str, layout: str) -> None:
    study = _study(page=page, layout=layout, n=2)
    study.no_script = 2
    who = visit(study)
    who.network_faults_wanted = True
    who.trial(study.trials[0])
    asked = [path for _, _, path in study.requests if path in ("/static/pairs.js", "/static/rating.js")]
    assert len(asked) == 3


def test_a_page_whose_scripts_do_not_come_is_loaded_again(visit: Visit) -> None:
    study = _study(n=1)
    study.scripts, study.no_script = ("outbox.js",), 2
    who = visit(study)
    who.network_faults_wanted = True
    who.until(  # before that the page may go away while one looks at it
        lambda: sum(path == "/static/outbox.js" for _, _, path in study.requests) == 3, "a third try"
    )
    _answer(who, "1")
    who.phase("done")


@pytest.mark.parametrize("lost", [0, 3])
def test_the_code_stays_though_late_news_tell_of_the_next_session(visit: Visit, lost: int) -> None:
    study = _study(n=2)
    study.follows, study.state_delay, study.lose_ends = True, 0.7, lost
    study.done["next"] = {"at": 0, "session": 2}
    who = visit(study)
    who.network_faults_wanted = True
    _answer(who, "1", "2")
    who.phase("done")
    asked = sum(path == "/api/state" for _, _, path in study.requests)
    who.page.wait_for_timeout(2000)  # a state that was asked for before the end comes after it
    assert who.data()["phase"] == "done"
    assert who.page.locator("output.code").inner_text() == "C1ABCD"
    assert sum(path == "/api/state" for _, _, path in study.requests) == asked
    who.press("Start")
    who.phase("device")


def test_the_code_can_be_read_again_until_the_next_session(visit: Visit) -> None:
    study = FakeStudy()
    study.forced = "wait"
    who = visit(study)
    who.phase("wait")
    assert who.page.locator("output.code").inner_text() == "C1ABCD"
    assert "The next session opens at" in who.page.locator("main").inner_text()


def test_an_answer_that_the_server_has_otherwise_is_dropped_and_the_page_goes_on(visit: Visit) -> None:
    study = _study(n=2)
    who = visit(study)
    who.network_faults_wanted = True
    who.trial(study.trials[0])
    other = {
        "id": "other",
        "trial": study.trials[0],
        "criterion": "overall",
        "revision": 0,
        "value": "left",
        "body": {},
    }
    study.answers[(study.trials[0], "overall", 0)] = other
    who.page.keyboard.press("2")
    _answer(who, "2", first=1)
    who.phase("done")
    assert list(who.answered().values()) == ["left", "right"]
    assert who.data()["waiting"] == "0"


def test_an_answer_that_the_server_will_never_take_does_not_hold_up_the_others(visit: Visit) -> None:
    study = _study(n=2)
    study.refuse = [422]
    who = visit(study)
    who.network_faults_wanted = True
    _answer(who, "1")
    who.until(lambda: study.refuse == [], "the refusal")
    onset = None
    while who.data()["phase"] != "done":  # the refused trial is asked again
        data = who.data()
        if data.get("onset") not in (None, onset):
            onset = data["onset"]
            who.page.wait_for_timeout(170)
            who.page.keyboard.press("2")
        who.page.wait_for_timeout(20)
    who.phase("done")
    assert sorted(who.answered().items()) == [((trial, "overall"), "right") for trial in study.trials]


def test_the_code_comes_only_when_the_server_has_every_answer(visit: Visit) -> None:
    study = _study(n=1)
    study.refuse = [503, 503, 503]
    who = visit(study)
    who.network_faults_wanted = True
    _answer(who, "1")
    at_once = "() => [document.body.dataset.phase, document.querySelectorAll('.code').length]"
    seen = set()
    while (now := tuple(who.page.evaluate(at_once)))[0] != "done":
        seen.add(now)
        who.page.wait_for_timeout(50)
    assert {codes for _, codes in seen} == {0}
    assert len(study.answers) == 1


def test_a_step_is_retried_until_it_is_taken(visit: Visit) -> None:
    study = FakeStudy(phases=("instructions", "ready", "trial", "finish", "done"), n=1, criteria=("overall",))
    who = visit(study)
    who.network_faults_wanted = True
    who.phase("instructions")
    who.page.context.set_offline(True)
    who.press("Continue")
    who.page.get_by_text("No connection", exact=False).wait_for()
    who.page.context.set_offline(False)
    who.phase("ready")
    assert len({step["id"] for step in study.steps}) == 1


def test_the_newest_tab_wins_and_the_older_one_says_so(visit: Visit) -> None:
    study = _study()
    old = visit(study)
    old.network_faults_wanted = True
    old.trial(study.trials[0])
    new = Visitor(old.page.context.new_page(), study, old.origin)
    new.page.goto(old.origin + "/study#k=KEY2")
    new.trial(study.trials[0])
    old.page.keyboard.press("1")
    old.phase("replaced")
    assert study.answers == {}
    _answer(new, "2")
    old.press("Go on here")  # and this one takes over again
    data = old.trial()
    assert data["trial"] == study.trials[1]
    assert list(old.answered()) == [(study.trials[0], "overall")]


def test_a_tab_that_was_duplicated_ends_the_first_one(visit: Visit) -> None:
    study = _study()
    first = visit(study)
    first.trial(study.trials[0])
    token = first.page.evaluate("sessionStorage.paragone")
    second = Visitor(first.page.context.new_page(), study, first.origin)
    second.page.goto(f"{first.origin}/study#t={token}")
    second.trial(study.trials[0])
    first.phase("replaced")
    assert second.data()["phase"] == "trial"


def test_the_key_leaves_the_address_at_once_and_a_reload_needs_none(visit: Visit) -> None:
    study = _study()
    who = visit(study)
    who.trial()
    assert who.page.url == who.origin + "/study"
    opened = study.opened
    who.page.reload()
    who.trial()
    assert study.opened == opened


def test_an_expired_session_is_renewed_by_the_cookie(visit: Visit) -> None:
    study = _study()
    who = visit(study)
    who.network_faults_wanted = True
    who.trial(study.trials[0])
    study.forgot.add(study.token)
    who.page.keyboard.press("1")
    _answer(who, "1", "1", "1", first=1)
    who.phase("done")
    assert len(study.answers) == 4


def test_answers_of_another_person_on_the_same_machine_go_out_under_their_own_token(visit: Visit) -> None:
    study = _study()
    study.refuse = [503] * 50
    who = visit(study)
    who.network_faults_wanted = True
    _answer(who, "1")
    who.until(lambda: study.refuse and len(study.refuse) < 50, "a try")
    before = len(study.requests)
    who.page.evaluate("sessionStorage.clear()")
    who.page.on("dialog", lambda dialog: dialog.accept())
    study.refuse = [404]  # whoever comes next does not own that trial
    who.page.goto(who.origin + "/study#k=NEXT")
    who.until(lambda: any(path == "/api/answers" for _, _, path in study.requests[before:]), "the old answer")
    who.trial()
    assert len({bearer for bearer, path in study.bearers if path == "/api/answers"}) >= 1


def test_a_framed_page_works_without_cookies_and_offers_a_tab_of_its_own(visit: Visit) -> None:
    study = _study()
    study.framed = True
    who = visit(study, at="/frame")
    frame = who.page.frame_locator("iframe")
    frame.locator("body[data-onset]").wait_for()
    with who.page.context.expect_page() as opened:
        frame.get_by_role("button", name="Open in a new tab").click()
    new = Visitor(opened.value, study, who.origin)
    new.trial(study.trials[0])
    assert new.page.url == who.origin + "/study"
    new.page.keyboard.press("1")
    new.trial(study.trials[1])
    assert frame.locator("body").get_attribute("data-phase") == "replaced"


def test_a_paused_study_goes_on_by_itself(visit: Visit) -> None:
    study = _study()
    study.forced = "paused"
    who = visit(study, clock=True)
    who.phase("paused")
    asked = len(study.requests)
    for _ in range(3):  # it asks again and again
        who.page.clock.fast_forward(16_000)
        who.until(lambda before=asked: len(study.requests) > before, "another question")
        asked = len(study.requests)
    study.forced = None
    who.page.clock.fast_forward(16_000)
    who.phase("trial")


def test_a_tab_that_learns_from_the_state_that_it_was_replaced_can_take_over(visit: Visit) -> None:
    study = _study()
    study.forced = "paused"
    who = visit(study, clock=True)
    who.network_faults_wanted = True
    who.phase("paused")
    study.token = "token-77"
    who.page.clock.fast_forward(16_000)
    who.phase("replaced")
    study.forced = None
    who.press("Go on here")
    who.phase("trial")


def test_where_nothing_is_loaded_ahead_the_page_waits_calmly(visit: Visit) -> None:
    study = _study(n=5)
    who = visit(study)
    who.trial(study.trials[0])
    who.until(
        lambda: sum(path.startswith("/i/") for _, _, path in study.requests) >= 12, "the next two trials' pictures"
    )
    who.network_faults_wanted = True
    who.page.context.set_offline(True)
    _answer(who, "1", "1", "1")
    who.page.get_by_text("Your answers are kept here", exact=False).first.wait_for()
    who.until(lambda: who.page.locator("main h1").inner_text() == "One moment, please", "the waiting page")
    who.page.context.set_offline(False)
    _answer(who, "1", "1", first=3)
    who.phase("done")
    assert len(study.posts) == 5

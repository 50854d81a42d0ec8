"""The participant API: what is taken, what is refused, what is told, once on each database."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
import sqlalchemy as sa
from asgi_requests import request
from scene import InProcess
from study_folder import HEAD, METHODS, PAIRS, RATINGS, frozen_study

from paragone.errors import BadInput, Lost
from paragone.study.admin import deeds
from paragone.study.client import Walker
from paragone.study.frozen import Frozen
from paragone.study.server.app import create_app
from paragone.study.server.desk import ServerSettings
from paragone.study.store import Store, answers, claims, events
from paragone.study.store.keys import Keys
from paragone.study.store.tables import event, lease, participant

FIVE = PAIRS.replace("participants = 4", "participants = 1")


class World:
    """A study that is asked, whose clock the test holds."""

    def __init__(self, frozen: Frozen, store: Store, **settings: Any) -> None:
        self.frozen, self.store, self.now = frozen, store, 1_000_000.0
        self.restart(frozen, **settings)

    def restart(self, frozen: Frozen, **settings: Any) -> None:
        """As if the server was stopped and started again, with this version."""
        self.app = create_app(
            frozen, self.store, Keys(b"k" * 32), ServerSettings(**settings), clock=lambda: self.now, keeps_house=False
        )
        self.desk = self.app.state.desk
        for bucket in (self.desk.limits.answers, self.desk.limits.arrivals):
            bucket.rate = bucket.burst = 1e9

    def rest(self, seconds: float) -> None:
        self.now += seconds

    def person(self, **options: Any) -> Walker:
        """Somebody at the door who will answer every check and training question right."""
        walker = Walker(InProcess(self.app), self.right, rest=self.rest, tries=2, **options)
        walker.enter()
        return walker

    def at(self, phase: str, **options: Any) -> tuple[Walker, dict[str, Any]]:
        walker = self.person(**options)
        return walker, walker.walk(until=phase)

    def right(self, trial: dict[str, Any], _criterion: str) -> tuple[str, float]:
        return self.expected(trial["id"]) or ("left" if trial["scale"] is None else "2.5"), 1.5

    def expected(self, public: str) -> str | None:
        for sitting in self.desk._sittings.values():
            if public in sitting.index:
                return sitting.trials[sitting.index[public]].expected
            if public in sitting.others:
                return sitting.frozen.practice[sitting.lease.stage][sitting.others[public][1]].expected
        return None

    def leases(self) -> list[tuple[str, str, int]]:
        """State, owner and priority of every lease."""
        rows = sa.select(lease.c.state, lease.c.owner, lease.c.priority).order_by(lease.c.id)
        return [tuple(row) for row in self.store.read_now(lambda c: list(c.execute(rows)))]

    def kinds(self) -> list[str]:
        rows = sa.select(event.c.kind).where(event.c.participant_id.is_not(None)).order_by(event.c.id)
        return list(self.store.read_now(lambda c: c.execute(rows).scalars().all()))


@pytest.fixture(scope="module")
def frozen(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Frozen]:
    """Makes studies; the same one once."""
    made: dict[tuple[str, str], Frozen] = {}

    def make(settings: str = PAIRS, head: str = HEAD) -> Frozen:
        if (settings, head) not in made:
            made[settings, head] = frozen_study(tmp_path_factory.mktemp("study"), settings, head=head)
        return made[settings, head]

    return make


@pytest.fixture
def opened(tmp_path: Path, frozen: Callable[..., Frozen]) -> Iterator[Callable[..., World]]:
    """Makes the world of a study of some settings, on SQLite."""
    with Store.open(f"sqlite:///{tmp_path / 'study.db'}") as store:
        yield lambda settings=PAIRS, head=HEAD, **server: World(frozen(settings, head), store, **server)


@pytest.fixture
def on_both(store_url: str, frozen: Callable[..., Frozen]) -> Iterator[Callable[..., World]]:
    """The same, once on each database."""
    with Store.open(store_url) as store:
        yield lambda settings=PAIRS, head=HEAD, **server: World(frozen(settings, head), store, **server)


def ask(walker: Walker, method: str, url: str, **options: Any) -> Any:
    """One request, whatever comes back."""
    headers = {"Authorization": f"Bearer {walker.token}"}
    return walker.http.request(method, url, headers=headers, **options)


def row(shown: dict[str, Any], **changes: Any) -> dict[str, Any]:
    made = {
        "id": str(uuid.uuid4()), "trial": shown["id"], "criterion": "content", "revision": 0,
        "value": "left" if shown["scale"] is None else "2.5", "seconds": 1.5, "body": {"input": "key"},
    }  # fmt: skip
    return {**made, **changes}


def send(walker: Walker, *rows: dict[str, Any]) -> tuple[int, Any]:
    answer = ask(walker, "POST", "/api/answers", json={"answers": list(rows)})
    return answer.status_code, answer.json()


def statuses(told: Any) -> list[str]:
    return [one["status"] for one in told["results"]]


def test_an_answer_is_stored_once_however_often_it_is_sent(on_both: Callable[..., World]) -> None:
    world = on_both()
    walker, state = world.at("trial")
    first = row(state["trials"][0])
    told = [send(walker, first) for _ in range(3)]
    assert [(code, statuses(body)) for code, body in told] == [(201, ["stored"]), (200, ["known"]), (200, ["known"])]
    assert len(world.store.read_now(lambda c: answers.of_lease(c, 1))) == 1


def test_another_answer_for_the_same_place_is_a_conflict_and_the_first_one_stays(on_both: Callable[..., World]) -> None:
    world = on_both()
    walker, state = world.at("trial")
    first = row(state["trials"][0])
    assert send(walker, first)[0] == 201
    other = send(walker, {**first, "id": str(uuid.uuid4()), "value": "right"})
    altered = send(walker, {**first, "value": "right"})
    assert (other[0], statuses(other[1])) == (altered[0], statuses(altered[1])) == (409, ["conflict"])
    assert [a.value for a in world.store.read_now(lambda c: answers.of_lease(c, 1))] == ["left"]
    assert walker.state()["trials"][0]["given"] == {"content": "left", "revision": 0}


def test_only_the_current_trial_and_the_next_two_may_be_answered(opened: Callable[..., World]) -> None:
    world = opened(PAIRS.replace("break_seconds = 30", "break_seconds = 0"))
    walker, state = world.at("trial")
    assert len(state["trials"]) == 3
    sitting = next(iter(world.desk._sittings.values()))
    code, told = send(walker, row({"id": sitting.public[3], "scale": None}))
    assert (code, told["error"]["kind"]) == (425, "too-early")
    assert send(walker, row(state["trials"][2]))[0] == 201


def test_nothing_may_be_answered_before_the_trials_begin(opened: Callable[..., World]) -> None:
    walker, state = opened().at("ready")
    assert len(state["trials"]) == 3
    assert send(walker, row(state["trials"][0]))[0] == 425


def test_the_break_holds_until_the_server_says_it_is_over(opened: Callable[..., World]) -> None:
    world = opened()
    walker, state = world.at("break")
    assert (state["break"], state["progress"]) == ({"seconds": 30.0}, {"done": 4, "of": 8})
    assert ask(walker, "POST", "/api/step", json={"id": str(uuid.uuid4()), "step": "break"}).status_code == 409
    assert send(walker, row(state["trials"][0]))[0] == 425
    world.rest(30)
    assert send(walker, row(state["trials"][0]))[0] == 201
    assert walker.state()["phase"] == "trial"


def test_a_clock_that_is_set_back_costs_one_break_at_most(opened: Callable[..., World]) -> None:
    world = opened()
    walker, _ = world.at("break")
    world.rest(-3600)
    assert walker.state()["break"] == {"seconds": 30.0}
    world.rest(30)
    assert walker.step("break")["phase"] == "trial"


def test_trials_of_others_are_not_there(opened: Callable[..., World]) -> None:
    world = opened()
    one, state = world.at("trial")
    other, mine = world.at("trial")
    assert send(other, row(state["trials"][0]))[0] == 404
    assert ask(other, "GET", state["trials"][0]["panes"][0]["src"]).status_code == 404
    assert ask(one, "GET", state["trials"][0]["panes"][0]["src"]).status_code == 200
    assert {t["id"] for t in state["trials"]} & {t["id"] for t in mine["trials"]} == set()


def test_the_newest_tab_wins_and_goes_on_at_the_same_trial(on_both: Callable[..., World]) -> None:
    world = on_both()
    walker, state = world.at("trial")
    send(walker, row(state["trials"][0]))
    old = walker.token
    walker.open()
    assert walker.state()["trials"][0]["given"] == {"content": "left", "revision": 0}
    new, walker.token = walker.token, old
    world.rest(20)
    gone = [
        ask(walker, "GET", "/api/state"),
        ask(walker, "GET", state["trials"][0]["panes"][0]["src"]),
        ask(walker, "POST", "/api/finish", json={"id": str(uuid.uuid4())}),
        ask(walker, "POST", "/api/step", json={"id": str(uuid.uuid4()), "step": "break"}),
        ask(walker, "POST", "/api/answers", json={"answers": [row(state["trials"][1])]}),
    ]
    assert [(told.status_code, told.json()["error"]["kind"]) for told in gone] == [(410, "replaced")] * 5
    walker.token = new
    assert send(walker, row(state["trials"][1]))[0] == 201


def test_nobodys_token_opens_nothing(opened: Callable[..., World]) -> None:
    walker, state = opened().at("trial")
    walker.token = "x" * 43
    assert [ask(walker, "GET", path).status_code for path in ("/api/state", state["trials"][0]["panes"][0]["src"])] == [
        401,
        401,
    ]
    assert send(walker, row(state["trials"][0]))[0] == 401


@pytest.mark.parametrize(
    "changes",
    [
        {"value": "tie"}, {"value": "up"}, {"value": ""}, {"value": 1}, {"criterion": "mood"}, {"revision": 1},
        {"revision": -1}, {"id": "no uuid"}, {"seconds": -1}, {"seconds": 1e9}, {"more": 1}, {"body": {"more": 1}},
        {"body": {"distortions": ["blur"]}}, {"body": {"scale": "large"}}, {"trial": ""}, {"trial": "x" * 100},
    ],
)  # fmt: skip
def test_what_is_no_answer_is_refused(opened: Callable[..., World], changes: dict[str, Any]) -> None:
    world = opened()
    walker, state = world.at("trial")
    code, told = send(walker, row(state["trials"][0], **changes))
    assert (code, told["error"]["kind"]) == (422, "bad-request")
    assert world.store.read_now(lambda c: answers.of_lease(c, 1)) == []


def test_answers_of_two_trials_or_too_many_are_refused(opened: Callable[..., World]) -> None:
    walker, state = opened().at("trial")
    assert send(walker, row(state["trials"][0]), row(state["trials"][1]))[0] == 422
    assert send(walker, *[row(state["trials"][0]) for _ in range(21)])[0] == 422
    assert send(walker)[0] == 422


@pytest.mark.parametrize(
    ("value", "code"), [("2.5", 201), ("5", 201), ("0", 201), ("2.55", 422), ("5.1", 422), ("-1", 422)]
)
def test_ratings_lie_on_the_scale(opened: Callable[..., World], value: str, code: int) -> None:
    walker, state = opened(RATINGS).at("trial")
    assert send(walker, row(state["trials"][0], value=value))[0] == code


def test_a_third_button_is_an_answer_where_there_is_one(opened: Callable[..., World]) -> None:
    walker, state = opened(PAIRS + 'tie = "unsure"\n').at("trial")
    assert state["trials"][0]["third"] == "unsure"
    assert send(walker, row(state["trials"][0], value="tie"))[0] == 201


def test_ratings_may_be_changed_and_the_last_one_counts(on_both: Callable[..., World]) -> None:
    world = on_both(RATINGS)
    walker, state = world.at("trial")
    trial = state["trials"][0]
    walker.give(trial)
    later = walker.state()
    assert [(t["id"], t["given"]) for t in later["earlier"]] == [
        (trial["id"], {"content": "2.5", "style": "2.5", "revision": 0})
    ]
    assert ask(walker, "GET", trial["panes"][0]["src"]).status_code == 200
    assert send(walker, row(trial, value="4", revision=1))[0] == 201
    assert walker.state()["earlier"][0]["given"] == {"content": "4", "style": "2.5", "revision": 1}
    assert len(world.store.read_now(lambda c: answers.of_lease(c, 1))) == 3


def test_in_pairs_nothing_that_was_answered_is_served_again(opened: Callable[..., World]) -> None:
    walker, state = opened().at("trial")
    trial = state["trials"][0]
    walker.give(trial)
    assert "earlier" not in walker.state()
    assert ask(walker, "GET", trial["panes"][0]["src"]).status_code == 404


def test_a_paused_study_takes_no_answers_and_says_so(on_both: Callable[..., World]) -> None:
    world = on_both()
    walker, state = world.at("trial")
    for kind, code, phase in (("admin.pause", 503, "paused"), ("admin.resume", 201, "trial")):
        world.store.write_now(lambda c, kind=kind: events.append(c, kind, world.now))
        world.store.read_now(world.desk.news)
        assert send(walker, row(state["trials"][0]))[0] == code
        assert walker.state()["phase"] == phase


def test_a_step_is_taken_once_and_only_in_its_turn(on_both: Callable[..., World]) -> None:
    world = on_both()
    walker, _ = world.at("device")
    sent = {"id": str(uuid.uuid4()), "step": "device", "body": {"width": 1200}}
    told = [ask(walker, "POST", "/api/step", json=sent) for _ in range(2)]
    assert [(answer.status_code, answer.json()["phase"]) for answer in told] == [(200, "instructions")] * 2
    late = ask(walker, "POST", "/api/step", json={"id": str(uuid.uuid4()), "step": "device"})
    assert (late.status_code, late.json()["phase"]) == (409, "instructions")
    assert world.kinds() == ["consent", "device"]


def test_nobody_consents_to_a_text_that_was_not_shown(opened: Callable[..., World]) -> None:
    walker = opened().person()
    assert walker.step("consent", {"version": "0" * 16})["phase"] == "consent"


def test_who_declines_leaves_nothing_but_a_count(on_both: Callable[..., World]) -> None:
    world = on_both()
    walker = world.person()
    told = walker.step("decline")
    assert (told["phase"], told["done"]["outcome"]) == ("done", "no-consent")
    assert told["done"]["code"] == world.desk.codes["no-consent"]
    assert ask(walker, "GET", "/api/state").status_code == 401
    people = sa.select(sa.func.count()).select_from(participant)
    assert world.store.read_now(lambda c: c.execute(people).scalar()) == 0
    declined = sa.select(sa.func.count()).where(event.c.kind == "declined", event.c.participant_id.is_(None))
    assert world.store.read_now(lambda c: c.execute(declined).scalar()) == 1


def test_training_tells_what_was_right_and_lets_nobody_pass_who_was_wrong(opened: Callable[..., World]) -> None:
    world = opened()
    walker, state = world.at("training")
    first = state["training"]["questions"][0]
    wrong = {"left": "right", "right": "left"}[world.expected(first["id"]) or ""]
    told = walker.step("training", {"answers": [{"trial": first["id"], "criterion": "content", "value": wrong}]})
    assert [one and one["right"] for one in told["training"]["feedback"]] == [False, None, None]
    rest = [
        {"trial": q["id"], "criterion": q["criteria"][0]["id"], "value": world.expected(q["id"])}
        for q in state["training"]["questions"][1:]
    ]
    told = walker.step("training", {"answers": rest})
    assert (told["phase"], told["training"]["attempt"]) == ("training", 2)
    assert [one["right"] for one in told["training"]["feedback"]] == [False, True, True]
    passed = walker.go(told)
    assert passed["phase"] == "ready"
    assert all(one["right"] for one in passed["training"]["feedback"])


def test_who_fails_the_training_gets_its_code_and_the_sheet_goes_to_another(on_both: Callable[..., World]) -> None:
    world = on_both(FIVE)
    walker, state = world.at("training", train=lambda question, _c: "tie")
    assert state["training"]["again"] == []
    state = walker.go(state)
    assert [part["head"] for part in state["training"]["again"]] == ["What to do"]
    for _ in range(2):
        state = walker.go(state)
    assert (state["phase"], state["done"]["outcome"]) == ("done", "failed-training")
    assert all(told["text"].startswith("The better choice was") for told in state["training"]["feedback"])
    assert state["done"]["code"] == world.desk.codes["failed-training"]
    assert world.leases() == [("free", "within-001", 0)]
    assert world.at("done")[1]["done"]["outcome"] == "completed"


def test_the_code_comes_when_every_answer_is_there_and_not_before(on_both: Callable[..., World]) -> None:
    world = on_both()
    walker, _ = world.at("trial")
    early = ask(walker, "POST", "/api/finish", json={"id": str(uuid.uuid4())})
    assert (early.status_code, early.json()["phase"]) == (409, "trial")
    assert world.desk.codes["completed"] not in early.text
    state = walker.walk(until="finish")
    sent = {"id": str(uuid.uuid4())}
    told = [
        ask(walker, "POST", "/api/finish", json=sent),
        ask(walker, "POST", "/api/finish", json={"id": str(uuid.uuid4())}),
    ]
    assert [answer.json()["code"] for answer in told] == [world.desk.codes["completed"]] * 2
    assert world.kinds().count("finished") == 1
    assert state["phase"] == "finish"


def test_too_few_right_checks_exclude_the_sheet_and_not_the_pay(on_both: Callable[..., World]) -> None:
    world = on_both(PAIRS)
    walker = world.person(train=lambda question, _c: world.expected(question["id"]) or "left")
    walker.answer = lambda trial, _c: (
        {"left": "right", "right": "left"}.get(world.expected(trial["id"]) or "", "left"),
        1.0,
    )
    done = walker.walk()
    assert done["done"]["code"] == world.desk.codes["completed"]
    assert world.leases()[0] == ("excluded", "within-001", 0)
    assert world.leases()[-1] == ("free", "within-001", -1)
    told = {e.kind: e.body for e in world.store.read_now(lambda c: events.of_lease(c, 1))}
    assert told["finished"]["checks"] == {"right": {}, "wrong": {"broken": 2}, "unknown": {}}
    assert told["admin.exclude"] == {"who": "rule: checks", "why": "0 of 2 checks right, 1 needed"}
    world.store.write_now(lambda c: claims.restore(c, 1, world.now, who="desk", why="looked at"))
    assert world.leases()[0][0] == "complete"


FORBIDDEN = ("broken", "expected", "repeat", '"check"', '"main"', "stabilising", ".png", "reference:")


@pytest.mark.parametrize("settings", [PAIRS, RATINGS, PAIRS.replace("checks = 2", 'check = "instructed"\nchecks = 2')])
def test_nothing_that_is_sent_tells_what_a_trial_is_for(opened: Callable[..., World], settings: str) -> None:
    world = opened(settings)
    walker = world.person()
    said: list[str] = []
    sent = walker.http.request

    def listened(*what: Any, **options: Any) -> Any:
        answer = sent(*what, **options)
        said.append(json.dumps(dict(answer.headers)))
        said.append(answer.text if "json" in answer.headers.get("content-type", "") else "")
        return answer

    walker.http.request = listened  # type: ignore[method-assign]
    state = walker.state()
    while state["phase"] != "done":
        for trial in state.get("trials", []):
            for pane in trial["panes"]:
                content = walker.picture(pane["src"])
                assert content.startswith(b"\x89PNG")
                assert not re.search(rb"tEXt|iTXt|zTXt|eXIf", content)
        state = walker.go(state)
    whole = "\n".join(said)
    assert len(said) > 40
    for word in (*FORBIDDEN, *(f"{method}/" for method in METHODS), "within-001", "rate-001"):
        assert word not in whole, word


def test_a_picture_has_another_name_and_tag_in_every_trial(opened: Callable[..., World]) -> None:
    world = opened()
    walker, state = world.at("trial")
    one = state["trials"][0]["panes"][0]
    first = ask(walker, "GET", one["src"])
    assert first.headers["cache-control"] == "private, max-age=86400, immutable"
    sitting = next(iter(world.desk._sittings.values()))
    assert first.headers["etag"].strip('"') not in (sitting.trials[0].references[0][2], one["src"])
    again = walker.http.request(
        "GET", one["src"], headers={"Authorization": f"Bearer {walker.token}", "If-None-Match": first.headers["etag"]}
    )
    assert (again.status_code, again.content) == (304, b"")
    tags = {ask(walker, "GET", t["panes"][0]["src"]).headers["etag"] for t in state["trials"]}
    assert len(tags) == 3
    assert ask(walker, "GET", one["src"][:-1] + "z").status_code == 404


def test_pictures_of_training_and_tutorial_are_there_in_their_phase_only(opened: Callable[..., World]) -> None:
    walker, state = opened(PAIRS, head=HEAD + "[display]\nplates = 2\n").at("device")
    plate = f"/i/{state['device']['plates'][0]['id']}/a"
    assert ask(walker, "GET", plate).content.startswith(b"\x89PNG")
    seen = {one["id"]: "" for one in state["device"]["plates"]}
    assert walker.step("device", {"plates": {"x": "12"}})["phase"] == "device"
    walker.step("device", {"width": 1200, "plates": seen})
    assert ask(walker, "GET", plate).status_code == 404
    state = walker.walk(until="tutorial")
    card = next(card for card in state["tutorial"]["cards"] if card["panes"])
    assert ask(walker, "GET", card["panes"][0]["src"]).content.startswith(b"\x89PNG")
    state = walker.walk(until="training")
    assert ask(walker, "GET", card["panes"][0]["src"]).status_code == 404
    question = state["training"]["questions"][0]
    assert ask(walker, "GET", question["panes"][0]["src"]).content.startswith(b"\x89PNG")
    walker.walk(until="ready")
    assert ask(walker, "GET", question["panes"][0]["src"]).status_code == 404


def test_answers_to_plates_are_kept_with_what_they_say(opened: Callable[..., World]) -> None:
    world = opened(PAIRS, head=HEAD + "[display]\nplates = 5\n")
    walker, state = world.at("device")
    shown = world.desk.plates(world.desk.frozen)
    ids = [one["id"] for one in state["device"]["plates"]]
    assert all(plate.digits in one["choices"] for plate, one in zip(shown, state["device"]["plates"], strict=True))
    walker.step("device", {"plates": {name: plate.digits for name, plate in zip(ids, shown, strict=True)}})
    told = world.store.read_now(lambda c: events.of_participant(c, 1))[-1].body
    assert told["vision"] == {"outcome": "passed", "right": 4, "answered": 4}
    assert told["plates"]["0"] == shown[0].digits


def test_an_instructed_check_is_drawn_and_asked_and_looks_like_any_other_trial(opened: Callable[..., World]) -> None:
    world = opened(PAIRS.replace("checks = 2", 'check = "instructed"\nchecks = 2').replace("break_seconds = 30", ""))
    walker, state = world.at("trial")
    keys = {tuple(sorted(trial)) for trial in state["trials"]}
    sitting = next(iter(world.desk._sittings.values()))
    while state["phase"] == "trial":
        for trial in state["trials"]:
            place = sitting.index[trial["id"]]
            question = "".join(trial["criteria"][0]["question"])
            told = sitting.trials[place]
            assert ("Please choose" in question) == (told.check == "instructed")
            if told.check == "instructed":
                plain = world.desk.pictures.picture(
                    world.desk.folder / world.frozen.pictures[told.left or ""].path,
                    world.frozen.pictures[told.left or ""].sha256,
                )
                src = next(pane["src"] for pane in trial["panes"] if pane["role"] == "left")
                assert walker.picture(src) != plain
        keys |= {tuple(sorted(trial)) for trial in state["trials"]}
        state = walker.go(state)
    assert len(keys) == 1


def test_questions_about_the_person_are_those_that_were_asked(opened: Callable[..., World]) -> None:
    world = opened()
    walker, state = world.at("questionnaire")
    assert [field["id"] for field in state["questionnaire"]["fields"]] == ["gender", "age", "expertise", "region"]
    assert walker.step("questionnaire", {"answers": {"income": "high"}})["phase"] == "questionnaire"
    choice = state["questionnaire"]["fields"][0]["choices"][0]["id"]
    assert walker.step("questionnaire", {"answers": {"gender": "no such choice"}})["phase"] == "questionnaire"
    assert walker.step("questionnaire", {"answers": {"gender": choice}, "remark": "fine"})["phase"] == "finish"


def test_more_people_than_sheets_find_the_study_full_until_one_is_free(on_both: Callable[..., World]) -> None:
    world = on_both(FIVE)
    world.at("device")
    late = world.person()
    assert late.walk(until="full")["phase"] == "full"
    world.store.write_now(lambda c: claims.release(c, 1, world.now, who="desk", why="gone"))
    assert late.state()["phase"] == "device"


def test_both_stages_follow_each_other_where_the_study_allows_it(on_both: Callable[..., World]) -> None:
    both = HEAD + "[people]\nboth_stages = true\ngap_hours = 2\n"
    world = on_both(PAIRS + RATINGS, head=both)
    walker = world.person()
    state = walker.walk(until="ready")
    assert state["session"] == {"number": 1, "of": 3}
    done = walker.walk(state)["done"]
    assert (done["outcome"], done["next"]) == ("completed", {"at": world.now + 7200, "session": 2})
    assert walker.state()["phase"] == "done"
    world.rest(7200)
    state = walker.state()
    assert (state["phase"], state["session"]) == ("device", {"number": 2, "of": 3})
    assert walker.walk(state)["done"]["next"] == {"at": world.now + 7200, "session": 3}
    world.rest(7200)
    assert walker.walk()["done"]["next"] is None
    assert walker.state()["phase"] == "done"
    assert [state for state, _, _ in world.leases()].count("complete") == 2
    assert world.kinds().count("questionnaire") == 1


def test_the_address_may_ask_for_a_stage(opened: Callable[..., World]) -> None:
    world = opened(PAIRS + RATINGS)
    walker = world.person()
    walker.enter("?stage=rate&new=1")
    state = walker.walk(until="trial")
    assert state["trials"][0]["page"] == "slider"


def test_the_text_of_consent_is_kept_under_its_version(opened: Callable[..., World]) -> None:
    world = opened()
    walker = world.person()
    shown = walker.state()["consent"]
    walker.go(walker.state())
    rows = sa.select(event.c.body).where(event.c.kind == "consent-text")
    kept = {
        told["version"]: told
        for told in map(json.loads, world.store.read_now(lambda c: c.execute(rows).scalars().all()))
    }
    given = next(e for e in world.store.read_now(lambda c: events.of_participant(c, 1)) if e.kind == "consent")
    assert kept[given.body["version"]]["parts"] == shown["parts"]


def test_one_stage_is_enough_where_it_does_not(opened: Callable[..., World]) -> None:
    world = opened(PAIRS + RATINGS)
    walker = world.person()
    walker.walk()
    assert walker.state()["phase"] == "done"


def test_sessions_keep_their_gap_and_the_code_of_the_last_one_can_be_read_again(opened: Callable[..., World]) -> None:
    world = opened(RATINGS, head=HEAD + "[people]\ngap_hours = 20\n")
    walker = world.person()
    done = walker.walk()["done"]
    assert done["next"] == {"at": world.now + 20 * 3600, "session": 2}
    state = walker.state()
    assert (state["phase"], state["wait"]["until"], state["done"]["code"]) == ("wait", done["next"]["at"], done["code"])
    world.rest(20 * 3600)
    assert walker.state()["session"] == {"number": 2, "of": 2}
    assert walker.walk()["done"]["next"] is None


def test_a_preview_ends_as_one(opened: Callable[..., World]) -> None:
    world = opened(preview=True)
    walker = world.person()
    walker.walk()
    state = walker.state()
    assert (state["phase"], state["study"]["preview"]) == ("preview-end", True)


def test_another_language_is_spoken_from_then_on(opened: Callable[..., World]) -> None:
    walker = opened(head=HEAD + '[pages]\nlanguages = ["en", "de"]\n').person()
    assert walker.state()["study"]["language"] == "en"
    assert ask(walker, "GET", "/api/state?lang=de").json()["study"]["language"] == "de"
    state = walker.state()
    assert state["study"]["language"] == "de"
    assert ask(walker, "GET", "/api/state?lang=fr").json()["study"]["language"] == "de"
    assert walker.go(state)["phase"] == "device"


def test_who_is_under_way_stays_on_their_version(on_both: Callable[..., World], tmp_path: Path) -> None:
    world = on_both()
    walker, state = world.at("trial")
    world.restart(reworded(world.frozen, "Is the *content* kept?"))
    walker.http.app = world.app  # type: ignore[attr-defined]
    assert walker.state()["trials"][0]["criteria"] == state["trials"][0]["criteria"]
    _, other = world.at("trial")
    asked = {c["id"]: "".join(c["question"]) for c in other["trials"][0]["criteria"]}
    assert asked["content"] == "Is the content kept?"
    assert walker.walk()["done"]["outcome"] == "completed"


def reworded(frozen: Frozen, question: str) -> Frozen:
    """The version with other words for the question of content."""
    pages = msgspec.structs.replace(frozen.study.pages, questions={"content": question})
    return replace(frozen, study=msgspec.structs.replace(frozen.study, pages=pages))


def test_a_new_version_asks_nobody_again_what_was_asked(on_both: Callable[..., World]) -> None:
    world = on_both()
    world.person().walk()
    world.restart(reworded(world.frozen, "*Content*?"))
    states = world.leases()
    assert sorted(owner for state, owner, _ in states if state == "free") == ["within-002", "within-003", "within-004"]
    world.restart(reworded(world.frozen, "*Content*?"))
    assert world.leases() == states


def test_codes_stay_the_same_over_a_restart(on_both: Callable[..., World]) -> None:
    world = on_both()
    before = dict(world.desk.codes)
    world.restart(world.frozen)
    assert world.desk.codes == before
    assert len(set(before.values())) == 5


def test_what_the_browser_tells_is_kept_once(opened: Callable[..., World]) -> None:
    world = opened()
    walker, _ = world.at("trial")
    sent = {"id": str(uuid.uuid4()), "kind": "hidden", "body": {"ms": 1200}}
    assert [ask(walker, "POST", "/api/telemetry", json=sent).status_code for _ in range(2)] == [201, 201]
    told = [e for e in world.store.read_now(lambda c: events.of_participant(c, 1)) if e.kind == "telemetry"]
    assert [(e.lease_id, e.body) for e in told] == [(1, {"kind": "hidden", "body": {"ms": 1200}})]


def test_a_whole_number_that_no_browser_has_is_refused(opened: Callable[..., World]) -> None:
    world = opened()
    walker, _ = world.at("device")
    for number in (10**400, -(10**400)):
        for url, told in (("/api/step", {"step": "device"}), ("/api/telemetry", {"kind": "hidden"})):
            sent = {"id": str(uuid.uuid4()), **told, "body": {"width": number}}
            assert ask(walker, "POST", url, json=sent).status_code == 422
    sent = {"id": str(uuid.uuid4()), "step": "device", "body": {"width": 2**53, "height": -(2**53)}}
    assert ask(walker, "POST", "/api/step", json=sent).status_code == 200


def test_an_answer_with_text_that_no_file_holds_is_refused_under_every_name(opened: Callable[..., World]) -> None:
    world = opened()
    walker, state = world.at("trial")
    body = json.dumps({"answers": [row(state["trials"][0], body={"input": "\0"})]}).encode()
    for kind in ("application/json", "text/plain", "application/x+json"):
        headers = {"origin": "http://localhost:8000", "authorization": f"Bearer {walker.token}", "content-type": kind}
        assert request(world.app, "POST", "/api/answers", headers=headers, body=body).status == 400


def test_who_was_thought_gone_may_finish_and_both_sheets_count_as_they_are(on_both: Callable[..., World]) -> None:
    world = on_both(FIVE)
    walker, state = world.at("trial")
    walker.give(state["trials"][0])
    world.rest(3 * 3600)
    world.store.write_now(lambda c: claims.sweep(c, world.now, 45 * 60.0))
    assert [s for s, _, _ in world.leases()] == ["abandoned", "free"]
    assert world.person().walk()["done"]["outcome"] == "completed"
    assert walker.walk()["done"]["outcome"] == "completed"
    assert [s for s, _, _ in world.leases()] == ["complete", "complete"]


def test_an_excluded_participant_is_told_that_it_is_over(opened: Callable[..., World]) -> None:
    world = opened()
    walker, state = world.at("trial")
    world.store.write_now(lambda c: claims.exclude(c, 1, world.now, who="desk", why="asked to"))
    assert send(walker, row(state["trials"][0]))[0] == 410
    assert walker.state()["phase"] == "closed"


@pytest.mark.parametrize(("act", "outcome"), [("screen-out", "screened-out"), ("technical", "technical")])
@pytest.mark.parametrize("answered", [False, True])
def test_whoever_the_desk_lets_go_gets_the_code_of_that_outcome(
    on_both: Callable[..., World], act: str, outcome: str, answered: bool
) -> None:
    world = on_both()
    walker, state = world.at("trial")
    if answered:
        assert send(walker, row(state["trials"][0]))[0] == 201
    order = deeds.Order("p-0001", "ada", "the picture did not load", world.now, True)
    assert outcome not in world.kinds()
    world.store.write_now(lambda c: deeds.done(c, act, order))
    assert send(walker, row(state["trials"][1]))[0] == 410
    told = walker.state()
    assert (told["phase"], told["done"]["outcome"]) == ("done", outcome)
    assert told["done"]["code"] == world.desk.codes[outcome]
    assert world.desk.codes[outcome] != world.desk.codes["completed"]
    free = [("free", "within-001", -1)] if answered else [("free", "within-001", 0)]
    assert [one for one in world.leases() if one[:2] == ("free", "within-001")] == free
    with pytest.raises(BadInput, match="nothing to end"):
        world.store.write_now(lambda c: deeds.done(c, "technical", order))


def test_whoever_is_through_cannot_be_let_go(opened: Callable[..., World]) -> None:
    world = opened()
    world.at("done")
    order = deeds.Order("p-0001", "ada", "too late", world.now, True)
    with pytest.raises(BadInput, match="p-0001: has not begun or is through"):
        world.store.write_now(lambda c: deeds.done(c, "screen-out", order))


def test_too_fast_is_too_fast(opened: Callable[..., World]) -> None:
    world = opened()
    walker, state = world.at("trial")
    world.desk.limits.answers.rate, world.desk.limits.answers.burst = 1e-6, 2.0
    walker.open()
    codes = [send(walker, row(state["trials"][0]))[0] for _ in range(3)]
    assert codes[-1] == 429


def test_a_walker_says_where_it_got_stuck(opened: Callable[..., World]) -> None:
    world = opened(FIVE)
    world.at("device")
    with pytest.raises(Lost, match="cannot go on in phase 'full'"):
        world.person().walk()


class ByTurns(InProcess):
    """A balancer in front of two processes: each request goes to the other one."""

    apps: list[Any]

    def request(self, method: str, url: str, **options: Any) -> Any:
        self.apps.reverse()
        self.app = self.apps[0]
        return super().request(method, url, **options)


def test_two_processes_on_one_store_are_one_study(on_both: Callable[..., World]) -> None:
    world = on_both(PAIRS)
    first = world.app
    world.restart(world.frozen)
    http = ByTurns(world.app)
    http.apps = [first, world.app]

    def right(trial: dict[str, Any], criterion: str) -> tuple[str, float]:
        for app in http.apps:
            world.desk = app.state.desk
            if expected := world.expected(trial["id"]):
                return expected, 1.0
        return "left", 1.0

    walker = Walker(http, right, rest=world.rest, tries=2)
    assert walker.walk(walker.enter())["done"]["outcome"] == "completed"
    assert len(walker.acknowledged) == 16


def test_a_pause_and_a_new_version_reach_the_other_process(on_both: Callable[..., World]) -> None:
    world = on_both()
    other = world.app.state.desk
    world.restart(reworded(world.frozen, "*Content*?"))
    world.store.write_now(lambda c: events.append(c, "admin.pause", world.now))
    assert (other.current, other.paused) == (1, False)
    world.store.read_now(other.news)
    assert (other.current, other.paused) == (2, True)
    assert other.frozen.study.pages.questions == {"content": "*Content*?"}

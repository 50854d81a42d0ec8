"""Simulated participants on the server's interface: recognised by the key, named, answering as `observers` has it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from asked_study import AskedStudy, asked_study
from study_folder import PAIRS, RATINGS

from paragone.errors import BadInput, UnknownName
from paragone.observers import Observers, simulate
from paragone.plan import Plan
from paragone.scores import Scores
from paragone.study.client import Walker
from paragone.study.crowd import Crowd, Member
from paragone.study.pictures import choices
from paragone.study.server.simulated import passes
from paragone.study.store import answers

CALM = PAIRS.replace("break_seconds = 30", "break_seconds = 0")


def _crowd(here: AskedStudy, **look: Any) -> Crowd:
    key = here.keys.derived("public ids")
    return Crowd(here.frozen, key, here.latent, seed=1, observers=Observers(**look))


def _walked(here: AskedStudy, member: Member, *, sessions: int = 99) -> Walker:
    """A simulated participant who has walked from the door to the code of the last session, or of an earlier one."""
    ticket = passes(here.keys.hmac, 1)[0]
    http = here.browser()
    walker = Walker(
        http,
        lambda trial, criterion: member.answer(trial["id"], criterion),
        train=lambda question, _criterion: member.trained(question["id"]).value,
    )
    walker.enter(f"?simulated={ticket}")
    state = walker.walk(until="instructions")
    told = http.get("/", params={"simulated": ticket, "seat": "1"}).json()
    member.sit(told["lease"], told["stage"], told["owner"])
    while walker.walk(state)["done"]["next"] and len(walker.codes) < sessions:
        state = walker.state()
    return walker


def test_the_attentive_pass_training_and_checks_and_are_named_simulated(tmp_path: Path) -> None:
    with asked_study(tmp_path, CALM) as here:
        walker = _walked(here, _crowd(here, lapse=0.0).member(0, careless=False))
        assert len(walker.codes) == 1
        assert here.one("SELECT state FROM lease WHERE id = 1") == "complete"
        assert here.one("SELECT name FROM participant") == "sim-0001"


def test_careless_ones_fail_checks(tmp_path: Path) -> None:
    many = (
        CALM.replace("trials = 6", "trials = 12")
        .replace("checks = 2", "checks = 8")
        .replace("needed = 1", "needed = 8")
    )
    with asked_study(tmp_path, many) as here:
        _walked(here, _crowd(here).member(0, careless=True))
        assert here.one("SELECT state FROM lease WHERE id = 1") == "excluded"


def test_ratings_follow_the_truth_on_the_scale_of_the_stage(tmp_path: Path) -> None:
    with asked_study(tmp_path, RATINGS) as here:
        crowd = _crowd(here, taste_sd=0.0, lapse=0.0, inconsistency=0.0, inconsistency_sd=0.0, offset_sd=0.0)
        _walked(here, crowd.member(0, careless=False))
        truth = {c: dict(here.latent.of_criterion(c).select("item", "score").iter_rows()) for c in here.latent.criteria}
        spread = np.mean([np.std(list(scores.values())) for scores in truth.values()])
        sheets = here.frozen.sheets(*here.frozen.parts.leases[0])
        shown = {trial.trial: trial for sheet in sheets for trial in sheet.trials}
        given = here.store.read_now(lambda c: answers.of_lease(c, 1))
        rated = [(answer, shown[answer.trial]) for answer in given if shown[answer.trial].expected is None]
        assert len(rated) == 2 * 2 * 5  # sessions, criteria, pictures
        for answer, trial in rated:
            scores = truth[answer.criterion]
            expected = 2.5 + (scores[str(trial.item)] - np.mean(list(scores.values()))) / spread
            assert float(answer.value) == pytest.approx(np.clip(expected, 0, 5), abs=0.0501)


def test_the_same_person_answers_the_same_and_another_otherwise(tmp_path: Path) -> None:
    with asked_study(tmp_path, CALM.replace("trials = 6", "trials = 12")) as here:
        crowd = _crowd(here, temperature=3.0)
        publics = list(_seated(crowd, 0)._trials)
        said = [[_seated(crowd, number).answer(public, "style") for public in publics] for number in (0, 0, 1)]
        assert said[0] == said[1]
        assert [one.value for one in said[0]] != [one.value for one in said[2]]


def _seated(crowd: Crowd, number: int) -> Member:
    member = crowd.member(number, careless=False)
    member.sit(1, *crowd.frozen.parts.leases[0])
    return member


def test_criteria_that_are_asked_one_by_one_share_the_time_of_their_trial(tmp_path: Path) -> None:
    with asked_study(tmp_path, CALM) as here:
        member = _seated(_crowd(here, seconds_sd=0.0, pace_sd=0.0, seconds=9.0), 0)
        public = next(iter(member._trials))
        assert [member.answer(public, name).seconds for name in member.order(public)] == [4.5, 4.5]


def test_a_pass_is_needed_and_nobody_else_can_make_one(tmp_path: Path) -> None:
    with asked_study(tmp_path, CALM) as here, httpx.Client(base_url=here.address, timeout=20) as http:
        real = passes(here.keys.hmac, 1)[0]
        person, _, signed = real.partition(".")
        for wrong in ("x", person, f"{person}.", f"other.{signed}", f"{person}.{signed[:-1]}", ".", f".{signed}"):
            asked = [http.get("/", params={"simulated": wrong, **more}) for more in ({}, {"seat": "1"})]
            assert [answer.status_code for answer in asked] == [404, 404]
        assert here.one("SELECT count(*) FROM participant") == 0
        assert http.get("/", params={"simulated": real}).status_code == 303
        told = http.get("/", params={"simulated": real, "seat": "1"}).json()
        assert told == {"participant": "sim-0001", "lease": None, "stage": None, "owner": None}


def test_what_cannot_be_simulated_is_said(tmp_path: Path) -> None:
    with asked_study(tmp_path, CALM) as here:
        crowd = _crowd(here)
        with pytest.raises(BadInput, match="the plan does not have"):
            crowd.member(0).answer("AAAAAAAAAAAAAAAA", "style")
        with pytest.raises(UnknownName, match="no stage 'withn'; did you mean 'within'"):
            _crowd(here, stage_temperature={"withn": 2.0})
        few = Scores(here.latent.frame.filter(here.latent.frame["item"] != "aa/cat"), name="few", made={})
        with pytest.raises(BadInput, match="few has no score for 'aa/cat' on 'content'"):
            Crowd(crowd.frozen, crowd.key, few, seed=1)


def test_who_loads_the_page_again_between_two_stages_is_told_when_the_next_opens(tmp_path: Path) -> None:
    both = CALM + RATINGS + "[people]\nboth_stages = true\ngap_hours = 2.0\n"
    with asked_study(tmp_path, both) as here:
        walker = _walked(here, _crowd(here).member(0, careless=False), sessions=1)
        state = walker.state()
        assert state["phase"] == "done"
        assert state["done"]["next"]["session"] == 2
        assert state["done"]["next"]["at"] - state["now"] == pytest.approx(7200, abs=60)
        here.ahead += 7201
        assert walker.state()["phase"] == "device"


def test_a_crowd_answers_as_the_observers_of_a_plan_do(tmp_path: Path) -> None:
    with asked_study(tmp_path, CALM + RATINGS) as here:
        crowd = _crowd(here, taste_sd=0.3, ties=0.0, lapse=0.1, left_bias=0.4)
        plan, n = Plan.read(here.frozen.folder / "plan.csv"), 150
        owners = [lease for lease in here.frozen.parts.leases if lease[1].endswith("001")]
        ours: dict[tuple[str, str], list[float]] = {}
        for number in range(n):
            member = crowd.member(number)
            for lease, (stage, owner) in enumerate(owners, start=1):
                member.sit(lease, stage, owner)
                for public, (_, trial) in member._trials.items():
                    given = member.answer(public, "style").value
                    ours.setdefault((trial.trial, "style"), []).append(_number(given))
        theirs: dict[tuple[str, str], list[float]] = {}
        for seed in range(n):
            told = simulate(plan, here.latent, seed=seed, observers=crowd.look)
            for trial, criterion, answer in told.select("trial", "criterion", "answer").iter_rows():
                if (trial, criterion) in ours:
                    theirs.setdefault((trial, criterion), []).append(_number(answer))
        assert len(ours) > 10
        apart = []
        for key, values in ours.items():
            a, b = np.array(values), np.array(theirs[key])
            apart.append((a.mean() - b.mean()) / max(np.sqrt((a.var() + b.var()) / n), 1e-9))
        assert np.abs(apart).max() < 4.5  # standard errors; of some thirty differences the largest is about two
        assert np.sqrt(np.mean(np.square(apart))) < 1.6


def _number(answer: str) -> float:
    return float({"left": "1", "right": "0"}.get(answer, answer))


def test_plates_are_read_as_they_are(tmp_path: Path) -> None:
    with asked_study(tmp_path, CALM + "[display]\nplates = 3\n") as here:
        plates = here.desk.plates(here.frozen)
        member = _crowd(here).member(0)
        assert [member.plate(choices(plate)) for plate in plates] == [plate.digits for plate in plates]

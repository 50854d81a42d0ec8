"""The desk for programs: typed, the same numbers as the pages, acts with reasons, nothing of the inside in refusals."""

from __future__ import annotations

import json

import pytest

from desk_visitor import Desk, Visitor
from paragone.study.admin.deeds import ACTS


@pytest.fixture
def program(desk: Desk) -> Visitor:
    return Visitor(desk.app, bearer=desk.token())


def test_the_status_says_what_the_overview_says(still: Desk) -> None:
    told = Visitor(still.app, bearer=still.token()).get("/api/admin/status").json()
    assert (told["done"], told["needed"], told["paused"]) == (15, 20, False)
    assert [quota["stage"] for quota in told["quotas"]] == ["1", "2"]
    assert told["funnel"] == {
        "arrived": 16, "consented": 16, "trained": 16, "half": 16, "finished": 15, "accepted": 15,
    }  # fmt: skip
    assert told["advice"] == "too early"
    for number in ("per_hour", "end", "minutes", "hourly_pay"):
        assert set(told[number]) == {"value", "low", "high", "n", "note"}
        assert told[number]["n"] == 15
    assert told["hourly_pay"]["value"] == pytest.approx(60 * 3 / told["minutes"]["value"])


def test_participants_and_sheets_come_as_rows(desk: Desk, program: Visitor) -> None:
    desk.office.keeper.refresh()
    people = program.get("/api/admin/participants").json()
    assert len(people) == 16
    second = next(row for row in people if row["participant"] == "p-0002")
    assert (second["answered"], second["asked"], second["states"]) == (28, 28, {"1": "complete"})
    assert second["simulated"] is False
    sheets = program.get("/api/admin/sheets").json()
    assert len(sheets) == 20
    one = program.get("/api/admin/participants/p-0002").json()
    assert len(one["answers"]) == 28
    assert program.get("/api/admin/participants/p-9999").status_code == 404


def test_live_figures_come_with_intervals_or_wait(desk: Desk, program: Visitor) -> None:
    early = program.get("/api/admin/live")
    assert (early.status_code, early.headers["retry-after"]) == (409, "5")
    desk.office.keeper.refresh()
    told = program.get("/api/admin/live").json()
    assert told["answers"] == 420
    for table in told["tables"]:
        for row in table["rows"]:
            assert row["score"]["low"] < row["score"]["value"] < row["score"]["high"]
            assert row["score"]["n"] > 0
    assert [len(curve["sizes"]) == len(curve["low"]) for curve in told["curves"]]
    json.dumps(told, allow_nan=False)


def test_acts_need_a_reason_and_tell_what_was_done(desk: Desk, program: Visitor) -> None:
    bare = program.post("/api/admin/participants/p-0002/exclude", json={})
    assert (bare.status_code, bare.json()["error"]["kind"]) == (409, "conflict")
    done = program.post("/api/admin/participants/p-0002/exclude", json={"why": "phoned"})
    assert (done.status_code, done.json()["done"][:20]) == (200, "p-0002 is excluded; ")
    assert program.post("/api/admin/participants/p-0002/restore", json={"why": "no"}).status_code == 409
    assert program.post("/api/admin/participants/p-0002/restore", json={"why": "a mistake"}).status_code == 200
    assert program.post("/api/admin/participants/p-9999/exclude", json={"why": "phoned"}).status_code == 404
    assert program.post("/api/admin/participants/p-0002/exclude", json={"why": 7}).status_code == 422
    assert program.post("/api/admin/participants/p-0002/exclude", json={"why": "x", "more": 1}).status_code == 422
    for act in ("accept", "exclude", "restore"):
        assert program.post(f"/api/admin/sheets/3/{act}", json={"why": "a reason"}).status_code == 200, act
    assert program.post("/api/admin/sheets/999/accept", json={}).status_code == 409
    for act in ("pause", "resume", "unblind", "blind"):
        assert program.post(f"/api/admin/{act}", json={"why": "a reason"}).status_code == 200, act
    kinds = [row["kind"] for row in program.get("/api/admin/log").json()]
    assert kinds[:4] == ["admin.blind", "admin.unblind", "admin.resume", "admin.pause"]
    assert program.get("/api/admin/log?most=1").json()[0]["body"]["who"] == "ada"
    assert program.get("/api/admin/log?most=0").status_code == 422


def test_every_act_is_described_and_every_undo_is_an_act() -> None:
    for name, act in ACTS.items():
        assert act.says.endswith("."), name
        assert act.undo in ("", *ACTS), name
        assert (act.undo == "") == (name in ("forget", "release", "replace", "screen-out", "technical")), name


def test_the_api_is_described(desk: Desk) -> None:
    described = desk.visitor().get("/openapi.json").json()
    mine = {path: item for path, item in described["paths"].items() if path.startswith("/api/admin/")}
    assert len(mine) >= 17
    for path, item in mine.items():
        for method, operation in item.items():
            assert operation.get("description") or operation.get("summary"), (method, path)
            assert {"200", "401", "403"} <= set(operation["responses"]), (method, path)


def test_a_refusal_tells_nothing_of_the_inside(desk: Desk) -> None:
    for path in ("/api/admin/status", "/api/admin/participants/p-0001", "/api/admin/live"):
        said = desk.visitor().get(path)
        assert said.status_code == 401
        assert said.json() == {"error": {"kind": "bad-token", "message": "A token of the desk is needed."}}

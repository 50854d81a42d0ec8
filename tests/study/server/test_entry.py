"""Coming in: who becomes which participant, what a browser holds, and what never leaves the door."""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from asgi_requests import Answer, request
from fastapi import APIRouter, FastAPI, Request
from real_browser import wanted
from served import served

from paragone.design.pages import Platform
from paragone.study.server.entry import Door, entry_router, stage_asked, token_sha256_of
from paragone.study.server.limits import Buckets, Limits, Remembered
from paragone.study.server.profiles import Ids, profile_of
from paragone.study.server.pseudonyms import (
    code_sha256,
    lab_codes,
    opened_ids,
    person_hmac,
    sealed_ids,
    submission_hmac,
)
from paragone.study.server.security import install, site_of
from paragone.study.store import Store, events, people
from paragone.study.store.tables import participant, visit

PERSON, SUBMISSION, STUDY = "5f8c0a1b2c3d4e5f60718293", "65aa0a1b2c3d4e5f60718294", "64bb0a1b2c3d4e5f60718295"
QUERY = f"PROLIFIC_PID={PERSON}&STUDY_ID={STUDY}&SESSION_ID={SUBMISSION}"
ORIGIN = ("origin", "http://localhost:8000")


def _hmac(text: str) -> str:
    return hmac.new(b"k" * 32, text.encode(), "sha256").hexdigest()


def _seal(plain: bytes) -> bytes:
    return bytes(byte ^ 0x55 for byte in plain)


class Clock:
    """The server's clock, which goes on when it is told to."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Place:
    """A server with an entry and a store."""

    app: FastAPI
    store: Store
    door: Door
    clock: Clock

    def get(self, query: str = "", *, cookie: str = "", path: str = "/", **headers: str) -> Answer:
        pairs = {name.replace("_", "-"): value for name, value in headers.items()}
        return request(self.app, path=path, query=query.encode(), headers={**pairs, **_cookies(self.door, cookie)})

    def post(self, path: str, body: bytes, kind: str, *, cookie: str = "", peer: str = "127.0.0.1") -> Answer:
        headers = [ORIGIN, ("content-type", kind), *_cookies(self.door, cookie).items()]
        return request(self.app, "POST", path, body=body, headers=headers, peer=peer)

    def session(self, key: str | None = None, *, cookie: str = "") -> Answer:
        body = json.dumps({} if key is None else {"key": key}).encode()
        return self.post("/api/session", body, "application/json", cookie=cookie)

    def enter(self, code: str, *, cookie: str = "", peer: str = "127.0.0.1") -> Answer:
        return self.post(
            "/enter", f"code={code}".encode(), "application/x-www-form-urlencoded", cookie=cookie, peer=peer
        )

    def who(self, token: str) -> people.Visit | None:
        return self.store.read_now(lambda c: people.who(c, hashlib.sha256(token.encode()).hexdigest()))

    def rows(self, table: sa.Table) -> list[Any]:
        return self.store.read_now(lambda c: list(c.execute(sa.select(table))))


def _cookies(door: Door, secret: str) -> dict[str, str]:
    return {"cookie": f"{door.cookie}={secret}"} if secret else {}


def _key(answer: Answer) -> str:
    assert answer.status == 303, answer.text
    path, _, key = answer["location"].partition("#k=")
    assert path == "/study"
    return key


def _cookie(answer: Answer) -> str:
    return answer["set-cookie"].partition("=")[2].partition(";")[0]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Any]:
    stores: list[Store] = []

    def make(profile: str = "prolific", public_url: str | None = None, **kept: Any) -> Place:
        store = Store.open(kept.pop("url", None) or f"sqlite:///{tmp_path}/study-{len(stores)}.db")
        stores.append(store)
        clock = Clock()
        limits = kept.pop("limits", Limits())
        door = Door(
            store=store,
            profile=profile_of(Platform(profile=profile)),
            site=site_of(public_url, names=kept.pop("names", ())),
            hmac=_hmac,
            seal=_seal,
            languages=kept.pop("languages", ("en", "de")),
            stages=("1", "2"),
            title=lambda language: "Titel <1>" if language == "de" else "Title <1>",
            consent=lambda language: [("Purpose", ["We study <pictures>."])],
            limits=limits,
            clock=clock,
            replaced=Remembered(60.0, clock=clock),
        )
        app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
        app.include_router(entry_router(door))
        install(app, door.site)
        return Place(app, store, door, clock)

    yield make
    for store in stores:
        store.close()


def test_a_panels_address_becomes_a_visit_and_a_clean_address(place: Any) -> None:
    here = place()
    answer = here.get(QUERY)
    key = _key(answer)
    assert len(key) >= 43
    assert answer["referrer-policy"] == "no-referrer"
    given = here.session(key)
    assert given.status == 200
    assert set(json.loads(given.text)) == {"token", "language"}
    assert here.who(json.loads(given.text)["token"]).name == "p-0001"


def test_ids_stand_nowhere_but_sealed(place: Any, caplog: pytest.LogCaptureFixture) -> None:
    here = place()
    with caplog.at_level(logging.DEBUG):
        answer = here.get(QUERY)
        given = here.session(_key(answer))
    said = "".join(f"{one.headers}{one.text}" for one in (answer, given)) + caplog.text
    for one in (PERSON, SUBMISSION, STUDY):
        assert one not in said
    stored = repr([here.rows(table) for table in (participant, visit)])
    assert PERSON not in stored
    assert SUBMISSION not in stored
    (row,) = here.rows(participant)
    assert opened_ids(_seal(row.sealed)) == Ids(PERSON, SUBMISSION, STUDY)
    assert row.external_hmac == person_hmac(_hmac, "prolific", PERSON)
    assert row.purge_after == here.clock.now + 365 * 86_400
    assert here.rows(visit)[0].submission_hmac == submission_hmac(_hmac, "prolific", SUBMISSION)


def test_secrets_are_stored_as_their_digests_only(place: Any) -> None:
    here = place()
    answer = here.get(QUERY)
    given = here.session(_key(answer))
    stored = repr(here.rows(visit))
    for secret in (_key(answer), _cookie(answer), _cookie(given), json.loads(given.text)["token"]):
        assert secret not in stored
        assert hashlib.sha256(secret.encode()).hexdigest() in stored or secret == _cookie(answer)


def test_the_same_link_is_the_same_participant(place: Any) -> None:
    here = place()
    for _ in range(3):
        _key(here.get(QUERY))
    assert len(here.rows(participant)) == 1
    assert len(here.rows(visit)) == 3


def test_a_person_with_a_second_submission_stays_one_participant_and_goes_back_with_the_last(place: Any) -> None:
    here = place()
    here.get(QUERY)
    here.get(QUERY.replace(SUBMISSION, "65aa0a1b2c3d4e5f60718299"))
    (row,) = here.rows(participant)
    assert opened_ids(_seal(row.sealed)).submission == "65aa0a1b2c3d4e5f60718299"


def test_a_submission_stays_with_its_participant_whatever_person_is_named(place: Any) -> None:
    here = place()
    here.get(QUERY)
    here.get(QUERY.replace(PERSON, "5f8c0a1b2c3d4e5f6071829f"))
    assert len(here.rows(participant)) == 1


def test_other_people_are_other_participants(place: Any) -> None:
    here = place()
    here.get(QUERY)
    here.get(QUERY.replace(PERSON, "5f8c0a1b2c3d4e5f6071829f").replace(SUBMISSION, "65aa0a1b2c3d4e5f60718299"))
    assert [row.name for row in here.rows(participant)] == ["p-0001", "p-0002"]


@pytest.mark.parametrize(
    "query",
    ["", "PROLIFIC_PID=", "PROLIFIC_PID=%7B%7B%25PROLIFIC_PID%25%7D%7D&SESSION_ID=a", f"PROLIFIC_PID={PERSON}",
     f"{QUERY}&PROLIFIC_PID=other", "PROLIFIC_PID=undefined&SESSION_ID=undefined", f"prolific_pid={PERSON}",
     "PROLIFIC_PID=%00&SESSION_ID=a", "PROLIFIC_PID=%F0%9F%98%80&SESSION_ID=a", "%", "&&&=&", "PROLIFIC_PID[]=a"],
)  # fmt: skip
def test_without_ids_there_is_a_calm_page_and_nothing_is_stored(place: Any, query: str) -> None:
    here = place()
    answer = here.get(query)
    assert answer.status == 400
    assert "This link does not say who you are" in answer.text
    assert "Title &lt;1&gt;" in answer.text
    assert PERSON not in answer.text
    assert here.rows(participant) == []


@pytest.mark.parametrize("query", ["PROLIFIC_PID=%ff", "a=1&" * 40, "x" * 5000, "PROLIFIC_PID=\x80"])
def test_an_address_that_is_none_is_refused(place: Any, query: str) -> None:
    answer = request(place().app, query=query.encode("latin-1"))
    assert answer.status in (400, 413)


def test_a_key_works_once(place: Any) -> None:
    here = place()
    key = _key(here.get(QUERY))
    assert here.session(key).status == 200
    again = here.session(key)
    assert (again.status, json.loads(again.text)["error"]["kind"]) == (401, "bad-key")


def test_a_key_works_for_ten_minutes(place: Any) -> None:
    here = place()
    key = _key(here.get(QUERY))
    here.clock.now += 601
    assert here.session(key).status == 401


def test_an_unknown_key_is_refused_and_not_repeated(place: Any) -> None:
    answer = place().session("no-such-key-" + SUBMISSION)
    assert answer.status == 401
    assert SUBMISSION not in answer.text


@pytest.mark.parametrize(
    "body", [b"[]", b"null", b'{"key": 1}', b'{"key": "a", "more": 1}', b"", b"{", b'{"key": "' + b"a" * 200 + b'"}']
)
def test_a_session_body_that_is_none_is_refused(place: Any, body: bytes) -> None:
    assert place().post("/api/session", body, "application/json").status == 422


def test_after_a_reload_the_cookie_gives_a_new_token_for_the_same_person(place: Any) -> None:
    here = place()
    first = here.session(_key(here.get(QUERY)))
    second = here.session(cookie=_cookie(first))
    assert second.status == 200
    assert here.who(json.loads(second.text)["token"]).name == "p-0001"


def test_the_newest_tab_wins(place: Any) -> None:
    here = place()
    first = json.loads(here.session(_key(here.get(QUERY))).text)["token"]
    second = json.loads(here.session(_key(here.get(QUERY))).text)["token"]
    assert (here.who(first).live, here.who(second).live) == (False, True)


def test_the_cookie_changes_when_the_session_begins(place: Any) -> None:
    here = place()
    arrived = here.get(QUERY)
    begun = here.session(_key(arrived), cookie=_cookie(arrived))
    assert _cookie(begun) not in ("", _cookie(arrived))
    here.clock.now += 61
    assert here.session(cookie=_cookie(arrived)).status == 401
    assert here.session(cookie=_cookie(begun)).status == 200


def test_a_cookie_whose_exchange_was_lost_on_the_way_works_for_a_minute(place: Any) -> None:
    here = place()
    arrived = here.get(QUERY)
    lost = here.session(_key(arrived), cookie=_cookie(arrived))
    assert lost.status == 200
    here.clock.now += 10
    again = here.session(_key(arrived), cookie=_cookie(arrived))
    assert again.status == 200
    assert here.who(json.loads(lost.text)["token"]).live is False


def test_a_planted_cookie_gives_its_owner_nothing(place: Any) -> None:
    """Session fixation: the attacker's cookie lies in the victim's browser when the victim comes in."""
    here = place()
    planted = _cookie(here.get(QUERY.replace(PERSON, "5f8c0a1b2c3d4e5f6071829f").replace(SUBMISSION, "attacker")))
    victim = here.get(QUERY, cookie=planted)
    begun = here.session(_key(victim), cookie=_cookie(victim))
    token = json.loads(begun.text)["token"]
    assert here.who(token).name == "p-0002"
    attacker = here.session(cookie=planted)
    assert here.who(json.loads(attacker.text)["token"]).name == "p-0001"
    assert here.who(token).live


def test_the_cookie_is_closed_as_far_as_it_goes(place: Any) -> None:
    plain = place().get(QUERY)["set-cookie"].lower()
    assert "httponly" in plain
    assert "samesite=lax" in plain
    assert "path=/" in plain
    assert "secure" not in plain
    here = place(public_url="https://study.example")
    safe = request(here.app, query=QUERY.encode(), host="study.example")["set-cookie"]
    assert safe.startswith("__Host-paragone-")
    assert "; Secure" in safe
    assert "domain" not in safe.lower()


def test_an_open_link_makes_a_new_person_unless_the_cookie_knows_one(place: Any) -> None:
    here = place("open")
    first = here.session(_key(here.get()))
    assert here.get(cookie=_cookie(first))["location"] == "/study"
    assert len(here.rows(participant)) == 1
    _key(here.get())
    _key(here.get("new=1", cookie=_cookie(first)))
    _key(here.get(cookie="x" * 43))
    assert len(here.rows(participant)) == 4
    assert here.rows(participant)[0].sealed is None


def test_a_panels_visitor_may_come_again_by_the_bare_address(place: Any) -> None:
    here = place()
    first = here.session(_key(here.get(QUERY)))
    assert here.get(cookie=_cookie(first))["location"] == "/study"
    other = here.get(QUERY.replace(PERSON, "5f8c0a1b2c3d4e5f6071829f").replace(SUBMISSION, "s2"), cookie=_cookie(first))
    assert _key(other)
    assert len(here.rows(participant)) == 2


def test_a_browser_that_only_prefetches_is_nobody(place: Any) -> None:
    here = place("open")
    answer = here.get(sec_purpose="prefetch;prerender")
    assert answer.status == 503
    assert here.rows(participant) == []


def test_the_language_is_asked_for_kept_and_changed(place: Any) -> None:
    here = place()
    here.get(QUERY, accept_language="de-DE")
    assert here.rows(participant)[0].language == "de"
    here.get(QUERY, accept_language="en")
    assert here.rows(participant)[0].language == "de"
    given = here.session(_key(here.get(f"{QUERY}&lang=en", accept_language="de")))
    assert json.loads(given.text)["language"] == "en"
    here.get(f"{QUERY}&lang=zh")
    assert here.rows(participant)[0].language == "en"


def test_a_stage_that_is_asked_for_is_an_event(place: Any) -> None:
    here = place()
    for stage in ("1", "2", "9"):
        here.get(f"{QUERY}&stage={stage}")
    assert stage_asked(here.store.read_now(lambda c: events.of_participant(c, 1))) == "2"
    assert stage_asked([]) is None


def test_a_preview_on_mturk_shows_the_consent_and_stores_nothing(place: Any) -> None:
    here = place("mturk")
    answer = here.get("assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId=H&turkSubmitTo=https%3A%2F%2Fwww.mturk.com")
    assert answer.status == 200
    assert "We study &lt;pictures&gt;." in answer.text
    assert answer["set-cookie"] == ""
    assert (here.rows(participant), here.rows(visit)) == ([], [])


def test_a_lab_asks_for_the_code_and_every_code_is_one_person(place: Any) -> None:
    here = place("lab")
    codes = lab_codes(2)
    here.store.write_now(lambda c: people.add_codes(c, {code_sha256(_hmac, code): "x" for code in codes}, 0.0))
    page = here.get()
    assert '<form method="post" action="/enter">' in page.text
    assert page["referrer-policy"] == "same-origin"
    names = [
        here.who(json.loads(here.session(_key(here.enter(code))).text)["token"]).name for code in (*codes, codes[0])
    ]
    assert names == ["p-0001", "p-0002", "p-0001"]


def test_a_code_may_be_typed_as_people_type(place: Any) -> None:
    here = place("lab")
    (code,) = lab_codes(1)
    here.store.write_now(lambda c: people.add_codes(c, {code_sha256(_hmac, code): "x"}, 0.0))
    for typed in (code, code.lower(), code.replace("-", ""), f"+{code.replace('-', '+')}+"):
        assert _key(here.enter(typed))


@pytest.mark.parametrize("code", ["", "AAAA-AAAA", "%00", "0000-0000", "A" * 500, "%F0%9F%98%80", "a%27%20OR%201=1"])
def test_a_wrong_code_is_told_calmly(place: Any, code: str) -> None:
    here = place("lab")
    answer = here.enter(code)
    assert answer.status == 422
    assert "We do not know this code" in answer.text
    assert "aria-invalid" in answer.text
    assert answer["set-cookie"] == ""
    assert here.rows(participant) == []


def test_codes_cannot_be_tried_out(place: Any) -> None:
    here = place("lab")
    (code,) = lab_codes(1)
    here.store.write_now(lambda c: people.add_codes(c, {code_sha256(_hmac, code): "x"}, 0.0))
    assert [here.enter("AAAA-AAAA").status for _ in range(10)] == [422] * 10
    refused = here.enter(code)
    assert refused.status == 429
    assert int(refused["retry-after"]) <= 7
    assert _key(here.enter(code, peer="127.0.0.2")), "another machine of the lab goes on"


def test_right_codes_are_never_throttled(place: Any) -> None:
    here = place("lab")
    codes = lab_codes(40)
    here.store.write_now(lambda c: people.add_codes(c, {code_sha256(_hmac, code): "x" for code in codes}, 0.0))
    assert all(_key(here.enter(code)) for code in codes)


def test_a_labs_browser_goes_from_one_person_to_the_next(place: Any) -> None:
    here = place("lab")
    codes = lab_codes(2)
    here.store.write_now(lambda c: people.add_codes(c, {code_sha256(_hmac, code): "x" for code in codes}, 0.0))
    first = here.session(_key(here.enter(codes[0])))
    second = here.enter(codes[1], cookie=_cookie(first))
    assert here.who(json.loads(first.text)["token"]).live is False
    begun = here.session(_key(second), cookie=_cookie(second))
    assert here.who(json.loads(begun.text)["token"]).name == "p-0002"
    assert here.session(cookie=_cookie(first)).status == 401


def test_the_code_form_is_for_the_lab_alone(place: Any) -> None:
    assert place().enter("AAAA-AAAA").status == 404


def test_the_code_form_takes_a_form_alone(place: Any) -> None:
    assert place("lab").post("/enter", b'{"code": "x"}', "application/json").status == 415


def test_the_code_form_speaks_the_languages_of_the_study(place: Any) -> None:
    here = place("lab", languages=("en", "de", "zh"))
    page = here.get("lang=de")
    assert '<html lang="de">' in page.text
    assert "Titel &lt;1&gt;" in page.text
    assert 'href="/?lang=zh"' in page.text
    wrong = here.post("/enter", b"code=AAAA-AAAA&lang=de", "application/x-www-form-urlencoded")
    assert '<html lang="de">' in wrong.text


def test_one_id_cannot_open_visits_without_end(place: Any) -> None:
    here = place()
    status = [here.get(QUERY).status for _ in range(25)]
    assert status == [303] * 20 + [429] * 5
    assert here.get(QUERY.replace(PERSON, "other").replace(SUBMISSION, "s2")).status == 303


def test_new_people_come_at_a_bounded_rate(place: Any) -> None:
    clock = Clock()
    here = place("open", limits=Limits(newcomers=Buckets(1.0, 3.0, clock=clock)))
    assert [here.get().status for _ in range(5)] == [303, 303, 303, 429, 429]
    assert len(here.rows(participant)) == 3


def test_a_session_cannot_be_asked_for_without_end(place: Any) -> None:
    here = place()
    assert [here.session("k" * 43).status for _ in range(22)] == [401] * 20 + [429] * 2


def test_another_site_cannot_begin_a_session(place: Any) -> None:
    here = place()
    cookie = _cookie(here.session(_key(here.get(QUERY))))
    headers = [
        ("origin", "https://evil.example"),
        ("content-type", "application/json"),
        *_cookies(here.door, cookie).items(),
    ]
    assert request(here.app, "POST", "/api/session", body=b"{}", headers=headers).status == 403


def test_jobs_of_the_entry_may_run_twice(place: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """PostgreSQL runs a job again when the connection is lost after its commit."""
    here = place()
    once = here.store.write

    async def twice(job: Any, **kept: Any) -> Any:
        await once(job, **kept)
        return await once(job, **kept)

    monkeypatch.setattr(here.store, "write", twice)
    arrived = here.get(QUERY)
    begun = here.session(_key(arrived), cookie=_cookie(arrived))
    assert begun.status == 200
    assert here.session(cookie=_cookie(begun)).status == 200
    assert len(here.rows(participant)) == 1


def test_the_whole_way_in_is_the_same_on_both_databases(place: Any, store_url: str) -> None:
    here = place(url=store_url)
    first = here.get(QUERY)
    begun = here.session(_key(first), cookie=_cookie(first))
    again = here.session(cookie=_cookie(begun))
    second = here.session(_key(here.get(f"{QUERY.replace(SUBMISSION, 'other')}&lang=de&stage=2")))
    tokens = [json.loads(given.text)["token"] for given in (begun, again, second)]
    assert [here.who(token).live for token in tokens] == [False, False, True]
    assert json.loads(second.text)["language"] == "de"
    assert here.session(_key(first)).status == 401
    assert stage_asked(here.store.read_now(lambda c: events.of_participant(c, 1))) == "2"
    assert [row.name for row in here.rows(participant)] == ["p-0001"]


def test_many_at_once_with_one_id_are_one_person(place: Any, store_url: str) -> None:
    here = place(url=store_url)
    with ThreadPoolExecutor(8) as pool:
        keys = list(pool.map(lambda n: _key(here.get(QUERY if n % 2 else f"{QUERY}&n={n}")), range(16)))
    assert len(set(keys)) == 16
    assert len(here.rows(participant)) == 1
    with ThreadPoolExecutor(8) as pool:
        tokens = [json.loads(given.text)["token"] for given in pool.map(here.session, keys)]
    assert sum(here.who(token).live for token in tokens) == 1


def test_one_key_sent_twice_at_once_works_once(place: Any, store_url: str) -> None:
    here = place(url=store_url)
    for number in range(4):
        key = _key(here.get(QUERY.replace(PERSON, f"A{number}").replace(SUBMISSION, f"S{number}")))
        with ThreadPoolExecutor(4) as pool:
            status = sorted(given.status for given in pool.map(here.session, [key] * 4))
        assert status == [200, 401, 401, 401]


def test_one_lab_code_typed_twice_at_once_is_one_person(place: Any, store_url: str) -> None:
    here = place("lab", url=store_url)
    codes = lab_codes(3)
    here.store.write_now(lambda c: people.add_codes(c, {code_sha256(_hmac, code): "x" for code in codes}, 0.0))
    with ThreadPoolExecutor(6) as pool:
        assert all(_key(answer) for answer in pool.map(here.enter, codes * 4))
    assert len(here.rows(participant)) == 3


@pytest.mark.browser
def test_the_code_form_works_in_a_browser_without_https(place: Any) -> None:
    """Under no-referrer a browser would send "Origin: null" with the form, and no Sec-Fetch-Site to a plain host."""
    sync_api = wanted("playwright.sync_api")
    here = place("lab", names=["lab-pc.test"])
    (code,) = lab_codes(1)
    here.store.write_now(lambda c: people.add_codes(c, {code_sha256(_hmac, code): "x"}, 0.0))
    with served(here.app) as address, sync_api.sync_playwright() as playwright:
        port = address.rpartition(":")[2]
        rules = "--host-resolver-rules=MAP lab-pc.test 127.0.0.1"
        path = "/usr/bin/chromium" if Path("/usr/bin/chromium").exists() else None
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", rules])
        page = browser.new_page()
        said: list[str] = []
        page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
        page.goto(f"http://lab-pc.test:{port}/")
        page.fill("#code", "AAAA-AAAA")
        page.click("button")
        assert "We do not know this code" in page.inner_text("main")
        page.fill("#code", code.lower())
        page.click("button")
        page.wait_for_url("**/study#k=*")
        browser.close()
    assert [line for line in said if "policy" in line.lower()] == []


def test_a_bearer_token_is_read_strictly() -> None:
    app = FastAPI()
    router = APIRouter()

    @router.get("/api/me")
    async def me(request: Request) -> dict[str, str]:
        return {"sha256": token_sha256_of(request.headers)}

    app.include_router(router)
    install(app, site_of())
    token = "t" * 43
    right = request(app, path="/api/me", headers={"authorization": f"Bearer {token}"})
    assert json.loads(right.text) == {"sha256": hashlib.sha256(token.encode()).hexdigest()}
    for wrong in ("", "Bearer", "Bearer ", "Basic " + token, "Bearer " + "t" * 500, "Bearer é" + token, token):
        answer = request(app, path="/api/me", headers={"authorization": wrong})
        assert (answer.status, answer["www-authenticate"]) == (401, "Bearer")


def test_sealed_ids_come_back_as_they_were() -> None:
    ids = Ids("p", "s", "", "https://www.mturk.com")
    assert opened_ids(sealed_ids(ids)) == ids
    assert opened_ids(None) == Ids()


def test_codes_of_a_lab_differ_and_can_be_read_aloud() -> None:
    codes = lab_codes(500)
    assert len(set(codes)) == 500
    assert not set("".join(codes)) & set("01OIL")
    assert lab_codes(0) == []

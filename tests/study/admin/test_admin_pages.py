"""The desk's pages: five questions at once, rows behind numbers, acts that ask and are undone; nothing breaks out."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest
import sqlalchemy as sa

from desk_visitor import Desk, Visitor
from desk_world import World
from paragone.design.pages import Platform
from paragone.study.admin.live import Live, Material
from paragone.study.server.desk import ServerSettings
from paragone.study.store import claims, events
from paragone.study.store.tables import event, lease, participant

PAGES = (
    "/admin", "/admin/people", "/admin/people/p-0002", "/admin/sheets", "/admin/design", "/admin/answers",
    "/admin/scores", "/admin/codes", "/admin/data", "/admin/settings", "/admin/log",
    "/admin/ask/exclude-person/p-0002", "/admin/ask/pause",
)  # fmt: skip


class Outline(HTMLParser):
    """Tags, attributes and text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data.strip())

    @property
    def said(self) -> str:
        return re.sub(r"\s+", " ", " ".join(word for word in self.words if word))


@pytest.fixture(scope="module")
def ada(still: Desk) -> Visitor:
    return still.visitor("ada")


def _kinds(desk: Desk) -> list[str]:
    return desk.store.read_now(lambda c: list(c.execute(sa.select(event.c.kind).order_by(event.c.id)).scalars()))


def _state(desk: Desk, number: int) -> str:
    return desk.store.read_now(lambda c: c.execute(sa.select(lease.c.state).where(lease.c.id == number)).scalar_one())


def test_the_overview_answers_five_questions_without_a_click(ada: Visitor) -> None:
    said = Outline(ada.get("/admin").text).said
    assert "How many are done? 15 of 20 sheets" in said
    assert "Is anything wrong?" in said
    assert re.search(r"When will it be finished\? \d{4}-\d\d-\d\d \d\d:\d\d between", said)
    assert "Is it enough yet? Too early to say" in said
    assert re.search(
        r"What does it cost\? 45\.00 EUR for 15 finished sessions so far; the plan needs 20 sessions, 60\.00", said
    )
    assert re.search(r"EUR an hour \[[\d.]+, [\d.]+\] n = 15", said)


def test_every_number_of_the_funnel_opens_its_people(ada: Visitor) -> None:
    page = ada.get("/admin").text
    for step, count in re.findall(r'<a href="(/admin/people\?step=\w+)">(\d+)</a>', page):
        listed = Outline(ada.get(step).text).said
        assert f"{count} participants who reached" in listed


def test_numbers_of_sheets_open_their_sheets(ada: Visitor) -> None:
    page = ada.get("/admin").text
    links = re.findall(r'href="(/admin/sheets\?stage=[^"]+)">(\d+)</a>', page)
    assert len(links) == 6
    for href, count in links:
        listed = Outline(ada.get(href.replace("&amp;", "&")).text).said
        assert re.search(rf"\b{count} sheets?\b", listed)


@pytest.mark.parametrize("path", PAGES)
def test_no_page_needs_a_style_or_a_script_of_its_own(ada: Visitor, path: str) -> None:
    said = ada.get(path)
    assert said.status_code == 200
    outline = Outline(said.text)
    for tag, attributes in outline.tags:
        assert tag != "style"
        assert "style" not in attributes
        assert not [name for name in attributes if name.startswith("on")]
        for name in ("src", "href", "action"):
            assert (attributes.get(name) or "/").startswith(("/", "#")), f"{tag} {attributes}"
    assert "default-src 'none'" in said.headers["content-security-policy"]
    assert said.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("path", PAGES)
def test_every_page_is_one_document_with_one_heading(ada: Visitor, path: str) -> None:
    tags = [tag for tag, _ in Outline(ada.get(path).text).tags]
    assert tags.count("h1") == 1
    assert tags.count("main") == 1
    assert tags.count("html") == 1


def test_names_of_methods_are_letters_until_an_admin_shows_them(desk: Desk) -> None:
    desk.office.keeper.refresh()
    ada = desk.visitor("ada")
    pages = "".join(ada.get(path).text for path in ("/admin/scores", "/admin/design"))
    assert not re.search(r"\bm[0-3]\b", pages)
    assert re.search(r'<th scope="row">[A-D]</th>', pages)
    told = ada.get("/api/admin/live")
    assert not re.search(r'"m[0-3]"', told.text)
    done = ada.post("/admin/do/unblind", {"why": "the study is over"})
    assert done.headers["location"].startswith("/admin/scores?told=unblind")
    shown = ada.get("/admin/scores").text
    assert all(f'<th scope="row">m{n}</th>' in shown for n in range(4))
    assert '"m0"' in ada.get("/api/admin/live").text
    assert "admin.unblind" in _kinds(desk)
    ada.post("/admin/do/blind", {})
    assert not re.search(r'<th scope="row">m[0-3]</th>', ada.get("/admin/scores").text)


def test_letters_say_nothing_about_the_order_of_the_names() -> None:
    from paragone.study.admin.blind import Blind, letters

    names = {"method": [f"m{n:02d}" for n in range(30)]}
    first, second = Blind(b"one", names, off=False), Blind(b"two", names, off=False)
    shown = [first("method", name) for name in names["method"]]
    assert sorted(shown, key=lambda word: (len(word), word)) == [letters(place) for place in range(30)]
    assert shown != sorted(shown, key=lambda word: (len(word), word))
    assert shown != [second("method", name) for name in names["method"]]
    assert [letters(n) for n in (0, 25, 26, 27, 701, 702)] == ["A", "Z", "AA", "AB", "ZZ", "AAA"]
    assert first("content", "c1") == "c1"
    assert Blind(b"one", names, off=True)("method", "m03") == "m03"


def test_an_exclusion_asks_wants_a_reason_is_logged_and_undone(desk: Desk) -> None:
    ada = desk.visitor("ada")
    asked = ada.get("/admin/ask/exclude-person/p-0002")
    assert "sheet 2, stage 1, complete: 28 of 28 answers" in Outline(asked.text).said
    assert ada.post("/admin/do/exclude-person/p-0002", {"why": " "}).status_code == 400
    assert _state(desk, 2) == "complete"
    done = ada.post("/admin/do/exclude-person/p-0002", {"why": "answered the phone"})
    assert (done.status_code, done.headers["location"]) == (303, "/admin/people/p-0002?told=exclude-person&on=p-0002")
    assert _state(desk, 2) == "excluded"
    after = ada.get(done.headers["location"]).text
    assert "Excluded: the answers are kept and no longer count." in after
    assert '<a href="/admin/ask/restore-person/p-0002">Undo</a>' in after
    log = Outline(ada.get("/admin/log").text).said
    assert "admin.exclude ada p-0002 2 why: answered the phone" in log
    assert ada.post("/admin/do/restore-person/p-0002", {"why": "a mistake"}).status_code == 303
    assert _state(desk, 2) == "complete"
    again = ada.post("/admin/do/restore-person/p-0002", {"why": "a mistake"})
    assert again.status_code == 400
    assert "P-0002: is not excluded." in Outline(again.text).said


def test_who_was_excluded_by_the_rule_is_told_apart_from_who_was_at_the_desk(desk: Desk) -> None:
    ada = desk.visitor("ada")

    def exclude(number: int, who: str) -> None:
        desk.store.write_now(lambda c: claims.exclude(c, number, 0.0, who=who, why="test"))

    exclude(1, "ada")
    ada.get("/admin/sheets?told=exclude")  # reads the store anew
    assert "by the rule checks" not in Outline(ada.get("/admin").text).said
    assert "What deserves a look excludes nobody" in Outline(ada.get("/admin/people").text).said
    exclude(2, claims.BY_CHECKS)
    ada.get("/admin/sheets?told=exclude")
    said = Outline(ada.get("/admin").text).said
    assert "1 participant was excluded by the rule checks." in said
    people = Outline(ada.get("/admin/people?state=excluded").text).said
    assert people.count("excluded by the rule checks") == 1
    assert "is excluded by that rule, which can be undone" in people


def test_sheets_are_accepted_given_back_and_replaced(desk: Desk) -> None:
    ada = desk.visitor("ada")
    assert ada.post("/admin/do/accept/3", {"why": ""}).status_code == 303
    assert _state(desk, 3) == "accepted"
    assert ada.post("/admin/do/accept/3", {"why": ""}).status_code == 400
    assert ada.post("/admin/do/release/16", {"why": "went home"}).status_code == 303
    assert _state(desk, 16) == "abandoned"  # it had answers
    assert ada.post("/admin/do/exclude/4", {"why": "slept"}).status_code == 303
    assert ada.post("/admin/do/replace/4", {"why": "needed"}).status_code == 303
    copies = desk.store.read_now(
        lambda c: list(c.execute(sa.select(lease.c.state).where(lease.c.replaces == 4)).scalars())
    )
    assert copies == ["free"]
    kinds = _kinds(desk)
    assert [kinds.count(kind) for kind in ("admin.accept", "admin.release", "admin.exclude", "admin.replace")] == [
        1
    ] * 4


def test_a_pause_is_seen_at_once_and_on_every_page(desk: Desk) -> None:
    ada = desk.visitor("ada")
    assert not desk.office.desk.paused
    ada.post("/admin/do/pause", {"why": "the projector broke"})
    assert desk.office.desk.paused
    assert '<span class="badge bad">paused</span>' in ada.get("/admin/people").text
    assert "The study is paused: nobody can begin or answer." in ada.get("/admin").text
    ada.post("/admin/do/resume", {})
    assert not desk.office.desk.paused


def test_forgetting_needs_the_name_typed_and_leaves_only_counts(desk: Desk) -> None:
    ada = desk.visitor("ada")
    ask = ada.get("/admin/ask/forget/p-0005").text
    assert "It cannot be undone." in ask
    wrong = ada.post("/admin/do/forget/p-0005", {"why": "asked by mail", "confirm": "p-0006"})
    assert wrong.status_code == 400
    done = ada.post("/admin/do/forget/p-0005", {"why": "asked by mail", "confirm": "p-0005"})
    assert done.status_code == 303
    assert "Undo" not in ada.get(done.headers["location"]).text
    page = Outline(ada.get("/admin/people/p-0005").text).said
    assert "nothing is stored of this participant any more" in page
    left = desk.store.read_now(lambda c: c.execute(sa.select(event.c.id).where(event.c.participant_id == 5)).all())
    assert left == []
    assert "admin.forget ada" in Outline(ada.get("/admin/log").text).said
    assert ada.post("/admin/do/forget/p-0005", {"why": "again", "confirm": "p-0005"}).status_code == 400


def test_acts_on_nothing_are_refused_and_change_nothing(desk: Desk) -> None:
    ada = desk.visitor("ada")
    before = len(_kinds(desk))
    for path in (
        "exclude-person/p-9999",
        "exclude/9999",
        "exclude/nine",
        "restore/1",
        "release/1",
        "replace/17",
        "accept/17",
    ):
        assert ada.post(f"/admin/do/{path}", {"why": "a reason"}).status_code == 400, path
    assert ada.post("/admin/do/burn", {"why": "a reason"}).status_code == 404
    assert ada.get("/admin/ask/exclude-person").status_code == 404
    assert ada.get("/admin/ask/pause/p-0001").status_code == 404
    assert ada.post("/admin/do/exclude/1", {"why": "x" * 501}).status_code == 400
    assert len(_kinds(desk)) == before


NASTY = (
    "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "'; DROP TABLE answer; --", "{{ 7 * 7 }}",
    "</textarea><script>1</script>", "javascript:alert(1)", "<svg/onload=alert(1)>", "&lt;b&gt;",
    "\u202eevil", "=cmd|' /C calc'!A0",
    "<!--", "]]>", "%3Cscript%3E", "<a href='javascript:alert(1)'>x</a>", "\u2028<b>",
)  # fmt: skip


def test_no_text_of_a_participant_breaks_out_of_a_page(desk: Desk) -> None:
    def plant(c: sa.Connection) -> None:
        for place, text in enumerate(NASTY):
            told = {"participant_id": place % 5 + 1, "lease_id": place % 5 + 1, "session": "1"}
            body = {"remark": text, "answers": {"age": text, text: "x"}}
            events.append(c, "questionnaire", desk.now, body=body, **told)
            events.append(c, "device", desk.now, body={"agent": text, text: {text: text}, "list": [text]}, **told)
            events.append(c, "telemetry", desk.now, body={text: text}, **told)
            events.append(c, "admin.exclude", desk.now, body={"who": text, "why": text}, **told)
        c.execute(
            participant.update()
            .where(participant.c.id == 6)
            .values(name=NASTY[0], platform=NASTY[1], language=NASTY[6])
        )
        c.execute(lease.update().where(lease.c.id == 7).values(owner=NASTY[1]))

    desk.store.write_now(plant)
    desk.office.keeper.refresh()
    ada = desk.visitor("ada")
    clean = {
        tag for path in PAGES for tag, _ in Outline(desk.visitor("vic").get(path).text).tags if path != "/admin/log"
    }
    odd = ("/admin/people?name=%3Cscript%3E", "/admin/sheets?name=%22%3E", "/admin/ask/exclude-person/%3Cscript%3E",
           "/admin/people/%3Cscript%3Ealert(1)%3C%2Fscript%3E")  # fmt: skip
    paths = [*PAGES, *(f"/admin/people/p-000{n}" for n in range(1, 6)), *odd]
    for path in paths:
        text = ada.get(path).text
        outline = Outline(text)
        scripts = [attributes for tag, attributes in outline.tags if tag == "script"]
        assert scripts in ([{"src": "/admin/static/admin.js", "defer": None}], []), path
        assert {tag for tag, _ in outline.tags} - clean <= {"blockquote", "a", "ul", "li", "textarea"}, path
        for tag, attributes in outline.tags:
            assert not [name for name in attributes if name.startswith("on")], (path, tag)
            for name in ("href", "src", "action"):
                assert not (attributes.get(name) or "").strip().lower().startswith("javascript"), (path, tag)
    remarks = Outline(ada.get("/admin/answers").text).said
    assert "<script>alert(1)</script>" in remarks  # as text
    assert "{{ 7 * 7 }}" in remarks


def test_words_in_the_address_are_never_shown_as_news(ada: Visitor) -> None:
    for query in ("told=<b>hi</b>", "told=you+won", "told=exclude-person&on=<script>"):
        page = ada.get(f"/admin/people?{query}").text
        assert "you won" not in page
        assert "<b>hi</b>" not in page
        assert "<script>" not in page.replace('<script src="/admin/static/admin.js" defer></script>', "")


def test_simulated_participants_carry_a_label(desk: Desk) -> None:
    rename = participant.update().where(participant.c.id == 3).values(name="sim-0003")
    desk.store.write_now(lambda c: c.execute(rename))
    ada = desk.visitor("ada")
    assert re.search(r"sim-0003</a>\s*<span class=\"badge\">simulated", ada.get("/admin/people").text)
    assert re.search(r"<h1>sim-0003 <span class=\"badge\">simulated", ada.get("/admin/people/sim-0003").text)
    assert "1 participant is simulated." in ada.get("/admin").text


def test_pages_do_not_wait_for_slow_figures(desk: Desk) -> None:
    ada = desk.visitor("ada")
    assert desk.office.keeper.live is None
    for path in ("/admin", "/admin/people", "/admin/design", "/admin/answers", "/admin/scores"):
        said = ada.get(path)
        assert said.status_code == 200
        assert "Scores and checks are being computed." in said.text
    desk.office.keeper.refresh()
    desk.now += 42
    assert "Scores and checks show 420 answers of 42 s ago." in ada.get("/admin/scores").text


def test_the_person_page_has_sheets_times_checks_screen_and_what_happened(ada: Visitor) -> None:
    said = Outline(ada.get("/admin/people/p-0002").text).said
    for word in (
        "28 / 28",
        "1-002-0",
        "instructed",
        "Median",
        "Testbrowser",
        "30-39",
        "trials-begun",
        "outcome: completed",
    ):
        assert word in said
    assert ada.get("/admin/people/p-9999").status_code == 404


def test_the_page_of_codes_has_the_address_for_participants(
    tmp_path: Path, sqlite_store: Path, pairs_world: World, ada: Visitor
) -> None:
    open_to_all = Outline(ada.get("/admin/codes").text).said
    assert "Address for participants http://localhost/ " in open_to_all
    assert "in the panel" not in open_to_all
    study = msgspec.structs.replace(pairs_world.study, platform=Platform(profile="prolific"))
    shutil.copyfile(sqlite_store, tmp_path / "study.db")
    public = ServerSettings(public_url="https://study.example")
    desk = Desk(
        tmp_path,
        f"sqlite:///{tmp_path / 'study.db'}",
        replace(pairs_world, study=study),
        run=_small,
        settings=public,
        finished=1,
    )
    said = Outline(desk.visitor("ada", origin="https://study.example").get("/admin/codes").text).said
    assert "Address for participants https://study.example/ " in said
    assert "The panel has to fill in PROLIFIC_PID , SESSION_ID and STUDY_ID behind the address" in said
    assert "enter them in the panel" in said
    desk.close()


def test_lab_codes_are_shown_once_and_kept_only_as_digests(desk: Desk) -> None:
    ada = desk.visitor("ada")
    page = ada.post("/admin/codes/lab", {"count": "7", "label": "monday <b>"}).text
    codes = re.findall(r"<li><code>([2-9A-Z]{4}-[2-9A-Z]{4})</code></li>", page)
    assert len(set(codes)) == 7
    assert "monday &lt;b&gt;" in page
    assert not any(code in ada.get("/admin/codes").text for code in codes)
    assert "7 codes made, 0 used" in Outline(ada.get("/admin/codes").text).said
    for count in ("0", "501", "-1", "x", "1e3", ""):
        assert ada.post("/admin/codes/lab", {"count": count}).status_code == 400


def test_tokens_and_people_are_made_and_ended_on_the_settings_page(desk: Desk) -> None:
    ada = desk.visitor("ada")
    page = ada.post("/admin/settings/token", {"label": "nightly", "days": "30"}).text
    (secret,) = re.findall(r"<code>(paragone_[\w-]{40,})</code>", page)
    assert secret not in ada.get("/admin/settings").text
    program = Visitor(desk.app, bearer=secret)
    assert program.get("/api/admin/status").status_code == 200
    (number,) = re.findall(r'<input type="hidden" name="id" value="(\d+)">', ada.get("/admin/settings").text)
    assert ada.post("/admin/settings/token/end", {"id": number}).status_code == 303
    assert program.get("/api/admin/status").status_code == 401
    made = ada.post("/admin/settings/add", {"name": "bob", "password": "a sentence to remember", "role": "viewer"})
    assert made.status_code == 303
    assert ada.post("/admin/settings/add", {"name": "bob", "password": "short", "role": "viewer"}).status_code == 400
    assert ada.post("/admin/settings/remove", {"name": "bob"}).status_code == 400
    assert ada.post("/admin/settings/remove", {"name": "bob", "sure": "1"}).status_code == 303


def test_a_panels_list_is_compared_and_not_kept(desk: Desk) -> None:
    from paragone.study.server.pseudonyms import person_hmac

    hmac = person_hmac(desk.keys.hmac, desk.office.desk.profile.name, "5f1")
    rename = (
        participant.update()
        .where(participant.c.id == 1)
        .values(external_hmac=hmac, platform=desk.office.desk.profile.name)
    )
    desk.store.write_now(lambda c: c.execute(rename))
    ada = desk.visitor("ada")
    csv = "Submission id,Participant id,Status,Completion code\ns1,5f1,AWAITING REVIEW,WRONG\ns2,unknown,APPROVED,X\n"
    page = ada.post("/admin/codes/reconcile", files={"file": ("export.csv", csv.encode(), "text/csv")})
    said = Outline(page.text).said
    assert page.status_code == 200
    assert "code-mismatch p-0001 5f1" in said
    assert "paid-without-data – unknown" in said
    kept = desk.store.read_now(lambda c: str(c.execute(sa.select(event.c.body)).all()))
    assert "5f1" not in kept
    assert "admin.reconcile" in _kinds(desk)
    wrong = ada.post("/admin/codes/reconcile", files={"file": ("x.csv", b"a,b\n1,2\n", "text/csv")})
    assert "no column of participants or submissions" in wrong.text
    assert ada.post("/admin/codes/reconcile", files={"file": ("x.csv", b"", "text/csv")}).status_code == 400
    assert ada.post("/admin/codes/reconcile", {"file": "x"}).status_code == 415


def test_static_files_are_two_and_have_tags(ada: Visitor) -> None:
    css = ada.get("/admin/static/admin.css")
    assert css.headers["content-type"] == "text/css; charset=utf-8"
    assert ada.get("/admin/static/admin.css", headers={"if-none-match": css.headers["etag"]}).status_code == 304
    for name in ("routes.py", "..%2Froutes.py", "templates", "base.html.j2"):
        assert ada.get(f"/admin/static/{name}").status_code == 404


def test_odd_queries_do_not_break_a_page(ada: Visitor) -> None:
    for path in (
        "/admin/people?state=nothing", "/admin/people?step=nothing&left=x&stage=y", "/admin/sheets?state=%00&stage=x",
        "/admin/log?before=1", "/admin/people?state=none", "/admin/sheets?name=p-0001",
    ):  # fmt: skip
        assert ada.get(path).status_code == 200, path
    assert ada.get("/admin/log?before=x").status_code == 400


def test_every_page_and_act_works_on_each_database(tmp_path: Path, store_url: str, pairs_world: World) -> None:
    here = Desk(tmp_path, store_url, pairs_world, finished=3, run=_small)
    here.office.keeper.refresh()
    ada = here.visitor("ada")
    assert [ada.get(path).status_code for path in PAGES] == [200] * len(PAGES)
    acts = {"exclude-person/p-0001": 1, "restore-person/p-0001": 1, "accept/2": 2, "release/4": 4, "replace/4": 4}
    for act in acts:
        assert ada.post(f"/admin/do/{act}", {"why": "a reason"}).status_code == 303, act
    assert [_state(here, number) for number in (1, 2, 4)] == ["complete", "accepted", "abandoned"]
    assert ada.post("/admin/do/forget/p-0003", {"why": "asked", "confirm": "p-0003"}).status_code == 303
    assert ada.post("/admin/codes/lab", {"count": "2"}).status_code == 200
    assert ada.get("/admin/data/export/answers.csv").status_code == 200
    assert ada.get("/api/admin/status").json()["done"] == 2
    here.close()


def _small(moment: Material) -> Live:
    return Live(at=moment.at, answers=moment.answers.height)

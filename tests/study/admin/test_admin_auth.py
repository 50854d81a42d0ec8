"""Who may enter the desk: first set-up, signing in and out, sessions, tokens, roles, throttling."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa

from desk_visitor import HASH, PASSWORD, Desk, Visitor
from desk_world import World
from paragone.errors import BadInput
from paragone.study.admin import auth
from paragone.study.server.desk import ServerSettings
from paragone.study.store import Store
from paragone.study.store.keys import Keys
from paragone.study.store.tables import admin, admin_token, event

NOW = 1_000_000.0


@pytest.fixture
def store(store_url: str) -> Store:
    with Store.open(store_url) as opened:
        yield opened


def _kinds(store: Store) -> list[str]:
    return store.read_now(lambda c: list(c.execute(sa.select(event.c.kind).order_by(event.c.id)).scalars()))


def _enter(store: Store, secret: str, now: float, name: str = "ada") -> None:
    store.write_now(lambda c: auth.enter(c, name, auth.digest(secret), now))


def test_passwords_are_kept_as_argon2id_and_no_other_one_fits() -> None:
    kept = auth.hashed(PASSWORD)
    assert kept.startswith("$argon2id$v=19$m=65536,t=3,p=4$")  # RFC 9106, the choice for less memory
    assert PASSWORD not in kept
    assert auth.verified(PASSWORD, kept)
    assert not auth.verified(PASSWORD + "!", kept)
    assert not auth.verified(PASSWORD, None)
    assert not auth.verified(PASSWORD, "broken")


def test_short_and_absurd_passwords_are_refused() -> None:
    for password in ("", "short", "x" * 11, "x" * 2000):
        with pytest.raises(BadInput, match="a password has at least 12 characters"):
            auth.hashed(password)


def test_the_first_admin_is_made_once(store: Store) -> None:
    assert store.read_now(auth.nobody_yet)
    assert store.write_now(lambda c: auth.first(c, "ada", HASH, NOW))
    assert not store.read_now(auth.nobody_yet)
    assert not store.write_now(lambda c: auth.first(c, "eve", HASH, NOW))
    assert store.read_now(auth.admins) == [("ada", "admin", NOW)]


def test_a_session_ends_when_idle_when_old_and_when_left(store: Store) -> None:
    store.write_now(lambda c: auth.first(c, "ada", HASH, NOW))
    _enter(store, "secret one", NOW)

    def who(at: float) -> auth.Who | None:
        return store.read_now(lambda c: auth.who(c, auth.digest("secret one"), at))

    assert who(NOW + 7199) is not None
    assert who(NOW + 7201) is None  # two hours without a sign
    at = NOW
    for _ in range(7):
        at += 6000
        store.write_now(lambda c, at=at: auth.note(c, auth.digest("secret one"), at))
    assert who(at + 100) is not None
    assert who(NOW + 12 * 3600 + 1) is None  # half a day, used or not
    store.write_now(lambda c: auth.leave(c, auth.digest("secret one"), at))
    assert who(at + 100) is None
    assert _kinds(store) == ["admin.setup", "admin.login", "admin.logout"]


def test_the_store_keeps_no_secret(store: Store) -> None:
    store.write_now(lambda c: auth.first(c, "ada", HASH, NOW))
    _enter(store, "a secret of a session", NOW)
    store.write_now(
        lambda c: auth.make_token(c, 1, auth.digest("a token's secret"), "mine", NOW, expires=None, by="ada")
    )
    rows = store.read_now(lambda c: str([list(c.execute(sa.select(t)).all()) for t in (admin, admin_token, event)]))
    assert "secret" not in rows
    assert PASSWORD not in rows


def test_tokens_have_labels_and_an_end(store: Store) -> None:
    store.write_now(lambda c: auth.first(c, "ada", HASH, NOW))
    store.write_now(lambda c: auth.make_token(c, 1, auth.digest("t" * 40), "nightly", NOW, expires=NOW + 50, by="ada"))
    found = store.read_now(lambda c: auth.who(c, auth.digest("t" * 40), NOW + 49))
    assert found is not None
    assert (found.name, found.session, found.may) == ("ada", False, True)
    assert store.read_now(lambda c: auth.who(c, auth.digest("t" * 40), NOW + 51)) is None
    (token,) = store.read_now(auth.tokens)
    assert (token.label, token.expires) == ("nightly", NOW + 50)
    assert store.write_now(lambda c: auth.drop_token(c, token.id, NOW, by="ada"))
    assert not store.write_now(lambda c: auth.drop_token(c, token.id, NOW, by="ada"))
    with pytest.raises(BadInput, match="a label has 1 to 64 printable characters"):
        store.write_now(lambda c: auth.make_token(c, 1, "x", "", NOW, expires=None, by="ada"))


def test_a_session_cannot_be_ended_as_a_token_nor_a_token_pretend_to_be_one(store: Store) -> None:
    store.write_now(lambda c: auth.first(c, "ada", HASH, NOW))
    _enter(store, "secret", NOW)
    assert not store.write_now(lambda c: auth.drop_token(c, 1, NOW, by="ada"))
    with pytest.raises(BadInput, match="a label has"):
        store.write_now(lambda c: auth.make_token(c, 1, "x", "(session)", NOW, expires=None, by="ada"))


def test_the_last_admin_stays_and_others_go_with_all_they_had(store: Store) -> None:
    store.write_now(lambda c: auth.first(c, "ada", HASH, NOW))
    store.write_now(lambda c: auth.add(c, "vic", HASH, "viewer", NOW, by="ada"))
    _enter(store, "vics", NOW, "vic")
    assert not store.write_now(lambda c: auth.remove(c, "ada", NOW, by="vic"))
    assert store.write_now(lambda c: auth.remove(c, "vic", NOW, by="ada"))
    assert store.read_now(lambda c: auth.who(c, auth.digest("vics"), NOW)) is None
    assert not store.write_now(lambda c: auth.remove(c, "nobody", NOW, by="ada"))
    with pytest.raises(BadInput, match="there is an admin 'ada' already; take another name"):
        store.write_now(lambda c: auth.add(c, "ada", HASH, "viewer", NOW, by="ada"))
    with pytest.raises(BadInput, match="role 'owner' is not one of viewer, admin"):
        store.write_now(lambda c: auth.add(c, "bob", HASH, "owner", NOW, by="ada"))
    with pytest.raises(BadInput, match="a name has 1 to 64 printable characters"):
        store.write_now(lambda c: auth.add(c, "b\nob", HASH, "viewer", NOW, by="ada"))


def test_a_new_password_ends_every_session_and_no_token(store: Store) -> None:
    store.write_now(lambda c: auth.first(c, "ada", HASH, NOW))
    _enter(store, "session", NOW)
    store.write_now(lambda c: auth.make_token(c, 1, auth.digest("t" * 40), "job", NOW, expires=None, by="ada"))
    assert store.write_now(lambda c: auth.change_password(c, "ada", "other", NOW, by="ada"))
    assert store.read_now(lambda c: auth.who(c, auth.digest("session"), NOW)) is None
    assert store.read_now(lambda c: auth.who(c, auth.digest("t" * 40), NOW)) is not None
    assert not store.write_now(lambda c: auth.change_password(c, "eve", "other", NOW, by="ada"))


def test_the_set_up_token_follows_from_the_key_alone() -> None:
    token = auth.setup_token(Keys(b"a" * 32))
    assert token == auth.setup_token(Keys(b"a" * 32))
    assert token != auth.setup_token(Keys(b"b" * 32))
    assert len(token.replace("-", "")) == 24  # 120 bits


# --- through the application


@pytest.fixture
def bare(tmp_path: Path, pairs_world: World) -> Desk:
    """Nobody is an admin yet."""
    made = Desk(tmp_path, f"sqlite:///{tmp_path / 'study.db'}", pairs_world, finished=0, run=_never, admins=False)
    yield made
    made.close()


def _never(_: object) -> None:
    raise AssertionError("no figures are needed here")


def test_set_up_needs_the_token_from_the_console(bare: Desk) -> None:
    somebody = bare.visitor()
    assert somebody.get("/admin").headers["location"] == "/admin/setup"
    assert somebody.get("/admin/login").headers["location"] == "/admin/setup"
    page = somebody.get("/admin/setup").text
    assert auth.setup_token(bare.keys) not in page
    form = {"name": "ada", "password": PASSWORD, "again": PASSWORD}
    assert somebody.post("/admin/setup", {**form, "token": "WRONG"}).status_code == 403
    assert (
        somebody.post("/admin/setup", {**form, "token": auth.setup_token(bare.keys), "again": "x"}).status_code == 400
    )
    made = somebody.post("/admin/setup", {**form, "token": auth.setup_token(bare.keys).lower()})
    assert (made.status_code, made.headers["location"]) == (303, "/admin")
    assert somebody.get("/admin").status_code == 200
    late = bare.visitor().post("/admin/setup", {**form, "name": "eve", "token": auth.setup_token(bare.keys)})
    assert late.headers["location"] == "/admin/login"
    assert bare.store.read_now(auth.admins) == [("ada", "admin", bare.now)]


def test_the_cookie_is_for_this_site_alone(desk: Desk) -> None:
    somebody = desk.visitor()
    said = somebody.sign_in()
    assert (said.status_code, said.headers["location"]) == (303, "/admin")
    cookie = said.headers["set-cookie"]
    assert cookie.startswith("paragone_desk=")
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert "Path=/" in cookie
    assert "Secure" not in cookie


def test_under_https_the_cookie_is_secure_and_bound_to_the_host(tmp_path: Path, pairs_world: World) -> None:
    settings = ServerSettings(public_url="https://study.example")
    here = Desk(tmp_path, f"sqlite:///{tmp_path / 'study.db'}", pairs_world, finished=0, run=_never, settings=settings)
    said = Visitor(here.app, origin="https://study.example").sign_in()
    assert said.headers["set-cookie"].startswith("__Host-paragone_desk=")
    assert "Secure" in said.headers["set-cookie"]
    here.close()


def test_signing_in_gives_a_new_secret_and_ends_the_old_one(desk: Desk) -> None:
    somebody = desk.visitor("ada")
    first = somebody.cookies["paragone_desk"]
    somebody.sign_in()
    second = somebody.cookies["paragone_desk"]
    assert first != second
    fixed = desk.visitor()
    fixed.cookies.set("paragone_desk", first)
    assert fixed.get("/admin").status_code == 303
    planted = desk.visitor()
    planted.cookies.set("paragone_desk", "a-secret-that-an-attacker-knows")
    assert "a-secret-that-an-attacker-knows" not in planted.sign_in().headers["set-cookie"]
    other = desk.visitor()
    other.cookies.set("paragone_desk", "a-secret-that-an-attacker-knows")
    assert other.get("/admin").status_code == 303


def test_signing_out_ends_the_session_on_the_server(desk: Desk) -> None:
    somebody = desk.visitor("ada")
    secret = somebody.cookies["paragone_desk"]
    assert somebody.post("/admin/logout").headers["location"] == "/admin/login"
    again = desk.visitor()
    again.cookies.set("paragone_desk", secret)
    assert again.get("/admin").headers["location"] == "/admin/login"


def test_an_idle_session_is_sent_to_sign_in_and_a_used_one_goes_on(desk: Desk) -> None:
    somebody = desk.visitor("ada")
    for _ in range(3):
        desk.now += 5400
        assert somebody.get("/admin").status_code == 200
    desk.now += 7300
    assert somebody.get("/admin/people").headers["location"] == "/admin/login?next=/admin/people"


def test_after_signing_in_one_is_where_one_wanted_to_be_and_never_elsewhere(desk: Desk) -> None:
    form = {"name": "ada", "password": PASSWORD}
    for there, goes in {
        "/admin/people/p-0001": "/admin/people/p-0001",
        "https://evil.example/admin": "/admin",
        "//evil.example/admin": "/admin",
        "/admin//evil.example": "/admin",
        "/admin\\@evil.example": "/admin",
        "/admin/logout": "/admin",
    }.items():
        assert desk.visitor().post("/admin/login", {**form, "next": there}).headers["location"] == goes


def test_wrong_passwords_are_slowed_down_and_told_in_the_log(desk: Desk) -> None:
    somebody = desk.visitor()
    answers = [somebody.sign_in("ada", f"wrong password {n}") for n in range(12)]
    assert [said.status_code for said in answers[:10]] == [401] * 10
    assert answers[10].status_code == 429
    assert int(answers[10].headers["retry-after"]) >= 1
    assert somebody.sign_in().status_code == 429  # the right one too, from there
    refused = [kind for kind in _kinds(desk.store) if kind == "admin.refused"]
    assert len(refused) == 10


def test_a_name_that_is_not_there_is_answered_alike_and_not_kept(desk: Desk) -> None:
    somebody = desk.visitor()
    known, unknown = somebody.sign_in("ada", "wrong password"), somebody.sign_in("my secret password", "x")
    assert known.status_code == unknown.status_code == 401
    said = "This name and password do not belong together."
    assert said in known.text
    assert said in unknown.text
    rows = desk.store.read_now(lambda c: str(c.execute(sa.select(event.c.body)).all()))
    assert "my secret password" not in rows


def test_a_cookie_is_no_bearer_token_and_a_token_no_cookie(desk: Desk) -> None:
    somebody = desk.visitor("ada")
    secret = somebody.cookies["paragone_desk"]
    assert Visitor(desk.app, bearer=secret).get("/api/admin/status").status_code == 401
    token = desk.token()
    assert Visitor(desk.app, bearer=token).get("/api/admin/status").status_code == 200
    other = desk.visitor()
    other.cookies.set("paragone_desk", token)
    assert other.get("/admin").status_code == 303


def test_an_ended_token_opens_nothing(desk: Desk) -> None:
    token = desk.token(expires=desk.now + 10)
    program = Visitor(desk.app, bearer=token)
    assert program.get("/api/admin/status").status_code == 200
    desk.now += 11
    said = program.get("/api/admin/status")
    assert (said.status_code, said.json()["error"]["kind"]) == (401, "bad-token")
    assert said.headers["www-authenticate"] == "Bearer"


def test_another_site_can_make_nobody_act(desk: Desk) -> None:
    somebody = desk.visitor("ada")
    for headers in ({"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"}):
        said = somebody.post("/admin/do/pause", {"why": "an attack"}, headers=headers)
        assert said.status_code == 403
    assert "admin.pause" not in _kinds(desk.store)


def test_viewers_look_and_change_nothing(desk: Desk) -> None:
    vic = desk.visitor("vic")
    assert vic.get("/admin/people").status_code == 200
    assert "/admin/ask/" not in vic.get("/admin/sheets").text
    codes = vic.get("/admin/codes").text
    assert not any(code in codes for code in desk.office.desk.codes.values())
    for path, form in {
        "/admin/do/pause": {"why": "reason"},
        "/admin/do/exclude-person/p-0001": {"why": "reason"},
        "/admin/codes/lab": {"count": "3"},
        "/admin/settings/add": {"name": "bob", "password": PASSWORD, "role": "admin"},
        "/admin/settings/token": {"label": "x", "days": "1"},
    }.items():
        assert vic.post(path, form).status_code == 403
    assert vic.get("/admin/ask/pause").status_code == 403
    program = Visitor(desk.app, bearer=desk.token("vic"))
    assert program.get("/api/admin/participants").status_code == 200
    assert program.post("/api/admin/pause", json={"why": "reason"}).status_code == 403


def test_somebody_may_change_their_own_password_and_must_know_the_old_one(desk: Desk) -> None:
    vic = desk.visitor("vic")
    assert (
        vic.post("/admin/settings/password", {"old": "wrong", "password": "another good sentence"}).status_code == 400
    )
    done = vic.post("/admin/settings/password", {"old": PASSWORD, "password": "another good sentence"})
    assert done.headers["location"] == "/admin/login"
    assert vic.get("/admin").status_code == 303
    assert desk.visitor().sign_in("vic", "another good sentence").status_code == 303

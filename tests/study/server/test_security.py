"""The guard: hosts, origins, proxies, sizes, patience, headers and what is left for the logs."""

from __future__ import annotations

import json
import logging
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import uvicorn
from asgi_requests import Answer, request
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from paragone.errors import BadConfig, StoreFull
from paragone.study.server.refusals import Refusal, language_for
from paragone.study.server.security import MOST_BYTES, Site, install, peer_of, security_headers, site_of

SECRET = "5f8c0a1b2c3d4e5f60718293"
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


class Note(BaseModel):
    """A body for the small application below."""

    text: str


def _app(site: Site | None = None, **kept: Any) -> FastAPI:
    app = FastAPI()

    @app.get("/")
    async def root(request: Request) -> JSONResponse:
        return JSONResponse({"query": request.url.query, "peer": peer_of(request.scope), "scheme": request.url.scheme})

    @app.post("/api/note")
    async def note(note: Note) -> dict[str, int]:
        return {"length": len(note.text)}

    @app.post("/api/raw")
    async def raw(request: Request) -> dict[str, int]:
        return {"length": len(await request.body())}

    @app.get("/api/fail")
    async def fail() -> None:
        raise RuntimeError(f"a secret: {SECRET}")

    @app.get("/fail")
    async def fail_page() -> None:
        raise RuntimeError(f"a secret: {SECRET}")

    @app.get("/api/full")
    async def full() -> None:
        raise StoreFull(f"the disk of {SECRET} is full")

    @app.get("/api/refused")
    async def refuse() -> None:
        raise Refusal.too_many(2.2)

    @app.get("/admin/login")
    async def login() -> JSONResponse:
        return JSONResponse({}, headers={"cache-control": "private, max-age=3"})

    install(app, site or site_of(), **kept)
    return app


def _post(site: Site, *, host: str = "study.example", **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    scheme = "https" if site.https else "http"
    return request(_app(site), "POST", "/api/raw", body=b"{}", host=host, headers=named, scheme=scheme)


PUBLIC = site_of("https://study.example")
PORT = site_of("http://study.example:8000")
LOCAL = site_of()


@pytest.mark.parametrize(
    ("site", "host", "headers", "passes"),
    [
        # what browsers of today say
        (PUBLIC, "study.example", {"sec_fetch_site": "same-origin"}, True),
        (PUBLIC, "study.example", {"sec_fetch_site": "none"}, True),
        (PUBLIC, "study.example", {"sec_fetch_site": "cross-site"}, False),
        (PUBLIC, "study.example", {"sec_fetch_site": "same-site"}, False),
        (PUBLIC, "study.example", {"sec_fetch_site": "cross-site", "origin": "https://study.example"}, False),
        (PUBLIC, "study.example", {"sec_fetch_site": "same-origin", "origin": "https://evil.example"}, True),
        (PUBLIC, "study.example", {"sec_fetch_site": "Same-Origin"}, False),
        (PUBLIC, "study.example", {"sec_fetch_site": ""}, False),
        (PUBLIC, "study.example", {"sec_fetch_site": "cross-site", "authorization": "Bearer x"}, False),
        # older browsers: the origin; scheme and port count
        (PUBLIC, "study.example", {"origin": "https://study.example"}, True),
        (PUBLIC, "study.example", {"origin": "https://study.example:443"}, True),
        (PUBLIC, "study.example", {"origin": "http://study.example"}, False),
        (PUBLIC, "study.example", {"origin": "https://study.example:8443"}, False),
        (PUBLIC, "study.example", {"origin": "https://evil.example"}, False),
        (PUBLIC, "study.example", {"origin": "https://study.example.evil.example"}, False),
        (PUBLIC, "study.example", {"origin": "https://sub.study.example"}, False),
        (PUBLIC, "study.example", {"origin": "null"}, False),
        (PUBLIC, "study.example", {"origin": ""}, False),
        (PUBLIC, "study.example", {"origin": "https://study.example/"}, False),
        (PUBLIC, "study.example", {"origin": "https://study.example https://evil.example"}, False),
        (PUBLIC, "127.0.0.1:8000", {"origin": "https://study.example"}, True),
        (PUBLIC, "127.0.0.1:8000", {"origin": "http://127.0.0.1:8000"}, False),
        (PORT, "study.example:8000", {"origin": "http://study.example:8000"}, True),
        (PORT, "study.example:8000", {"origin": "http://study.example"}, False),
        # without a public address the host that was asked for
        (LOCAL, "localhost:8000", {"origin": "http://localhost:8000"}, True),
        (LOCAL, "localhost:8000", {"origin": "http://localhost:8001"}, False),
        (LOCAL, "localhost:8000", {"origin": "https://localhost:8000"}, False),
        (LOCAL, "192.168.1.5:8000", {"origin": "http://192.168.1.5:8000"}, True),
        (LOCAL, "[::1]:8000", {"origin": "http://[::1]:8000"}, True),
        # no browser: neither header
        (PUBLIC, "study.example", {}, True),
        (PUBLIC, "study.example", {"authorization": "Bearer x"}, True),
        (PUBLIC, "study.example", {"cookie": "a=b"}, False),
        (PUBLIC, "study.example", {"cookie": "a=b", "authorization": "Bearer x"}, True),
        (PUBLIC, "study.example", {"cookie": "a=b", "authorization": "Basic x"}, False),
    ],
)
def test_only_pages_of_ours_change_anything(site: Site, host: str, headers: dict[str, str], passes: bool) -> None:
    answer = _post(site, host=host, **headers)
    assert answer.status == (200 if passes else 403), answer.text
    if not passes:
        assert json.loads(answer.text)["error"]["kind"] == "other-origin"


def test_two_origins_are_none() -> None:
    twice = [("origin", "https://study.example"), ("origin", "https://evil.example")]
    assert request(_app(PUBLIC), "POST", "/api/raw", body=b"", host="study.example", headers=twice).status == 403


def test_reading_is_free_from_everywhere() -> None:
    headers = {"origin": "https://evil.example", "sec-fetch-site": "cross-site", "cookie": "a=b"}
    assert request(_app(PUBLIC), host="study.example", headers=headers).status == 200


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "post", "WEIRD"])
def test_every_other_method_is_held_to_the_origin(method: str) -> None:
    headers = {"sec-fetch-site": "cross-site"}
    assert request(_app(PUBLIC), method, "/api/raw", host="study.example", headers=headers).status == 403


def test_a_wrong_origin_tells_how_the_server_is_started_behind_a_proxy() -> None:
    headers = {"origin": "https://study.example", "cookie": "a=b"}
    page = request(_app(LOCAL), "POST", "/enter", body=b"", host="localhost:8000", headers=headers)
    assert page.status == 403
    assert page["content-type"].startswith("text/html")
    assert "--public-url" in page.text
    assert "https://study.example" in page.text
    assert "http://localhost:8000" in page.text


@pytest.mark.parametrize(
    ("site", "host", "passes"),
    [
        (PUBLIC, "study.example", True),
        (PUBLIC, "STUDY.example:443", True),
        (PUBLIC, "study.example:80", False),
        (PUBLIC, "127.0.0.1:8000", True),
        (PUBLIC, "localhost", True),
        (PUBLIC, "192.168.1.5", False),
        (PUBLIC, "evil.example", False),
        (PUBLIC, "study.example.evil.example", False),
        (PUBLIC, "study.example@evil.example", False),
        (PUBLIC, "study.example:443/x", False),
        (PUBLIC, "", False),
        (PUBLIC, None, False),
        (LOCAL, "localhost:8000", True),
        (LOCAL, "192.168.1.5:8000", True),
        (LOCAL, "[fe80::1]:8000", True),
        (LOCAL, "evil.example:8000", False),
        (LOCAL, "localhost.evil.example:8000", False),
        (site_of(host="lab-pc.local"), "lab-pc.local:8000", True),
        (site_of(names=["Lab-PC"]), "lab-pc:8000", True),
    ],
)
def test_only_hosts_of_ours_are_served(site: Site, host: str | None, passes: bool) -> None:
    answer = request(_app(site), host=host)
    assert answer.status == (200 if passes else 421)
    if not passes:
        assert "--public-url" in answer.text


def test_two_hosts_are_none() -> None:
    assert request(_app(PUBLIC), host="study.example", headers=[("host", "evil.example")]).status == 421


def test_what_a_host_is_called_never_becomes_html() -> None:
    assert "<script" not in request(_app(LOCAL), host="<script>alert(1)</script>").text


@pytest.mark.parametrize(
    "address", ["study.example", "https://study.example/path", "ftp://x", "https://a?b", "https://", "https://a:b"]
)
def test_a_public_url_that_is_no_origin_is_told(address: str) -> None:
    with pytest.raises(BadConfig, match=r"--public-url '.*' is no address such as https://study.example"):
        site_of(address)


def test_a_proxy_that_is_no_address_is_told() -> None:
    with pytest.raises(BadConfig, match="'nginx' is no address or network of a proxy"):
        site_of(proxies=["nginx"])


@pytest.mark.parametrize(
    ("proxies", "headers", "seen"),
    [
        ([], {"x-forwarded-for": "1.2.3.4", "x-forwarded-proto": "https"}, ("10.0.0.1", "http")),
        (["10.0.0.0/8"], {"x-forwarded-for": "1.2.3.4", "x-forwarded-proto": "https"}, ("1.2.3.4", "https")),
        (["10.0.0.1"], {"x-forwarded-for": "6.6.6.6, 1.2.3.4"}, ("1.2.3.4", "http")),
        (["10.0.0.0/8"], {"x-forwarded-for": "6.6.6.6, 1.2.3.4, 10.0.0.7"}, ("1.2.3.4", "http")),
        (["10.0.0.2"], {"x-forwarded-for": "1.2.3.4"}, ("10.0.0.1", "http")),
        (["10.0.0.1"], {"x-forwarded-proto": "javascript"}, ("10.0.0.1", "http")),
        (["10.0.0.1"], {"x-forwarded-host": "evil.example"}, ("10.0.0.1", "http")),
    ],
)
def test_forwarded_headers_count_from_named_proxies_only(
    proxies: list[str], headers: dict[str, str], seen: tuple[str, str]
) -> None:
    said = json.loads(request(_app(site_of(proxies=proxies)), headers=headers, peer="10.0.0.1").text)
    assert (said["peer"], said["scheme"]) == seen


def test_a_public_origin_settles_the_scheme() -> None:
    assert json.loads(request(_app(PUBLIC), host="study.example").text)["scheme"] == "https"


def test_neighbours_in_a_network_of_version_6_are_one_peer() -> None:
    said = [
        json.loads(request(_app(), peer=peer).text)["peer"] for peer in ("2001:db8::1", "2001:db8::2", "::ffff:1.2.3.4")
    ]
    assert said == ["2001:db8::/64", "2001:db8::/64", "::ffff:1.2.3.4"]


@pytest.mark.parametrize("path", ["/", "/api/note", "/missing", "/api/missing", "/fail", "/api/fail", "/api/refused"])
def test_every_answer_carries_every_header(path: str) -> None:
    answer = request(_app(PUBLIC), path=path, host="study.example")
    assert answer["content-security-policy"] == CSP
    assert answer["x-content-type-options"] == "nosniff"
    assert answer["referrer-policy"] == "no-referrer"
    assert answer["x-frame-options"] == "DENY"
    assert answer["cross-origin-opener-policy"] == "same-origin"
    assert answer["cross-origin-resource-policy"] == "same-origin"
    assert answer["strict-transport-security"].startswith("max-age=")
    assert answer["cache-control"] == "no-store"
    assert "camera=()" in answer["permissions-policy"]
    assert len({name for name, _ in answer.headers}) == len(answer.headers), "a header stands twice"


def test_refusals_of_the_guard_carry_them_too() -> None:
    assert request(_app(PUBLIC), host="evil.example")["content-security-policy"] == CSP


def test_only_https_is_told_to_stay_https() -> None:
    assert "strict-transport-security" not in security_headers(LOCAL)
    assert "strict-transport-security" not in security_headers(PORT)


def test_a_named_panel_may_frame_the_pages_and_get_its_form() -> None:
    site = site_of(frame="https://www.mturk.com", form_origins=["https://www.mturk.com"])
    headers = security_headers(site)
    assert "frame-ancestors https://www.mturk.com" in headers["content-security-policy"]
    assert "form-action 'self' https://www.mturk.com;" in headers["content-security-policy"]
    assert "x-frame-options" not in headers


def test_a_header_that_browsers_complain_of_is_left_out_where_they_would() -> None:
    assert request(_app(), host="192.168.1.5:8000")["cross-origin-opener-policy"] == ""
    assert request(_app(), host="localhost:8000")["cross-origin-opener-policy"] == "same-origin"


def test_nobody_frames_the_desk_nor_gets_its_forms() -> None:
    site = site_of(frame="https://www.mturk.com", form_origins=["https://www.mturk.com"])
    answer = request(_app(site), path="/admin/login")
    assert answer["content-security-policy"] == CSP
    assert answer["x-frame-options"] == "DENY"


def test_a_page_cannot_loosen_what_every_answer_carries() -> None:
    app = _app()

    @app.get("/loose")
    async def loose() -> JSONResponse:
        return JSONResponse({}, headers={"Content-Security-Policy": "default-src *", "X-Frame-Options": "ALLOWALL"})

    answer = request(app, path="/loose")
    assert answer["content-security-policy"] == CSP
    assert answer["x-frame-options"] == "DENY"


def test_a_page_may_be_kept_where_it_says_so_and_forms_tell_their_origin() -> None:
    answer = request(_app(), path="/admin/login")
    assert answer["cache-control"] == "private, max-age=3"
    assert answer["referrer-policy"] == "same-origin"


JSON = {"content-type": "application/json"}


def test_a_body_at_the_limit_passes_and_one_above_does_not() -> None:
    assert request(_app(), "POST", "/api/raw", body=b"x" * MOST_BYTES).status == 200
    answer = request(_app(), "POST", "/api/raw", body=b"x" * (MOST_BYTES + 1))
    assert answer.status == 413
    assert json.loads(answer.text)["error"] == {"kind": "too-large", "message": "A request holds at most 65,536 bytes."}


def test_a_large_body_in_pieces_without_a_length_is_refused() -> None:
    assert request(_app(), "POST", "/api/raw", body=[b"x" * 1024] * 65).status == 413
    assert json.loads(request(_app(), "POST", "/api/raw", body=[b"x" * 1024] * 64).text) == {"length": 65536}


def test_a_length_that_lies_is_no_way_in() -> None:
    headers = {"content-length": "10"}
    assert request(_app(), "POST", "/api/raw", body=b"x" * (MOST_BYTES + 1), headers=headers).status == 413


@pytest.mark.parametrize("length", ["-1", "1e3", "0x10", "9" * 30, "", "1, 1"])
def test_a_length_that_is_none_is_refused(length: str) -> None:
    answer = request(_app(), "POST", "/api/raw", body=b"{}", headers={"content-length": length})
    assert answer.status == 400


def test_a_body_that_does_not_come_is_given_up() -> None:
    answer = request(_app(patience=0.05), "POST", "/api/raw", body=[b"{", b"}"], stall=True)
    assert (answer.status, answer["connection"]) == (408, "close")


def test_larger_bodies_are_for_named_paths_only() -> None:
    app = _app(site_of(larger={"/api/raw": 100_000}))
    assert request(app, "POST", "/api/raw", body=b"x" * 100_000).status == 200
    assert request(app, "POST", "/api/note", body=b"x" * 100_000, headers=JSON).status == 413


@pytest.mark.parametrize(
    "body",
    [b'{"text": "a\\u0000"}', b'{"text": "\\ud800"}', b'{"text": "\\udfff\\ud800"}', b'{"text": "a\x00"}',
     '{"text": "ä"}'.encode("utf-16"), b'{"text": "\xff"}', b'{"\\u0000": 1}', b"[" * 60_000, b"\xef\xbb\xbf{}"],
)  # fmt: skip
def test_text_that_no_database_holds_is_refused_at_the_door(body: bytes) -> None:
    answer = request(_app(), "POST", "/api/note", body=body, headers=JSON)
    assert answer.status in (400, 422), answer.text


@pytest.mark.parametrize("kind", ["text/plain", "application/x+json", "multipart/form-data; boundary=x", ""])
def test_a_body_of_the_api_is_looked_at_whatever_it_is_called(kind: str) -> None:
    for body in (b'{"text": "a\\u0000"}', b'{"text": "a\x00"}', b'{"text": "\\ud800"}'):
        assert request(_app(), "POST", "/api/raw", body=body, headers={"content-type": kind}).status == 400


def test_text_of_all_languages_passes() -> None:
    for text in ("ä", "中文", "\U0001f600", "a\\u0000"):
        body = json.dumps({"text": text}).encode()
        assert json.loads(request(_app(), "POST", "/api/note", body=body, headers=JSON).text) == {"length": len(text)}


def test_an_error_of_ours_says_nothing_of_the_inside() -> None:
    for path in ("/fail", "/api/fail"):
        answer = request(_app(), path=path)
        assert answer.status == 500
        assert SECRET not in answer.text
        assert "RuntimeError" not in answer.text
    assert json.loads(request(_app(), path="/api/fail").text)["error"]["kind"] == "server"
    assert "Nothing is lost" in request(_app(), path="/fail").text


@pytest.mark.parametrize(
    ("method", "path", "status", "kind"),
    [("GET", "/api/nothing", 404, "not-found"), ("GET", "/api/note", 405, "bad-method"),
     ("GET", "/api/refused", 429, "too-many"), ("POST", "/api/note", 422, "bad-request")],
)  # fmt: skip
def test_errors_of_the_api_are_json(method: str, path: str, status: int, kind: str) -> None:
    answer = request(_app(), method, path, body=b"" if method == "POST" else None, headers=JSON)
    assert (answer.status, answer["content-type"]) == (status, "application/json")
    assert set(json.loads(answer.text)["error"]) == {"kind", "message"}
    assert json.loads(answer.text)["error"]["kind"] == kind


def test_who_comes_too_often_is_told_when_to_come_again() -> None:
    assert request(_app(), path="/api/refused")["retry-after"] == "3"


def test_a_store_that_cannot_do_it_now_is_asked_again_later() -> None:
    answer = request(_app(), path="/api/full")
    assert (answer.status, answer["retry-after"], answer.error) == (503, "2", None)
    assert json.loads(answer.text)["error"]["kind"] == "server"
    assert SECRET not in answer.text


def test_an_address_with_bytes_that_are_no_text_is_refused() -> None:
    assert request(_app(), query=b"a=\x80").status == 400


def test_a_refused_body_is_not_repeated() -> None:
    body = json.dumps({"text": {"key": SECRET}, SECRET: 1}).encode()
    answer = request(_app(), "POST", "/api/note", body=body, headers=JSON)
    assert answer.status == 422
    assert SECRET not in answer.text


def test_people_get_a_page_in_their_language() -> None:
    answer = request(_app(), path="/nothing", headers={"accept-language": "de-AT,de;q=0.9,en;q=0.5"})
    assert (answer.status, answer["content-type"]) == (404, "text/html; charset=utf-8")
    assert '<html lang="de">' in answer.text
    assert "<script" not in answer.text
    assert "style=" not in answer.text


@pytest.mark.parametrize(
    ("wanted", "accept", "language"),
    [
        ("de", "en", "de"), ("xx", "zh-CN,zh;q=0.9", "zh"), ("", "", "en"), ("", "fr", "en"), ("", "fr, de;q=0.1", "de"),
        ("", "de;q=0, zh", "zh"), ("", "en;q=0.1, de;q=0.2", "de"), ("", "de;q=x, zh;q=nan,en;q=9", "en"),
        ("", "," * 5000, "en"),
    ],
)  # fmt: skip
def test_the_language_is_the_one_asked_for_or_the_best_offered(wanted: str, accept: str, language: str) -> None:
    assert language_for(wanted, accept, ["en", "zh", "de"]) == language


def test_the_application_sees_the_query_and_the_logs_do_not() -> None:
    answer = request(_app(), query=f"PROLIFIC_PID={SECRET}".encode())
    assert SECRET in json.loads(answer.text)["query"]
    assert answer.scope["query_string"] == b""
    assert answer.scope["client"] is None


def test_a_refused_request_leaves_no_query_either() -> None:
    assert request(_app(), host="evil.example", query=SECRET.encode()).scope["query_string"] == b""


def test_an_address_with_a_slash_too_many_is_no_way_to_repeat_the_query() -> None:
    answer = request(_app(), path="/admin/login/", query=SECRET.encode())
    assert answer.status == 404
    assert SECRET not in repr(answer.headers)


def test_web_sockets_are_closed() -> None:
    import asyncio

    sent: list[Any] = []

    async def run() -> None:
        async def send(message: Any) -> None:
            sent.append(message)

        async def receive() -> dict[str, Any]:
            return {"type": "websocket.connect"}

        await _app()({"type": "websocket", "path": "/", "headers": [], "query_string": b""}, receive, send)

    asyncio.run(run())
    assert [message["type"] for message in sent] == ["websocket.close"]


@contextmanager
def _served(app: FastAPI) -> Iterator[int]:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(app, log_level="info", proxy_headers=False, server_header=False))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            for _ in range(200):
                if server.started:
                    break
                time.sleep(0.02)
            yield listening.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join(10)


def _spoken(port: int, said: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        connection.sendall(said)
        return b"".join(iter(lambda: connection.recv(65536), b""))


def test_the_access_log_of_uvicorn_holds_no_ids_and_no_addresses(caplog: pytest.LogCaptureFixture) -> None:
    with _served(_app()) as port:
        for name in ("uvicorn", "uvicorn.access", "uvicorn.error"):
            logging.getLogger(name).propagate = True
        with caplog.at_level(logging.INFO):
            head = f"Host: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n"
            said = [
                _spoken(port, f"GET /?PROLIFIC_PID={SECRET} HTTP/1.1\r\n{head}".encode()),
                _spoken(port, f"GET /fail?PROLIFIC_PID={SECRET} HTTP/1.1\r\n{head}".encode()),
            ]
    assert b" 200 " in said[0].partition(b"\r\n")[0]
    assert b" 500 " in said[1].partition(b"\r\n")[0]
    access = [record.getMessage() for record in caplog.records if record.name == "uvicorn.access"]
    assert any('"GET / HTTP/1.1" 200' in line for line in access), access
    assert SECRET not in "".join(access)
    assert "127.0.0.1" not in "".join(access)

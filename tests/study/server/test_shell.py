"""The page's own files and the sign of life."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from asgi_requests import request
from fastapi import FastAPI
from study_folder import frozen_study

from paragone.study.pages import PAGES
from paragone.study.server.app import create_app
from paragone.study.store import Store
from paragone.study.store.keys import Keys


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FastAPI]:
    folder = tmp_path_factory.mktemp("study")
    with Store.open(f"sqlite:///{folder / 'study.db'}") as store:
        yield create_app(frozen_study(folder / "study"), store, Keys(b"k" * 32), keeps_house=False)


def test_the_page_names_only_files_that_are_there(app: FastAPI) -> None:
    page = request(app, "GET", "/study")
    assert page.status == 200
    names = [part.split('"')[0] for part in page.text.split("/static/")[1:]]
    assert set(names) == {"study.css", "boot.js"}
    met: set[str] = set()
    while names:
        name = names.pop()
        answer = request(app, "GET", f"/static/{name}")
        assert answer.status == 200
        met.add(name)
        if name.endswith(".js"):
            named = re.findall(r'(?:from ?|import\()"(?:\./|/static/)([\w-]+\.js)"', answer.text)
            names += [other for other in named if other not in met]
    assert {"study.js", "dom.js", "net.js", "outbox.js", "pages.js", "stage.js", "trials.js"} <= met


def test_every_page_kind_has_its_script(app: FastAPI) -> None:
    for name in PAGES.names():
        package, _, script = PAGES.get(name).module.partition(":")
        if package == "paragone.study.web":
            assert request(app, "GET", f"/static/{script}")["content-type"] == "text/javascript; charset=utf-8"


def test_a_file_that_has_not_changed_is_not_sent_again(app: FastAPI) -> None:
    first = request(app, "GET", "/static/study.js")
    again = request(app, "GET", "/static/study.js", headers={"if-none-match": first["etag"]})
    assert (again.status, again.body) == (304, b"")


@pytest.mark.parametrize(
    "path",
    [
        "index.html",
        "__init__.py",
        "../frozen.py",
        "..%2ffrozen.py",
        "%2e%2e/frozen.py",
        "nothing.js",
        "page-pairs.js.py",
    ],
)
def test_nothing_else_is_served(app: FastAPI, path: str) -> None:
    assert request(app, "GET", f"/static/{path}").status == 404


def test_a_sign_of_life(app: FastAPI) -> None:
    told = request(app, "GET", "/healthz")
    assert json.loads(told.text) == {"status": "ok", "queue": 0, "version": 1, "paused": False}

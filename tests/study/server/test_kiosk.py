"""One machine of a laboratory: its start page, what the operator enters, which codes still open something."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from scene import BOTH, Scene, scene

from paragone.design.pages import Lab
from paragone.study.recalled import recalled
from paragone.study.server.entry_pages import code_page
from paragone.study.server.kiosk import Entered, entered, first_codes, is_used, note, start_page
from paragone.study.server.pseudonyms import code_sha256
from paragone.study.store import Store, people

ROOM = Lab(station="Booth <2>", resolution=[4096, 2304], distance_cm=45.0, vision=["acuity", "colour"], light_lux=200.0)


@pytest.mark.parametrize("language", ["en", "de", "zh"])
def test_the_start_page_has_a_field_for_the_code_and_one_for_each_test(language: str) -> None:
    page = bytes(start_page(language, ["en", "de", "zh"], "A study", ROOM).body).decode()
    assert page.count('name="code"') == page.count('name="distance_cm"') == 1
    assert [page.count(f'<select name="{test}">') for test in ("acuity", "colour")] == [1, 1]
    assert page.index('value="not-tested"') < page.index('value="passed"')  # nobody is passed by leaving it alone
    assert "Booth &lt;2&gt;" in page
    assert "200 lux" in page
    assert "style=" not in page
    assert "<script" not in page


def test_a_wrong_code_and_a_used_one_are_told_apart() -> None:
    wrong, used = (start_page("en", ["en"], "A study", ROOM, f"entry.code-{word}") for word in ("wrong", "used"))
    assert (wrong.status_code, used.status_code) == (422, 422)
    assert b"We do not know this code" in wrong.body
    assert b"This code has been used" in used.body
    assert start_page("en", ["en"], "A study", ROOM).headers["clear-site-data"] == '"storage"'
    assert "clear-site-data" not in code_page("en", ["en"], "A study").headers


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ({}, Entered({"acuity": "not-tested", "colour": "not-tested"}, None)),
        ({"acuity": ["passed"], "colour": ["failed"]}, Entered({"acuity": "passed", "colour": "failed"}, None)),
        (
            {"acuity": ["20/20"], "distance_cm": ["45,5"]},
            Entered({"acuity": "not-tested", "colour": "not-tested"}, 45.5),
        ),
        ({"distance_cm": ["0"]}, Entered({"acuity": "not-tested", "colour": "not-tested"}, None)),
        ({"distance_cm": ["1e9"]}, Entered({"acuity": "not-tested", "colour": "not-tested"}, None)),
        ({"distance_cm": ["nan"]}, Entered({"acuity": "not-tested", "colour": "not-tested"}, None)),
    ],
)
def test_what_is_no_result_counts_as_not_tested(form: dict[str, list[str]], expected: Entered) -> None:
    assert entered(ROOM, form) == expected


def test_without_tests_and_distance_nothing_is_stored_and_nothing_twice(store_url: str) -> None:
    with Store.open(store_url) as store:
        store.write_now(lambda c: people.arrive(c, "lab", None, None, "en", 1.0))
        for _ in range(2):
            store.write_now(lambda c: note(c, 1, Entered({}, None), 2.0, once="a"))
            store.write_now(lambda c: note(c, 1, Entered({"acuity": "passed"}, 45.0), 2.0, once="b"))
        kinds = store.read_now(lambda c: [row[0] for row in c.exec_driver_sql("SELECT kind FROM event ORDER BY kind")])
        assert kinds == ["station", "vision"]


def test_the_first_codes_are_made_once_and_open_the_study(store_url: str) -> None:
    def hmac(text: str) -> str:
        return f"hmac of {text}"

    with Store.open(store_url) as store:
        made = store.write_now(lambda c: first_codes(c, hmac, 1.0))
        assert len(set(made)) == 10
        assert store.write_now(lambda c: first_codes(c, hmac, 2.0)) == []
        for code in made:
            hashed = code_sha256(hmac, code)
            assert store.write_now(lambda c, hashed=hashed: people.arrive_by_code(c, hashed, "en", 3.0)) is not None
        assert store.read_now(people.unused_codes) == 0
        assert len(store.write_now(lambda c: first_codes(c, hmac, 4.0))) == 10


@pytest.mark.parametrize(
    ("until", "each", "used"),
    [("trial", 1, False), ("done", 1, True), ("done", 2, False), ("consent", 1, False)],
)
def test_a_code_is_used_once_its_person_is_through(tmp_path: Path, until: str, each: int, used: bool) -> None:
    with scene(tmp_path, BOTH) as here:
        here.walked(until)
        assert here.store.read_now(lambda c: is_used(c, 1, each)) == used


def test_the_operators_results_reach_the_methods_paragraph(tmp_path: Path) -> None:
    with scene(tmp_path, BOTH) as here:
        for number, results in enumerate(({"acuity": "passed"}, {"acuity": "failed"}), start=1):
            here.walked("done")
            here.store.write_now(lambda c, n=number, r=results: note(c, n, Entered(r, 40.0 + n), 2.0, once=str(n)))
        here.store.write_now(lambda c: note(c, 1, Entered({"acuity": "not-tested"}, None), 3.0, once="later"))
        found = _recalled(here)
        assert found.vision == {"acuity": {"passed": 1, "failed": 1}}
        assert [one["distance_cm"] for one in found.displays or ()] == [41.0, 42.0]


def _recalled(here: Scene) -> Any:
    return here.store.read_now(lambda c: recalled(c, here.app.state.desk.version))

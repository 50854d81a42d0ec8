"""Everything comes out as tables, the same bytes for the same store, in bounded memory."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from paragone.errors import NotFound, UnknownName, WouldOverwrite
from paragone.plan import Plan
from paragone.study import collect
from paragone.study.store import Store, answers, claims, events, export, people, versions
from store_world import sha

PLAN = pl.DataFrame(
    {
        "trial": ["a1", "a2", "a3", "b1", "b2", "r1", "r2"],
        "sheet": ["sa", "sa", "sa", "sb", "sb", "sr1", "sr2"],
        "session": ["1", "1", "1", "1", "1", "1", "2"],
        "stage": ["pairs"] * 5 + ["rate"] * 2,
        "position": [1, 2, 3, 1, 2, 1, 1],
        "kind": ["main", "check", "main", "main", "main", "main", "main"],
        "left": ["x", "x", "y", "x", "y", None, None],
        "right": ["y", "z", "z", "y", "z", None, None],
        "item": [None] * 5 + ["x", "y"],
        "expected": [None, "left", None, None, None, None, None],
        "repeat_of": [None] * 7,
        "owner": ["A", "A", "A", "B", "B", "R", "R"],
        "check": [None, "instructed", None, None, None, None, None],
        "left.content": ["c1"] * 5 + [None] * 2,
    },
    schema_overrides={"repeat_of": pl.String},
)
ITEMS = {
    "pictures": {"x": {"path": "img/x.png", "sha256": "ab", "width": 4, "height": 3, "profile": "sRGB"}},
    "words": {"x": {"prompt": "a cat"}},
}


class Asked:
    """A study with answers of every kind, put there in a fixed order."""

    def __init__(self, store: Store) -> None:
        self.store = store
        leases = [("pairs", "A"), ("pairs", "B"), ("rate", "R")]
        items = json.dumps(ITEMS).encode()
        self.version = self._do(versions.freeze, '{"name": "s"}', PLAN.write_csv().encode(), items, leases, 1.0)
        self.ann, self.ben, self.eve = (self._person(name, stage) for name, stage in
                                        (("ann", "pairs"), ("ben", "pairs"), ("eve", "rate")))  # fmt: skip
        for number, trial in enumerate(("a1", "a2", "a3")):
            self._answer(
                self.ann, trial, ("left", "right", "tie")[number], body={"input": "key", "exact": True, "order": 0}
            )
        self._answer(self.ben, "b1", "left", body={"distortions": ["blur", "noise"], "odd": {"deep": 1}})
        self._answer(self.eve, "r1", "2.5")
        self._answer(self.eve, "r1", "-3.5", revision=1)
        self._answer(self.eve, "r2", "1", seconds=None)
        self._do(claims.finish, self.ann.id, 60.0)
        self._do(claims.exclude, self.ben.id, 70.0, who="desk", why="=1+1")
        self._do(events.append, "codes", 80.0, body={"completed": "SECRET-CODE"})

    def _do(self, job: Callable[..., Any], *given: Any, **named: Any) -> Any:
        return self.store.write_now(lambda c: job(c, *given, **named))

    def _person(self, name: str, stage: str) -> claims.Lease:
        person = self._do(people.arrive, "prolific", sha(name), b"sealed", "en", 2.0)
        self._do(people.open_visit, person.id, sha(f"k{name}"), None, None, 3.0)
        self._do(people.take_token, sha(f"k{name}"), sha(f"t{person.id}"), 3.0)
        about = {"participant_id": person.id}
        self._do(events.append, "consent", 4.0, **about, body={"version": "v1"})
        lease = self._do(claims.claim, person.id, [stage], 10, 5.0)
        screen = {"width": 1440, "user_agent": "Mozilla/5.0 (X11; Linux)", "plates": {"0": "12"}}
        self._do(events.append, "device", 6.0, **about, lease_id=lease.id, session="1", body=screen)
        told = {"answers": {"age": "25-34", "region": "Asia"}, "remark": f"=HYPERLINK({name})"}
        self._do(events.append, "questionnaire", 7.0, **about, lease_id=lease.id, body=told)
        return lease

    def _answer(self, lease: claims.Lease, trial: str, value: str, **more: Any) -> None:
        revision, seconds, body = more.get("revision", 0), more.get("seconds", 1.25), json.dumps(more.get("body", {}))
        row = answers.NewAnswer(f"{trial}-{revision}", trial, "q", revision, value, seconds, body)
        token = sha(f"t{lease.participant_id}")
        (told,) = self._do(answers.append, token, lease.id, lease.participant_id, [row], 10.0)
        assert told.status == "stored"


@pytest.fixture
def asked(store: Store) -> Asked:
    return Asked(store)


def _write(asked: Asked, folder: Path, form: str = "csv", **more: Any) -> dict[str, Any]:
    return asked.store.read_now(lambda c: export.tables(c, folder, form, **more))


def _table(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """An empty folder; on SQLite the store lies beside it."""
    (tmp_path / "out").mkdir()
    return tmp_path / "out"


def test_answers_fit_the_contract_and_become_votes_and_ratings(asked: Asked) -> None:
    frame = asked.store.read_now(export.answers_frame)
    assert frame.select("participant", "sheet", "session", "trial", "answer", "revision").rows() == [
        ("p-0001", "sa", "1", "a1", "left", 0),
        ("p-0001", "sa", "1", "a2", "right", 0),
        ("p-0001", "sa", "1", "a3", "tie", 0),
        ("p-0002", "sb", "1", "b1", "left", 0),
        ("p-0003", "sr1", "1", "r1", "-3.5", 1),
        ("p-0003", "sr2", "2", "r2", "1", 0),
    ]
    made = collect(Plan(PLAN), frame)
    assert made.votes is not None
    assert made.ratings is not None
    assert made.votes.frame["choice"].to_list() == ["left", "right", "tie", "left"]
    assert made.ratings.frame["value"].to_list() == [-3.5, 1.0]
    assert made.notes["doubles"] == 0


def test_what_came_with_an_answer_has_columns_of_its_own(asked: Asked) -> None:
    frame = asked.store.read_now(export.answers_frame)
    first, fourth = frame.row(0, named=True), frame.row(3, named=True)
    assert (first["input"], first["exact"], first["order"], first["zoom"], first["more"]) == (
        "key",
        True,
        0,
        None,
        None,
    )
    assert (fourth["distortions"], fourth["more"]) == ("blur;noise", '{"odd":{"deep":1}}')
    assert (first["lease"], first["stage"], first["owner"], first["state"]) == (asked.ann.id, "pairs", "A", "complete")


def test_clean_answers_are_those_that_count(asked: Asked, out: Path) -> None:
    clean = asked.store.read_now(lambda c: export.answers_frame(c, clean=True))
    assert clean["trial"].to_list() == ["a1", "a2", "a3"]
    _write(asked, out)
    assert [row["trial"] for row in _table(out, "answers_clean")] == ["a1", "a2", "a3"]
    assert [(row["trial"], row["answer"]) for row in _table(out, "revisions")] == [("r1", "2.5")]
    assert len(_table(out, "answers")) == 6


def test_answers_of_one_version_only(asked: Asked) -> None:
    assert asked.store.read_now(lambda c: export.answers_frame(c, version=asked.version)).height == 6
    none = asked.store.read_now(lambda c: export.answers_frame(c, version=asked.version + 1))
    assert none.height == 0
    assert none.columns == [column.name for column in export.TABLES["answers"].columns]


def test_trials_say_what_was_planned_for_whom(asked: Asked, out: Path) -> None:
    _write(asked, out)
    rows = _table(out, "trials")
    assert [(r["participant"], r["trial"], r["left"], r["left.content"]) for r in rows[:2]] == [
        ("p-0001", "a1", "x", "c1"),
        ("p-0001", "a2", "x", "c1"),
    ]
    assert (rows[1]["kind"], rows[1]["expected"], rows[1]["check"], rows[1]["state"]) == (
        "check", "left", "instructed", "complete",
    )  # fmt: skip
    assert len(rows) == 7


def test_sessions_people_exclusions_and_stimuli_are_told(asked: Asked, out: Path) -> None:
    _write(asked, out)
    sessions = _table(out, "sessions")
    assert [(s["participant"], s["session"], s["sheet"], s["answers"]) for s in sessions] == [
        ("p-0001", "1", "sa", "3"),
        ("p-0002", "1", "sb", "1"),
        ("p-0003", "1", "sr1", "1"),
        ("p-0003", "2", "sr2", "1"),
    ]
    assert json.loads(sessions[0]["device"])["width"] == 1440
    ann = _table(out, "participants")[0]
    assert (ann["participant"], ann["consent"], ann["age"], ann["gender"]) == ("p-0001", "v1", "25-34", "")
    (left_out,) = _table(out, "exclusions")
    told = (left_out["deed"], left_out["participant"], left_out["who"], left_out["owner"])
    assert told == ("exclude", "p-0002", "desk", "B")
    (picture,) = _table(out, "stimuli")
    assert (picture["stimulus"], picture["width"], picture["texts"]) == ("x", "4", '{"prompt":"a cat"}')
    assert [row["state"] for row in _table(out, "leases")] == ["complete", "excluded", "leased", "free"]


def test_a_spreadsheet_finds_no_formula(asked: Asked, out: Path) -> None:
    _write(asked, out)
    assert _table(out, "participants")[0]["remark"] == "'=HYPERLINK(ann)"
    assert _table(out, "exclusions")[0]["why"] == "'=1+1"
    assert [r["answer"] for r in _table(out, "answers")][4] == "-3.5", "a number stays a number"
    dangerous = ("=", "+", "-", "@", "\t", "\r")
    for name in export.TABLES:
        for row in _table(out, name):
            for value in row.values():
                assert not value.startswith(dangerous) or float(value) < 0


def test_completion_codes_never_come_out(asked: Asked, out: Path) -> None:
    for form in ("csv", "json", "jspsych"):
        _write(asked, out / form, form)
    assert not [path for path in out.rglob("*.*") if b"SECRET-CODE" in path.read_bytes()]


def test_an_anonymised_export_leads_back_to_nobody(asked: Asked, out: Path) -> None:
    _write(asked, out, anonymise=True)
    whole = b"".join(path.read_bytes() for path in out.iterdir())
    for word in (b"HYPERLINK", b"Mozilla", b'"desk"', sha("ann").encode()):
        assert word not in whole
    assert {row["remark"] for row in _table(out, "participants")} == {""}
    assert {row["external_hmac"] for row in _table(out, "participants")} == {""}
    assert {row["device"] for row in _table(out, "sessions")} == {""}
    assert {(row["who"], row["why"]) for row in _table(out, "exclusions")} == {("", "")}
    screens = [json.loads(row["body"]) for row in _table(out, "events") if row["kind"] == "device"]
    assert screens == [{"width": 1440}] * 3
    assert json.loads((out / "manifest.json").read_text())["anonymised"] is True


def test_the_manifest_holds_counts_and_sums(asked: Asked, out: Path) -> None:
    told = _write(asked, out)
    assert json.loads((out / "manifest.json").read_text()) == told
    assert set(told["files"]) == {path.name for path in out.iterdir()} - {"manifest.json"}
    for name, file in told["files"].items():
        assert hashlib.sha256((out / name).read_bytes()).hexdigest() == file["sha256"]
    for name in export.TABLES:
        assert told["files"][f"{name}.csv"]["rows"] == len(_table(out, name))


def test_every_column_is_explained(asked: Asked, out: Path) -> None:
    _write(asked, out)
    explained = {(row["table"], row["column"]) for row in _table(out, "dictionary")}
    for name in export.TABLES:
        header = (out / f"{name}.csv").read_text().splitlines()[0].split(",")
        assert {(name, column) for column in header if "." not in column} <= explained


def test_the_frozen_plan_comes_out_as_it_was(asked: Asked, out: Path) -> None:
    _write(asked, out)
    assert Plan.read(out / f"plan-{asked.version}.csv").frame.height == 7
    assert json.loads((out / f"study-{asked.version}.json").read_text()) == {"name": "s"}


@pytest.mark.parametrize("form", ["csv", "parquet", "json", "jspsych"])
def test_the_same_store_gives_the_same_bytes(asked: Asked, out: Path, form: str) -> None:
    assert _write(asked, out / "one", form) == _write(asked, out / "two", form)
    for path in (out / "one").iterdir():
        assert path.read_bytes() == (out / "two" / path.name).read_bytes()


def test_both_databases_give_the_same_bytes(postgres_store: Callable[[], str], out: Path) -> None:
    told = []
    for url in (postgres_store(), f"sqlite:///{out / 'study.db'}"):
        with Store.open(url) as store:
            told.append(_write(Asked(store), out / store.dialect))
    assert told[0] == told[1]


def test_all_formats_hold_the_same(asked: Asked, out: Path) -> None:
    for form in ("parquet", "json"):
        _write(asked, out / form, form)
    for name in export.TABLES:
        parquet = pl.read_parquet(out / "parquet" / f"{name}.parquet")
        rows = json.loads((out / "json" / f"{name}.json").read_text())
        assert parquet.to_dicts() == rows, name


@pytest.mark.parametrize("piece", [1, 2, 3])
def test_the_size_of_pieces_changes_nothing(
    asked: Asked, out: Path, monkeypatch: pytest.MonkeyPatch, piece: int
) -> None:
    whole = {form: _write(asked, out / form, form)["files"] for form in ("csv", "json", "jspsych")}
    monkeypatch.setattr("paragone.study.store.export.rows.PIECE", piece)
    for form, files in whole.items():
        assert _write(asked, out / f"{form}-again", form)["files"] == files


def test_a_table_can_be_sent_piece_by_piece(asked: Asked, store_url: str, out: Path) -> None:
    for form in ("csv", "parquet", "json"):
        _write(asked, out / form, form)
        for name in export.TABLES:
            sent = b"".join(export.stream(store_url, name, form))
            assert sent == (out / form / f"{name}.{form}").read_bytes()


def test_pieces_may_be_taken_by_different_threads(asked: Asked, store_url: str, out: Path) -> None:
    _write(asked, out)
    source, got = export.stream(store_url, "answers"), []

    def take() -> None:
        got.append(next(source, b""))

    for _ in range(3):
        thread = threading.Thread(target=take)
        thread.start()
        thread.join()
    assert b"".join(got) == (out / "answers.csv").read_bytes()


def test_a_stream_that_is_left_lets_the_store_go(asked: Asked, store_url: str) -> None:
    source = export.stream(store_url, "answers", "json")
    next(source)
    source.close()  # type: ignore[attr-defined]
    assert asked.store.write_now(lambda c: events.append(c, "after", 1.0)) == "stored"


@pytest.mark.parametrize("form", ["csv", "parquet", "jspsych"])
def test_the_zip_holds_what_the_folder_holds(asked: Asked, store_url: str, out: Path, form: str) -> None:
    _write(asked, out, form)
    parts = list(export.zipped(store_url, form))
    with zipfile.ZipFile(io.BytesIO(b"".join(parts))) as archive:
        assert archive.testzip() is None
        assert {name: archive.read(name) for name in archive.namelist()} == {
            path.name: path.read_bytes() for path in out.iterdir()
        }


def test_jspsych_trials_have_what_its_users_know(asked: Asked, out: Path) -> None:
    _write(asked, out, "jspsych")
    rows = json.loads((out / "jspsych.json").read_text())
    assert rows[1] == {
        "trial_type": "html-button-response", "trial_index": 1, "rt": 1250.0, "stimulus": ["x", "z"], "response": 1,
        "participant": "p-0001", "session": "1", "stage": "pairs", "trial": "a2", "kind": "check", "criterion": "q",
        "state": "complete",
    }  # fmt: skip
    assert [row["response"] for row in rows] == [0, 1, 2, 0, -3.5, 1.0]
    assert (rows[-1]["trial_type"], rows[-1]["stimulus"], rows[-1]["rt"]) == ("html-slider-response", "y", None)
    assert [row["trial_index"] for row in rows] == [0, 1, 2, 0, 0, 1]


def test_a_folder_with_other_things_is_left_alone(asked: Asked, out: Path) -> None:
    (out / "thesis.tex").write_text("years of work")
    with pytest.raises(WouldOverwrite, match=r"holds files that are no export \(thesis\.tex\); name an empty folder"):
        _write(asked, out)
    assert [path.name for path in out.iterdir()] == ["thesis.tex"]


def test_what_a_killed_export_left_is_in_nobodys_way(asked: Asked, out: Path) -> None:
    (out / ".answers.csv.1lpn2xlg.part").write_text("half")
    _write(asked, out)
    assert (out / "manifest.json").is_file()


def test_an_export_replaces_an_earlier_one(asked: Asked, out: Path) -> None:
    _write(asked, out, "csv")
    (out / "mine.txt").write_text("kept")
    told = _write(asked, out, "json")
    assert {path.name for path in out.iterdir()} == {*told["files"], "manifest.json", "mine.txt"}


def test_unknown_words_are_told(asked: Asked, store_url: str, out: Path) -> None:
    with pytest.raises(UnknownName, match="no format of the export 'xls'; there is csv, json, jspsych, parquet"):
        _write(asked, out, "xls")
    with pytest.raises(UnknownName, match="no table of the export 'answer'; did you mean 'answers'"):
        export.stream(store_url, "answer")
    with pytest.raises(UnknownName, match="no format of the export"):
        export.stream(store_url, "answers", "jspsych")
    with pytest.raises(NotFound, match="no store"):
        next(export.stream(f"sqlite:///{out}/none.db", "answers"))


def test_an_empty_store_gives_empty_tables(store: Store, out: Path) -> None:
    for form in ("csv", "parquet", "json", "jspsych"):
        told = store.read_now(lambda c, form=form: export.tables(c, out / form, form))
        assert {file["rows"] for name, file in told["files"].items() if name != "dictionary.csv"} == {0}
    assert pl.read_parquet(out / "parquet" / "answers.parquet").height == 0
    assert json.loads((out / "json" / "answers.json").read_text()) == []
    assert (out / "csv" / "answers.csv").read_text().startswith("participant,sheet,session,trial,criterion,answer")

"""A copy is whole, checked, and comes back on either database."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from paragone.errors import BadInput, NotFound, WouldOverwrite
from paragone.study.store import Store, backup, claims, events, people
from paragone.study.store.tables import METADATA
from store_world import Small


def _filled(store: Store) -> Small:
    """Every kind of content: bytes, nulls, odd text, fractions, deleted ids."""
    small = Small(store)
    person = small.person("ann")
    lease = small.lease(person.id)
    for number in range(5):
        small.answer(lease, f"t{number}", body='{"remark": "內容 \\n, \U0001f3a8"}', seconds=number / 3)
    small.answer(lease, "t9", seconds=None)
    small.write(claims.exclude, lease.id, 12.3456789, who="ann", why="x")
    small.write(events.append, "consent", 1.1, participant_id=person.id, body={"a": [1, 2.5, None]})
    small.write(people.add_codes, {"c0de": "desk"}, 1.0)
    small.write(people.decline, small.person("leaves").id)
    return small


def _content(store: Store) -> dict[str, list[Any]]:
    def read(c: sa.Connection) -> dict[str, list[Any]]:
        tables = [table for table in METADATA.sorted_tables if table.name != "door"]
        return {t.name: [tuple(row) for row in c.execute(t.select().order_by(t.c.id))] for t in tables}

    return store.read_now(read)


@pytest.fixture(params=["sqlite", "postgresql"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Where nothing is yet, on each database."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'restored.db'}"
        return
    with request.getfixturevalue("postgres")() as url:
        yield url


def test_a_backup_comes_back_on_either_database(store: Store, store_url: str, target: str, tmp_path: Path) -> None:
    _filled(store)
    copy = backup.backup(store_url, tmp_path / "copy.zip")
    assert copy.tables["answer"].rows == 6
    assert backup.check(tmp_path / "copy.zip") == copy
    assert backup.restore(tmp_path / "copy.zip", target) == copy
    with Store.open(target) as restored:
        assert _content(restored) == _content(store)


def test_a_restored_study_goes_on(store: Store, store_url: str, target: str, tmp_path: Path) -> None:
    small = _filled(store)
    backup.backup(store_url, tmp_path / "copy.zip")
    backup.restore(tmp_path / "copy.zip", target)
    with Store.open(target) as restored:
        again = Small(restored)
        assert again.version == small.version
        person = again.person("new")
        assert person.name == "p-0003", "p-0002 declined, and her name is not given to another"
        assert again.answer(again.lease(person.id), client_id="new") == "stored"
        with pytest.raises(sa.exc.DBAPIError, match="answer is append-only"):
            restored.write_now(lambda c: c.execute(sa.text("DELETE FROM answer")))


def test_the_same_store_gives_the_same_bytes_but_for_the_time(store: Store, store_url: str, tmp_path: Path) -> None:
    _filled(store)
    for name in ("one.zip", "two.zip"):
        backup.backup(store_url, tmp_path / name, now=5.0)
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()


def test_both_databases_give_the_same_sums(postgres: Callable[[], Any], sqlite_store: Path, tmp_path: Path) -> None:
    shutil.copyfile(sqlite_store, tmp_path / "study.db")
    sums = []
    with postgres() as url:
        for address in (url, f"sqlite:///{tmp_path / 'study.db'}"):
            with Store.open(address) as store:
                small = Small(store)
                small.answer(small.lease(small.write(_known_person).id))
            sums.append(backup.backup(address, tmp_path / "c.zip").tables)
    assert sums[0] == sums[1]


def _known_person(c: sa.Connection) -> people.Participant:
    from store_world import sha

    person = people.arrive(c, "open", "h", b"\x00\xff", "en", 1.5)
    people.open_visit(c, person.id, sha("key"), None, None, 1.5)
    people.take_token(c, sha("key"), Small.token(person.id), 2.0)
    return person


def test_a_backup_is_of_one_moment_while_answers_come_in(store: Store, store_url: str, tmp_path: Path) -> None:
    small = Small(store)
    lease = small.lease(small.person().id)
    over = threading.Event()
    counts = []

    def answering() -> None:
        number = 0
        while not over.is_set():
            number += 1
            small.answer(lease, f"t{number}")
            small.write(events.append, "telemetry", 1.0)

    thread = threading.Thread(target=answering)
    thread.start()
    try:
        for number in range(5):
            copy = backup.backup(store_url, tmp_path / f"copy-{number}.zip")
            counts.append((copy.tables["answer"].rows, copy.tables["event"].rows))
    finally:
        over.set()
        thread.join()
    assert all(answers - events in (0, 1) for answers, events in counts)
    assert counts == sorted(counts)


def test_another_process_can_back_up_what_is_served(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/study.db"
    with Store.open(url) as store:
        _filled(store)
        code = f"from paragone.study.store import backup\nbackup.backup({url!r}, {str(tmp_path / 'copy.zip')!r})"
        subprocess.run([sys.executable, "-c", code], check=True)
        assert backup.check(tmp_path / "copy.zip").tables["answer"].rows == 6


def test_a_target_with_rows_is_refused(store: Store, store_url: str, tmp_path: Path) -> None:
    _filled(store)
    backup.backup(store_url, tmp_path / "copy.zip")
    store.close()
    with pytest.raises(
        WouldOverwrite, match=r"the target holds rows already \(answer, event, lab_code\); restore into"
    ):
        backup.restore(tmp_path / "copy.zip", store_url)
    with Store.open(store_url) as again:
        assert len(_content(again)["answer"]) == 6


def test_an_empty_store_is_a_fine_target(store: Store, store_url: str, target: str, tmp_path: Path) -> None:
    _filled(store)
    backup.backup(store_url, tmp_path / "copy.zip")
    Store.open(target).close()
    backup.restore(tmp_path / "copy.zip", target)
    with Store.open(target) as restored:
        assert _content(restored) == _content(store)


def test_a_target_that_is_served_is_refused(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/study.db"
    with Store.open(url):
        backup.backup(url, tmp_path / "copy.zip")
        with pytest.raises(BadInput, match="another process"):
            backup.restore(tmp_path / "copy.zip", url)


def _changed(path: Path, change: Callable[[str, bytes], bytes | None]) -> None:
    """Write a zip anew with members changed; None drops one."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            if (kept := change(name, content)) is not None:
                archive.writestr(name, kept)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda n, b: b[: b.rindex(b"\n", 0, -1) + 1] if n == "answer.jsonl" else b, "table 'answer' has 5 rows of 6"),
        (
            lambda n, b: b.replace(b'"left"', b'"rite"') if n == "answer.jsonl" else b,
            "or other content than its sum says",
        ),
        (lambda n, b: None if n == "event.jsonl" else b, "damaged in table 'event'; take another backup"),
        (lambda n, b: None if n == "manifest.json" else b, "no backup of paragone, or damaged"),
        (lambda n, b: b"{}" if n == "manifest.json" else b, "no backup of paragone, or damaged"),
        (lambda n, b: b"[1" if n == "manifest.json" else b, "no backup of paragone, or damaged"),
        (
            lambda n, b: b.replace(b'"format": 1', b'"format": 2') if n == "manifest.json" else b,
            "made by a newer paragone",
        ),
    ],
)
def test_a_backup_that_was_changed_is_refused(
    tmp_path: Path, change: Callable[[str, bytes], bytes | None], says: str
) -> None:
    url = f"sqlite:///{tmp_path}/study.db"
    with Store.open(url) as store:
        _filled(store)
        backup.backup(url, tmp_path / "copy.zip")
    _changed(tmp_path / "copy.zip", change)
    with pytest.raises(BadInput, match=says):
        backup.check(tmp_path / "copy.zip")
    with pytest.raises(BadInput, match=says):
        backup.restore(tmp_path / "copy.zip", f"sqlite:///{tmp_path}/restored.db")
    assert not (tmp_path / "restored.db").exists()


@pytest.mark.parametrize(
    "line",
    [
        b'{"x": 1}\n', b"[1]\n", b"no JSON\n", b"[" * 5000 + b"\n", b"[" + b"9" * 5000 + b"]\n", b'["a"]\n' * 3,
        b'[1, "c", 1, 1, "t", "k", 0, "left", 99999999999999999999, 1, "{}"]\n', b'[{"base64": "*"}]\n',
        b'[1, "c", 77, 77, "t", "k", 0, "left", 1, 1, "{}"]\n',
    ],
    ids=str,
)  # fmt: skip
def test_a_backup_with_rows_by_hand_and_fitting_sums_is_refused_whole(
    store: Store, store_url: str, target: str, tmp_path: Path, line: bytes
) -> None:
    _filled(store)
    backup.backup(store_url, tmp_path / "copy.zip")

    def change(name: str, content: bytes) -> bytes:
        if name == "answer.jsonl":
            return line
        if name != "manifest.json":
            return content
        told = json.loads(content)
        told["tables"]["answer"] |= {"rows": line.count(b"\n"), "sha256": hashlib.sha256(line).hexdigest()}
        return json.dumps(told).encode()

    _changed(tmp_path / "copy.zip", change)
    with pytest.raises(BadInput, match="table 'answer'"):
        backup.restore(tmp_path / "copy.zip", target)
    with Store.open(target) as restored:
        assert not any(_content(restored).values())


@pytest.mark.parametrize("last", [10**30, -(10**30)])
def test_last_ids_that_are_no_ids_are_refused(
    store: Store, store_url: str, target: str, tmp_path: Path, last: int
) -> None:
    _filled(store)
    backup.backup(store_url, tmp_path / "copy.zip")

    def change(name: str, content: bytes) -> bytes:
        told = json.loads(content) if name == "manifest.json" else {}
        return json.dumps(told | {"last_ids": {"answer": last}}).encode() if told else content

    _changed(tmp_path / "copy.zip", change)
    with pytest.raises(BadInput, match="last_ids holds what a store does not take"):
        backup.restore(tmp_path / "copy.zip", target)


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", b" " * (20 << 20))
    with pytest.raises(BadInput, match="no backup of paragone, or damaged"):
        backup.check(tmp_path / "bomb.zip")


def test_a_line_without_an_end_is_refused(
    store: Store, store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _filled(store)
    backup.backup(store_url, tmp_path / "copy.zip")
    monkeypatch.setattr(backup, "_MOST_LINE", 20)
    with pytest.raises(BadInput, match="damaged in table"):
        backup.check(tmp_path / "copy.zip")


def test_bytes_that_rot_are_found_or_mean_nothing(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/study.db"
    with Store.open(url) as store:
        _filled(store)
        copy = backup.backup(url, tmp_path / "copy.zip")
    whole = (tmp_path / "copy.zip").read_bytes()
    found = 0
    for place in range(0, len(whole), 17):
        (tmp_path / "rotten.zip").write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        try:
            assert backup.check(tmp_path / "rotten.zip") == copy
        except BadInput:
            found += 1
    assert found > len(whole) / 17 / 2


def test_a_schema_of_the_future_is_refused(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/study.db"
    with Store.open(url):
        backup.backup(url, tmp_path / "copy.zip")
    _changed(
        tmp_path / "copy.zip",
        lambda n, b: b.replace(b'"revision": "0001"', b'"revision": "9999"') if n == "manifest.json" else b,
    )
    with pytest.raises(BadInput, match=r"copy\.zip: its schema '9999' is newer than this paragone knows"):
        backup.restore(tmp_path / "copy.zip", f"sqlite:///{tmp_path}/restored.db")


def test_what_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no backup"):
        backup.check(tmp_path / "none.zip")
    with pytest.raises(NotFound, match="no store"):
        backup.backup(f"sqlite:///{tmp_path}/none.db", tmp_path / "copy.zip")
    (tmp_path / "text.zip").write_text("hello")
    with pytest.raises(BadInput, match=r"text\.zip: no backup"):
        backup.check(tmp_path / "text.zip")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["text.zip"]


def test_an_empty_database_has_nothing_to_back_up(empty_url: str, tmp_path: Path) -> None:
    if empty_url.startswith("sqlite"):
        (tmp_path / "empty.db").touch()
    with pytest.raises(BadInput, match="no store in it"):
        backup.backup(empty_url, tmp_path / "copy.zip")
    assert not (tmp_path / "copy.zip").exists()


def test_the_manifest_can_be_read_by_people(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/study.db"
    with Store.open(url) as store:
        _filled(store)
    backup.backup(url, tmp_path / "copy.zip", now=1_764_400_000.0)
    with zipfile.ZipFile(tmp_path / "copy.zip") as archive:
        told = json.loads(archive.read("manifest.json"))
        first = archive.read("answer.jsonl").splitlines()[0]
    assert told["tables"]["answer"]["rows"] == 6
    assert (told["format"], told["revision"], told["made_at"]) == (1, "0001", 1_764_400_000.0)
    row = dict(zip(told["tables"]["answer"]["columns"], json.loads(first), strict=True))
    assert (row["trial"], row["value"], row["seconds"]) == ("t0", "left", 0.0)

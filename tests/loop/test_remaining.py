"""What still names a participant who is forgotten."""

from __future__ import annotations

import shutil
import sqlite3
import zipfile
from pathlib import Path

import polars as pl

from paragone.loop.remaining import Remaining, remaining


def test_tables_name_a_participant_by_the_whole_name(tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_text("participant,choice\np-0001,left\n")
    (tmp_path / "ratings.csv").write_text("participant,value\np-00012,3\nsheep-0001,3\n")
    (tmp_path / "answers.json").write_text('[{"participant": "p-0001"}]')
    (tmp_path / "empty.csv").write_text("")
    assert remaining(tmp_path, "p-0001").names == ["answers.json", "votes.csv"]
    assert remaining(tmp_path, "p-0002") == Remaining([], [])


def test_parquet_is_read_and_a_damaged_one_may_hold_anybody(tmp_path: Path) -> None:
    for name, who in (("a", "p-0001"), ("b", "p-0002")):
        pl.DataFrame({"n": [1, 2], "participant": [who, None]}).write_parquet(tmp_path / f"{name}.parquet")
    pl.DataFrame({"n": [1]}).write_parquet(tmp_path / "numbers.parquet")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1")
    assert remaining(tmp_path, "p-0001") == Remaining(["a.parquet"], ["broken.parquet"])


def test_several_files_of_a_folder_are_named_as_the_folder(tmp_path: Path) -> None:
    (tmp_path / "export").mkdir()
    (tmp_path / "old").mkdir()
    for path in ("export/answers.csv", "export/trials.csv", "old/votes.csv"):
        (tmp_path / path).write_text("participant\np-0001\n")
    assert remaining(tmp_path, "p-0001").names == ["export/", "old/votes.csv"]


def test_archives_of_tables_and_copies_of_the_store_may_hold_anybody(tmp_path: Path) -> None:
    for name, member in (("tables", "answers.csv"), ("pictures", "cat.png")):
        with zipfile.ZipFile(tmp_path / f"{name}.zip", "w") as archive:
            archive.writestr(member, "x")
    (tmp_path / "cut.zip").write_bytes(b"PK")
    store = tmp_path / "study.db"
    with sqlite3.connect(store) as c:
        c.execute("CREATE TABLE t (a)")
    shutil.copy(store, tmp_path / "copy.db")
    assert remaining(tmp_path, "p-0001", store=store).may_hold == ["copy.db", "cut.zip", "tables.zip"]

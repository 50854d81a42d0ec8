"""export, collect, forget, backup and restore on the store of a study that people answered."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import httpx
import polars as pl
import pytest
from asked_study import served_folder
from study_folder import PAIRS, study_folder

from command_line import call
from paragone.cli import serve as verbs
from paragone.study.client import Walker
from paragone.study.store import Store, claims
from paragone.study.store.key_check import hold_to
from paragone.study.store.keys import read_keys

CALM = PAIRS.replace("break_seconds = 30", "break_seconds = 0").replace("checks_needed = 1", "checks_needed = 0")


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose study two people finished, and a third began."""
    folder = study_folder(
        tmp_path_factory.mktemp("asked") / "study", CALM.replace("[[stage]]", "[training]\nauto = 0\n[[stage]]")
    )
    with served_folder(folder) as here:
        for number in range(3):
            with httpx.Client(base_url=here.address, timeout=20) as http:
                walker = Walker(http, lambda trial, criterion: ("left", 2.0))
                walker.enter()
                walker.walk(until="done" if number < 2 else "trial")
                if number == 2:
                    walker.give(walker.state()["trials"][0])
    return folder


@pytest.fixture
def folder(asked: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(asked, tmp_path / "study"))


def test_collect_takes_finished_sheets_out_of_the_store(folder: Path) -> None:
    said = call("collect", folder)
    assert said.code == 0, said.err
    votes = pl.read_csv(folder / "votes.csv")
    assert votes["participant"].n_unique() == 2
    assert votes.height == 2 * 8 * 2  # people, trials and checks, criteria
    assert set(votes["choice"]) == {"left"}
    assert {"left_out: 2", "left_out_unfinished: 2"} <= set(said.err.splitlines())
    assert call("collect", folder, "--everything").code == 0
    assert pl.read_csv(folder / "votes.csv").height == votes.height + 2


def test_collect_says_that_no_answer_counts_yet(asked: Path, tmp_path: Path) -> None:
    fresh = study_folder(tmp_path / "fresh", CALM)
    with served_folder(fresh):
        pass
    assert "study.db holds no answer that counts" in call("collect", fresh).refusal


def test_collect_says_whose_sheets_do_not_count_and_what_is_older(folder: Path) -> None:
    assert call("collect", folder).code == 0
    with Store.open(f"sqlite:///{folder / 'study.db'}") as store:
        for lease, who in enumerate((claims.BY_CHECKS, "ada"), start=1):
            store.write_now(lambda c, at=lease, by=who: claims.exclude(c, at, 0.0, who=by, why="test"))  # type: ignore[misc]
    refusal = call("collect", folder).refusal
    assert (
        "study.db holds no answer that counts; nothing was collected; 16 on sheets excluded by the rule checks, 16 on "
        "sheets excluded at the desk, 2 on unfinished sheets; "
    ) in refusal
    assert "; --everything takes them; " in refusal
    assert refusal.endswith("votes.csv' is older and holds answers that no longer count; remove it")


def test_people_go_before_those_who_were_simulated(folder: Path) -> None:
    refusal = call("simulate", folder).refusal
    assert "study.db' holds answers of people; simulate in a copy of the folder, without study.db" in refusal
    assert not (folder / "answers.csv").exists()
    people = (folder / "study.db").rename(folder / "away.db")
    assert call("simulate", folder).code == 0
    people.rename(folder / "study.db")
    said = call("collect", folder)
    assert said.code == 0, said.err
    assert "read: study.db" in said.err
    assert pl.read_csv(folder / "votes.csv")["participant"].n_unique() == 2
    assert "simulated = true" not in (folder / "benchmark.toml").read_text()
    (folder / "study.db").unlink()
    said = call("collect", folder)
    assert "read: answers.csv" in said.err
    assert "simulated = true" in (folder / "benchmark.toml").read_text()


def test_a_store_of_another_study_is_not_collected(folder: Path, tmp_path: Path) -> None:
    other = study_folder(tmp_path / "other", CALM)
    for name in ("items.csv", "references.csv"):
        path = other / name
        path.write_text(path.read_text().replace("cat", "elk").replace("dog", "fox"))
    said = call("collect", other, "--store", f"sqlite:///{folder / 'study.db'}", "--everything")
    assert re.search(r"the store is of another study: it shows '\w+/\w+' and nothing that items\.csv", said.refusal)
    assert not (other / "votes.csv").exists()


def test_export_writes_every_table_with_its_sum(folder: Path) -> None:
    document = call("export", folder, "--json").document
    assert document["files"]["answers.csv"]["rows"] == 34
    assert document["files"]["answers_clean.csv"]["rows"] == 32
    assert json.loads((folder / "export" / "manifest.json").read_text()) == document
    first = {path.name: path.read_bytes() for path in (folder / "export").iterdir()}
    assert call("export", folder).code == 0
    assert {path.name: path.read_bytes() for path in (folder / "export").iterdir()} == first
    assert call("export", folder, "--format", "parquet", "-o", folder / "again", "--anonymise").code == 0
    assert pl.read_parquet(folder / "again" / "answers.parquet").height == 34


def test_exported_answers_are_collected_like_any_others(folder: Path) -> None:
    call("export", folder)
    call("collect", folder)
    from_store = (folder / "votes.csv").read_bytes()
    assert call("collect", folder, "--answers", folder / "export" / "answers_clean.csv").code == 0
    assert (folder / "votes.csv").read_bytes() == from_store


def test_a_person_is_forgotten_only_when_it_is_meant(folder: Path) -> None:
    told = call("forget", "p-0001", folder, "--json").document
    assert (told["deleted"], told["answers"]) == (False, 16)
    assert call("forget", "p-0001", folder, "--yes", "--json").document["deleted"] is True
    assert "no participant 'p-0001' in the store" in call("forget", "p-0001", folder, "--yes").refusal
    assert call("export", folder, "--json").document["files"]["answers.csv"]["rows"] == 18


def test_a_forgotten_person_is_replaced_where_the_study_replaces(folder: Path, tmp_path: Path) -> None:
    settings = (folder / "study.toml").read_text()
    other = Path(shutil.copytree(folder, tmp_path / "other"))
    (other / "study.toml").write_text(settings + "[people]\nreplace = false\n")
    states = []
    for one in (folder, other):
        assert call("forget", "p-0001", one, "--yes").code == 0
        with contextlib.closing(sqlite3.connect(one / "study.db")) as raw:
            states.append(raw.execute("SELECT count(*) FROM lease WHERE state = 'free'").fetchone()[0])
    assert states == [2, 1]


def test_who_is_forgotten_is_still_named_by_what_was_made_before(folder: Path) -> None:
    assert len(call("forget", "p-0001", folder).err.splitlines()) == 1, "nothing was made yet"
    call("collect", folder)
    call("export", folder)
    call("backup", folder, "-o", folder / "backups" / "b.zip")
    for yes in ((), ("--yes",)):
        said = call("forget", "p-0001", folder, *yes)
        assert said.err.splitlines()[-1] == (
            "p-0001 is still named in export/, votes.csv and perhaps in backups/b.zip: delete these, or make them anew "
            "(collect, export)"
        )
    call("collect", folder)
    call("export", folder)
    document = call("forget", "p-0002", folder, "--json").document
    assert (document["still_in"], document["may_hold"]) == (["export/", "votes.csv"], ["backups/b.zip"])


def test_under_another_key_nobody_s_id_is_said_to_be_unknown(folder: Path) -> None:
    keys = read_keys(folder / "study.key")
    with Store.open(f"sqlite:///{folder / 'study.db'}") as store:
        store.write_now(lambda c: hold_to(c, keys, 1.0))
    assert "give a name of the tables (p-0007) or the panel's id" in call("forget", "panel-9", folder).refusal
    (folder / "study.key").unlink()
    assert "a panel's id is not recognised without the study.key" in call("forget", "panel-9", folder).refusal
    read_keys(folder / "study.key")
    assert "a panel's id is not recognised without the study.key" in call("forget", "panel-9", folder).refusal


def test_forgetting_beside_a_server_is_told_and_sent_to_the_desk(folder: Path) -> None:
    with served_folder(folder):
        assert "would delete 16 answers" in call("forget", "p-0001", folder).err
        refusal = call("forget", "p-0001", folder, "--yes").refusal
    assert "has this store open" in refusal
    assert 'while it is served, the desk can do it: Data, "Forget a person"' in refusal
    assert call("forget", "p-0001", folder, "--yes").code == 0


def test_a_backup_comes_back_whole(folder: Path, tmp_path: Path) -> None:
    made = call("backup", folder, "-o", tmp_path / "b.zip", "--json").document
    assert made["tables"]["answer"] == 34
    assert call("restore", tmp_path / "b.zip", folder, "--check", "--json").document["rows"] == made["rows"]
    assert "the target holds" in call("restore", tmp_path / "b.zip", folder).refusal
    (tmp_path / "empty").mkdir()
    assert call("restore", tmp_path / "b.zip", tmp_path / "empty").code == 0
    assert call("export", tmp_path / "empty", "--json").document["files"]["answers.csv"]["rows"] == 34
    (tmp_path / "b.zip").write_bytes((tmp_path / "b.zip").read_bytes()[:-200])
    assert "no backup" in call("restore", tmp_path / "b.zip", folder, "--check").refusal


def test_a_file_that_is_no_backup_is_not_replaced(folder: Path) -> None:
    (folder / "notes.zip").write_text("mine")
    assert "is no backup; name another file" in call("backup", folder, "-o", folder / "notes.zip").refusal


@pytest.mark.parametrize("words", [("export",), ("forget", "p-0001"), ("backup",)])
def test_a_folder_without_a_store_says_how_to_get_one(words: tuple[str, ...], tmp_path: Path) -> None:
    assert "no study.db in" in call(*words, tmp_path).refusal


def test_the_examples_of_the_verbs_run_as_they_are_printed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.rename(folder.with_name("my-benchmark"))
    monkeypatch.chdir(folder.parent)
    for verb in ("export", "backup", "restore", "forget"):
        (line,) = re.findall(r"Example: paragone (.+)", getattr(verbs, verb).help)
        said = call(*shlex.split(line))
        assert said.code == 0, said.err


def test_the_example_of_serve_tells_its_address_and_stops_when_told(folder: Path) -> None:
    home = folder.rename(folder.with_name("my-benchmark")).parent
    (line,) = re.findall(r"Example: paragone (.+)", verbs.serve.help or "")
    words = [sys.executable, "-c", "from paragone.cli import main; main()", *shlex.split(line), "--port", "0", "--json"]
    with subprocess.Popen(
        words, cwd=home, stdout=subprocess.PIPE, text=True, env={**os.environ, "COLUMNS": "200"}
    ) as run:
        assert run.stdout is not None
        told = json.loads(run.stdout.readline())
        assert httpx.get(told["participants"] + "healthz").json()["status"] == "ok"
        run.send_signal(signal.SIGINT)
        assert run.wait(30) == 0

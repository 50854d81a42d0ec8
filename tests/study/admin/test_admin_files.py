"""Exports and backups from the desk: whole, streamed, logged, for admins; who a panel's id is."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import polars as pl
import pytest
import sqlalchemy as sa

from desk_visitor import Desk, Visitor
from paragone.study.admin.files import FORMS
from paragone.study.server.pseudonyms import person_hmac
from paragone.study.store import export
from paragone.study.store.backup import check
from paragone.study.store.tables import event, participant


def _log(desk: Desk) -> list[tuple[str, dict[str, object]]]:
    rows = desk.store.read_now(
        lambda c: [tuple(row) for row in c.execute(sa.select(event.c.kind, event.c.body).order_by(event.c.id.desc()))]
    )
    return [(kind, json.loads(body)) for kind, body in rows]


@pytest.mark.parametrize("form", FORMS)
def test_everything_comes_in_one_zip_of_each_format(desk: Desk, form: str) -> None:
    said = desk.visitor("ada").get(f"/admin/data/export.{form}.zip")
    assert (said.status_code, said.headers["content-type"]) == (200, "application/zip")
    assert said.headers["content-disposition"] == f'attachment; filename="small-20251124-1600-{form}.zip"'
    with zipfile.ZipFile(io.BytesIO(said.content)) as archive:
        assert archive.testzip() is None
        manifest = json.loads(archive.read("manifest.json"))
        assert set(manifest["files"]) == set(archive.namelist()) - {"manifest.json"}
    kind, body = _log(desk)[0]
    assert (kind, body) == ("admin.export", {"who": "ada", "tables": "all", "format": form, "anonymise": False})


@pytest.mark.parametrize("form", export.FORMATS)
def test_a_single_table_comes_as_a_file(desk: Desk, form: str) -> None:
    said = desk.visitor("ada").get(f"/admin/data/export/answers.{form}")
    read = {"csv": pl.read_csv, "json": pl.read_json, "parquet": pl.read_parquet}[form]
    frame = read(io.BytesIO(said.content))
    assert frame.height == 420
    assert frame["participant"].n_unique() == 16
    assert said.headers["content-disposition"].endswith(f'-answers.{form}"')


def test_an_anonymous_export_is_called_so(desk: Desk) -> None:
    said = desk.visitor("ada").get("/admin/data/export.csv.zip?anonymise=1")
    assert "-csv-anonymous.zip" in said.headers["content-disposition"]
    with zipfile.ZipFile(io.BytesIO(said.content)) as archive:
        assert json.loads(archive.read("manifest.json"))["anonymised"] is True
        assert b"Testbrowser" not in b"".join(archive.read(name) for name in archive.namelist())


def test_unknown_tables_and_formats_are_not_found(desk: Desk) -> None:
    ada = desk.visitor("ada")
    paths = ("export/answers.xls", "export/secrets.csv", "export/answers", "export.xls.zip", "export/..%2Fstudy.db")
    assert {ada.get(f"/admin/data/{path}").status_code for path in paths} == {404}
    assert [kind for kind, _ in _log(desk) if kind == "admin.export"] == []


def test_a_backup_is_whole_checked_and_leaves_nothing_behind(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    aside = tmp_path / "aside"
    aside.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(aside))
    said = desk.visitor("ada").post("/admin/data/backup")
    assert said.status_code == 200
    copy = tmp_path / "copy.zip"
    copy.write_bytes(said.content)
    held = check(copy)
    assert held.tables["answer"].rows == 420
    assert list(aside.iterdir()) == []
    assert _log(desk)[0][0] == "admin.backup"


def test_programs_get_the_same_files(desk: Desk) -> None:
    program = Visitor(desk.app, bearer=desk.token())
    assert zipfile.is_zipfile(io.BytesIO(program.get("/api/admin/export/csv.zip").content))
    assert program.get("/api/admin/export/answers/csv").text.startswith("participant,")
    assert program.get("/api/admin/export/answers/xls").status_code == 404
    assert zipfile.is_zipfile(io.BytesIO(program.post("/api/admin/backup").content))


def test_viewers_take_nothing_away(desk: Desk) -> None:
    vic = desk.visitor("vic")
    assert "/admin/data/export" not in vic.get("/admin/data").text
    for path in ("/admin/data/export.csv.zip", "/admin/data/export/answers.csv"):
        assert vic.get(path).status_code == 403
    assert vic.post("/admin/data/backup").status_code == 403
    program = Visitor(desk.app, bearer=desk.token("vic"))
    assert program.get("/api/admin/export/csv.zip").status_code == 403
    assert program.post("/api/admin/backup").status_code == 403


def test_a_panels_id_leads_to_the_person_and_is_not_kept(desk: Desk) -> None:
    hmac = person_hmac(desk.keys.hmac, desk.office.desk.profile.name, "PANEL-77")
    desk.store.write_now(
        lambda c: c.execute(participant.update().where(participant.c.id == 4).values(external_hmac=hmac))
    )
    ada = desk.visitor("ada")
    assert '<a href="/admin/people/p-0004">p-0004</a>' in ada.post("/admin/data/find", {"external": " PANEL-77 "}).text
    assert "Nobody came with this id." in ada.post("/admin/data/find", {"external": "OTHER"}).text
    kept = desk.store.read_now(lambda c: str(c.execute(sa.select(event.c.body)).all()))
    assert "PANEL-77" not in kept

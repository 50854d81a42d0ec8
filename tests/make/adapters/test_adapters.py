"""The four kinds together: one table of a TOML file each, one function for all."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec
import pytest

from make.adapters.adapter_world import Jobs, Paint
from make.adapters.stub_service import good, serving
from paragone.errors import BadConfig, ParagoneError
from paragone.make.adapters import (
    Adapter,
    CommandMethod,
    FolderMethod,
    HttpMethod,
    PythonMethod,
    outcomes,
)
from paragone.make.cells import land
from paragone.settings import Settings, read_settings


class Methods(Settings, frozen=True):
    method: dict[str, Adapter]


TABLES = """
[method.adaattn]
kind = "folder"
root = "results"
layout = "adaattn"
align = "resize"

[method.styleid]
kind = "command"
argv = ["conda", "run", "-n", "styleid", "python", "run_styleid.py", "--cnt", "{content_dir}", "--sty", "{style_dir}",
        "--output_path", "{out_dir}"]
mode = "batch"
cwd = "StyleID"
env = { CUDA_VISIBLE_DEVICES = "0" }

[method.mine]
kind = "python"
target = "mine:stylised"
params = { weight = 1.5 }

[method.chatgpt]
kind = "http"
base_url = "https://api.example.com/v1"
model = "gpt-image-x"
key_env = "IMAGE_KEY"
price_per_request = 0.04
max_cost = 10.0
fields = { quality = "high" }
"""


def test_each_kind_is_a_table(tmp_path: Path) -> None:
    (tmp_path / "make.toml").write_text(TABLES)
    methods = read_settings(tmp_path / "make.toml", Methods).method
    assert [type(one) for one in methods.values()] == [FolderMethod, CommandMethod, PythonMethod, HttpMethod]
    assert methods["adaattn"].align == "resize"


def test_an_unknown_key_is_refused(tmp_path: Path) -> None:
    (tmp_path / "make.toml").write_text(TABLES.replace("max_cost", "max_costs"))
    with pytest.raises(BadConfig, match="no key 'max_costs'"):
        read_settings(tmp_path / "make.toml", Methods)


def _all_kinds(tmp_path: Path, jobs_of: Jobs, paint: Paint, url: str) -> list[Adapter]:
    for number, job in enumerate(jobs_of()):
        paint(tmp_path / "ready" / f"{job.levels['content']}_stylized_{job.levels['style']}.png", 50 + number)
    (tmp_path / "their_four.py").write_text("def f(content, style, *, seed):\n    return style\n")
    copy = "import shutil, sys; shutil.copyfile(sys.argv[1], sys.argv[2])"
    return [
        FolderMethod(root="ready", layout="content_stylized_style"),
        CommandMethod(argv=[sys.executable, "-S", "-c", copy, "{style}", "{out}"]),
        PythonMethod(target="their_four:f"),
        HttpMethod(base_url=url, model="m"),
    ]


def test_every_kind_gives_every_cell_once(
    tmp_path: Path, jobs_of: Jobs, paint: Paint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    with serving(good()) as service:
        for settings in _all_kinds(tmp_path, jobs_of, paint, service.url):
            jobs = jobs_of(method=type(settings).__name__)
            given = list(outcomes(settings, jobs, folder=tmp_path))
            assert sorted(job.item for job, _ in given) == sorted(job.item for job in jobs)
            assert {land(job, outcome)["status"] for job, outcome in given} == {"ok"}


def test_no_cells_are_no_work(tmp_path: Path, jobs_of: Jobs, paint: Paint, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(good()) as service:
        for settings in _all_kinds(tmp_path, jobs_of, paint, service.url):
            assert list(outcomes(settings, [], folder=tmp_path)) == []
        assert service.requests == []


@pytest.mark.parametrize(
    "table",
    [
        {"kind": "folder", "root": "nowhere", "layout": "pair"},
        {"kind": "command", "argv": ["no-such-program", "{out}"]},
        {"kind": "python", "target": "no_such_module:f"},
        {"kind": "http", "base_url": "https://api.example.com", "model": "m", "key_env": "NO_SUCH_KEY"},
    ],
)
def test_a_mistake_is_told_even_without_cells(table: dict[str, object], tmp_path: Path) -> None:
    with pytest.raises(ParagoneError):
        outcomes(msgspec.convert(table, Adapter), [], folder=tmp_path)

"""The command line as a whole: exit codes, one line for each refusal, closed pipes, full disks, stops, completion."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import paragone
from command_line import Cli
from installed import lacking
from paragone.cli import VERBS
from paragone.errors import TooFew

RUN = [sys.executable, "-c", "from paragone.cli import main; main()"]


def test_help_and_version_exit_with_zero(cli: Cli) -> None:
    said = cli("--help")
    assert said.code == 0
    assert all(f"  {verb} " in said.out for verb in VERBS)
    assert cli("--version").out == f"paragone, version {paragone.__version__}\n"
    for verb in VERBS:
        assert f"Usage: paragone {verb}" in cli(verb, "--help").out
        assert cli(verb, "-h").code == 0


def test_a_slip_in_a_verb_is_a_fault_of_usage(cli: Cli) -> None:
    said = cli("scor", "votes.csv")
    assert said.code == 2
    assert "no verb 'scor'; did you mean 'score'?" in said.err
    assert cli("xyzzy").code == 2
    assert "see: paragone --help" in cli("xyzzy").err
    assert cli().code == 2


def test_a_fault_of_usage_is_a_document_too(cli: Cli, here: Path) -> None:
    said = cli("score", "--replicates", "3", "--json")
    assert said.code == 2
    assert said.document["error"]["kind"] == "Usage"
    assert "3 is not in the range" in said.document["error"]["message"]


def test_a_refusal_is_one_line_and_one_document(cli: Cli, here: Path) -> None:
    said = cli("score", "votes.csv", "--json")
    assert said.code == 1
    error = said.document["error"]
    assert set(error) == {"kind", "message", "where"}
    assert (error["kind"], error["where"]) == ("NotFound", "votes.csv")
    assert said.err == f"paragone: {error['message']}\n"
    assert cli("score", "votes.csv").out == ""


def _failing(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("paragone.loop.answers.answer_files", fail)


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (TooFew("two\nlines\tof words"), "paragone: two lines of words"),
        (MemoryError(), "paragone: out of memory; give fewer rows, replicates or pictures at a time"),
        (OSError(28, "No space left on device", "s.csv"), "paragone: s.csv: No space left on device"),
        (OSError("File too large"), "paragone: File too large"),
        (
            PermissionError(13, "Permission denied", "/f/.s.csv.ab12cd.part"),
            "paragone: /f/s.csv: Permission denied",
        ),
        (
            IsADirectoryError(21, "Is a directory", ".s.csv.ab12cd.part", None, "s.csv"),
            "paragone: s.csv: this is a folder, and a file is to be written; name the file",
        ),
        (KeyboardInterrupt(), "paragone: stopped; files that were complete are kept, nothing else was written"),
    ],
)
def test_what_the_system_refuses_is_one_line(
    cli: Cli, here: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, line: str
) -> None:
    _failing(monkeypatch, error)
    said = cli("score")
    assert said.code == 1
    assert said.err.strip().splitlines() == [line]


def test_a_fault_of_our_own_is_not_hidden(cli: Cli, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _failing(monkeypatch, ZeroDivisionError("ours"))
    with pytest.raises(ZeroDivisionError, match="ours"):
        cli("score")


def test_output_onto_a_folder_or_below_a_file_is_refused(cli: Cli, votes_here: Path) -> None:
    Path("folder.csv").mkdir()
    words = ["score", "votes.csv", "--intervals", "none", "-o"]
    assert cli(*words, "folder.csv").refusal.startswith("paragone: 'folder.csv' is a folder; name a file in it")
    assert cli(*words, "votes.csv/s.csv").refusal.startswith("paragone: votes.csv: this is a file, and a folder is")
    assert not any(path.name.endswith(".part") for path in votes_here.iterdir())


def test_output_where_nothing_may_be_written_is_refused(
    cli: Cli, votes_here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if os.geteuid() == 0:  # root may write anywhere, so the system's answer is put in its mouth

        def denied(*_: object, **kwargs: object) -> None:
            raise PermissionError(13, "Permission denied", f"{kwargs['dir']}/.s.csv.ab12cd.part")

        monkeypatch.setattr("paragone.tables.files.tempfile.mkstemp", denied)
    Path("closed").mkdir(mode=0o500)
    said = cli("score", "votes.csv", "--intervals", "none", "-o", "closed/s.csv")
    assert said.refusal == "paragone: closed/s.csv: Permission denied"


def _on_a_full_disk() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_full_disk_is_one_line_and_leaves_what_stood_there(votes_here: Path, ending: str) -> None:
    """No file may grow past 300 bytes, which the system says as it says that a disk is full."""
    output = votes_here / f"s.{ending}"
    old = pl.DataFrame({"item": ["old"], "score": [1.0], "status": ["ok"]})
    old.write_csv(output) if ending == "csv" else old.write_parquet(output)
    before = output.read_bytes()
    words = ["score", "votes.csv", "--intervals", "none", "-o", output.name, "--json"]
    done = subprocess.run([*RUN, *words], preexec_fn=_on_a_full_disk, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("paragone: ")
    assert "File too large" in done.stderr
    assert json.loads(done.stdout)["error"]["kind"] == "OSError"
    assert output.read_bytes() == before
    assert not any(path.name.endswith(".part") for path in votes_here.iterdir())


def test_results_that_cannot_be_printed_are_one_line(votes_here: Path) -> None:
    if not Path("/dev/full").exists():
        lacking("no disk that is always full on this machine")
    for words in (["list", "metrics"], ["list", "metrics", "--json"], ["score", "nothing.csv", "--json"]):
        with Path("/dev/full").open("w") as full:
            done = subprocess.run([*RUN, *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        assert done.returncode == 1, words
        assert len(done.stderr.splitlines()) == 1
        assert done.stderr.startswith("paragone: ")


def _closed(*words: str) -> subprocess.CompletedProcess[str]:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        return subprocess.run([*RUN, *words], stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    finally:
        os.close(writer)


def test_a_reader_that_has_gone_is_no_traceback(votes_here: Path) -> None:
    for words in (["list", "metrics"], ["list", "metrics", "--json"], ["score", "nothing.csv", "--json"], ["--help"]):
        done = _closed(*words)
        assert done.returncode == 1, words
        assert "Traceback" not in done.stderr
        assert "Exception ignored" not in done.stderr


@pytest.mark.parametrize("moment", ["polars.DataFrame.write_csv", "paragone.loop.answers.estimate"])
def test_a_stop_leaves_no_half_file(cli: Cli, votes_here: Path, monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    before = {path: path.read_bytes() for path in votes_here.rglob("*") if path.is_file()}

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(moment, stop)
    said = cli("score", "--intervals", "none")
    assert said.code == 1
    assert said.err.strip().splitlines()[-1].startswith("paragone: stopped; ")
    monkeypatch.undo()
    after = {path: path.read_bytes() for path in votes_here.rglob("*") if path.is_file()}
    assert after == before


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shell_completion_prints_a_script(shell: str) -> None:
    if shell == "bash" and shutil.which("bash") is None:
        pytest.skip("no bash here")
    environment = {**os.environ, "_PARAGONE_COMPLETE": f"{shell}_source"}
    done = subprocess.run(
        [sys.executable, "-c", "import sys; sys.argv[0] = 'paragone'; from paragone.cli import main; main()"],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "_PARAGONE_COMPLETE" in done.stdout


def test_completion_knows_verbs_and_options() -> None:
    def completed(words: str, at: int) -> set[str]:
        environment = {**os.environ, "_PARAGONE_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(at)}
        done = subprocess.run(RUN, env=environment, capture_output=True, text=True, check=False)
        return {line.partition(",")[2] for line in done.stdout.splitlines()}

    assert completed("paragone sc", 1) == {"screen", "score"}
    assert {"--method", "--map"} <= completed("paragone score --m", 2)


def test_a_terminal_that_cannot_show_a_name_is_told_so(here: Path) -> None:
    Path("votes.csv").write_text("participant,left,right,choice\np,\u540d,x,left\nq,\u540d,x,right\n", encoding="utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    words = ["score", "votes.csv", "--intervals", "none"]
    done = subprocess.run([*RUN, *words], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith("cannot be shown in the encoding latin-1; set PYTHONUTF8=1")
    assert "Traceback" not in done.stderr


def test_standard_input_is_not_a_table(cli: Cli, here: Path) -> None:
    assert "no file '-'" in cli("score", "-").refusal
    if Path("/dev/stdin").exists():
        assert cli("score", "/dev/stdin").code == 1


def test_a_command_of_the_shell_is_there() -> None:
    script = shutil.which("paragone", path=str(Path(sys.executable).parent))
    assert script is not None
    done = subprocess.run([script, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("paragone, version ")

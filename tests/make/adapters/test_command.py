"""Programs: staged inputs, placeholders, time-outs, retries, batches, and what they leave behind."""

from __future__ import annotations

import os
import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest

from make.adapters.adapter_world import Jobs
from paragone.errors import BadConfig, NotFound, UnknownName
from paragone.images import read_image
from paragone.make.adapters import CommandMethod, command_outcomes, programs
from paragone.make.cells import Job, Outcome, land

# Each script is a whole program; it uses nothing but the standard library, so that it starts quickly.
COPY = "import shutil, sys; shutil.copyfile(sys.argv[1], sys.argv[2])"
ALL_PAIRS = """
import pathlib, shutil, sys
contents, styles, out = map(pathlib.Path, sys.argv[1:4])
for content in sorted(contents.glob("*")):
    for style in sorted(styles.glob("*")):
        shutil.copyfile(style, out / f"{content.stem}_stylized_{style.stem}.png")
"""


def _method(script: str, *words: str, **more: object) -> CommandMethod:
    given = {"kind": "command", "argv": [sys.executable, "-S", "-c", textwrap.dedent(script), *words]} | more
    return msgspec.convert(given, CommandMethod)


def _run(settings: CommandMethod, jobs: list[Job], folder: Path, **more: object) -> dict[str, Outcome]:
    given = list(command_outcomes(settings, jobs, folder=folder, **more))  # type: ignore[arg-type]
    assert len({job.item for job, _ in given}) == len(given)
    return {"/".join(job.levels.values()): outcome for job, outcome in given}


def test_a_run_for_each_pair_writes_its_picture(tmp_path: Path, jobs_of: Jobs) -> None:
    jobs = jobs_of()
    settings = _method(COPY, "{style}", "{out}")
    for job, outcome in command_outcomes(settings, jobs, folder=tmp_path):
        assert land(job, outcome)["status"] == "ok"
        assert np.array_equal(read_image(job.target), read_image(job.inputs["style"]))
        assert outcome.seconds is not None
        assert outcome.facts["argv"][-2:] == ["{style}", "{out}"]


def test_every_placeholder_is_filled_and_nothing_goes_through_a_shell(tmp_path: Path, jobs_of: Jobs) -> None:
    script = "import sys, shutil; print('|'.join(sys.argv[2:])); shutil.copyfile(sys.argv[1], sys.argv[-1])"
    words = [
        "{content}",
        "{seed}",
        "{width}x{height}",
        "{manner}",
        "$HOME; `ls` *",
        '{"a": 1}',
        "{content_dir}",
        "{out}",
    ]
    jobs = jobs_of(contents=("x; rm -rf ~",), styles=("wave",), hints={"manner": "great wave"})
    job = jobs[0]
    outcome = next(iter(_run(_method(script, *words), jobs, tmp_path).values()))
    assert outcome.status == "ok"
    said = job.target.with_suffix(".log").read_text().strip().split("|")
    assert said[0:5] == [str(job.seed), "32x24", "great wave", "$HOME; `ls` *", '{"a": 1}']
    assert said[5].endswith("/content")
    assert said[6].endswith("/out/result.png")


def test_a_program_sees_pictures_under_safe_names_and_cannot_touch_the_references(
    tmp_path: Path, jobs_of: Jobs
) -> None:
    script = """
        import os, pathlib, shutil, sys
        print(sorted(os.listdir(sys.argv[1])), sorted(os.listdir(sys.argv[2])), os.path.islink(sys.argv[3]))
        shutil.copyfile(sys.argv[3], sys.argv[4])
        pathlib.Path(sys.argv[3]).write_bytes(b"broken")
    """
    jobs = jobs_of(contents=("../../evil",), styles=("a train test",))
    before = jobs[0].inputs["content"].read_bytes()
    settings = _method(script, "{content_dir}", "{style_dir}", "{content}", "{out}")
    assert _run(settings, jobs, tmp_path)["../../evil/a train test"].status == "ok"
    log = next(tmp_path.rglob("*.log"))
    assert log.read_text().strip() == "['content000.png'] ['style000.png'] False"
    assert jobs[0].inputs["content"].read_bytes() == before


def test_an_exit_status_fails_the_cell_with_the_programs_last_words(tmp_path: Path, jobs_of: Jobs) -> None:
    script = "import sys; print('loading'); print('CUDA out of memory', file=sys.stderr); print(); sys.exit(3)"
    jobs = jobs_of()[:1]
    outcome = _run(_method(script, "{out}"), jobs, tmp_path)["cat/wave"]
    assert (outcome.status, outcome.reason) == ("failed", "exit status 3: CUDA out of memory")
    assert outcome.facts["log"] == "cat_stylized_wave.log"
    assert "loading" in jobs[0].target.with_suffix(".log").read_text()


def test_a_program_that_ends_well_without_a_picture_has_failed(tmp_path: Path, jobs_of: Jobs) -> None:
    outcome = _run(_method("pass", "{out}"), jobs_of()[:1], tmp_path)["cat/wave"]
    assert outcome.status == "failed"
    assert outcome.reason == "the program ended well but wrote no {out}; there is nothing"


def test_one_picture_in_the_folder_will_do_and_two_will_not(tmp_path: Path, jobs_of: Jobs) -> None:
    script = "import shutil, sys; [shutil.copyfile(sys.argv[1], f'{sys.argv[2]}/a{{k}}.jpg') for k in range({n})]"
    one = _run(_method(script.replace("{n}", "1"), "{style}", "{out_dir}"), jobs_of()[:1], tmp_path)["cat/wave"]
    two = _run(_method(script.replace("{n}", "2"), "{style}", "{out_dir}"), jobs_of()[:1], tmp_path)["cat/wave"]
    assert (one.status, two.status) == ("ok", "failed")
    assert "2 pictures beside it" in two.reason


@pytest.mark.parametrize("size", [0, 60])
def test_a_half_written_picture_is_invalid(size: int, tmp_path: Path, jobs_of: Jobs) -> None:
    script = f"import sys; open(sys.argv[2], 'wb').write(open(sys.argv[1], 'rb').read()[:{size}])"
    jobs = jobs_of()[:1]
    outcome = _run(_method(script, "{style}", "{out}"), jobs, tmp_path)["cat/wave"]
    assert outcome.status == "invalid"
    assert outcome.reason.startswith("result.png: ")
    assert land(jobs[0], outcome)["status"] == "invalid"
    assert not jobs[0].target.exists()


def test_a_link_to_a_file_elsewhere_is_no_result(tmp_path: Path, jobs_of: Jobs) -> None:
    jobs = jobs_of()[:1]
    script = "import os, sys; os.symlink(sys.argv[1], sys.argv[2])"
    outcome = _run(_method(script, str(jobs[0].inputs["style"]), "{out}"), jobs, tmp_path)["cat/wave"]
    assert (outcome.status, outcome.reason) == ("invalid", "'result.png' is a link to a file elsewhere")


def test_a_time_out_ends_the_program_and_all_that_it_started(tmp_path: Path, jobs_of: Jobs) -> None:
    mark = tmp_path / "alive"
    script = f"""
        import subprocess, sys, time
        child = ("import time, pathlib\\nfor n in range(200):\\n"
                 "    pathlib.Path({str(mark)!r}).write_text(str(n)); time.sleep(0.05)")
        subprocess.Popen([sys.executable, "-S", "-c", child])
        mark = {str(mark)!r}
        while not __import__("os").path.exists(mark):
            time.sleep(0.01)
        print("started", flush=True)
        time.sleep(60)
    """
    began = time.monotonic()
    outcome = _run(_method(script, "{out}", timeout_s=2.5), jobs_of()[:1], tmp_path)["cat/wave"]
    assert time.monotonic() - began < 20
    assert outcome.status == "failed"
    assert outcome.reason.startswith("no end after ")
    assert outcome.reason.endswith("s: started")
    assert mark.exists()
    seen = mark.read_text()
    time.sleep(0.3)
    assert mark.read_text() == seen


def test_a_program_that_will_not_end_when_asked_is_ended(
    tmp_path: Path, jobs_of: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "_GRACE", 0.2)
    script = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"
    began = time.monotonic()
    outcome = _run(_method(script, "{out}", timeout_s=1.0), jobs_of()[:1], tmp_path)["cat/wave"]
    assert (outcome.status, outcome.facts["exit"]) == ("failed", None)
    assert time.monotonic() - began < 20


def test_a_failure_is_tried_again_as_often_as_allowed(tmp_path: Path, jobs_of: Jobs) -> None:
    count = tmp_path / "count"
    script = f"""
        import pathlib, shutil, sys
        count = pathlib.Path({str(count)!r})
        n = int(count.read_text()) + 1 if count.exists() else 1
        count.write_text(str(n))
        if n < 3:
            sys.exit(1)
        shutil.copyfile(sys.argv[1], sys.argv[2])
    """
    jobs = jobs_of()[:1]
    first = _run(_method(script, "{style}", "{out}", retries=1), jobs, tmp_path)["cat/wave"]
    assert (first.status, count.read_text()) == ("failed", "2")
    count.unlink()
    second = _run(_method(script, "{style}", "{out}", retries=2), jobs, tmp_path)["cat/wave"]
    assert (second.status, second.facts["tries"]) == ("ok", 3)


def test_the_environment_reaches_the_program_and_its_values_no_record(tmp_path: Path, jobs_of: Jobs) -> None:
    script = "import os; print(os.environ['TOKEN'], os.environ['N']); raise SystemExit(os.environ['TOKEN'])"
    jobs = jobs_of()[:1]
    settings = _method(script, "{out}", env={"TOKEN": "hunter2-secret", "N": "0"})
    outcome = _run(settings, jobs, tmp_path)["cat/wave"]
    assert outcome.reason == "exit status 1: [env]"
    assert outcome.facts["env"] == ["N", "TOKEN"]
    land(jobs[0], outcome)
    for path in jobs[0].target.parent.iterdir():
        assert b"hunter2" not in path.read_bytes()


def test_a_program_in_a_folder_of_its_own_is_found_and_run_there(tmp_path: Path, jobs_of: Jobs) -> None:
    (tmp_path / "tool").mkdir()
    program = tmp_path / "tool" / "run.sh"
    program.write_text('#!/bin/sh\ncp "$1" "$2" && pwd\n')
    program.chmod(0o755)
    jobs = jobs_of()[:1]
    settings = CommandMethod(argv=["./run.sh", "{style}", "{out}"], cwd="tool")
    assert _run(settings, jobs, tmp_path)["cat/wave"].status == "ok"
    assert jobs[0].target.with_suffix(".log").read_text().strip().endswith("/tool")


def test_a_batch_makes_all_pairs_in_one_run(tmp_path: Path, jobs_of: Jobs) -> None:
    jobs = jobs_of()
    settings = _method("print('run')" + ALL_PAIRS, "{content_dir}", "{style_dir}", "{out_dir}", mode="batch")
    given = list(command_outcomes(settings, jobs, folder=tmp_path))
    assert [job for job, _ in given] == jobs
    for job, outcome in given:
        assert outcome.picture == job.inputs["style"].read_bytes()
    assert (jobs[0].target.parent / "batch.log").read_text() == "run\n"
    assert given[0][1].facts["batch"] == 6


def test_a_batch_that_goes_on_makes_only_what_is_wanted(tmp_path: Path, jobs_of: Jobs) -> None:
    jobs = jobs_of()
    wanted = [jobs[0], jobs[5]]  # cat on wave, hopper on spring
    count = tmp_path / "made"
    script = ALL_PAIRS + f"open({str(count)!r}, 'a').write(str(len(list(out.glob('*')))))"
    settings = _method(script, "{content_dir}", "{style_dir}", "{out_dir}", mode="batch")
    assert {o.status for o in _run(settings, wanted, tmp_path, known=jobs).values()} == {"ok"}
    assert count.read_text() == "11"


def test_a_batchs_seed_does_not_depend_on_what_is_wanted(tmp_path: Path, jobs_of: Jobs) -> None:
    jobs = jobs_of()
    settings = _method(ALL_PAIRS, "{content_dir}", "{style_dir}", "{out_dir}", "{seed}", mode="batch")
    whole = _run(settings, jobs, tmp_path)
    part = _run(settings, jobs[3:], tmp_path, known=jobs)
    assert {o.facts["seed"] for o in [*whole.values(), *part.values()]} == {jobs[0].seed}


def test_a_batch_with_equal_names(tmp_path: Path, jobs_of: Jobs) -> None:
    script = """
        import pathlib, shutil, sys
        contents, styles, out = map(pathlib.Path, sys.argv[1:4])
        assert {p.name for p in contents.glob("*")} == {p.name for p in styles.glob("*")}
        (out / "samples").mkdir()
        for style in styles.glob("*"):
            shutil.copyfile(style, out / "samples" / style.name)
    """
    jobs = jobs_of()
    settings = _method(script, "{content_dir}", "{style_dir}", "{out_dir}", mode="batch", staged="equal-names")
    for job, outcome in command_outcomes(settings, jobs, folder=tmp_path):
        assert outcome.picture == job.inputs["style"].read_bytes()


def test_a_batch_that_breaks_off_keeps_what_is_whole(tmp_path: Path, jobs_of: Jobs) -> None:
    script = (
        ALL_PAIRS
        + """
made = sorted(out.glob("*"))
made[-1].unlink()
made[0].write_bytes(made[0].read_bytes()[:50])
sys.exit("killed")
"""
    )
    settings = _method(script, "{content_dir}", "{style_dir}", "{out_dir}", mode="batch")
    given = _run(settings, jobs_of(), tmp_path)
    assert given["cat/wave"].status == "invalid"
    assert (given["hopper/spring"].status, given["hopper/spring"].reason) == ("failed", "exit status 1: killed")
    assert [outcome.status for outcome in given.values()].count("ok") == 4


def test_only_what_failed_in_a_batch_is_tried_again(tmp_path: Path, jobs_of: Jobs) -> None:
    count = tmp_path / "count"
    script = (
        ALL_PAIRS
        + f"""
count = pathlib.Path({str(count)!r})
first = not count.exists()
count.write_text((count.read_text() if count.exists() else "") + str(len(list(out.glob("*")))) + " ")
if first:
    for path in out.glob("content001*"):
        path.unlink()
"""
    )
    settings = _method(script, "{content_dir}", "{style_dir}", "{out_dir}", mode="batch", retries=1)
    assert {o.status for o in _run(settings, jobs_of(), tmp_path).values()} == {"ok"}
    assert count.read_text() == "6 3 "


def test_a_batch_named_by_another_layout_says_so(tmp_path: Path, jobs_of: Jobs) -> None:
    settings = _method(ALL_PAIRS, "{content_dir}", "{style_dir}", "{out_dir}", mode="batch", collect="adaattn")
    given = _run(settings, jobs_of(), tmp_path)
    assert {outcome.status for outcome in given.values()} == {"failed"}
    reason = given["cat/wave"].reason
    assert "is not named by layout adaattn, for example 'content000_stylized_style000.png'" in reason


@pytest.mark.parametrize(
    ("more", "error", "message"),
    [
        ({"argv": []}, BadConfig, "argv is empty"),
        ({"argv": ["python3", "{contnet}", "{out}"]}, BadConfig, r"argv holds \{contnet\}; there is \{content\}"),
        ({"argv": ["python3", "{content}"]}, BadConfig, r"argv names no place for the result; add \{out\}"),
        ({"argv": ["python3", "{out}"], "mode": "batch"}, BadConfig, r"argv holds \{out\}"),
        ({"argv": ["python3", "{out_dir}"], "mode": "batch", "collect": "x"}, UnknownName, "no layout 'x'"),
        ({"argv": ["no-such-program", "{out}"]}, NotFound, "no program 'no-such-program' that can be run; install it"),
        ({"argv": ["./no-such", "{out}"]}, NotFound, "no program './no-such'"),
        ({"argv": ["python3", "{out}"], "cwd": "nowhere"}, NotFound, "no folder to run the program in"),
        ({"argv": ["python3", "{out}"], "timeout_s": 0.0}, BadConfig, "timeout_s must be above 0"),
        ({"argv": ["python3", "{out}"], "timeout_s": 1e300}, BadConfig, "at most 31536000"),
        ({"argv": ["python3", "{out}"], "timeout_s": float("nan")}, BadConfig, "timeout_s is nan"),
        ({"argv": ["python3", "{out}\0"]}, BadConfig, "argv holds a NUL"),
        ({"argv": ["python3", "{out}"], "env": {"A": "x\0"}}, BadConfig, "env: 'A' cannot be set"),
        ({"argv": ["python3", "{out}"], "env": {"A=B": "x"}}, BadConfig, "env: 'A=B' cannot be set"),
        ({"argv": ["python3", "{out}"], "env": {"": "x"}}, BadConfig, "env: '' cannot be set"),
        ({"argv": ["python3", "{out}"], "retries": 99}, BadConfig, "retries 0 to 10"),
    ],
)
def test_a_mistake_is_told_before_anything_runs(
    more: dict[str, object], error: type[Exception], message: str, tmp_path: Path, jobs_of: Jobs
) -> None:
    settings = msgspec.convert({"kind": "command", **more}, CommandMethod)
    with pytest.raises(error, match=message):
        command_outcomes(settings, jobs_of(), folder=tmp_path)


def test_nothing_is_left_in_the_folder_for_temporary_files(
    tmp_path: Path, jobs_of: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    _run(_method(COPY, "{style}", "{out}"), jobs_of()[:1], tmp_path)
    run = command_outcomes(
        _method(ALL_PAIRS, "{content_dir}", "{style_dir}", "{out_dir}", mode="batch"), jobs_of(), folder=tmp_path
    )
    next(run)
    run.close()  # type: ignore[attr-defined]
    assert os.listdir(place) == []


def test_further_factors_are_known_when_nothing_is_left_to_make(tmp_path: Path, jobs_of: Jobs) -> None:
    job = jobs_of()[0]
    known = [replace(job, inputs={**job.inputs, "mask": job.inputs["style"]}, levels={**job.levels, "mask": "m"})]
    settings = _method(COPY, "{mask}", "{out}")
    assert _run(settings, [], tmp_path, known=known) == {}
    with pytest.raises(BadConfig, match=r"argv holds \{mask\}"):
        _run(settings, [], tmp_path)


@pytest.mark.parametrize(
    ("script", "status"),
    [
        ("import os, sys; os.symlink(sys.argv[1], sys.argv[1])", "invalid"),
        ("import os, shutil, sys; shutil.rmtree(os.path.dirname(sys.argv[1]))", "failed"),
        ("import os, shutil, sys; shutil.rmtree(os.path.dirname(os.path.dirname(sys.argv[1])))", "failed"),
    ],
)
@pytest.mark.parametrize("more", [{}, {"mode": "batch"}, {"mode": "batch", "staged": "equal-names"}])
def test_a_program_that_tears_down_its_folder_fails_its_cells_alone(
    script: str, status: str, more: dict[str, object], tmp_path: Path, jobs_of: Jobs
) -> None:
    word = "{out_dir}/content000_stylized_style000.png" if more else "{out}"
    if "staged" in more:
        word = "{out_dir}/pair0000.png"
    given = _run(_method(script, word, **more), jobs_of(), tmp_path)
    assert len(given) == 6
    assert given["cat/wave"].status in (status, "failed")
    assert all(outcome.status != "ok" for outcome in given.values())


def test_a_card_that_holds_a_nul_fails_its_cell(tmp_path: Path, jobs_of: Jobs) -> None:
    given = _run(_method(COPY, "{style}", "{out}", "{manner}"), jobs_of(hints={"manner": "a\0b"})[:1], tmp_path)
    assert given["cat/wave"].reason.endswith("cannot be started: embedded null byte")


def test_of_a_flood_of_words_the_beginning_and_the_end_are_kept(tmp_path: Path, jobs_of: Jobs) -> None:
    script = """
        import sys
        print("first")
        for _ in range(6000):
            print("x" * 999)
        print("last", flush=True)
        sys.exit(3)
    """
    jobs = jobs_of()[:1]
    given = _run(_method(script, "{out}"), jobs, tmp_path)
    assert given["cat/wave"].reason == "exit status 3: last"
    said = jobs[0].target.with_suffix(".log").read_text()
    assert len(said) <= 1 << 20
    assert said.startswith("first\nxxx")
    assert said.endswith("xxx\nlast\n")
    left_out = next(line for line in said.splitlines() if line.startswith("["))
    assert int(left_out[1:].split()[0]) + len(said) - len(left_out) - 1 == 6 + 6000 * 1000 + 5


def test_what_a_program_leaves_running_does_not_hold_up_the_run(tmp_path: Path, jobs_of: Jobs) -> None:
    script = """
        import subprocess, sys
        subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(8)"], start_new_session=True)
        print("gone")
    """
    began = time.monotonic()
    assert _run(_method(script, "{out}"), jobs_of()[:1], tmp_path)["cat/wave"].status == "failed"
    assert time.monotonic() - began < 6

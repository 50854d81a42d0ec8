"""Results made by a program that is installed: one run for each pair, or one for all of them.

The references are copied into a folder of their own under names that are safe in every layout, so the program sees
nothing but pictures and cannot reach the benchmark's own files through them; names are mapped back afterwards.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Literal

import msgspec
from PIL import Image

from ...errors import BadConfig, BadInput, UnknownName
from ...images import decode_image, read_bytes
from ...parallel import track
from ..cells import Job, Outcome
from .folder import FolderMethod, folder_outcomes
from .layouts import LAYOUTS
from .method import Method
from .programs import Ran, keep_log, placeholders, program, run_program
from .reading import pictures_in

__all__ = ["CommandMethod", "command_outcomes"]

_LONGEST = 31_536_000  # seconds; our choice


class CommandMethod(Method, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", tag="command"):
    """A program: `kind = "command"`."""

    argv: list[str]
    """Program and arguments; never a shell. Placeholders: {content} {style} (each factor's picture), {out}, {content_dir}
    {style_dir} {out_dir}, {seed}, {width} {height} (of the content), {manner} (of the style's card, or empty)."""
    mode: Literal["pair", "batch"] = "pair"
    """pair: one run for each cell, which writes {out}; batch: one run for all, which fills {out_dir}."""
    collect: str = "content_stylized_style"
    """Layout by which the pictures of a batch are named (`LAYOUTS`)."""
    staged: Literal["all-pairs", "equal-names"] = "all-pairs"
    """How a batch finds its references: all-pairs: each picture once; equal-names: a pair has the same name in both
    folders."""
    cwd: str = "."
    """Folder to run it in, relative to the file that names it."""
    env: dict[str, str] = msgspec.field(default_factory=dict)
    """Environment variables to add; their values are kept out of records and logs, but a change of one makes the pictures
    again. What changes no picture, such as the number of a GPU, is better set outside."""
    timeout_s: float = 3600.0
    """Seconds after which a run is ended, with all that it started."""
    retries: int = 0
    """Times that a run which failed is tried again, 0 to 10."""

    idle: ClassVar[tuple[str, ...]] = ("timeout_s", "retries")

    def bearing(self) -> dict[str, Any]:
        """Return the settings on which a picture depends; of `env` the names and a digest of the values."""
        digest = hashlib.sha256("\0".join(f"{name}={value}" for name, value in sorted(self.env.items())).encode())
        env = {"names": sorted(self.env), "sha256": digest.hexdigest()} if self.env else {}
        return Method.bearing(self) | {"env": env}


def command_outcomes(
    settings: CommandMethod, jobs: Sequence[Job], *, folder: Path, known: Sequence[Job] = (), quiet: bool = True
) -> Iterator[tuple[Job, Outcome]]:
    """Run the program for each cell, or for all of them.

    Args:
        settings: the program.
        jobs: the cells that are wanted; a batch makes no others.
        folder: where `settings.cwd` starts.
        known: every cell of the method; they say which factors there are, and the first one's seed is a batch's {seed}, so
            that it does not depend on which cells are still wanted.
        quiet: show no bar.

    Returns:
        Each cell as soon as its picture is there. Everything is checked before this function returns.

    Raises:
        BadConfig: an unknown placeholder or layout, a value out of range, or {width} in a batch of several sizes.
        NotFound: no such program or folder.
    """
    cwd = folder / settings.cwd
    if not 0 < settings.timeout_s <= _LONGEST or not 0 <= settings.retries <= 10:
        raise BadConfig(
            f"timeout_s is {settings.timeout_s} and retries {settings.retries}; timeout_s must be above 0 and at most "
            f"{_LONGEST} (a year), retries 0 to 10",
            where="timeout_s",
        )
    cells = known or jobs
    factors = list(cells[0].inputs) if cells else ["content", "style"]
    batch = settings.mode == "batch"
    folders = [f"{factor}_dir" for factor in factors]
    single = [] if batch else [*factors, "out", "manner"]
    used = placeholders(settings.argv, [*single, *folders, "out_dir", "seed", "width", "height"])
    if not used & {"out", "out_dir"}:
        raise BadConfig(f"argv names no place for the result; add {{{'out_dir' if batch else 'out'}}}", where="argv")
    if batch and settings.collect not in LAYOUTS:
        raise UnknownName.among(settings.collect, LAYOUTS, "layout")
    where = program(settings.argv, cwd, settings.env)
    if batch and used & {"width", "height"} and len({_size(job) for job in jobs}) > 1:
        raise BadConfig(
            'argv holds {width} or {height}, but the contents differ in size; use mode = "pair"', where="argv"
        )
    runner = _Runner(settings, [where, *settings.argv[1:]], cwd)
    if batch:
        seed = (known or jobs)[0].seed if jobs else 0
        return _batches(runner, jobs, seed)
    return _pairs(runner, jobs, quiet=quiet)


class _Runner:
    """The program, ready to run."""

    def __init__(self, settings: CommandMethod, argv: list[str], cwd: Path) -> None:
        self.settings, self._argv, self._cwd = settings, argv, cwd

    def run(self, words: Mapping[str, str]) -> Ran:
        """One run of the command."""
        return run_program(
            self._argv,
            words=words,
            cwd=self._cwd,
            env=self.settings.env,
            timeout_s=self.settings.timeout_s,
        )

    def facts(self, ran: Ran, tries: int, log: str) -> dict[str, object]:
        """What the record keeps: the command with its placeholders, names of variables, no values of them."""
        facts: dict[str, object] = {"argv": list(self.settings.argv), "exit": ran.code, "tries": tries}
        if self.settings.env:
            facts["env"] = sorted(self.settings.env)
        return facts | ({"log": log} if log else {})


def _size(job: Job) -> tuple[int, int]:
    """Width and height of the first reference."""
    path = next(iter(job.inputs.values()))
    try:
        with Image.open(path) as image:
            return image.size
    except (OSError, SyntaxError, ValueError) as error:
        raise BadConfig(f"{path.name}: not a picture that can be read", where=str(path)) from error


def _pairs(runner: _Runner, jobs: Sequence[Job], *, quiet: bool) -> Iterator[tuple[Job, Outcome]]:
    for job in track(jobs, "running the program", quiet=quiet):
        yield job, _pair(runner, job)


def _pair(runner: _Runner, job: Job) -> Outcome:
    tries = runner.settings.retries + 1
    outcome = Outcome(status="failed", reason="not run")
    for number in range(1, tries + 1):
        with tempfile.TemporaryDirectory(prefix="paragone-", ignore_cleanup_errors=True) as made:
            stage = Path(made)
            words = _staged_pair(job, stage)
            ran = runner.run(words)
            log = keep_log(ran.words, job.target.with_name(f"{job.target.stem}.log"))
            outcome = replace(
                _given(ran, Path(words["out"])), seconds=ran.seconds, facts=runner.facts(ran, number, log)
            )
        if outcome.status == "ok":
            break
    return outcome


def _staged_pair(job: Job, stage: Path) -> dict[str, str]:
    """Copy the references of a cell; the words of its command."""
    width, height = _size(job)
    words = {"seed": str(job.seed), "width": str(width), "height": str(height), "manner": job.hints.get("manner", "")}
    for factor, path in job.inputs.items():
        place = stage / factor
        place.mkdir()
        copy = place / f"{factor}000{path.suffix.lower()}"
        shutil.copyfile(path, copy)
        words |= {factor: str(copy), f"{factor}_dir": str(place)}
    (stage / "out").mkdir()
    return words | {"out": str(stage / "out" / "result.png"), "out_dir": str(stage / "out")}


def _given(ran: Ran, out: Path) -> Outcome:
    """What a run for one cell left: its picture, or why there is none."""
    if ran.fault:
        return Outcome(status="failed", reason=ran.fault)
    file = out
    if not out.is_file():
        there = _there(out.parent)
        if len(there) != 1:
            found = f"{len(there)} pictures beside it" if there else "nothing"
            return Outcome(status="failed", reason=f"the program ended well but wrote no {{out}}; there is {found}")
        file = out.parent / there[0]
    return _picture(file, out.parent)


def _there(place: Path) -> list[str]:
    """The pictures in a folder; none where the program took the folder away."""
    try:
        return pictures_in(place)[0]
    except BadInput:
        return []


def _picture(file: Path, place: Path) -> Outcome:
    """A picture that a program wrote, decoded once to be sure that it is whole."""
    try:
        inside = file.resolve().is_relative_to(place.resolve())
    except (OSError, RuntimeError):  # links that go round in a circle
        return Outcome(status="invalid", reason=f"'{file.name}' is a link that leads nowhere")
    if not inside:
        return Outcome(status="invalid", reason=f"'{file.name}' is a link to a file elsewhere")
    try:
        raw = read_bytes(file)
        decode_image(raw, where=file.name)
    except BadInput as error:
        return Outcome(status="invalid", reason=error.message.replace(str(file), file.name))
    return Outcome(picture=raw)


def _batches(runner: _Runner, jobs: Sequence[Job], seed: int) -> Iterator[tuple[Job, Outcome]]:
    left = list(jobs)
    for number in range(1, runner.settings.retries + 2):
        failed = []
        for group in _groups(left, runner.settings):
            for job, outcome in _batch(runner, group, seed, number):
                if outcome.status == "ok" or number > runner.settings.retries:
                    yield job, outcome
                else:
                    failed.append(job)
        left = failed


def _groups(jobs: Sequence[Job], settings: CommandMethod) -> list[list[Job]]:
    """Cells that one run makes without making others: those of the contents that want the same styles."""
    if settings.staged == "equal-names":
        return [list(jobs)] if jobs else []
    rows: dict[str, list[Job]] = {}
    for job in jobs:
        first, *_ = job.levels.values()
        rows.setdefault(first, []).append(job)
    groups: dict[tuple[tuple[str, ...], ...], list[Job]] = {}
    for row in rows.values():
        wanted = tuple(sorted(tuple(job.levels.values())[1:] for job in row))
        groups.setdefault(wanted, []).extend(row)
    return list(groups.values())


def _batch(runner: _Runner, jobs: Sequence[Job], seed: int, number: int) -> Iterator[tuple[Job, Outcome]]:
    """One run for several cells."""
    with tempfile.TemporaryDirectory(prefix="paragone-", ignore_cleanup_errors=True) as made:
        stage = Path(made)
        named, words = _staged_batch(jobs, stage, equal_names=runner.settings.staged == "equal-names")
        ran = runner.run(words | {"seed": str(seed)})
        log = keep_log(ran.words, jobs[0].target.with_name("batch.log"))
        facts = runner.facts(ran, number, log) | {"seed": seed, "batch": len(jobs)}
        each = ran.seconds / len(jobs)
        for job, outcome in _collected(runner.settings, named, stage / "out", ran):
            given = {name: value for name, value in outcome.facts.items() if name == "layout"}
            yield job, replace(outcome, facts=facts | given, seconds=each if outcome.status == "ok" else None)


def _staged_batch(
    jobs: Sequence[Job], stage: Path, *, equal_names: bool
) -> tuple[list[tuple[Job, Job]], dict[str, str]]:
    """Copy all references; each job beside its twin under staged names, and the words of the command."""
    width, height = _size(jobs[0])
    words = {"width": str(width), "height": str(height), "out_dir": str(stage / "out")}
    (stage / "out").mkdir()
    ids: dict[tuple[str, str], str] = {}
    named = []
    for number, job in enumerate(jobs):
        levels = {}
        for factor, path in job.inputs.items():
            place = stage / factor
            place.mkdir(exist_ok=True)
            words[f"{factor}_dir"] = str(place)
            level = job.levels[factor]
            count = sum(1 for known, _ in ids if known == factor)
            own = f"pair{number:04}" if equal_names else ids.setdefault((factor, level), f"{factor}{count:03}")
            copy = place / f"{own}{path.suffix.lower()}"
            if not copy.exists():
                shutil.copyfile(path, copy)
            levels[factor] = own
        named.append((job, replace(job, levels=levels)))
    return named, words


def _collected(
    settings: CommandMethod, named: Sequence[tuple[Job, Job]], out: Path, ran: Ran
) -> Iterator[tuple[Job, Outcome]]:
    """What a batch left for each cell; a run that ended badly may still have made some."""
    why = ran.fault or "the program ended well but wrote no picture for this cell"
    if settings.staged == "equal-names":
        there = _there(out)
        stems: dict[str, list[str]] = {}
        for path in there:
            stems.setdefault(Path(path).stem, []).append(path)
        for job, twin in named:
            files = stems.get(next(iter(twin.levels.values())), [])
            if len(files) == 1:
                yield job, _picture(out / files[0], out)
            elif files:
                yield job, Outcome(status="ambiguous", reason=f"several files for this cell: {' and '.join(files)}")
            else:
                yield job, Outcome(status="failed", reason=why)
        return
    twins = [twin for _, twin in named]
    try:
        found = dict(
            zip(
                (job.item for job, _ in named),
                (
                    o
                    for _, o in folder_outcomes(
                        FolderMethod(root="out", layout=settings.collect), twins, folder=out.parent
                    )
                ),
                strict=True,
            )
        )
    except BadInput:
        there = _there(out)
        what = f"; what it wrote is not named by layout {settings.collect}, for example '{there[0]}'" if there else ""
        for job, _ in named:
            yield job, Outcome(status="failed", reason=why + what)
        return
    for job, _ in named:
        outcome = found[job.item]
        if isinstance(outcome.picture, Path):
            kept = _picture(outcome.picture, out)
            yield job, replace(kept, facts=outcome.facts)
        elif outcome.status == "missing":
            yield job, Outcome(status="failed", reason=why)
        else:
            yield job, outcome

"""Pictures from prompts: the table of all jobs first, then one picture after the other, and a benchmark of them.

Beside every picture `generated/<model>/<prompt>__r<replicate>.png` lies its record with the ending `.json`, written after
it, both whole or not at all. A run that was killed goes on where it stood; a cell whose model, prompt or settings have
changed is made again. What the safety checker blanked, and what is no picture, is never an item's picture.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ... import __version__
from ...benchmark import Benchmark
from ...errors import BadConfig
from ...parallel import track
from ...provenance import digest
from ...tables import whole_file, write_table
from .generation import DiffusionModel, Generation, jobs_of, seed_of
from .pipelines import Drawn, Painter, folder_digests, locate, open_pipeline
from .stamp import write_stamped

__all__ = ["OUTCOMES", "Generated", "generate"]

OUTCOMES: Mapping[str, str] = {
    "ok": "the picture is there",
    "flagged": "the model's safety checker blanked every try",
    "invalid": "every try gave values that are no colours, one colour only, or another size",
    "failed": "the pipeline stopped with an error; the next run tries again",
    "missing": "not made yet",
}
"""status of a job -> what it means."""

_DARK = 0.02  # mean value; our choice: a blanked picture has 0, a night scene about 0.05
_FLAT = 1.5 / 255
_ELSEWHERE = ("path", "revision", "only")  # settings of a model that no picture depends on: its digest says which it is


@dataclass(frozen=True)
class Generated:
    """What a run gave."""

    benchmark: Benchmark
    """One item per job; those without a good picture have none."""
    frame: pl.DataFrame
    """One row per job: item, status, reason, seed, tries, dark, model and settings; also in generated.csv."""
    warnings: tuple[str, ...] = ()
    """Prompts that are longer than a model reads."""

    @property
    def text(self) -> str:
        """How many jobs have which status, for the terminal."""
        counts = dict(self.frame.group_by("status").len().iter_rows())
        told = [f"{counts[status]} {status}" for status in OUTCOMES if status in counts]
        return f"{self.frame.height} pictures: {', '.join(told)}"


def generate(
    prompts: pl.DataFrame,
    generation: Generation,
    folder: str | Path,
    *,
    beside: str | Path = ".",
    criteria: Sequence[str] = (),
    shard: tuple[int, int] = (1, 1),
    limit: int | None = None,
    quiet: bool = True,
    opener: Callable[[DiffusionModel, Path], Painter] = open_pipeline,
) -> Generated:
    """Make a picture for each model, prompt and replicate.

    Args:
        prompts: columns `id` and `prompt`, as `prompts_of` gives them; further columns become factors.
        generation: models, replicates, what is embedded.
        folder: where jobs.csv, generated/, generated.csv and the benchmark go.
        beside: where relative folders of models start.
        criteria: what will be judged.
        shard: (i, n): make only every n-th job, starting with the i-th; for several machines on one folder.
        limit: make at most so many pictures in this run; None: all.
        quiet: show no progress.
        opener: loads a model; the default is diffusers.

    Returns:
        The benchmark of all jobs, also of those that earlier runs made, and the table.

    Raises:
        BadTable: the prompts cannot be used.
        NotFound, MissingExtra, BadInput: a model is not there, or cannot be loaded; said before any picture is made.
        BadConfig: a pipeline refuses its settings.
    """
    folder, beside = Path(folder), Path(beside)
    if not 1 <= shard[0] <= shard[1]:
        raise BadConfig(f"shard is {shard[0]}/{shard[1]}; give i/n with i from 1 to n", where="shard")
    jobs = jobs_of(prompts, generation)
    homes = {
        name: locate(model, beside=beside, download=generation.download) for name, model in generation.model.items()
    }
    digests = {name: folder_digests(home) for name, home in homes.items()}
    commits = {name: home.name if home.parent.name == "snapshots" else "" for name, home in homes.items()}
    write_table(jobs, folder / "jobs.csv")
    keys = {row["item"]: _key(row, generation, digests[row["method"]]) for row in jobs.iter_rows(named=True)}
    todo = [
        row
        for k, row in enumerate(jobs.iter_rows(named=True))
        if k % shard[1] == shard[0] - 1 and _finished(folder, row, keys[row["item"]]) is None
    ][:limit]
    warnings: list[str] = []
    painters: dict[str, Painter] = {}
    for row in track(todo, "generating", quiet=quiet):
        name = row["method"]
        if name not in painters:
            painters = {name: opener(generation.model[name], homes[name])}  # one model in memory at a time
            warnings += _cut(name, prompts, painters[name])
        known = {"revision": commits[name] or generation.model[name].revision, **digests[name]}
        _make(row, generation, painters[name], known, keys[row["item"]], folder)
    frame = pl.DataFrame([_told(folder, row, keys[row["item"]]) for row in jobs.iter_rows(named=True)], schema=_TOLD)
    write_table(frame, folder / "generated.csv")
    benchmark = _benchmark(jobs, frame, generation, folder, criteria)
    benchmark.write(folder)
    return Generated(benchmark, frame, tuple(warnings))


_TOLD: dict[str, Any] = {
    **dict.fromkeys(("item", "status", "reason", "image", "method", "prompt"), pl.String),
    **dict.fromkeys(("seed", "tries"), pl.Int64),
    "dark": pl.Boolean,
    **dict.fromkeys(("pipeline", "scheduler"), pl.String),
    "steps": pl.Int64,
    "guidance": pl.Float64,
    "negative": pl.String,
    **dict.fromkeys(("width", "height"), pl.Int64),
    **dict.fromkeys(("dtype", "device", "digest"), pl.String),
    "seconds": pl.Float64,
}


def _picture(row: Mapping[str, Any]) -> str:
    return f"generated/{row['method']}/{row['id']}__r{row['replicate']}.png"


def _record(folder: Path, row: Mapping[str, Any]) -> Path:
    return (folder / _picture(row)).with_suffix(".json")


def _key(row: Mapping[str, Any], generation: Generation, digests: Mapping[str, str]) -> str:
    """Digest of everything that a picture and its file depend on."""
    model = generation.model[row["method"]]
    asked = {name: getattr(model, name) for name in model.__struct_fields__ if name not in _ELSEWHERE}
    told = [row["item"], row["prompt"], row["seed"], generation.retries, generation.embed, asked, dict(digests)]
    return hashlib.blake2b(json.dumps(told, sort_keys=True).encode(), digest_size=16).hexdigest()


def _finished(folder: Path, row: Mapping[str, Any], key: str) -> dict[str, Any] | None:
    """The record of a job that need not be done again, else None."""
    try:
        record = json.loads(_record(folder, row).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(record, dict) or record.get("key") != key or record.get("status") == "failed":
        return None
    picture = folder / _picture(row)
    if record["status"] == "ok" and (not picture.is_file() or digest(picture) != record.get("sha256")):
        return None
    return record


def _make(
    row: Mapping[str, Any],
    generation: Generation,
    painter: Painter,
    known: Mapping[str, str],
    key: str,
    folder: Path,
) -> None:
    """Draw one picture, with further seeds where the first is no good, and write it and its record."""
    target = folder / _picture(row)
    model = generation.model[row["method"]]
    start = time.perf_counter()
    drawn, tries, reason = _tried(row, generation, painter)
    seconds = round(time.perf_counter() - start, 3)
    facts: dict[str, Any] = {
        "item": row["item"],
        "model": row["method"],
        "source": model.path,
        "prompt": row["prompt"],
        "seed": tries[-1]["seed"],
        **painter.facts,
        **known,
        "paragone": __version__,
    }
    record: dict[str, Any] = {"key": key, "status": tries[-1]["status"], "reason": reason, "tries": tries}
    target.parent.mkdir(parents=True, exist_ok=True)
    if drawn is None:
        target.unlink(missing_ok=True)
    else:
        facts |= {"width": drawn.values.shape[1], "height": drawn.values.shape[0]}
        write_stamped(np.clip(drawn.values, 0, 1), target, facts if generation.embed else None)
        record |= {"sha256": digest(target), "dark": bool(drawn.values.mean() < _DARK)}
    with whole_file(target.with_suffix(".json")) as aside:
        told = record | facts | {"seconds": seconds}
        aside.write_text(json.dumps(told, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _tried(
    row: Mapping[str, Any], generation: Generation, painter: Painter
) -> tuple[Drawn | None, list[dict[str, Any]], str]:
    """The first good picture or None, seed and status of every try, and why the last one is no good."""
    tries: list[dict[str, Any]] = []
    reason = ""
    for attempt in range(generation.retries + 1):
        seed = seed_of(generation.plan, row["id"], row["method"], row["replicate"], attempt)
        try:
            drawn = painter.draw(row["prompt"], seed)
        except (ValueError, TypeError) as error:
            raise BadConfig(f"model '{row['method']}' refuses its settings: {error}", where=row["item"]) from error
        except (RuntimeError, MemoryError) as error:  # an accelerator that is full among them
            text = str(error).strip().partition("\n")[0][:200]
            return None, [*tries, {"seed": seed, "status": "failed"}], f"{type(error).__name__}: {text}"
        status, reason = _judged(drawn, generation.model[row["method"]])
        tries.append({"seed": seed, "status": status})
        if status == "ok":
            return drawn, tries, ""
    return None, tries, reason


def _judged(drawn: Drawn, model: DiffusionModel) -> tuple[str, str]:
    """Status and reason of what a pipeline gave."""
    values = drawn.values
    if values.ndim != 3 or values.shape[2] != 3 or 0 in values.shape:
        return "invalid", f"an array of shape {values.shape} is no picture"
    if not np.isfinite(values).all():
        return "invalid", f"{int((~np.isfinite(values)).sum())} of {values.size} values are not finite"
    if drawn.flagged:
        return "flagged", "blanked by the safety checker"
    height, width = values.shape[:2]
    if (model.width or width, model.height or height) != (width, height):
        return (
            "invalid",
            f"{width} x {height} pixels, not {model.width or width} x {model.height or height} as asked for",
        )
    low, high = float(values.min()), float(values.max())
    if high - low < _FLAT:
        return "invalid", f"all of one colour ({'black' if high < _FLAT else 'not black'}); nothing was flagged"
    return "ok", ""


def _cut(name: str, prompts: pl.DataFrame, painter: Painter) -> list[str]:
    from .grammar import TOKENS

    if painter.tokens is None:
        return []
    counted = {row[0]: painter.tokens(row[1]) for row in prompts.select("id", "prompt").iter_rows()}
    return [
        f"model '{name}': prompt '{key}' has {count} tokens; a text encoder that reads {TOKENS} cuts off its end"
        for key, count in counted.items()
        if count > TOKENS
    ]


def _told(folder: Path, row: Mapping[str, Any], key: str) -> dict[str, Any]:
    """One row of generated.csv."""
    path = _record(folder, row)
    record: dict[str, Any] = {}
    if path.is_file():
        record = _finished(folder, row, key) or {}
        if not record:
            try:
                read = json.loads(path.read_text(encoding="utf-8"))
            except ValueError:
                read = {}
            record = read if read.get("key") == key and read.get("status") == "failed" else {}
    status = record.get("status", "missing")
    told = {name: record.get(name) for name in _TOLD if name in record}
    return {
        **told,
        "item": row["item"],
        "status": status,
        "reason": record.get("reason") or None,
        "image": _picture(row) if status == "ok" else None,
        "method": row["method"],
        "prompt": row["prompt"],
        "seed": record.get("seed", row["seed"]),
        "tries": len(record.get("tries", [])),
    }


def _benchmark(
    jobs: pl.DataFrame, frame: pl.DataFrame, generation: Generation, folder: Path, criteria: Sequence[str]
) -> Benchmark:
    further = [name for name in jobs.columns if name not in ("item", "method", "id", "prompt", "replicate", "seed")]
    one = generation.replicates == 1
    items = jobs.select(
        "item", frame["image"], "method", "prompt", *further, *([] if one else ["replicate"]), frame["seed"]
    )
    counts = dict(frame.group_by("status").len().iter_rows())
    without = ", ".join(f"{counts[name]} {name}" for name in OUTCOMES if name != "ok" and name in counts)
    made = f"{counts.get('ok', 0)} of {frame.height} pictures generated from text by {', '.join(generation.model)}"
    return Benchmark(
        items,
        pl.DataFrame(schema=dict.fromkeys(("factor", "level", "image"), pl.String)),
        name=generation.plan,
        criteria=tuple(criteria),
        folder=folder,
        description=f"{made}; plan '{generation.plan}'" + (f"; without a picture: {without}" if without else ""),
    )

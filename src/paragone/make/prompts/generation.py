"""What is to be generated: models and their settings, and the table of all jobs with their seeds, laid out first.

In make.toml:

    [generate]
    plan = "birds"
    replicates = 2
    [generate.model.sd2]
    path = "weights/sd2"
    steps = 30
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Literal

import msgspec
import polars as pl

from ...errors import BadConfig, BadTable, UnknownName
from ...settings import Settings
from .grammar import MOST_PROMPTS

__all__ = ["MULTIPLE", "DiffusionModel", "Generation", "jobs_of", "seed_of"]

MULTIPLE = 8
"""Pixels: width and height are multiples of it, since latent images are that much smaller."""

_MODEL = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_ID = re.compile(r"[a-z0-9]+([-_]+[a-z0-9]+)*")
_MOST_RETRIES = 100


class DiffusionModel(Settings, frozen=True):
    """One model and how it is asked: `[generate.model.<id>]`."""

    path: str
    """Folder in the layout of diffusers (relative to make.toml), or a hub id that is in the local cache."""
    revision: str = ""
    """Commit or branch of a hub id; empty: its main branch."""
    pipeline: Literal["text-to-image", "inpainting"] = "text-to-image"
    """inpainting: the whole of a grey picture is masked, so that an inpainting model makes a picture from text alone."""
    steps: int | None = None
    """Denoising steps, >= 1; null: as many as the pipeline takes by itself."""
    guidance: float | None = None
    """Guidance scale, >= 0; null: the pipeline's own."""
    negative: str = ""
    """Negative prompt; empty: none."""
    width: int | None = None
    """Pixels, a multiple of 8; null: the model's own."""
    height: int | None = None
    """Pixels, a multiple of 8; null: the model's own."""
    dtype: Literal["float32", "float16", "bfloat16"] = "float32"
    """Type of the weights."""
    device: str = "cpu"
    """Where it runs: 'cpu', 'cuda', 'cuda:1', 'mps'. Seeds are drawn on the CPU everywhere."""
    safety: bool = True
    """Keep the model's safety checker, where it has one."""
    only: dict[str, list[str]] = msgspec.field(default_factory=dict)
    """Axis -> keys: only prompts with these levels; empty: all prompts."""

    def __post_init__(self) -> None:
        for name in ("width", "height"):
            pixels = getattr(self, name)
            if pixels is not None and (pixels < MULTIPLE or pixels % MULTIPLE):
                near = max(MULTIPLE, round(pixels / MULTIPLE) * MULTIPLE)
                raise BadConfig(
                    f"{name} is {pixels}; it must be a multiple of {MULTIPLE}, for example {near}", where=name
                )
        if self.steps is not None and self.steps < 1:
            raise BadConfig(f"steps is {self.steps}; it must be 1 or more", where="steps")
        if self.guidance is not None and not 0 <= self.guidance < float("inf"):
            raise BadConfig(f"guidance is {self.guidance}; it must be 0 or more", where="guidance")
        if not self.path:
            raise BadConfig("path is empty; give a folder or a hub id", where="path")


class Generation(Settings, frozen=True):
    """All that is generated: `[generate]` of make.toml."""

    plan: str
    """Name of the plan; every seed follows from it, so another name gives other pictures."""
    model: dict[str, DiffusionModel]
    """Id (a-z, 0-9, hyphens) -> model; the id is the level of the factor 'method'."""
    replicates: int = 1
    """Pictures of each prompt by each model, >= 1."""
    retries: int = 0
    """Further tries, each with a seed of its own, where the safety checker blanked a picture or it is invalid."""
    embed: bool = True
    """Write prompt and settings into the PNG files too; false: prompts may be private."""
    download: bool = False
    """Fetch a hub id that is not in the local cache; false: nothing is ever fetched."""

    def __post_init__(self) -> None:
        if not self.plan:
            raise BadConfig("plan is empty; name it, since seeds follow from the name", where="plan")
        if not self.model:
            raise BadConfig("no model; give at least one [generate.model.<id>]", where="model")
        for name in self.model:
            if not _MODEL.fullmatch(name):
                raise BadConfig(f"'{name}' cannot name a model; use a-z, 0-9 and hyphens", where=f"model.{name}")
        if self.replicates < 1:
            raise BadConfig(f"replicates is {self.replicates}; it must be 1 or more", where="replicates")
        if not 0 <= self.retries <= _MOST_RETRIES:
            raise BadConfig(f"retries is {self.retries}; it must be 0 to {_MOST_RETRIES}", where="retries")


def seed_of(plan: str, prompt: str, model: str, replicate: int, attempt: int = 0) -> int:
    """Return the seed of one picture: the first 8 bytes of the BLAKE2b digest of its names, without the highest bit.

    Args:
        plan: name of the plan.
        prompt: id of the prompt.
        model: id of the model.
        replicate: 1, 2, ...
        attempt: 0 for the first try; further tries have seeds of their own.

    Returns:
        A whole number from 0 to 2^63 - 1. Neither the order of jobs nor their number matters.
    """
    named = [plan, prompt, model, replicate, *([attempt] if attempt else [])]
    text = json.dumps(named, ensure_ascii=False, separators=(",", ":"))
    return int.from_bytes(hashlib.blake2b(text.encode()).digest()[:8], "big") & (2**63 - 1)


def jobs_of(prompts: pl.DataFrame, generation: Generation) -> pl.DataFrame:
    """Return the table of all jobs.

    Args:
        prompts: columns `id` (a-z, 0-9, hyphens, underscores) and `prompt`; further columns are factors.
        generation: models and replicates.

    Returns:
        Columns item, method, id, prompt, the further columns, replicate, seed; ordered by model, prompt, replicate.

    Raises:
        BadTable: a column is missing, an id is not safe as a file name, stands twice, or a prompt is empty.
        BadConfig: `only` of a model names an axis or level that no prompt has, or leaves it no prompt; or there are more
            than `MOST_PROMPTS` jobs.
    """
    _check_prompts(prompts)
    asked = {name: _only(prompts, name, model.only) for name, model in generation.model.items()}
    count = generation.replicates * sum(frame.height for frame in asked.values())
    if count > MOST_PROMPTS:
        raise BadConfig(
            f"{count} pictures (prompts x models x replicates) are more than {MOST_PROMPTS}; "
            f"replicates is {generation.replicates}: take fewer, or fewer prompts or models",
            where="replicates",
        )
    further = [name for name in prompts.columns if name not in ("id", "prompt")]
    rows = [
        {
            "item": f"{model}__{row['id']}__r{replicate}",
            "method": model,
            "id": row["id"],
            "prompt": row["prompt"],
            **{name: row[name] for name in further},
            "replicate": replicate,
            "seed": seed_of(generation.plan, row["id"], model, replicate),
        }
        for model in generation.model
        for row in asked[model].iter_rows(named=True)
        for replicate in range(1, generation.replicates + 1)
    ]
    texts = dict.fromkeys(("item", "method", "id", "prompt", *further), pl.String)
    return pl.DataFrame(rows, schema={**texts, "replicate": pl.Int64, "seed": pl.Int64})


def _only(prompts: pl.DataFrame, model: str, only: dict[str, list[str]]) -> pl.DataFrame:
    """The prompts that a model is asked for."""
    for axis, keys in only.items():
        axes = [name for name in prompts.columns if name not in ("id", "prompt")]
        if axis not in axes:
            raise BadConfig(f"model '{model}': {UnknownName.among(axis, axes, 'axis').message}", where="only")
        known = prompts[axis].unique().drop_nulls().to_list()
        for key in keys:
            if key not in known:
                raise BadConfig(
                    f"model '{model}': {UnknownName.among(key, known, f'level of axis {axis}').message}", where="only"
                )
        prompts = prompts.filter(pl.col(axis).is_in(keys))
    if not prompts.height:
        raise BadConfig(f"model '{model}': its `only` leaves no prompt", where="only")
    return prompts


def _check_prompts(prompts: pl.DataFrame) -> None:
    missing = [name for name in ("id", "prompt") if name not in prompts.columns]
    if missing:
        raise BadTable(f"prompts: column '{missing[0]}' is missing", where="prompts")
    faults = [
        f"row {k + 2}: '{name}' is no id of a-z, 0-9, hyphens and underscores"
        for k, name in enumerate(prompts["id"])
        if name is None or not _ID.fullmatch(name)
    ]
    faults += [f"row {k + 2}: no prompt" for k, text in enumerate(prompts["prompt"]) if not text or not text.strip()]
    twice = prompts.filter(pl.col("id").is_duplicated())["id"].unique().sort().to_list()
    faults += [f"id '{name}' stands twice" for name in twice]
    if not prompts.height:
        faults.append("no prompt")
    if faults:
        raise BadTable.of_faults("prompts", faults)

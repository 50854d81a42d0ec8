"""The pictures that a version shows: where each lies, what is in it, how large it is."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePosixPath

import msgspec
import polars as pl

from ..errors import BadInput
from ..images import read_bytes
from .faults import Stock
from .pictures.instructed import MIN_SIDE
from .pictures.sanitise import look, must_decode
from .practice import PracticeQuestion

__all__ = ["Picture", "measured", "too_small"]


class Picture(msgspec.Struct, frozen=True):
    """One picture file."""

    path: str
    """Relative to the study's folder."""
    sha256: str
    """Of the file's bytes."""
    width: int
    """In pixels, upright."""
    height: int
    profile: str = ""
    """What the file says about colour; for the researcher."""


def measured(
    stock: Stock, questions: Mapping[str, Iterable[PracticeQuestion]], known: Mapping[str, Picture] | None = None
) -> tuple[dict[str, Picture], list[str]]:
    """Return every picture that the version shows by its key, and a line for each that is not there or cannot be shown.

    Args:
        stock: what the version is made from.
        questions: training questions of each stage.
        known: pictures that an earlier version measured, which are taken as they were.
    """
    images, known = stock.images, known or {}
    wanted = _shown(stock)
    for asked in questions.values():
        for question in asked:
            wanted.update(key for key in (question.left, question.right, question.item) if key)
            wanted.update(key for _, _, key in question.references)
    lines, paths = [], {}
    for key in sorted(wanted):
        path = key.removeprefix("file:") if key.startswith("file:") else images.get(key)
        if key.startswith("file:") and (
            PurePosixPath(path or "").is_absolute() or ".." in PurePosixPath(path or "").parts
        ):
            lines.append(f"picture '{path}' lies outside the study's folder")
        elif key not in images and not key.startswith("file:"):
            continue  # the plan's fault, told there
        elif path is None:
            lines.append(f"items.csv: '{key}' has no picture")
        else:
            paths[key] = path
    with ThreadPoolExecutor(4) as pool:
        fresh = [key for key, path in paths.items() if key not in known or known[key].path != path]
        found = pool.map(lambda key: _measure(stock.benchmark.folder, paths[key]), fresh)
        pictures = {key: known[key] for key in paths.keys() - set(fresh)}
        for key, made in zip(fresh, found, strict=True):
            if isinstance(made, str):
                lines.append(made)
            else:
                pictures[key] = made
    return pictures, lines


def too_small(
    plan: pl.DataFrame, questions: Mapping[str, Iterable[PracticeQuestion]], pictures: Mapping[str, Picture]
) -> list[str]:
    """Return a line for each picture that is too small for the instruction that is drawn on it.

    Args:
        plan: the trials, with their checks.
        questions: training questions of each stage.
        pictures: key -> picture.
    """
    told = plan.filter(pl.col("check") == "instructed")
    keys = {key for side in ("left", "right", "item") for key in told[side].drop_nulls().unique().to_list()}
    for question in (one for asked in questions.values() for one in asked if one.instructed):
        keys.update(key for key in (question.left, question.right, question.item) if key)
    small = [pictures[key] for key in sorted(keys) if min(pictures[key].width, pictures[key].height) < MIN_SIDE]
    return [
        f"{picture.path}: {picture.width} x {picture.height} pixels are too few to draw an instruction on; it takes "
        f'{MIN_SIDE} a side, or check = "broken" and training of your own'
        for picture in small
    ]


def _shown(stock: Stock) -> set[str]:
    keys = {key for side in ("left", "right", "item") for key in stock.plan[side].drop_nulls().unique().to_list()}
    for column in stock.plan.columns:
        side, dot, factor = column.partition(".")
        if dot and side in ("left", "right", "item"):
            keys.update(f"reference:{factor}:{level}" for level in stock.plan[column].drop_nulls().unique().to_list())
    for example in stock.study.tutorial.example:
        known = stock.images
        keys.update(name if name in known else f"file:{name}" for name in example.pictures.values())
    return keys


def _measure(folder: Path, path: str) -> Picture | str:
    """The picture, or the line that says why it cannot be shown."""
    try:
        raw = read_bytes(folder / path)
        seen = look(raw, where=path)
        must_decode(raw, where=path)
    except BadInput as error:
        return error.message
    return Picture(path, hashlib.sha256(raw).hexdigest(), seen.width, seen.height, seen.profile)

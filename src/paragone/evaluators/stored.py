"""An evaluator as a folder: `evaluator.toml`, `weights.safetensors`, `people.csv`, and a card to read, `README.md`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ..errors import BadInput, BadTable, MissingExtra, NotFound, WouldOverwrite
from ..features.stored import read_arrays
from ..provenance import digest
from ..settings import read_toml, write_toml
from ..tables import read_table, whole_file, write_table
from .card import card_of
from .evaluator import Errors, Evaluator, Head, Read
from .reach import Reach

__all__ = ["EVALUATOR_FILE", "is_evaluator", "load_evaluator", "save_evaluator"]

EVALUATOR_FILE = "evaluator.toml"
"""The file by which a folder is known as an evaluator."""

_WEIGHTS, _PEOPLE, _CARD = "weights.safetensors", "people.csv", "README.md"
_REACH = ("mean", "scale", "axes", "points", "spread")
_NUMBERS = ("score", "low", "high")


def is_evaluator(folder: str | Path) -> bool:
    """Whether a folder holds an evaluator."""
    return (Path(folder) / EVALUATOR_FILE).is_file()


def save_evaluator(evaluator: Evaluator, folder: str | Path, *, validation: str = "") -> Path:
    """Write an evaluator; `evaluator.toml`, which makes the folder one, comes last.

    Args:
        evaluator: what is written.
        folder: where to; created. Another evaluator in it is replaced.
        validation: a table, as Markdown, of how it did on what it had not seen, for the card; '' where it was not
            validated, and the card says so.

    Raises:
        WouldOverwrite: the folder holds something else.
        MissingExtra: safetensors is not installed.
    """
    try:
        from safetensors.numpy import save_file
    except ModuleNotFoundError as error:
        raise MissingExtra.library("saving an evaluator", "safetensors", "torch") from error
    folder = Path(folder)
    if folder.exists() and not is_evaluator(folder) and (not folder.is_dir() or any(folder.iterdir())):
        raise WouldOverwrite(
            f"'{folder}' holds something else than an evaluator; name another folder", where=str(folder)
        )
    folder.mkdir(parents=True, exist_ok=True)
    arrays: dict[str, NDArray[Any]] = {f"reach.{name}": getattr(evaluator.reach, name) for name in _REACH}
    heads = []
    for number, (criterion, head) in enumerate(evaluator.heads.items()):
        arrays[f"head.{number}.columns"] = head.columns
        arrays |= {f"head.{number}.{name}": array for name, array in head.fitted.arrays().items()}
        said = {name: value for name, value in head.errors._asdict().items() if value == value}
        heads.append(
            {
                "criterion": criterion,
                "learner": head.learner,
                "without": list(head.without),
                "errors": said,
                "notes": dict(head.fitted.notes),
            }
        )
    (folder / EVALUATOR_FILE).unlink(missing_ok=True)  # between two versions it is none
    with whole_file(folder / _WEIGHTS) as aside:
        save_file({name: np.ascontiguousarray(array) for name, array in arrays.items()}, str(aside))
    write_table(evaluator.people, folder / _PEOPLE)
    with whole_file(folder / _CARD) as aside:
        aside.write_text(card_of(evaluator, validation), encoding="utf-8")
    content = {
        "format": 1,
        "name": evaluator.name,
        "better": evaluator.better,
        "factor": evaluator.factor,
        "simulated": evaluator.simulated,
        "heads": heads,
        "read": {key: value for key, value in vars(evaluator.read).items() if value is not None},
        "reach": {"limit": evaluator.reach.limit, "rest": evaluator.reach.rest},
        "made": dict(evaluator.made),
        "files": {name: digest(folder / name) for name in (_WEIGHTS, _PEOPLE)},
    }
    write_toml(content, folder / EVALUATOR_FILE)
    return folder


def load_evaluator(folder: str | Path) -> Evaluator:
    """Read an evaluator; its predictions are those of the one that was saved, bit for bit.

    Raises:
        NotFound: no such folder, or a file of it is missing.
        BadInput: a file is damaged, or is not the one that evaluator.toml names.
        UnknownName: a learner that nobody offers.
    """
    folder = Path(folder)
    if not is_evaluator(folder):
        raise NotFound(
            f"no evaluator in '{folder}': there is no {EVALUATOR_FILE}; paragone train makes one", where=str(folder)
        )
    said = read_toml(folder / EVALUATOR_FILE)
    try:
        for name, wanted in said["files"].items():
            if not (folder / name).is_file():
                raise NotFound.path(folder / name, "file of the evaluator")
            if digest(folder / name) != wanted:
                raise BadInput(
                    f"{folder / name} is not the file that {EVALUATOR_FILE} names; bring that one back or train anew",
                    where=str(folder / name),
                )
        arrays = read_arrays(folder / _WEIGHTS)
        heads = {one.get("criterion"): _head(one, number, arrays) for number, one in enumerate(said["heads"])}
        return Evaluator(
            name=said["name"],
            heads=heads,
            read=Read(**said["read"]),
            reach=Reach(
                **{name: arrays[f"reach.{name}"] for name in _REACH},
                rest=float(said["reach"]["rest"]),
                limit=float(said["reach"]["limit"]),
            ),
            people=_people(read_table(folder / _PEOPLE)),
            factor=said["factor"],
            simulated=bool(said["simulated"]),
            better=said["better"],
            made=said["made"],
        )
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise BadInput(
            f"{folder / EVALUATOR_FILE} is not what paragone train writes ({type(error).__name__}: {error})",
            where=str(folder),
        ) from error


def _head(said: Mapping[str, Any], number: int, arrays: Mapping[str, NDArray[Any]]) -> Head:
    from . import LEARNERS

    learner = LEARNERS.get(said["learner"])
    start = f"head.{number}."
    own = {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}
    columns = own.pop("columns")
    errors = {"item": math.nan, "level": math.nan, **said["errors"]}
    return Head(
        fitted=learner.restore(own, said["notes"]),
        learner=said["learner"],
        columns=columns,
        without=tuple(said["without"]),
        errors=Errors(**errors),
    )


def _people(frame: pl.DataFrame) -> pl.DataFrame:
    missing = {"item", "criterion", *_NUMBERS} - set(frame.columns)
    if missing:
        raise BadTable(f"{_PEOPLE}: no column '{sorted(missing)[0]}'", where=_PEOPLE)
    text = [name for name in frame.columns if name not in _NUMBERS]
    return frame.with_columns(pl.col(_NUMBERS).cast(pl.Float64), pl.col(text).cast(pl.String))

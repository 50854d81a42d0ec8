"""An evaluator as a folder: `evaluator.toml`, weights and people's scores under their digests, and a card, `README.md`."""

from __future__ import annotations

import hashlib
import math
import re
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

__all__ = ["EVALUATOR_FILE", "is_evaluator", "load_evaluator", "may_save", "save_evaluator"]

EVALUATOR_FILE = "evaluator.toml"
"""The file by which a folder is known as an evaluator."""

_CARD = "README.md"
_OURS = re.compile(r"(weights-.*\.safetensors|people-.*\.csv|README\.md|\..*\.part)")
_REACH = ("columns", "mean", "scale", "axes", "points", "spread")
_WIDTHS = ("item", "level", "spread", "guess")
_NUMBERS = ("score", "low", "high")


def is_evaluator(folder: str | Path) -> bool:
    """Whether a folder holds an evaluator."""
    return (Path(folder) / EVALUATOR_FILE).is_file()


def may_save(folder: str | Path) -> None:
    """Refuse a folder that holds something else than an evaluator, or what a killed `save_evaluator` left of one.

    Raises:
        WouldOverwrite: it does.
    """
    folder = Path(folder)
    if not folder.exists() or (is_evaluator(folder) and "heads" in read_toml(folder / EVALUATOR_FILE)):
        return
    strange = not folder.is_dir() or any(
        one.name == _CARD or not _OURS.fullmatch(one.name)  # a card comes after evaluator.toml
        for one in folder.iterdir()
    )
    if strange:
        raise WouldOverwrite(
            f"'{folder}' holds something else than an evaluator; name another folder", where=str(folder)
        )


def save_evaluator(evaluator: Evaluator, folder: str | Path, *, validation: str = "") -> Path:
    """Write an evaluator. Its parts are named after their content and `evaluator.toml`, which names them, comes last: until
    then an evaluator that was there stays whole.

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
        from safetensors.numpy import save
    except ModuleNotFoundError as error:
        raise MissingExtra.library("saving an evaluator", "safetensors", "torch") from error
    folder = Path(folder)
    may_save(folder)
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
    content = save({name: np.ascontiguousarray(array) for name, array in arrays.items()})
    weights = folder / f"weights-{hashlib.sha256(content).hexdigest()[:12]}.safetensors"
    with whole_file(weights) as aside:
        aside.write_bytes(content)
    table = evaluator.people.write_csv()
    people = folder / f"people-{hashlib.sha256(table.encode()).hexdigest()[:12]}.csv"
    write_table(evaluator.people, people)
    toml = {
        "format": 1,
        "name": evaluator.name,
        "better": evaluator.better,
        "factor": evaluator.factor,
        "simulated": evaluator.simulated,
        "heads": heads,
        "read": {key: value for key, value in vars(evaluator.read).items() if value is not None},
        "reach": {"limit": evaluator.reach.limit, "rest": evaluator.reach.rest},
        "made": dict(evaluator.made),
        "files": {
            "weights": {"name": weights.name, "sha256": digest(weights)},
            "people": {"name": people.name, "sha256": digest(people)},
        },
    }
    write_toml(toml, folder / EVALUATOR_FILE)
    with whole_file(folder / _CARD) as aside:
        aside.write_text(card_of(evaluator, validation), encoding="utf-8")
    for one in folder.iterdir():
        if _OURS.fullmatch(one.name) and one.name not in (weights.name, people.name, _CARD):
            one.unlink()
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
    if said.get("format") != 1:
        raise BadInput(f"{folder / EVALUATOR_FILE}: format {said.get('format')} is not known here", where=str(folder))
    try:
        weights, people = (_part(folder, said["files"][name]) for name in ("weights", "people"))
        arrays = read_arrays(weights)
        made = Evaluator(
            name=str(said["name"]),
            heads={one.get("criterion"): _head(one, number, arrays) for number, one in enumerate(said["heads"])},
            read=Read(**said["read"]),
            reach=Reach(
                **{name: arrays[f"reach.{name}"] for name in _REACH},
                rest=float(said["reach"]["rest"]),
                limit=float(said["reach"]["limit"]),
            ),
            people=_people(read_table(people), people),
            factor=str(said["factor"]),
            simulated=bool(said["simulated"]),
            better=said["better"],
            made=said["made"],
        )
        faults = _faults(made, len(said["heads"]))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise BadInput(
            f"{folder / EVALUATOR_FILE} is not what paragone train writes ({type(error).__name__}: {error})",
            where=str(folder),
        ) from error
    if faults:
        raise BadTable.of_faults(str(folder / EVALUATOR_FILE), faults)
    return made


def _part(folder: Path, said: Mapping[str, str]) -> Path:
    path = folder / said["name"]
    if not path.is_file() or path.parent != folder:
        raise NotFound.path(path, "file of the evaluator")
    if digest(path) != said["sha256"]:
        raise BadInput(
            f"{path} is not the file that {EVALUATOR_FILE} names; bring that one back or train anew", where=str(path)
        )
    return path


def _faults(made: Evaluator, n_heads: int) -> list[str]:
    """What does not fit together; each would else show as a wrong number or a traceback."""
    from ..features.featuresets import FEATURES

    read, faults = made.read, []
    if str(made.better) not in ("higher", "lower", "unknown"):
        faults.append(f"better '{made.better}' is not one of higher, lower, unknown")
    if read.features not in FEATURES:
        faults.append(f"features '{read.features}' are not known here")
    if any(not isinstance(number, int) for number in (read.side, 0 if read.seed is None else read.seed)):
        faults.append("side and seed must be whole numbers")
    if made.factor and made.factor not in made.factors():
        faults.append(f"factor '{made.factor}' is no column of the people's table")
    if not (math.isfinite(made.reach.limit) and made.reach.rest > 0):
        faults.append("reach must be finite and above 0")
    if len(made.heads) < n_heads:
        faults.append("two heads are of one criterion")
    criteria = set(made.people["criterion"].unique().to_list())
    for criterion, head in made.heads.items():
        if criterion not in criteria:
            faults.append(f"no item has a score of people on '{criterion}'")
        for name in _WIDTHS:
            value = getattr(head.errors, name)
            if not isinstance(value, float) or not (math.isnan(value) or 0 < value < math.inf):
                faults.append(f"error of '{criterion}' is {value}; it must be a number above 0")
        if head.columns.ndim != 1 or head.columns.min() < 0:
            faults.append(f"the head of '{criterion}' reads columns that the features do not have")
    return faults


def _head(said: Mapping[str, Any], number: int, arrays: Mapping[str, NDArray[Any]]) -> Head:
    from . import LEARNERS

    learner = LEARNERS.get(said["learner"])
    start = f"head.{number}."
    own = {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}
    columns = own.pop("columns")
    errors = {**dict.fromkeys(_WIDTHS, math.nan), **said["errors"]}
    return Head(
        fitted=learner.restore(own, said["notes"]),
        learner=said["learner"],
        columns=columns,
        without=tuple(said["without"]),
        errors=Errors(**{**errors, **{name: float(errors[name]) for name in _WIDTHS}}),
    )


def _people(frame: pl.DataFrame, path: Path) -> pl.DataFrame:
    missing = {"item", "criterion", *_NUMBERS} - set(frame.columns)
    if missing:
        raise BadTable(f"{path.name}: no column '{sorted(missing)[0]}'", where=str(path))
    text = [name for name in frame.columns if name not in _NUMBERS]
    made = frame.with_columns(pl.col(_NUMBERS).cast(pl.Float64, strict=False), pl.col(text).cast(pl.String))
    if made["score"].null_count() or not made["score"].is_finite().all():
        raise BadTable(f"{path.name}: a score is no number", where=str(path))
    return made

"""The state of a training after an epoch, in one file that is whole or not there."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...errors import BadInput
from ...tables import whole_file

__all__ = ["Progress", "read_progress", "write_progress"]

_FORMAT = 1
_FAULTS = (RuntimeError, pickle.UnpicklingError, EOFError, KeyError, ValueError, TypeError, AttributeError)


@dataclass(kw_only=True)
class Progress:
    """How far a training is; grows by one epoch at a time."""

    epochs: int = 0
    """Epochs done."""
    losses: list[float] = field(default_factory=list)
    """Mean training loss of each."""
    validation: list[float] = field(default_factory=list)
    """Mean squared error of the validation pictures after each, standardised; empty where there are none."""
    chosen: int = 0
    """Number of the epoch, from 1, whose network is kept; 0: none yet."""
    kept: dict[str, Any] | None = None
    """State of that network; None: it is the last one."""
    network: dict[str, Any] = field(default_factory=dict)
    """State of the module that is trained."""
    optimiser: dict[str, Any] = field(default_factory=dict)
    scaler: dict[str, Any] = field(default_factory=dict)
    """State of the scaling of gradients in fp16; else empty."""


def write_progress(progress: Progress, path: str | Path, *, run: str) -> None:
    """Write a checkpoint; whatever stood there is replaced in one move.

    Args:
        progress: what is to be continued from.
        path: the file.
        run: what identifies the training; no other one may continue from it.
    """
    import torch

    with whole_file(path) as aside:
        torch.save({"format": _FORMAT, "run": run, **vars(progress)}, aside)


def read_progress(path: str | Path, *, run: str) -> Progress | None:
    """Read a checkpoint; None where there is none.

    Raises:
        BadInput: the file is no checkpoint, or one of another training.
    """
    path = Path(path)
    if not path.is_file():
        return None
    import torch

    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
        written, given, made = content.pop("run"), content.pop("format"), Progress(**content)
    except _FAULTS as error:
        raise BadInput(f"{path}: not a checkpoint of a training; remove it to start afresh", where=str(path)) from error
    if given != _FORMAT or written != run:
        raise BadInput(
            f"{path}: checkpoint of another training (other pictures, scores, settings, seed or weights); "
            "name another folder",
            where=str(path),
        )
    return made

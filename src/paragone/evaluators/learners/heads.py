"""`astra-score`: an ensemble of two-layer heads on frozen features, one task or all of a leave-one-out table at once."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from ...errors import BadInput
from ..task import Fitted, Learner, Predicted, Task
from .checking import check_option, check_tasks, settings_of
from .scaling import Scaler, Unit, principal_components, standard_scaler, target_unit
from .threads import on_threads
from .training import HeadSettings, Layers, Trained, output, train

__all__ = ["ASTRA_COMPARED", "ASTRA_SCALARS", "ASTRA_SCORE", "Heads", "fit_heads", "restore_heads"]

_AT_ONCE = 4096  # items that are scaled together: 120 MB in float64 at 3,614 columns
_STORED = ("first", "first_bias", "second", "second_bias", "centre", "factor", "unit")


class _Inputs(NamedTuple):
    """What tasks on one array of features share."""

    scaler: Scaler
    basis: NDArray[np.float64] | None
    """(d, k) to principal components; None: all columns are inputs."""
    scaled: NDArray[np.float32]
    """(n, k) inputs of the training items."""
    digest: bytes
    """SHA-256 over the features."""


@dataclass(frozen=True, kw_only=True)
class Heads:
    """An ensemble of heads that were trained on one task with different seeds."""

    notes: Mapping[str, Any]
    layers: Layers
    """Of all members: (s, k, hidden), (s, hidden), (s, hidden) and (s, 1)."""
    scaler: Scaler
    basis: NDArray[np.float64] | None
    """(d, k) from scaled columns to the inputs, or None where they are the same."""
    unit: Unit
    """Of the targets."""

    def predict(self, x: NDArray[np.float32]) -> Predicted:
        """Predict from raw features: the members' mean, and Student's t interval of it at 95 %.

        Args:
            x: (m, d).

        Raises:
            BadInput: another number of columns, or values that are not finite.
        """
        said = self.members(x)
        n = len(said)
        score = said.mean(axis=0)
        if n == 1:
            unknown = np.full_like(score, np.nan)
            return Predicted(score, unknown, unknown.copy())
        half = stdtrit(n - 1, 0.975) * said.std(axis=0, ddof=1) / np.sqrt(n)
        return Predicted(score, score - half, score + half)

    def members(self, x: NDArray[np.float32]) -> NDArray[np.float64]:
        """What each member predicts from raw features, (m, d), in the unit of the targets: (s, m).

        Raises:
            BadInput: another number of columns, or values that are not finite.
        """
        said = np.empty((len(self.layers.first), len(x)))
        for start in range(0, len(x), _AT_ONCE):
            inputs = _to_inputs(self.scaler(x[start : start + _AT_ONCE]), self.basis)
            for member in range(len(said)):
                said[member, start : start + _AT_ONCE] = output(inputs, Layers(*(part[member] for part in self.layers)))
        return self.unit.mean + self.unit.sd * said

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Weights, scaler and unit by name; see the fields."""
        found: dict[str, NDArray[Any]] = dict(self.layers._asdict())
        found |= {"centre": self.scaler.centre, "factor": self.scaler.factor, "unit": np.array(self.unit)}
        return found if self.basis is None else found | {"basis": self.basis}


def fit_heads(tasks: Sequence[Task], *, seed: int, quiet: bool = True, jobs: int = -1, **options: Any) -> list[Fitted]:
    """Train an ensemble for each task, all of them in one go.

    What a member becomes follows from `seed`, its number and the task's rows alone: it is the same to the bit whether
    the task is trained by itself or among others, under any name, on any number of threads. Tasks on one and the same array
    share what is made of it.

    Args:
        tasks: what to learn from; they may differ in rows and columns.
        seed: >= 0.
        quiet: show no progress bar.
        jobs: threads, or -1 for one per core.
        options: fields of `HeadSettings`.

    Raises:
        BadInput: a task's features or targets are not finite, or its targets are all equal.
        TooFew: a task has too few rows, or early stopping finds a single group.
        BadConfig: an option is unknown or out of its range.
        NotConverged: weights ran away.
        MissingExtra: torch is not installed.
    """
    settings = settings_of(HeadSettings, "astra-score", options)
    check_option("astra-score", "seed", seed, least=0, whole=True)
    check_tasks(tasks)
    if not tasks:
        return []
    from ...features.nets import torch_threads

    with torch_threads(1):
        shared = {id(task.x): task.x for task in tasks}
        made = on_threads(
            lambda x: _inputs(x, settings.components), list(shared.values()), jobs=jobs, label="inputs", quiet=quiet
        )
        inputs = dict(zip(shared, made, strict=True))
        units = [target_unit(task.y) for task in tasks]
        pieces = [(at, member) for at in range(len(tasks)) for member in range(settings.seeds)]

        def one(piece: tuple[int, int]) -> Trained:
            at, member = piece
            task, unit, read = tasks[at], units[at], inputs[id(tasks[at].x)]
            y = ((task.y - unit.mean) / unit.sd).astype(np.float32)
            rng = _generator(seed, member, read.digest, task.y)
            return train(read.scaled, y, task.groups, settings, rng, name=task.name)

        trained = on_threads(one, pieces, jobs=jobs, label="training heads", quiet=quiet)
    fitted: list[Fitted] = []
    for at, task in enumerate(tasks):
        members, trained = trained[: settings.seeds], trained[settings.seeds :]  # frees what is stacked below
        fitted.append(_ensemble(task, members, inputs[id(task.x)], units[at], settings, seed))
    return fitted


def restore_heads(arrays: Mapping[str, NDArray[Any]], notes: Mapping[str, Any]) -> Heads:
    """Give the ensemble whose `arrays` and `notes` these are; needs no torch.

    Raises:
        BadInput: an array is missing, or shapes do not fit.
    """
    lost = [name for name in _STORED if name not in arrays]
    if lost:
        raise BadInput(f"these are not the arrays of 'astra-score': no '{lost[0]}'", where=lost[0])
    layers = Layers(*(np.array(arrays[name], dtype=np.float32) for name in Layers._fields))
    scaler = Scaler(centre=np.array(arrays["centre"], np.float64), factor=np.array(arrays["factor"], np.float64))
    basis = np.array(arrays["basis"], dtype=np.float64) if "basis" in arrays else None
    (s, k, hidden), d = layers.first.shape, len(scaler.centre)
    shapes = [part.shape for part in layers] + [scaler.factor.shape, (d, k) if basis is None else basis.shape]
    if shapes != [(s, k, hidden), (s, hidden), (s, hidden), (s, 1), (d,), (d, k)] or (basis is None and d != k):
        raise BadInput(f"the arrays of 'astra-score' do not fit together: {shapes}", where="first")
    return Heads(notes=dict(notes), layers=layers, scaler=scaler, basis=basis, unit=Unit(*arrays["unit"].tolist()))


def _inputs(x: NDArray[np.float32], components: int | None) -> _Inputs:
    scaler = standard_scaler(x)
    z = scaler(x)
    basis = None if components is None else principal_components(z, components)
    return _Inputs(scaler, basis, _to_inputs(z, basis), hashlib.sha256(np.ascontiguousarray(x).data).digest())


def _to_inputs(scaled: NDArray[np.float64], basis: NDArray[np.float64] | None) -> NDArray[np.float32]:
    return np.asarray(scaled if basis is None else scaled @ basis, dtype=np.float32)


def _generator(seed: int, member: int, digest: bytes, y: NDArray[np.float64]) -> np.random.Generator:
    """Random numbers that follow from the content of a task."""
    content = hashlib.sha256(digest + y.astype("<f8").tobytes()).digest()
    words = np.frombuffer(content, dtype="<u4").tolist()
    return np.random.Generator(np.random.SFC64([seed, member, *words]))


def _ensemble(
    task: Task, members: Sequence[Trained], inputs: _Inputs, unit: Unit, settings: HeadSettings, seed: int
) -> Heads:
    layers = Layers(*(np.stack([getattr(one.layers, part) for one in members]) for part in Layers._fields))
    notes: dict[str, Any] = {
        "task": task.name,
        "n": len(task.y),
        "columns": task.x.shape[1],
        "inputs": inputs.scaled.shape[1],
        "seed": seed,
        **{option: value for option, value in asdict(settings).items() if value is not None},
        "training_loss": [one.loss for one in members],
        "epochs_run": [one.epochs for one in members],
    }
    return Heads(notes=notes, layers=layers, scaler=inputs.scaler, basis=inputs.basis, unit=unit)


ASTRA_COMPARED = Learner(
    name="astra-compared",
    label="ASTRA-Score on comparisons",
    summary="the same heads without the vectors of single pictures: on what compares two pictures",
    source="ours; heads of ASTRA (arXiv 2610.10003)",
    columns="compared",
    fit=fit_heads,
    restore=restore_heads,
    extra="torch",
)
ASTRA_SCALARS = Learner(
    name="astra-scalars",
    label="ASTRA-Score on scalars",
    summary="the same heads on the scalars that compare pictures",
    source="ours; heads of ASTRA (arXiv 2610.10003)",
    columns="scalar",
    fit=fit_heads,
    restore=restore_heads,
    extra="torch",
)
ASTRA_SCORE = Learner(
    name="astra-score",
    label="ASTRA-Score",
    summary="two-layer heads on all features of content, style and result, averaged over seeds",
    source="ASTRA (arXiv 2610.10003): ASTRA-Score, one two-layer head a criterion on frozen features",
    columns="all",
    fit=fit_heads,
    restore=restore_heads,
    extra="torch",
)

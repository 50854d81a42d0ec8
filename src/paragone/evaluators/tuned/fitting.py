"""From pictures, scores and groups to one tuned network: which rows it learns from, in which unit, and what is noted."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from ...errors import BadConfig, BadInput, CannotScore, MissingExtra, TooFew
from .architecture import NETWORKS, Architecture, Filled, filled
from .pictures import Prepared, prepare
from .settings import TunedSettings

if TYPE_CHECKING:
    import torch

__all__ = ["Begun", "Fit", "Material", "architecture_of", "begin", "fit", "material_of"]

_TIMM = "timm:"


@dataclass(frozen=True, kw_only=True)
class Material:
    """Pictures that have scores, in the order of their ids."""

    pictures: Prepared
    criteria: tuple[str, ...]
    """Sorted."""
    scores: NDArray[np.float64]
    """(n, k) in the unit of the scores; NaN: none."""
    groups: tuple[str, ...]
    """(n,) level of the factor whose levels stay together."""
    left_out: int
    """Items that have scores but no picture, or a picture but no score."""


class Begun(NamedTuple):
    """A network before it is tuned, and what it will learn from."""

    material: Material
    architecture: Architecture
    settings: TunedSettings
    seed: int
    kept: NDArray[np.int64]
    """Rows of the material that are learnt from."""
    held: NDArray[np.int64]
    """Rows, whole groups, that choose the epoch; empty: the last one is kept."""
    mean: NDArray[np.float64]
    """(k,) of the scores that are learnt from."""
    scale: NDArray[np.float64]
    """(k,) their standard deviation."""
    started: Filled
    run: str
    """SHA-256 over all that makes the training what it is, but not how many epochs it goes on."""


class Fit(NamedTuple):
    """A tuned network and its unit."""

    module: torch.nn.Module
    mean: NDArray[np.float64]
    """(k,) of the training scores."""
    scale: NDArray[np.float64]
    """(k,) their standard deviation; score = mean + scale * output."""
    notes: dict[str, Any]
    """Plain values for a TOML file."""


def architecture_of(network: str | Architecture) -> Architecture:
    """The network of that name.

    Raises:
        UnknownName: nobody offers it.
        BadInput: timm does not know what stands behind 'timm:'.
        MissingExtra: torch, timm or accelerate is not installed.
    """
    for library in ("torch", "timm", "accelerate", "safetensors"):
        if importlib.util.find_spec(library) is None:
            raise MissingExtra.library("tuning a network", library, "torch")
    if isinstance(network, Architecture):
        return network
    if network.startswith(_TIMM):
        from .networks import timm_network

        return timm_network(network.removeprefix(_TIMM))
    found: Architecture = NETWORKS.get(network)
    return found


def material_of(
    images: Mapping[str, str | Path],
    scores: Mapping[str, Mapping[str, float]],
    groups: Mapping[str, str],
    settings: TunedSettings,
    *,
    jobs: int,
    quiet: bool,
) -> Material:
    """Decode the pictures that have at least one score.

    Raises:
        TooFew: no criterion, or fewer than two pictures with a score.
        BadInput: an item has no group, or a score is infinite.
        BadImage: a picture cannot be read.
    """
    criteria = tuple(sorted(scores))
    scored = {item for of in scores.values() for item, value in of.items() if not math.isnan(value)}
    items = sorted(scored & set(images))
    if len(items) < 2:
        raise TooFew(
            f"{len(items)} pictures have a score ({len(images)} pictures, {len(scored)} scored items); check that both name "
            "the same items",
            where="scores",
        )
    lost = [item for item in items if item not in groups]
    if lost:
        raise BadInput(f"item '{lost[0]}' has no group ({len(lost)} such items); give every item one", where=lost[0])
    table = np.array([[scores[one].get(item, math.nan) for one in criteria] for item in items], dtype=np.float64)
    if np.isinf(table).any():
        at = items[int(np.flatnonzero(np.isinf(table).any(axis=1))[0])]
        raise BadInput(f"item '{at}' has an infinite score; leave it out", where=at)
    pictures = prepare({item: images[item] for item in items}, settings, jobs=jobs, quiet=quiet)
    named = tuple(str(groups[item]) for item in items)
    apart = len(scored | set(images)) - len(items)
    return Material(pictures=pictures, criteria=criteria, scores=table, groups=named, left_out=apart)


def begin(
    material: Material,
    rows: NDArray[np.int64],
    architecture: Architecture,
    settings: TunedSettings,
    *,
    seed: int,
    weights: str | Path | None,
    random: bool,
) -> Begun:
    """Build a network and say what it will learn from; it sees nothing of the other rows.

    Args:
        material: pictures, scores, groups.
        rows: positions of what may be learnt from.
        architecture: the network.
        settings: how.
        seed: of the head, order, crops and the validation groups.
        weights: of the backbone.
        random: start from random weights.

    Raises:
        BadConfig: crops are smaller than the network reads, or as `filled`.
        TooFew: fewer than two pictures or, where validation chooses the epoch, than two groups to learn from; or a
            criterion has fewer than two scores.
        CannotScore: all training scores of a criterion are equal.
    """
    if settings.crop < architecture.smallest:
        raise BadConfig(
            f"{architecture.name} reads pictures of {architecture.smallest} pixels or more, not crops of {settings.crop}",
            where="crop",
        )
    kept, held = _validation(material, rows, settings, seed)
    mean, scale = _unit(material, kept)
    started = filled(architecture, len(material.criteria), weights=weights, random=random, seed=seed)
    run = _run(material, kept, held, architecture, settings, seed, started.source, started.sha256)
    return Begun(material, architecture, settings, seed, kept, held, mean, scale, started, run)


def fit(begun: Begun, *, checkpoint: Path | None, device: str, quiet: bool) -> Fit:
    """Tune a network that was begun.

    Args:
        begun: from `begin`; its module is trained in place.
        checkpoint: file that is written after each epoch and continued from.
        device: 'cpu', 'cuda', ...
        quiet: show no progress.

    Raises:
        BadConfig, BadInput, NotConverged: as `train`.
    """
    from .training import Objective, train

    material, settings, started = begun.material, begun.settings, begun.started
    objective = Objective(started.module, len(material.criteria), uncertainty=begun.architecture.uncertainty)
    standard = (material.scores - begun.mean) / begun.scale
    done = train(
        objective,
        material.pictures,
        rows=begun.kept,
        targets=standard[begun.kept],
        held=begun.held,
        held_targets=standard[begun.held],
        settings=settings,
        seed=begun.seed,
        device=device,
        checkpoint=checkpoint,
        run=begun.run,
        quiet=quiet,
    )
    notes: dict[str, Any] = {
        "label": started.label + ("" if settings.trained == "all" else ", head alone"),
        "weights_source": started.source,
        "weights_sha256": started.sha256,
        "seed": begun.seed,
        "n": len(begun.kept),
        "groups": len({material.groups[row] for row in begun.kept}),
        "n_validation": len(begun.held),
        "left_out": material.left_out,
        "epoch_choice": settings.epoch_choice,
        "epoch": done.chosen,
        "losses": done.losses,
        "validation_losses": done.validation,
    }
    if objective.log_variance is not None:
        notes["log_variance"] = objective.log_variance.tolist()
    return Fit(objective.network, begun.mean, begun.scale, notes)


def _validation(
    material: Material, rows: NDArray[np.int64], settings: TunedSettings, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows that are learnt from, and whole groups of them that choose the epoch."""
    none = np.empty(0, dtype=np.int64)
    if settings.epoch_choice == "last":
        return rows, none
    groups = sorted({material.groups[row] for row in rows})
    if len(groups) < 2:
        raise TooFew(f"{len(groups)} group to learn from; choosing the epoch by validation needs two", where="groups")
    number = min(max(1, round(settings.validation_share * len(groups))), len(groups) - 1)
    drawn = np.random.default_rng([seed, 3]).permutation(len(groups))[:number]
    names = {groups[at] for at in drawn}
    out = np.array([material.groups[row] in names for row in rows])
    return rows[~out], rows[out]


def _unit(material: Material, rows: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and standard deviation of the scores that are learnt from."""
    if len(rows) < 2:
        raise TooFew(f"{len(rows)} pictures to learn from; two are needed", where="scores")
    mean, scale = [], []
    for criterion, column in zip(material.criteria, material.scores[rows].T, strict=True):
        known = column[np.isfinite(column)]
        if len(known) < 2:
            raise TooFew(f"criterion '{criterion}' has {len(known)} training scores; two are needed", where=criterion)
        if not known.std() > 1e-12 * max(1.0, float(np.abs(known).max())):
            raise CannotScore(f"criterion '{criterion}': all {len(known)} training scores are equal", where=criterion)
        mean.append(known.mean())
        scale.append(known.std())
    return np.array(mean), np.array(scale)


def _run(
    material: Material,
    kept: NDArray[np.int64],
    held: NDArray[np.int64],
    architecture: Architecture,
    settings: TunedSettings,
    seed: int,
    *weights: str,
) -> str:
    """SHA-256 over all that makes the training what it is, but not how many epochs it goes on."""
    pictures = material.pictures
    settled = {name: value for name, value in msgspec.to_builtins(settings).items() if name != "epochs"}
    rows = [
        (pictures.items[row], pictures.sha256[row], [repr(float(one)) for one in material.scores[row]])
        for row in [*kept, *held]
    ]
    said = [architecture.name, material.criteria, settled, seed, weights, rows, len(held)]
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()

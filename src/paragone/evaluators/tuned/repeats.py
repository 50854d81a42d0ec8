"""`crossval_tuned`: a network is tuned anew on each of several splits and judged by the groups that it never saw."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ...errors import BadConfig, BadInput
from ...parallel import track
from ...splits import Fold, grouped_partitions
from ...stats.correlation import kendall, spearman
from ...stats.logistic import fit_logistic
from ...tables import whole_file
from .architecture import Architecture
from .fitting import Begun, Material, architecture_of, begin, fit, material_of
from .settings import TunedSettings

__all__ = ["TunedCrossval", "crossval_tuned"]

_MOST = 1000  # splits that are listed before some of them are drawn
_PREDICTED = {"item": pl.String, "criterion": pl.String, "score": pl.Float64, "epoch": pl.Int64}


@dataclass(frozen=True, kw_only=True)
class TunedCrossval:
    """How well a network that is tuned on some groups scores pictures of others."""

    frame: pl.DataFrame
    """predictor, criterion, repeat, statistic (srcc, krcc, plcc), value, n; value is null where the pictures of a repeat
    do not determine it (constant predictions). plcc is taken behind the five-parameter logistic, fitted to these same
    pictures, as is usual; a line stands in below six pictures."""
    predictions: pl.DataFrame
    """predictor, criterion, repeat, item, group, score, target: held-out pictures alone."""
    notes: Mapping[str, Any]
    """label, epoch_choice (last or validation: never the test pictures), repeats, possible (how many such splits there
    are), n, seed, epochs (that were kept, one a repeat)."""

    def summary(self) -> pl.DataFrame:
        """predictor, criterion, statistic, mean, sd, median and repeats (that have a value); sd: over repeats, n - 1.

        Repeats share most of their training pictures, so sd / sqrt(repeats) is no standard error.
        """
        keys = ["predictor", "criterion", "statistic"]
        value = pl.col("value")
        return (
            self.frame.group_by(keys)
            .agg(mean=value.mean(), sd=value.std(), median=value.median(), repeats=value.count().cast(pl.Int64))
            .sort(keys)
        )


def crossval_tuned(
    images: Mapping[str, str | Path],
    scores: Mapping[str, Mapping[str, float]],
    groups: Mapping[str, str],
    *,
    network: str | Architecture,
    settings: TunedSettings | None = None,
    repeats: int = 10,
    test_share: float = 0.2,
    seed: int = 0,
    weights: str | Path | None = None,
    random: bool = False,
    floors: Mapping[str, Mapping[str, str]] | None = None,
    folder: str | Path | None = None,
    device: str = "cpu",
    jobs: int = 1,
    quiet: bool = True,
) -> TunedCrossval:
    """Tune a network on about 80 % of the groups and score the pictures of the others, several times.

    Every picture is decoded once for all repeats. What is held out reaches neither the training nor its unit nor the
    choice of the epoch.

    Args:
        images: item -> its file.
        scores: criterion -> item -> score.
        groups: item -> group; a group is held out whole.
        network: as in `tune`.
        settings: as there.
        repeats: splits, >= 1; where there are fewer possible ones, all of them.
        test_share: share of the groups that is held out, in (0, 1).
        seed: of the splits and, with the repeat's number, of each training.
        weights: as in `tune`.
        random: as there.
        floors: name -> item -> level. Each adds the predictor 'mean of NAME': the mean training score of the item's level
            (of all where the level is not among what was trained on). A network that does not beat it has learnt no more.
        folder: where a stopped run goes on: a checkpoint a repeat, then its predictions in its place; None: nothing is kept.
        device: as in `tune`.
        jobs: as there.
        quiet: show no progress.

    Raises:
        BadConfig: repeats or share are out of range, or as in `tune`.
        TooFew: fewer than three groups, or as in `tune`.
        BadInput: a floor lacks an item, or as in `tune`.
        NotFound, BadImage, CannotScore, NotConverged, MissingExtra: as in `tune`.
    """
    if repeats < 1:
        raise BadConfig(f"{repeats} repeats; give 1 or more", where="repeats")
    settings = settings or TunedSettings()
    architecture = architecture_of(network)
    material = material_of(images, scores, groups, settings, jobs=jobs, quiet=quiet)
    levels = pl.DataFrame({"item": list(material.pictures.items), "level": list(material.groups)})
    parts = grouped_partitions(levels, "group", share=test_share, most=max(_MOST, repeats), seed=seed)
    drawn = np.random.default_rng([seed, 4]).permutation(len(parts.folds))[:repeats]
    _check_floors(material, floors or {})
    predicted: list[pl.DataFrame] = []
    epochs: list[int] = []
    label = ""
    for repeat, at in enumerate(track(drawn.tolist(), "repeats", quiet=quiet)):
        train, test = _rows(material, parts.folds[at])
        own = int(np.random.default_rng([seed, 5, repeat]).integers(2**31))
        begun = begin(material, train, architecture, settings, seed=own, weights=weights, random=random)
        frame = _scored(begun, test, Path(folder) if folder is not None else None, repeat, device)
        label = f"{architecture.label}, random weights" if random else begun.started.label
        label += "" if settings.trained == "all" else ", head alone"
        epochs.append(int(frame["epoch"][0]))
        predicted += [_beside(material, frame, label, repeat)]
        predicted += [
            _beside(material, _floor(material, train, test, levels), f"mean of {name}", repeat)
            for name, levels in (floors or {}).items()
        ]
    predictions = pl.concat(predicted)
    notes = {
        "label": label,
        "network": architecture.name,
        "epoch_choice": settings.epoch_choice,
        "epochs": epochs,
        "repeats": len(drawn),
        "possible": parts.possible,
        "n": len(material.pictures.items),
        "seed": seed,
    }
    return TunedCrossval(frame=_judged(predictions), predictions=predictions, notes=notes)


def _rows(material: Material, fold: Fold) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Positions of what may be learnt from, and of what is held out."""
    out = set(fold.levels)
    held = np.array([group in out for group in material.groups])
    return np.flatnonzero(~held), np.flatnonzero(held)


def _scored(begun: Begun, test: NDArray[np.int64], folder: Path | None, repeat: int, device: str) -> pl.DataFrame:
    """item, criterion, score, epoch of the held-out pictures; read where an earlier run had come so far."""
    material = begun.material
    names = [material.pictures.items[row] for row in test]
    said = f"{begun.run} {begun.settings.epochs} {' '.join(names)}"
    done = folder / f"repeat-{repeat:03d}-{hashlib.sha256(said.encode()).hexdigest()[:12]}.csv" if folder else None
    if done is not None and done.is_file():
        return pl.read_csv(done, schema_overrides=_PREDICTED)
    checkpoint = folder / f"repeat-{repeat:03d}.pt" if folder else None
    made = fit(begun, checkpoint=checkpoint, device=device, quiet=True)
    from .training import on_device, score_prepared

    with on_device(made.module, device):
        given = made.mean + made.scale * score_prepared(made.module, material.pictures, test, begun.settings)
    frame = pl.DataFrame(
        {
            "item": np.repeat(names, len(material.criteria)).tolist(),
            "criterion": list(material.criteria) * len(names),
            "score": given.ravel(),
            "epoch": [made.notes["epoch"]] * given.size,
        },
        schema=_PREDICTED,
    )
    if done is not None and checkpoint is not None:
        with whole_file(done) as aside:
            frame.write_csv(aside)
        checkpoint.unlink(missing_ok=True)
    return frame


def _beside(material: Material, frame: pl.DataFrame, predictor: str, repeat: int) -> pl.DataFrame:
    """Predictions with what they are judged by."""
    place = {item: at for at, item in enumerate(material.pictures.items)}
    column = {criterion: at for at, criterion in enumerate(material.criteria)}
    rows = [place[item] for item in frame["item"]]
    targets = [material.scores[row, column[one]] for row, one in zip(rows, frame["criterion"], strict=True)]
    return frame.select(
        pl.lit(predictor).alias("predictor"),
        "criterion",
        pl.lit(repeat, dtype=pl.Int64).alias("repeat"),
        "item",
        pl.Series("group", [material.groups[row] for row in rows], dtype=pl.String),
        "score",
        pl.Series("target", targets, dtype=pl.Float64).fill_nan(None),
    )


def _check_floors(material: Material, floors: Mapping[str, Mapping[str, str]]) -> None:
    for name, levels in floors.items():
        lost = [item for item in material.pictures.items if item not in levels]
        if lost:
            raise BadInput(f"floor '{name}': item '{lost[0]}' has no level ({len(lost)} such items)", where=name)


def _floor(
    material: Material, train: NDArray[np.int64], test: NDArray[np.int64], levels: Mapping[str, str]
) -> pl.DataFrame:
    """item, criterion, score: the mean of the training scores of the item's level."""
    items = material.pictures.items
    rows = []
    for at, criterion in enumerate(material.criteria):
        own = material.scores[train, at]
        by_level: dict[str, list[float]] = {}
        for row, value in zip(train, own, strict=True):
            by_level.setdefault(levels[items[row]], []).extend([float(value)] if np.isfinite(value) else [])
        everywhere = float(np.nanmean(own))
        means = {level: float(np.mean(values)) for level, values in by_level.items() if values}
        rows += [(items[row], criterion, means.get(levels[items[row]], everywhere)) for row in test]
    schema = {name: _PREDICTED[name] for name in ("item", "criterion", "score")}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _judged(predictions: pl.DataFrame) -> pl.DataFrame:
    """The statistics of each predictor, criterion and repeat."""
    rows: list[tuple[str, str, int, str, float | None, int]] = []
    known = predictions.drop_nulls("target")
    for (predictor, criterion, repeat), part in known.group_by(
        ["predictor", "criterion", "repeat"], maintain_order=True
    ):
        x, y = part["score"].to_numpy(), part["target"].to_numpy()
        values = {"srcc": spearman(x, y).value, "krcc": kendall(x, y).value, "plcc": fit_logistic(x, y).plcc}
        for name, value in values.items():
            rows.append((predictor, criterion, repeat, name, value if np.isfinite(value) else None, len(x)))
    schema = {
        "predictor": pl.String,
        "criterion": pl.String,
        "repeat": pl.Int64,
        "statistic": pl.String,
        "value": pl.Float64,
        "n": pl.Int64,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")

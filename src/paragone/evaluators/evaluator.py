"""`Evaluator`: a learned metric. Features go in, scores of people come out, with how far they may be wrong."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.stats import t as student

from ..errors import BadInput
from ..features.described import Features
from ..features.framing import Framing
from ..provenance import made_by
from ..scores import SCORES, Better, Scores
from .reach import Reach
from .task import Fitted, Predicted

if TYPE_CHECKING:
    from ..features.frozen import Frozen

__all__ = ["UNKNOWN_ERRORS", "Errors", "Evaluator", "Head", "Read"]


class Errors(NamedTuple):
    """How wrong the evaluator was about what it had not seen, in people's unit."""

    item: float
    """Half width that held 95 % of the held-out items' scores of people; NaN: not known."""
    level: float
    """Half width of the 95 % interval of the mean over one unseen level, for example one method; NaN: not known."""
    protocol: str
    """What was held out, for example 'leave one method out'; '' where nothing was."""
    n_items: int
    """Held-out items behind it."""
    n_levels: int
    """Held-out levels behind it."""
    spread: float = math.nan
    """Standard deviation of the errors inside a level; NaN: not known."""
    guess: float = math.nan
    """What `level` would be if the mean of the other levels were said of each; NaN: not known."""

    def of_mean(self, n: int) -> float:
        """Half width of the 95 % interval of the mean of n items of an unseen level.

        That of a level as large as the held-out ones; the mean of fewer items has more of their own errors in it, whose
        squared spread over n is then added.

        Args:
            n: items that the mean is taken over, >= 1.
        """
        if math.isnan(self.level) or math.isnan(self.spread):
            return self.level
        fewer = max(1.0 / n - self.n_levels / self.n_items, 0.0)
        reach = float(student.ppf(0.975, self.n_levels))
        return reach * math.sqrt((self.level / reach) ** 2 + fewer * self.spread**2)


UNKNOWN_ERRORS = Errors(math.nan, math.nan, "", 0, 0)
"""Of what was not validated."""


@dataclass(frozen=True, kw_only=True)
class Head:
    """The model of one criterion."""

    fitted: Fitted
    learner: str
    """Name in `LEARNERS`."""
    columns: NDArray[np.int64]
    """Columns of the features that it reads."""
    without: tuple[str, ...] = ()
    """Pictures whose blocks it does not read."""
    errors: Errors = UNKNOWN_ERRORS


@dataclass(frozen=True, kw_only=True)
class Read:
    """What an evaluator reads, exactly: other features or other weights are another evaluator."""

    features: str
    """Name in `FEATURES`, for example 'triplet-v1'."""
    definition: str
    """Id of the exact definition of the features."""
    framing: Framing
    side: int
    """Side of the framed pictures, in pixels."""
    backbone: str
    """Name that `load_backbone` knows."""
    label: str
    """How results must name the backbone."""
    sha256: str
    """SHA-256 of its weights; '' for random weights."""
    source: str
    """Where the weights came from."""
    seed: int | None = None
    """Seed of random weights; None: they are not random."""


@dataclass(frozen=True, kw_only=True)
class Evaluator:
    """One head a criterion on the features of a frozen backbone, and what is known of the items it was trained on."""

    name: str
    heads: Mapping[str | None, Head]
    """Criterion -> its head; None: one unnamed criterion."""
    read: Read
    reach: Reach
    """Where in feature space it was trained."""
    people: pl.DataFrame
    """Columns item, criterion, score, low, high, then factors: the scores of people that it learned, for leaderboards."""
    factor: str
    """Factor that was held out to learn the errors, and that leaderboards rank, for example 'method'; '' for none."""
    simulated: bool = False
    """The scores that it learned come from simulated participants."""
    better: Better = "higher"
    made: Mapping[str, Any] = field(default_factory=dict)
    """How it came about: verb, settings, versions, digests of inputs."""

    def __post_init__(self) -> None:
        if not self.heads:
            raise BadInput(f"evaluator '{self.name}' has no head; train it on at least one criterion", where=self.name)

    @property
    def criteria(self) -> list[str | None]:
        """What it scores."""
        return list(self.heads)

    @cached_property
    def sha256(self) -> str:
        """SHA-256 over the numbers of all heads, in hex: two evaluators of one digest say the same."""
        whole = hashlib.sha256()
        for criterion, head in self.heads.items():
            whole.update(f"{criterion} {head.learner}".encode())
            for name, array in sorted({"columns": head.columns, **head.fitted.arrays()}.items()):
                whole.update(f"{name} {array.dtype} {array.shape}".encode())
                whole.update(np.ascontiguousarray(array).tobytes())
        return whole.hexdigest()

    def must_read(self, features: Features) -> None:
        """Refuse features of another definition or backbone than it was trained on.

        Raises:
            BadInput: they differ; says which of the two, and both values.
        """
        if features.definition != self.read.definition:
            raise BadInput(
                f"evaluator '{self.name}' reads features '{self.read.definition}', not '{features.definition}'; "
                "extract them as its evaluator.toml says",
                where=self.name,
            )
        self._must_have(features.sha256, features.source, features.backbone)

    def must_read_network(self, backbone: Frozen) -> None:
        """Refuse another network than the one it was trained on, before any picture is read.

        Raises:
            BadInput: the weights differ; says both digests.
        """
        self._must_have(backbone.sha256, backbone.source, backbone.label)

    def _must_have(self, sha256: str, source: str, label: str) -> None:
        own = self.read
        if own.sha256 != sha256 or (not own.sha256 and (own.source, own.label) != (source, label)):
            raise BadInput(
                f"evaluator '{self.name}' was trained on {own.label} ({_digest(own.sha256, own.source)}), not on "
                f"{label} ({_digest(sha256, source)}); numbers of other weights mean nothing to it",
                where=self.name,
            )

    def predict(self, features: Features) -> Scores:
        """Score items.

        Args:
            features: of the items, of the definition and backbone that it was trained on.

        Returns:
            One row for each item and criterion. low and high are the 95 % interval of people's score of an unseen item
            (where errors on unseen levels are known, else of the mean over the ensemble's members); `n` is 1; items far
            from all training items have the status 'ok' and stand in `made["far"]`; `made["learned_items"]` counts those
            that it learned from, by their ids. Items without features have the status 'missing' and stand in
            `made["reasons"]`.

        Raises:
            BadInput: other features than those it was trained on.
        """
        self.must_read(features)
        distance = self.reach.distance(features.values)
        far = distance > self.reach.limit
        frames = []
        for criterion, head in self.heads.items():
            said = head.fitted.predict(features.values[:, head.columns])
            low, high = _interval(said, head.errors)
            frames.append(_rows(features.items, criterion, said.score, low, high, "ok"))
            lost = sorted(features.missing)
            if lost:
                none = np.full(len(lost), np.nan)
                frames.append(_rows(lost, criterion, none, none, none, "missing"))
        made = made_by("rate") | {
            "metric": self.name,
            "evaluator": self.name,
            "evaluator_sha256": self.sha256,
            "features": self.read.definition,
            "backbone": self.read.label,
            "backbone_sha256": self.read.sha256,
            "backbone_source": self.read.source,
            "pictures_sha256": features.pictures_sha256,
            "far": [item for item, beyond in zip(features.items, far, strict=True) if beyond],
            "learned_items": len(set(features.items) & set(self.people["item"])),
            "reasons": dict(features.missing),
            **self.flags,
        }
        return Scores(pl.concat(frames), name=self.name, better=self.better, made=made)

    @property
    def flags(self) -> dict[str, bool]:
        """Badges that must show wherever its numbers do."""
        said = {
            "simulated": self.simulated,
            "random_weights": not self.read.sha256,
            "fallback_backbone": "fallback" in self.read.label,
        }
        return {flag: True for flag, holds in said.items() if holds}

    def learner_of(self, criterion: str | None) -> str:
        """Who learned a criterion, with its options, and what its head does not see: 'astra-score (components = 256)'."""
        head, options = self.heads[criterion], self.made.get("options", {})
        said = f" ({', '.join(f'{name} = {value}' for name, value in options.items())})" if options else ""
        return f"{head.learner}{said}" + (f", blind to {' and '.join(head.without)}" if head.without else "")

    def factors(self) -> Sequence[str]:
        """Factor columns of `people`."""
        return [name for name in self.people.columns if name not in ("item", "criterion", "score", "low", "high")]


def _digest(sha256: str, source: str) -> str:
    return f"SHA-256 {sha256[:8]}..." if sha256 else source


def _interval(said: Predicted, errors: Errors) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if np.isnan(errors.item):
        return said.low, said.high
    return said.score - errors.item, said.score + errors.item


def _rows(
    items: Sequence[str],
    criterion: str | None,
    score: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    status: str,
) -> pl.DataFrame:
    kinds = {"text": pl.String, "id": pl.String, "number": pl.Float64, "whole": pl.Int64}
    known = {
        "item": list(items),
        "criterion": [criterion] * len(items),
        "score": score,
        "low": low,
        "high": high,
        "n": np.full(len(items), float(status == "ok")),
        "status": [status] * len(items),
    }
    columns = {one.name: known.get(one.name, [None] * len(items)) for one in SCORES.columns}
    schema = {one.name: kinds[one.kind] for one in SCORES.columns}
    return pl.DataFrame(columns, schema=schema).with_columns(pl.col("score", "low", "high").fill_nan(None))

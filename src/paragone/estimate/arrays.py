"""The arrays that scoring models receive and give. Models know no ids, no files and no columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Comparisons", "Estimate", "Estimator", "Floats", "Ints", "Opinions"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Comparisons(NamedTuple):
    """m pairwise answers over n items: what every pairwise model receives."""

    n: int
    """Number of items; every index below is in [0, n)."""
    left: Ints
    """(m,) index of the item shown on the left."""
    right: Ints
    """(m,) index of the item shown on the right. May equal `left` (a reference judged against itself)."""
    outcome: Floats
    """(m,) 1 where left won, 0 where right won, 0.5 for a tie."""
    participant: Ints
    """(m,) index of who answered, from 0."""
    stage: Ints
    """(m,) index of the study stage, from 0."""
    weight: Floats
    """(m,) how often the answer counts, >= 0; 1 is once. Reliability and bootstrap counts both live here."""
    temperature: Floats
    """(m,) > 0, the noise of the answer's stage relative to stage 0: P(left wins) = F((s_left - s_right) / temperature)."""


class Opinions(NamedTuple):
    """k single-item ratings of n items by p participants: what every rating model receives."""

    n: int
    """Number of items."""
    p: int
    """Number of participants."""
    item: Ints
    """(k,) index of the item, in [0, n)."""
    participant: Ints
    """(k,) index of the participant, in [0, p)."""
    session: Ints
    """(k,) index of the session, from 0; the same number in two participants is two sessions."""
    value: Floats
    """(k,) the rating, in the study's own unit."""
    weight: Floats
    """(k,) how often the rating counts, >= 0; 1 is once."""
    reference: Ints
    """(n,) index of each item's hidden reference, -1 where it has none."""
    content: Ints
    """(n,) index of each item's content, from 0; all 0 where contents are unknown."""


class Estimate(NamedTuple):
    """What a model gives back."""

    score: Floats
    """(n,) one number per item, larger is better; NaN where the data do not determine it (notes say why)."""
    stderr: Floats | None = None
    """(n,) standard errors where the model has them at no extra cost, else None."""
    notes: Mapping[str, Any] = {}
    """What a reader of the scores must know: iterations, participants' bias, clipped values, dropped rows, ..."""


Model = Callable[..., Estimate]


@dataclass(frozen=True, kw_only=True)
class Estimator:
    """A way of scoring: one model and the facts about it, which tests, docs and `list estimators` read."""

    name: str
    """The word users type, for example 'bradley-terry'."""
    model: Callable[..., Estimate]
    """model(Comparisons | Opinions, **options) -> Estimate; options are keyword-only and have defaults.
    An estimator that reads both takes (Comparisons, Opinions)."""
    reads: Literal["votes", "ratings", "both"]
    summary: str
    """One line for `list estimators`."""
    unit: str
    """Unit of the scores, for example 'logit', 'JOD', 'share of wins', 'rating scale'."""
    source: str
    """Authors, title, year and equation or section."""
    covariance: Callable[..., Floats] | None = None
    """covariance(data, score, **options) -> (n, n) of the centred scores, where an analytic one exists; else None."""
    replicate: Callable[..., Floats] | None = None
    """replicate(data, weights (r, participants), **options) -> (r, n) scores under r reweightings of participants,
    faster than r calls of `model`; NaN rows where a replicate does not determine the scores. None: call the model."""
    shrinks: bool = False
    """A prior or penalty pulls the scores together, so doubling the votes moves them and intervals are not calibrated."""
    ordered: bool = False
    """The result depends on the order of the answers (Elo)."""
    connected: Literal["strongly", "weakly", "no"] = "no"
    """What the vote graph must be for a finite answer; pairwise models check it themselves and raise NotConnected."""
    likelihood: Callable[..., float] | None = None
    """likelihood(data, score, **options) -> log-likelihood, for the laws in the tests; None where there is none."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Option name -> what it means, unit, range and default; the names are the model's keyword arguments."""

"""An evaluator as a metric: the same record that NIQE has, so that `measure` takes it as it takes any other."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..errors import UnknownName
from ..images import Picture
from ..metric import Metric
from .evaluator import Evaluator

if TYPE_CHECKING:
    from ..features import Frozen

__all__ = ["metric_of"]


def metric_of(evaluator: Evaluator, criterion: str | None, backbone: Frozen) -> Metric:
    """Give a metric that scores one picture by one head of an evaluator.

    Args:
        evaluator: whose head.
        criterion: which head.
        backbone: the network that it was trained on.

    Raises:
        UnknownName: it has no such head.
        BadInput: another network.
    """
    from ..features import FEATURES

    if criterion not in evaluator.heads:
        raise UnknownName.among(str(criterion), [str(name) for name in evaluator.criteria], "criterion")
    evaluator.must_read_network(backbone)
    own = evaluator.read
    head = evaluator.heads[criterion]
    name = evaluator.name if criterion is None or len(evaluator.heads) == 1 else f"{evaluator.name}-{criterion}"
    return Metric(
        name=name,
        compute=_Scored(evaluator, criterion, backbone),
        inputs=FEATURES[own.features].inputs,
        better="higher" if evaluator.better == "higher" else "lower" if evaluator.better == "lower" else "neither",
        low=-math.inf,
        high=math.inf,
        unit="scores of people" + (" (simulated)" if evaluator.simulated else ""),
        summary=f"{criterion or 'score'} as {head.learner} on {own.label} learned it",
        definition=f"{own.definition}; {own.label} {own.sha256[:12] or own.source}; evaluator {evaluator.sha256[:12]}",
        source="a learned evaluator; its folder holds what it learned from and how it was validated",
        smallest=backbone.smallest,
        extra="torch",
    )


class _Scored:
    """Pictures in the order of the features' inputs -> score."""

    def __init__(self, evaluator: Evaluator, criterion: str | None, backbone: Frozen) -> None:
        self.evaluator, self.criterion, self.backbone = evaluator, criterion, backbone

    def __call__(self, *pictures: Picture) -> float:
        from ..features import FEATURES, vector

        own = self.evaluator.read
        inputs = FEATURES[own.features].inputs
        given = dict(zip(inputs, pictures, strict=True))
        row = vector(self.backbone, given, features=own.features, framing=own.framing, side=own.side)
        head = self.evaluator.heads[self.criterion]
        return float(head.fitted.predict(np.asarray(row, dtype=np.float32)[None, head.columns]).score[0])

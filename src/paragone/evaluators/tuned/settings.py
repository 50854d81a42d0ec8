"""`TunedSettings`: how a network is tuned; the defaults are the published protocol of AGIQA-1K's deep baselines."""

from __future__ import annotations

from typing import Literal

from ...errors import BadConfig, UnknownName
from ...images import RESIZERS
from ...settings import Settings

__all__ = ["TunedSettings"]


class TunedSettings(Settings, frozen=True):
    """Pictures, optimiser, epochs and which of them is kept.

    Source:
        Adam 1e-5, batches of 40 and 100 epochs: AGIQA-1K's protocol. Shorter side 384, crops of 320, the mean of five
        test crops: StairIQA's. StairIQA's own schedule is `weight_decay = 1e-7`, `decay_every = 10`, `decay_by = 0.9`.
    """

    epochs: int = 100
    """Passes over the training pictures, >= 1."""
    batch: int = 40
    """Pictures for each step of the optimiser at most, >= 2, over all processes together; the batches of an epoch are filled
    as evenly as can be, so that none is left with a single picture."""
    accumulate: int = 1
    """Parts in which a batch goes through the network, >= 1: more need less memory. The gradient is that of the whole
    batch; batch normalisation sees the parts."""
    learning_rate: float = 1e-5
    """Of Adam, > 0."""
    weight_decay: float = 0.0
    """L2 penalty that Adam adds to the gradient, >= 0."""
    decay_every: int = 0
    """Epochs after which the learning rate falls, >= 0; 0: it stays."""
    decay_by: float = 0.9
    """What the learning rate is then multiplied by, in (0, 1]."""
    trained: Literal["all", "head"] = "all"
    """head: the backbone stays as it was loaded, its batch statistics too."""
    resize: int = 384
    """Shorter side of the pictures in pixels; proportions are kept. >= `crop`."""
    crop: int = 320
    """Side of the square crops in pixels, >= 8; a random one a picture and epoch in training."""
    resizer: str = "pil-bilinear"
    """A name of `images.RESIZERS`; values are rounded to 8 bits afterwards."""
    test_crops: Literal["five", "centre"] = "five"
    """Crops whose mean score a picture gets: four corners and the centre, or the centre."""
    epoch_choice: Literal["last", "validation"] = "last"
    """last: the network after the last epoch. validation: the one with the least error on groups that are taken out of the
    training pictures. No other pictures are ever looked at."""
    validation_share: float = 0.2
    """Share of the training groups that is taken out, in (0, 1); read where `epoch_choice` is validation."""
    precision: Literal["no", "bf16", "fp16"] = "no"
    """Mixed precision of the training; no: float32. fp16 needs a GPU. Predictions are made in float32."""

    def __post_init__(self) -> None:
        _held("epochs", self.epochs, self.epochs >= 1, "must be 1 or more")
        _held("batch", self.batch, self.batch >= 2, "must be 2 or more")
        _held("accumulate", self.accumulate, self.accumulate >= 1, "must be 1 or more")
        _held("learning_rate", self.learning_rate, self.learning_rate > 0, "must be above 0")
        _held("weight_decay", self.weight_decay, self.weight_decay >= 0, "must be 0 or more")
        _held("decay_every", self.decay_every, self.decay_every >= 0, "must be 0 or more")
        _held("decay_by", self.decay_by, 0 < self.decay_by <= 1, "must be above 0 and at most 1")
        _held("crop", self.crop, self.crop >= 8, "must be 8 pixels or more")
        _held("resize", self.resize, self.resize >= self.crop, f"must be at least the crop's {self.crop} pixels")
        _held("validation_share", self.validation_share, 0 < self.validation_share < 1, "must be between 0 and 1")
        if self.resizer not in RESIZERS:
            raise UnknownName.among(self.resizer, RESIZERS, "resizer")


def _held(name: str, value: float, right: bool, said: str) -> None:
    if not right:
        raise BadConfig(f"tuning: {name} = {value} {said}", where=name)

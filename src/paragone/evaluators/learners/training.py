"""Train one small network: two layers, ReLU, dropout, Smooth L1, AdamW; written out, since most time would go elsewhere.

The gradients of so small a network are two matrix products. numpy does them here, one network at a time, whose weights and
moments then stay in a core's cache; what a general framework spends on recording the graph would be as much again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import MissingExtra, NotConverged, TooFew
from .checking import check_option

__all__ = [
    "HeadSettings",
    "Layers",
    "Trained",
    "adamw_steps",
    "gradients",
    "output",
    "smooth_l1",
    "split_flat",
    "train",
]

Floats = NDArray[np.float32]

_LEVELS = 1 << 16  # a mask takes 16 random bits a unit: dropout is met to 1 / 65536, and scaled by what it is
_VALIDATION = 0.15  # our choice: share of the training rows, in whole groups, that early stopping watches


@dataclass(frozen=True, kw_only=True)
class HeadSettings:
    """How a head is built and trained; the defaults are the paper's, where it gives them."""

    hidden: int = 256
    """Units of the hidden layer."""
    dropout: float = 0.2
    """Share of hidden units that are left out at a step, in [0, 1)."""
    epochs: int = 40
    """Passes over the training rows; with `patience`, the most."""
    batch: int = 32
    """Rows of a step; the last step of an epoch takes what is left."""
    rate: float = 2e-4
    """Learning rate of AdamW."""
    weight_decay: float = 0.01
    """Decoupled decay of AdamW; the paper gives none, this is the usual default."""
    seeds: int = 5
    """Members of the ensemble."""
    components: int | None = None
    """Principal components of the training rows that are the inputs; None: all columns."""
    patience: int | None = None
    """Epochs without a better validation loss after which training stops; None: never, as in the paper."""

    def __post_init__(self) -> None:
        for option, least in (
            ("hidden", 1),
            ("epochs", 1),
            ("batch", 1),
            ("seeds", 1),
            ("components", 1),
            ("patience", 1),
        ):
            value = getattr(self, option)
            if value is not None:
                check_option("astra-score", option, value, least=least, whole=True)
        check_option("astra-score", "dropout", self.dropout, least=0, most=1, below=True)
        check_option("astra-score", "rate", self.rate, least=0, above=True)
        check_option("astra-score", "weight_decay", self.weight_decay, least=0)


class Layers(NamedTuple):
    """Weights of a head, or their gradients."""

    first: Floats
    """(d, hidden)."""
    first_bias: Floats
    """(hidden,)."""
    second: Floats
    """(hidden,)."""
    second_bias: Floats
    """(1,)."""


class Trained(NamedTuple):
    """One trained head."""

    layers: Layers
    loss: float
    """Mean Smooth L1 over all training rows, without dropout, targets standardised."""
    epochs: int
    """Epochs that made these weights."""


def split_flat(flat: Floats, d: int, hidden: int) -> Layers:
    """See d * hidden + 2 * hidden + 1 numbers as the layers of a head; nothing is copied."""
    first, first_bias, second, second_bias = np.split(flat, np.cumsum([d * hidden, hidden, hidden]))
    return Layers(first.reshape(d, hidden), first_bias, second, second_bias)


def output(x: Floats, layers: Layers) -> Floats:
    """What a head says of scaled inputs, (m, d): (m,), in standardised units."""
    z = x @ layers.first
    z += layers.first_bias
    np.maximum(z, 0, out=z)
    return np.asarray(z @ layers.second + layers.second_bias)


def smooth_l1(residual: Floats) -> float:
    """Mean of r^2 / 2 where |r| < 1 and |r| - 1/2 elsewhere (Smooth L1 with beta 1)."""
    size = np.abs(residual).astype(np.float64)
    return float(np.where(size < 1, size**2 / 2, size - 0.5).mean())


def gradients(
    x: Floats, y: Floats, layers: Layers, into: Layers, *, kept: NDArray[np.bool_] | None, scale: float
) -> None:
    """Write the gradients of the mean Smooth L1 of some rows.

    With z = x W + b, a = relu(z) * kept * scale and out = a . v + c, the derivative of the loss by `out` is
    r = clip(out - y, -1, 1) / m; the rest is the chain rule.

    Args:
        x: (m, d) scaled inputs.
        y: (m,) standardised targets.
        layers: W, b, v, c.
        into: where their gradients go.
        kept: (m, hidden) units that dropout left in, or None for all.
        scale: 1 / share of units that are left in.
    """
    z = x @ layers.first
    z += layers.first_bias
    gate = z > 0
    if kept is not None:
        gate &= kept
    passed = np.multiply(gate, np.float32(scale))
    z *= passed
    r = z @ layers.second
    r += layers.second_bias
    r -= y
    np.clip(r, -1, 1, out=r)
    r *= np.float32(1 / len(y))
    np.matmul(r, z, out=into.second)
    into.second_bias[0] = r.sum()
    passed *= layers.second
    passed *= r[:, None]
    passed.sum(axis=0, out=into.first_bias)
    np.matmul(x.T, passed, out=into.first)


def adamw_steps(weights: Floats, slopes: Floats, *, rate: float, weight_decay: float) -> Callable[[], None]:
    """Give the function that takes one AdamW step: it reads `slopes` and writes `weights`, both (n,).

    Betas are 0.9 and 0.999, epsilon 1e-8. It runs torch's kernel, which does the step in one pass over memory.

    Raises:
        MissingExtra: torch is not installed.

    Source:
        Loshchilov and Hutter, "Decoupled weight decay regularization", ICLR 2019, algorithm 2.
    """
    try:
        import torch
        from torch.optim.adamw import adamw
    except ModuleNotFoundError as error:
        raise MissingExtra.library("training 'astra-score'", "torch", "torch") from error
    moved, slope = torch.from_numpy(weights), torch.from_numpy(slopes)
    first, second, steps = torch.zeros_like(moved), torch.zeros_like(moved), torch.zeros(())

    def step() -> None:
        adamw(
            [moved], [slope], [first], [second], [], [steps],
            foreach=False, fused=True, amsgrad=False, maximize=False,
            lr=rate, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=weight_decay,
        )  # fmt: skip

    return step


@np.errstate(over="ignore", invalid="ignore")  # weights that run away are an error below
def train(
    x: Floats, y: Floats, groups: NDArray[np.int64], settings: HeadSettings, rng: np.random.Generator, *, name: str
) -> Trained:
    """Train one head.

    Args:
        x: (n, d) scaled inputs of the training items.
        y: (n,) their standardised targets.
        groups: (n,) rows of one group stay together when early stopping sets some aside.
        settings: `seeds` and `components` do not matter here.
        rng: gives the initial weights, the order of rows and the units that dropout leaves out, in this order.
        name: what is trained, for messages.

    Raises:
        NotConverged: the weights ran away to infinity.
        TooFew: early stopping, and the rows are all of one group.
        MissingExtra: torch is not installed.
    """
    d, hidden = x.shape[1], settings.hidden
    flat = _initial(d, hidden, rng)
    slopes = np.empty_like(flat)
    layers, into = split_flat(flat, d, hidden), split_flat(slopes, d, hidden)
    step = adamw_steps(flat, slopes, rate=settings.rate, weight_decay=settings.weight_decay)
    aside = np.zeros(len(y), dtype=np.bool_)
    if settings.patience is not None:
        aside = _set_aside(groups, rng, name=name)
    rows, watched = np.flatnonzero(~aside), np.flatnonzero(aside)
    best, best_epoch, best_loss = flat, settings.epochs, np.inf
    for epoch in range(1, settings.epochs + 1):
        _one_epoch(x, y, rng.permutation(rows), layers, into, settings, rng, step)
        if settings.patience is None:
            continue
        loss = smooth_l1(output(x[watched], layers) - y[watched])
        if loss < best_loss:
            best, best_epoch, best_loss = flat.copy(), epoch, loss
        elif epoch - best_epoch >= settings.patience:
            break
    chosen = split_flat(best, d, hidden)
    loss = smooth_l1(output(x[rows], chosen) - y[rows])
    if not np.isfinite(loss):
        raise NotConverged(
            f"task '{name}': the loss of 'astra-score' is {loss} after {best_epoch} epochs; give a smaller rate than "
            f"{settings.rate:g}",
            where=name,
        )
    return Trained(chosen, loss, best_epoch)


def _one_epoch(
    x: Floats,
    y: Floats,
    order: NDArray[np.int64],
    layers: Layers,
    into: Layers,
    settings: HeadSettings,
    rng: np.random.Generator,
    step: Callable[[], None],
) -> None:
    left_out = min(round(settings.dropout * _LEVELS), _LEVELS - 1)
    kept = _masks(len(order), settings.hidden, left_out, rng) if left_out else None
    scale = _LEVELS / (_LEVELS - left_out)
    for start in range(0, len(order), settings.batch):
        rows = order[start : start + settings.batch]
        mask = None if kept is None else kept[start : start + settings.batch]
        gradients(x[rows], y[rows], layers, into, kept=mask, scale=scale)
        step()


def _initial(d: int, hidden: int, rng: np.random.Generator) -> Floats:
    """Weights and biases uniform within 1 / sqrt(inputs of their layer) of zero, as `torch.nn.Linear` starts."""
    flat = rng.random(d * hidden + 2 * hidden + 1, dtype=np.float32)
    flat *= 2
    flat -= 1
    flat[: (d + 1) * hidden] *= np.float32(d**-0.5)
    flat[(d + 1) * hidden :] *= np.float32(hidden**-0.5)
    return flat


def _masks(n: int, hidden: int, left_out: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """(n, hidden) True where a unit is left in."""
    bits = rng.integers(0, 1 << 64, size=-(-n * hidden // 4), dtype=np.uint64).view(np.uint16)
    return np.asarray(bits[: n * hidden].reshape(n, hidden) >= left_out)


def _set_aside(groups: NDArray[np.int64], rng: np.random.Generator, *, name: str) -> NDArray[np.bool_]:
    """(n,) True for whole groups, drawn until they hold `_VALIDATION` of the rows, and never more than half of them."""
    levels, sizes = np.unique(groups, return_counts=True)
    if len(levels) < 2:
        raise TooFew(
            f"task '{name}': early stopping sets whole groups aside, and all rows are of one group", where=name
        )
    chosen: list[int] = []
    for at in rng.permutation(len(levels)):
        if sizes[chosen].sum() < _VALIDATION * len(groups) and sizes[[*chosen, at]].sum() * 2 <= len(groups):
            chosen.append(int(at))
    return np.asarray(np.isin(groups, levels[chosen or [int(sizes.argmin())]]))

"""The training loop: Adam over accelerate, on one process or many, the same numbers after a stop and a start."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from ...errors import BadConfig, MissingExtra, NotConverged
from ...parallel import track
from .checkpoint import Progress, read_progress, write_progress
from .pictures import Prepared, cut, random_place, test_places
from .settings import TunedSettings

__all__ = ["Objective", "Part", "on_device", "planned", "score_crops", "score_prepared", "train"]


class Part(NamedTuple):
    """Pictures of one step that go through the network together, on one process."""

    rows: NDArray[np.int64]
    """Positions among the training pictures; the last may be there only to fill up."""
    real: NDArray[np.bool_]
    """False where a row only fills up."""
    batch: NDArray[np.int64]
    """Positions of the whole batch, over all parts and processes."""
    last: bool
    """Whether the optimiser steps after it."""
    share: float
    """1 / number of parts of the step on this process."""


def planned(
    n: int, settings: TunedSettings, *, seed: int, epoch: int, process: int = 0, processes: int = 1
) -> list[Part]:
    """Deal n pictures to the steps of one epoch, in an order drawn anew from seed and epoch.

    Args:
        n: training pictures.
        settings: batch and accumulate.
        seed: of the training.
        epoch: from 0.
        process: which of them is asking, from 0.
        processes: that train together; each gets as many rows of a batch as the others, filled up where needed.
    """
    order = np.random.default_rng([seed, 0, epoch]).permutation(n)
    parts = []
    for batch in np.array_split(order, -(-n // settings.batch)):
        own = -(-len(batch) // processes)
        rows = np.resize(batch, own * processes)[process::processes]
        real = np.arange(own * processes)[process::processes] < len(batch)
        number = min(settings.accumulate, own)
        cuts = zip(np.array_split(rows, number), np.array_split(real, number), strict=True)
        parts += [Part(r, m, batch, i == number - 1, 1.0 / number) for i, (r, m) in enumerate(cuts)]
    return parts


class Objective(nn.Module):
    """A network and its loss: squared errors, several criteria by their uncertainty where the network asks for that.

    Source:
        Kendall, Gal and Cipolla, "Multi-task learning using uncertainty to weigh losses for scene geometry and
        semantics", CVPR 2018, equation 7, with s = log sigma^2 learned.
    """

    def __init__(self, network: nn.Module, n_criteria: int, *, uncertainty: bool) -> None:
        """Wrap a network.

        Args:
            network: gives (n, n_criteria).
            n_criteria: how many.
            uncertainty: learn a weight for each; of no effect for one.
        """
        super().__init__()
        self.network = network
        self.log_variance = nn.Parameter(torch.zeros(n_criteria)) if uncertainty and n_criteria > 1 else None

    def forward(
        self, pictures: torch.Tensor, targets: torch.Tensor, weights: torch.Tensor, share: float
    ) -> torch.Tensor:
        """Loss of some pictures of a batch; the parts of a batch add up to the batch's loss.

        Args:
            pictures: (n, 3, h, w) in 0..255.
            targets: (n, k), standardised; any number where the weight is 0.
            weights: (n, k); over a whole batch they sum to 1 for each criterion that has a score there.
            share: how much of the batch's own terms, which hang on no picture, counts here.
        """
        given = self.network(pictures.float() / 255.0).float()
        errors = ((given - targets) ** 2 * weights).sum(dim=0)
        if self.log_variance is None:
            return torch.as_tensor(errors.mean())
        weighted = 0.5 * torch.exp(-self.log_variance) * errors + 0.5 * self.log_variance * share
        return torch.as_tensor(weighted.sum())


def train(
    objective: Objective,
    pictures: Prepared,
    *,
    rows: NDArray[np.int64],
    targets: NDArray[np.float64],
    held: NDArray[np.int64],
    held_targets: NDArray[np.float64],
    settings: TunedSettings,
    seed: int,
    device: str,
    checkpoint: Path | None,
    run: str,
    quiet: bool,
) -> Progress:
    """Train in place, from the checkpoint on where there is one.

    Args:
        objective: network and loss; holds the chosen weights afterwards, on the CPU, in evaluation.
        pictures: where the rows are.
        rows: (n,) positions among `pictures` of what is trained on.
        targets: (n, k) standardised scores; NaN: none.
        held: positions of the validation pictures; empty: the last epoch is kept.
        held_targets: their standardised scores.
        settings: how.
        seed: of order, crops and dropout.
        device: 'cpu', 'cuda', ...
        checkpoint: file that is written after each epoch; None: nothing is written.
        run: identity of the training, kept in it.
        quiet: show no progress.

    Returns:
        Losses of each epoch and which one was kept, without states.

    Raises:
        BadConfig: no such device here, fp16 on a CPU, or fewer epochs than the checkpoint has.
        BadInput: the checkpoint is of another training.
        NotConverged: the loss is no number any more.
        MissingExtra: accelerate is not installed.
    """
    progress = (read_progress(checkpoint, run=run) if checkpoint is not None else None) or Progress()
    if progress.epochs > settings.epochs:
        raise BadConfig(
            f"{checkpoint}: has {progress.epochs} epochs already, more than the {settings.epochs} asked for; name another "
            "folder",
            where="epochs",
        )
    backbone: nn.Module = objective.network.get_submodule("backbone")
    if settings.trained == "head":
        backbone.requires_grad_(False)
    with _accelerator(device, settings.precision) as accelerator, _own_randomness(accelerator.device):
        learned = [one for one in objective.parameters() if one.requires_grad]
        adam = torch.optim.Adam(learned, lr=settings.learning_rate, weight_decay=settings.weight_decay)
        model, optimiser = accelerator.prepare(objective, adam)
        if progress.epochs:
            objective.load_state_dict(progress.network)
            optimiser.load_state_dict(progress.optimiser)
            if accelerator.scaler is not None:
                accelerator.scaler.load_state_dict(progress.scaler)
        left = range(progress.epochs, settings.epochs)
        for epoch in track(left, "tuning", quiet=quiet or not accelerator.is_main_process):
            torch.manual_seed(_mixed(seed, epoch))
            objective.train()
            backbone.train(settings.trained == "all")
            _set_rate(optimiser, settings, epoch)
            progress.losses.append(
                _one_epoch(accelerator, model, optimiser, pictures, rows, targets, settings, seed, epoch)
            )
            progress.epochs, progress.kept = epoch + 1, progress.kept if len(held) else None
            if len(held):
                _same_everywhere(accelerator, objective)
            _choose(progress, objective, pictures, held, held_targets, settings)
            if checkpoint is not None and accelerator.is_main_process:
                progress.network, progress.optimiser = objective.state_dict(), optimiser.state_dict()
                progress.scaler = accelerator.scaler.state_dict() if accelerator.scaler is not None else {}
                write_progress(progress, checkpoint, run=run)
            accelerator.wait_for_everyone()
        if progress.kept is not None:
            objective.load_state_dict(progress.kept)
        _same_everywhere(accelerator, objective)
    objective.to("cpu").eval()
    return Progress(
        epochs=progress.epochs, losses=progress.losses, validation=progress.validation, chosen=progress.chosen
    )


def _one_epoch(
    accelerator: Any,
    model: Any,
    optimiser: Any,
    pictures: Prepared,
    rows: NDArray[np.int64],
    targets: NDArray[np.float64],
    settings: TunedSettings,
    seed: int,
    epoch: int,
) -> float:
    """Mean loss over the steps of an epoch."""
    known = np.isfinite(targets)
    total, steps, processes = torch.zeros((), device=accelerator.device), 0, accelerator.num_processes
    for part in planned(
        len(rows), settings, seed=seed, epoch=epoch, process=accelerator.process_index, processes=processes
    ):
        count = known[part.batch].sum(axis=0)
        weights = known[part.rows] * part.real[:, None] / np.maximum(count, 1)
        crops = np.stack([_random_crop(pictures, int(rows[row]), settings, seed, epoch) for row in part.rows])
        given = (
            torch.from_numpy(crops).to(accelerator.device).permute(0, 3, 1, 2),
            torch.from_numpy(np.nan_to_num(targets[part.rows]).astype(np.float32)).to(accelerator.device),
            torch.from_numpy(weights.astype(np.float32)).to(accelerator.device),
            part.share,
        )
        with contextlib.nullcontext() if part.last else accelerator.no_sync(model):
            loss = model(*given) * processes  # gradients of the processes are averaged, and should be summed
            accelerator.backward(loss)
        total += loss.detach()
        if part.last:
            optimiser.step()
            optimiser.zero_grad()
            steps += 1
    mean = float(accelerator.reduce(total, reduction="mean")) / steps
    if not np.isfinite(mean):
        raise NotConverged(f"the loss of epoch {epoch + 1} is {mean}; lower learning_rate", where="learning_rate")
    return mean


def _random_crop(pictures: Prepared, index: int, settings: TunedSettings, seed: int, epoch: int) -> NDArray[np.uint8]:
    place = random_place(pictures.shapes[index], settings.crop, seed=seed, epoch=epoch, index=index)
    return cut(pictures.picture(index), place, settings.crop)


def _choose(
    progress: Progress,
    objective: Objective,
    pictures: Prepared,
    held: NDArray[np.int64],
    targets: NDArray[np.float64],
    settings: TunedSettings,
) -> None:
    """Keep the newest epoch, or where there are validation pictures the first one with the least error on them."""
    if not len(held):
        progress.chosen = progress.epochs
        return
    given = score_prepared(objective.network, pictures, held, settings)
    known = np.isfinite(targets)
    errors = np.where(known, (given - np.where(known, targets, 0.0)) ** 2, 0.0).sum(axis=0)[known.any(axis=0)]
    error = float((errors / known.sum(axis=0)[known.any(axis=0)]).mean())
    progress.validation.append(error)
    if progress.chosen == 0 or error < progress.validation[progress.chosen - 1]:
        progress.chosen = progress.epochs
        progress.kept = {name: one.detach().cpu().clone() for name, one in objective.state_dict().items()}


def score_prepared(
    network: nn.Module, pictures: Prepared, rows: Sequence[int] | NDArray[np.int64], settings: TunedSettings
) -> NDArray[np.float64]:
    """(n, k) standardised scores of prepared pictures, in evaluation; the network is left in evaluation."""
    made = [score_crops(network, pictures.picture(int(row)), settings) for row in rows]
    return np.stack(made) if made else np.empty((0, 0))


def score_crops(network: nn.Module, picture: NDArray[np.uint8], settings: TunedSettings) -> NDArray[np.float64]:
    """(k,) standardised scores of one picture: the mean over its test crops, in float32, where the network is."""
    crops = np.stack([cut(picture, place, settings.crop) for place in test_places(picture.shape, settings)])
    where = next(network.parameters()).device
    with torch.inference_mode():
        given = network.eval()(torch.from_numpy(crops).to(where).permute(0, 3, 1, 2).float() / 255.0)
    return np.asarray(given.double().mean(dim=0).cpu())


@contextlib.contextmanager
def on_device(network: nn.Module, device: str) -> Iterator[None]:
    """Inside, the network is on that device; afterwards on the CPU again.

    Raises:
        BadConfig: no such device here.
    """
    try:
        network.to(device)
    except (RuntimeError, AssertionError) as error:  # torch says so in one of these, by device and build
        raise BadConfig(f"no device '{device}' here", where="device") from error
    try:
        yield
    finally:
        network.to("cpu")


def _set_rate(optimiser: Any, settings: TunedSettings, epoch: int) -> None:
    """The learning rate of an epoch: a function of its number alone, so nothing of it needs to be kept."""
    falls = epoch // settings.decay_every if settings.decay_every else 0
    for group in optimiser.param_groups:
        group["lr"] = settings.learning_rate * settings.decay_by**falls


def _mixed(seed: int, epoch: int) -> int:
    return int(np.random.default_rng([seed, 2, epoch]).integers(2**62))


@contextlib.contextmanager
def _own_randomness(device: torch.device) -> Iterator[None]:
    """Inside, torch's generators may be seeded; afterwards they are as before."""
    gpus = list(range(torch.cuda.device_count())) if device.type == "cuda" else []
    with torch.random.fork_rng(devices=gpus):
        yield


@contextlib.contextmanager
def _accelerator(device: str, precision: str) -> Iterator[Any]:
    """An Accelerator of our own; the process-wide state of accelerate is as before afterwards.

    accelerate keeps one state for a process and refuses a second precision or device, so two trainings after each other
    could not differ. Processes that were launched together stay together.
    """
    try:
        from accelerate import Accelerator
        from accelerate.state import AcceleratorState, GradientState, PartialState
    except ModuleNotFoundError as error:
        raise MissingExtra.library("tuning a network", "accelerate", "torch") from error
    if precision == "fp16" and device == "cpu":
        raise BadConfig("fp16 needs a GPU; take precision = 'bf16' or 'no' on a CPU", where="precision")
    launched = int(os.environ.get("WORLD_SIZE", "1")) > 1
    states: list[Any] = (
        [AcceleratorState, GradientState] if launched else [AcceleratorState, GradientState, PartialState]
    )
    before = [dict(one._shared_state) for one in states]
    for one in states:
        one._shared_state.clear()
    try:
        made = Accelerator(cpu=device == "cpu", mixed_precision=precision)
        if made.device.type != torch.device(device).type:
            raise BadConfig(f"no device '{device}' here, but '{made.device.type}'", where="device")
        yield made
    finally:
        for one, content in zip(states, before, strict=True):
            one._shared_state.clear()
            one._shared_state.update(content)


def _same_everywhere(accelerator: Any, objective: Objective) -> None:
    """Give every process the weights of the first: their batch statistics differ."""
    if accelerator.num_processes < 2:
        return
    from accelerate.utils import broadcast

    with torch.no_grad():
        for one in objective.state_dict().values():
            one.copy_(broadcast(one.clone()))

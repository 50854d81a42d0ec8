"""`Architecture`: what is known of a network that is tuned whole, and where its weights may come from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...catalog import Catalog
from ...errors import BadConfig, BadInput

if TYPE_CHECKING:
    import torch

__all__ = ["NETWORKS", "Architecture", "Filled", "Pretrained", "filled"]


class Pretrained(NamedTuple):
    """Weights of a backbone, and where they came from."""

    arrays: Mapping[str, NDArray[Any]]
    """Under the names of the backbone's own state dict; more than it holds does no harm."""
    label: str
    """How results must name them, for example 'vgg16 (fallback)'."""
    source: str
    """Where the file was."""
    sha256: str
    """SHA-256 of the file, in hex."""
    normalised: tuple[tuple[float, float, float], tuple[float, float, float]] | None = None
    """Mean and deviation of RGB in [0, 1] that these weights were trained with; None: those of the architecture."""


_Finder: TypeAlias = Callable[["str | Path | None"], Pretrained]


@dataclass(frozen=True, kw_only=True)
class Architecture:
    """A network that scores single pictures; a plug-in of 'paragone.tuned_networks'."""

    name: str
    label: str
    """How results must name it; says so where the paper leaves something open and it was filled in here."""
    summary: str
    source: str
    build: Callable[[int], torch.nn.Module]
    """`build(n_criteria)`: a module with random weights that takes (n, 3, h, w) float32 sRGB in [0, 1] and gives
    (n, n_criteria). Its part `backbone` is what pretrained weights fill and what stays as it is where only the head is
    trained; its part `normalised` holds `mean` and `std`, which such weights may bring along."""
    pretrained: _Finder | None
    """`pretrained(path)` finds weights for `backbone` (None: in the order of `features.find_weights`); None: there are
    no pretrained weights of it."""
    uncertainty: bool
    """Whether several criteria are weighted by their learned uncertainty; else each counts the same."""
    smallest: int
    """Shortest side of a picture that it reads, in pixels."""


NETWORKS = Catalog(
    "paragone.tuned_networks",
    "network",
    {
        "alexnet": "paragone.evaluators.tuned.networks:ALEXNET",
        "efficientnet-lite0": "paragone.evaluators.tuned.networks:EFFICIENTNET_LITE0",
        "mgqa": "paragone.evaluators.tuned.networks:MGQA",
        "mgqa-std": "paragone.evaluators.tuned.networks:MGQA_STD",
        "resnet50": "paragone.evaluators.tuned.networks:RESNET50",
        "resnet50-linear": "paragone.evaluators.tuned.networks:RESNET50_LINEAR",
        "stairiqa": "paragone.evaluators.tuned.stair:STAIRIQA",
        "tiny": "paragone.evaluators.tuned.networks:TINY",
        "vgg16": "paragone.evaluators.tuned.networks:VGG16",
    },
)
"""name -> network; third parties add theirs as entry points of the group 'paragone.tuned_networks'. Beside these,
'timm:NAME' is any convolutional network of timm with a head on its pooled last map."""


class Filled(NamedTuple):
    """A module ready to be trained, and what its weights were before."""

    module: torch.nn.Module
    label: str
    """How results must name backbone and weights."""
    source: str
    sha256: str
    """SHA-256 of the weight file, '' where weights are random."""


def filled(
    architecture: Architecture, n_criteria: int, *, weights: str | Path | None, random: bool, seed: int
) -> Filled:
    """Build a network; its backbone gets pretrained weights, or random ones where that is asked for.

    Torch's own generator is left as it was.

    Args:
        architecture: which.
        n_criteria: scores for each picture, >= 1.
        weights: file with the backbone's weights; None: looked for in the order of `features.find_weights`.
        random: start from random weights instead.
        seed: of random weights; the head's always are.

    Raises:
        BadConfig: both a file and random weights are asked for, or there are no pretrained weights of this network.
        NotFound: no weights; one line names each place that was looked at.
        BadInput: the file holds something else.
        MissingExtra: torch or timm is not installed.
    """
    if random and weights is not None:
        raise BadConfig(f"'{weights}' is given and random weights are asked for; choose one", where="random")
    if not random and architecture.pretrained is None:
        raise BadConfig(
            f"there are no pretrained weights of '{architecture.name}'; ask for random ones", where=architecture.name
        )
    found = None if random or architecture.pretrained is None else architecture.pretrained(weights)
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)  # of the CPU alone: those of GPUs stay as they are
        module = architecture.build(n_criteria)
    if found is None:
        label = f"{architecture.label}, random weights (seed {seed})"
        return Filled(module, label, f"random, seed {seed}", "")
    _fill(module, found, architecture.name)
    own = found.label.startswith(architecture.label)
    return Filled(
        module, f"{found.label}, tuned" if own else f"{architecture.label} on {found.label}", found.source, found.sha256
    )


def _fill(module: torch.nn.Module, found: Pretrained, name: str) -> None:
    import torch

    backbone = module.get_submodule("backbone")
    for key, wanted in backbone.state_dict().items():
        given = found.arrays.get(key)
        if given is None and key.endswith("num_batches_tracked"):  # a count that older files leave out
            continue
        if given is None or given.shape != tuple(wanted.shape):
            held = "is missing" if given is None else f"has shape {given.shape}, not {tuple(wanted.shape)}"
            raise BadInput(f"{found.source}: not the weights of {name}: {key} {held}", where=found.source)
        if not np.isfinite(given).all():
            raise BadInput(f"{found.source}: {key} holds values that are no numbers", where=found.source)
        with torch.no_grad():
            wanted.copy_(torch.from_numpy(np.array(given)))
    if found.normalised is not None:
        for key, values in zip(("mean", "std"), found.normalised, strict=True):
            module.get_buffer(f"normalised.{key}").copy_(torch.tensor(values).view(1, 3, 1, 1))

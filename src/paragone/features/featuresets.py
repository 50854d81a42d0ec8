"""`FEATURES`: which numbers make up the vector of an item, from which pictures, and what each column is called."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from ..errors import UnknownName
from .described import Block
from .triplet import (
    CELLS,
    POSITIONS,
    Part,
    Tap,
    cosine,
    distance,
    gram_cosine,
    gram_norm,
    perceptual_distance,
    similarity_distance,
    summarise,
)

if TYPE_CHECKING:
    import torch

__all__ = ["FEATURES", "FeatureSet", "Taps", "features_named", "from_maps"]

Taps: TypeAlias = Sequence[Tap]
"""What one picture of each of n items leaves behind, one tap a depth, shallow first."""

_Kind: TypeAlias = Literal["vector", "scalar"]
_Plan: TypeAlias = list[tuple[str, int, tuple[str, ...], _Kind]]


@dataclass(frozen=True, kw_only=True)
class FeatureSet:
    """One kind of vector."""

    name: str
    summary: str
    source: str
    """Papers that the numbers come from."""
    inputs: tuple[str, ...]
    """Pictures that it reads, in order: 'image' and reference factors."""
    definition: str
    """Id of the exact definition, without framing and network."""
    parts: Mapping[str, frozenset[Part]]
    """Picture -> what must be kept of its maps."""
    compose: Callable[[Mapping[str, Taps]], torch.Tensor]
    """Picture -> its taps, each of n rows (or 1, which then stands for all); gives (n, d)."""
    plan: Callable[[Sequence[int]], _Plan]
    """Channels at each tap -> name, width, pictures and kind of each block."""

    def blocks(self, channels: Sequence[int]) -> tuple[Block, ...]:
        """Give the blocks of columns for a network with these channels at its taps."""
        made: list[Block] = []
        for name, width, reads, kind in self.plan(channels):
            start = made[-1].stop if made else 0
            made.append(Block(name=name, start=start, stop=start + width, reads=reads, kind=kind))
        return tuple(made)


def from_maps(features: FeatureSet, maps: Mapping[str, Sequence[torch.Tensor]]) -> torch.Tensor:
    """Give the vectors of n items from the feature maps of their pictures, in operations that can be traced.

    Args:
        features: the kind of vector.
        maps: each of its inputs -> maps of n pictures, (n, c, h, w) for each tap, shallow first.

    Returns:
        (n, d) float32.
    """
    seen = {name: [summarise(one, features.parts[name]) for one in maps[name]] for name in features.inputs}
    return features.compose(seen)


def features_named(name: str) -> FeatureSet:
    """Give the kind of vector of that name.

    Raises:
        UnknownName: there is none.
    """
    if name not in FEATURES:
        raise UnknownName.among(name, FEATURES, "kind of features")
    return FEATURES[name]


_C, _S, _R = ("content",), ("style",), ("image",)
_RC, _RS, _CS = (*_R, *_C), (*_R, *_S), (*_C, *_S)


def _named(tap: int, what: str) -> str:
    return f"{what}, tap {tap + 1}"


def _triplet(seen: Mapping[str, Taps]) -> torch.Tensor:
    result, content, style = seen["image"], seen["content"], seen["style"]
    r, c, s = (taps[-1].mean for taps in (result, content, style))
    c, s = c.expand_as(r), s.expand_as(r)
    vectors = [c, s, r, (r - c).abs(), (r - s).abs(), r * c, r * s]
    scalars = [
        number
        for of_r, of_c, of_s in zip(result, content, style, strict=True)
        for number in (
            cosine(of_r.mean, of_c.mean),
            perceptual_distance(of_r, of_c),
            distance(of_r.mean, of_s.mean),
            distance(of_r.deviation, of_s.deviation),
            gram_cosine(of_r, of_s),
            similarity_distance(of_r, of_c),
        )
    ]
    return _joined(vectors, scalars)


def _triplet_plan(channels: Sequence[int]) -> _Plan:
    last = channels[-1]
    plan: _Plan = [
        ("mean of the content", last, _C, "vector"),
        ("mean of the style", last, _S, "vector"),
        ("mean of the result", last, _R, "vector"),
        ("|result - content|", last, _RC, "vector"),
        ("|result - style|", last, _RS, "vector"),
        ("product of result and content", last, _RC, "vector"),
        ("product of result and style", last, _RS, "vector"),
    ]
    for tap in range(len(channels)):
        plan += [
            (_named(tap, "cosine of means of result and content"), 1, _RC, "scalar"),
            (_named(tap, "perceptual distance of result and content"), 1, _RC, "scalar"),
            (_named(tap, "distance of channel means of result and style"), 1, _RS, "scalar"),
            (_named(tap, "distance of channel deviations of result and style"), 1, _RS, "scalar"),
            (_named(tap, "Gram cosine of result and style"), 1, _RS, "scalar"),
            (_named(tap, "self-similarity distance of result and content"), 1, _RC, "scalar"),
        ]
    return plan


def _references(seen: Mapping[str, Taps]) -> torch.Tensor:
    content, style = seen["content"], seen["style"]
    c, s = content[-1].mean, style[-1].mean
    scalars = [
        number
        for of_c, of_s in zip(content, style, strict=True)
        for number in (
            cosine(of_c.mean, of_s.mean),
            perceptual_distance(of_c, of_s),
            distance(of_c.mean, of_s.mean),
            distance(of_c.deviation, of_s.deviation),
            gram_cosine(of_c, of_s),
            similarity_distance(of_c, of_s),
        )
    ]
    return _joined([c, s, (c - s).abs(), c * s], scalars)


def _references_plan(channels: Sequence[int]) -> _Plan:
    last = channels[-1]
    plan: _Plan = [
        ("mean of the content", last, _C, "vector"),
        ("mean of the style", last, _S, "vector"),
        ("|content - style|", last, _CS, "vector"),
        ("product of content and style", last, _CS, "vector"),
    ]
    for tap in range(len(channels)):
        plan += [
            (_named(tap, f"{what} of content and style"), 1, _CS, "scalar")
            for what in (
                "cosine of means",
                "perceptual distance",
                "distance of channel means",
                "distance of channel deviations",
                "Gram cosine",
                "self-similarity distance",
            )
        ]
    return plan


def _image(seen: Mapping[str, Taps]) -> torch.Tensor:
    taps = seen["image"]
    scalars: list[torch.Tensor] = []
    for tap in taps:
        assert tap.similarity is not None
        energy = (tap.mean.square() + tap.deviation.square()).sum(dim=1)
        moving = tap.deviation.square().sum(dim=1)
        alike = tap.similarity.mean(dim=(1, 2))
        scalars += [
            (energy / tap.mean.shape[1]).sqrt(),
            moving / energy.clamp_min(1e-30),
            energy / gram_norm(tap).clamp_min(1e-30),
            alike,
            (tap.similarity - alike[:, None, None]).square().mean(dim=(1, 2)).sqrt(),
        ]
    return _joined([one for tap in taps for one in (tap.mean, tap.deviation)], scalars)


def _image_plan(channels: Sequence[int]) -> _Plan:
    plan: _Plan = []
    for tap, width in enumerate(channels):
        plan += [
            (_named(tap, "mean of channels"), width, _R, "vector"),
            (_named(tap, "deviation of channels"), width, _R, "vector"),
        ]
    for tap in range(len(channels)):
        plan += [
            (_named(tap, "root mean square of activations"), 1, _R, "scalar"),
            (_named(tap, "share of the energy that varies with position"), 1, _R, "scalar"),
            (_named(tap, "trace of the Gram matrix over its norm"), 1, _R, "scalar"),
            (_named(tap, "mean self-similarity"), 1, _R, "scalar"),
            (_named(tap, "deviation of self-similarity"), 1, _R, "scalar"),
        ]
    return plan


def _joined(vectors: Sequence[torch.Tensor], scalars: Sequence[torch.Tensor]) -> torch.Tensor:
    import torch

    return torch.cat([*vectors, *(one[:, None] for one in scalars)], dim=1)


_BOTH: frozenset[Part] = frozenset({"directions", "similarity", "gram"})
_OF_CONTENT: frozenset[Part] = frozenset({"directions", "similarity"})
_OF_STYLE: frozenset[Part] = frozenset({"gram"})
_KEPT = f"directions at most {POSITIONS}x{POSITIONS}, self-similarity at most {CELLS}x{CELLS}"
_PAPERS = (
    "Zhang et al., CVPR 2018 (perceptual distance); Huang and Belongie, ICCV 2017 (channel means and deviations); Gatys, "
    "Ecker and Bethge, CVPR 2016 (Gram matrices); Kolkin et al., CVPR 2019 (self-similarity)"
)

FEATURES: Mapping[str, FeatureSet] = {
    "triplet-v1": FeatureSet(
        name="triplet-v1",
        summary="result, content and style: last-tap means with differences and products, six comparisons at each tap",
        source=f"our own choice of numbers, after {_PAPERS}",
        inputs=("image", "content", "style"),
        definition=f"triplet-v1 ({_KEPT})",
        parts={"image": _BOTH, "content": _OF_CONTENT, "style": _OF_STYLE},
        compose=_triplet,
        plan=_triplet_plan,
    ),
    "image-v1": FeatureSet(
        name="image-v1",
        summary="the picture alone: mean and deviation of every channel at every tap, five numbers at each tap",
        source=f"our own choice of numbers, after {_PAPERS}",
        inputs=("image",),
        definition=f"image-v1 (self-similarity at most {CELLS}x{CELLS})",
        parts={"image": frozenset({"similarity", "gram"})},
        compose=_image,
        plan=_image_plan,
    ),
    "references-v1": FeatureSet(
        name="references-v1",
        summary="content and style without the result, how well a pair can go together: means and six comparisons a tap",
        source=f"our own choice of numbers, after {_PAPERS}",
        inputs=("content", "style"),
        definition=f"references-v1 ({_KEPT})",
        parts={"content": _BOTH, "style": _BOTH},
        compose=_references,
        plan=_references_plan,
    ),
}
"""name -> kind of vector. Numbers that are called alike are the same in all of them.

Of one picture at one tap, with mean m and deviation d of each of c channels: the root mean square is sqrt(sum(m^2 +
d^2) / c); the share that varies is sum d^2 / sum(m^2 + d^2), in [0, 1]; trace over norm of the Gram matrix lies between
1 (all positions point one way) and sqrt(c) (channels are independent and equally strong); mean and deviation of
self-similarity are over all pairs of positions, a position with itself among them. A map without any activation has 0
for each of the five."""

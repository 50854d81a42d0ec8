"""Gatys: the picture itself is optimised until a frozen VGG16 sees the content's shapes and the style's textures."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...errors import BadConfig, MissingExtra, NotConverged
from ...features.layers import gram_matrix
from ...features.nets import VGG16, Backbone, as_batch, torch_threads
from ...images import Picture, resize
from .styliser import Styliser

if TYPE_CHECKING:
    import torch

__all__ = ["GATYS", "Optimised", "estimated_seconds", "gatys", "measured_pace", "optimised"]

_STYLE_LAYERS = (1, 6, 11, 18, 25)  # ReLU 1_1, 2_1, 3_1, 4_1, 5_1: the paper's choice
_CONTENT_LAYER = 20  # ReLU 4_2: the paper's choice
_PACE = 15.5  # CPU-seconds for one evaluation of a megapixel; measured on one thread of a shared server core
_EVALUATIONS = 1.04  # per iteration: the line search mostly takes its first step
_HISTORY = 20  # steps that L-BFGS remembers; each holds two pictures
_SMALLEST = 32  # pixels, of the working size: below, the deepest map has one or two positions


class Optimised(NamedTuple):
    """What an optimisation came to."""

    image: Picture
    """At the working size."""
    losses: tuple[float, ...]
    """Loss at each evaluation; the first is that of the content picture."""


def gatys(
    content: Picture,
    style: Picture,
    *,
    seed: int = 0,
    iterations: int = 120,
    size: int = 256,
    style_weight: float = 100.0,
    weights: str = "",
) -> Picture:
    """Return the content picture after an optimisation towards the style's textures.

    It starts from the content, so nothing is random. The work is done with the longer side at `size` pixels on one
    thread; what it changed is enlarged and laid over the content at its own size.

    Args:
        content: the content picture.
        style: the style picture.
        seed: not used.
        iterations: most steps of L-BFGS, >= 1.
        size: longer side at which the work is done, in pixels, >= 32; a smaller content is worked at its own size.
        style_weight: weight of the style's loss where the content's has 1, > 0.
        weights: weight file of VGG16; '': looked for in the order of `find_weights`.

    Raises:
        BadConfig: an option is out of its range.
        MissingExtra: torch is not installed.
        NotFound: no weights of VGG16; one line names each place that was looked at.
        NotConverged: the loss ceased to be a number.

    Source:
        Gatys, Ecker and Bethge, "Image style transfer using convolutional neural networks", CVPR 2016, equations 1 to 7.
    """
    del seed  # nothing here is random
    shown = _fitted(content, size)
    made = optimised(
        shown, _fitted(style, size), iterations=iterations, style_weight=style_weight, backbone=_backbone(weights)
    ).image
    if made.shape == content.shape:
        return made
    change = (made - shown + 1.0) / 2.0  # into [0, 1], as pictures are resized
    enlarged = resize(change.astype(np.float32), *content.shape[:2], resizer="pil-bicubic") * 2.0 - 1.0
    return np.clip(content + enlarged, 0.0, 1.0).astype(np.float32)


def optimised(
    content: Picture, style: Picture, *, iterations: int, style_weight: float, backbone: Backbone
) -> Optimised:
    """Optimise the content picture at its own size.

    The loss is half the mean squared change of the maps at ReLU 4_2, plus `style_weight` times the mean over five layers
    (ReLU 1_1 to 5_1) of a quarter of the squared distance of the Gram matrices, each divided by channels x positions.
    The paper sums where the content's term is a mean here, so that one weight serves every size of picture.

    Args:
        content: the content picture, both sides at least 16 pixels.
        style: the style picture, of any size.
        iterations: most steps of L-BFGS, >= 1.
        style_weight: > 0.
        backbone: VGG16.

    Raises:
        BadConfig: an option is out of its range.
        NotConverged: the loss ceased to be a number.
    """
    if iterations < 1 or not style_weight > 0:
        raise BadConfig(
            f"styliser 'gatys': iterations = {iterations}, style_weight = {style_weight:g}; both must be above 0",
            where="iterations",
        )
    library = _torch()
    start = as_batch([content])
    losses: list[float] = []
    with torch_threads(1), library.enable_grad():
        loss_of = _loss(start, as_batch([style]), style_weight, backbone)
        image = start.clone().requires_grad_()
        search = library.optim.LBFGS(
            [image],
            max_iter=iterations,
            history_size=_HISTORY,
            line_search_fn="strong_wolfe",
            tolerance_grad=0.0,
            tolerance_change=0.0,
        )

        def evaluated() -> Any:
            search.zero_grad()
            loss: Any = loss_of(image)
            loss.backward()
            losses.append(float(loss.detach()))
            return loss

        search.step(evaluated)
    if not np.isfinite(losses).all():
        raise NotConverged("styliser 'gatys': the loss ceased to be a number; lower style_weight", where="gatys")
    made = image.detach().clamp(0.0, 1.0)[0].permute(1, 2, 0).numpy()
    return Optimised(np.ascontiguousarray(made), tuple(losses))


def _loss(content: torch.Tensor, style: torch.Tensor, style_weight: float, backbone: Backbone) -> Any:
    """The loss of a picture as a function of it."""
    library = _torch()
    layers = tuple(sorted((*_STYLE_LAYERS, _CONTENT_LAYER)))

    def maps(batch: torch.Tensor) -> dict[int, torch.Tensor]:
        return dict(zip(layers, backbone(batch, at=layers), strict=True))

    with library.no_grad():
        shapes = maps(content)[_CONTENT_LAYER]
        textures = {layer: gram_matrix(seen) for layer, seen in maps(style).items() if layer in _STYLE_LAYERS}

    def loss(batch: torch.Tensor) -> torch.Tensor:
        seen = maps(batch)
        apart = [((gram_matrix(seen[layer]) - textures[layer]) ** 2).sum() / 4.0 for layer in _STYLE_LAYERS]
        total: torch.Tensor = ((seen[_CONTENT_LAYER] - shapes) ** 2).mean() / 2.0
        return total + style_weight * sum(apart) / len(apart)

    return loss


def estimated_seconds(width: int, height: int, *, iterations: int = 120, size: int = 256, pace: float = _PACE) -> float:
    """Give the CPU-seconds that one picture takes, for telling them before it starts.

    Args:
        width: of the content, in pixels.
        height: of the content, in pixels.
        iterations: as in `gatys`.
        size: as in `gatys`.
        pace: CPU-seconds for one evaluation of a megapixel; the default was measured on one machine, `measured_pace`
            measures this one.
    """
    factor = min(1.0, size / max(width, height))
    megapixels = width * height * factor**2 / 1e6
    return pace * megapixels * iterations * _EVALUATIONS


def measured_pace(*, weights: str = "", side: int = 96, evaluations: int = 3) -> float:
    """Measure the CPU-seconds that one evaluation of a megapixel takes here; takes about a second.

    Args:
        weights: as in `gatys`.
        side: of the square that is tried, in pixels.
        evaluations: how many are timed; the first, which also prepares, is not.

    Raises:
        MissingExtra, NotFound: as `gatys`.
    """
    backbone = _backbone(weights)
    picture = np.random.default_rng(0).random((side, side, 3), dtype=np.float32)
    library = _torch()
    with torch_threads(1), library.enable_grad():
        batch = as_batch([picture])
        loss_of = _loss(batch, batch, 1.0, backbone)
        image = batch.clone().requires_grad_()
        loss_of(image).backward()
        start = time.process_time()
        for _ in range(evaluations):
            loss_of(image).backward()
    return (time.process_time() - start) / evaluations / (side * side / 1e6)


def _ready(*, weights: str = "", **others: object) -> None:
    del others
    _backbone(weights)


def _forecast(height: int, width: int, *, iterations: int = 120, size: int = 256, **others: object) -> float:
    del others
    return estimated_seconds(width, height, iterations=iterations, size=size)


def _backbone(weights: str) -> Backbone:
    return VGG16.load(path=weights or None)


def _fitted(image: Picture, size: int) -> Picture:
    if size < _SMALLEST:
        raise BadConfig(f"styliser 'gatys': size = {size} pixels; at least {_SMALLEST} are needed", where="size")
    factor = size / max(image.shape[:2])
    if factor >= 1.0:
        return image
    height, width = (max(16, round(side * factor)) for side in image.shape[:2])
    return resize(image, height, width, resizer="pil-bicubic")


def _torch() -> Any:
    try:
        import torch
    except ModuleNotFoundError as error:
        raise MissingExtra.library("styliser 'gatys'", "torch", "torch") from error
    return torch


GATYS = Styliser(
    name="gatys",
    run=gatys,
    summary="the photograph repainted with the style's textures and colours; minutes a picture",
    source='Gatys et al., "Image style transfer using convolutional neural networks", CVPR 2016, equations 1-7, on VGG16',
    strategy="colour and texture: Gram matrices of five layers of a frozen network, by optimisation",
    extra="torch",
    exact=False,
    slow=True,
    ready=_ready,
    forecast=_forecast,
    files=("weights",),
)

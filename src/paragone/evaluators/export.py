"""An evaluator as one ONNX file: pictures in, scores out, backbone and heads together."""

from __future__ import annotations

import importlib.util
import logging
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInput, MissingExtra
from ..tables import whole_file
from .evaluator import Evaluator
from .learners.heads import Heads
from .learners.ridge import Ridge
from .learners.svr import SupportVectors
from .task import Fitted

if TYPE_CHECKING:
    import torch

    from ..features import Frozen

__all__ = ["export_onnx"]

_OPSET = 18


def export_onnx(evaluator: Evaluator, backbone: Frozen, path: str | Path) -> Path:
    """Write backbone and heads as one graph.

    Inputs are the pictures that the features read ('image', 'content', ...), each (n, 3, side, side) float32 in [0, 1],
    framed as evaluator.toml says; outputs are called score_CRITERION (score for an unnamed one), (n,) each, in people's
    unit. Intervals and the warning about what is out of range are not in the graph.

    Args:
        evaluator: its heads.
        backbone: the network that it was trained on, on the CPU in float32.
        path: where to; ends in .onnx.

    Raises:
        BadInput: another network, or a head of a learner that has no form as a graph.
        MissingExtra: torch, onnx or onnxscript is not installed.
    """
    for library in ("onnx", "onnxscript"):
        if importlib.util.find_spec(library) is None:
            raise MissingExtra.library("exporting to ONNX", library, "onnx")
    import torch

    from ..features import FEATURES

    evaluator.must_read_network(backbone)
    inputs = FEATURES[evaluator.read.features].inputs
    graph = _graph(evaluator, backbone)
    side = evaluator.read.side
    # three in the batch: an exporter takes a one for a constant, and a two for anything that is two
    pictures = tuple(torch.rand(3, 3, side, side, generator=torch.Generator().manual_seed(0)) for _ in inputs)
    names = ["score" if criterion is None else f"score_{criterion}" for criterion in evaluator.criteria]
    batch = torch.export.Dim("n", min=1)
    with whole_file(Path(path)) as aside, warnings.catch_warnings(), torch.inference_mode():
        warnings.simplefilter("ignore")  # the exporter's own deprecations
        loud = logging.getLogger("torch.onnx")
        level = loud.level
        loud.setLevel(logging.ERROR)
        try:
            torch.onnx.export(
                graph,
                pictures,
                str(aside),
                input_names=list(inputs),
                output_names=names,
                dynamic_shapes=(tuple({0: batch} for _ in inputs),),
                opset_version=_OPSET,
                external_data=False,
                dynamo=True,
                verbose=False,
            )
        finally:
            loud.setLevel(level)
    return Path(path)


def _graph(evaluator: Evaluator, backbone: Frozen) -> torch.nn.Module:
    import torch

    from ..features.featuresets import FEATURES, from_maps

    features = FEATURES[evaluator.read.features]
    heads = [(torch.from_numpy(np.array(head.columns)), _tensors(head.fitted)) for head in evaluator.heads.values()]

    class Graph(torch.nn.Module):
        def forward(self, *pictures: torch.Tensor) -> tuple[torch.Tensor, ...]:
            maps = {name: backbone(one) for name, one in zip(features.inputs, pictures, strict=True)}
            values = from_maps(features, maps)
            return tuple(_said(values[:, columns], head) for columns, head in heads)

    return Graph().eval()


def _tensors(fitted: Fitted) -> tuple[Fitted, dict[str, torch.Tensor]]:
    import torch

    if not isinstance(fitted, (Heads, Ridge, SupportVectors)):
        raise BadInput(
            f"a {type(fitted).__name__} has no form as an ONNX graph; export an evaluator of another learner"
        )
    made = {name: torch.from_numpy(_plain(array)) for name, array in fitted.arrays().items()}
    return fitted, made


def _plain(array: NDArray[Any]) -> NDArray[np.float32]:
    return np.array(array, dtype=np.float32)


def _said(x: torch.Tensor, head: tuple[Fitted, dict[str, torch.Tensor]]) -> torch.Tensor:
    """(n,) what a head says of raw columns, in tensors; `predict` in numpy is the same arithmetic in float64."""
    import torch

    fitted, a = head
    z = (x - a["centre"]) * a["factor"]
    if isinstance(fitted, Ridge):
        return z @ a["coefficients"] + a["intercept"].reshape(())
    if isinstance(fitted, SupportVectors):
        squared = ((z[:, None, :] - a["vectors"][None]) ** 2).sum(dim=2)
        said = torch.exp(-a["gamma"].reshape(()) * squared) @ a["dual"] + a["intercept"].reshape(())
    else:
        if "basis" in a:
            z = z @ a["basis"]
        hidden = torch.relu(torch.einsum("nk,skh->snh", z, a["first"]) + a["first_bias"][:, None])
        said = (torch.einsum("snh,sh->sn", hidden, a["second"]) + a["second_bias"].reshape(-1, 1)).mean(dim=0)
    return a["unit"][0] + a["unit"][1] * said

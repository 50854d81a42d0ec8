"""Networks that timm defines, frozen: one adapter with taps at several depths, whatever the architecture."""

from __future__ import annotations

import copy
import importlib.util
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadImage, BadInput, MissingExtra
from .devices import computing, require_device
from .dialects import Dialect
from .frozen import Precision
from .stored import read_arrays
from .weights import Found, Sought, find_weights

if TYPE_CHECKING:
    import torch

__all__ = ["TimmBackbone", "TimmNetwork"]

_FILTERS = ("checkpoint_filter_fn", "_filter_fn", "pretrained_filter_fn", "_filter_torchvision_pretrained")
_FILTER_FAULTS = (AttributeError, IndexError, KeyError, RuntimeError, TypeError, ValueError)
_IMAGENET_MEAN, _IMAGENET_STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of RGB in [0, 1]


@dataclass(frozen=True, kw_only=True)
class TimmNetwork:
    """What is known of a timm network before its weights are loaded; a plug-in of 'paragone.backbones'."""

    name: str
    label: str
    """How results must name it."""
    summary: str
    source: str
    """Paper, and whose weights."""
    timm_name: str
    """What `timm.create_model` calls the architecture."""
    sought: Sought
    """Where its weights may be."""
    side: int = 224
    """Side of the square pictures that it was trained at, in pixels."""
    mean: tuple[float, float, float] = _IMAGENET_MEAN
    """Taken from RGB in [0, 1], for weights under timm's names."""
    std: tuple[float, float, float] = _IMAGENET_STD
    """What the difference is divided by."""
    dialects: tuple[Dialect, ...] = ()
    """Other names under which its weights are published."""
    extra: str = "torch"
    """Extra of this package that brings what it needs."""
    exact: bool = False
    """Whether every machine gives the same bits; sums of many products do not."""

    def ready(self) -> None:
        """Return at once if the network could be loaded; neither torch nor timm is imported.

        Raises:
            MissingExtra: torch or timm is not installed.
            NotFound: no weights; one line names each place that was looked at.
        """
        self._require_libraries()
        find_weights(self.sought)

    def load(self, *, path: str | Path | None = None, download: bool = False) -> TimmBackbone:
        """Give the network with its pretrained weights, on the CPU.

        Args:
            path: weight file under timm's names, those of a dialect, or others that timm itself converts;
                None: looked for in the order of `find_weights`.
            download: fetch the weights from the Hugging Face hub if no place has them.

        Raises:
            MissingExtra: torch or timm is not installed.
            NotFound: no weights; one line names each place that was looked at.
            BadInput: the file does not hold this network's weights.
        """
        self._require_libraries()
        found = find_weights(self.sought, path=path, download=download)  # before timm is imported, which takes seconds
        arrays = read_arrays(found.path)
        dialect = next((one for one in self.dialects if one.sign in arrays), None)
        model = _created(self.timm_name)
        named = _under_timm_names(model, arrays, dialect, found.path, self.name)
        taps = _pruned(model)
        self._fill(model, named, found.path)
        if dialect is not None and dialect.norm_epsilon is not None:
            _set_epsilon(model, dialect.norm_epsilon)
        return self._frozen(model, taps, label=self.label, found=found, reads=dialect or self)

    def at_random(self, *, seed: int) -> TimmBackbone:
        """Give the network with random weights as timm draws them: the control that says what pretraining adds.

        Args:
            seed: the weights follow from it; torch's own generator is left as it was.

        Raises:
            MissingExtra: torch or timm is not installed.
        """
        self._require_libraries()
        model = _created(self.timm_name, seed=seed)
        found = Found(path=Path("random"), source=f"random, seed {seed}", sha256="")
        label = f"{self.name} (random weights, seed {seed})"
        return self._frozen(model, _pruned(model), label=label, found=found, reads=self)

    def _require_libraries(self) -> None:
        for library in ("torch", "timm"):
            if importlib.util.find_spec(library) is None:
                raise MissingExtra.library(f"backbone '{self.name}'", library, "torch")

    def _fill(self, model: Any, arrays: Mapping[str, torch.Tensor], path: Path) -> None:
        for name, wanted in model.state_dict().items():
            given = arrays.get(name)
            if given is None and name.endswith(".num_batches_tracked"):
                continue  # counts training steps; older files lack it, and nothing here reads it
            if given is None or given.shape != wanted.shape:
                held = "is missing" if given is None else f"has shape {tuple(given.shape)}, not {tuple(wanted.shape)}"
                raise BadInput(f"{path}: not the weights of {self.name}: {name} {held}", where=str(path))
            if not bool(given.isfinite().all()):
                raise BadInput(f"{path}: {name} holds values that are no numbers", where=str(path))
            wanted.copy_(given)

    def _frozen(
        self, model: Any, taps: _Taps, *, label: str, found: Found, reads: Dialect | TimmNetwork
    ) -> TimmBackbone:
        multiple, smallest = _sizes(model, taps, self.side)
        return TimmBackbone(
            name=self.name,
            label=label,
            source=found.source,
            sha256=found.sha256,
            channels=taps.channels,
            side=self.side,
            smallest=smallest,
            multiple=multiple,
            mean=reads.mean,
            std=reads.std,
            model=model.eval().requires_grad_(False),
            taps=taps.numbers,
            tokens=taps.tokens,
        )


@dataclass(frozen=True, kw_only=True)
class TimmBackbone:
    """A timm network with weights, and where those came from; what its fields mean is said in `Frozen`."""

    name: str
    label: str
    source: str
    sha256: str
    channels: tuple[int, ...]
    side: int
    smallest: int
    multiple: int
    mean: tuple[float, float, float]
    std: tuple[float, float, float]
    model: torch.nn.Module
    """timm's own module, without its classifier."""
    taps: tuple[int, ...]
    """Numbers that timm's `forward_intermediates` gives the tapped stages or blocks."""
    tokens: bool
    """Whether the last map is to be normalised by the network's final norm, as transformers do."""
    device: str = "cpu"
    precision: Precision = "float32"

    def to(self, device: str, precision: Precision = "float32") -> TimmBackbone:
        """Give the same network on another device or in another precision; this one stays where it is.

        Raises:
            BadConfig: torch has no such device here, or no such precision.
        """
        require_device(device, precision)
        model = self.model if device == self.device else copy.deepcopy(self.model).to(device)
        return replace(self, model=model, device=device, precision=precision)

    def __call__(self, batch: torch.Tensor, /) -> list[torch.Tensor]:
        """Give the feature maps of a batch of pictures.

        Args:
            batch: (n, 3, h, w) float32 in [0, 1], on any device; gradients pass through to it.

        Returns:
            One (n, c, h', w') float32 tensor for each tap, shallow first, on the network's device.

        Raises:
            BadImage: the pictures are too small, or their sides are no multiple of `multiple`.
        """
        height, width = batch.shape[2:]
        if min(height, width) < self.smallest:
            raise BadImage(
                f"picture is {width} x {height} pixels; {self.name} needs at least {self.smallest} a side",
                where=self.name,
            )
        if height % self.multiple or width % self.multiple:
            raise BadImage(
                f"picture is {width} x {height} pixels; {self.name} needs sides that are multiples of {self.multiple}",
                where=self.name,
            )
        batch = batch.to(self.device)
        mean, std = (batch.new_tensor(values).view(1, 3, 1, 1) for values in (self.mean, self.std))
        with computing(self.device, self.precision):
            return [one.float() for one in self._maps((batch - mean) / std)]

    def _maps(self, x: torch.Tensor) -> list[torch.Tensor]:
        run: Any = self.model
        asked = {"indices": list(self.taps), "output_fmt": "NCHW"}
        maps: list[torch.Tensor]
        try:
            if not self.tokens:
                maps = run.forward_intermediates(x, intermediates_only=True, **asked)
                return maps
            last, maps = run.forward_intermediates(x, **asked)
        except AssertionError as error:  # timm's way to say that the network was made for one size
            raise BadImage(
                f"{self.name} does not read {x.shape[3]} x {x.shape[2]} pixels: {error}", where=self.name
            ) from error
        n, c, h, w = maps[-1].shape
        if last.ndim != 3 or last.shape[1] < h * w or last.shape[2] != c:
            return maps  # one resolution throughout, but no tokens
        return [*maps[:-1], last[:, last.shape[1] - h * w :].transpose(1, 2).reshape(n, c, h, w)]


@dataclass(frozen=True)
class _Taps:
    """Which of timm's intermediate maps are the features."""

    numbers: tuple[int, ...]
    channels: tuple[int, ...]
    reduction: int
    """Pixels of the picture a position of the last map."""
    tokens: bool


def _created(timm_name: str, *, seed: int | None = None) -> Any:
    """The network with its classifier; where it can be made for pictures of any size, it is."""
    import timm
    import torch

    tries: tuple[dict[str, Any], ...] = ({"dynamic_img_size": True}, {})
    for options in tries:
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(0 if seed is None else seed)
            try:
                model = timm.create_model(timm_name, pretrained=False, **options)
            except TypeError:  # no transformer, or one that cannot
                if not options:
                    raise
                continue
        return model
    raise AssertionError(timm_name)


def _under_timm_names(
    model: Any, arrays: Mapping[str, NDArray[Any]], dialect: Dialect | None, path: Path, name: str
) -> Mapping[str, torch.Tensor]:
    """The arrays under timm's names: by the dialect's own table, else by what timm does to its checkpoints."""
    import torch

    if dialect is not None:
        arrays = dialect.rename(arrays, tuple(model.state_dict()))
    tensors = {one: torch.from_numpy(np.array(values)) for one, values in arrays.items()}
    module = sys.modules[type(model).__module__]
    convert: Callable[..., Any] | None = next((getattr(module, one) for one in _FILTERS if hasattr(module, one)), None)
    if dialect is not None or convert is None:
        return tensors
    try:
        converted: Mapping[str, torch.Tensor] = (
            convert(tensors, model) if len(inspect.signature(convert).parameters) > 1 else convert(tensors)
        )
    except _FILTER_FAULTS as error:
        said = (str(error) or type(error).__name__).splitlines()[0]
        raise BadInput(
            f"{path}: not the weights of {name}: timm cannot convert it ({said})", where=str(path)
        ) from error
    return converted


def _pruned(model: Any) -> _Taps:
    """Take off what no tap needs, and say which intermediate maps the taps are."""
    infos = list(model.feature_info)
    if not hasattr(model, "forward_intermediates") or not infos:
        raise BadInput(f"timm's {type(model).__name__} gives no intermediate feature maps", where=type(model).__name__)
    chosen = _depths([int(info["reduction"]) for info in infos], [_is_pooling(model, info) for info in infos])
    tokens = len({infos[i]["reduction"] for i in range(len(infos))}) == 1
    model.prune_intermediate_layers(indices=list(chosen), prune_norm=False, prune_head=True)
    return _Taps(chosen, tuple(int(infos[i]["num_chs"]) for i in chosen), int(infos[chosen[-1]]["reduction"]), tokens)


def _depths(reductions: Sequence[int], pools: Sequence[bool]) -> tuple[int, ...]:
    """Blocks at 1/4, 1/2, 3/4 and the end where all have one resolution; else the last of each that is no pooling."""
    n = len(reductions)
    if len(set(reductions)) == 1:
        return tuple(sorted({max(n * quarter // 4, 1) - 1 for quarter in (1, 2, 3, 4)}))
    last = {reduction: i for i, reduction in enumerate(reductions) if not pools[i]}
    return tuple(sorted(last.values()))


def _is_pooling(model: Any, info: Mapping[str, Any]) -> bool:
    """Whether a stage is only the pooled map of the stage before it."""
    names = {name: type(module).__name__ for name, module in model.named_modules()}
    return "Pool" in names.get(info.get("module", ""), "")


def _sizes(model: Any, taps: _Taps, side: int) -> tuple[int, int]:
    """(what sides must be multiples of, shortest side)."""
    if getattr(model, "dynamic_img_size", False):
        patch = int(model.patch_embed.patch_size[0])
        return patch, max(patch, taps.reduction)
    if (getattr(model, "pretrained_cfg", None) or {}).get("fixed_input_size", False):
        return side, side
    return 1, taps.reduction


def _set_epsilon(model: Any, epsilon: float) -> None:
    import torch

    for module in model.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.eps = epsilon

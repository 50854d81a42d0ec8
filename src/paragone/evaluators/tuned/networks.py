"""The networks that are tuned whole: ResNet50 with a head, MGQA, a tiny one, VGG16 and AlexNet, any one of timm."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import nn

from ...errors import BadConfig, MissingExtra, UnknownName
from ...features import backbones, nets
from ...features.stored import read_arrays
from ...features.timm_nets import TimmBackbone
from ...features.weights import Sought, find_weights
from .architecture import Architecture, Pretrained

__all__ = [
    "ALEXNET",
    "EFFICIENTNET_LITE0",
    "MGQA",
    "MGQA_STD",
    "RESNET50",
    "RESNET50_LINEAR",
    "TINY",
    "VGG16",
    "LastMap",
    "MultiStage",
    "Normalised",
    "Pooled",
    "TinyBackbone",
    "linear_head",
    "resnet50_backbone",
    "resnet50_pretrained",
    "resnet_maps",
    "timm_network",
]

_MEAN, _STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # ImageNet's, of RGB in [0, 1]
_FLAT = 1e-5  # added to a variance: keeps the slope of its root finite where a channel is dead


class Normalised(nn.Module):
    """Pictures in [0, 1] as their backbone was trained to see them."""

    mean: torch.Tensor
    std: torch.Tensor

    def __init__(self, mean: Sequence[float] = _MEAN, std: Sequence[float] = _STD) -> None:
        """Subtract `mean` and divide by `std`, (3,) each, of RGB in [0, 1]."""
        super().__init__()
        self.register_buffer("mean", torch.tensor(mean).view(1, 3, 1, 1))
        self.register_buffer("std", torch.tensor(std).view(1, 3, 1, 1))

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        """(n, 3, h, w)."""
        return (pictures - self.mean) / self.std


def linear_head(channels: int, hidden: int, n_criteria: int) -> nn.Sequential:
    """Two linear layers without anything between them, or one where `hidden` is 0."""
    if not hidden:
        return nn.Sequential(nn.Linear(channels, n_criteria))
    return nn.Sequential(nn.Linear(channels, hidden), nn.Linear(hidden, n_criteria))


class Pooled(nn.Module):
    """A backbone, the mean of its last map over the picture, and a linear head."""

    def __init__(self, backbone: nn.Module, n_criteria: int, *, hidden: int, normalised: Normalised) -> None:
        """Put a head with random weights on a backbone.

        Args:
            backbone: gives (n, c, h', w') maps of (n, 3, h, w) pictures.
            n_criteria: scores for each picture.
            hidden: width between the two layers of the head; 0: one layer.
            normalised: how the backbone wants its pictures.

        Raises:
            BadConfig: the backbone gives something else than maps.
        """
        super().__init__()
        self.normalised, self.backbone = normalised, backbone
        try:
            with torch.no_grad():  # in evaluation: nothing of the backbone changes
                shape = backbone.eval()(torch.zeros(1, 3, 64, 64)).shape
        except AssertionError as error:  # timm's word for a picture of another size than the network is made for
            raise BadConfig(
                f"the network reads one size of pictures only ({error}); take a convolutional one"
            ) from error
        backbone.train()
        if len(shape) != 4:
            raise BadConfig(f"the network gives {tuple(shape)}, not maps of a picture; take a convolutional one")
        self.head = linear_head(int(shape[1]), hidden, n_criteria)

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        """(n, n_criteria) scores of (n, 3, h, w) pictures in [0, 1]."""
        return torch.as_tensor(self.head(self.backbone(self.normalised(pictures)).mean(dim=(2, 3))))


class MultiStage(nn.Module):
    """ResNet50 of which all four stages are pooled and laid side by side; three layers a criterion on top."""

    def __init__(self, n_criteria: int, *, spread: bool) -> None:
        """Give the network with random weights.

        Args:
            n_criteria: regressors, one a criterion.
            spread: pool the standard deviation over the picture as well as the mean: 7,680 numbers, not 3,840.

        Raises:
            MissingExtra: timm is not installed.
        """
        super().__init__()
        self.normalised, self.backbone, self.spread = Normalised(), resnet50_backbone(), spread
        width = (256 + 512 + 1024 + 2048) * (2 if spread else 1)
        self.heads = nn.ModuleList(
            nn.Sequential(nn.Linear(width, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 1))
            for _ in range(n_criteria)
        )

    def pooled(self, pictures: torch.Tensor) -> torch.Tensor:
        """(n, 3840 or 7680): means of the four stages, then their standard deviations."""
        maps = resnet_maps(self.backbone, self.normalised(pictures))[1:]
        made = [one.mean(dim=(2, 3)) for one in maps]
        if self.spread:
            made += [(one.var(dim=(2, 3), correction=0) + _FLAT).sqrt() for one in maps]
        return torch.cat(made, dim=1)

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        """(n, n_criteria) scores of (n, 3, h, w) pictures in [0, 1]."""
        pooled = self.pooled(pictures)
        return torch.cat([head(pooled) for head in self.heads], dim=1)


class _Residual(nn.Module):
    """Two 3 x 3 convolutions beside a short cut."""

    def __init__(self, channels: int, wanted: int, stride: int) -> None:
        super().__init__()
        self.steps = nn.Sequential(
            nn.Conv2d(channels, wanted, 3, stride=stride, padding=1, bias=False),
            nn.BatchNorm2d(wanted),
            nn.ReLU(),
            nn.Conv2d(wanted, wanted, 3, padding=1, bias=False),
            nn.BatchNorm2d(wanted),
        )
        same = channels == wanted and stride == 1
        self.short = nn.Identity() if same else nn.Conv2d(channels, wanted, 1, stride=stride, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(n, wanted, h / stride, w / stride)."""
        return torch.relu(self.steps(x) + self.short(x))


class TinyBackbone(nn.Sequential):
    """A stem and four residual blocks of 16, 32, 64 and 64 channels; maps an eighth of the picture's sides."""

    def __init__(self) -> None:
        """Give it with torch's default random weights."""
        super().__init__(
            nn.Conv2d(3, 16, 3, stride=2, padding=1, bias=False),
            nn.BatchNorm2d(16),
            nn.ReLU(),
            _Residual(16, 16, 1),
            _Residual(16, 32, 2),
            _Residual(32, 64, 2),
            _Residual(64, 64, 1),
        )


class LastMap(nn.Module):
    """A timm network of `features`, cut behind its last tap: that map alone comes out."""

    def __init__(self, frozen: TimmBackbone) -> None:
        """Take over the network; its weights may change from here on."""
        super().__init__()
        self.model, self.tap = frozen.model.requires_grad_(True), frozen.taps[-1]

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        """(n, c, h', w')."""
        run: Any = self.model
        return torch.as_tensor(run.forward_intermediates(pictures, indices=[self.tap], intermediates_only=True)[0])


def _timm(name: str) -> Any:
    try:
        import timm
    except ModuleNotFoundError as error:
        raise MissingExtra.library(f"network '{name}'", "timm", "torch") from error
    return timm


def resnet50_backbone() -> nn.Module:
    """timm's ResNet50 without its classifier, 23,508,032 parameters, random weights.

    Raises:
        MissingExtra: timm is not installed.

    Source:
        He, Zhang, Ren and Sun, "Deep residual learning for image recognition", CVPR 2016.
    """
    made: nn.Module = _timm("resnet50").create_model("resnet50", pretrained=False, num_classes=0, global_pool="")
    return made


def resnet_maps(backbone: nn.Module, pictures: torch.Tensor) -> list[torch.Tensor]:
    """Maps of a ResNet of timm: of the stem (behind its pooling) and of the four stages.

    Args:
        backbone: the ResNet.
        pictures: (n, 3, h, w), normalised.

    Returns:
        Five tensors; for ResNet50 of 64, 256, 512, 1024 and 2048 channels at 1/4, 1/4, 1/8, 1/16 and 1/32 of the sides.
    """
    part = backbone.get_submodule
    maps = [part("maxpool")(part("act1")(part("bn1")(part("conv1")(pictures))))]
    for stage in range(1, 5):
        maps.append(part(f"layer{stage}")(maps[-1]))
    return maps


def resnet50_pretrained(path: str | Path | None) -> Pretrained:
    """ImageNet weights of ResNet50 from this machine.

    Raises:
        NotFound: there are none; one line names each place that was looked at.
        BadInput: the file is no weight file.
    """
    return _read(backbones.RESNET50.sought, path)  # IMAGENET1K_V1: what models of 2021 and 2022 started from


def _read(sought: Sought, path: str | Path | None) -> Pretrained:
    found = find_weights(sought, path=path)
    return Pretrained(read_arrays(found.path), sought.name, found.source, found.sha256)


def timm_network(name: str) -> Architecture:
    """Give any convolutional network of timm, with a linear head on the mean of its last map.

    Args:
        name: as timm knows it, for example 'mobilenetv3_small_050' or 'efficientnet_lite0'; '.TAG' chooses weights.

    Raises:
        UnknownName: timm does not know it.
        MissingExtra: timm is not installed.
    """
    timm = _timm(name)
    if not timm.is_model(name):
        raise UnknownName.among(name, timm.list_models(), "network of timm")
    config = timm.get_pretrained_cfg(name)
    sought = Sought(name=name, repository=str(config.hf_hub_id or "") if config else "")
    normalised = (config.mean, config.std) if config else (_MEAN, _STD)

    def build(n_criteria: int) -> nn.Module:
        backbone = timm.create_model(name, pretrained=False, num_classes=0, global_pool="")
        return Pooled(backbone, n_criteria, hidden=128, normalised=Normalised(*normalised))

    return Architecture(
        name=f"timm:{name}",
        label=name,
        summary=f"{name} of timm, the mean of its last map, and a linear head with 128 hidden units",
        source="Wightman, PyTorch Image Models (timm)",
        build=build,
        pretrained=partial(_read, sought),
        uncertainty=False,
        smallest=32,
    )


def _resnet50(n_criteria: int, *, hidden: int) -> nn.Module:
    return Pooled(resnet50_backbone(), n_criteria, hidden=hidden, normalised=Normalised())


def _tiny(n_criteria: int) -> nn.Module:
    return Pooled(TinyBackbone(), n_criteria, hidden=0, normalised=Normalised())


def _stack(network: nets.Network) -> Architecture:
    """A stack of convolutions of `features`, up to its last tap, with a linear head."""

    def build(n_criteria: int) -> nn.Module:
        stack = network.at_random(seed=int(torch.randint(2**31, ()))).stack
        backbone = nn.Sequential(*stack[: network.taps[-1] + 1]).requires_grad_(True)
        return Pooled(backbone, n_criteria, hidden=128, normalised=Normalised())

    def pretrained(path: str | Path | None) -> Pretrained:
        loaded = network.load(path=path)
        arrays = {name: one.numpy() for name, one in loaded.stack.state_dict().items()}
        return Pretrained(arrays, loaded.label, loaded.source, loaded.sha256)

    return Architecture(
        name=network.name,
        label=network.name,
        summary=f"{network.name} up to its last tap, the mean of that map, and a linear head with 128 hidden units",
        source=network.source,
        build=build,
        pretrained=pretrained,
        uncertainty=False,
        smallest=network.smallest,
    )


def _lite0() -> Architecture:
    """EfficientNet-Lite0 of `features`, whose weights a package carries."""
    network = backbones.EFFICIENTNET_LITE0

    def build(n_criteria: int) -> nn.Module:
        frozen = network.at_random(seed=int(torch.randint(2**31, ())))
        return Pooled(LastMap(frozen), n_criteria, hidden=128, normalised=Normalised(frozen.mean, frozen.std))

    def pretrained(path: str | Path | None) -> Pretrained:
        loaded = network.load(path=path)
        arrays = {f"model.{name}": one.numpy() for name, one in loaded.model.state_dict().items()}
        normalised = (loaded.mean, loaded.std)
        return Pretrained(arrays, loaded.label, loaded.source, loaded.sha256, normalised)

    return Architecture(
        name=network.name,
        label=network.name,
        summary=f"{network.name} up to its last tap, the mean of that map, and a linear head with 128 hidden units",
        source=network.source,
        build=build,
        pretrained=pretrained,
        uncertainty=False,
        smallest=32,
    )


def _resnet50_record(name: str, hidden: int) -> Architecture:
    build: Callable[[int], nn.Module] = partial(_resnet50, hidden=hidden)
    between = f"{hidden} hidden units" if hidden else "no hidden layer"
    return Architecture(
        name=name,
        label="ResNet50" if hidden else "ResNet50 (one linear layer)",
        summary=f"ResNet50, the mean of its last map, and a linear head with {between}",
        source="He, Zhang, Ren and Sun, 'Deep residual learning for image recognition', CVPR 2016; baseline of Zhang, Li, "
        "Sun, Liu, Min and Zhai, 'A perceptual quality assessment exploration for AIGC images', 2023",
        build=build,
        pretrained=resnet50_pretrained,
        uncertainty=False,
        smallest=32,
    )


def _mgqa_record(name: str, spread: bool) -> Architecture:
    pooling = "means and standard deviations" if spread else "means"
    return Architecture(
        name=name,
        label=f"MGQA (reconstruction: {pooling}, widths 128 and 64)",
        summary=f"ResNet50, {pooling} of its four stages side by side, three layers with ReLU between for each criterion",
        source="Wang, Sun, ..., Zhai, IEEE Transactions on Games 2022, doi 10.1109/TG.2022.3212201: all stages pooled and "
        "laid side by side, three layers a dimension, dimensions weighted by uncertainty. Kind of pooling, widths and "
        "activation are not given in what is open: ours",
        build=partial(MultiStage, spread=spread),
        pretrained=resnet50_pretrained,
        uncertainty=True,
        smallest=32,
    )


ALEXNET = _stack(nets.ALEXNET)
EFFICIENTNET_LITE0 = _lite0()
VGG16 = _stack(nets.VGG16)
RESNET50 = _resnet50_record("resnet50", 128)
RESNET50_LINEAR = _resnet50_record("resnet50-linear", 0)
MGQA = _mgqa_record("mgqa", spread=False)
MGQA_STD = _mgqa_record("mgqa-std", spread=True)
TINY = Architecture(
    name="tiny",
    label="tiny residual network",
    summary="A stem and four residual blocks, under 200,000 parameters: learns on a CPU in seconds; no published model",
    source="Ours, for tests and first trials; blocks as in He, Zhang, Ren and Sun, CVPR 2016",
    build=_tiny,
    pretrained=None,
    uncertainty=False,
    smallest=8,
)

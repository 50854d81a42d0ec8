"""A device is there or is refused before anything moves."""

from __future__ import annotations

from typing import Any

import pytest

from installed import needed
from paragone.errors import BadConfig
from paragone.features import load_backbone
from paragone.features.devices import computing, require_device

torch: Any = needed("torch")


def test_what_torch_does_not_have_is_refused() -> None:
    assert require_device("cpu") == "cpu"
    with pytest.raises(BadConfig, match="device 'tpu' is not one of cpu, cuda"):
        require_device("tpu")
    with pytest.raises(BadConfig, match="device 'cuda:99': torch finds"):
        require_device("cuda:99")
    with pytest.raises(BadConfig, match="precision 'int8' is not one of float32, bfloat16"):
        require_device("cpu", "int8")  # type: ignore[arg-type]


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has one")
def test_a_network_says_that_there_is_no_accelerator() -> None:
    for name in ("alexnet", "resnet18"):
        needed("timm")
        with pytest.raises(BadConfig, match="device 'cuda': torch finds 0 of kind cuda here; use 'cpu'"):
            load_backbone(name, seed=0, device="cuda")


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["alexnet", "vgg11", "resnet18", "dinov2-s"])
def test_an_accelerator_gives_what_the_processor_gives(name: str) -> None:
    backbone = load_backbone(name, seed=0)
    batch = torch.rand(2, 3, 112, 112, generator=torch.Generator().manual_seed(0))
    with torch.inference_mode():
        there = backbone.to("cuda")
        for one, other in zip(backbone(batch), there(batch), strict=True):
            assert other.device.type == "cuda"
            assert torch.allclose(one, other.cpu(), rtol=1e-3, atol=1e-4 * float(one.abs().max()))
        for one, other in zip(backbone(batch), backbone.to("cuda", "bfloat16")(batch), strict=True):
            assert torch.nn.functional.cosine_similarity(one.flatten(), other.cpu().flatten(), dim=0) > 0.99


def test_bfloat16_ends_with_the_block() -> None:
    one = torch.ones(2, 2)
    with computing("cpu", "bfloat16"):
        assert (one @ one).dtype == torch.bfloat16
    assert (one @ one).dtype == torch.float32

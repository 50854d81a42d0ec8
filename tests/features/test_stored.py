"""Arrays come out of weight files; what else a file holds is refused and never run."""

from __future__ import annotations

import json
import pickle
import struct
from pathlib import Path

import numpy as np
import pytest

from installed import needed
from paragone.errors import BadInput, NotFound
from paragone.features import read_arrays

ARRAYS = {"a": {"kernel": np.arange(6, dtype=np.float32).reshape(2, 3), "bias": np.ones(2, dtype=np.float32)}}


class Trap:
    """A pickle of this would call a function when it is read."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return Path.touch, (Path("touched"),)


def safetensors(path: Path, dtype: str, shape: list[int], numbers: bytes, *, end: int | None = None) -> Path:
    header = {
        "__metadata__": {"format": "pt"},
        "w": {"dtype": dtype, "shape": shape, "data_offsets": [0, end or len(numbers)]},
    }
    words = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(words)) + words + numbers)
    return path


def test_nested_names_of_a_pickle_are_joined(tmp_path: Path) -> None:
    path = tmp_path / "net.ckpt"
    path.write_bytes(pickle.dumps(ARRAYS))
    read = read_arrays(path)
    assert list(read) == ["a/kernel", "a/bias"]
    assert np.array_equal(read["a/kernel"], ARRAYS["a"]["kernel"])


def test_a_pickle_that_asks_for_another_class_is_refused_and_runs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("trap.ckpt").write_bytes(pickle.dumps({"a": np.ones(2), "b": Trap()}))
    with pytest.raises(BadInput, match=r"trap.ckpt: not a pickle of numpy arrays alone: it asks for pathlib.Path"):
        read_arrays("trap.ckpt")
    assert not Path("touched").exists()


@pytest.mark.parametrize("content", [b"", b"nothing of the kind", pickle.dumps(ARRAYS)[:80]])
def test_a_broken_pickle_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "cut.ckpt"
    path.write_bytes(content)
    with pytest.raises(BadInput, match=r"cut.ckpt: not a pickle of numpy arrays alone"):
        read_arrays(path)


@pytest.mark.parametrize("content", [{"a": "words"}, {"a": np.array(["words"])}, {}, 3])
def test_what_holds_no_numbers_is_no_weight_file(tmp_path: Path, content: object) -> None:
    path = tmp_path / "odd.ckpt"
    path.write_bytes(pickle.dumps(content))
    with pytest.raises(BadInput, match=r"odd.ckpt: not a file of weights"):
        read_arrays(path)


def test_safetensors_are_read_in_each_precision(tmp_path: Path) -> None:
    for dtype, kind in (("F32", "<f4"), ("F16", "<f2"), ("F64", "<f8")):
        numbers = np.array([[1.5, -2.0]], dtype=kind)
        read = read_arrays(safetensors(tmp_path / "x.safetensors", dtype, [1, 2], numbers.tobytes()))
        assert np.array_equal(read["w"], numbers)
    halves = (np.array([1.5, -2.0], dtype=np.float32).view(np.uint32) >> 16).astype("<u2")
    assert read_arrays(safetensors(tmp_path / "b.safetensors", "BF16", [2], halves.tobytes()))["w"].tolist() == [
        1.5,
        -2.0,
    ]


def test_safetensors_agree_with_the_library_that_defines_them(tmp_path: Path) -> None:
    numpy_files = needed("safetensors.numpy")
    arrays = {"features.0.weight": np.random.default_rng(0).standard_normal((4, 3, 2, 2)).astype(np.float32)}
    numpy_files.save_file(arrays, str(tmp_path / "m.safetensors"))
    assert np.array_equal(read_arrays(tmp_path / "m.safetensors")["features.0.weight"], arrays["features.0.weight"])


def test_broken_safetensors_are_refused(tmp_path: Path) -> None:
    for number, content in enumerate((b"", b"\xff" * 20, struct.pack("<Q", 2) + b"[]")):
        path = tmp_path / f"{number}.safetensors"
        path.write_bytes(content)
        with pytest.raises(BadInput, match="not a safetensors file"):
            read_arrays(path)
    beyond = safetensors(tmp_path / "beyond.safetensors", "F32", [4], b"\0" * 8, end=16)
    with pytest.raises(BadInput, match="not a safetensors file: numbers lie outside the file"):
        read_arrays(beyond)
    with pytest.raises(BadInput, match="not a safetensors file"):
        read_arrays(safetensors(tmp_path / "shape.safetensors", "F32", [3], b"\0" * 8))


def test_a_torch_file_gives_its_state(tmp_path: Path) -> None:
    torch = needed("torch")
    torch.save({"state_dict": {"w": torch.arange(3.0)}}, tmp_path / "w.pth")
    assert read_arrays(tmp_path / "w.pth")["w"].tolist() == [0.0, 1.0, 2.0]
    (tmp_path / "bad.pth").write_bytes(pickle.dumps({"b": Trap()}, protocol=2))
    with pytest.raises(BadInput, match=r"bad.pth: not a torch file of weights alone"):
        read_arrays(tmp_path / "bad.pth")


def test_other_endings_and_missing_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "net.h5").write_bytes(b"")
    with pytest.raises(BadInput, match=r"net.h5: a weight file ends in .bin, .ckpt, .pkl, .pt, .pth, .safetensors"):
        read_arrays(tmp_path / "net.h5")
    with pytest.raises(NotFound, match="no weight file"):
        read_arrays(tmp_path / "none.pth")

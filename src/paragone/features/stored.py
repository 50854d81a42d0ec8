"""Named arrays out of a weight file: numpy pickles, safetensors, torch state dicts. Nothing in a file is ever run."""

from __future__ import annotations

import json
import pickle
import struct
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInput, MissingExtra, NotFound

__all__ = ["WEIGHT_ENDINGS", "read_arrays"]

WEIGHT_ENDINGS = (".bin", ".ckpt", ".pkl", ".pt", ".pth", ".safetensors")
"""File endings that `read_arrays` knows."""

_TORCH_ENDINGS = (".bin", ".pt", ".pth")
_ADMITTED = {
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
}
_PICKLE_FAULTS = (
    pickle.UnpicklingError,
    AttributeError,
    EOFError,
    ImportError,
    IndexError,
    KeyError,
    MemoryError,
    OverflowError,
    TypeError,
    ValueError,
)  # what the pickle module says a broken file may raise
_MOST_HEADER = 100_000_000  # bytes; the format's own limit
_DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "U8": "|u1"}


class _NumpyOnly(pickle.Unpickler):
    """Reads pickles whose only classes are numpy's array and dtype; anything else is refused before it is looked up."""

    def find_class(self, module_name: str, global_name: str, /) -> Any:
        if (module_name, global_name) not in _ADMITTED:
            raise pickle.UnpicklingError(f"it asks for {module_name}.{global_name}")
        return super().find_class(module_name.replace("numpy.core", "numpy._core"), global_name)


def read_arrays(path: str | Path) -> dict[str, NDArray[Any]]:
    """Read the arrays of a weight file by name.

    Args:
        path: a pickle of (nested) dicts of numpy arrays (.ckpt, .pkl), a .safetensors file, or a torch state dict
            (.bin, .pt, .pth), alone or under 'state_dict' or 'model'.

    Returns:
        name -> array, in the file's order; nested names are joined by '/'.

    Raises:
        NotFound: no such file.
        BadInput: another ending; the file is broken, or holds something else than numbers (a pickle that asks for any
            other class is refused unread).
        MissingExtra: a torch file, and torch is not installed.
    """
    path = Path(path)
    if not path.is_file():
        raise NotFound.path(path, "weight file")
    if path.suffix not in WEIGHT_ENDINGS:
        raise BadInput(f"{path.name}: a weight file ends in {', '.join(WEIGHT_ENDINGS)}", where=str(path))
    if path.suffix == ".safetensors":
        return _safetensors(path)
    content = _torch_content(path) if path.suffix in _TORCH_ENDINGS else _pickle_content(path)
    arrays = dict(_flat(content, ""))
    wrong = [
        name for name, value in arrays.items() if not isinstance(value, np.ndarray) or value.dtype.kind not in "fiu"
    ]
    if wrong or not arrays:
        held = f"'{wrong[0]}' is no array of numbers" if wrong else "it holds no arrays"
        raise BadInput(f"{path.name}: not a file of weights: {held}", where=str(path))
    return arrays


def _flat(content: Any, before: str) -> Iterator[tuple[str, Any]]:
    if not isinstance(content, Mapping):
        yield before or "content", content
        return
    for name, value in content.items():
        inner = f"{before}/{name}" if before else str(name)
        yield from _flat(value, inner)


def _pickle_content(path: Path) -> Any:
    with path.open("rb") as file:
        try:
            return _NumpyOnly(file).load()
        except _PICKLE_FAULTS as error:
            said = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise BadInput(f"{path.name}: not a pickle of numpy arrays alone: {said}", where=str(path)) from error


def _torch_content(path: Path) -> Any:
    try:
        import torch
    except ModuleNotFoundError as error:
        raise MissingExtra.library(f"reading '{path.name}'", "torch", "torch") from error
    try:
        # a classifier that nobody reads may be four fifths of the file: leave it on the disk
        content = torch.load(path, map_location="cpu", weights_only=True, mmap=zipfile.is_zipfile(path))
    except (RuntimeError, *_PICKLE_FAULTS) as error:
        raise BadInput(f"{path.name}: not a torch file of weights alone", where=str(path)) from error
    for inner in ("state_dict", "model"):
        if isinstance(content, Mapping) and isinstance(content.get(inner), Mapping):
            content = content[inner]
    if not isinstance(content, Mapping):
        return content
    return {name: v.float().numpy() if isinstance(v, torch.Tensor) else v for name, v in content.items()}


def _safetensors(path: Path) -> dict[str, NDArray[Any]]:
    """Read the format: 8 bytes of header length, a JSON header of name -> dtype, shape, place; then the numbers.

    Source:
        The safetensors format description, huggingface/safetensors, README, section Format.
    """
    try:
        content = np.memmap(path, dtype=np.uint8, mode="r")  # as with torch files: what nobody reads stays on the disk
        (length,) = struct.unpack("<Q", content[:8].tobytes())
        if length > min(_MOST_HEADER, len(content) - 8):
            raise ValueError("the header is longer than the file")
        header = json.loads(content[8 : 8 + length].tobytes())
        return {name: _entry(content, 8 + length, entry) for name, entry in header.items() if name != "__metadata__"}
    except (struct.error, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadInput(f"{path.name}: not a safetensors file: {error}", where=str(path)) from error


def _entry(content: NDArray[np.uint8], start: int, entry: Mapping[str, Any]) -> NDArray[Any]:
    low, high = (start + int(at) for at in entry["data_offsets"])
    if not start <= low <= high <= len(content):
        raise ValueError("numbers lie outside the file")
    if entry["dtype"] == "BF16":  # the upper half of a float32
        halves = np.frombuffer(content[low:high], dtype="<u2").astype(np.uint32) << np.uint32(16)
        return halves.view(np.float32).reshape(entry["shape"])
    return np.frombuffer(content[low:high], dtype=_DTYPES[entry["dtype"]]).reshape(entry["shape"])

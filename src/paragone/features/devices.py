"""Where and in what precision a network computes, checked before anything is moved there."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from ..errors import BadConfig, MissingExtra
from .frozen import Precision

__all__ = ["computing", "require_device"]

_PRECISIONS = ("float32", "bfloat16")


def require_device(device: str, precision: Precision = "float32") -> str:
    """Give the device's name back if torch can compute there, in that precision.

    Args:
        device: 'cpu', 'cuda', 'cuda:1' or 'mps'.
        precision: 'float32' or 'bfloat16'.

    Raises:
        BadConfig: no such device on this machine, or no such precision.
        MissingExtra: torch is not installed.
    """
    if precision not in _PRECISIONS:
        raise BadConfig(f"precision '{precision}' is not one of {', '.join(_PRECISIONS)}", where="precision")
    torch = _torch()
    kind, _, number = device.partition(":")
    if kind not in ("cpu", "cuda", "mps") or (number and not number.isdecimal()):
        raise BadConfig(f"device '{device}' is not one of cpu, cuda, cuda:0, mps", where="device")
    there = {"cpu": 1, "cuda": torch.cuda.device_count(), "mps": int(torch.backends.mps.is_available())}[kind]
    if int(number or 0) >= there:
        raise BadConfig(f"device '{device}': torch finds {there} of kind {kind} here; use 'cpu'", where="device")
    return device


@contextlib.contextmanager
def computing(device: str, precision: Precision) -> Iterator[None]:
    """Let a network compute in this precision inside the block, the same way every time.

    float32 means float32: CUDA's convolutions would else be rounded to 10 bits (TF32).
    """
    torch = _torch()
    kind = device.partition(":")[0]
    with contextlib.ExitStack() as stack:
        if kind == "cuda":
            flags = {"enabled": True, "benchmark": False, "deterministic": True, "allow_tf32": False}
            stack.enter_context(torch.backends.cudnn.flags(**flags))
        if precision == "bfloat16":
            stack.enter_context(torch.autocast(kind, dtype=torch.bfloat16))
        yield


def _torch() -> Any:
    try:
        import torch
    except ModuleNotFoundError as error:
        raise MissingExtra.library("computing with a network", "torch", "torch") from error
    return torch

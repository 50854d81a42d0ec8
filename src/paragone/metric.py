"""`Metric`: the record that says everything about one machine metric."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["Metric"]


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A machine metric: its function, and the facts that `measure`, the docs, tests and reports read."""

    name: str
    """The word users type; a variant that gives other numbers has another name."""
    compute: Callable[..., Any]
    """Takes the pictures named in `inputs`, in that order, each (h, w, 3) float32 sRGB in [0, 1]; gives one float.
    NaN means undefined for these pictures."""
    inputs: tuple[str, ...]
    """What it reads: 'image' first, then names of reference factors such as 'content' or 'style', or 'prompt' (text)."""
    better: Literal["higher", "lower", "neither"]
    """Which end means better to its authors; 'neither' for attributes that are no judgement."""
    low: float
    """Smallest value it can give; -inf if unbounded."""
    high: float
    """Largest value it can give; inf if unbounded."""
    unit: str
    """Unit of the value, for example 'dB' or 'grey levels (0-255)'; '' for a bare number."""
    summary: str
    """What it measures, in one line."""
    definition: str
    """The id of the exact definition: constants, resizer, channel; two numbers compare only under one id."""
    source: str
    """Authors, title, year and equation."""
    level: Literal["item", "set"] = "item"
    """item: one value a picture; set: one value a group of pictures (compute takes lists of pictures)."""
    smallest: int = 1
    """Shorter picture side below which the value is not defined, in pixels (status too_small)."""
    same_size: bool = False
    """References are resized to the picture's size before `compute`."""
    extra: str = ""
    """The extra that it needs beyond the core, '' for none."""
    reconstruction: bool = False
    """Nobody could verify it against the authors' own numbers; shown as a badge wherever the number shows."""

"""What became of one metric on one picture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

__all__ = ["STATUSES", "Outcome"]

STATUSES: Mapping[str, str] = {
    "ok": "the score is there",
    "undefined": "the metric has no value for this picture, for example the blur of an even grey",
    "infinite": "the value is infinite, for example the PSNR of a picture that equals its reference",
    "too_small": "a side has fewer pixels than the metric needs",
    "missing": "the item has no picture, or its file is not there",
    "broken": "the picture's file cannot be read",
    "no_reference": "the item has no reference of the kind that the metric compares with, or its file is not there",
    "broken_reference": "the reference's file cannot be read",
    "other_shape": "the reference has another shape (sides in another proportion by more than 5 % and a pixel), and the "
    "metric compares point with point, so it would be squashed",
    "no_prompt": "the item has no prompt",
    "failed": "the metric stopped with an error; the reason holds it",
}
"""Every word that may stand in the column `status`, and what it says."""


class Outcome(NamedTuple):
    """A score, or the word that says why there is none."""

    score: float | None
    """None unless the status is ok."""
    status: str
    """A key of `STATUSES`."""
    reason: str
    """One line on what is wrong with this picture; '' where the status says it all."""
    note: str
    """'resized' if the reference had another size, 'stretched' if its shape differed by 2 to 5 % as well, else ''."""

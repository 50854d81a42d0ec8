"""A simulated participant who answers page by page, as `paragone.observers` does for a whole plan."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from ...observers import Observers

__all__ = ["Person", "Simulated"]


class Simulated(NamedTuple):
    """One simulated answer."""

    value: str
    """As the page would send it."""
    seconds: float
    """Response time, > 0."""


@dataclass(frozen=True)
class Person:
    """One simulated participant: the same every time they are asked. The model is that of `observers.Observers`."""

    look: Observers
    """How participants answer."""
    key: int
    """Tastes follow from it: the same person has the same taste whenever they meet an item."""
    careless: bool
    """Answers at random, and fast."""
    bias: float
    """Pull to the left, in logits."""
    offset: float
    """Added to every rating, in scale units."""
    noise: float
    """Standard deviation of a rating, in scale units, >= 0."""
    median_seconds: float
    """Median response time, > 0."""

    @classmethod
    def drawn(cls, rng: np.random.Generator, look: Observers | None = None, *, careless: bool | None = None) -> Self:
        """Return a participant drawn at random.

        Args:
            rng: every random choice follows from it.
            look: how participants answer; None: the defaults.
            careless: whether they answer at random; None: drawn with the chance that `look.careless` says.
        """
        look = look or Observers()
        at_random = rng.random() < look.careless if careless is None else careless
        normal = rng.standard_normal(4)
        return cls(
            look=look,
            key=int(rng.integers(2**63)),
            careless=at_random,
            bias=look.left_bias + look.left_bias_sd * float(normal[0]),
            offset=look.offset_sd * float(normal[1]),
            noise=look.inconsistency * float(np.exp(look.inconsistency_sd * normal[2])),
            median_seconds=(look.careless_seconds if at_random else look.seconds)
            * float(np.exp(look.pace_sd * normal[3])),
        )

    def felt(self, latent: float, item: str, criterion: str = "") -> float:
        """Return how good the person feels an item to be: its latent score and their own taste.

        Args:
            latent: true score. For pairs in logits; for ratings about a mean of 0 over the items, in standard
                deviations, or in the unit that `look.gain` speaks of.
            item: its id.
            criterion: what is asked.
        """
        digest = hashlib.sha256(f"{self.key}\0{item}\0{criterion}".encode()).digest()
        taste = np.random.default_rng(int.from_bytes(digest[:16])).standard_normal()
        return latent + self.look.taste_sd * float(taste)

    def lapses(self, rng: np.random.Generator) -> bool:
        """Whether this answer is given at random."""
        return self.careless or bool(rng.random() < self.look.lapse)

    def seconds(self, rng: np.random.Generator) -> float:
        """Return a response time."""
        return round(self.median_seconds * float(np.exp(self.look.seconds_sd * rng.standard_normal())), 3)

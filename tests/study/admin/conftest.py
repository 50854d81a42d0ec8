"""Small studies that several tests of the desk read."""

from __future__ import annotations

import pytest

from desk_world import World, answered, pairs_study, ratings_study
from paragone.observers import Observers


@pytest.fixture(scope="session")
def pairs_world() -> World:
    """Two stages of pairs; three people in twenty do not look."""
    return answered(pairs_study(), Observers(careless=0.15, temperature=0.3))


@pytest.fixture(scope="session")
def ratings_world() -> World:
    """One stage of ratings."""
    return answered(ratings_study(), Observers())


@pytest.fixture(scope="session")
def attentive_world() -> World:
    """Two stages of pairs answered without a slip."""
    return answered(pairs_study(), Observers(lapse=0.0, temperature=0.001, taste_sd=0.0, left_bias_sd=0.0))

"""Fixtures of the store's tests: an open store on each database."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from paragone.study.store import Store
from store_world import Small


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    """An open, empty store."""
    with Store.open(store_url) as opened:
        yield opened


@pytest.fixture
def small(store: Store) -> Small:
    """A store with a version of six leases: stage '1' owners a, b, c, d; stage '2' owners e, f."""
    return Small(store)

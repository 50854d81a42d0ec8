"""Blocks of columns: which pictures they read, and which heads may see them."""

from __future__ import annotations

import numpy as np
import pytest

from paragone.errors import BadInput
from paragone.features import Block, Features


def some(**changes: object) -> Features:
    """Two items; a mean of the result, a difference to the content, a scalar for each reference."""
    blocks = (
        Block(name="result", start=0, stop=2, reads=("image",), kind="vector"),
        Block(name="result - content", start=2, stop=4, reads=("image", "content"), kind="vector"),
        Block(name="distance to content", start=4, stop=5, reads=("image", "content"), kind="scalar"),
        Block(name="distance to style", start=5, stop=6, reads=("image", "style"), kind="scalar"),
    )
    made = {
        "items": ("a", "b"),
        "values": np.arange(12, dtype=np.float32).reshape(2, 6),
        "blocks": blocks,
        "definition": "made",
        "backbone": "made",
        "sha256": "",
        "source": "a test",
        "missing": {"c": "no picture"},
    }
    return Features(**(made | changes))  # type: ignore[arg-type]


def test_columns_are_chosen_by_kind_and_by_what_they_read() -> None:
    x = some()
    assert x.columns().tolist() == [0, 1, 2, 3, 4, 5]
    assert x.columns(kind="scalar").tolist() == [4, 5]
    assert x.columns(kind="compared").tolist() == [2, 3, 4, 5]
    assert x.columns(without=("style",)).tolist() == [0, 1, 2, 3, 4]
    assert x.columns(kind="scalar", without=("content",)).tolist() == [5]
    with pytest.raises(BadInput, match="made has no columns of kind 'scalar' without content, style"):
        x.columns(kind="scalar", without=("content", "style"))


def test_rows_come_in_the_order_that_was_asked_for() -> None:
    assert some().of(["b", "a"])[:, 0].tolist() == [6.0, 0.0]
    with pytest.raises(BadInput, match="item 'c' has no features: no picture"):
        some().of(["a", "c"])
    with pytest.raises(BadInput, match="item 'd' has no features: it was not among the items"):
        some().of(["d"])


def test_blocks_must_cover_every_column_once() -> None:
    blocks = some().blocks
    with pytest.raises(BadInput, match="blocks with gaps"):
        some(blocks=(blocks[0], *blocks[2:]))
    with pytest.raises(BadInput, match="do not cover the 6 columns"):
        some(blocks=blocks[:-1])
    with pytest.raises(BadInput, match="2 rows of 1 items"):
        some(items=("a",))


def test_values_that_are_no_numbers_are_refused() -> None:
    values = some().values.copy()
    values[1, 3] = np.nan
    with pytest.raises(BadInput, match="features of item 'b' hold values that are no numbers"):
        some(values=values)

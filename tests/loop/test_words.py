"""Words from outside made safe."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paragone.errors import BadConfig
from paragone.loop.words import file_name
from paragone.settings import held_to_types


@given(st.text())
def test_any_name_is_one_file_of_its_folder(name: str) -> None:
    made = file_name(name)
    assert made
    assert Path("folder") / made == Path("folder", made)
    assert (Path("folder") / f"{made}.csv").parent == Path("folder")
    assert made not in (".", "..")
    assert not made.startswith(".")
    assert len(f"{made}.draws.parquet".encode()) <= 255
    assert file_name(made) == made


def test_plain_names_stay() -> None:
    for name in ("human", "human by method", "p910", "ssim-uniform", "NIQE (2013)", "名前"):
        assert file_name(name) == name


def _model(*, prior: float = 1.0, limit: int = 3, clip: bool = False, per: Literal["a", "b"] = "a", other=None) -> None:  # type: ignore[no-untyped-def]
    """Options of every plain kind."""


def test_options_become_what_the_function_asks_for() -> None:
    made = held_to_types({"prior": 2, "limit": 3, "clip": True, "per": "b", "other": "x", "unknown": 1}, _model, "m")
    assert made == {"prior": 2.0, "limit": 3, "clip": True, "per": "b", "other": "x", "unknown": 1}
    assert isinstance(made["prior"], float)


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("prior", "much", "m: prior = 'much' is not a number"),
        ("prior", True, "m: prior = 'True' is not a number"),
        ("limit", 2.5, "m: limit = '2.5' is not a whole number"),
        ("clip", 1, "m: clip = '1' is not true or false"),
        ("per", "c", "m: per = 'c' is not one of a, b"),
    ],
)
def test_a_value_of_another_type_is_refused(option: str, value: object, message: str) -> None:
    with pytest.raises(BadConfig, match=re.escape(message)):
        held_to_types({option: value}, _model, "m")

"""Strict TOML: what is refused, in which words, and that what is written reads back."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paragone.errors import BadConfig, NotFound
from paragone.settings import Settings, read_settings, read_toml, write_toml


class _Inner(Settings, frozen=True):
    """One inner record."""

    size: int = 1


class _Outer(Settings, frozen=True):
    """One outer record."""

    name: str
    inner: _Inner = _Inner()
    several: tuple[_Inner, ...] = ()


def _file(folder: Path, text: str) -> Path:
    path = folder / "some.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_good_file_becomes_a_record(tmp_path: Path) -> None:
    made = read_settings(_file(tmp_path, 'format = 1\nname = "a"\n[inner]\nsize = 3\n'), _Outer)
    assert (made.name, made.inner.size) == ("a", 3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('name = "a"\nnmae = 1\n', r"some.toml: no key 'nmae'; did you mean 'name'\?"),
        ('name = "a"\n[inner]\nsizee = 1\n', r"some.toml: \[inner\] no key 'sizee'; did you mean 'size'\?"),
        ('name = "a"\n[[several]]\nsizee = 1\n', r"some.toml: \[several\[0\]\] no key 'sizee'; did you mean 'size'\?"),
        ('name = "a"\n[inner]\nsize = "big"\n', r"some.toml: inner.size: expected `int`, got `str`"),
        ("name = \n", r"some.toml: not valid TOML: Invalid value \(at line 1"),
        ("", r"some.toml: Object missing required field `name`"),
        (f"name = {'[' * 5000}{']' * 5000}", r"some.toml: not valid TOML: lists stand in lists too deeply"),
        (f"name = {'9' * 5000}", r"some.toml: not valid TOML: Exceeds the limit"),
    ],
)
def test_faults_are_named_with_their_place(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(BadConfig, match=message):
        read_settings(_file(tmp_path, text), _Outer)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"no file '.*none.toml'; check the spelling"):
        read_toml(tmp_path / "none.toml")


_VALUES = st.recursive(
    st.one_of(st.text(max_size=8), st.integers(-(2**60), 2**60), st.booleans(), st.floats(allow_nan=False)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
    max_leaves=8,
)


@given(content=st.dictionaries(st.text(max_size=5), _VALUES, max_size=5))
def test_what_is_written_reads_back(tmp_path_factory: pytest.TempPathFactory, content: dict[str, Any]) -> None:
    path = write_toml(content, tmp_path_factory.mktemp("toml") / "x.toml")
    assert tomllib.loads(path.read_text(encoding="utf-8")) == content


def test_not_a_number_and_nothing_are_written_as_toml_knows_them(tmp_path: Path) -> None:
    made = read_toml(write_toml({"a": math.nan, "b": None, "c": [1, None]}, tmp_path / "x.toml"))
    assert math.isnan(made.pop("a"))
    assert made == {"c": [1]}

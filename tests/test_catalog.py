"""Plug-ins are found by name, imported when asked for, and missing ones are explained."""

from __future__ import annotations

import importlib.metadata

import pytest

from paragone.catalog import Catalog
from paragone.errors import BadInput, MissingExtra, UnknownName

THINGS = Catalog(
    "paragone.things",
    "thing",
    {
        "path": "pathlib:Path",
        "lost": "paragone.nowhere:X",
        "empty": "pathlib:Nothing",
        "heavy": "nosuchlibrary:X",
    },
)


def test_a_name_gives_the_object() -> None:
    from pathlib import Path

    assert THINGS.get("path") is Path


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("pth", UnknownName, r"no thing 'pth'; did you mean 'path'\?"),
        ("zzz", UnknownName, "no thing 'zzz'; there is empty, heavy, lost, path"),
        ("lost", BadInput, "thing 'lost' names a module that is not there: paragone.nowhere:X"),
        ("empty", BadInput, "thing 'empty' is not in pathlib: pathlib:Nothing"),
        ("heavy", BadInput, "thing 'heavy' needs the library nosuchlibrary: pip install it"),
    ],
)
def test_what_cannot_be_had_is_explained(name: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        THINGS.get(name)


def test_a_library_of_an_extra_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        raise ModuleNotFoundError("no torch", name="torch")

    monkeypatch.setattr("paragone.catalog.importlib.import_module", absent)
    with pytest.raises(MissingExtra, match=r"thing 'path' needs torch: pip install 'paragone\[torch\]'"):
        THINGS.get("path")


def test_entry_points_of_others_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    point = importlib.metadata.EntryPoint("theirs", "pathlib:PurePath", "paragone.things")
    monkeypatch.setattr("paragone.catalog.importlib.metadata.entry_points", lambda group: [point])
    assert "theirs" in THINGS.names()
    assert THINGS.get("theirs").__name__ == "PurePath"

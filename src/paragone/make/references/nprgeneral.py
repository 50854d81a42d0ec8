"""NPRgeneral, a published set of twenty photographs for stylisation: which of a user's files belong to it, and their kinds.

The photographs are not shipped. A file is recognised by its MD5 exactly; otherwise by its name, which proves nothing and is
said. The kinds are our judgement from the names, made without the pictures at hand; `sure` says where the name decides.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import polars as pl

from ...errors import BadInput, NotFound
from ...images.files import ENDINGS, MAX_BYTES
from .cards import CARDS, Cards
from .pool import longer_side

__all__ = ["LONGER_SIDE", "PHOTOGRAPHS", "Photograph", "cards_of", "recognised"]

LONGER_SIDE = 1024
"""Pixels of the longer side of every published file."""


class Photograph(NamedTuple):
    """One photograph of the set."""

    md5: str
    """Of the published file, <name>1024.jpg (rim1024.jpg and tomato1024.jpg for two)."""
    photographer: str
    category: str
    """people, nature or artificial, the kinds that a balanced set of contents takes two each of."""
    subject: str
    """More exactly: person, animal, plant, food, landscape, building, vehicle, statue or unknown."""
    sure: bool
    """Whether the name decides the kind; False: look before you rely on it."""


def _of(md5: str, photographer: str, category: str, subject: str, sure: bool = True) -> Photograph:
    return Photograph(md5, photographer, category, subject, sure)


PHOTOGRAPHS: Mapping[str, Photograph] = MappingProxyType(
    {
        "angel": _of("41b058edd2091eec467d37054a8c01fb", "Eole Wind", "artificial", "statue", False),
        "arch": _of("9378e3a129f021548ba26b99ae445ec9", "James Marvin Phelps", "nature", "landscape", False),
        "athletes": _of("6b742bd1b46bf9882cc176e0d255adab", "Nathan Congleton", "people", "person"),
        "barn": _of("32abf24dd439940cf9a1265965b5e910", "MrClean1982", "artificial", "building"),
        "berries": _of("58fea65145fa0bd222800d4f8946d815", "HelmutZen", "nature", "plant"),
        "cabbage": _of("19304a80d2ca2389153562700f0aab53", "Leonard Chien", "nature", "plant"),
        "cat": _of("de3331050c660e688463fa86c76976c4", "Theen Moy", "nature", "animal"),
        "city": _of("84e17b078ede986ea3e8f70e0a24195e", "Rob Schneider", "artificial", "building"),
        "daisy": _of("f3901d987490613238ef01977f9fac77", "mgaloseau", "nature", "plant"),
        "darkwoods": _of("f4ccbf37b3d5d3a1ca734bb65464151b", "JB Banks", "nature", "landscape"),
        "desert": _of("4a9db691d203dd693b14090b9e49f791", "Charles Roffey", "nature", "landscape"),
        "headlight": _of("1d4723535ea7dee84969f0c082445ad5", "Photos By Clark", "artificial", "vehicle"),
        "mac": _of("4df4e0dafe5468b86138839f68beb84d", "Martin Kenney", "people", "person", False),
        "mountains": _of("1ea43310f2d85b271827634c733b6257", "Jenny Pansing", "nature", "landscape"),
        "oparara": _of("1adcc54d9a390b2492ee6e71acac13fd", "trevorklatko", "nature", "landscape"),
        "rimlighting": _of("8878a60ccd81e7b2ff05089cdf54773b", "Paul Stevenson", "people", "person", False),
        "snow": _of("60d55728e28d39114d0035c04c9e4495", "John Anes", "nature", "landscape", False),
        "tomatoes": _of("3ffcdc427060171aabf433181cef7c52", "Greg Myers", "nature", "food"),
        "toque": _of("34fcf032b5d87877a7fc95629efb94e8", "sicknotepix", "people", "person", False),
        "yemeni": _of("dd1e81d885cdbdd44f8d504e3951fb48", "Richard Messenger", "people", "person"),
    }
)
"""Name -> photograph. Names, photographers and MD5s are facts recorded by the pystiche authors (pystiche/papers,
pystiche_papers/data/nprgeneral.py, commit 12f06372836512b55a5ec0a67f72ef437a494b8c) for the set of Mould and Rosin,
Computers & Graphics, 2017, doi 10.1016/j.cag.2017.05.025. They record its licence as unknown; the authors of the set say
that it permits distribution of modified versions. Kinds are ours."""

_ALIASES = {"rim": "rimlighting", "tomato": "tomatoes"}
_BY_MD5 = {photograph.md5: name for name, photograph in PHOTOGRAPHS.items()}
_SCHEMA = {
    "image": pl.String,
    "name": pl.String,
    "by": pl.String,
    "category": pl.String,
    "subject": pl.String,
    "sure": pl.Boolean,
    "photographer": pl.String,
    "longer_side": pl.Int64,
    "note": pl.String,
}


def recognised(folder: str | Path) -> pl.DataFrame:
    """Say which pictures below a folder are photographs of NPRgeneral.

    Args:
        folder: where pictures lie; others are passed over.

    Returns:
        One row per recognised file, by name: image (path below the folder), name, by ('md5': the published file, bit by
        bit; 'name': it is called so, with or without 1024), category, subject, sure, photographer, longer_side (pixels;
        null: not a readable picture) and note (what to know; null: nothing). A file known by its MD5 stands in the way
        of others of the same name.

    Raises:
        NotFound: no such folder.
        BadInput: a file cannot be opened.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise NotFound.path(folder, "folder of pictures")
    rows = []
    for path in sorted(p for p in folder.rglob("*") if p.is_file() and p.suffix.lower() in ENDINGS):
        digest = _md5(path)
        called = _called(path.stem)
        name = _BY_MD5.get(digest, called)
        if name is None:
            continue
        exact = digest in _BY_MD5
        longer = longer_side(path)
        rows.append(
            {
                "image": path.relative_to(folder).as_posix(),
                "name": name,
                "by": "md5" if exact else "name",
                **PHOTOGRAPHS[name]._asdict(),
                "longer_side": longer,
                "note": _note(name, called, exact, longer),
            }
        )
    known = {row["name"] for row in rows if row["by"] == "md5"}
    kept = [row for row in rows if row["by"] == "md5" or row["name"] not in known]
    return pl.DataFrame(kept, schema=_SCHEMA).sort("name", "image")


def cards_of(found: pl.DataFrame) -> Cards:
    """Give content cards for recognised files, under the names that the files have.

    Args:
        found: what `recognised` gave.

    Raises:
        BadTable: two files have one name.
    """
    rows = [
        {
            "factor": "content",
            "level": Path(row["image"]).stem,
            "category": row["category"],
            "title": row["name"],
            "artist": row["photographer"],
            "medium": "photograph",
            "licence": "unknown; the set's authors say that it permits distribution of modified versions",
            "source": f"NPRgeneral, {row['name']} (recognised by {row['by']})",
        }
        for row in found.iter_rows(named=True)
    ]
    return Cards(pl.DataFrame(rows, schema=dict.fromkeys(CARDS.names, pl.String)))


def _called(stem: str) -> str | None:
    """The photograph that a file's name claims to be."""
    word = stem.lower().removesuffix("1024").rstrip("_- ")
    word = _ALIASES.get(word, word)
    return word if word in PHOTOGRAPHS else None


def _note(name: str, called: str | None, exact: bool, longer: int | None) -> str | None:
    notes = []
    if not exact:
        notes.append("recognised by name only: another file than the published one, perhaps another picture")
    elif called is not None and called != name:
        notes.append(f"called '{called}', but it is '{name}'")
    if longer is None:
        notes.append("not a readable picture")
    elif longer != LONGER_SIDE:
        notes.append(f"longer side {longer} px, the published file has {LONGER_SIDE}")
    return "; ".join(notes) or None


def _md5(path: Path) -> str:
    try:
        if path.stat().st_size > MAX_BYTES:
            return ""
        return hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror})", where=str(path)) from error

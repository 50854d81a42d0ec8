"""A folder of pictures as a table: names, cards and properties, one row per picture."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
from PIL import Image

from ...errors import BadInput, NotFound
from ...images import read_image
from ...images.files import ENDINGS
from ...parallel import spread
from .cards import CARDS, Cards, with_levels
from .properties import PROPERTIES, SIDE, picture_properties

__all__ = ["Pool", "longer_side", "named_pictures", "picture_pool"]

_OWN = ("picture", "image", "order", "nearest", "distance", "longer_side", *PROPERTIES)


class Pool(NamedTuple):
    """Pictures to choose from."""

    frame: pl.DataFrame
    """One row per picture, by name: picture, image (path below the folder), the columns of `CARDS` (and what else the
    cards hold), longer_side (pixels of the file), and one column per property."""
    notes: tuple[str, ...]
    """What a reader must know, one line each."""


def picture_pool(
    folder: Path,
    *,
    cards: Cards | None = None,
    factor: str = "content",
    side: int = SIDE,
    jobs: int = 1,
    quiet: bool = True,
) -> Pool:
    """Measure every picture below a folder and put its card beside it.

    Args:
        folder: where pictures lie.
        cards: what is known of them; None: cards.csv in the folder or the one above, if there.
        factor: whose cards are meant.
        side: working size of the properties, pixels of the longer side, >= 16. Levels of colour and detail that a card
            does not say are computed only at the usual one, for which their bounds are set.
        jobs: worker processes, >= 1.
        quiet: show no progress.

    Raises:
        NotFound: no such folder.
        BadInput: no picture, two with one name, or a card column with a name that the table needs.
        BadImage: a picture cannot be read.
    """
    found = named_pictures(folder)
    measured = spread(partial(_measured, side=side), list(found.values()), jobs=jobs, label="measuring", quiet=quiet)
    if cards is None:
        beside = [place for place in (folder / "cards.csv", folder.resolve().parent / "cards.csv") if place.exists()]
        cards = Cards.read(beside[0]) if beside else None
    known = cards if cards is not None else Cards(pl.DataFrame(schema=dict.fromkeys(CARDS.names, pl.String)))
    clash = sorted(set(known.frame.columns) & set(_OWN))
    if clash:
        raise BadInput(f"cards: column '{clash[0]}' is a word of the selection itself; rename it", where="cards")
    held = {row["level"]: row for row in known.frame.filter(pl.col("factor") == factor).iter_rows(named=True)}
    empty = dict.fromkeys(known.frame.columns)
    rows = []
    for (name, path), values in zip(found.items(), measured, strict=True):
        card = held.get(name, {**empty, "factor": factor, "level": name})
        rows.append(
            {
                "picture": name,
                "image": path.relative_to(folder).as_posix(),
                **(with_levels(card, values) if side == SIDE else card),
                **values,
            }
        )
    schema: dict[str, Any] = {
        "picture": pl.String,
        "image": pl.String,
        **known.frame.schema,
        **dict.fromkeys(("longer_side", *PROPERTIES), pl.Float64),
    }
    notes = []
    without = [name for name in found if name not in held]
    if cards is not None and without:
        notes.append(f"{len(without)} of {len(found)} pictures have no card of '{factor}': {', '.join(without[:5])}")
    small = sum(values["longer_side"] < side for values in measured)
    if small:
        notes.append(
            f"{small} of {len(found)} pictures are smaller than the working size of {side} px and were enlarged"
        )
    return Pool(pl.DataFrame(rows, schema=schema), tuple(notes))


def named_pictures(folder: Path) -> dict[str, Path]:
    """Find every picture below a folder: name (the file's without ending) -> file, by name.

    Raises:
        NotFound: no such folder.
        BadInput: no picture, or two with one name.
    """
    if not folder.is_dir():
        raise NotFound.path(folder, "folder of pictures")
    found: dict[str, Path] = {}
    for path in sorted(p for p in folder.rglob("*") if p.is_file() and p.suffix.lower() in ENDINGS):
        if any(part.startswith(".") for part in path.relative_to(folder).parts):
            continue
        name = unicodedata.normalize("NFC", path.stem)
        if name in found:
            first, second = (p.relative_to(folder).as_posix() for p in (found[name], path))
            raise BadInput(f"'{first}' and '{second}' have one name; rename one of them", where=str(path))
        found[name] = path
    if not found:
        raise BadInput(f"no picture in '{folder}'; pictures end in {', '.join(ENDINGS)}", where=str(folder))
    return dict(sorted(found.items()))


def longer_side(path: Path) -> int | None:
    """Give the longer side of a picture file in pixels, from its header alone; None: no readable picture."""
    try:
        with Image.open(path) as opened:
            return max(opened.size)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None


def _measured(path: Path, *, side: int) -> Mapping[str, float]:
    picture = read_image(path)
    return {"longer_side": float(max(picture.shape[:2])), **picture_properties(picture, side=side)}

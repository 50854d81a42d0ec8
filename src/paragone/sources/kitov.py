"""Style Transfer Dataset of Kitov et al.: contents x styles x four style sizes, each rated by the same three people."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from ..judgements import Ratings
from .bare import read_ratings
from .layout import benchmark_of, file_in, no_references, peek, require
from .records import Imported, Source

__all__ = ["SOURCE"]

_COLUMNS = ["content", "style", "style_size", "rater1", "rater2", "rater3"]
_METHOD = "ArtFlow"  # every picture was made with it (section 3 of the paper)


def _read(path: str | Path) -> Imported:
    """Ratings 1 to 10 on 'content/style/size'; contents and styles are references where their pictures are there.

    Factors: method (one), content, style, style_size (pixels to which the style picture was scaled).
    """
    file = file_in(path, "ratings.csv")
    reading = read_ratings(file, {"item": "content+style+style_size", "participant": "rater*"})
    frame = reading.noun.frame
    require(frame, ["content", "style", "style_size"], file.name)
    items = frame.select("item", pl.lit(_METHOD).alias("method"), "content", "style", "style_size")
    folder = file.parent
    references = pl.concat([_pictures(items, factor, folder) for factor in ("content", "style")])
    return Imported(
        benchmark=benchmark_of(
            items,
            name=SOURCE.name,
            references=references,
            folder=folder,
            description=SOURCE.summary,
            licence=SOURCE.licence,
        ),
        ratings=Ratings(frame),
        notes=(*reading.notes, "the stylised pictures are not part of the public repository; items have no picture"),
    )


def _pictures(items: pl.DataFrame, factor: str, folder: Path) -> pl.DataFrame:
    levels = items[factor].unique().sort().to_list()
    named = {level: f"{factor}s/{factor}_{level}.jpg" for level in levels}
    there = {level: name for level, name in named.items() if (folder / name).is_file()}
    if not there:
        return no_references()
    return pl.DataFrame({"factor": [factor] * len(there), "level": list(there), "image": list(there.values())})


def _fits(path: Path) -> bool:
    return peek(path, "ratings.csv").columns == _COLUMNS


SOURCE = Source(
    name="kitov",
    summary="Style Transfer Dataset: stylisations of 50 contents, each rated 1 to 10 by the same three people",
    gives=("benchmark", "ratings"),
    licence="CC BY 4.0 (victorkitov/style-transfer-dataset); some style pictures may be protected",
    citation="Kitov, Abramov, Akhtyrchenko, Style Transfer Dataset: What Makes A Good Stylization?, arXiv 2412.17139",
    read=_read,
    fits=_fits,
)

"""AGIQA-3K: mean opinion scores of 2,982 generated pictures for quality and for alignment with the prompt."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from ..scores import Scores
from ..tables import read_table
from .bare_scores import read_scores
from .layout import benchmark_of, file_in, peek, require
from .records import Imported, Source

__all__ = ["SOURCE"]

_FILE = "agiqa3k_data.csv"
_COLUMNS = ["name", "prompt", "adj1", "adj2", "style", "mos_quality", "std_quality", "mos_align", "std_align"]
_NAME = r"^(.+)_([A-Za-z]+)_(\d+)\.jpg$"
_CRITERIA = {"quality": "quality", "align": "alignment"}


def _read(path: str | Path, *, images: str | Path | None = None) -> Imported:
    """Scores on the criteria quality and alignment, with the standard deviation over people in a column `sd`.

    Factors: method (the generator), variant (normal, lowstep, lowcorr, highcorr), prompt, adj1, adj2, style.

    Args:
        path: the folder of labels, or agiqa3k_data.csv (data.csv in the source).
        images: folder of the pictures, where there is one; items whose picture is missing have none.
    """
    file = file_in(path, _FILE, "data.csv")
    table = read_table(file)
    require(table, _COLUMNS, file.name)
    folder = Path(images) if images is not None else file.parent
    picture = [name if name and (folder / name).is_file() else None for name in table["name"]]
    items = table.select(
        pl.col("name").alias("item"),
        pl.Series("image", picture, dtype=pl.String),
        pl.col("name").str.extract(_NAME, 1).alias("method"),
        pl.col("name").str.extract(_NAME, 2).alias("variant"),
        "prompt",
        "adj1",
        "adj2",
        "style",
    )
    numbers = {scores.name: scores.frame for scores in read_scores(file, {"item": "name"}).noun}
    parts = [
        numbers[f"mos_{theirs}"]
        .with_columns(pl.lit(ours).alias("criterion"))
        .join(numbers[f"std_{theirs}"].select("item", pl.col("score").alias("sd")), on="item", maintain_order="left")
        for theirs, ours in _CRITERIA.items()
    ]
    return Imported(
        benchmark=benchmark_of(
            items,
            name=SOURCE.name,
            criteria=list(_CRITERIA.values()),
            folder=folder,
            description=SOURCE.summary,
            licence=SOURCE.licence,
        ),
        scores=(Scores(pl.concat(parts), "human", "higher", {"verb": "import", "source": file.name}),),
    )


def _fits(path: Path) -> bool:
    return peek(path, _FILE, "data.csv").columns == _COLUMNS


SOURCE = Source(
    name="agiqa3k",
    summary="AGIQA-3K: mean opinion scores of 2,982 pictures by six generators for quality and alignment, labels only",
    gives=("benchmark", "scores"),
    licence="MIT (lcysyzxdxc/AGIQA-3k-Database)",
    citation="Li, Zhang, Wu, Sun, Min, Liu, Zhai and Lin, AGIQA-3K, IEEE TCSVT, 2023",
    read=_read,
    fits=_fits,
)

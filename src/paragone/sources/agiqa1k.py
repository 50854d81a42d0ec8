"""AGIQA-1K: mean opinion scores of 1,080 generated pictures; labels come from the prompt, not from the name."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from ..errors import BadTable
from ..scores import Scores
from ..tables import read_table, shown
from .bare_scores import read_scores
from .layout import benchmark_of, file_in, peek, require
from .records import Imported, Source

__all__ = ["SOURCE"]

_MOS = ("agiqa1k_mos_zscore.csv", "AIGC_MOS_Zscore.xlsx")  # the second is the name at the source
_PLAIN = ("agiqa1k_AIGC_all.csv", "AIGC_all.csv")
_NAME = r"^(deepai|dreamStudio)_(\d+)_(\d+)_(\d)_(\d)\.jpg$"
_LABELS = ("object", "action", "place", "style")
_SECONDS = 10  # dreamStudio: 9 objects x 10 second objects x 2 x 2
_GRID = [
    f"{model}_{first}_{second}_{place}_{style}.jpg"
    for model, firsts, seconds in (("deepai", 12, 15), ("dreamStudio", 9, _SECONDS))
    for first in range(firsts)
    for second in range(seconds)
    for place in range(2)
    for style in range(2)
]


def _read(path: str | Path, *, images: str | Path | None = None) -> Imported:
    """Scores (the z-scored MOS, 0 to 5) and items with factors method, prompt, object, action, place, style.

    Labels come from the prompt column: dreamStudio numbers its objects anew, so the number in a name means another
    object there than the published key says. A name that stands twice with two scores has no score, and the notes say
    so. The plain means of the second file are another rating (they correlate only .84), so they are other Scores.

    Args:
        path: the folder of labels, agiqa1k_mos_zscore.csv, or AIGC_MOS_Zscore.xlsx as published.
        images: folder of the pictures, where there is one; items whose picture is missing have none.
    """
    file = file_in(path, *_MOS)
    table = read_table(file)
    table = table.rename({name: name.lower() for name in table.columns})
    require(table, ["image", "prompt", "mos"], file.name)
    notes: list[str] = []
    labels = table["prompt"].str.split(", ")
    bad = (labels.list.len() != len(_LABELS)).arg_true()
    if len(bad):
        raise BadTable.of_faults(
            file.name, [f"row {k + 2}: prompt '{shown(table['prompt'][k])}' is not four words or phrases" for k in bad]
        )
    parts = pl.DataFrame({name: labels.list.get(k) for k, name in enumerate(_LABELS)})
    method = table["image"].str.extract(_NAME, 1).alias("method")
    odd = table.filter(method.is_null())["image"].to_list()
    if odd:
        notes.append(f"{len(odd)} names are not of the set's form: {', '.join(shown(name) for name in odd[:5])}")
    folder = Path(images) if images is not None else file.parent
    picture = [name if (folder / name).is_file() else None for name in table["image"]]
    items = pl.DataFrame(
        [
            table["image"].alias("item"),
            pl.Series("image", picture, dtype=pl.String),
            method,
            table["prompt"],
            *parts.iter_columns(),
        ]
    )
    mos = table.select(pl.col("image").alias("item"), pl.col("mos").cast(pl.Float64, strict=False).alias("score"))
    broken = (mos["score"].is_null() & table["mos"].is_not_null()).arg_true()
    if len(broken):
        faults = [f"row {k + 2}: mos '{shown(table['mos'][k])}' is not a finite number" for k in broken]
        raise BadTable.of_faults(file.name, faults)
    twice = mos.filter(pl.col("item").is_duplicated())["item"].unique().sort().to_list()
    for name in twice:
        rows = (mos["item"] == name).arg_true()
        where = " and ".join(str(k + 2) for k in rows)
        notes.append(f"{name} stands twice (rows {where}) with two scores; which is right is unknown, so it has none")
    double = pl.col("item").is_in(twice)
    mos = mos.with_columns(
        pl.when(~double).then("score").alias("score"), pl.when(double).then(pl.lit("double")).alias("status")
    ).unique("item", maintain_order=True)
    absent = sorted(set(_GRID) - set(mos["item"]))
    if absent and len(absent) < len(_GRID) / 2:
        notes.append(f"the design has {len(absent)} more: {', '.join(absent[:5])}")
    made = {"verb": "import", "source": file.name}
    scores = [Scores(mos, "human", "higher", made)]
    plain = next((file.parent / name for name in _PLAIN if (file.parent / name).is_file()), None)
    if plain is not None:
        second = read_scores(plain, {"item": "Image", "score": "Score"}, better="higher").noun[0]
        scores.append(Scores(second.frame, "human-plain-mean", "higher", second.made))
        shared = len(set(mos["item"]) & set(second.frame["item"]))
        notes.append(f"{plain.name} holds another rating of the same pictures; {shared} names are in both files")
    return Imported(
        benchmark=benchmark_of(
            items, name=SOURCE.name, folder=folder, description=SOURCE.summary, licence=SOURCE.licence
        ),
        scores=tuple(scores),
        notes=tuple(notes),
    )


def _fits(path: Path) -> bool:
    frame = peek(path, *_MOS)
    return {"image", "prompt", "mos"} <= set(frame.columns) and bool(frame["image"].str.contains(_NAME).all())


SOURCE = Source(
    name="agiqa1k",
    summary="AGIQA-1K: mean opinion scores of 1,080 pictures by two generators, labels only",
    gives=("benchmark", "scores"),
    licence="MIT (lcysyzxdxc/AGIQA-1k-Database)",
    citation="Zhang, Li, Sun, Liu, Min and Zhai, A Perceptual Quality Assessment Exploration for AIGC Images, 2023",
    read=_read,
    fits=_fits,
)

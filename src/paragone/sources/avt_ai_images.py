"""AVT-AI-Images: pictures of five generators and the authors' photographs, rated by two groups of people.

Two layouts: the folder with pictures and `ratings_study1_2022.csv`, `ratings_study2_2023.csv`, and the one long table
`ratings.csv` of study 1 with all 27 prompts, beside which published means and metric values may lie.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import polars as pl

from ..errors import BadConfig
from ..judgements import Ratings
from ..scores import Better, Scores
from ..tables import read_table
from .bare import read_ratings
from .bare_scores import read_scores
from .layout import benchmark_of, file_in, peek, require
from .records import Imported, Reading, Source

__all__ = ["SOURCE"]

_STUDIES = {1: "ratings_study1_2022.csv", 2: "ratings_study2_2023.csv"}
_LONG = "ratings.csv"
_TRIALS = ["rater", "image", "criterion", "rating", "seconds_since_previous", "trial"]
_ROWS = ["rater", "item", "generator", "prompt", "criterion", "score", "response_time_s", "rater_complete"]
_FINISHED = 400 / 438  # the authors keep raters with more than 400 of the 438 answers of study 1
_PHOTOGRAPHS = "own"
_BETTER: dict[str, Better] = {
    "BRISQUE": "lower",
    "DBCNN": "higher",
    "ILNIQE": "lower",
    "MANIQA": "higher",
    "MUSIQ": "higher",
    "NIQE": "lower",
}


def _read(path: str | Path, *, study: Literal[1, 2] = 1, own: bool = True) -> Imported:
    """Ratings on 'generator/prompt', with the pictures that are there.

    Factors: `method` (the generator; null for the authors' photographs, so that scores by method leave them out),
    `origin` (generated or photograph), `prompt_id`, and where prompts.csv lies beside, `prompt` and `category`.
    The kept column `complete` says whether a rater answered more than 400/438 of the study, the authors' own rule.

    Args:
        path: the folder, or one of its tables of ratings.
        study: which of the two studies of the folder with pictures; their raters are other people.
        own: keep the authors' photographs, which no generator made.

    Raises:
        BadConfig: no such study.
    """
    if study not in _STUDIES:
        raise BadConfig(f"study {study} is not one of 1, 2", where="study")
    file = file_in(path, _STUDIES[study], _LONG)
    reading = _trials(file) if "trial" in peek(file).columns else _long(file)
    frame, notes = reading.noun.frame, list(reading.notes)
    if (
        Path(path).is_dir()
        and file.name == _STUDIES[study]
        and all((file.parent / s).exists() for s in _STUDIES.values())
    ):
        notes.append(f"study {study} of two is read; study={3 - study} reads the other")
    if not own:
        dropped = frame.filter(pl.col("item").str.starts_with(f"{_PHOTOGRAPHS}/")).height
        frame = frame.filter(~pl.col("item").str.starts_with(f"{_PHOTOGRAPHS}/"))
        notes.append(f"{dropped} ratings of the authors' photographs are left out")
    late = frame.filter(pl.col("seconds") < 0).height
    if late:
        notes.append(f"{late} response times are below zero in the source")
    frame = _completed(frame)
    items = _items(frame, file.parent)
    ratings = Ratings(
        frame.join(items.select("item", "method", "origin", "prompt_id"), on="item", maintain_order="left")
    )
    benchmark = benchmark_of(
        items,
        name=SOURCE.name,
        criteria=frame["criterion"].unique(maintain_order=True).to_list(),
        folder=file.parent,
        description=SOURCE.summary,
        licence=SOURCE.licence,
    )
    unseen = benchmark.items.filter(pl.col("image").is_null())["item"].to_list()
    if len(unseen) < benchmark.items.height and unseen:
        notes.append(f"{len(unseen)} rated items have no picture: {', '.join(unseen[:5])}")
    return Imported(benchmark=benchmark, ratings=ratings, scores=_beside(file.parent), notes=tuple(notes))


def _trials(file: Path) -> Reading[Ratings]:
    reading = read_ratings(
        file,
        {"participant": "rater", "item": "image", "value": "rating", "seconds": "seconds_since_previous"},
        copies="keep",
    )
    # The clock stands at 0.0 on the second and third criterion of a trial: they share the seconds of the first. A page
    # that was loaded again gives a second block of the same trial, told by its own first criterion.
    frame = reading.noun.frame
    lead = frame["criterion"][0]
    block = (pl.col("criterion") == lead).cum_sum().alias("block")
    spread = pl.col("seconds").first().over("block")
    frame = frame.with_columns(block).with_columns(spread.alias("seconds")).drop("block")
    return Reading(Ratings(frame), reading.notes, reading.mapped)


def _long(file: Path) -> Reading[Ratings]:
    columns = {"participant": "rater", "value": "score", "seconds": "response_time_s"}
    reading = read_ratings(file, columns)
    require(reading.noun.frame, ["generator", "prompt"], file.name)
    extra = [name for name in ("generator", "prompt", "rater_complete") if name in reading.noun.frame.columns]
    return Reading(Ratings(reading.noun.frame.drop(extra)), reading.notes, reading.mapped)


def _completed(frame: pl.DataFrame) -> pl.DataFrame:
    asked = frame.select("item", "criterion").unique().height
    answered = pl.struct("item", "criterion").n_unique().over("participant")
    return frame.with_columns((answered > asked * _FINISHED).cast(pl.String).alias("complete"))


def _items(frame: pl.DataFrame, folder: Path) -> pl.DataFrame:
    items = frame.select("item").unique().sort("item")
    generator, prompt = (pl.col("item").str.split("/").list.get(k, null_on_oob=True) for k in (0, 1))
    own = generator == _PHOTOGRAPHS
    pictures = [f"images/{item.replace('/', '_', 1)}.jpg" for item in items["item"]]
    there = [name if (folder / name).is_file() else None for name in pictures]
    items = items.with_columns(
        pl.Series("image", there, dtype=pl.String),
        pl.when(~own).then(generator).alias("method"),
        pl.when(own).then(pl.lit("photograph")).otherwise(pl.lit("generated")).alias("origin"),
        prompt.alias("prompt_id"),
    )
    texts = folder / "prompts.csv"
    if not texts.is_file():
        return items
    table = read_table(texts)
    require(table, ["ID", "prompts", "category"], texts.name)
    named = table.select(
        pl.col("ID").alias("prompt_id"), pl.col("prompts").str.strip_chars().alias("prompt"), pl.col("category")
    )
    return items.join(named, on="prompt_id", how="left", maintain_order="left")


def _beside(folder: Path) -> tuple[Scores, ...]:
    found: list[Scores] = []
    metrics, means = folder / "metric_values.csv", folder / "published_means.csv"
    if metrics.is_file():
        for scores in read_scores(metrics).noun:
            found.append(Scores(scores.frame, scores.name, _BETTER.get(scores.name, "unknown"), scores.made))
    if means.is_file():
        made = [
            scores.frame.with_columns(pl.lit(scores.name.removesuffix("_mean")).alias("criterion"))
            for scores in read_scores(means).noun
            if scores.name.endswith("_mean")
        ]
        if made:
            found.append(Scores(pl.concat(made), "published-means", "higher", {"verb": "import", "source": means.name}))
    return tuple(found)


def _fits(path: Path) -> bool:
    frame = peek(path, *_STUDIES.values(), _LONG)
    ids = "image" if frame.columns == _TRIALS else "item" if frame.columns == _ROWS else None
    return ids is not None and bool(frame[ids].str.contains(r"^[\w-]+/p\d\d$").all())


SOURCE = Source(
    name="avt_ai_images",
    summary="AVT-AI-Images: generated pictures and photographs, appeal, realism and prompt matching rated 1 to 5",
    gives=("benchmark", "ratings", "scores"),
    licence="GPL-3.0 (Telecommunication-Telemedia-Assessment/avt_ai_images)",
    citation="Goering, Rao, Merten and Raake, IEEE Access, 2023, doi 10.1109/ACCESS.2023.3267968; QoMEX 2023 (study 2)",
    read=_read,
    fits=_fits,
)

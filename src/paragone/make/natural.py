"""How generated pictures differ from natural ones in five attributes, and whether 'blurrier, with more spatial information'
holds of them.

Light, contrast, colourfulness, blur and SI are measured on both sets at one size; differences, distances and the likeness
to a Gaussian come with intervals from pictures drawn again (whole prompts where they are known).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Literal, NamedTuple

import numpy as np
import polars as pl

from ..benchmark import Benchmark
from ..errors import BadConfig, BadImage, TooFew
from ..images import read_image
from ..metric import Metric
from ..metrics.attributes import BLUR, COLOURFULNESS, CONTRAST, LIGHT, SI
from ..parallel import spread
from .photographs import listed_pictures
from .references.pool import longer_side
from .references.properties import at_side
from .samples import two_samples

__all__ = ["ATTRIBUTES", "CLAIMS", "Claim", "NaturalComparison", "compare_natural"]

ATTRIBUTES: Mapping[str, Metric] = MappingProxyType(
    {metric.name: metric for metric in (LIGHT, CONTRAST, COLOURFULNESS, BLUR, SI)}
)
"""Name -> attribute, in the order of figure 3 of AGIQA-1K."""


class Claim(NamedTuple):
    """A sentence about generated pictures that one mean decides."""

    text: str
    attribute: str
    """The mean of generated minus natural pictures must be above 0 for the claim to hold."""


CLAIMS = (
    Claim("generated pictures are blurrier", "blur"),
    Claim("generated pictures have more spatial information", "si"),
)
"""What AGIQA-1K concludes from its figure 3: Zhang et al., 'A perceptual quality assessment exploration for AIGC images',
2023."""

_LARGEST_SIDE = 512
_SMALLEST_SHORT_SIDE = BLUR.smallest or 11
Verdict = Literal["supported", "contradicted", "open"]


@dataclass(frozen=True)
class NaturalComparison:
    """Attributes of generated and natural pictures beside each other."""

    pictures: pl.DataFrame
    """One row per picture: picture, image (path), origin ('generated' or 'natural'), generator, prompt (null: not known),
    and one column per attribute (null: the picture does not determine it)."""
    table: pl.DataFrame
    """One row per attribute, generator (null: all together) and statistic: attribute, generator, statistic, unit, value,
    low, high (null: no interval), chance (95 % point of the statistic where there is no difference, or of Gaussian
    samples; null: the statistic may have either sign), n_generated, n_natural, units (resampled: pictures or prompts, of
    the smaller side). Differences are generated minus natural; 'gaussian' is the distance from a Gaussian in deviations."""
    claims: pl.DataFrame
    """One row per claim and generator (null: all together): claim, attribute, generator, verdict, value, low, high."""
    side: int
    """Longer side in pixels at which all pictures were measured."""
    resizer: str
    layout: str
    """Layout of the natural pictures' folder, or 'benchmark'."""
    level: float
    replicates: int
    seed: int
    resampled: str
    """What was drawn again: 'pictures', or 'prompts'."""
    notes: tuple[str, ...] = ()
    """What a reader must know, one line each."""

    @property
    def generators(self) -> list[str]:
        """Names of the generators, sorted; empty: they are not known."""
        return self.pictures["generator"].drop_nulls().unique().sort().to_list()


def compare_natural(
    generated: Benchmark | str | Path,
    natural: Benchmark | str | Path,
    *,
    generator: str = "method",
    prompt: str = "prompt",
    side: int | None = None,
    resizer: str = "area",
    most_natural: int = 1000,
    replicates: int = 1000,
    level: float = 0.95,
    seed: int = 0,
    jobs: int = 1,
    quiet: bool = True,
) -> NaturalComparison:
    """Measure both sets and compare their distributions, all generators together and each alone.

    Args:
        generated: a benchmark, or a folder of pictures.
        natural: photographs: a benchmark, or a folder; KonIQ-10k's is recognised (`photographs.natural_folder`).
        generator: factor that names what made a picture; where a benchmark has none, all count as one.
        prompt: factor that names what was asked for; pictures of one prompt are drawn together, in both sets where both
            know it, since they show one thing. Where neither has it, pictures are drawn one by one.
        side: longer side in pixels to which every picture is brought, >= 64, proportions kept; None: the largest at which
            none is enlarged, at most 512. Blur and SI depend on it: at another size the verdict may be another.
        resizer: a name of `images.RESIZERS`.
        most_natural: of a larger set of natural pictures so many are drawn by the seed, >= 2.
        replicates: of the bootstrap, >= 100.
        level: of the intervals, in (0, 1).
        seed: of all that is drawn.
        jobs: worker processes for measuring; the result does not depend on it.
        quiet: show no progress.

    Returns:
        The comparison. Intervals of differences are percentiles, widened for few units; those of distances begin at 0
        where the distance is no larger than chance gives.

    Raises:
        NotFound: a folder or picture does not exist.
        BadImage: a picture cannot be read, or is too narrow for blur at the size.
        BadConfig: an argument outside its range.
        TooFew: fewer than two pictures, or two units to draw, on either side.
    """
    if (side is not None and side < 64) or replicates < 100 or most_natural < 2 or not 0.0 < level < 1.0:
        raise BadConfig(
            "side must be 64 or more, replicates 100, most_natural 2, and level inside (0, 1)", where="natural"
        )
    one = listed_pictures(generated, "generated", generator=generator, prompt=prompt)
    other = listed_pictures(natural, "natural", generator=None, prompt=prompt)
    made, real, notes = one.frame, other.frame, [*one.notes, *other.notes]
    if real.height > most_natural:
        notes.append(f"{most_natural} of {real.height} natural pictures were drawn (seed {seed})")
        chosen = np.sort(np.random.default_rng(seed).permutation(real.height)[:most_natural])
        real = real[chosen]
    for name, frame in (("generated", made), ("natural", real)):
        if frame.height < 2:
            raise TooFew(f"{frame.height} {name} picture; a distribution needs two or more")
    listed = pl.concat([made, real])
    paths = [Path(image) for image in listed["image"]]
    longest = [longer_side(path) or 0 for path in paths]
    side = side or max(64, min(_LARGEST_SIDE, *longest))
    small = sum(0 < pixels < side for pixels in longest)
    if small:
        notes.append(f"{small} of {len(paths)} pictures are smaller than {side} px and were enlarged, which blurs them")
    measure = partial(_attributes, side=side, resizer=resizer)
    values = spread(measure, paths, jobs=jobs, label="measuring", quiet=quiet)
    pictures = listed.with_columns(
        pl.Series(name, [row[name] for row in values], dtype=pl.Float64).fill_nan(None) for name in ATTRIBUTES
    )
    table, claims, resampled, few = _compared(pictures, replicates, level, seed)
    return NaturalComparison(
        pictures, table, claims, side, resizer, other.layout, level, replicates, seed, resampled, (*notes, *few)
    )


def _attributes(path: Path, *, side: int, resizer: str) -> dict[str, float]:
    picture = at_side(read_image(path), side, resizer=resizer)
    if min(picture.shape[:2]) < _SMALLEST_SHORT_SIDE:
        raise BadImage(
            f"{path}: its shorter side is {min(picture.shape[:2])} px at a longer side of {side}; blur needs "
            f"{_SMALLEST_SHORT_SIDE}: leave it out or give a larger side",
            where=str(path),
        )
    return {name: float(metric.compute(picture)) for name, metric in ATTRIBUTES.items()}


def _compared(
    pictures: pl.DataFrame, replicates: int, level: float, seed: int
) -> tuple[pl.DataFrame, pl.DataFrame, str, list[str]]:
    """The tables of a comparison, what was resampled, and notes."""
    generators: list[str | None] = [None, *pictures["generator"].drop_nulls().unique().sort().to_list()]
    if len(generators) == 2:
        generators = [None]
    rows, notes = [], []
    for name in generators:
        chosen = pl.col("origin") == "natural"
        part = pictures.filter(
            chosen | (pl.lit(True) if name is None else pl.col("generator").eq_missing(pl.lit(name)))
        )
        for attribute in ATTRIBUTES:
            known = part.drop_nulls(attribute)
            if name is None and known.height < part.height:
                flat = part.height - known.height
                notes.append(f"{flat} picture{'s' * (flat > 1)} without any gradient: no {attribute}")
            made, real = (known.filter(pl.col("origin") == word) for word in ("generated", "natural"))
            found = two_samples(
                made[attribute].to_numpy(),
                real[attribute].to_numpy(),
                made["prompt"].to_list(),
                real["prompt"].to_list(),
                replicates=replicates,
                level=level,
                seed=seed,
            )
            about, unit = {"attribute": attribute, "generator": name}, ATTRIBUTES[attribute].unit
            rows += [{**about, **row._asdict(), "unit": row.unit or unit} for row in found]
    table = pl.DataFrame(rows, schema=_TABLE).with_columns(pl.col(pl.Float64).fill_nan(None))
    means = {
        (row["attribute"], row["generator"]): row
        for row in table.filter(pl.col("statistic") == "mean difference").iter_rows(named=True)
    }
    claims = [
        {
            "claim": claim.text,
            "attribute": claim.attribute,
            "generator": name,
            "verdict": _verdict(means[claim.attribute, name]["low"], means[claim.attribute, name]["high"]),
            **{word: means[claim.attribute, name][word] for word in ("value", "low", "high")},
        }
        for claim in CLAIMS
        for name in generators
    ]
    resampled = "prompts" if pictures["prompt"].null_count() < pictures.height else "pictures"
    least = table["units"].min()
    if isinstance(least, int) and least < 20:
        notes.append(f"intervals rest on as few as {least} units to draw again; they are widened, but rough")
    schema = dict.fromkeys(("claim", "attribute", "generator", "verdict"), pl.String)
    return (
        table,
        pl.DataFrame(claims, schema={**schema, **dict.fromkeys(("value", "low", "high"), pl.Float64)}),
        resampled,
        notes,
    )


_TABLE = {
    "attribute": pl.String,
    "generator": pl.String,
    "statistic": pl.String,
    "unit": pl.String,
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "chance": pl.Float64,
    "n_generated": pl.Int64,
    "n_natural": pl.Int64,
    "units": pl.Int64,
}


def _verdict(low: float | None, high: float | None) -> Verdict:
    """A claim that a mean is above 0, judged by its interval."""
    if low is not None and low > 0:
        return "supported"
    return "contradicted" if high is not None and high < 0 else "open"

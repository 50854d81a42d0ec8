"""What pictures alone tell of a benchmark: which methods repeat each other, and how generated pictures differ from natural
ones."""

from __future__ import annotations

from pathlib import Path

from ..benchmark import Benchmark
from ..errors import UnknownName
from ..make.distinct import Distinct, distinct
from ..make.natural import NaturalComparison, compare_natural
from ..report.heat import distances_page
from ..report.natural import natural_page
from ..tables import write_table
from .answers import is_benchmark
from .outputs import may_write

__all__ = ["beside_natural", "methods_apart"]

_TABLES = ({"attribute", "generator", "statistic", "value"},)


def methods_apart(
    folder: Path,
    *,
    statistic: str = "",
    keep: int | None = None,
    threshold: float | None = None,
    weights: Path | None = None,
    factor: str = "method",
    seed: int = 0,
    output: Path | None = None,
    quiet: bool = True,
) -> tuple[Distinct, list[Path]]:
    """Compare the methods of a benchmark folder; write distinct.html, its table and figures.

    Args:
        folder: a benchmark's.
        statistic, keep, threshold, weights, factor, seed, quiet: as for `make.distinct.distinct`.
        output: the page; None: distinct.html in the folder.
    """
    apart = distinct(
        Benchmark.read(folder),
        statistic=statistic,
        factor=factor,
        keep=keep,
        threshold=threshold,
        weights=weights,
        seed=seed,
        quiet=quiet,
    )
    page = distances_page(apart, output or folder / "distinct.html")
    return apart, [page]


def beside_natural(
    pictures: Path,
    natural: Path,
    *,
    generator: str = "method",
    side: int | None = None,
    seed: int = 0,
    jobs: int = 1,
    output: Path | None = None,
    quiet: bool = True,
) -> tuple[NaturalComparison, list[Path]]:
    """Compare attributes of pictures with those of natural ones; write the page, the table and the claims.

    Args:
        pictures: a benchmark folder, or any folder of pictures.
        natural: a folder of photographs; KonIQ-10k's layout is recognised.
        generator, side, seed, jobs, quiet: as for `make.natural.compare_natural`.
        output: the page; None: attributes.html in the folder of pictures where that is a benchmark, else here.
    """
    ours = is_benchmark(pictures)
    page = output or (pictures if ours else Path()) / "attributes.html"
    may_write(page.with_suffix(".csv"), _TABLES)
    if ours and generator != "method" and generator not in (known := Benchmark.read(pictures)).factors:
        raise UnknownName.among(generator, known.factors, "factor")
    compared = compare_natural(
        Benchmark.read(pictures) if ours else pictures,
        Benchmark.read(natural) if is_benchmark(natural) else natural,
        generator=generator,
        side=side,
        seed=seed,
        jobs=jobs,
        quiet=quiet,
    )
    page = natural_page(compared, page)
    table = write_table(compared.table, page.with_name(f"{page.stem}.csv"))
    return compared, [page, table]

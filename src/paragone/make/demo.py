"""A small benchmark made from the pictures that ship with the package, by handcrafted stylisers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from .. import __version__
from ..benchmark import Benchmark
from ..design.checks import BROKEN
from ..errors import BadConfig, NotFound
from ..images import Picture, read_image, write_image
from ..parallel import spread
from ..settings import read_toml, write_toml
from ..tables import whole_file
from .new import new_benchmark
from .references.cards import Cards, completed, shipped_cards
from .stylise import STYLISERS, stylise

__all__ = ["broken_version", "demo_benchmark", "demo_pictures", "with_broken"]

_CONTENTS = ("astronaut", "castle", "cat", "coffee")
_STYLES = ("auvers_church", "cafe_terrace", "langlois_bridge")
_METHODS = ("bristles", "kuwahara", "monge-kantorovich", "patches", "reinhard", "strokes", "superpixels", "xdog")
_PATTERN = "results/{method}/{content}_stylized_{style}.png"


class _Job(NamedTuple):
    method: str
    content: str
    style: str


def demo_pictures() -> Path:
    """Return the folder of pictures that ship with the package: `contents`, `styles`, and a README with their rights.

    Raises:
        NotFound: the package was installed without them, or lies in an archive.
    """
    folder = Path(str(files("paragone.make").joinpath("pictures")))
    if not folder.is_dir():
        raise NotFound.path(folder, "folder of demo pictures")
    return folder


def demo_benchmark(
    folder: str | Path,
    *,
    contents: Sequence[str] = _CONTENTS,
    styles: Sequence[str] = _STYLES,
    methods: Sequence[str] | None = None,
    checks: int = 4,
    seed: int = 0,
    jobs: int = 1,
    quiet: bool = True,
) -> Benchmark:
    """Make a benchmark in a folder: every chosen styliser on every content and style, references beside them.

    Args:
        folder: where to; result pictures of the same seed and version that are there already are kept.
        contents, styles: names of shipped pictures.
        methods: names of stylisers; None: eight that need nothing beyond scikit-image.
        checks: results that also get a broken version for attention checks, >= 0.
        seed: of the stylisers that draw something at random, >= 0.
        jobs: worker processes; the pictures do not depend on it.
        quiet: show no progress.

    Returns:
        The benchmark, written to the folder; criteria content, style and overall; its description says how it was made.

    Raises:
        NotFound: no shipped picture of that name.
        UnknownName: no such styliser.
        BadConfig: no content, style or method is left, or more checks than results.
        MissingExtra: a styliser needs scikit-image, which is not installed.
    """
    folder = Path(folder)
    names = list(_METHODS if methods is None else methods)
    for name in names:
        STYLISERS.get(name)
    grid = [_Job(*cell) for cell in product(names, contents, styles)]
    if not grid:
        raise BadConfig("give at least one content, one style and one method", where="demo")
    if not 0 <= checks <= len(grid):
        raise BadConfig(f"checks is {checks}; it must be 0 to {len(grid)}, the number of results", where="checks")
    for kind, chosen in (("contents", contents), ("styles", styles)):
        for name in chosen:
            _copied(demo_pictures() / kind / f"{name}.jpg", folder / kind / f"{name}.jpg")
    _cleared(folder, seed)
    spread(partial(_made, folder=folder, seed=seed), grid, jobs=jobs, label="stylising", quiet=quiet)
    _copied(demo_pictures() / "README.md", folder / "PICTURES.md")
    _cards(folder, {"content": contents, "style": styles}).write(folder / "cards.csv")
    found = new_benchmark(
        _PATTERN,
        folder=folder,
        criteria=("content", "style", "overall"),
        references={"content": "contents/{content}.jpg", "style": "styles/{style}.jpg"},
        name="demo",
    )
    wanted = ["/".join(job) for job in grid]
    benchmark = Benchmark(
        found.items.filter(pl.col("item").is_in(wanted)),
        found.references,
        name="demo",
        criteria=found.criteria,
        folder=folder,
        description=f"{len(wanted)} results of {len(names)} handcrafted stylisers (paragone.make.stylise), seed {seed}",
        licence="photographs: public domain or CC0; paintings: public domain; see PICTURES.md",
    )
    benchmark = with_broken(benchmark, checks, seed=seed)
    benchmark.write(folder)
    return benchmark


def with_broken(benchmark: Benchmark, n: int, *, seed: int = 0) -> Benchmark:
    """Return the benchmark with broken versions of n items, their pictures written to `checks/` in its folder.

    A broken version is an item whose column `broken_of` names the sound one; the design uses it for attention checks
    only.

    Args:
        benchmark: items with pictures.
        n: how many; the items are drawn by the seed.
        seed: of the choice and of the damage, >= 0.

    Raises:
        BadConfig: fewer items with pictures than n, or the benchmark has broken versions already.
    """
    if n == 0:
        return benchmark
    if BROKEN in benchmark.factors:
        raise BadConfig("the benchmark has broken versions already; remove them first", where=BROKEN)
    shown = benchmark.items.filter(pl.col("image").is_not_null())
    if shown.height < n:
        raise BadConfig(f"{n} broken versions asked for, but {shown.height} items have a picture", where="checks")
    rng = np.random.default_rng(seed)
    rows = []
    for number, index in enumerate(np.sort(rng.permutation(shown.height)[:n]).tolist(), start=1):
        row = shown.row(index, named=True)
        image = f"checks/broken_{number:02d}.png"
        write_image(
            broken_version(read_image(benchmark.folder / row["image"]), seed=seed + number), benchmark.folder / image
        )
        rows.append({**row, "item": f"broken/{row['item']}", "image": image, BROKEN: row["item"]})
    sound = benchmark.items.with_columns(pl.lit(None, dtype=pl.String).alias(BROKEN))
    items = pl.concat([sound, pl.DataFrame(rows, schema=sound.schema)])
    return Benchmark(
        items,
        benchmark.references,
        name=benchmark.name,
        criteria=benchmark.criteria,
        folder=benchmark.folder,
        description=benchmark.description,
        licence=benchmark.licence,
        simulated=benchmark.simulated,
    )


def broken_version(image: Picture, *, seed: int) -> Picture:
    """Return a picture that nobody prefers: tiles shuffled, colours faded, grain laid over it.

    Args:
        image: (h, w, 3) in [0, 1].
        seed: of the shuffle and the grain, >= 0.
    """
    rng = np.random.default_rng(seed)
    height, width = image.shape[:2]
    side = max(1, min(height, width) // 6)
    rows, columns = height // side, width // side
    tiles = [(r * side, c * side) for r in range(rows) for c in range(columns)]
    broken = image.astype(np.float64)
    for (top, left), other in zip(tiles, rng.permutation(len(tiles)).tolist(), strict=True):
        a, b = tiles[other]
        broken[top : top + side, left : left + side] = image[a : a + side, b : b + side]
    broken = 0.5 + 0.35 * (broken.mean(axis=2, keepdims=True) - 0.5) + rng.normal(0.0, 0.12, broken.shape)
    damaged: Picture = np.clip(broken, 0.0, 1.0).astype(np.float32)
    return damaged


def _made(job: _Job, *, folder: Path, seed: int) -> None:
    path = folder / _PATTERN.format(**job._asdict())
    if path.exists():
        return
    content = read_image(folder / "contents" / f"{job.content}.jpg")
    style = read_image(folder / "styles" / f"{job.style}.jpg")
    write_image(stylise(content, style, job.method, seed=seed), path)


def _cards(folder: Path, chosen: Mapping[str, Sequence[str]]) -> Cards:
    """The cards of the chosen pictures, with what can be computed from them."""
    frame = shipped_cards().frame.filter(
        pl.any_horizontal(
            (pl.col("factor") == factor) & pl.col("level").is_in(levels) for factor, levels in chosen.items()
        )
    )
    pictures = {
        (factor, level): folder / f"{factor}s" / f"{level}.jpg" for factor, levels in chosen.items() for level in levels
    }
    return completed(Cards(frame), pictures)


def _cleared(folder: Path, seed: int) -> None:
    """Throw away results that another seed or version made; `results/made.toml` says which one did."""
    mark, made = folder / "results" / "made.toml", {"seed": seed, "version": __version__}
    if mark.exists() and read_toml(mark) == made:
        return
    for path in (folder / "results").glob("*/*_stylized_*.png"):
        path.unlink()
    write_toml(made, mark)


def _copied(source: Path, target: Path) -> None:
    if not source.is_file():
        raise NotFound.path(source.stem, f"shipped picture in {source.parent.name}")
    with whole_file(target) as aside:
        aside.write_bytes(source.read_bytes())

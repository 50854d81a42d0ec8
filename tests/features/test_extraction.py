"""Features come out the same however they are cut into batches, processes and runs, and each picture is read once."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from installed import needed
from paragone.benchmark import Benchmark
from paragone.errors import BadConfig, BadInput, TooFew, UnknownName
from paragone.features import describer, torch_threads
from paragone.features.described import Features
from paragone.features.extraction import extract, vector
from paragone.features.nets import ALEXNET
from paragone.images import read_image, write_image

torch: Any = needed("torch")

SIDE = 64
CONTENTS, STYLES, METHODS = ("cat", "fox"), ("ink", "oil", "wax"), ("blur", "noise", "swap")


@dataclass
class Counting:
    """A network that counts what goes through it, and may be told to stop in the middle."""

    network: Any
    pictures: int = 0
    stop_after: int | None = None
    digest: str = ""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.network, name)

    @property
    def sha256(self) -> str:
        return self.digest

    def __call__(self, batch: Any) -> Any:
        if self.stop_after is not None and self.pictures >= self.stop_after:
            raise KeyboardInterrupt
        self.pictures += len(batch)
        return self.network(batch)


@pytest.fixture(scope="module")
def network() -> Any:
    return ALEXNET.at_random(seed=0)


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    folder = tmp_path_factory.mktemp("benchmark")
    rng = np.random.default_rng(0)
    shown = {}
    for factor, levels in (("content", CONTENTS), ("style", STYLES)):
        for level in levels:
            grains = rng.random((int(rng.integers(3, 12)), 8, 3))
            shown[level] = np.kron(grains, np.ones((80 // len(grains), 12, 1))).astype(np.float32)
            write_image(shown[level], folder / f"{factor}_{level}.png")
    rows = []
    for method in METHODS:
        for content in CONTENTS:
            for style in STYLES:
                mixed = 0.5 * shown[content][:60, :90] + 0.4 * shown[style][:60, :90]
                made = np.clip(mixed + 0.1 * rng.random(mixed.shape), 0, 1).astype(np.float32)
                name = f"{method}-{content}-{style}"
                write_image(made, folder / f"{name}.png")
                rows.append((name, f"{name}.png", method, content, style))
    references = [("content", one, f"content_{one}.png") for one in CONTENTS]
    references += [("style", one, f"style_{one}.png") for one in STYLES]
    return Benchmark(
        pl.DataFrame(rows, schema=["item", "image", "method", "content", "style"], orient="row"),
        pl.DataFrame(references, schema=["factor", "level", "image"], orient="row"),
        folder=folder,
    )


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each file was decoded in this process."""
    counts: Counter[str] = Counter()
    decode = describer.decode_image

    def counting(raw: bytes, *, where: str) -> Any:
        counts[Path(where).name] += 1
        return decode(raw, where=where)

    monkeypatch.setattr(describer, "decode_image", counting)
    return counts


def read(benchmark: Benchmark, network: Any, **options: Any) -> Features:
    return extract(benchmark, network, side=SIDE, **options)


def assert_equal_up_to_rounding(one: Features, other: Features) -> None:
    """Within 1e-5 of each column's largest value."""
    assert one.items == other.items
    largest = np.abs(other.values).max(axis=0)
    assert (np.abs(one.values - other.values) <= 1e-5 * largest + 1e-6).all()


def changed(
    benchmark: Benchmark, items: pl.DataFrame | None = None, references: pl.DataFrame | None = None
) -> Benchmark:
    return Benchmark(
        benchmark.items if items is None else items,
        benchmark.references if references is None else references,
        folder=benchmark.folder,
    )


def test_each_picture_is_decoded_and_goes_through_the_network_once(
    benchmark: Benchmark, network: Any, decoded: Counter[str]
) -> None:
    counting = Counting(network)
    features = read(benchmark, counting)
    assert features.values.shape == (18, 7 * 256 + 6 * 5)
    assert counting.pictures == 18 + 5
    assert len(decoded) == 23
    assert set(decoded.values()) == {1}


def test_rows_are_the_items_sorted_and_say_where_they_come_from(benchmark: Benchmark, network: Any) -> None:
    features = read(benchmark, network)
    assert features.items == tuple(sorted(benchmark.items["item"]))
    assert features.backbone == "alexnet (random weights, seed 0)"
    assert (features.sha256, features.source) == ("", "random, seed 0")
    assert features.definition.startswith("triplet-v1")
    assert "middle square to 73, middle 64 of it, pil-bicubic" in features.definition
    assert len(features.pictures_sha256) == 64
    assert not features.missing


@pytest.mark.parametrize("batch", [1, 2, 7, 8, 64])
def test_the_batch_moves_nothing_but_rounding(benchmark: Benchmark, network: Any, batch: int) -> None:
    assert_equal_up_to_rounding(read(benchmark, network, batch=batch), read(benchmark, network, batch=3))


def test_the_number_of_threads_moves_nothing_but_rounding(benchmark: Benchmark, network: Any) -> None:
    with torch_threads(1):
        alone = read(benchmark, network)
    with torch_threads(3):
        three = read(benchmark, network)
        assert torch.get_num_threads() == 3
    assert_equal_up_to_rounding(three, alone)


@pytest.mark.parametrize("features", ["triplet-v1", "image-v1", "references-v1"])
def test_a_second_reading_gives_the_same_bits(benchmark: Benchmark, network: Any, features: str) -> None:
    one, two = (read(benchmark, network, features=features) for _ in range(2))
    assert one.values.tobytes() == two.values.tobytes()
    assert one.pictures_sha256 == two.pictures_sha256


@pytest.mark.slow
def test_several_processes_move_nothing_but_rounding(benchmark: Benchmark, network: Any, tmp_path: Path) -> None:
    many = read(benchmark, network, jobs=2, batch=2, cache=tmp_path)
    assert_equal_up_to_rounding(many, read(benchmark, network))
    again = read(benchmark, network, jobs=2, batch=2)
    assert again.values.tobytes() == many.values.tobytes()
    assert not [one for one in tmp_path.iterdir() if one.name.startswith("network")]


def test_a_second_run_computes_and_decodes_nothing(
    benchmark: Benchmark, network: Any, tmp_path: Path, decoded: Counter[str]
) -> None:
    first = read(benchmark, network, cache=tmp_path)
    decoded.clear()
    counting = Counting(network)
    second = read(benchmark, counting, cache=tmp_path, batch=5)
    assert (counting.pictures, len(decoded)) == (0, 0)
    assert second.values.tobytes() == first.values.tobytes()
    assert second.pictures_sha256 == first.pictures_sha256


def test_a_killed_run_goes_on_where_it_stopped(
    benchmark: Benchmark, network: Any, tmp_path: Path, decoded: Counter[str]
) -> None:
    whole = read(benchmark, network, batch=4)
    with pytest.raises(KeyboardInterrupt):
        read(benchmark, Counting(network, stop_after=5 + 8), batch=4, cache=tmp_path)
    counting = Counting(network)
    decoded.clear()
    resumed = read(benchmark, counting, batch=4, cache=tmp_path)
    assert counting.pictures == 18 - 8
    assert len(decoded) == 18 - 8
    assert resumed.values.tobytes() == whole.values.tobytes()


def test_new_items_alone_are_computed(benchmark: Benchmark, network: Any, tmp_path: Path) -> None:
    read(changed(benchmark, benchmark.items.filter(pl.col("method") != "swap")), network, cache=tmp_path)
    counting = Counting(network)
    both = read(benchmark, counting, cache=tmp_path)
    assert counting.pictures == 6
    assert_equal_up_to_rounding(both, read(benchmark, network))


@pytest.mark.parametrize("spoil", [lambda raw: raw[:-7], lambda raw: raw[:-1] + bytes([raw[-1] ^ 1]), lambda raw: b""])
def test_damaged_files_of_the_cache_are_computed_again(
    benchmark: Benchmark, network: Any, tmp_path: Path, spoil: Any
) -> None:
    first = read(benchmark, network, cache=tmp_path)
    files = sorted(tmp_path.rglob("*.arrays"))
    assert len(files) == 18 + 5
    for file in files:
        file.write_bytes(spoil(file.read_bytes()))
    counting = Counting(network)
    second = read(benchmark, counting, cache=tmp_path)
    assert counting.pictures == 18 + 5
    assert_equal_up_to_rounding(second, first)


def test_what_another_network_or_recipe_left_is_not_taken(benchmark: Benchmark, network: Any, tmp_path: Path) -> None:
    some = changed(benchmark, benchmark.items.head(2))
    first = Counting(network, digest="a" * 64)
    read(some, first, cache=tmp_path)
    for options in ({}, {"framing": "pad"}):
        for digest in ("a" * 64, "b" * 64):
            counting = Counting(network, digest=digest)
            read(some, counting, cache=tmp_path, **options)
            assert (counting.pictures == 0) == (digest[0] == "a" and not options)
    counting = Counting(network, digest="a" * 64)
    extract(some, counting, side=SIDE + 1, cache=tmp_path)
    assert counting.pictures > 0


def test_a_changed_picture_is_read_anew(benchmark: Benchmark, network: Any, tmp_path: Path) -> None:
    for file in benchmark.folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    own = Benchmark(benchmark.items, benchmark.references, folder=tmp_path)
    before = read(own, network, cache=tmp_path / "kept")
    write_image(1 - read_image(tmp_path / "style_ink.png"), tmp_path / "style_ink.png")
    counting = Counting(network)
    after = read(own, counting, cache=tmp_path / "kept")
    assert counting.pictures == 1 + 6
    moved = (before.values != after.values).any(axis=1)
    assert moved.tolist() == [item.endswith("ink") for item in after.items]
    assert before.pictures_sha256 != after.pictures_sha256


def test_what_is_missing_or_broken_says_why_and_stops_nothing(
    benchmark: Benchmark, network: Any, tmp_path: Path
) -> None:
    for file in benchmark.folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "blur-cat-ink.png").unlink()
    (tmp_path / "blur-cat-oil.png").write_bytes((tmp_path / "blur-cat-oil.png").read_bytes()[:90])
    (tmp_path / "style_wax.png").write_bytes(b"no picture")
    items = benchmark.items.with_columns(
        image=pl.when(pl.col("item") == "blur-fox-ink").then(None).otherwise("image"),
        content=pl.when(pl.col("item") == "noise-fox-ink").then(None).otherwise("content"),
        style=pl.when(pl.col("item") == "noise-fox-oil").then(pl.lit("gold")).otherwise("style"),
    )
    features = read(Benchmark(items, benchmark.references, folder=tmp_path), network)
    reasons = dict(features.missing)
    assert reasons.pop("blur-fox-ink") == "it has no picture"
    assert reasons.pop("noise-fox-ink") == "it has no level of 'content'"
    assert reasons.pop("noise-fox-oil") == "style 'gold' has no reference picture"
    assert "blur-cat-ink.png" in reasons.pop("blur-cat-ink")
    assert "damaged or cut off" in reasons.pop("blur-cat-oil")
    assert sorted(reasons) == sorted(item for item in items["item"] if item.endswith("wax"))
    assert all(reason.startswith("style: ") and "not a picture" in reason for reason in reasons.values())
    assert len(features.items) == 18 - 5 - 6
    whole = read(benchmark, network)
    rest = Features(**{**vars(whole), "items": features.items, "values": whole.of(features.items)})
    assert_equal_up_to_rounding(features, rest)


def test_a_benchmark_without_a_readable_picture_gives_no_rows(
    benchmark: Benchmark, network: Any, tmp_path: Path
) -> None:
    features = read(Benchmark(benchmark.items, benchmark.references, folder=tmp_path), network)
    assert features.values.shape == (0, 1822)
    assert len(features.missing) == 18


def test_values_that_are_no_numbers_have_a_reason(benchmark: Benchmark) -> None:
    broken = ALEXNET.at_random(seed=0)
    broken.stack[0].bias.fill_(float("inf"))
    features = read(changed(benchmark, benchmark.items.head(2)), broken, features="image-v1")
    assert set(features.missing.values()) == {"the network gave values that are no numbers"}


def test_a_picture_alone_needs_no_references(benchmark: Benchmark, network: Any, decoded: Counter[str]) -> None:
    bare = Benchmark(benchmark.items.select("item", "image"), benchmark.references, folder=benchmark.folder)
    features = read(bare, network, features="image-v1")
    assert features.values.shape == (18, 2 * (64 + 192 + 384 + 256 + 256) + 5 * 5)
    assert len(decoded) == 18
    with pytest.raises(BadInput, match="triplet-v1 reads 'content', which is no factor of this benchmark"):
        read(bare, network)


def test_a_pair_of_references_is_computed_once_and_no_result_is_opened(
    benchmark: Benchmark, network: Any, decoded: Counter[str]
) -> None:
    counting = Counting(network)
    features = read(benchmark, counting, features="references-v1")
    assert counting.pictures == len(decoded) == 5
    rows = {tuple(item.split("-")[1:]): features.of([item])[0] for item in features.items}
    for item in features.items:
        assert features.of([item])[0].tobytes() == rows[tuple(item.split("-")[1:])].tobytes()
    assert len({row.tobytes() for row in rows.values()}) == 6


def test_one_picture_may_serve_as_content_and_style(benchmark: Benchmark, network: Any, decoded: Counter[str]) -> None:
    references = benchmark.references.with_columns(image=pl.lit("content_cat.png"))
    counting = Counting(network)
    features = read(changed(benchmark, references=references), counting)
    assert counting.pictures == 18 + 1
    assert max(decoded.values()) == 1
    place = {block.name: block.start for block in features.blocks}
    same = features.values[:, place["mean of the content"]] == features.values[:, place["mean of the style"]]
    assert same.all()


@pytest.mark.parametrize("framing", ["crop", "pad"])
@pytest.mark.parametrize("features", ["triplet-v1", "image-v1", "references-v1"])
def test_pictures_in_memory_give_the_vector_of_their_files(
    benchmark: Benchmark, network: Any, framing: Any, features: str
) -> None:
    from_files = read(benchmark, network, features=features, framing=framing)
    folder = benchmark.folder
    pictures = {
        "image": read_image(folder / "noise-fox-oil.png"),
        "content": read_image(folder / "content_fox.png"),
        "style": read_image(folder / "style_oil.png"),
    }
    row = vector(network, pictures, features=features, framing=framing, side=SIDE)
    largest = np.abs(from_files.values).max(axis=0)
    assert (np.abs(row - from_files.of(["noise-fox-oil"])[0]) <= 1e-5 * largest + 1e-6).all()


def test_a_result_equal_to_its_content_has_no_distance_from_it(network: Any) -> None:
    rng = np.random.default_rng(1)
    photo, style = (rng.random((70, 90, 3), dtype=np.float32) for _ in range(2))
    row = vector(network, {"image": photo, "content": photo, "style": style}, side=SIDE)
    scalars = row[7 * 256 :].reshape(5, 6)
    np.testing.assert_allclose(scalars[:, [0, 1, 5]], [[1, 0, 0]] * 5, atol=1e-5)
    row = vector(network, {"image": style, "content": photo, "style": style}, side=SIDE)
    scalars = row[7 * 256 :].reshape(5, 6)
    np.testing.assert_allclose(scalars[:, 2:5], [[0, 0, 1]] * 5, atol=1e-4)


def test_a_bounded_memory_of_references_moves_nothing(
    benchmark: Benchmark, network: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = read(benchmark, network)
    monkeypatch.setattr(describer, "_MOST_BYTES", 1)
    assert read(benchmark, network).values.tobytes() == whole.values.tobytes()


def test_impossible_options_are_refused_before_any_work(benchmark: Benchmark, network: Any) -> None:
    with pytest.raises(BadConfig, match="side is 20; alexnet reads pictures from 31 pixels a side"):
        extract(benchmark, network, side=20)
    with pytest.raises(BadConfig, match="framing 'squash' is not one of crop, pad"):
        read(benchmark, network, framing="squash")
    with pytest.raises(BadConfig, match="batch is 0"):
        read(benchmark, network, batch=0)
    with pytest.raises(BadConfig, match="jobs is 0"):
        read(benchmark, network, jobs=0)
    with pytest.raises(UnknownName, match="no kind of features 'triplets'; did you mean 'triplet-v1'"):
        read(benchmark, network, features="triplets")
    with pytest.raises(TooFew, match="the benchmark has no items to read"):
        read(changed(benchmark, benchmark.items.head(0)), network)
    some = np.zeros((64, 64, 3), dtype=np.float32)
    with pytest.raises(BadInput, match="triplet-v1 reads the picture 'style', which was not given"):
        vector(network, {"image": some, "content": some})

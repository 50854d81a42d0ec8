"""The demo benchmark and its pictures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from paragone.benchmark import Benchmark
from paragone.design import PairStage, Study, plan
from paragone.errors import BadConfig, NotFound, UnknownName
from paragone.images import read_image
from paragone.make import broken_version, coverage, demo_benchmark, demo_pictures, with_broken

SMALL = {"contents": ["cat"], "styles": ["langlois_bridge", "night_cafe"], "methods": ["reinhard", "xdog"]}


def test_the_shipped_pictures_are_small_readable_and_named_with_their_rights() -> None:
    folder = demo_pictures()
    pictures = sorted(folder.glob("*/*.jpg"))
    assert len(pictures) == 11
    assert sum(path.stat().st_size for path in pictures) < 400_000
    rights = (folder / "README.md").read_text()
    for path in pictures:
        assert path.name in rights
        assert max(read_image(path).shape[:2]) == 256


def test_a_demo_benchmark_is_complete_and_written(tmp_path: Path) -> None:
    made = demo_benchmark(tmp_path, **SMALL, checks=1)
    assert coverage(made).missing == []
    assert made.factors == ("method", "content", "style", "broken_of")
    assert made.criteria == ("content", "style", "overall")
    assert "handcrafted stylisers" in made.description
    assert Benchmark.read(tmp_path).items.equals(made.items)
    assert made.references["level"].to_list() == ["cat", "langlois_bridge", "night_cafe"]
    for image in [*made.items["image"], *made.references["image"]]:
        assert read_image(tmp_path / image).ndim == 3


def test_making_it_again_keeps_what_is_there(tmp_path: Path) -> None:
    first = demo_benchmark(tmp_path, **SMALL)
    picture = tmp_path / first.items["image"][0]
    stamp = picture.stat().st_mtime_ns
    again = demo_benchmark(tmp_path, **SMALL)
    assert picture.stat().st_mtime_ns == stamp
    assert again.items.equals(first.items)


def test_another_seed_makes_the_pictures_anew(tmp_path: Path) -> None:
    drawn = {**SMALL, "methods": ["strokes"], "checks": 0}
    first = demo_benchmark(tmp_path, **drawn)
    before = (tmp_path / first.items["image"][0]).read_bytes()
    demo_benchmark(tmp_path, **drawn, seed=1)
    assert (tmp_path / first.items["image"][0]).read_bytes() != before
    demo_benchmark(tmp_path, **drawn)
    assert (tmp_path / first.items["image"][0]).read_bytes() == before


def test_a_smaller_demo_in_the_same_folder_lists_its_own_results(tmp_path: Path) -> None:
    demo_benchmark(tmp_path, **SMALL)
    fewer = demo_benchmark(tmp_path, **{**SMALL, "methods": ["xdog"]}, checks=0)
    assert fewer.items["method"].unique().to_list() == ["xdog"]


def test_broken_versions_serve_the_checks_of_a_plan(tmp_path: Path) -> None:
    made = demo_benchmark(tmp_path, **SMALL, checks=2)
    stage = PairStage(group=["content", "style"], participants=4, trials=2, repeats=0, checks=2)
    checks = plan(made, Study(stage=[stage])).frame.filter(pl.col("kind") == "check")
    assert checks["check"].unique().to_list() == ["broken"]


def test_a_broken_version_is_far_from_its_picture_and_follows_its_seed() -> None:
    image = read_image(demo_pictures() / "contents" / "cat.jpg")
    broken = broken_version(image, seed=1)
    assert broken.shape == image.shape
    assert np.abs(broken - image).mean() > 0.1
    assert np.array_equal(broken, broken_version(image, seed=1))
    assert not np.array_equal(broken, broken_version(image, seed=2))


def test_what_cannot_be_made_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no shipped picture in contents 'dog'"):
        demo_benchmark(tmp_path, contents=["dog"], methods=["xdog"], checks=0)
    with pytest.raises(UnknownName, match="no styliser 'gatsy'; did you mean 'gatys'"):
        demo_benchmark(tmp_path, methods=["gatsy"])
    with pytest.raises(BadConfig, match="at least one content"):
        demo_benchmark(tmp_path, contents=[])
    with pytest.raises(BadConfig, match="checks is 9; it must be 0 to 4"):
        demo_benchmark(tmp_path, **SMALL, checks=9)
    made = demo_benchmark(tmp_path, **SMALL, checks=1)
    with pytest.raises(BadConfig, match="has broken versions already"):
        with_broken(made, 1)
    bare = Benchmark(pl.DataFrame({"item": ["a", "b"]}), made.references)
    with pytest.raises(BadConfig, match="1 broken versions asked for, but 0 items have a picture"):
        with_broken(bare, 1)

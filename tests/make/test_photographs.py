"""Pictures to compare: benchmarks, folders, and KonIQ-10k as its authors publish it."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from paragone.benchmark import Benchmark
from paragone.errors import BadInput, NotFound, UnknownName
from paragone.make.photographs import listed_pictures, natural_folder


def _koniq(folder: Path, home: str = "1024x768", column: str = "image_name") -> Path:
    (folder / home).mkdir(parents=True)
    for name in ("10.jpg", "9.jpg", "extra.jpg"):
        (folder / home / name).touch()
    rows = f'"{column}","MOS"\n"9.jpg",3.1\n"10.jpg",2.2\n"404.jpg",1.0\n'
    (folder / "koniq10k_scores_and_distributions.csv").write_text(rows, encoding="utf-8")
    return folder


@pytest.mark.parametrize("home", ["1024x768", "koniq10k_1024x768", "512x384"])
def test_koniq_is_recognised_and_its_table_decides(tmp_path: Path, home: str) -> None:
    made = natural_folder(_koniq(tmp_path, home))
    assert made.layout == "koniq-10k"
    assert [path.relative_to(tmp_path).as_posix() for path in made.paths] == [f"{home}/10.jpg", f"{home}/9.jpg"]
    assert made.notes == (f"1 of the 3 pictures that koniq10k_scores_and_distributions.csv lists are not in {home}",)


def test_the_larger_pictures_of_koniq_are_read(tmp_path: Path) -> None:
    _koniq(tmp_path)
    (tmp_path / "512x384").mkdir()
    assert {path.parent.name for path in natural_folder(tmp_path).paths} == {"1024x768"}


def test_a_table_without_names_or_without_its_pictures_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match=r"no column in koniq10k_scores_and_distributions.csv 'image_name'"):
        natural_folder(_koniq(tmp_path / "a", column="picture"))
    folder = _koniq(tmp_path / "b")
    for path in (folder / "1024x768").iterdir():
        path.unlink()
    with pytest.raises(BadInput, match="holds none of the 3 pictures"):
        natural_folder(folder)


def test_any_other_folder_gives_every_picture_below_it(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    for name in ("b.png", "deep/a.JPG", "notes.txt"):
        (tmp_path / name).touch()
    made = natural_folder(tmp_path)
    assert (made.layout, [path.name for path in made.paths], made.notes) == ("folder", ["b.png", "a.JPG"], ())


def test_an_empty_or_absent_folder_is_said(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no picture in"):
        natural_folder(tmp_path)
    with pytest.raises(NotFound, match="no folder of natural pictures"):
        natural_folder(tmp_path / "nowhere")


def test_a_benchmark_gives_its_generators_and_prompts() -> None:
    items = pl.DataFrame(
        {
            "item": ["b", "a", "c"],
            "image": ["b.png", "a.png", None],
            "method": ["x", None, "x"],
            "prompt": ["p", "q", "p"],
        }
    )
    references = pl.DataFrame(schema=dict.fromkeys(("factor", "level", "image"), pl.String))
    benchmark = Benchmark(items, references, folder=Path("here"))
    made = listed_pictures(benchmark, "generated", generator="method", prompt="prompt")
    assert made.frame.rows() == [
        ("a", str(Path("here/a.png")), "generated", None, "q"),
        ("b", str(Path("here/b.png")), "generated", "x", "p"),
    ]
    assert made.notes == ("1 generated item without a picture left out",)
    plain = listed_pictures(benchmark, "natural", generator=None, prompt="text")
    assert plain.frame.select("generator", "prompt").null_count().row(0) == (2, 2)


def test_broken_versions_are_no_generated_pictures() -> None:
    rows = [
        {"item": "a", "image": "a.png", "method": "m", "broken_of": None},
        {"item": "broken/a", "image": "b.png", "method": "m", "broken_of": "a"},
    ]
    references = pl.DataFrame(schema=dict.fromkeys(("factor", "level", "image"), pl.String))
    made = Benchmark(pl.DataFrame(rows, schema_overrides={"broken_of": pl.String}), references)
    found = listed_pictures(made, "generated", generator="method", prompt=None)
    assert found.frame["picture"].to_list() == ["a"]
    assert not found.notes

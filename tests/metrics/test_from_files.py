"""Bare files become a benchmark in memory: names, references, what is skipped."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from paragone.errors import NotFound, TooFew
from paragone.metrics import from_files


@pytest.fixture
def folder(tmp_path: Path) -> Callable[..., Path]:
    """A folder with empty files of the given names; listing never opens them."""

    def make(name: str, *files: str) -> Path:
        for file in files:
            (tmp_path / name / file).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name / file).touch()
        return tmp_path / name

    return make


def items(*args: object, **kwargs: object) -> list[str]:
    return from_files(*args, **kwargs).benchmark.items["item"].to_list()  # type: ignore[arg-type]


def test_items_are_named_by_their_path_without_ending(folder) -> None:
    assert items(folder("out", "b.png", "a.JPG", "deep/c.webp")) == ["a", "b", "deep/c"]


def test_what_is_no_picture_is_skipped_and_listed(folder) -> None:
    out = folder("out", "a.png", "notes.txt", ".hidden.png", ".cache/b.png")
    made = from_files(out)
    assert made.benchmark.items["item"].to_list() == ["a"]
    assert made.skipped == ((out / "notes.txt").as_posix(),)


def test_a_named_file_is_taken_whatever_its_ending(folder) -> None:
    assert items(folder("out", "a.picture") / "a.picture") == ["a"]


def test_a_file_given_twice_is_one_item(folder) -> None:
    out = folder("out", "a.png")
    assert items([out, out / "a.png", out / ".." / "out" / "a.png"]) == ["a"]


def test_two_of_one_name_keep_the_ending(folder) -> None:
    assert items(folder("out", "a.png", "a.jpg", "b.png")) == ["a.jpg", "a.png", "b"]


def test_two_of_one_name_in_two_folders_keep_the_path(folder) -> None:
    one, two = folder("one", "a.png"), folder("two", "a.png")
    assert items([one, two]) == [(one / "a").as_posix(), (two / "a").as_posix()]


def test_one_picture_is_the_reference_of_all(folder) -> None:
    made = from_files(folder("out", "x.png", "y.png"), content=folder("ref", "c.jpg") / "c.jpg").benchmark
    assert made.items["content"].to_list() == ["c", "c"]
    assert made.references.rows() == [("content", "c", (folder("ref") / "c.jpg").as_posix())]


@pytest.mark.parametrize(
    ("item", "references", "expected"),
    [
        ("cat.png", ["cat.jpg", "dog.jpg"], "cat"),
        ("cat_stylized_wave.png", ["cat.jpg", "dog.jpg"], "cat"),
        ("cat_stylized_wave.png", ["wave.png", "mosaic.png"], "wave"),
        ("wave/cat.png", ["wave.png", "mosaic.png"], "wave"),
        ("cat_2_wave.png", ["cat.jpg", "cat_2.jpg"], "cat_2"),
        ("10_1.png", ["1.png", "10.png"], None),
        ("concat_wave.png", ["cat.jpg", "dog.jpg"], None),
        ("content12-style3.png", ["content1.jpg", "content12.jpg"], "content12"),
        ("émile_wave.png", ["mile.jpg", "émile.jpg"], "émile"),
        ("cat.png", ["animals/cat.jpg"], "animals/cat"),
        ("horse.png", ["cat.jpg"], None),
    ],
)
def test_references_are_found_by_name_and_never_guessed(folder, item: str, references: list[str], expected) -> None:
    out, refs = folder("out", item), folder("ref", *references)
    made = from_files(out, references={"content": refs}).benchmark
    assert made.items["content"][0] == expected


def test_the_same_path_comes_before_the_same_name(folder) -> None:
    out, refs = folder("out", "a/cat.png", "b/cat.png"), folder("ref", "a/cat.jpg", "b/cat.jpg", "cat.jpg")
    assert from_files(out, content=refs).benchmark.items["content"].to_list() == ["a/cat", "b/cat"]


def test_content_and_style_are_two_factors(folder) -> None:
    made = from_files(
        folder("out", "cat_wave.png"), content=folder("c", "cat.png"), style=folder("s", "wave.png")
    ).benchmark
    assert made.factors == ("content", "style")
    assert made.references.select("factor", "level").rows() == [("content", "cat"), ("style", "wave")]


def test_a_path_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"no picture or folder '.*nothing'"):
        from_files(tmp_path / "nothing")


def test_a_reference_folder_that_is_not_there_is_named(folder, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no content picture or folder"):
        from_files(folder("out", "a.png"), content=tmp_path / "nothing")


def test_a_folder_without_pictures_is_too_few(folder) -> None:
    with pytest.raises(TooFew, match=r"no picture in '.*out'; pictures end in \.avif"):
        from_files(folder("out", "a.txt"))


def test_a_reference_folder_without_pictures_is_too_few(folder) -> None:
    with pytest.raises(TooFew, match="no style picture in"):
        from_files(folder("out", "a.png"), style=folder("s", "a.txt"))

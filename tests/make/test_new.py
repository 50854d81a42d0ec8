"""Benchmarks read out of file names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from paragone.benchmark import Benchmark
from paragone.errors import BadConfig, BadInput, NotFound, UnknownName
from paragone.make import new_benchmark, survey

Filled = Callable[..., Path]
PATTERN = "{method}/{content}_stylized_{style}.png"


def test_factors_are_read_out_of_the_names(filled: Filled) -> None:
    folder = filled("adain/cat_stylized_great_wave.png", "gatys/cat_stylized_spring.png")
    made = new_benchmark(PATTERN, folder=folder, criteria=["style"], name="mine")
    assert made.factors == ("method", "content", "style")
    assert made.items.rows() == [
        ("adain/cat/great_wave", "adain/cat_stylized_great_wave.png", "adain", "cat", "great_wave"),
        ("gatys/cat/spring", "gatys/cat_stylized_spring.png", "gatys", "cat", "spring"),
    ]
    assert (made.name, made.criteria, made.folder) == ("mine", ("style",), folder)


def test_a_benchmark_survives_writing_and_reading(filled: Filled, tmp_path: Path) -> None:
    folder = filled("a/x.png", "b/x.png", "contents/x.jpg")
    made = new_benchmark("{method}/{content}.png", folder=folder, references={"content": "contents/{content}.jpg"})
    made.write(folder)
    again = Benchmark.read(folder)
    assert again.items.equals(made.items)
    assert again.references.rows() == [("content", "x", "contents/x.jpg")]
    assert again.name == tmp_path.name


def test_references_are_matched_by_level_and_missing_ones_are_listed(filled: Filled) -> None:
    folder = filled("a/x_stylized_s.png", "a/y_stylized_s.png", "c/x.jpg", "c/unused.jpg", "s/s.jpg")
    seen = survey(PATTERN, folder=folder, references={"content": "c/{content}.jpg", "style": "s/{style}.jpg"})
    assert seen.references.rows() == [("content", "x", "c/x.jpg"), ("style", "s", "s/s.jpg")]
    assert seen.missing_references == {"content": ["y"], "style": []}
    assert "no content picture for y" in seen.text
    assert seen.unmatched == []


def test_names_that_can_be_read_in_two_ways_are_refused(filled: Filled) -> None:
    folder = filled("a/cafe_terrace_spring.png")
    with pytest.raises(BadInput, match="can be read as a/cafe/terrace_spring or a/cafe_terrace/spring"):
        new_benchmark("{method}/{content}_{style}.png", folder=folder)


def test_known_levels_decide_between_two_readings(filled: Filled) -> None:
    folder = filled("a/cafe_terrace_spring.png", "styles/spring.jpg")
    made = new_benchmark("{method}/{content}_{style}.png", folder=folder, references={"style": "styles/{style}.jpg"})
    assert made.items["item"].to_list() == ["a/cafe_terrace/spring"]


def test_pictures_that_do_not_match_are_listed(filled: Filled) -> None:
    folder = filled("a/x_stylized_s.png", "a/notes.txt", "a/thumb.png", "a/.hidden.png")
    seen = survey(PATTERN, folder=folder)
    assert seen.unmatched == ["a/thumb.png"]
    assert "1 other pictures: a/thumb.png" in seen.text


def test_a_star_stands_for_what_is_no_factor(filled: Filled) -> None:
    folder = filled("run7/adain-x.png", "run8/gatys-x.png")
    made = new_benchmark("run*/{method}-{content}.png", folder=folder)
    assert made.items["item"].to_list() == ["adain/x", "gatys/x"]


def test_a_placeholder_that_comes_twice_means_the_same(filled: Filled) -> None:
    folder = filled("a/a_x.png", "a/b_x.png")
    seen = survey("{method}/{method}_{content}.png", folder=folder)
    assert list(seen.found) == ["a/a_x.png"]
    assert seen.unmatched == ["a/b_x.png"]


def test_two_files_with_the_same_levels_are_refused(filled: Filled) -> None:
    folder = filled("a/x.png", "a/x.jpg")
    with pytest.raises(BadInput, match=r"'a/x.jpg' and 'a/x.png' both are item 'a/x'"):
        new_benchmark("{method}/{content}.*", folder=folder)


def test_two_references_of_one_level_are_refused(filled: Filled) -> None:
    folder = filled("a/x.png", "c/x.jpg", "c/x.png")
    with pytest.raises(BadInput, match=r"'c/x.jpg' and 'c/x.png' both show content 'x'"):
        survey("{method}/{content}.png", folder=folder, references={"content": "c/{content}.*"})


def test_names_of_any_script_are_levels_in_one_normal_form(filled: Filled) -> None:
    folder = filled("método/cafe\u0301.png", "墨/x y.png")
    made = new_benchmark("{method}/{content}.png", folder=folder)
    assert made.items["item"].to_list() == ["método/caf\u00e9", "墨/x y"]
    assert all((folder / image).exists() for image in made.items["image"])


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("all.png", "has no placeholder"),
        ("{}/x.png", "has a placeholder without a name"),
        ("{Method}/x.png", "'Method' cannot name a factor"),
        ("{item}/x.png", "the name 'item' is taken"),
        ("{method/x.png", "has a brace without its partner"),
        ("{method}{content}.png", "two placeholders side by side"),
        ("{method}*.png", "two placeholders side by side"),
        ("../{method}.png", "leaves the folder"),
        ("/a/{method}.png", "leaves the folder"),
    ],
)
def test_a_bad_pattern_is_refused(filled: Filled, pattern: str, message: str) -> None:
    with pytest.raises(BadConfig, match=message) as caught:
        new_benchmark(pattern, folder=filled("a/x.png"))
    assert "\n" not in caught.value.message


def test_what_is_not_there_is_refused(filled: Filled, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no folder"):
        new_benchmark(PATTERN, folder=tmp_path / "nowhere")
    with pytest.raises(BadInput, match="it holds no picture"):
        new_benchmark(PATTERN, folder=tmp_path)
    with pytest.raises(BadInput, match=r"matches '\{method\}_\{style\}.png'; it holds a/x.png"):
        new_benchmark("{method}_{style}.png", folder=filled("a/x.png"))
    with pytest.raises(UnknownName, match="no factor in the pattern 'conent'; did you mean 'content'"):
        new_benchmark("{method}/{content}.png", folder=tmp_path, references={"conent": "{conent}.png"})
    with pytest.raises(BadConfig, match=r"must hold the placeholder \{content\} and no other"):
        new_benchmark("{method}/{content}.png", folder=tmp_path, references={"content": "{method}.png"})


def test_words_that_mean_something_else_are_no_factors_and_criteria_stand_once(filled: Filled) -> None:
    folder = filled("a/x.png")
    with pytest.raises(BadConfig, match="the name 'broken_of' is taken"):
        new_benchmark("{method}/{broken_of}.png", folder=folder)
    with pytest.raises(BadConfig, match="criteria style, style: one stands twice"):
        new_benchmark("{method}/{content}.png", folder=folder, criteria=["style", "style"])

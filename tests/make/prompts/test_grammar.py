"""Prompts out of a grammar."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paragone.errors import BadConfig
from paragone.make.prompts.grammar import Grammar, prompts_of
from paragone.settings import Settings, read_settings


class Making(Settings, frozen=True):
    grammar: Grammar


WRITTEN = """
[grammar]
template = "a {main} in the {place}"
[grammar.axis]
main = ["teddy bear", "Café"]
place = {city = "big city", wild = "wild"}
[[grammar.exclude]]
main = "cafe"
place = ["wild"]
"""


def grid(*sizes: int, **more: object) -> Grammar:
    axis = {f"axis{a}": [f"w{a}x{k}" for k in range(size)] for a, size in enumerate(sizes)}
    return Grammar(template=" ".join(f"{{{name}}}" for name in axis), axis=axis, **more)  # type: ignore[arg-type]


def test_a_grammar_read_from_toml_gives_its_prompts(tmp_path: Path) -> None:
    (tmp_path / "make.toml").write_text(WRITTEN, encoding="utf-8")
    made = prompts_of(read_settings(tmp_path / "make.toml", Making).grammar)
    assert made.frame.rows() == [
        ("teddy-bear__city", "a teddy bear in the big city", "teddy-bear", "city"),
        ("teddy-bear__wild", "a teddy bear in the wild", "teddy-bear", "wild"),
        ("cafe__city", "a Café in the big city", "cafe", "city"),
    ]
    assert made.frame.columns == ["id", "prompt", "main", "place"]
    assert made.warnings == ()


def test_an_unknown_key_of_a_grammar_is_named(tmp_path: Path) -> None:
    (tmp_path / "make.toml").write_text(WRITTEN.replace("template", "templat"), encoding="utf-8")
    with pytest.raises(BadConfig, match=r"\[grammar\] no key 'templat'; did you mean 'template'\?"):
        read_settings(tmp_path / "make.toml", Making)


def test_what_is_wrong_in_toml_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "make.toml").write_text(WRITTEN.replace("in the {place}", ""), encoding="utf-8")
    with pytest.raises(BadConfig, match=r"grammar: the template does not hold \{place\}"):
        read_settings(tmp_path / "make.toml", Making)


def test_changing_words_keeps_the_ids() -> None:
    before = Grammar(template="{main}", axis={"main": {"snoopy": "snoppy"}})
    after = Grammar(template="one {main}", axis={"main": {"snoopy": "Snoopy"}})
    assert prompts_of(before).frame["id"].to_list() == prompts_of(after).frame["id"].to_list() == ["snoopy"]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"template": "{main}"}, r"does not hold \{place\}"),
        ({"template": "{main} {plce} {place}"}, "no axis 'plce'; did you mean 'place'"),
        ({"template": "{main} {place"}, "cannot be read"),
        ({"template": "{main!r} {place}"}, r"may hold \{axis\} only"),
        ({"axis": {}}, "no axis; give at least one"),
        ({"axis": {"main": [], "place": ["a"]}}, "axis 'main' has no level"),
        ({"axis": {"seed": ["a"], "place": ["a"]}}, "'seed' cannot name an axis"),
        ({"axis": {"main": ["a", "A"], "place": ["a"]}}, "has the key 'a' twice"),
        ({"axis": {"main": ["北斎"], "place": ["a"]}}, "'北斎' is no key of a-z, 0-9 and hyphens"),
        ({"axis": {"main": {"v1.5": "x"}, "place": ["a"]}}, "'v1.5' is no key"),
        ({"exclude": ({"main": "brd"},)}, "no level of axis 'main' 'brd'; did you mean 'bird'"),
        ({"exclude": ({"mian": "bird"},)}, "no axis 'mian'; did you mean 'main'"),
        ({"exclude": ({},)}, "exclusion without an axis"),
        ({"sample": -1}, "sample and seed must be 0 or more"),
        (
            {"axis": {"main": [f"m{k}" for k in range(1001)], "place": [f"p{k}" for k in range(1000)]}},
            "1001000 combinations",
        ),
    ],
)
def test_a_grammar_that_cannot_be_is_refused(changed: dict[str, object], said: str) -> None:
    right = {"template": "{main} {place}", "axis": {"main": ["bird", "cat"], "place": ["city"]}}
    with pytest.raises(BadConfig, match=said):
        Grammar(**{**right, **changed})  # type: ignore[arg-type]


def test_exclusions_that_leave_too_little_are_refused() -> None:
    with pytest.raises(BadConfig, match="the exclusions leave no prompt"):
        prompts_of(grid(2, exclude=({"axis0": ["w0x0", "w0x1"]},)))
    with pytest.raises(BadConfig, match="a sample of 7, but there are 6 prompts"):
        prompts_of(grid(2, 3, sample=7))


def test_texts_that_differ_in_case_alone_are_told() -> None:
    made = prompts_of(Grammar(template="{a}", axis={"a": {"x": "A fantasy landscape", "y": "a fantasy  landscape"}}))
    assert made.warnings == ("prompts 'x' and 'y' have the same text but for case and spaces: 'a fantasy  landscape'",)


def test_a_prompt_of_78_tokens_is_told_and_one_of_77_is_not() -> None:
    long = Grammar(template="{a}", axis={"a": {"long": "w " * 76, "fits": "w " * 75}})
    made = prompts_of(long, tokens=lambda text: len(text.split()) + 2)
    assert made.warnings == ("prompt 'long' has 78 tokens; models that read 77 cut off its end",)


@given(
    sizes=st.lists(st.integers(2, 4), min_size=2, max_size=3),
    share=st.floats(0.05, 1.0),
    seed=st.integers(0, 5),
)
@settings(max_examples=60, deadline=None)
def test_a_sample_has_every_level_about_equally_often(sizes: list[int], share: float, seed: int) -> None:
    whole = prompts_of(grid(*sizes)).frame
    n = max(1, round(share * whole.height))
    made = prompts_of(grid(*sizes, sample=n, seed=seed)).frame
    assert made.height == n
    assert made["id"].is_unique().all()
    assert made["id"].to_list() == [name for name in whole["id"] if name in set(made["id"])]
    for axis, size in zip(made.columns[2:], sizes, strict=True):
        counts = [made.filter(pl.col(axis) == level).height for level in whole[axis].unique()]
        assert sum(counts) == n
        assert max(counts) - min(counts) <= 2, (axis, size, counts)


def test_a_smaller_sample_of_the_same_seed_is_part_of_a_larger_one() -> None:
    small, large = (set(prompts_of(grid(4, 5, 3, sample=n, seed=3)).frame["id"]) for n in (11, 31))
    assert small < large


def test_another_seed_draws_other_prompts() -> None:
    assert set(prompts_of(grid(4, 5, 3, sample=9, seed=0)).frame["id"]) != set(
        prompts_of(grid(4, 5, 3, sample=9, seed=1)).frame["id"]
    )

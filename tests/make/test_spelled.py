"""Every reading of a name, and no other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from paragone.make.spelled import Part, every_reading

WORDS = ("a", "ab", "b", "a_b")


def _known(text: str) -> Callable[[Part, int], Iterator[tuple[int, str | None]]]:
    def ends(part: Part, at: int) -> Iterator[tuple[int, str | None]]:
        if part[0] == "any":
            yield from ((end, None) for end in range(at, len(text) + 1))
        yield from ((at + len(word), word) for word in WORDS if part[0] == "factor" and text.startswith(word, at))

    return ends


@given(st.text("ab_", max_size=9))
def test_readings_are_those_that_spell_the_text(text: str) -> None:
    parts = [("factor", "x"), ("text", "_"), ("factor", "y")]
    found = every_reading(text, parts, _known(text))
    assert sorted((r["x"], r["y"]) for r in found) == sorted(
        pair for pair in product(WORDS, WORDS) if f"{pair[0]}_{pair[1]}" == text
    )


def test_a_placeholder_that_stands_twice_says_one_thing() -> None:
    parts = [("factor", "x"), ("text", "/"), ("factor", "x")]
    assert every_reading("a/a", parts, _known("a/a")) == [{"x": "a"}]
    assert every_reading("a/b", parts, _known("a/b")) == []


def test_what_names_nothing_gives_one_reading_however_it_is_cut() -> None:
    parts = [("any", "*"), ("factor", "x"), ("any", "*")]
    assert every_reading("aab", parts, _known("aab")) == [{"x": "a"}, {"x": "ab"}, {"x": "b"}]


def test_many_placeholders_take_no_longer_than_their_places() -> None:
    text, asked = "_".join("a" * 40), 0

    def ends(part: Part, at: int) -> Iterator[tuple[int, str | None]]:
        nonlocal asked
        asked += 1
        return iter([(end, None) for end in range(at, len(text) + 1)])

    parts = [part for _ in range(5) for part in (("any", "*"), ("text", "_"))]
    assert every_reading(text, [*parts, ("text", "a")], ends) == [{}]
    assert asked <= 5 * (len(text) + 1)

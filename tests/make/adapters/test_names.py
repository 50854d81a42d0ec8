"""Reading names by known ids: every reading, never a guess."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paragone.errors import BadConfig, UnknownName
from paragone.make.adapters import LAYOUTS, FolderMethod
from paragone.make.adapters.names import known_names, parts_of, readings
from paragone.make.adapters.reader import Reader
from paragone.make.cells import Job


def _jobs(contents: list[str], styles: list[str]) -> list[Job]:
    return [
        Job(method="m", levels={"content": c, "style": s}, inputs={}, target=Path("x.png"), seed=0, key="")
        for c in contents
        for s in styles
    ]


# Ids made of the very words and separators that layouts use, so that names collide as badly as they can.
IDS = st.lists(
    st.lists(
        st.sampled_from(["a", "b", "_", "-", "stylized", "_stylized_", "1", "@", " "]), min_size=1, max_size=4
    ).map("".join),
    min_size=1,
    max_size=4,
    unique=True,
)


@pytest.mark.parametrize(
    ("layout", "pattern"),
    [
        ("content_stylized_style", "{content}_stylized_{style}.png"),
        ("adaattn", "{style}_{content}_cs.png"),
        ("omnistyle", "{content}@{style}.jpg"),
        ("pair", "{style}_{content}.png"),
        ("inst", "{content}-{style}-0001.png"),
    ],
)
@settings(max_examples=60, deadline=None)
@given(contents=IDS, styles=IDS)
def test_the_true_cell_is_always_among_the_readings(
    layout: str, pattern: str, contents: list[str], styles: list[str]
) -> None:
    jobs = _jobs(contents, styles)
    reader = Reader(LAYOUTS[layout], known_names(jobs), Path("."), {})
    for job in jobs:
        cells, _ = reader.read(pattern.format(**job.levels))
        assert tuple(job.levels.values()) in cells


@settings(max_examples=60, deadline=None)
@given(contents=IDS, styles=IDS, name=st.text("ab_-1@ ", min_size=1, max_size=8))
def test_readings_say_the_name_again(contents: list[str], styles: list[str], name: str) -> None:
    known = known_names(_jobs(contents, styles))
    pattern = "{content}_{style}"
    for reading in readings(name, parts_of(pattern, known), known):
        assert pattern.format(**reading) == name


def test_a_placeholder_that_comes_twice_is_the_same_level() -> None:
    known = known_names(_jobs(["a", "b"], ["s"]))
    parts = parts_of("{content}/{content}_{style}", known)
    assert readings("a/a_s", parts, known) == [{"content": "a", "style": "s"}]
    assert readings("a/b_s", parts, known) == []


def test_zeros_before_a_number_count_only_where_a_layout_says_so() -> None:
    known = known_names(_jobs(["12", "112"], ["s"]))
    parts = parts_of("{content}_{style}", known)
    assert readings("00012_s", parts, known) == []
    assert readings("00012_s", parts, known, padded=True) == [{"content": "12", "style": "s"}]


def test_aliases_stand_beside_the_id() -> None:
    known = known_names(_jobs(["cat"], ["wave"]), aliases={"style": {"wave": "The Great Wave"}})
    parts = parts_of("{content} {style}", known)
    for name in ("cat wave", "cat The Great Wave"):
        assert readings(name, parts, known) == [{"content": "cat", "style": "wave"}]


def test_an_alias_that_is_another_levels_id_is_refused() -> None:
    with pytest.raises(BadConfig, match="style 'a' and 'b' would both be read from 'a'"):
        known_names(_jobs(["c"], ["a", "b"]), aliases={"style": {"b": "a"}})
    with pytest.raises(UnknownName, match="no factor 'styl'; did you mean 'style'"):
        known_names(_jobs(["c"], ["a"]), aliases={"styl": {"a": "b"}})


def test_settings_say_exactly_what_a_picture_depends_on() -> None:
    from paragone.make.adapters import CommandMethod, HttpMethod, PythonMethod

    assert FolderMethod(root="r", layout="pair").bearing()["layout"] == "pair"
    assert PythonMethod(target="a:b", params={"n": 1}).bearing()["params"] == {"n": 1}
    one = HttpMethod(base_url="https://a", model="m", max_cost=1.0, price_per_request=0.1, tries=2)
    two = HttpMethod(base_url="https://a", model="m", max_cost=9.0, price_per_request=0.2, concurrency=4)
    assert one.bearing() == two.bearing() != HttpMethod(base_url="https://a", model="n").bearing()
    slow, quick = (CommandMethod(argv=["p", "{out}"], timeout_s=t, env={"TOKEN": "secret"}) for t in (9.0, 1.0))
    assert slow.bearing() == quick.bearing()
    assert slow.bearing() != CommandMethod(argv=["p", "{out}"], env={"TOKEN": "other"}).bearing()
    assert "secret" not in str(slow.bearing())

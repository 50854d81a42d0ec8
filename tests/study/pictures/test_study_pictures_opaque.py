"""Public names tell nothing, and are always the same."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paragone.study.pictures import picture_etag, public_id, same

KEY = bytes(range(32))


def test_an_id_is_sixteen_url_safe_characters_and_always_the_same() -> None:
    made = public_id(KEY, 7, "s1-003")
    assert re.fullmatch(r"[A-Za-z0-9_-]{16}", made)
    assert made == public_id(KEY, "7", "s1-003")


def test_the_id_is_hmac_sha256_over_lease_and_trial() -> None:
    # computed with openssl: printf 'paragone trial\0\0\0\0017\0\0\0\006s1-003' | openssl dgst -sha256 -mac HMAC
    assert public_id(KEY, 7, "s1-003") == "UuU7D-F7IuIAmGTC"


@given(st.tuples(st.text(), st.text()), st.tuples(st.text(), st.text()))
def test_different_trials_have_different_ids(one: tuple[str, str], other: tuple[str, str]) -> None:
    assert (public_id(KEY, *one) == public_id(KEY, *other)) == (one == other)


def test_lease_and_trial_cannot_be_shifted_into_each_other() -> None:
    assert public_id(KEY, 1, "23") != public_id(KEY, 12, "3")


def test_another_key_gives_another_id() -> None:
    assert public_id(KEY, 1, "a") != public_id(KEY[::-1], 1, "a")


def test_a_tag_differs_between_trials_and_from_the_id() -> None:
    assert re.fullmatch(r'"[A-Za-z0-9_-]{16}"', picture_etag(KEY, "x", "ab12"))
    assert picture_etag(KEY, "x", "ab12") != picture_etag(KEY, "y", "ab12")
    assert picture_etag(KEY, "1", "2").strip('"') != public_id(KEY, 1, "2")


def test_a_short_key_is_no_secret() -> None:
    with pytest.raises(ValueError, match="at least 16 bytes"):
        public_id(b"short", 1, "a")


@given(st.text(), st.text())
def test_names_are_equal_when_they_are_equal(one: str, other: str) -> None:
    assert same(one, other) == (one == other)
    assert same(one, one)

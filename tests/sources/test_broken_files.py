"""Every file of `broken_files` is refused with one line that names the file and, where there is one, the row."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from broken_files import BROKEN, Broken
from paragone import errors
from paragone.errors import ParagoneError
from paragone.sources import read_ratings, read_scores, read_votes

READERS = {"votes": read_votes, "ratings": read_ratings, "scores": read_scores}


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.name)
def test_a_broken_file_is_refused_with_one_clear_line(broken: Broken, tmp_path: Path) -> None:
    path = broken.make(tmp_path)
    with pytest.raises(ParagoneError, match=broken.message) as caught:
        READERS[broken.reader](path)
    error = caught.value
    assert type(error) is getattr(errors, broken.error)
    assert "\n" not in error.message
    assert path.name in error.message
    assert len(error.message) < 900
    assert error.message.isprintable()


def test_there_are_enough_of_them() -> None:
    assert len(BROKEN) >= 40
    assert len({broken.name for broken in BROKEN}) == len(BROKEN)


def test_most_of_them_name_a_row_or_a_column() -> None:
    placed = [broken for broken in BROKEN if re.search(r"row|column|'", broken.message)]
    assert len(placed) > 50

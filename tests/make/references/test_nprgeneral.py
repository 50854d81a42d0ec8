"""NPRgeneral's photographs among a user's files."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

from paragone.errors import BadTable, NotFound
from paragone.images import write_image
from paragone.make.references import nprgeneral
from paragone.make.references.nprgeneral import LONGER_SIDE, PHOTOGRAPHS, cards_of, recognised


def _paint(path: Path, width: int = 64, seed: int = 0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return write_image(np.random.default_rng(seed).random((4, width, 3), dtype=np.float32), path)


def test_the_set_has_twenty_names_each_with_its_own_md5() -> None:
    assert len(PHOTOGRAPHS) == 20
    assert len({photograph.md5 for photograph in PHOTOGRAPHS.values()}) == 20
    assert all(len(p.md5) == 32 and int(p.md5, 16) >= 0 for p in PHOTOGRAPHS.values())
    assert {p.category for p in PHOTOGRAPHS.values()} == {"people", "nature", "artificial"}
    assert sorted(PHOTOGRAPHS) == list(PHOTOGRAPHS)


def test_names_are_recognised_with_or_without_1024_and_said_to_prove_nothing(tmp_path: Path) -> None:
    for name in ("cat.png", "rim1024.png", "tomato_1024.png", "dog.png"):
        _paint(tmp_path / "deep" / name)
    made = recognised(tmp_path)
    assert made["name"].to_list() == ["cat", "rimlighting", "tomatoes"]
    assert made["by"].unique().to_list() == ["name"]
    assert made["note"][0] == (
        "recognised by name only: another file than the published one, perhaps another picture; longer side 64 px, the "
        "published file has 1024"
    )


def test_a_file_with_the_published_md5_is_known_whatever_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _paint(tmp_path / "cat.png", LONGER_SIDE, seed=1)
    digest = hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()
    monkeypatch.setattr(nprgeneral, "_BY_MD5", {digest: "arch"})
    _paint(tmp_path / "arch.png", LONGER_SIDE)
    made = recognised(tmp_path)
    assert made.select("image", "name", "by", "category", "longer_side", "note").rows() == [
        ("cat.png", "arch", "md5", "nature", LONGER_SIDE, "called 'cat', but it is 'arch'")
    ]


def test_a_file_that_is_no_picture_is_named_and_noted(tmp_path: Path) -> None:
    (tmp_path / "barn.jpg").write_bytes(b"no picture")
    made = recognised(tmp_path).row(0, named=True)
    assert made["longer_side"] is None
    assert made["note"].endswith("not a readable picture")


def test_recognised_files_get_content_cards_under_their_own_names(tmp_path: Path) -> None:
    _paint(tmp_path / "yemeni1024.png")
    made = cards_of(recognised(tmp_path))
    card = made.of("content", "yemeni1024")
    assert (card["category"], card["artist"], card["title"]) == ("people", "Richard Messenger", "yemeni")
    assert card["source"] == "NPRgeneral, yemeni (recognised by name)"


def test_two_files_of_one_name_make_no_cards(tmp_path: Path) -> None:
    _paint(tmp_path / "a" / "cat.png")
    _paint(tmp_path / "b" / "cat.png")
    with pytest.raises(BadTable, match="content 'cat' has two cards"):
        cards_of(recognised(tmp_path))


def test_nothing_recognised_is_an_empty_table(tmp_path: Path) -> None:
    assert recognised(tmp_path).height == 0
    assert cards_of(recognised(tmp_path)).frame.height == 0
    with pytest.raises(NotFound, match="no folder of pictures"):
        recognised(tmp_path / "nowhere")

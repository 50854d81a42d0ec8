"""What made a picture, inside its file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from paragone.errors import BadImage, NotFound, UnknownName
from paragone.images import read_image, write_image
from paragone.make.prompts.stamp import parameters_line, read_stamp, write_stamped

FACTS = {"prompt": "a bird, 浮世絵", "seed": 2**63 - 1, "steps": 20, "model": "sd2", "digest": "ab" * 32}


@pytest.fixture
def picture() -> np.ndarray:
    return np.random.default_rng(0).random((20, 30, 3), dtype=np.float32)


def test_facts_in_any_language_come_back(tmp_path: Path, picture: np.ndarray) -> None:
    assert read_stamp(write_stamped(picture, tmp_path / "a.png", FACTS)) == FACTS


def test_the_picture_is_the_same_with_and_without(tmp_path: Path, picture: np.ndarray) -> None:
    bare = write_image(picture, tmp_path / "bare.png")
    stamped = write_stamped(picture, tmp_path / "stamped.png", FACTS)
    assert np.array_equal(read_image(bare), read_image(stamped))
    assert read_stamp(bare) is None
    assert write_stamped(picture, tmp_path / "none.png", None).read_bytes() == bare.read_bytes()


def test_other_programs_read_the_line_of_parameters(tmp_path: Path, picture: np.ndarray) -> None:
    write_stamped(
        picture, tmp_path / "a.png", {**FACTS, "negative": "blur", "guidance": 7.5, "width": 30, "height": 20}
    )
    with Image.open(tmp_path / "a.png") as image:
        image.load()
        assert image.text["parameters"] == (
            "a bird, 浮世絵\nNegative prompt: blur\n"
            f"Steps: 20, CFG scale: 7.5, Seed: {2**63 - 1}, Size: 30x20, Model hash: ababababab, Model: sd2"
        )


def test_facts_that_are_not_known_are_left_out() -> None:
    assert parameters_line({"prompt": "x", "seed": 0}) == "x\nSeed: 0"


def test_only_png_holds_facts(tmp_path: Path, picture: np.ndarray) -> None:
    with pytest.raises(UnknownName, match=r"no picture format that holds such facts '\.jpg'"):
        write_stamped(picture, tmp_path / "a.jpg", FACTS)


def test_what_is_no_picture_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"no picture")
    with pytest.raises(BadImage, match="not a PNG picture"):
        read_stamp(tmp_path / "a.png")
    with pytest.raises(NotFound, match="no picture"):
        read_stamp(tmp_path / "b.png")


def test_a_text_that_is_no_json_counts_as_none(tmp_path: Path, picture: np.ndarray) -> None:
    from PIL import PngImagePlugin

    texts = PngImagePlugin.PngInfo()
    texts.add_itxt("paragone", "{")
    Image.new("RGB", (4, 4)).save(tmp_path / "a.png", pnginfo=texts)
    assert read_stamp(tmp_path / "a.png") is None

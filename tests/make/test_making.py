"""make.toml: read strictly, refused with one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from make_world import MAKE, world
from paragone.errors import BadConfig, NotFound, UnknownName
from paragone.make.making import read_making, reference_folder


def _refused(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "make.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_make_toml_becomes_a_record(tmp_path: Path) -> None:
    making = read_making(world(tmp_path) / "make.toml")
    assert making.seed == 3
    assert list(making.reference) == ["content", "style"]
    assert making.method["brush"].styliser == "strokes"


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("nme = 'x'", BadConfig, "did you mean 'name'"),
        (MAKE + 'stylser = "xdog"\n', BadConfig, r"\[method.brush\] no key 'stylser'; did you mean 'styliser'"),
        (
            MAKE + '[reference.style.select]\nnumber = 1\nhow = "best"\n',
            BadConfig,
            "reference.style.select.how: 'best' is not",
        ),
        (MAKE.replace("[method.reinhard]", "[method.reinhart]"), UnknownName, "no styliser 'reinhart'"),
        (MAKE + "options = { brushes = 3 }\n", UnknownName, "no option of styliser 'strokes' 'brushes'"),
        (
            MAKE + 'align = "stretch"\n',
            BadConfig,
            "method.brush.align: 'stretch' is not one of exact, resize, crop, pad",
        ),
        (
            MAKE.replace('kind = "styliser"\nstyliser', 'kind = "magic"\nstyliser'),
            BadConfig,
            "method.brush.kind: 'magic' is not one of styliser, folder, command, python, http",
        ),
        (MAKE.replace("seed = 3", "seed = -1"), BadConfig, "seed is -1"),
        (MAKE.replace("seed = 3", "broken = -1"), BadConfig, "broken is -1"),
        (MAKE.replace('"in/styles"', '"in/styles"\nlongest = 4'), BadConfig, "longest is 4"),
        (MAKE.replace("[method.brush]", '[method."../brush"]'), BadConfig, "cannot name a method"),
        (MAKE.replace("[method.brush]", "[method.Reinhard]"), BadConfig, "differ in case or spelling alone"),
        (MAKE.replace("[reference.style]", "[reference.method]"), BadConfig, "'method' cannot name a factor"),
        ("name = 'x'\n[method.strokes]\nkind = 'styliser'\n", BadConfig, "no \\[reference.content\\]"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_runs(
    tmp_path: Path, text: str, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        read_making(_refused(tmp_path, text))


def test_shipped_pictures_have_a_name_of_their_own(tmp_path: Path) -> None:
    assert (reference_folder("package:contents", tmp_path) / "cat.jpg").is_file()
    with pytest.raises(NotFound, match="no folder of reference pictures 'package:nothing'"):
        reference_folder("package:nothing", tmp_path)

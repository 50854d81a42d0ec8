"""Nothing that is there is replaced unless that is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from paragone.errors import WouldOverwrite
from paragone.images import write_image
from paragone.loop import demo
from paragone.loop.build import import_into, new_folder


def _pictures(folder: Path) -> Path:
    import numpy as np

    for name in ("a/x.png", "b/x.png"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_image(np.full((8, 8, 3), 0.5, dtype=np.float32), path)
    return folder


def test_a_benchmark_is_replaced_only_by_force(tmp_path: Path) -> None:
    pictures = _pictures(tmp_path / "pictures")
    made, grid = new_folder(tmp_path / "bench", "{method}/{content}.png", root=pictures)
    assert (made.items.height, grid.missing) == (2, [])
    before = (tmp_path / "bench" / "items.csv").read_bytes()
    with pytest.raises(WouldOverwrite, match="holds a benchmark; --force replaces it"):
        new_folder(tmp_path / "bench", "{other}/{content}.png", root=pictures)
    assert (tmp_path / "bench" / "items.csv").read_bytes() == before
    again, _ = new_folder(tmp_path / "bench", "{other}/{content}.png", root=pictures, force=True)
    assert again.factors == ("other", "content")
    assert all((tmp_path / "bench" / image).is_file() for image in again.items["image"])


def test_imported_answers_are_replaced_only_by_force(tmp_path: Path) -> None:
    table = tmp_path / "votes.csv"
    table.write_text("left,right,choice\na,b,left\n")
    import_into("table", table, tmp_path / "out")
    with pytest.raises(WouldOverwrite, match=r"votes.csv' exists; --force replaces it"):
        import_into("table", table, tmp_path / "out")


def test_a_demo_never_clears_a_folder_that_no_demo_made(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    for force in (False, True):
        with pytest.raises(WouldOverwrite, match=r"is not empty; --force makes the demo anew|no demo made"):
            demo(tmp_path, force=force)
    assert (tmp_path / "thesis.tex").read_text() == "years of work"

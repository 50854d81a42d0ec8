"""Results say what they were made from, and notice when that has changed."""

from __future__ import annotations

import hashlib
from pathlib import Path

from paragone import __version__
from paragone.provenance import changed_inputs, digest, made_by


def test_the_record_names_versions_settings_and_digests(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_bytes(b"left,right\n")
    made = made_by("score", inputs=[path], settings={"seed": 1})
    assert made["paragone"] == __version__
    assert {"python", "numpy", "polars"} <= set(made["versions"])
    assert made["inputs"] == [{"path": path.as_posix(), "sha256": hashlib.sha256(b"left,right\n").hexdigest()}]
    assert digest(path) == made["inputs"][0]["sha256"]


def test_changed_and_lost_inputs_are_named(tmp_path: Path) -> None:
    kept, changed, lost = (tmp_path / name for name in ("kept.csv", "changed.csv", "lost.csv"))
    for path in (kept, changed, lost):
        path.write_text("x")
    made = made_by("score", inputs=[kept, changed, lost])
    changed.write_text("y")
    lost.unlink()
    lines = changed_inputs(made, tmp_path)
    assert lines == [f"input '{changed.as_posix()}' has changed since", f"input '{lost.as_posix()}' is gone"]

"""What was kept comes back bit by bit, and what was damaged does not come back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from paragone.features.kept import Kept


def some() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    return {"0 mean": rng.random((1, 7)).astype(np.float32), "all of it": np.float32([[[np.inf, -0.0, 1e-40]]])}


def test_arrays_come_back_as_they_were(tmp_path: Path) -> None:
    kept = Kept(tmp_path / "a" / "b")
    assert kept.read("one\ntwo") is None
    assert "one\ntwo" not in kept
    kept.write("one\ntwo", some())
    assert "one\ntwo" in kept
    got = kept.read("one\ntwo")
    assert got is not None
    assert list(got) == list(some())
    for name, array in some().items():
        assert got[name].shape == array.shape
        assert got[name].tobytes() == array.tobytes()
    assert kept.read("one") is None


def test_a_later_value_replaces_an_earlier_one(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    kept.write("key", some())
    kept.write("key", {"x": np.zeros((0, 3), dtype=np.float32)})
    got = kept.read("key")
    assert got is not None
    assert {name: one.shape for name, one in got.items()} == {"x": (0, 3)}


def test_any_changed_byte_or_length_makes_it_unkept(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    kept.write("key", some())
    path = kept.path("key")
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 16]) + whole[place + 1 :])
        assert kept.read("key") is None
    for length in (0, 5, 30, len(whole) - 1):
        path.write_bytes(whole[:length])
        assert kept.read("key") is None
    path.write_bytes(whole + b"\0")
    assert kept.read("key") is None


def test_a_file_under_another_keys_name_is_not_taken(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    kept.write("key", some())
    kept.path("other").parent.mkdir(parents=True, exist_ok=True)
    kept.path("other").write_bytes(kept.path("key").read_bytes())
    assert kept.read("other") is None


def test_a_write_that_fails_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Kept(tmp_path)
    kept.write("key", some())

    def full(self: Path, content: bytes) -> int:
        self.open("wb").close()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space left"):
        kept.write("key", {})
    monkeypatch.undo()
    got = kept.read("key")
    assert got is not None
    assert len(got) == 2
    assert [one.name for one in kept.path("key").parent.iterdir()] == [kept.path("key").name]

"""The study's key, and what is derived from it."""

from __future__ import annotations

import hashlib
import hmac
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from paragone.errors import BadInput, NotFound
from paragone.study.store.keys import Keys, read_keys

SECRET = bytes(range(32))


def _expand(purpose: str) -> bytes:
    """HKDF-Expand of RFC 5869, section 2.3, for one block."""
    return hmac.new(SECRET, f"paragone {purpose}".encode() + b"\x01", hashlib.sha256).digest()


def test_keys_follow_rfc_5869() -> None:
    assert Keys(SECRET).derived("seal") == _expand("seal")


def test_the_hmac_is_that_of_the_standard_library() -> None:
    expected = hmac.new(_expand("hmac"), b"prolific:5f", hashlib.sha256).hexdigest()
    assert Keys(SECRET).hmac("prolific:5f") == expected


def test_sealed_is_opened_by_the_same_key_only() -> None:
    keys = Keys(SECRET)
    sealed = keys.seal(b"5f0000000000")
    assert keys.unseal(sealed) == b"5f0000000000"
    assert b"5f00" not in sealed
    assert keys.seal(b"5f0000000000") != sealed
    with pytest.raises(BadInput, match=r"sealed ids cannot be opened: they were sealed under another key"):
        Keys(bytes(32)).unseal(sealed)
    with pytest.raises(BadInput, match="sealed ids cannot be opened"):
        keys.unseal(sealed[:-1] + bytes([sealed[-1] ^ 1]))
    with pytest.raises(BadInput, match="sealed ids cannot be opened"):
        keys.unseal(b"short")


def test_a_key_is_made_once_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "new" / "study.key"
    first = read_keys(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert read_keys(path).hmac("x") == first.hmac("x")
    assert read_keys(tmp_path / "other.key").hmac("x") != first.hmac("x")
    assert [entry.name for entry in path.parent.iterdir()] == ["study.key"]


def test_processes_that_start_together_agree(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = {keys.hmac("x") for keys in pool.map(lambda _: read_keys(tmp_path / "study.key"), range(8))}
    assert len(made) == 1


def test_a_key_that_others_may_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "study.key"
    read_keys(path)
    path.chmod(0o640)
    with pytest.raises(BadInput, match=r"others may read the study's key; run chmod 600 study\.key"):
        read_keys(path)


@pytest.mark.parametrize("content", [b"", b"hello", b"AAAA\n"])
def test_a_file_that_is_no_key_is_told(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "study.key"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(BadInput, match=r"study\.key: not a study's key; restore the one that was made here"):
        read_keys(path)


def test_a_folder_is_no_key(tmp_path: Path) -> None:
    (tmp_path / "study.key").mkdir()
    with pytest.raises(BadInput, match=r"study\.key: not a file; restore the study's key"):
        read_keys(tmp_path / "study.key")


def test_a_missing_key_is_told(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no key of the study"):
        read_keys(tmp_path / "study.key", make=False)


def test_a_key_never_shows_itself() -> None:
    assert repr(Keys(SECRET)) == "Keys(...)"

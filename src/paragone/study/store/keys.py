"""The study's key: 32 random bytes in a file of its own, from which every other secret is derived."""

from __future__ import annotations

import base64
import contextlib
import hmac as _hmac
import os
import secrets
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

from ...errors import BadInput, NotFound

__all__ = ["Keys", "read_keys"]

_BYTES = 32
_NONCE = 12  # bytes, as AES-GCM wants it


class Keys:
    """Keys derived from the study's one; nothing of them is ever printed.

    Args:
        secret: 32 random bytes.
    """

    def __init__(self, secret: bytes) -> None:
        if len(secret) != _BYTES:
            raise BadInput(f"a study's key has {_BYTES} bytes, not {len(secret)}", where="study.key")
        self._secret = secret
        self._hmac = self.derived("hmac")
        self._seal = AESGCM(self.derived("seal"))

    def derived(self, purpose: str) -> bytes:
        """32 bytes for one purpose, by HKDF (RFC 5869); no purpose's key tells anything of another's."""
        return HKDFExpand(algorithm=SHA256(), length=_BYTES, info=f"paragone {purpose}".encode()).derive(self._secret)

    def hmac(self, text: str) -> str:
        """HMAC-SHA256 of a text, as 64 hexadecimal digits."""
        return _hmac.digest(self._hmac, text.encode(), "sha256").hex()

    def seal(self, content: bytes) -> bytes:
        """Encrypt by AES-256-GCM; the same content never gives the same bytes twice."""
        nonce = secrets.token_bytes(_NONCE)
        return nonce + self._seal.encrypt(nonce, content, None)

    def unseal(self, sealed: bytes) -> bytes:
        """Undo `seal`.

        Raises:
            BadInput: it was sealed under another key, or has changed since.
        """
        try:
            return self._seal.decrypt(sealed[:_NONCE], sealed[_NONCE:], None)
        except (InvalidTag, ValueError) as error:
            raise BadInput(
                "sealed ids cannot be opened: they were sealed under another key; use the study.key they were made with",
                where="study.key",
            ) from error

    def __repr__(self) -> str:
        return "Keys(...)"


def read_keys(path: str | Path, *, make: bool = True) -> Keys:
    """Read a study's key, or make one that only its owner may read.

    Two processes that start together end with the same key.

    Args:
        path: `study.key`.
        make: make it where there is none.

    Raises:
        NotFound: there is none, and `make` is off.
        BadInput: the file is no key, or others than its owner may read it.
    """
    path = Path(path)
    if not path.exists():
        if not make:
            raise NotFound.path(path, "key of the study")
        _make(path)
    if not path.is_file():
        raise BadInput(f"{path.name}: not a file; restore the study's key that was made here", where=str(path))
    if path.stat().st_mode & 0o077:
        raise BadInput(f"{path.name}: others may read the study's key; run chmod 600 {path.name}", where=str(path))
    try:
        return Keys(base64.b64decode(path.read_bytes().strip(), validate=True))
    except (ValueError, BadInput) as error:
        raise BadInput(
            f"{path.name}: not a study's key; restore the one that was made here", where=str(path)
        ) from error


def _make(path: Path) -> None:
    """Write aside, then link: the name appears with its whole content, and only if nobody was first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}.part")
    handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(base64.b64encode(secrets.token_bytes(_BYTES)) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(aside, path)
    finally:
        aside.unlink()

"""Names that tell nothing: public ids of trials and tags of pictures, made from a secret key.

A public id cannot be computed, guessed or matched with that of a repeat without the key; the same trial of the same
lease always has the same one, so nothing needs to be stored.
"""

from __future__ import annotations

import base64
import hmac

__all__ = ["picture_etag", "public_id", "same"]

_BYTES = 12  # 96 bits; 16 url-safe characters


def public_id(key: bytes, lease: int | str, trial: str) -> str:
    """Return the name under which a browser knows a trial.

    Args:
        key: secret of the study, >= 16 bytes.
        lease: id of the lease.
        trial: id of the trial in the plan.

    Returns:
        16 url-safe characters, 96 bits.

    Raises:
        ValueError: the key is too short to be a secret.
    """
    return _opaque(key, "trial", str(lease), trial)


def picture_etag(key: bytes, public: str, sha256: str) -> str:
    """Return the ETag of a picture in a trial, with its quotation marks.

    The same picture has another tag in another trial.

    Args:
        key: secret of the study, >= 16 bytes.
        public: public id of the trial it belongs to (and slot, where wanted).
        sha256: digest of the picture.

    Raises:
        ValueError: the key is too short to be a secret.
    """
    return f'"{_opaque(key, "picture", public, sha256)}"'


def same(given: str, known: str) -> bool:
    """Return whether two names are equal, in a time that does not depend on where they differ."""
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), known.encode("utf-8", "surrogatepass"))


def _opaque(key: bytes, purpose: str, *parts: str) -> str:
    if len(key) < 16:
        raise ValueError("the key must have at least 16 bytes")
    message = b"paragone " + purpose.encode()
    for part in parts:
        coded = part.encode("utf-8", "surrogatepass")
        message += len(coded).to_bytes(4, "big") + coded  # lengths keep ("1", "23") and ("12", "3") apart
    made = hmac.digest(key, message, "sha256")[:_BYTES]
    return base64.urlsafe_b64encode(made).decode("ascii")

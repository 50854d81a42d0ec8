"""What the store knows people by: HMACs of a panel's ids, a sealed copy of them, and the codes of a lab."""

from __future__ import annotations

import secrets
from collections.abc import Callable

import msgspec

from .profiles import CODE_LETTERS, Ids

__all__ = ["code_sha256", "lab_codes", "opened_ids", "person_hmac", "sealed_ids", "submission_hmac"]

_CODE_LENGTH = 8  # 31**8 = 8.5e11: with a thousand live codes one guess in 8.5e8 is right
_KEPT = ("person", "submission", "study", "submit_to")


def person_hmac(hmac: Callable[[str], str], profile: str, person: str) -> str:
    """Return what the store knows a panel's person by."""
    return hmac(f"person\n{profile}\n{person}")


def submission_hmac(hmac: Callable[[str], str], profile: str, submission: str) -> str:
    """Return what the store knows a panel's submission by."""
    return hmac(f"submission\n{profile}\n{submission}")


def sealed_ids(ids: Ids) -> bytes:
    """Return ids as bytes to be sealed."""
    return msgspec.json.encode({name: getattr(ids, name) for name in _KEPT if getattr(ids, name)})


def opened_ids(plain: bytes | None) -> Ids:
    """Return the ids of unsealed bytes; without any: they were deleted, or there never were."""
    kept = msgspec.json.decode(plain, type=dict[str, str]) if plain else {}
    person, submission, study, submit_to = (kept.get(name, "") for name in _KEPT)
    return Ids(person, submission, study, submit_to)


def code_sha256(hmac: Callable[[str], str], code: str) -> str:
    """Return what the store knows a lab code by, however it was typed; '' where it cannot be one.

    It is keyed: a code is short enough to be tried out by who holds the database.
    """
    plain = _plain(code)
    return hmac(f"lab code\n{plain}") if plain else ""


def lab_codes(n: int) -> list[str]:
    """Return n different codes such as 'K7QM-3XWA', to be handed out on paper; without letters that are mistaken.

    Args:
        n: how many, >= 0.
    """
    codes: set[str] = set()
    while len(codes) < n:
        letters = "".join(secrets.choice(CODE_LETTERS) for _ in range(_CODE_LENGTH))
        codes.add(f"{letters[:4]}-{letters[4:]}")
    return sorted(codes)


def _plain(code: str) -> str:
    """A code as it was made."""
    letters = "".join(letter for letter in code[:40].upper() if letter.isalnum())
    return letters if len(letters) == _CODE_LENGTH and set(letters) <= set(CODE_LETTERS) else ""

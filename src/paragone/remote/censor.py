"""`Censor`: a key is struck out of everything that is kept or said, however it is coded."""

from __future__ import annotations

import base64
import json
import re

__all__ = ["Censor"]

_LONGEST_LINE = 300  # characters


class Censor:
    """Strikes one key out of texts."""

    def __init__(self, key: str) -> None:
        """Know the key in all its codings.

        Args:
            key: '' for none, then nothing is struck out.
        """
        self._forms = _forms_of(key)

    def without_key(self, text: str) -> str:
        """The text with the key struck out, also where it is coded by base64 or percent signs; fit for UTF-8."""
        text = text.encode("utf-8", "replace").decode()
        return self._forms.sub("[key]", text) if self._forms else text

    def line(self, value: object) -> str:
        """Anything as one line of at most 300 characters, without the key."""
        text = " ".join(self.without_key(str(value)).split())
        return text if len(text) <= _LONGEST_LINE else text[: _LONGEST_LINE - 3] + "..."

    def worded(self, status: int, body: bytes) -> str:
        """One line out of an answer that is an error: its status, and what its body says of itself."""
        try:
            held = json.loads(body)
        except (ValueError, RecursionError):
            held = None
        error = held.get("error", held) if isinstance(held, dict) else held
        if isinstance(error, dict):
            words = [str(error[name]) for name in ("code", "message") if isinstance(error.get(name), (str, int))]
            text = ": ".join(word for word in words if word) or body[:4000].decode("utf-8", "replace")
        else:
            text = error if isinstance(error, str) else body[:4000].decode("utf-8", "replace")
        return self.line(f"HTTP {status}" + (f": {text}" if text.strip() else ""))


def _forms_of(key: str) -> re.Pattern[str] | None:
    """Matches a key as it is, percent-coded, escaped as in JSON, in hexadecimal and within base64."""
    if not key:
        return None
    each = [f"(?:{re.escape(c)}|(?i:%{ord(c):02x}|\\\\u00{ord(c):02x}))" for c in key]
    forms = ["".join(each), f"(?i:{key.encode().hex()})"]
    for before in range(3):  # base64 of a longer text shows the key in one of three ways
        coded = base64.b64encode(b"\0" * before + key.encode()).decode().rstrip("=")
        known = coded[-(-before * 8 // 6) : (before + len(key)) * 8 // 6]
        if len(known) >= 8:
            forms.append("".join({"+": "[+-]", "/": "[/_]"}.get(c, c) for c in known))
    return re.compile("|".join(forms))

"""Marked text: paragraphs and *emphasis*, everything else plain. No HTML comes out of it, whatever goes in.

What comes out are plain strings to be set as text, never as HTML. In them asterisks stand in pairs around the marked
words and nowhere else, so that `paragraph.split("*")` gives plain and marked parts in turn.
"""

from __future__ import annotations

import re
import unicodedata

__all__ = ["paragraphs", "plain", "question_parts"]

_LITERAL = "\u2217"  # an asterisk that marks nothing: it looks the same and is no mark
_BLANK = re.compile(r"\n\s*\n")
_MARK = re.compile(r"(?<![*\\])(\*{1,2})(?=[^\s*])((?:[^*\\]|\\.)*?)(?<=[^\s*\\])\1(?!\*)", re.DOTALL)
_ESCAPED = re.compile(r"\\([*\\])")
_WIDE = ("W", "F")


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a text, each on one line.

    Paragraphs end at blank lines. `*word*` and `**word**` mark; a backslash before an asterisk makes it an ordinary
    one. Anything else that other markups know (links, lists, headings, HTML) is kept as the characters that it is.

    Args:
        text: what somebody wrote, with any line ends.

    Returns:
        Plain strings; asterisks in pairs around marked words only. Empty where there is nothing but blanks.
    """
    lines = _printable(text)
    found = [_joined(part) for part in _BLANK.split(lines)]
    return [_marked(part) for part in found if part]


def plain(text: str) -> str:
    """Return a text on one line without its marks, for captions, alternative texts and drawn words."""
    return " ".join(paragraphs(text)).replace("*", "")


def question_parts(text: str) -> tuple[str, str, str]:
    """Return what stands before, in and after the first marked word of a question.

    Args:
        text: a question such as "Which result keeps the *content* better?".

    Returns:
        (before, word, after), plain; ("...", "", "") where nothing is marked. Further marks are dropped.
    """
    before, mark, rest = " ".join(paragraphs(text)).partition("*")
    if not mark:
        return before, "", ""
    word, _, after = rest.partition("*")
    return before, word, after.replace("*", "")


def _printable(text: str) -> str:
    """The text with \\n as its only line end and without control characters."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2028", "\n").replace("\u2029", "\n\n")
    return "".join(c for c in lines.replace("\t", " ") if c == "\n" or unicodedata.category(c) != "Cc")


def _joined(part: str) -> str:
    """The lines of one paragraph as one; between two wide characters (Chinese) no blank is put."""
    whole = ""
    for line in (line.strip() for line in part.split("\n")):
        wide = whole and line and all(unicodedata.east_asian_width(c) in _WIDE for c in (whole[-1], line[0]))
        whole += line if not whole or wide or not line else f" {line}"
    return whole


def _marked(paragraph: str) -> str:
    """Marks as single asterisks, every other asterisk as one that marks nothing."""
    made, at = "", 0
    for found in _MARK.finditer(paragraph):
        made += _literal(paragraph[at : found.start()]) + f"*{_literal(found[2])}*"
        at = found.end()
    return made + _literal(paragraph[at:])


def _literal(text: str) -> str:
    return _ESCAPED.sub(lambda found: found[1], text).replace("*", _LITERAL)

"""Every word that a participant reads, by language, and the marked text that researchers may write themselves.

`load("de")` gives the `Texts` of one language: a mapping from key to text that also fills fields, words the question of
a criterion and holds what the browser needs. `paragraphs` and `question_parts` read marked text: paragraphs and
*emphasis*, nothing else; what they give is plain text in which asterisks stand only around a marked word.
"""

from __future__ import annotations

from .marked import paragraphs, plain, question_parts
from .words import Texts, load

__all__ = ["Texts", "load", "paragraphs", "plain", "question_parts"]

"""The participant's page: HTML, a style sheet and ES modules, which run in a browser as they lie here.

Nothing is built. What goes over the line is `sent(name)`: the same file without its comments and the blanks that no
browser needs, so that comments cost a participant nothing; `(x) =>` goes out as `x=>`, and constants
that stand below each other as one statement.
"""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.resources import files

from ...errors import NotFound

__all__ = ["sent"]

_COMMENT = re.compile(r"^\s*(?://.*|/\*[\s\S]*?\*/)\n|\s+// .*$", re.MULTILINE)
_WORDS = re.compile(r"""("(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`|/\S*/)""")  # strings, and whatever stands between slashes
_SIGNS = re.compile(r"(?<=[\w)\]]) ([-+*/%]=?|[!=]==|\?\?) (?=[\w(\[!])")  # between two values, so + never meets ++
_BLANKS = re.compile(r"\s*([=<>?:,;(){}|&*\[\]])\s*")
_LAST = re.compile(r";(?=\})")  # no statement here is empty
_CONST = re.compile(r"^(\t*(?:export )?const )(.*);\n\1(?=.)", re.MULTILINE)
_LONE = re.compile(r"(?<![\w$])\((\w+)\)=>")  # a function of one value; after a word it keeps its brackets
_ENDS = re.compile(
    r"(?<=[,;{(\[>|&?:=])\n|,?\n(?=[\])])|[,;]?\n(?=\})|\n(?=[?:&|.])"
)  # where a line cannot end a statement


@lru_cache(maxsize=32)
def sent(name: str) -> bytes:
    """Return a file of the page as browsers get it.

    Args:
        name: its name in this folder, for example 'study.js'.

    Raises:
        NotFound: there is no such file for browsers.
    """
    kind = name.rpartition(".")[2]
    entry = files(__name__).joinpath(name)
    if kind not in ("html", "css", "js", "svg") or "/" in name or "\\" in name or not entry.is_file():
        raise NotFound.path(name)
    text = entry.read_text(encoding="utf-8")
    if kind == "js":
        text = _COMMENT.sub("", text)
        while (joined := _CONST.sub(_joined, text)) != text:  # each time a line is joined to the next
            text = joined
        text = "".join(f"{_tight(line)}\n" for line in text.split("\n") if line.strip())
        text = _ENDS.sub("", text)
    elif kind == "css":
        text = re.sub(r"/\*.*?\*/|\n", "", text)
        text = re.sub(r"\s*([{};,>]|(?<=[\w-]):(?= ))\s*", r"\1", text).replace(";}", "}")
    return text.encode()


def _joined(found: re.Match[str]) -> str:
    """Two lines of constants as one statement, where the first is whole on its line."""
    head, body = found[1], found[2]
    whole = all(body.count(left) == body.count(right) for left, right in ("()", "[]", "{}"))
    return f"{head}{body}, " if whole else found[0]


def _tight(line: str) -> str:
    """A line of a script without blanks around signs; what is in quotes keeps its own."""
    parts = _WORDS.split(line.strip())
    return "".join(
        part if n % 2 else _LAST.sub("", _LONE.sub(r"\1=>", _BLANKS.sub(r"\1", _SIGNS.sub(r"\1", part)))).strip()
        for n, part in enumerate(parts)
    )

"""What a participant's browser has to fetch before the first picture."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from paragone.errors import NotFound
from paragone.study.web import sent

KINDS = (".js", ".css", ".html", ".svg")
NAMES = sorted(entry.name for entry in files("paragone.study.web").iterdir() if entry.name.endswith(KINDS))


def test_all_that_is_sent_is_at_most_40_kilobytes() -> None:
    sizes = {name: len(sent(name)) for name in NAMES}
    assert sum(sizes.values()) <= 40 * 1024, sizes


def test_what_is_sent_differs_from_the_files_in_blanks_and_comments_alone() -> None:
    for name in NAMES:
        whole = (files("paragone.study.web") / name).read_text(encoding="utf-8")
        bare = re.sub(r"/\*[\s\S]*?\*/|(?m:^\s*//.*$)|(?m:\s// .*$)", "", whole)
        assert _signs(bare) == _signs(sent(name).decode()), name


def _signs(text: str) -> str:
    """Without blanks, ends of lists and blocks, brackets around a lone parameter, and where constants begin."""
    bare = re.sub(r"[,;](?=[\])}])", "", re.sub(r"\s+", "", text))
    bare = re.sub(r";(export)?const(?=[\w$[{])", ",", bare)
    return re.sub(r"(?<![\w$])\((\w+)\)=>", r"\1=>", bare)


def test_words_in_quotes_keep_their_blanks() -> None:
    for name in NAMES:
        whole = (files("paragone.study.web") / name).read_text(encoding="utf-8")
        for words in re.findall(r'"[^"\n]*"', re.sub(r"(?m:^\s*(//|\*|/\*).*$)|(?m:\s// .*$)", "", whole)):
            if name.endswith(".js"):
                assert words in sent(name).decode(), (name, words)


def test_nothing_comes_from_anywhere_else() -> None:
    for name in NAMES:
        addresses = re.findall(rb"(?:https?:)?//[\w.-]+\.\w+", sent(name))
        assert [address for address in addresses if b"www.w3.org" not in address] == [], name
        assert b"eval(" not in sent(name)
        assert b"innerHTML" not in sent(name)


@pytest.mark.parametrize("name", ["__init__.py", "../texts/en.toml", "nothing.js", ""])
def test_only_files_for_browsers_are_sent(name: str) -> None:
    with pytest.raises(NotFound, match="no file"):
        sent(name)


def test_every_word_that_the_page_asks_for_is_there() -> None:
    from paragone.study.texts import load

    asked = set()
    for name in NAMES:
        text = sent(name).decode()
        asked |= set(re.findall(r'(?<![\w.])(?:t|p|status)\("([\w.-]+)"', text))
        asked |= {f"button.{key}" for key in re.findall(r'(?<!\w)(?:button|submit)\("([\w-]+)"', text)}
    assert len(asked) > 60
    for language in ("en", "de", "zh"):
        assert sorted(asked - set(load(language).client)) == []

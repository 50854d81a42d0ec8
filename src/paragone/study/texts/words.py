"""`Texts`: the message file of one language, read once and checked."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from ...design.pages import LANGUAGES
from ...errors import BadInput, UnknownName
from .marked import question_parts

__all__ = ["Texts", "load"]

_FIELD = re.compile(r"\{([a-z_]+)\}")
_CLIENT = "client."
_DECIMAL = {"de": ","}  # mark of the decimals; others write a point


@dataclass(frozen=True)
class Texts(Mapping[str, str]):
    """Key -> text in one language, such as "consent.data.head" -> "What we store"."""

    language: str
    """en, zh or de."""
    entries: Mapping[str, str]
    """Every key with its text."""

    def __getitem__(self, key: str) -> str:
        if key not in self.entries:
            raise KeyError(key)
        return self.entries[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __hash__(self) -> int:
        return hash(self.language)

    @property
    def client(self) -> dict[str, str]:
        """What the browser gets: the keys under 'client.', without that word."""
        return {key.removeprefix(_CLIENT): text for key, text in self.entries.items() if key.startswith(_CLIENT)}

    def fill(self, key: str, **values: object) -> str:
        """Return a text with its {fields} filled in.

        Args:
            key: which text.
            values: one for each field. Numbers are written as the language does; words go in as they are.

        Raises:
            UnknownName: no such key.
            BadInput: a field has no value, or a value no field.
        """
        if key not in self.entries:
            raise UnknownName.among(key, self.entries, "text")
        text = self.entries[key]
        fields = set(_FIELD.findall(text))
        if fields != set(values):
            astray = ", ".join(sorted(fields ^ set(values)))
            raise BadInput(f"text '{key}' takes {', '.join(sorted(fields)) or 'no fields'}; check {astray}", where=key)
        return _FIELD.sub(lambda found: self._written(values[found[1]]), text)

    def under(self, table: str) -> dict[str, str]:
        """Return the texts of one table in the file's order, with what follows the table's name as keys.

        Raises:
            UnknownName: no key stands there.
        """
        found = {key.removeprefix(f"{table}."): text for key, text in self.items() if key.startswith(f"{table}.")}
        if not found:
            raise UnknownName.among(table, {key.rpartition(".")[0] for key in self.entries}, "table of texts")
        return found

    def question(
        self, form: str, criterion: str | None, *, own: str = "", asked: Collection[str] = ()
    ) -> tuple[str, str, str]:
        """Return the question of a criterion as what stands before, in and after the marked word.

        Args:
            form: how it is asked: 'pairs', 'ratings' or 'compared' (with a reference beside).
            criterion: its name; None or '': one unnamed criterion.
            own: the study's own wording in this language; '': ours.
            asked: every criterion of the study. 'overall' in pairs asks for the balance of content and style only
                where these two are asked as well.

        Raises:
            UnknownName: no such form.
        """
        if own.strip():
            return question_parts(own)
        known = self.under(f"question.{form}")
        name = criterion or "overall"
        if name == "overall" and "better" in known and not {"content", "style"} <= set(asked):
            name = "better"
        if name in known and name != "any":
            return question_parts(known[name])
        words = re.sub(r"[-_*\\\s]+", " ", name).strip() or name
        return question_parts(self.fill(f"question.{form}.any", criterion=words))

    def label(self, role: str, side: str | None = None) -> str:
        """Return the caption of a picture.

        Args:
            role: content, style, left, right, item or reference; any other factor is named as a reference.
            side: left or right where each side has references of its own, else None.
        """
        name = role if f"label.{role}" in self.entries else "reference"
        sided = f"label.{name}-{side}"
        return self.entries[sided if side and sided in self.entries else f"label.{name}"]

    def factor(self, name: str) -> str:
        """Return what stands before the text of a factor, such as 'Prompt'; an unknown factor's own name."""
        return self.entries.get(f"factor.{name}") or re.sub(r"[-_\s]+", " ", name).strip().capitalize() or name

    def choices(self, asked: str) -> list[dict[str, str]]:
        """Return the choices of a question about the person (gender, age, expertise, region) as id and label."""
        return [{"id": name, "label": text} for name, text in self.under(f"questionnaire.{asked}.choices").items()]

    def _written(self, value: object) -> str:
        if isinstance(value, float):
            return f"{value:.10g}".replace(".", _DECIMAL.get(self.language, "."))
        return str(value)


@functools.cache
def load(language: str) -> Texts:
    """Return the texts of a language.

    Raises:
        UnknownName: there is no message file in that language.
        BadInput: the file has an empty text or something that is no text.
    """
    if language not in LANGUAGES:
        raise UnknownName.among(language, LANGUAGES, "language")
    raw = tomllib.loads((files(__package__) / f"{language}.toml").read_text(encoding="utf-8"))
    entries: dict[str, str] = {}
    _flatten(raw, "", f"{language}.toml", entries)
    return Texts(language, MappingProxyType(entries))


def _flatten(table: Mapping[str, Any], path: str, where: str, into: dict[str, str]) -> None:
    for name, value in table.items():
        key = f"{path}{name}"
        if isinstance(value, Mapping):
            _flatten(value, f"{key}.", where, into)
        elif isinstance(value, str) and value.strip():
            into[key] = value.strip()
        else:
            raise BadInput(f"{where}: {key} is not a text with words in it", where=where)

"""Read strict TOML into typed records, and write small TOML files.

A configuration is a `msgspec.Struct` with `forbid_unknown_fields=True`; code never sees a dict.
"""

from __future__ import annotations

import datetime
import math
import tomllib
import typing
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from .errors import BadConfig, NotFound, UnknownName
from .tables import whole_file

__all__ = ["Settings", "held_to_types", "read_settings", "read_toml", "write_toml"]

_PLAIN = (bool, int, float, str)


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of every configuration record: frozen, keyword-only, unknown keys refused."""


Record = TypeVar("Record")


def read_toml(path: str | Path) -> dict[str, Any]:
    """Read a TOML file into a dict.

    Raises:
        NotFound: no such file.
        BadConfig: it is not TOML; names line and column.
    """
    path = Path(path)
    if not path.is_file():
        raise NotFound.path(path)
    try:
        return tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except RecursionError as error:
        raise BadConfig(f"{path.name}: not valid TOML: lists stand in lists too deeply", where=str(path)) from error
    except ValueError as error:  # also a number of more digits than Python reads
        raise BadConfig(f"{path.name}: not valid TOML: {error}", where=str(path)) from error


def read_settings(path: str | Path, record: type[Record]) -> Record:
    """Read a TOML file into `record`.

    Raises:
        NotFound: no such file.
        BadConfig: not TOML, an unknown key (named with its path and the nearest known key), or a value of the wrong kind.
    """
    path = Path(path)
    raw = read_toml(path)
    raw.pop("format", None)
    if place := _nul(raw):
        raise BadConfig(f"{path.name}: {place} holds the character NUL, which no name or path can", where=str(path))
    try:
        return msgspec.convert(raw, record)
    except msgspec.ValidationError as error:
        raise BadConfig(f"{path.name}: {_worded(str(error), record, raw)}", where=str(path)) from error


def _nul(value: Any, place: str = "") -> str:
    """Where a text holds NUL; empty: nowhere."""
    if isinstance(value, str):
        return place if "\0" in value else ""
    pairs = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    for key, own in pairs:
        if found := _nul(own, f"{place}.{key}" if place else str(key)):
            return found
    return ""


def _worded(message: str, record: type, raw: Mapping[str, Any]) -> str:
    """msgspec's sentence with the path first, and a suggestion for an unknown key or word."""
    text, _, place = message.partition(" - at `$")
    place = place.rstrip("`").lstrip(".")
    shown = _named(place, record, raw)
    if "unknown field" in text:
        word = text.split("`")[1]
        known = _keys(record, place)
        hint = UnknownName.among(word, known, "key").message
        return f"[{shown}] {hint}" if shown else hint
    if text.startswith(("Invalid enum value", "Invalid value")) and (choices := _choices(record, place)):
        word = text.split("'")[1] if "'" in text else text.rpartition(" ")[2]
        return f"{shown}: '{word}' is not one of {', '.join(choices)}"
    return f"{shown}: {text[0].lower()}{text[1:]}" if shown else text


def _named(place: str, record: Any, raw: Any) -> str:
    """The place with the name of the entry where msgspec writes '[...]': the first one that cannot be converted."""
    before, dots, after = place.partition("[...]")
    if not dots or not isinstance(raw, Mapping) or "." in before:
        return place
    hints = [typing.get_type_hints(one).get(before) for one in _records(record)]
    value = next((typing.get_args(hint)[1] for hint in hints if typing.get_origin(hint) is dict), None)
    for name, entry in raw.get(before, {}).items() if value is not None else ():
        try:
            msgspec.convert(entry, value)
        except msgspec.ValidationError:
            rest = after.lstrip(".")
            inner = _named(rest, value, entry) if rest else ""
            return f"{before}.{name}.{inner}" if inner else f"{before}.{name}"
    return place


def _choices(record: Any, place: str) -> list[str]:
    """The words that a place may hold: those of a Literal, or the tags of a union of records."""
    *path, last = place.replace("[...]", "").split(".")
    inside = _at(record, path)
    tags = [str(one.__struct_config__.tag) for one in inside if one.__struct_config__.tag_field == last]
    if tags:
        return tags
    hints = [typing.get_type_hints(one).get(last.partition("[")[0]) for one in inside]
    found = next((hint for hint in hints if typing.get_origin(hint) is typing.Literal), None)
    return [str(word) for word in typing.get_args(found)] if found is not None else []


def _at(record: Any, path: list[str]) -> list[Any]:
    """The records that stand at a place."""
    records = _records(record)
    for part in [word for word in path if word]:
        hints = [typing.get_type_hints(one).get(part.partition("[")[0]) for one in records]
        records = [inner for hint in hints if hint is not None for inner in _records(hint)]
    return records


def _keys(record: Any, place: str) -> list[str]:
    """The keys known at a place such as 'stage[0].checks'; of a union of records, those of all of them."""
    path = place.replace("[...]", "").split(".")
    return sorted({key for one in _at(record, path) for key in one.__struct_fields__})


def _records(hint: Any) -> list[Any]:
    """The records in a type such as `list[A | B] | None`."""
    if hasattr(hint, "__struct_fields__"):
        return [hint]
    return [record for inner in typing.get_args(hint) for record in _records(inner)]


def held_to_types(options: Mapping[str, Any], function: Callable[..., Any], what: str) -> dict[str, Any]:
    """The options, each as the type that the function's own hints name; 1 is a number with a point where one is wanted.

    Args:
        options: name -> value, as read from a command line or file. Names that the function does not have are passed on:
            who calls it refuses them with a suggestion.
        function: what they are for; its keyword arguments carry type hints.
        what: its name in messages.

    Raises:
        BadConfig: a value is of another type; names the option and what it may be.
    """
    hints = typing.get_type_hints(function)
    made = dict(options)
    for name, value in options.items():
        hint = hints.get(name)
        if hint is None or not _is_plain(hint):
            continue
        try:
            made[name] = msgspec.convert(value, hint)
        except msgspec.ValidationError:
            raise BadConfig(f"{what}: {name} = '{value}' is not {_in_words(hint)}", where=name) from None
    return made


def _is_plain(hint: Any) -> bool:
    return hint in _PLAIN or typing.get_origin(hint) is typing.Literal


def _in_words(hint: Any) -> str:
    if typing.get_origin(hint) is typing.Literal:
        return f"one of {', '.join(map(str, typing.get_args(hint)))}"
    return {bool: "true or false", int: "a whole number", float: "a number"}.get(hint, "a word")


def write_toml(content: Mapping[str, Any], path: str | Path) -> Path:
    """Write a small TOML file, whole or not at all; None values are left out.

    Args:
        content: strings, numbers, booleans, dates, lists and (nested) mappings.
        path: where to.
    """
    path = Path(path)
    with whole_file(path) as aside:
        aside.write_text("\n".join(_lines(content, ())) + "\n", encoding="utf-8")
    return path


def _lines(content: Mapping[str, Any], path: tuple[str, ...]) -> list[str]:
    plain = {key: value for key, value in content.items() if not isinstance(value, Mapping) and value is not None}
    lines = [f"{_key(key)} = {_value(value)}" for key, value in plain.items()]
    for key, value in content.items():
        if isinstance(value, Mapping):
            inner = (*path, key)
            lines += ["", f"[{'.'.join(_key(part) for part in inner)}]", *_lines(value, inner)]
    return lines


def _key(key: object) -> str:
    text = str(key)
    bare = text != "" and all(c.isascii() and (c.isalnum() or c in "-_") for c in text)
    return text if bare else _quoted(text)


def _quoted(text: str) -> str:
    marks = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return '"' + "".join(marks.get(c, c if c.isprintable() else f"\\U{ord(c):08x}") for c in text) + '"'


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if hasattr(value, "item") and not isinstance(value, (str, list, tuple)):
        return _value(value.item())
    if isinstance(value, float):
        if math.isnan(value):
            return "nan"
        return ("inf" if value > 0 else "-inf") if math.isinf(value) else repr(value)
    if isinstance(value, (datetime.date, datetime.datetime)):
        return value.isoformat()
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(item) for item in value if item is not None) + "]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items() if v is not None) + "}"
    return _quoted(str(value))

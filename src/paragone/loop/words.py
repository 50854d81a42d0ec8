"""Words of users and of foreign files made safe: options held against their types, names of scores as names of files."""

from __future__ import annotations

import re
import typing
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from ..errors import BadConfig

__all__ = ["file_name", "held_to_types"]

_PLAIN = (bool, int, float, str)


def file_name(name: str) -> str:
    """The name of scores as the name of a file in one folder: nothing in it leads elsewhere, and it is never empty.

    Args:
        name: any text; a foreign table's column, for example.
    """
    return re.sub(r"[^\w.,=+() -]", "-", name).strip(". ")[:60] or "scores"


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

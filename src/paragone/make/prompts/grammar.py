"""Prompts out of a grammar: axes of words, a template that joins them, and combinations that are left out.

A prompt's id is made of the keys of its levels, never of its text, so that a word can be corrected without renaming
pictures. In make.toml:

    [grammar]
    template = "{main}, {place}, {style}"
    [grammar.axis]
    main = ["bird", "teddy bear"]                   # keys are made of the words: bird, teddy-bear
    place = ["city", "wild"]
    style = {anime = "anime style", photo = "realistic style"}
    [[grammar.exclude]]
    main = "bird"
    style = ["photo"]
"""

from __future__ import annotations

import itertools
import re
import string
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ...errors import BadConfig, UnknownName
from ...settings import Settings

__all__ = ["MOST_PROMPTS", "TOKENS", "Grammar", "Prompts", "prompts_of"]

MOST_PROMPTS = 1_000_000
"""Largest number of combinations that is laid out; our choice."""

TOKENS = 77
"""Tokens that a CLIP text encoder reads, those of start and end among them; what follows is cut off without a word."""

_KEY = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_AXIS = re.compile(r"[a-z][a-z0-9_]*")
_TAKEN = ("id", "item", "image", "method", "prompt", "replicate", "seed", "of", "level", "criterion", "score", "text")
_JOIN = "__"


class Grammar(Settings, frozen=True):
    """Axes, template and exclusions: `[grammar]` of make.toml."""

    template: str
    """Text with every axis in braces, for example '{main}, {place}'."""
    axis: dict[str, dict[str, str] | list[str]]
    """Axis -> its levels: key -> words, or words alone, of which keys are made. Keys hold a-z, 0-9 and hyphens."""
    exclude: tuple[dict[str, str | list[str]], ...] = ()
    """Combinations that are left out, each axis -> one key or several; axes that are not named do not matter."""
    sample: int = 0
    """Prompts that are drawn, every level about equally often; 0: all combinations."""
    seed: int = 0
    """Of the draw, >= 0."""

    def __post_init__(self) -> None:
        if not self.axis:
            raise BadConfig("grammar: no axis; give at least one, as axis.main = ['bird', 'cat']", where="grammar.axis")
        for name in self.axis:
            if not _AXIS.fullmatch(name) or name in _TAKEN:
                raise BadConfig(
                    f"grammar: '{name}' cannot name an axis; use lower-case letters, digits and _, and none of "
                    f"{', '.join(_TAKEN)}",
                    where="grammar.axis",
                )
        for name in self.axis:
            if not self.levels(name):
                raise BadConfig(f"grammar: axis '{name}' has no level", where=f"grammar.axis.{name}")
        used = _placeholders(self.template)
        for name in used:
            if name not in self.axis:
                raise BadConfig(f"grammar: {UnknownName.among(name, self.axis, 'axis').message}", where="template")
        unused = [name for name in self.axis if name not in used]
        if unused:
            raise BadConfig(
                f"grammar: the template does not hold {{{unused[0]}}}, so prompts would differ in name only",
                where="template",
            )
        for rule in self.exclude:
            for name, keys in rule.items():
                if name not in self.axis:
                    raise BadConfig(f"grammar: {UnknownName.among(name, self.axis, 'axis').message}", where="exclude")
                for key in [keys] if isinstance(keys, str) else keys:
                    if key not in self.levels(name):
                        known = UnknownName.among(key, self.levels(name), f"level of axis '{name}'")
                        raise BadConfig(f"grammar: {known.message}", where="exclude")
        if not all(self.exclude):
            raise BadConfig("grammar: an exclusion without an axis would leave nothing", where="exclude")
        if self.sample < 0 or self.seed < 0:
            raise BadConfig("grammar: sample and seed must be 0 or more", where="grammar")
        size = self.combinations
        if size > MOST_PROMPTS:
            raise BadConfig(
                f"grammar: {size} combinations are more than {MOST_PROMPTS}; take away levels or axes", where="grammar"
            )

    @property
    def combinations(self) -> int:
        """How many combinations the axes have, exclusions not yet taken away."""
        return int(np.prod([len(levels) for levels in self.axis.values()], dtype=object))

    def levels(self, axis: str) -> dict[str, str]:
        """Key -> words of one axis, in order.

        Raises:
            BadConfig: a key is not of a-z, 0-9 and hyphens, none can be made of the words, or one stands twice.
        """
        given = self.axis[axis]
        pairs = list(given.items()) if isinstance(given, dict) else [(_key_of(words), words) for words in given]
        for key, words in pairs:
            if not _KEY.fullmatch(key):
                raise BadConfig(
                    f"grammar: axis '{axis}': '{key or words}' is no key of a-z, 0-9 and hyphens; write key = \"words\"",
                    where=f"grammar.axis.{axis}",
                )
        levels = dict(pairs)
        if len(levels) < len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise BadConfig(f"grammar: axis '{axis}' has the key '{twice}' twice", where=f"grammar.axis.{axis}")
        return levels


@dataclass(frozen=True)
class Prompts:
    """The prompts of a grammar, and what may surprise about them."""

    frame: pl.DataFrame
    """Columns `id` (keys joined by '__'), `prompt` (the text), then one per axis (its key); in the grammar's order."""
    warnings: tuple[str, ...]
    """One line each: texts that differ in case alone, texts that are longer than the model reads."""


def prompts_of(grammar: Grammar, *, tokens: Callable[[str], int] | None = None) -> Prompts:
    """Return the prompts of a grammar.

    Args:
        grammar: axes, template, exclusions, and how many prompts are drawn.
        tokens: gives the number of tokens of a text, those of start and end among them; None: lengths are not looked
            at.

    Returns:
        All combinations in the order of the axes, or a sample of them in that order. A smaller sample of the same seed
        is part of a larger one.

    Raises:
        BadConfig: the exclusions leave nothing, or fewer prompts than are to be drawn.
    """
    levels = {name: grammar.levels(name) for name in grammar.axis}
    barred = [
        {name: {keys} if isinstance(keys, str) else set(keys) for name, keys in rule.items()}
        for rule in grammar.exclude
    ]
    cells = [cell for cell in _cells(levels) if not any(_inside(cell, rule) for rule in barred)]
    if not cells:
        raise BadConfig("grammar: the exclusions leave no prompt", where="exclude")
    if grammar.sample > len(cells):
        raise BadConfig(
            f"grammar: a sample of {grammar.sample}, but there are {len(cells)} prompts; ask for fewer, or 0 for all",
            where="sample",
        )
    if grammar.sample:
        codes = np.array([[list(levels[name]).index(cell[name]) for name in levels] for cell in cells])
        cells = [cells[k] for k in _balanced(codes, grammar.sample, grammar.seed)]
    rows = [
        {
            "id": _JOIN.join(cell.values()),
            "prompt": grammar.template.format(**{name: levels[name][key] for name, key in cell.items()}),
            **cell,
        }
        for cell in cells
    ]
    frame = pl.DataFrame(rows, schema=dict.fromkeys(("id", "prompt", *levels), pl.String))
    texts = dict(zip(frame["id"], frame["prompt"], strict=True))
    return Prompts(frame, (*_twins(texts), *_too_long(texts, tokens)))


def _placeholders(template: str) -> list[str]:
    try:
        parsed = list(string.Formatter().parse(template))
    except ValueError as error:
        raise BadConfig(f"grammar: template '{template}' cannot be read: {error}", where="template") from error
    if any(name is not None and (spec or conversion) for _, name, spec, conversion in parsed):
        raise BadConfig(f"grammar: template '{template}' may hold {{axis}} only", where="template")
    return [name for _, name, _, _ in parsed if name is not None]


def _key_of(words: str) -> str:
    """A key made of words: accents off, lower case, hyphens between; empty where letters would be lost."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", words) if not unicodedata.combining(c)).casefold()
    if any(c.isalnum() and not c.isascii() for c in plain):
        return ""
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")


def _cells(levels: Mapping[str, Mapping[str, str]]) -> Iterator[dict[str, str]]:
    for keys in itertools.product(*levels.values()):
        yield dict(zip(levels, keys, strict=True))


def _inside(cell: Mapping[str, str], rule: Mapping[str, set[str]]) -> bool:
    return all(cell[name] in keys for name, keys in rule.items())


def _balanced(codes: NDArray[np.int64], n: int, seed: int) -> list[int]:
    """Indices of n rows, ascending: at each step the row whose levels, then pairs of levels, were drawn least often."""
    size, axes = codes.shape
    rng = np.random.default_rng(seed)
    chance = rng.permutation(size)
    counts = [np.zeros(codes[:, a].max() + 1) for a in range(axes)]
    pairs = list(itertools.combinations(range(axes), 2))
    joint = {(a, b): np.zeros((len(counts[a]), len(counts[b]))) for a, b in pairs}
    single, double, free = np.zeros(size), np.zeros(size), np.ones(size, dtype=bool)
    for _ in range(n):
        best = np.flatnonzero(free & (single == single[free].min()))
        best = best[double[best] == double[best].min()]
        row = best[np.argmin(chance[best])]
        free[row] = False
        for a in range(axes):
            counts[a][codes[row, a]] += 1
        for a, b in pairs:
            joint[a, b][codes[row, a], codes[row, b]] += 1
        single = np.sum([counts[a][codes[:, a]] for a in range(axes)], axis=0)
        if pairs:
            double = np.sum([joint[a, b][codes[:, a], codes[:, b]] for a, b in pairs], axis=0)
    drawn: list[int] = np.flatnonzero(~free).tolist()
    return drawn


def _twins(texts: Mapping[str, str]) -> list[str]:
    """A line for each prompt whose text is another's but for case and spaces."""
    seen: dict[str, str] = {}
    lines = []
    for name, text in texts.items():
        first = seen.setdefault(" ".join(text.casefold().split()), name)
        if first != name:
            lines.append(f"prompts '{first}' and '{name}' have the same text but for case and spaces: '{text}'")
    return lines


def _too_long(texts: Mapping[str, str], tokens: Callable[[str], int] | None) -> list[str]:
    if tokens is None:
        return []
    counted = {name: tokens(text) for name, text in texts.items()}
    return [
        f"prompt '{name}' has {count} tokens; models that read {TOKENS} cut off its end"
        for name, count in counted.items()
        if count > TOKENS
    ]

"""`Page`: the record that says everything about one way of showing and answering a trial."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal, NamedTuple

from ...errors import BadInput

__all__ = ["Answer", "Page", "Reference", "Scale"]

_OURS = "paragone.study.web"

Reference = tuple[str, str, str]
"""(side, factor, picture) of what stands beside: side is left, right or item."""


class Answer(NamedTuple):
    """What a page answers, once for each criterion."""

    name: str
    """'choice' or 'value': the column of the table that it ends in."""
    type: Literal["word", "number"]
    unit: str
    """Words that may be answered, or the unit of the number."""


class Scale(NamedTuple):
    """A scale as the browser draws it."""

    low: float
    high: float
    step: float
    labels: tuple[str, ...]
    """Words beside the scale, from its low end up; may be empty."""
    at: tuple[float, ...]
    """Where each word stands, in scale units."""


@dataclass(frozen=True, kw_only=True)
class Page:
    """A page kind: its facts, which docs, server and tests read, and its rules, which are functions."""

    name: str
    """The word in `study.toml`: page = "<name>"."""
    summary: str
    """What a participant sees and does, in one line."""
    source: str
    """Where the method of asking is described."""
    needs: Literal["pair", "item"]
    """What a trial must hold: two items, or one."""
    references: Literal["may", "must", "no"]
    """Whether reference pictures stand beside."""
    form: Literal["pairs", "ratings", "compared"]
    """How its questions are worded: the table [question.<form>] of the texts."""
    answers: Answer
    """Name, type and unit of an answer."""
    options: tuple[str, ...]
    """Keys of the stage that it reads."""
    module: str
    """Its script for the browser, 'package:file': an ES module that lies in the package, for example
    'paragone.study.web:pairs.js', and exports `show(trial, known, put, first)`."""
    layout: Callable[[Sequence[Reference]], str]
    """layout(references) -> how the panes are placed. 'four': references once, above both results (just the two
    results where there are none); 'six': each result has its own; 'single': one picture; 'double': a picture and its
    reference."""
    scale: Callable[[Any, Sequence[str]], Scale | None]
    """scale(stage, words) -> the scale, None where there is none; `words` are ours for five grades, the low end first,
    used where the stage has no labels of its own."""
    validate: Callable[[str, Any], str]
    """validate(value, stage) -> the answer as it is stored; raises BadInput where it is none."""
    unfit: Callable[[Any], str]
    """unfit(stage) -> why the stage's settings cannot be asked on this page, in one line; '' where they can."""
    simulate: Callable[..., Any]
    """simulate(felt, stage, person, rng, expected=None, stage_name=None) -> Simulated(value, seconds): what a simulated
    participant answers; `felt` holds what they feel about each item shown (`Person.felt`), `expected` the right answer
    of a check, `stage_name` the stage's name in tables where it has none of its own."""

    @property
    def reads(self) -> str:
        """What it needs, in words."""
        beside = {"may": ", references beside where there are any", "must": " and its reference", "no": ""}
        return ("two items" if self.needs == "pair" else "an item") + beside[self.references]

    @property
    def script_name(self) -> str:
        """The file's name under /static/: its own among ours, one of its own for a page that others made."""
        package, _, name = self.module.partition(":")
        return name if package == _OURS else f"page-{self.name}.js"

    def script(self) -> bytes:
        """Return the source of its script, to be served to the browser.

        Raises:
            BadInput: the package or the file is not there, or `module` is no address.
        """
        package, _, name = self.module.partition(":")
        wrong = f"page '{self.name}': script '{self.module}' is not there; give 'package:file.js'"
        if not name.endswith(".js") or "/" in name or "\\" in name:
            raise BadInput(wrong, where=self.name)
        try:
            return (files(package) / name).read_bytes()
        except (ModuleNotFoundError, FileNotFoundError, ValueError) as error:
            raise BadInput(wrong, where=self.name) from error

"""`make.toml` as typed records: which references, which methods, how the results are held together."""

from __future__ import annotations

import re
import unicodedata
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import msgspec

from ..errors import BadConfig, NotFound
from ..settings import Settings, read_settings
from .adapters import CommandMethod, FolderMethod, HttpMethod, Method, PythonMethod
from .packs.packing import Packing
from .prompts.generation import Generation
from .prompts.grammar import Grammar
from .stylise import STYLISERS, checked_options

__all__ = ["Choice", "Making", "ReferenceSet", "StyliserMethod", "read_making", "reference_folder"]

_PACKAGE = "package:"
_METHOD = re.compile(r"[^/\\\x00-\x1f.][^/\\\x00-\x1f]*")
_FACTOR = re.compile(r"[a-z][a-z0-9_]*")
_TAKEN = ("item", "image", "method", "of", "level", "criterion", "score", "status", "reason", "broken_of")
_MOST_LONGEST = 16_384
_LONGEST_NAME = 80  # bytes of a method's name, which names a folder
_SHIPPED = ("contents", "styles")


class Choice(Settings, frozen=True):
    """How references are chosen from their folder: `[reference.style.select]`; `paragone select` carries it out."""

    number: int
    """Pictures to choose, >= 1. No default: it is how large the benchmark becomes."""
    how: Literal["k-centre", "facility", "log-det"] = "k-centre"
    """k-centre: no picture of the folder is far from a chosen one; facility: each resembles one; log-det: the chosen ones
    are unlike each other."""
    quotas: dict[str, dict[str, int]] = msgspec.field(default_factory=dict)
    """Column of cards.csv -> level -> how many, exactly; for example { category = { people = 2, nature = 2 } }."""
    balance: tuple[str, ...] = ()
    """Columns of cards.csv over which the choice is spread, for example category, colour, detail, region, century."""
    fix: tuple[str, ...] = ()
    """Pictures that are kept by hand; they count."""

    def __post_init__(self) -> None:
        if self.number < 1:
            raise ValueError(f"number is {self.number}; it must be 1 or more")


class ReferenceSet(Settings, frozen=True):
    """References of one factor: `[reference.content]`, `[reference.style]`."""

    folder: str
    """Folder of pictures, each named by its level; relative to make.toml. 'package:contents' and 'package:styles' are
    the pictures that ship with paragone."""
    levels: tuple[str, ...] = ()
    """Only these, in this order; empty: all that the folder has."""
    samples: tuple[str, ...] = ()
    """Drawn references to add, by the names of `paragone.make.stylise.manners.samples`: generated, no paintings."""
    longest: int = 0
    """Longer side in pixels to which larger pictures are made smaller; 0: as they are."""
    select: Choice | None = None
    """Take what `paragone select` chose from the folder; left out: take `levels`."""
    manners: dict[str, str] = msgspec.field(default_factory=dict)
    """Level -> manner by which the styliser `llip` works on it; a card in cards.csv says the same in its column."""

    def __post_init__(self) -> None:
        if not 0 <= self.longest <= _MOST_LONGEST or 0 < self.longest < 16:
            raise ValueError(f"longest is {self.longest}; it must be 16 to {_MOST_LONGEST} pixels, or 0")


class StyliserMethod(Method, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", tag="styliser"):
    """A styliser of the catalogue: `kind = "styliser"`."""

    styliser: str = ""
    """Its name (`paragone list stylisers`); empty: the method's own name."""
    options: dict[str, Any] = msgspec.field(default_factory=dict)
    """Options of that styliser."""


class Making(Settings, frozen=True):
    """`make.toml`."""

    name: str
    """Name of the benchmark."""
    criteria: tuple[str, ...] = ("content", "style", "overall")
    """What is judged."""
    seed: int = 0
    """Every random choice follows from it, >= 0."""
    description: str = ""
    """What the benchmark is."""
    licence: str = ""
    """Who may do what with the pictures."""
    excluded: str = ""
    """What was left out on purpose, for example styles that are no paintings; the published card says so."""
    broken: int = 0
    """Results that also get a broken version, for attention checks, >= 0."""
    reference: dict[str, ReferenceSet] = msgspec.field(default_factory=dict)
    """Factor -> its references. The first one decides the size of the results."""
    method: dict[str, StyliserMethod | FolderMethod | CommandMethod | PythonMethod | HttpMethod] = msgspec.field(
        default_factory=dict
    )
    """Name -> how its results come about; its key `kind` says which of the five ways."""
    grammar: Grammar | None = None
    """Prompts of `paragone generate`, made from axes of words."""
    prompts: str = ""
    """Table with columns id and prompt that `paragone generate` takes instead of a grammar, relative to make.toml."""
    generate: Generation | None = None
    """Models that make pictures from the prompts."""
    pack: Packing = Packing()
    """How `paragone pack` publishes the benchmark."""

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise ValueError("name is empty; name the benchmark")
        if len(set(self.criteria)) < len(self.criteria) or not all(word.strip() for word in self.criteria):
            raise ValueError("criteria: one is empty or stands twice")
        if self.seed < 0:
            raise ValueError(f"seed is {self.seed}; it must be 0 or more")
        if self.broken < 0:
            raise ValueError(f"broken is {self.broken}; it must be 0 or more")
        for factor in self.reference:
            if not _FACTOR.fullmatch(factor) or factor in _TAKEN:
                raise ValueError(
                    f"'{factor}' cannot name a factor; use lower-case letters, digits and _, no taken word"
                )
        if self.grammar is not None and self.prompts:
            raise ValueError("give a grammar or a table of prompts, not both")
        folded: dict[str, str] = {}
        for name in self.method:
            if not _METHOD.fullmatch(name):
                raise ValueError(f"'{name}' cannot name a method: it names a folder; use letters, digits, - and _")
            if len(name.encode()) > _LONGEST_NAME:
                raise ValueError(f"method '{name[:40]}...' has a name of more than {_LONGEST_NAME} bytes; shorten it")
            twin = folded.setdefault(unicodedata.normalize("NFC", name).casefold(), name)
            if twin != name:
                raise ValueError(
                    f"methods '{twin}' and '{name}' differ in case or spelling alone: one folder on some disks"
                )


def read_making(path: str | Path) -> Making:
    """Read make.toml and check what can be checked before anything runs.

    Raises:
        NotFound, BadConfig: no such file, not TOML, an unknown key, a value that cannot be.
        UnknownName: a styliser, or an option of one, that does not exist.
    """
    path = Path(path)
    making = read_settings(path, Making)
    for name, method in making.method.items():
        if isinstance(method, StyliserMethod):
            chosen = STYLISERS.get(method.styliser or name)
            checked_options(chosen, method.options)
    if making.method and not making.reference:
        raise BadConfig(
            f"{path.name}: methods but no [reference.content]; say where the references lie", where=str(path)
        )
    return making


def reference_folder(folder: str, beside: Path) -> Path:
    """Return where a folder of references lies.

    Args:
        folder: as in make.toml: a path, or 'package:contents'.
        beside: where make.toml lies.

    Raises:
        NotFound: there is no such folder.
    """
    if folder.startswith(_PACKAGE):
        if folder.removeprefix(_PACKAGE) not in _SHIPPED:
            raise NotFound.path(folder, "folder of reference pictures")
        found = Path(str(files("paragone.make").joinpath("pictures"))) / folder.removeprefix(_PACKAGE)
    else:
        found = beside / folder
    if not found.is_dir():
        raise NotFound.path(folder, "folder of reference pictures")
    return found

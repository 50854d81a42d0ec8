"""The data set's card, README.md: what it is, what is left out, what its scores do not support, and how to load it."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence

import polars as pl

from ...design.checks import BROKEN
from .layouts import Laid
from .made_table import BROUGHT
from .packing import Content, Packing
from .rights import rights_of

__all__ = ["card_page", "licence_tag"]

_TAGS = {
    "mit": "mit",
    "apache 2.0": "apache-2.0",
    "cc0": "cc0-1.0",
    "cc0 1.0": "cc0-1.0",
    "cc by 4.0": "cc-by-4.0",
    "cc by sa 4.0": "cc-by-sa-4.0",
    "cc by nc 4.0": "cc-by-nc-4.0",
    "cc by nc sa 4.0": "cc-by-nc-sa-4.0",
    "cc by nd 4.0": "cc-by-nd-4.0",
    "cc by nc nd 4.0": "cc-by-nc-nd-4.0",
}
_SETTINGS = ("method", "pipeline", "scheduler", "steps", "guidance", "negative", "width", "height", "dtype", "digest")
_MANY = 40  # levels that are listed by name
_AFTER = "drawn after "  # so begins the artist of a drawn sample, on its card
_NO_ARTIST = {
    "aboriginal": "Aboriginal dot painting",
    "chinese-landscape": "Chinese landscape painting",
    "egyptian": "Egyptian wall painting",
    "great-wave": "the Great Wave",
}
"""Samples that go by another name than an artist's -> whose manner it is, in words."""


def licence_tag(licence: str) -> str:
    """Return the hub's word for a licence; 'other' where it has none, 'unknown' where nothing was said."""
    plain = re.sub(r"[^a-z0-9.]+", " ", licence.casefold()).strip()
    return _TAGS.get(plain, "other" if plain else "unknown")


def card_page(content: Content, packing: Packing, laid: Laid, *, taken: Sequence[str] = ()) -> str:
    """Return the text of README.md, its front matter with the files of every split included.

    Args:
        content: what is packed.
        packing: how, with the words on what is excluded and not supported.
        laid: what the layout wrote.
        taken: further files that are in the pack, scores, votes and ratings among them.
    """
    sections = [
        _front(content, laid),
        f"# {content.benchmark.name}",
        content.benchmark.description,
        _simulated(content),
        _holds(content),
        _made(content),
        _left_out(content, packing),
        _limits(content, packing, taken),
        _rights(content),
        _use(content, packing),
        f"## How to cite\n\n{packing.citation}" if packing.citation else "",
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def _front(content: Content, laid: Laid) -> str:
    """YAML; every text is written as JSON, which YAML reads."""
    lines = [
        "---",
        f"license: {licence_tag(content.benchmark.licence)}",
        f"pretty_name: {_text(content.benchmark.name)}",
    ]
    lines += ["tags:", "- paragone", *(["- simulated"] if content.benchmark.simulated else []), "configs:"]
    for config, splits in laid.configs.items():
        lines += [f"- config_name: {config}", "  data_files:"]
        for split, pattern in splits.items():
            lines += [f"  - split: {_text(split)}", f"    path: {_text(pattern)}"]
    if laid.features:
        lines.append("dataset_info:")
    for config, columns in laid.features.items():
        lines += [f"- config_name: {config}", "  features:"]
        for column, kind in columns.items():
            lines += [f"  - name: {_text(column)}", f"    dtype: {kind}"]
    return "\n".join([*lines, "---"])


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _simulated(content: Content) -> str:
    if not content.benchmark.simulated:
        return ""
    return "> **Simulated.** The answers that belong to this set come from a program; they say nothing about people."


def _holds(content: Content) -> str:
    items = content.benchmark.items
    lines = ["## What it holds", "", f"{len(content.pictures)} pictures of {items.height} items."]
    if content.benchmark.criteria:
        lines.append(f"They are judged on: {', '.join(content.benchmark.criteria)}.")
    lines += ["", "| factor | levels | |", "|---|---|---|"]
    for factor in content.benchmark.factors:
        levels = items[factor].drop_nulls().unique().sort().to_list()
        listed = _cell(", ".join(levels)) if len(levels) <= _MANY else "..."
        lines.append(f"| {_cell(factor)} | {len(levels)} | {listed if factor != BROKEN else ''} |")
    if content.shown:
        counts = Counter(factor for factor, _ in content.shown)
        told = ", ".join(f"{n} of {factor}" for factor, n in counts.items())
        lines += ["", f"Reference pictures: {told}."]
    drawn = [f"- {_drawn(level, one.credits['artist'])}" for (_, level), one in content.shown.items() if one.drawn]
    if drawn:
        lines += ["", *drawn]
    return "\n".join(lines)


def _drawn(level: str, artist: str | None) -> str:
    """What a reference that was made by formula is; after whose manner, where its card says so."""
    sample = artist.removeprefix(_AFTER) if artist and artist.startswith(_AFTER) else ""
    manner = _NO_ARTIST.get(sample, sample.replace("-", " ").title())
    return f"{_cell(level)}: drawn by formula{f' after the manner of {manner}' if manner else ''}; no work of an artist"


def _made(content: Content) -> str:
    """How each method's pictures were made, as far as made.csv says it for all of them alike."""
    if content.made is None:
        return ""
    columns = [name for name in _SETTINGS if name in content.made.columns]
    settings = (
        content.made.select(columns).filter(pl.any_horizontal(pl.col(columns[1:]).is_not_null()))
        if columns[1:]
        else None
    )
    lines = ["## How it was made", "", "`made.csv` has a row for every cell that was planned, with its status."]
    if settings is not None and settings.height:
        lines += ["", f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
        for row in settings.unique(maintain_order=True).head(_MANY).iter_rows():
            lines.append(f"| {' | '.join(_cell(value or '')[:16] for value in row)} |")
    if "given_width" in content.made.columns:
        lines += ["", "`width` and `height` are those of the pictures in this pack."]
    return "\n".join([*lines, *_brought(content.made)])


def _brought(made: pl.DataFrame) -> list[str]:
    """Lines on pictures that have another size here than their method gave them."""
    size, given = ("width", "height"), ("given_width", "given_height")
    if not {"method", "aligned", *size, *given} <= set(made.columns):
        return []
    sizes = [pl.concat_str(*pair, separator=" x ").alias(name) for name, pair in (("size", size), ("given", given))]
    told = made.select("method", "aligned", *sizes).filter(pl.col("size") != pl.col("given"))
    counts = told.group_by("method", "aligned", "given", "size", maintain_order=True).len()
    if not counts.height:
        return []
    lines = ["", "These pictures are not as their method gave them: they were brought to the size of their content."]
    lines += ["`made.csv` says it of each (`given_width`, `given_height`, `aligned`).", ""]
    lines += ["| method | what was done | from | to | pictures |", "|---|---|---|---|---|"]
    for method, aligned, before, after, n in counts.head(_MANY).iter_rows():
        lines.append(f"| {_cell(method or '')} | {BROUGHT.get(aligned, 'not said')} | {before} | {after} | {n} |")
    return lines + ([f"\nAnd {counts.height - _MANY} more kinds."] if counts.height > _MANY else [])


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _left_out(content: Content, packing: Packing) -> str:
    items = content.benchmark.items
    lines = ["## What is left out", "", packing.excluded or "Nothing was said about what was left out on purpose."]
    without = items.height - len(content.pictures)
    if without:
        told = ", ".join(f"{n} {status}" for status, n in content.statuses.items())
        lines.append(f"\n{without} items have no picture{f' ({told})' if told else ''}; they stand in items.csv only.")
    elif content.statuses:
        told = ", ".join(f"{n} {status}" for status, n in content.statuses.items())
        lines.append(f"\nCells that were planned and are no items: {told}.")
    if BROKEN in items.columns:
        broken = items.filter(pl.col(BROKEN).is_not_null()).height
        if broken:
            lines.append(
                f"\n{broken} items are sound ones damaged on purpose, for checks of attention; the column `{BROKEN}` names "
                "the sound one. They are no results of any method: leave them out of every comparison."
            )
    return "\n".join(lines)


def _limits(content: Content, packing: Packing, taken: Sequence[str]) -> str:
    lines = ["## What its scores do not support", ""]
    if packing.unsupported:
        lines += [packing.unsupported, ""]
    if any(name.startswith("scores/") for name in taken):
        lines.append(
            "- A score orders the pictures of this set, as they were shown in its study. It is no score of a method in "
            "general: other contents, styles, sizes and people may order the methods otherwise."
        )
        lines.append("- Differences inside the intervals are no differences.")
        lines.append("- A score says how a picture looked to those who were asked, not what it is worth as a work.")
    else:
        lines.append("- The pack holds no scores; the pictures alone say nothing about which is better.")
    if content.benchmark.simulated:
        lines.append("- Simulated answers support no statement about what people see or like.")
    if any(name in ("votes.csv", "ratings.csv") for name in taken):
        lines.append("- Single answers are no statement about single persons; do not try to find out who gave them.")
    return "\n".join(lines)


def _rights(content: Content) -> str:
    rights = rights_of(content)
    lines = ["## Licences", "", content.benchmark.licence or "The benchmark as a whole names no licence."]
    lines += ["", "`licences.csv` names the licence and, where known, the source of every picture.", ""]
    lines += [f"- {n} pictures: {licence}" for licence, n in rights.licensed.items()]
    if rights.drawn:
        named = _cell(", ".join(rights.drawn[:_MANY])) + (", ..." if len(rights.drawn) > _MANY else "")
        lines.append(
            f"- {len(rights.drawn)} pictures drawn by formula, references all ({named}): output of paragone and no artist's "
            "work; no licence is named"
        )
    if rights.derived:
        lines.append(
            f"- {rights.derived} results: no licence of their own is named; they derive from their references, whose "
            "licences hold, and from the methods that made them, whose makers may ask for more"
        )
    if rights.unknown:
        lines.append(f"- {rights.unknown} pictures: no licence is known; ask before you use them")
    return "\n".join(lines)


def _use(content: Content, packing: Packing) -> str:
    split = next(iter(content.splits))
    if packing.layout == "webdataset":
        code = f'webdataset.WebDataset("data/{split}-000000.tar", shardshuffle=False)'
    else:
        code = f'datasets.load_dataset("path/of/this/folder", split="{split}")'
    return (
        "## How to use it\n\n"
        f"```python\n{code}\n```\n\n"
        "`sha256sum --check manifest.sha256` finds files that were changed or lost. `items.csv` and `items.parquet` hold "
        "the same table; read the second where ids such as 001 must stay texts."
    )

"""The reference pictures that a benchmark stands on, with what their cards say."""

from __future__ import annotations

from .blocks import Block, Prose, Section, Strip, Tile
from .digits import count
from .index import Index
from .pictures import thumbnail_source

__all__ = ["references_sections"]

_MOST = 48  # references with a picture; further ones are counted


def references_sections(index: Index) -> list[Section]:
    """One section that shows each factor's references and their cards; none where there are no references."""
    shown = index.material.references
    if not shown:
        return []
    blocks: list[Block] = []
    for factor in dict.fromkeys(one.factor for one in shown):
        part = [one for one in shown if one.factor == factor]
        tiles = [
            Tile(one.level, "", one.said, source=source)
            for one in part[:_MOST]
            if (source := thumbnail_source(one.picture))
        ]
        if tiles:
            blocks.append(Strip(f"{factor}: {count(len(part), 'picture')}", tiles))
        if len(part) > len(tiles):
            blocks.append(Prose(f"{count(len(part) - len(tiles), f'{factor} picture')} more not shown.", "small"))
    return [Section("references", "References", blocks)]

"""Manners: handcrafted recipes for named styles, one file each; `llip` chooses among them by the style's tag.

A manner is a `Styliser` whose `strategy` begins with one of `STRATEGIES`.
"""

from __future__ import annotations

from ....catalog import Catalog

__all__ = ["MANNERS", "STRATEGIES"]

MANNERS = Catalog(
    "paragone.manners",
    "manner",
    {
        "aboriginal": "paragone.make.stylise.manners.aboriginal:ABORIGINAL",
        "bierstadt": "paragone.make.stylise.manners.bierstadt:BIERSTADT",
        "carr": "paragone.make.stylise.manners.carr:CARR",
        "chinese-landscape": "paragone.make.stylise.manners.chinese_landscape:CHINESE_LANDSCAPE",
        "egyptian": "paragone.make.stylise.manners.egyptian:EGYPTIAN",
        "everyday": "paragone.make.stylise.manners.everyday:EVERYDAY",
        "great-wave": "paragone.make.stylise.manners.great_wave:GREAT_WAVE",
        "kandinsky": "paragone.make.stylise.manners.kandinsky:KANDINSKY",
        "mondrian": "paragone.make.stylise.manners.mondrian:MONDRIAN",
        "picasso": "paragone.make.stylise.manners.picasso:PICASSO",
        "rembrandt": "paragone.make.stylise.manners.rembrandt:REMBRANDT",
        "veronese": "paragone.make.stylise.manners.veronese:VERONESE",
    },
)
"""name -> manner; third parties add theirs as entry points of the group 'paragone.manners'."""

STRATEGIES = ("style-aligned selection", "combination", "multi-style method", "custom pipeline")
"""How a manner comes to its picture: an existing filter chosen because it suits the style; several filters combined or
averaged; one method that serves several styles; steps written for this style alone."""

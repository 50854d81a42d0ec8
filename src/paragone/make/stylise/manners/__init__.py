"""Manners: handcrafted recipes for named styles, one file each; `llip` chooses among them by the style's tag.

A manner is a `Styliser` whose `strategy` begins with one of `STRATEGIES`.
"""

from __future__ import annotations

from ....catalog import Catalog

__all__ = ["MANNERS", "STRATEGIES"]

MANNERS = Catalog("paragone.manners", "manner", {})
"""name -> manner; third parties add theirs as entry points of the group 'paragone.manners'."""

STRATEGIES = ("style-aligned selection", "combination", "multi-style method", "custom pipeline")
"""How a manner comes to its picture: an existing filter chosen because it suits the style; several filters combined or
averaged; one method that serves several styles; steps written for this style alone."""

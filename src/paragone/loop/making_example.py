"""A make.toml to start from, as `paragone stylise --example` prints it."""

from __future__ import annotations

__all__ = ["EXAMPLE"]

EXAMPLE = """\
# How a benchmark is made. Write it into an empty folder, then: paragone stylise FOLDER
# Every key is in docs/reference.md; an unknown key is refused.

name = "my-benchmark"
criteria = ["content", "style", "overall"]   # what people will judge
seed = 1                                     # the same seed makes the same pictures
broken = 4                                   # results that also get a broken version, for attention checks

[reference.content]
folder = "package:contents"                  # a folder of photographs named by their ids; these ship with paragone
longest = 256                                # larger pictures are made smaller; 0: as they are

[reference.style]
folder = "package:styles"
levels = ["cafe_terrace", "langlois_bridge"] # left out: every picture of the folder
longest = 256

[method.strokes]                             # a styliser of `paragone list stylisers`, under its own name
kind = "styliser"

[method.oil]                                 # or under another one
kind = "styliser"
styliser = "kuwahara"
"""

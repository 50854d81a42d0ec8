"""Building a benchmark: from pictures that are there, or by making them.

`new_benchmark` reads factors out of file names and `coverage` says which cells are filled; `demo_benchmark` makes a small
benchmark from the pictures that the package ships. Rooms: `references/` (choose and describe them), `stylise/` (methods of
our own), `adapters/` (methods that live elsewhere), `prompts/` (pictures from words), `packs/` (hand it on).
"""

from .demo import broken_version, demo_benchmark, demo_pictures, with_broken
from .grid import Coverage, coverage
from .new import Survey, new_benchmark, survey

__all__ = [
    "Coverage",
    "Survey",
    "broken_version",
    "coverage",
    "demo_benchmark",
    "demo_pictures",
    "new_benchmark",
    "survey",
    "with_broken",
]

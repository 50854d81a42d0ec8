"""Building a benchmark: from pictures that are there, or by making them.

`new_benchmark` reads factors out of file names and `coverage` says which cells are filled; `stylise/` holds handcrafted
stylisers; `demo_benchmark` makes a small benchmark from the pictures that the package ships.
"""

from .new import Coverage, Survey, coverage, new_benchmark, survey

__all__ = ["Coverage", "Survey", "coverage", "new_benchmark", "survey"]

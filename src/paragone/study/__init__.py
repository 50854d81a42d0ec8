"""The human study: asking people what a plan says, and turning their answers into tables.

`collect(plan, answers)` projects answers onto `Votes` and `Ratings`; a plan and its answers determine them fully.
"""

from .collect import ANSWERS, Collected, collect, read_answers

__all__ = ["ANSWERS", "Collected", "collect", "read_answers"]

"""The roof: verbs that join the people wing and the machine wing.

`run` does the main job in one call and `demo` shows it on shipped pictures. The parts behind the command line stand beside:
`answers` (files of answers to scores), `machine` (metrics and agreement), `study` (plan, simulate, collect), `build` (new,
import, check), `gather` (a folder to the material of its report), `documents` (results as JSON), `listing` (plug-ins).
"""

from __future__ import annotations

from .main_job import run
from .showcase import demo

__all__ = ["demo", "run"]

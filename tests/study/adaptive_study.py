"""A small study that is dealt in waves of three sheets, seven in all."""

from __future__ import annotations

from pathlib import Path

from study_folder import PAIRS, study_folder

__all__ = ["ADAPTIVE", "adaptive_folder"]

ADAPTIVE = (
    PAIRS.replace("participants = 4", "participants = 7\nadaptive = true\nwave = 3\nshared = 0")
    .replace("break_seconds = 30", "break_seconds = 0")
    .replace("checks_needed = 1", "checks_needed = 0")
    .replace("[[stage]]", '[platform]\nprofile = "open"\n[training]\nauto = 0\n[[stage]]')
)


def adaptive_folder(folder: Path, settings: str = ADAPTIVE) -> Path:
    """The study, with the first wave in plan.csv."""
    return study_folder(folder, settings)

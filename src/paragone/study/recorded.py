"""`Recorded`: what a study's methods paragraph may say beyond its settings, as far as it was recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Recorded", "StageRecord"]


@dataclass(frozen=True, kw_only=True)
class StageRecord:
    """What came of one stage. None: not recorded."""

    completed: int | None = None
    """Participants who finished all their sessions of the stage."""
    excluded: Mapping[str, int] | None = None
    """Reason -> participants of `completed` who were excluded for it; empty: nobody was."""
    sessions: int | None = None
    """Finished sessions of those who were kept."""
    answers: int | None = None
    """Answers of those who were kept, to trials that are neither checks nor training; of changed ratings the last."""
    seconds: Sequence[float] | None = None
    """Response times of these answers, of changed ratings the first one's, in seconds."""
    exact: int | None = None
    """Of these answers, those given to pictures shown in whole device pixels."""


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """What was recorded of a study. None: not recorded."""

    simulated: bool = False
    """No person took part."""
    consented: int | None = None
    """People who agreed to take part."""
    declined: int | None = None
    """People who did not; of them there is this number and nothing else."""
    outcomes: Mapping[str, int] | None = None
    """Outcome other than 'completed' -> people who agreed and ended so."""
    turned_away: int | None = None
    """People who agreed and for whom no sheet was free."""
    unfinished: int | None = None
    """Others who agreed and neither completed a stage nor ended otherwise: they left, or are still at it."""
    stages: Mapping[str, StageRecord] = field(default_factory=dict)
    """Stage -> what came of it."""
    displays: Sequence[Mapping[str, Any]] | None = None
    """One mapping a participant, as the page sends it: screen_width, screen_height (CSS pixels), ratio (device pixels
    for a CSS pixel), px_per_cm (CSS pixels for a centimetre, None where no card was matched); from a laboratory's
    operator also distance_cm. Keys may be missing."""
    plates: Sequence[tuple[int, int]] | None = None
    """Colour-vision plates: (read correctly, shown) for each participant who was shown any."""
    vision: Mapping[str, Mapping[str, int]] | None = None
    """Test of vision (acuity, colour) -> result -> participants."""
    persons: Sequence[Mapping[str, str]] | None = None
    """What each participant answered about themselves: gender, age, expertise, region -> id of the choice; a question
    that was skipped is missing."""
    began: float | None = None
    """First consent, UTC epoch seconds."""
    ended: float | None = None
    """Last finished session, UTC epoch seconds."""

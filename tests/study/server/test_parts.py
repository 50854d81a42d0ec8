"""What the pages around the trials say follows what the study shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from study_folder import HEAD, PAIRS, RATINGS, frozen_study

from paragone.study.server import parts

TRAINED, UNTRAINED = "[training]\nauto = 2\n", "[training]\nauto = 0\n"
OVERALL = HEAD.replace('criteria = ["content", "style"]', 'criteria = ["overall"]')


def _consent(folder: Path, settings: str, language: str = "en", *, head: str = HEAD, **more: Any) -> str:
    frozen = frozen_study(folder, settings, head=head)
    told = parts.consent(frozen, language, next(iter(frozen.stages)), **more)
    return "\n".join(line for part in told["parts"] for line in part["text"])


@pytest.mark.parametrize(
    ("settings", "head", "said"),
    [
        (PAIRS + TRAINED, HEAD, "First come an explanation, a few examples and a short training."),
        (PAIRS + UNTRAINED, HEAD, "First come an explanation and a few examples."),
        (PAIRS + TRAINED, OVERALL, "First come an explanation and a short training."),
        (PAIRS + UNTRAINED, OVERALL, "First comes an explanation."),
    ],
)
def test_the_consent_promises_examples_and_training_only_where_there_are_any(
    tmp_path: Path, settings: str, head: str, said: str
) -> None:
    assert [line for line in _consent(tmp_path, settings, head=head).split("\n") if line.startswith("First")] == [said]

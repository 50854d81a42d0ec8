"""The API as it is described: requests made from the description, right ones and wrong ones, by schemathesis."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from scene import MANY, Scene, scene
from schemathesis import GenerationMode
from schemathesis.checks import positive_data_acceptance

_PATHS = (
    "GET /api/state", "GET /healthz", "GET /i/{public}/{slot}", "POST /api/answers", "POST /api/finish",
    "POST /api/session", "POST /api/step", "POST /api/telemetry",
)  # fmt: skip

_NOT_CLAIMED = [positive_data_acceptance]  # a schema cannot say which trial is shown, nor that 1.0 is no whole number


def _asked(here: Scene, mode: GenerationMode, n: int) -> list[str]:
    """Ask every operation n times; return what was asked."""
    described = schemathesis.openapi.from_asgi("/openapi.json", here.app, headers={"Host": "localhost:8000"})
    for buckets in (here.app.state.desk.limits.answers, here.app.state.desk.limits.arrivals):
        buckets.rate = buckets.burst = 1e12
    asked = []
    for found in described.get_all_operations():
        operation = found.ok()
        _ask(operation.as_strategy(generation_mode=mode), here.walked("trial")[0].token, n)
        asked.append(f"{operation.method.upper()} {operation.path}")
    return sorted(asked)


def _ask(cases: Any, token: str, n: int) -> None:
    headers = {"Authorization": f"Bearer {token}", "Origin": "http://localhost:8000"}

    @settings(max_examples=n, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    @given(case=cases)
    def ask(case: Any) -> None:
        case.call_and_validate(base_url="http://localhost:8000", headers=headers, excluded_checks=_NOT_CLAIMED)

    with contextlib.suppress(Unsatisfiable):  # what has no input has no wrong one
        ask()


@pytest.mark.parametrize("mode", list(GenerationMode))
def test_the_api_does_what_its_description_says(tmp_path: Path, mode: GenerationMode) -> None:
    with scene(tmp_path, MANY) as here:
        assert set(_PATHS) <= set(_asked(here, mode, 4))


@pytest.mark.slow
@pytest.mark.parametrize("mode", list(GenerationMode))
def test_the_api_does_what_its_description_says_at_length(tmp_path: Path, mode: GenerationMode) -> None:
    with scene(tmp_path, MANY) as here:
        _asked(here, mode, 200)

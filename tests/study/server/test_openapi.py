"""The API as it is described: requests made from the description, right ones and wrong ones, by schemathesis."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest
import schemathesis
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from scene import MANY, START, Scene, scene
from schemathesis import GenerationMode
from schemathesis.checks import positive_data_acceptance

from paragone.study.admin import auth

_PATHS = (
    "GET /api/state", "GET /healthz", "GET /i/{public}/{slot}", "POST /api/answers", "POST /api/finish",
    "POST /api/session", "POST /api/step", "POST /api/telemetry",
)  # fmt: skip

_NOT_CLAIMED = [positive_data_acceptance]  # a schema cannot say which trial is shown, nor that 1.0 is no whole number


_PROGRAM = "t" * 43


def _let_in(c: sa.Connection) -> None:
    auth.first(c, "admin", "$argon2id$none", START)
    auth.make_token(c, 1, auth.digest(_PROGRAM), "a program", START, expires=None, by="admin")


def _asked(here: Scene, mode: GenerationMode, n: int) -> list[str]:
    """Ask every operation n times; return what was asked."""
    described = schemathesis.openapi.from_asgi("/openapi.json", here.app, headers={"Host": "localhost:8000"})
    for buckets in (here.app.state.desk.limits.answers, here.app.state.desk.limits.arrivals):
        buckets.rate = buckets.burst = 1e12
    here.store.write_now(_let_in)
    asked = []
    for found in described.get_all_operations():
        operation = found.ok()
        token = _PROGRAM if operation.path.startswith("/api/admin") else here.walked("trial")[0].token
        _ask(operation.as_strategy(generation_mode=mode), token, n)
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


def test_the_description_holds_every_call_and_every_refusal(tmp_path: Path) -> None:
    with scene(tmp_path) as here:
        described = here.app.openapi()
    found = {f"{method.upper()} {path}": told for path, told in described["paths"].items() for method in told}
    assert set(_PATHS) <= set(found)
    assert [path for path in found if not path.split()[1].startswith(("/api/", "/i/", "/healthz"))] == []
    for path, operations in described["paths"].items():
        for operation in operations.values():
            assert {"400", "403", "404", "413", "421", "429", "503"} <= set(operation["responses"]), path
    assert "HTTPValidationError" not in str(described)


@pytest.mark.slow
@pytest.mark.parametrize("mode", list(GenerationMode))
def test_the_api_does_what_its_description_says(tmp_path: Path, mode: GenerationMode) -> None:
    with scene(tmp_path, MANY) as here:
        assert set(_PATHS) <= set(_asked(here, mode, 60))

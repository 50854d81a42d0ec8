"""What is not there is skipped for a user, and is a failure in CI."""

from __future__ import annotations

import pytest

from installed import needed, needed_package


@pytest.mark.parametrize("need", [needed, needed_package])
def test_what_is_missing_is_skipped_here_and_fails_in_ci(need: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match=r"^no_such_library is not installed$"):
        need("no_such_library")  # type: ignore[operator]
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match=r"^no_such_library is not installed; in CI it must be there$"):
        need("no_such_library")  # type: ignore[operator]

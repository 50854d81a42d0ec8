"""The documentation says what the code does."""

from __future__ import annotations

import importlib
import importlib.util
import re
import shlex
from pathlib import Path

import pytest

from paragone.cli import VERBS

ROOT = Path(__file__).resolve().parents[1]


def _reference() -> str:
    spec = importlib.util.spec_from_file_location("reference", ROOT / "scripts" / "reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return str(module.reference())


def test_the_reference_page_is_what_the_code_says() -> None:
    page = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    assert page == _reference(), "run: make docs"
    assert "default_factory" not in page, "defaults are shown by their values"
    assert "What is left out is said to be not recorded.\n" in page, "a first paragraph is shown whole"


def _pages() -> list[Path]:
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", _pages(), ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text)
    local = [target for target in targets if "://" not in target]
    assert [target for target in local if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("page", _pages(), ids=lambda page: page.name)
def test_commands_in_pages_name_real_verbs_and_options(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"```(?:bash|sh|console)\n(.*?)```", text, re.DOTALL)
    for block in blocks:
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            if words[:1] == ["paragone"] and len(words) > 1 and not words[1].startswith("-"):
                assert words[1] in VERBS, line
                module, _, attribute = VERBS[words[1]][0].partition(":")
                command = getattr(importlib.import_module(module), attribute)
                known = {name for option in command.params for name in option.opts} | {"--help"}
                assert {word.partition("=")[0] for word in words if word.startswith("--")} <= known, line


@pytest.mark.parametrize("page", _pages(), ids=lambda page: page.name)
def test_python_in_pages_compiles(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        compile(block, str(page), "exec")

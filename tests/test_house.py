"""The rules of the house: floors, fences, faces, plug-ins, verbs and errors."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import paragone
from paragone import errors
from paragone.cli import VERBS

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "paragone"

# docs/architecture.md, section 4. Same number: may not import each other, except where a room is one entry.
FLOORS = {
    "errors": 1.0,
    "stats": 1.1,
    "catalog": 2.0,
    "tables": 2.0,
    "images": 2.1,
    "settings": 2.1,
    "provenance": 2.2,
    "remote": 2.2,
    "parallel": 2.2,
    "benchmark": 3.0,
    "judgements": 3.0,
    "metric": 3.0,
    "scores": 3.0,
    "plan": 3.1,
    "splits": 4.0,
    "sources": 4.0,
    "design": 4.0,
    "observers": 4.0,
    "screen": 4.0,
    "consistency": 4.0,
    "estimate": 4.0,
    "agreement": 4.0,
    "features": 4.0,
    "power": 5.0,
    "analysis": 5.0,
    "study": 5.0,
    "metrics": 5.0,
    "evaluators": 5.0,
    "make": 6.0,
    "report": 6.0,
    "loop": 7.0,
    "cli": 8.0,
}
PEOPLE = {"design", "observers", "screen", "consistency", "estimate", "study", "power"}
MACHINE = {"features", "metrics", "evaluators"}
FENCES = {
    "torch": {"features", "metrics", "evaluators", "make"},
    "diffusers": {"make"},
    "transformers": {"make"},
    "onnxruntime": {"make"},
    "numba": {"make"},
    "datasets": {"make"},
    "httpx": {"remote", "features"},
    "huggingface_hub": {"features", "make"},
    "timm": {"features", "evaluators"},
    "accelerate": {"evaluators"},
    "safetensors": {"evaluators"},
    "sklearn": {"evaluators"},
    "onnx": {"evaluators"},
    "fastapi": {"study"},
    "uvicorn": {"study"},
    "sqlalchemy": {"study"},
    "starlette": {"study"},
    "alembic": {"study"},
    "psycopg": {"study"},
    "argon2": {"study"},
    "cryptography": {"study"},
    "matplotlib": {"report"},
    "click": {"cli"},
    "skimage": {"make", "metrics"},
}


def _files() -> list[Path]:
    return sorted(path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py")


def _room(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def _imports(path: Path) -> Iterator[tuple[int, str]]:
    """Line and absolute module name of every import, those inside functions among them."""
    parts = ("paragone", *path.relative_to(SOURCE).with_suffix("").parts)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            if node.level == 0:
                yield node.lineno, node.module or ""
            else:
                base = ".".join(parts[: len(parts) - node.level])
                if node.module:
                    yield node.lineno, f"{base}.{node.module}"
                else:
                    for alias in node.names:
                        yield node.lineno, f"{base}.{alias.name}"


def test_imports_go_down_only() -> None:
    wrong = []
    for path in _files():
        here = _room(path)
        for line, module in _imports(path):
            parts = module.split(".")
            if parts[0] != "paragone" or len(parts) < 2 or parts[1] in (here, "__version__"):
                continue
            if FLOORS[parts[1]] >= FLOORS[here]:
                wrong.append(f"{path.relative_to(ROOT)}:{line}: {here} imports {parts[1]}")
    assert wrong == []


def test_every_room_has_a_floor() -> None:
    rooms = {_room(path) for path in _files()}
    assert rooms <= set(FLOORS)


def test_the_two_wings_never_meet_below_the_roof() -> None:
    wrong = []
    for path in _files():
        here = _room(path)
        other = MACHINE if here in PEOPLE else PEOPLE if here in MACHINE else set()
        wrong += [f"{path.name}:{line}" for line, module in _imports(path) if ".".join(module.split(".")[1:2]) in other]
    assert wrong == []


def test_third_parties_stay_behind_their_fences() -> None:
    wrong = []
    for path in _files():
        for line, module in _imports(path):
            top = module.split(".")[0]
            if top in FENCES and _room(path) not in FENCES[top]:
                wrong.append(f"{path.relative_to(ROOT)}:{line}: {top}")
    assert wrong == []


def test_kernels_know_no_tables() -> None:
    adapters = {"adapter.py", "diagnosis.py", "encoding.py", "question.py", "__init__.py"}
    kernels = [p for p in _files() if _room(p) == "stats" or (_room(p) == "estimate" and p.name not in adapters)]
    assert [
        str(path) for path in kernels if any(module.split(".")[0] == "polars" for _, module in _imports(path))
    ] == []


def _modules() -> list[str]:
    walked = pkgutil.walk_packages([str(SOURCE)], prefix="paragone.")
    return [module.name for module in walked if not module.name.startswith("paragone.cli")]


def _by_kind(name: str) -> tuple[int, str]:
    """Constants, then classes, then functions, each by name."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2), name


@pytest.mark.parametrize("name", _modules())
def test_all_is_true_and_sorted(name: str) -> None:
    if any(part.startswith("_") for part in name.split(".")):
        pytest.skip("private module")
    module = importlib.import_module(name)
    names = list(getattr(module, "__all__", []))
    assert names == sorted(names, key=_by_kind), name
    assert [word for word in names if not hasattr(module, word)] == []
    path = Path(module.__file__ or "")
    tree = ast.parse(path.read_text(encoding="utf-8"))
    defined = {
        n.name for n in tree.body if isinstance(n, (ast.FunctionDef, ast.ClassDef)) and not n.name.startswith("_")
    }
    assert defined <= set(names), f"{name}: public but not in __all__: {sorted(defined - set(names))}"


def test_the_public_face_resolves() -> None:
    assert [name for name in paragone.__all__ if not hasattr(paragone, name)] == []
    assert dir(paragone) == sorted(paragone.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = paragone.nothing


def test_a_function_is_never_hidden_by_the_room_of_its_name() -> None:
    for name in _modules():
        importlib.import_module(name)
    face = [getattr(paragone, name) for name in paragone.__all__]
    assert [value for value in face if inspect.ismodule(value)] == []


def _loaded_by(code: str) -> set[str]:
    script = f"import sys\n{code}\nprint(' '.join(sorted({{m.split('.')[0] for m in sys.modules}})))"
    said = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout
    return set(said.split("\n")[-2].split())


def test_help_and_import_load_nothing_heavy() -> None:
    heavy = {"numpy", "polars", "scipy", "torch", "fastapi", "sqlalchemy", "matplotlib", "PIL", "msgspec"}
    assert not heavy & _loaded_by("import paragone")
    call = "from paragone.cli import main\ntry:\n    main(['--help'])\nexcept SystemExit:\n    pass"
    assert not heavy & _loaded_by(call)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_and_an_example(verb: str) -> None:
    module, _, attribute = VERBS[verb][0].partition(":")
    command = getattr(importlib.import_module(module), attribute)
    assert command.help.startswith(VERBS[verb][1].removesuffix(".")), (
        "the one-line help of the table and the verb differ"
    )
    assert f"paragone {verb}" in command.help, "the help has no example"
    for option in command.params:
        if option.param_type_name == "option" and option.name not in ("help",):
            assert option.help, f"{verb} {option.name} has no help"


def _catalogs() -> list[tuple[str, object]]:
    from paragone.estimate import ESTIMATORS
    from paragone.evaluators import LEARNERS
    from paragone.evaluators.tuned import NETWORKS
    from paragone.features import BACKBONES
    from paragone.make.stylise import STYLISERS
    from paragone.make.stylise.manners import MANNERS
    from paragone.metrics import METRICS
    from paragone.sources import SOURCES
    from paragone.study.pages import PAGES

    catalogs = (BACKBONES, ESTIMATORS, LEARNERS, MANNERS, METRICS, NETWORKS, PAGES, SOURCES, STYLISERS)
    return [(name, catalog) for catalog in catalogs for name in catalog.builtin]


@pytest.mark.parametrize(("name", "catalog"), _catalogs())
def test_every_plug_in_is_documented(name: str, catalog: object) -> None:
    record = catalog.get(name)  # type: ignore[attr-defined]
    assert record.name == name
    assert len(record.summary) > 10
    if hasattr(record, "source"):
        assert len(record.source) > 10, f"{name} names no source"
    pages = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("*.md"))
    assert f"`{name}`" in pages, f"docs/ never mentions `{name}`"


def test_no_unknown_plug_in_is_loaded() -> None:
    from paragone.metrics import METRICS

    with pytest.raises(errors.UnknownName, match=r"no metric 'sism'; did you mean 'ssim'\?"):
        METRICS.get("sism")


def _error_classes() -> list[str]:
    return [name for name in errors.__all__ if name not in ("ParagoneError", "BadInput", "CannotScore")]


@pytest.mark.parametrize("name", _error_classes())
def test_every_error_is_raised_and_its_message_asserted(name: str) -> None:
    code = "".join(path.read_text(encoding="utf-8") for path in _files())
    assert re.search(rf"raise (errors\.)?{name}\b", code), f"nothing raises {name}"
    tests = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py"))
    assert re.search(rf"raises\((errors\.)?{name}, match=", tests), f"no test reads a message of {name}"


def test_no_network_but_loopback() -> None:
    with socket.socket() as outside, pytest.raises(RuntimeError, match="no network but loopback"):
        outside.connect(("192.0.2.1", 80))


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_json(verb: str) -> None:
    module, _, attribute = VERBS[verb][0].partition(":")
    command = getattr(importlib.import_module(module), attribute)
    assert "--json" in {name for option in command.params for name in option.opts}

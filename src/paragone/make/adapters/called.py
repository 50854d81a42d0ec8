"""Results made by a Python callable: `package.module:callable`, or an entry point of the group `paragone.stylisers`."""

from __future__ import annotations

import importlib
import inspect
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from ...errors import BadConfig, BadImage, BadInput, MissingExtra, ParagoneError, UnknownName
from ...images import Picture, as_picture, read_image
from ...parallel import track
from ...settings import held_to_types
from ..cells import Job, Outcome
from ..stylise import STYLISERS, Styliser, checked_options, stylise
from .method import Method

__all__ = ["PythonMethod", "python_outcomes"]

_OVER = 1e-3  # by which a float may lie outside [0, 1] and is clipped: rounding, not another range


class PythonMethod(Method, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", tag="python"):
    """A Python callable: `kind = "python"`.

    It is called as `target(content, style, *, seed, **params)` with pictures (h, w, 3) float32 sRGB in [0, 1] of its own,
    and gives such an array (or uint8), a Pillow image, the bytes of a picture file or the path of one.
    """

    target: str
    """"package.module:callable", or the name of an entry point of the group paragone.stylisers. Modules beside the file
    that names it are found."""
    params: dict[str, Any] = msgspec.field(default_factory=dict)
    """Its keyword arguments; those with plain type hints are checked. What a style's card says, such as its manner, is
    added where the callable has a parameter of that name."""


def python_outcomes(
    settings: PythonMethod, jobs: Sequence[Job], *, folder: Path, known: Sequence[Job] = (), quiet: bool = True
) -> Iterator[tuple[Job, Outcome]]:
    """Call the callable for each cell; whatever it raises fails that cell alone.

    Args:
        settings: the callable.
        jobs: the cells that are wanted.
        folder: modules beside the settings are looked for here, after those that are installed.
        known: has no effect.
        quiet: show no bar.

    Returns:
        Each cell as soon as it is made.

    Raises:
        BadConfig: the target cannot be imported or called in this way, or a parameter has another type.
        UnknownName: no entry point of that name, or no parameter.
    """
    del known
    found = _target(settings.target, folder)
    if isinstance(found, Styliser):
        options = checked_options(found, settings.params)
        call: Callable[..., Any] = _styled(found)
        takes = _names_of(found.run)
    else:
        options = _checked(found, settings)
        call, takes = found, _names_of(found)
    return _outcomes(_Call(call, options, takes), jobs, folder, settings.target, quiet=quiet)


@dataclass(frozen=True)
class _Call:
    """A callable, its options, and the names that it takes."""

    function: Callable[..., Any]
    options: Mapping[str, Any]
    takes: frozenset[str]

    def __call__(self, *pictures: Picture, seed: int, hints: Mapping[str, str]) -> Any:
        told = {name: value for name, value in hints.items() if name in self.takes}
        return self.function(*pictures, seed=seed, **{**told, **self.options})


def _styled(styliser: Styliser) -> Callable[..., Any]:
    def call(content: Picture, style: Picture, *, seed: int, **options: Any) -> Picture:
        return stylise(content, style, styliser, seed=seed, options=options)

    return call


def _names_of(function: Callable[..., Any]) -> frozenset[str]:
    signature, fault = _guarded(inspect.signature, function)
    return frozenset() if fault else frozenset(signature.parameters)


def _target(target: str, folder: Path) -> Any:
    """The object that a target names."""
    module, colon, attribute = target.partition(":")
    if not colon:
        return STYLISERS.get(target)
    with _importable(folder):
        loaded, fault = _guarded(importlib.import_module, module)
    if fault:
        raise BadConfig(f"target '{target}': module '{module}' cannot be imported: {fault}", where="target")
    for name in attribute.split("."):
        loaded, fault = _guarded(getattr, loaded, name)
        if fault:
            known = [word for word in vars(sys.modules[module]) if not word.startswith("_")]
            raise UnknownName.among(attribute, known, f"name in module '{module}'")
    if not callable(loaded) and not isinstance(loaded, Styliser):
        raise BadConfig(f"target '{target}' is no callable", where="target")
    return loaded


@contextmanager
def _importable(folder: Path) -> Iterator[None]:
    """Modules of a folder can be imported, after those that are installed."""
    here = str(folder.resolve())
    known = here in sys.path
    if not known:
        sys.path.append(here)
        importlib.invalidate_caches()
    try:
        yield
    finally:
        if not known and here in sys.path:
            sys.path.remove(here)


def _checked(function: Callable[..., Any], settings: PythonMethod) -> dict[str, Any]:
    """The parameters, held to the callable's own signature and hints."""
    signature, fault = _guarded(inspect.signature, function)
    if fault:  # some compiled callables tell none
        return dict(settings.params)
    known = signature.parameters
    open_ended = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in known.values())
    if "seed" not in known and not open_ended:
        raise BadConfig(
            f"target '{settings.target}' takes no 'seed'; it is called as f(content, style, *, seed, **params)",
            where="target",
        )
    if "seed" in settings.params:
        raise BadConfig("params: 'seed' is each cell's own and cannot be set", where="params")
    for name in settings.params:
        if name not in known and not open_ended:
            raise UnknownName.among(name, [n for n in known if n != "seed"], f"parameter of '{settings.target}'")
    hinted = function if inspect.isroutine(function) else type(function).__call__
    checked, fault = _guarded(held_to_types, settings.params, hinted, f"target '{settings.target}'")
    if fault and isinstance(fault.error, ParagoneError):
        raise fault.error
    return dict(settings.params) if fault else dict(checked)


class _Fault:
    """What a third party's code raised."""

    def __init__(self, error: BaseException) -> None:
        self.error = error
        frames = traceback.extract_tb(error.__traceback__)
        self.place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""

    def __str__(self) -> str:
        text = " ".join(str(self.error).split())
        return f"{type(self.error).__name__}: {text[:200]}" if text else type(self.error).__name__


def _guarded(function: Callable[..., Any], *arguments: Any, **options: Any) -> tuple[Any, _Fault | None]:
    """Call code of a third party: its result, or what it raised.

    The one place where everything is caught. Nobody can list what another's code raises, an import may even end the
    process by `sys.exit`, and one cell that fails must not cost the hundreds that would not. An interrupt from the
    keyboard, and whatever else is no `Exception`, still ends the run.
    """
    try:
        return function(*arguments, **options), None
    except (Exception, SystemExit) as error:  # noqa: BLE001
        return None, _Fault(error)


def _outcomes(
    call: _Call, jobs: Sequence[Job], folder: Path, target: str, *, quiet: bool
) -> Iterator[tuple[Job, Outcome]]:
    read = lru_cache(maxsize=32)(read_image)
    for job in track(jobs, "calling", quiet=quiet):
        facts: dict[str, Any] = {"target": target}
        try:
            pictures = [read(path).copy() for path in job.inputs.values()]
        except BadInput as error:
            yield job, Outcome(status="failed", reason=error.message, facts=facts)
            continue
        began = time.perf_counter()
        with _importable(folder):
            result, fault = _guarded(call, *pictures, seed=job.seed, hints=job.hints)
        seconds = time.perf_counter() - began
        if fault and isinstance(fault.error, MissingExtra):
            raise fault.error
        if fault:
            facts["place"] = fault.place
            yield job, Outcome(status="failed", reason=str(fault), seconds=seconds, facts=facts)
            continue
        yield job, replace(_result(result, job.item, folder), seconds=seconds, facts=facts)


def _result(result: Any, item: str, folder: Path) -> Outcome:
    """What a callable gave, as the picture of an outcome."""
    if isinstance(result, (str, Path)):
        path = folder / result
        return (
            Outcome(picture=path) if path.is_file() else Outcome(status="failed", reason=f"it gave no file '{result}'")
        )
    if isinstance(result, bytes):
        return Outcome(picture=result)
    if isinstance(result, Image.Image):
        result = np.asarray(result.convert("RGB"))
    if not isinstance(result, np.ndarray):
        return Outcome(status="invalid", reason=f"it gave {type(result).__name__}, which is no picture, bytes or path")
    try:
        return Outcome(picture=as_picture(_clipped(result), where=item))
    except BadImage as error:
        return Outcome(status="invalid", reason=error.message)


def _clipped(image: NDArray[Any]) -> NDArray[Any]:
    """The array with what rounding put outside [0, 1] put back; any other range is left to be refused."""
    near = image.size and np.issubdtype(image.dtype, np.floating) and image.min() >= -_OVER and image.max() <= 1 + _OVER
    return np.asarray(np.clip(image, 0.0, 1.0)) if near else image

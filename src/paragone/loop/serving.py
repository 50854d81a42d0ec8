"""A folder's study is served, exported, backed up and restored; a person in it is forgotten."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..errors import MissingExtra, NotFound

__all__ = ["backup_folder", "export_folder", "forget_person", "restore_folder", "serve_folder", "store_address"]

_WEB = ("fastapi", "uvicorn", "sqlalchemy", "alembic", "argon2", "cryptography", "psycopg", "jinja2")


def store_address(folder: Path, store: str | None = None, *, must_exist: bool = True) -> str:
    """Return the URL of a folder's store: the given one, else its study.db.

    Raises:
        NotFound: no URL is given and the folder has no study.db.
        MissingExtra: a library of the study server is not installed.
    """
    for library in _WEB:
        if find_spec(library) is None:
            raise MissingExtra.library("the study server", library, "serve")
    if store:
        return store
    path = folder / "study.db"
    if must_exist and not path.is_file():
        raise NotFound(
            f"no study.db in '{folder}'; run: paragone serve {folder} first, or name the store by --store",
            where=str(path),
        )
    return f"sqlite:///{path.resolve()}"


def serve_folder(
    folder: Path,
    *,
    host: str,
    port: int,
    store: str | None,
    public_url: str | None,
    trust_proxy: Sequence[str],
    workers: int,
    preview: bool,
    lab: bool,
    quiet: bool,
    told: Callable[[Mapping[str, Any]], None] | None,
) -> None:
    """Serve a folder's study until it is stopped; arguments as `paragone.study.server.launch.serve`."""
    address = store_address(folder, store, must_exist=False)
    from ..study.server.launch import serve

    serve(
        folder,
        host=host,
        port=port,
        store_url=None if preview else address,
        public_url=public_url,
        workers=workers,
        preview=preview,
        lab=lab,
        forwarded_allow=trust_proxy,
        quiet=quiet,
        told=told,
    )

"""`serve`: from a folder to a running study."""

from __future__ import annotations

import os
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI

from ...errors import BadConfig
from ..frozen import freeze
from ..store import Store
from ..store.keys import Keys, read_keys
from .app import create_app
from .desk import ServerSettings

__all__ = ["address_of", "serve", "worker"]

_WORKER = "PARAGONE_WORKER"
"""Environment variable by which `serve` tells its workers what they serve; holds no secret but the store's address."""
_GRACE_SECONDS = 10  # open requests get so long when the server stops


def serve(
    folder: str | Path,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    store_url: str | None = None,
    public_url: str | None = None,
    workers: int = 1,
    preview: bool = False,
    lab: bool = False,
    forwarded_allow: Sequence[str] = (),
    admin_password_file: str | Path | None = None,
    quiet: bool = False,
    told: Callable[[Mapping[str, Any]], None] | None = None,
) -> None:
    """Serve the study of a folder until it is stopped (Ctrl-C or SIGTERM).

    Args:
        folder: holds benchmark.toml, items.csv, study.toml, plan.csv and the pictures; gets study.db and study.key.
        host: address to listen on.
        port: port; 0: any free one.
        store_url: where answers are kept; None: study.db of the folder.
        public_url: address that participants open, where a proxy stands in front.
        workers: processes; more than one needs PostgreSQL.
        preview: click through everything; nothing is kept.
        lab: one machine, one participant after another.
        forwarded_allow: addresses of proxies whose forwarded headers are believed.
        admin_password_file: file with the admin's password; None: a first-run token is printed.
        quiet: print nothing but errors.
        told: takes the addresses as plain values once the server listens; None: they are printed.

    Raises:
        BadConfig: options that do not go together, or a port that is taken.
        BadInput: whatever `freeze` and the store refuse.
    """
    folder = Path(folder)
    frozen = freeze(folder, rehearsal=preview or lab)
    with _store_of(folder, store_url, preview=preview) as (store, address):
        if workers > 1 and store.dialect == "sqlite":
            raise BadConfig(
                f"--workers {workers} needs PostgreSQL (--store); SQLite serves one process, which is enough for hundreds "
                "of people at once",
                where="--workers",
            )
        keys = Keys(os.urandom(32)) if preview else read_keys(folder / "study.key")
        with _listening(host, port) as open_socket:
            port = open_socket.getsockname()[1]
            settings = ServerSettings(
                preview=preview, lab=lab, public_url=public_url, host=host, proxies=tuple(forwarded_allow)
            )
            app = create_app(frozen, store, keys, settings)
            addresses = {
                "participants": address_of(host, port, public_url),
                "store": str(store.url),
                "preview": preview,
            }
            _tell(addresses, quiet=quiet, told=told)
            uvicorn.Server(_config(app, host, port)).run(sockets=[open_socket])


def address_of(host: str, port: int, public_url: str | None) -> str:
    """Return the address that participants open."""
    if public_url:
        return public_url.rstrip("/") + "/"
    shown = "localhost" if host in ("127.0.0.1", "::1", "0.0.0.0", "::") else host
    return f"http://{shown}:{port}/"


@contextmanager
def _store_of(folder: Path, url: str | None, *, preview: bool) -> Iterator[tuple[Store, str]]:
    """The store, and its address."""
    if preview:
        with tempfile.TemporaryDirectory(prefix="paragone-preview-") as place:
            address = f"sqlite:///{Path(place) / 'preview.db'}"
            with Store.open(address) as store:
                yield store, address
        return
    address = url or f"sqlite:///{folder.resolve() / 'study.db'}"
    with Store.open(address) as store:
        yield store, address


@contextmanager
def _listening(host: str, port: int) -> Iterator[socket.socket]:
    """A socket that listens, or one line that says why none does."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        try:
            made.bind((host, port))
        except OSError as error:
            raise BadConfig(
                f"cannot listen on {host}, port {port} ({error.strerror}); give another --port, or 0 for any free one",
                where="--port",
            ) from error
        yield made
    finally:
        made.close()


def _config(app: FastAPI | str, host: str, port: int) -> uvicorn.Config:
    """How uvicorn runs: no access log (ids of panels stand in queries), no header that names it."""
    return uvicorn.Config(
        app, host=host, port=port, access_log=False, log_level="warning", server_header=False, date_header=True,
        proxy_headers=False, timeout_graceful_shutdown=_GRACE_SECONDS, timeout_keep_alive=65, lifespan="on",
        ws="none", h11_max_incomplete_event_size=16 * 1024,
    )  # fmt: skip


def _tell(addresses: Mapping[str, Any], *, quiet: bool, told: Callable[[Mapping[str, Any]], None] | None) -> None:
    if told is not None:
        told(addresses)
    elif not quiet:
        print(f"participants: {addresses['participants']}", file=sys.stderr, flush=True)

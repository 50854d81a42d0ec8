"""`serve`: from a folder to a running study."""

from __future__ import annotations

import atexit
import contextlib
import gc
import json
import os
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

import uvicorn
from fastapi import FastAPI

from ...errors import BadConfig, NotFound
from ..admin import auth
from ..frozen import Frozen, freeze
from ..pictures.cache import profile_warnings
from ..store import Store, key_check
from ..store.keys import Keys, read_keys
from .app import create_app, served
from .backups import keeps_backups
from .dealer import deal
from .desk import ServerSettings
from .kiosk import first_codes
from .patience import PatientProtocol
from .security import site_of
from .several import run_several, stream_socket

__all__ = ["address_of", "serve", "worker"]

_WORKER = "PARAGONE_WORKER"
"""Environment variable by which `serve` tells its workers what they serve."""
_BACKLOG = 2048  # connections that wait to be accepted
_GRACE_SECONDS = 10  # open requests get so long when the server stops

Told = Callable[[Mapping[str, Any]], None]


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
    new_key: bool = False,
    forwarded_allow: Sequence[str] = (),
    admin_password_file: str | Path | None = None,
    quiet: bool = False,
    told: Told | None = None,
) -> None:
    """Serve the study of a folder until it is stopped (Ctrl-C or SIGTERM).

    Started again, everybody goes on where they were. Unless it is a preview, the store is copied to `backups` of the folder
    every hour, and the last 24 copies are kept.

    Args:
        folder: holds benchmark.toml, items.csv, study.toml, plan.csv and the pictures; gets study.db and study.key.
        host: address to listen on.
        port: port; 0: any free one.
        store_url: where answers are kept; None: study.db of the folder.
        public_url: address that participants open, where a proxy stands in front.
        workers: processes; more than one needs PostgreSQL.
        preview: click through everything; nothing is kept.
        lab: one machine, one participant after another.
        new_key: the store goes on under the folder's study.key, though it was begun with another one, which is lost.
        forwarded_allow: addresses of proxies whose forwarded headers are believed.
        admin_password_file: file with the password of the admin 'admin', who is made if there is none yet; None: the
            address printed at the first start lets you choose one.
        quiet: print nothing but errors.
        told: takes the addresses as plain values once the server listens; None: they are printed.

    Raises:
        BadConfig: options that do not go together, or a port that is taken.
        BadInput: whatever `freeze` and the store refuse; another study.key than the store was begun with.
    """
    folder = Path(folder)
    site_of(public_url, host=host, proxies=forwarded_allow)  # before anything is made
    frozen = freeze(folder, rehearsal=preview or lab)
    settings = ServerSettings(
        preview=preview, lab=lab, public_url=public_url, host=host, proxies=tuple(forwarded_allow)
    )
    with (
        _stops_calmly(),
        _address_of_store(folder, store_url, preview=preview) as address,
        Store.open(address) as store,
    ):
        keys = Keys(os.urandom(32)) if preview else _keys(folder, store, new_key=new_key)
        if workers > 1 and store.dialect == "sqlite":
            raise BadConfig(
                f"--workers {workers} needs PostgreSQL (--store); SQLite serves one process, which is enough for "
                "hundreds of people at once",
                where="--workers",
            )
        if admin_password_file is not None:
            _first_admin(store, Path(admin_password_file))
        with _listening(host, port) as listener, contextlib.ExitStack() as stack:
            port = listener.getsockname()[1]
            addresses = _addresses(store, keys, settings, port)
            if lab:
                hidden = quiet and told is None  # codes that nobody reads are none
                made = [] if hidden else store.write_now(lambda c: first_codes(c, keys.hmac, time.time()))
                addresses["codes"] = made
            if not preview:
                stack.enter_context(keeps_backups(address, folder / "backups"))
            if workers == 1:
                app = _settled(create_app(frozen, store, keys, settings))
                listener.listen(_BACKLOG)  # who opens the address as soon as it is told waits instead of being refused
                _tell(frozen, addresses, quiet=quiet, told=told)
                uvicorn.Server(_config(app, host, port)).run(sockets=[listener])
            else:
                store.write_now(lambda c: deal(c, frozen, time.time()))
                listener.close()
                _tell(frozen, addresses, quiet=quiet, told=told)
                _several(folder, address, settings, host, port, workers)


def address_of(host: str, port: int, public_url: str | None) -> str:
    """Return the address that participants open."""
    if public_url:
        return public_url.rstrip("/") + "/"
    shown = "localhost" if host in ("127.0.0.1", "::1", "0.0.0.0", "::") else f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}/"


def worker() -> FastAPI:
    """Return the application of one of several processes; `serve` has told it by the environment what it serves.

    Raises:
        BadConfig: it was not started by `serve`.
    """
    said = os.environ.get(_WORKER)
    if not said:
        raise BadConfig("a worker is started by paragone serve --workers, not by itself", where="--workers")
    told = json.loads(said)
    folder = Path(told["folder"])
    store = Store.open(told["store"])
    atexit.register(store.close)
    frozen = store.read_now(lambda c: served(c, folder))
    settings = ServerSettings(**{**told["settings"], "proxies": tuple(told["settings"]["proxies"])})
    return _settled(create_app(frozen, store, read_keys(folder / "study.key", make=False), settings, deals=False))


def _settled(app: FastAPI) -> FastAPI:
    """Tell the garbage collector that what is there now stays: looking through all of it again and again takes a third of
    the time in which a person's sheet is laid out."""
    gc.collect()
    gc.freeze()
    return app


def _several(folder: Path, address: str, settings: ServerSettings, host: str, port: int, workers: int) -> None:
    """Run so many processes until they are stopped; each opens the store for itself."""
    told = {
        "folder": str(folder.resolve()),
        "store": address,
        "settings": {name: getattr(settings, name) for name in ("preview", "lab", "public_url", "host", "proxies")},
    }
    os.environ[_WORKER] = json.dumps(told)
    try:
        run_several(f"{__name__}:worker", workers, _options(host, port), grace=2 * _GRACE_SECONDS)
    finally:
        del os.environ[_WORKER]


@contextmanager
def _stops_calmly() -> Iterator[None]:
    """SIGTERM and Ctrl-C end the block as an ordinary end, so that the store is closed."""

    def leave(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, leave)
    try:
        with suppress(KeyboardInterrupt):
            yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _address_of_store(folder: Path, url: str | None, *, preview: bool) -> Iterator[str]:
    """The store's URL: a database that is thrown away, the given one, or study.db of the folder."""
    if preview:
        with tempfile.TemporaryDirectory(prefix="paragone-preview-") as place:
            yield f"sqlite:///{Path(place) / 'preview.db'}"
    else:
        yield f"sqlite:///{folder.resolve() / 'study.db'}" if url is None else url


@contextmanager
def _listening(host: str, port: int) -> Iterator[socket.socket]:
    """A socket that is bound, or one line that says why none is."""
    made = stream_socket(host)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        try:
            made.bind((host, port))
        except (OSError, OverflowError, ValueError) as error:  # UnicodeError: a name that no host can have
            why = error.strerror if isinstance(error, OSError) else "no such host or port"
            raise BadConfig(
                f"cannot listen on {host}, port {port} ({why}); give another --port, or 0 for any free one",
                where="--port",
            ) from error
        yield made
    finally:
        made.close()


def _options(host: str, port: int) -> dict[str, Any]:
    """How uvicorn runs: no access log (ids of panels stand in queries), no header that names it, no WebSockets."""
    return {
        "host": host, "port": port, "access_log": False, "log_level": "warning", "server_header": False,
        "proxy_headers": False, "timeout_graceful_shutdown": _GRACE_SECONDS, "timeout_keep_alive": 65, "lifespan": "on",
        "ws": "none", "http": PatientProtocol,
    }  # fmt: skip


def _config(app: FastAPI, host: str, port: int) -> uvicorn.Config:
    return uvicorn.Config(app, **_options(host, port))


def _keys(folder: Path, store: Store, *, new_key: bool) -> Keys:
    """The study's key, which is that of the store."""
    path = folder / "study.key"
    if not path.exists() and not new_key and store.read_now(key_check.knows_a_key):
        raise NotFound(
            f"no study.key in '{folder}', and its store was begun with one; put it back, from a backup of the folder, or "
            "give --new-key if it is lost: then nobody who was here before is known again",
            where=str(path),
        )
    keys = read_keys(path)
    store.write_now(lambda c: key_check.hold_to(c, keys, time.time(), anew=new_key))
    return keys


def _first_admin(store: Store, path: Path) -> None:
    """Make the admin of a password file, if the store knows none."""
    if not path.is_file():
        raise NotFound.path(path, "file with the admin's password")
    kept = auth.hashed(path.read_text(encoding="utf-8").rstrip("\r\n"))
    store.write_now(lambda c: auth.first(c, "admin", kept, time.time()))


def _addresses(store: Store, keys: Keys, settings: ServerSettings, port: int) -> dict[str, Any]:
    base = address_of(settings.host, port, settings.public_url)
    new = store.read_now(auth.nobody_yet)
    admin = f"{base}admin/setup?token={auth.setup_token(keys)}" if new else f"{base}admin"
    return {
        "participants": base,
        "network": _in_the_network(settings, port),
        "admin": admin,
        "store": None if settings.preview else store.url.render_as_string(hide_password=True),
        "preview": settings.preview,
        "lab": settings.lab,
    }


def _in_the_network(settings: ServerSettings, port: int) -> str | None:
    """Address for other machines of the same network, where the server listens on all and none was named."""
    if settings.public_url or settings.host not in ("0.0.0.0", "::"):
        return None
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # of no machine (RFC 5737), and a datagram socket sends nothing by this
        except OSError:  # no network
            return None
        return f"http://{probe.getsockname()[0]}:{port}/"


def _tell(frozen: Frozen, addresses: Mapping[str, Any], *, quiet: bool, told: Told | None) -> None:
    for line in profile_warnings({picture.path: picture.profile for picture in frozen.pictures.values()}):
        print(f"colour: {line}", file=sys.stderr)
    if frozen.simulated and not addresses["preview"]:
        print(
            f"simulated: {frozen.folder / 'benchmark.toml'} says that the answers of this benchmark come from simulated "
            "participants, and every page says so; before people come, set simulated = false there",
            file=sys.stderr,
        )
    if told is not None:
        told(addresses)
    if quiet or told is not None:
        return
    kept = "nothing is kept (preview)" if addresses["preview"] else addresses["store"].removeprefix("sqlite:///")
    first = "; choose a password there" if "token=" in addresses["admin"] else ""
    lines = (
        f"participants  {addresses['participants']}",
        *(
            [f"              {addresses['network']} from other machines of this network"]
            if addresses["network"]
            else []
        ),
        f"you           {addresses['admin']}{first}",
        f"answers       {kept}",
        *_codes(addresses),
        "Ctrl-C stops; started again, everybody goes on where they were.",
    )
    print("\n".join(lines[:-1] if addresses["preview"] else lines), file=sys.stderr, flush=True)


def _codes(addresses: Mapping[str, Any]) -> list[str]:
    """What is said of a lab's codes."""
    if not addresses["lab"]:
        return []
    more = f"more: {addresses['admin'].partition('/admin')[0]}/admin/codes"
    made = addresses["codes"]
    if not made:
        return [f"codes         those that were made before, one for each participant; {more}"]
    return [
        "codes         one for each participant, shown this once; " + more,
        *(f"              {code}" for code in made),
    ]

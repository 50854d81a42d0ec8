"""A folder's study is served, exported, backed up and restored; a person in it is forgotten."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..design import read_study
from ..errors import MissingExtra, NotFound, ParagoneError, StoreInUse, WouldOverwrite
from .remaining import remaining

__all__ = [
    "backup_folder",
    "can_serve",
    "export_folder",
    "forget_person",
    "restore_folder",
    "serve_folder",
    "store_address",
]

_WEB = ("fastapi", "uvicorn", "sqlalchemy", "alembic", "argon2", "cryptography", "psycopg", "jinja2")


def can_serve() -> bool:
    """Whether every library of the study server is installed."""
    return all(find_spec(library) is not None for library in _WEB)


def store_address(folder: Path, store: str | None = None, *, must_exist: bool = True) -> str:
    """Return the URL of a folder's store: the given one, else its study.db.

    Raises:
        NotFound: no URL is given and the folder has no study.db.
        MissingExtra: a library of the study server is not installed.
    """
    for library in _WEB:
        if find_spec(library) is None:
            raise MissingExtra.library("the study server", library, "serve")
    if store is not None:
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
    new_key: bool,
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
        new_key=new_key,
        forwarded_allow=trust_proxy,
        quiet=quiet,
        told=told,
    )


def export_folder(
    folder: Path, output: Path, *, form: str = "csv", anonymise: bool = False, store: str | None = None
) -> Mapping[str, Any]:
    """Write a study's tables, also while it is served, and return their manifest.

    Args:
        folder: the study.
        output: folder for the tables.
        form: csv, parquet, json or jspsych.
        anonymise: leave out what leads back to a person.
        store: URL of the store; None: study.db of the folder.

    Raises:
        NotFound, WouldOverwrite, UnknownName: no store, an output that holds something else, no such format.
    """
    address = store_address(folder, store)
    from ..study.store import export
    from ..study.store.store import snapshot

    with snapshot(address) as c:
        return export.tables(c, output, form, anonymise=anonymise)


def forget_person(
    folder: Path, participant: str, *, really: bool, store: str | None = None, now: float | None = None
) -> dict[str, Any]:
    """Delete what a study's store holds of a person, or only count it.

    Args:
        folder: the study; its study.key finds a panel's id.
        participant: name in the tables, such as 'p-0007', or the panel's id.
        really: delete; else only tell.
        store: URL of the store; None: study.db of the folder.
        now: UTC epoch seconds; None: this machine's clock.

    Returns:
        participant, answers, events (how many), deleted (whether they are gone); still_in and may_hold: files and folders
        below the study's that name the participant, and those that may (see `remaining`).

    Raises:
        NotFound: no store, or no such person in it.
        StoreInUse: `really`, and the store is being served from SQLite; the desk can do it then.
    """
    address = store_address(folder, store)
    from ..study.server.pseudonyms import person_hmac
    from ..study.store import key_check, people
    from ..study.store.keys import read_keys
    from ..study.store.store import parsed, snapshot

    at = time.time() if now is None else now
    key = folder / "study.key"
    study = read_study(folder / "study.toml") if (folder / "study.toml").is_file() else None
    profile = study.platform.profile if study else ""
    replace = study.people.replace if study else True
    known, keys = [participant], read_keys(key, make=False) if key.is_file() else None
    if keys is not None and profile:
        known.append(person_hmac(keys.hmac, profile, participant))
    with snapshot(address) as c:
        held = next((found for name in known if (found := people.kept(c, name)) is not None), None)
        blind = keys is None or key_check.is_another(c, keys)
    if held is None:
        more = " or the panel's id"
        if blind:
            more = "; a panel's id is not recognised without the study.key that the store was begun with"
        raise NotFound(
            f"no participant '{participant}' in the store of '{folder}'; give a name of the tables (p-0007){more}",
            where=participant,
        )
    gone = _forgotten(address, held.name, at, replace=replace) if really else held
    url = parsed(address)
    own = Path(url.database) if url.get_backend_name() == "sqlite" and url.database else None
    left = remaining(folder, held.name, store=own)
    return {
        "participant": held.name, "answers": gone.answers, "events": gone.events, "deleted": really,
        "still_in": left.names, "may_hold": left.may_hold,
    }  # fmt: skip


def _forgotten(address: str, name: str, at: float, *, replace: bool) -> Any:
    """What was deleted of a person.

    Raises:
        StoreInUse: another process has the store open.
        NotFound: they were forgotten a moment ago.
    """
    from ..study.store import Store, people

    try:
        opened = Store.open(address)
    except StoreInUse as error:
        raise StoreInUse(
            f'{error.message}; while it is served, the desk can do it: Data, "Forget a person"', where=error.where
        ) from error
    with opened:
        gone = opened.write_now(lambda c: people.forget(c, name, at, replace=replace, who="command line"))
    if gone is None:
        raise NotFound(f"no participant '{name}' in the store any more; they were forgotten a moment ago", where=name)
    return gone


def backup_folder(folder: Path, output: Path | None, *, store: str | None = None) -> dict[str, Any]:
    """Copy a study's store into one checked file; None: backups/<UTC time>.zip of the folder.

    Raises:
        NotFound: no store.
        WouldOverwrite: the file exists and is no backup.
    """
    address = store_address(folder, store)
    from ..study.store import backup

    path = output or folder / "backups" / time.strftime("%Y%m%dT%H%M%SZ.zip", time.gmtime())
    if path.exists():
        try:
            backup.check(path)
        except ParagoneError as error:
            raise WouldOverwrite(f"'{path}' is no backup; name another file with -o", where=str(path)) from error
    path.parent.mkdir(parents=True, exist_ok=True)
    return _told(path, backup.backup(address, path))


def restore_folder(file: Path, folder: Path, *, only_check: bool, store: str | None = None) -> dict[str, Any]:
    """Check a backup, and unless told otherwise bring it back into an empty store.

    Raises:
        NotFound: no such file.
        BadInput: the backup is damaged or newer than this program.
        WouldOverwrite: the store holds something.
    """
    address = store_address(folder, store, must_exist=False)
    from ..study.store import backup

    return _told(file, backup.check(file) if only_check else backup.restore(file, address))


def _told(path: Path, copy: Any) -> dict[str, Any]:
    return {"file": path, "rows": copy.rows, "tables": {name: one.rows for name, one in copy.tables.items()}}

"""Bring a database to the newest schema, and refuse one that is newer than this program."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from ...errors import BadInput
from .tables import METADATA

__all__ = ["at_head", "foreign", "known", "migrate", "no_store", "revision_of", "revisions", "to_head"]

_LOCK = 0x7061726167  # 'parag': number of the advisory lock under which PostgreSQL is migrated


def migrate(connection: sa.Connection, revision: str = "head") -> None:
    """Run the migrations up or down to a revision, inside the connection's transaction.

    Args:
        connection: in a transaction, which the caller commits.
        revision: 'head', 'base' or the id of a revision.
    """
    config = _config(connection)
    here, steps = revision_of(connection), revisions(connection)
    wanted = len(steps) if revision == "head" else 0 if revision == "base" else steps.index(revision) + 1
    if wanted >= (steps.index(here) + 1 if here else 0):
        command.upgrade(config, revision)
    else:
        command.downgrade(config, revision)


def at_head(connection: sa.Connection, where: str) -> None:
    """Hold a store that is only read to the schema of this program.

    Raises:
        BadInput: it has another schema; says which side is older.
    """
    known(connection, where)
    head = ScriptDirectory.from_config(_config(connection)).get_current_head()
    if revision_of(connection) != head:
        if not sa.inspect(connection).has_table("alembic_version"):
            raise no_store(where)
        raise BadInput(f"{where}: its schema is older than this paragone; open it for writing once", where=where)
    _must_be_whole(connection, where)


def foreign(where: str) -> BadInput:
    """The error for a database of another program."""
    return BadInput(f"{where}: a database with other tables in it; name an empty one or a study's", where=where)


def no_store(where: str) -> BadInput:
    """The error for a database that holds no study."""
    return BadInput(f"{where}: no store in it; name the database of a served study", where=where)


def to_head(connection: sa.Connection, where: str) -> None:
    """Migrate to the newest schema; of several processes that start together one does it and the others wait.

    Args:
        connection: in a transaction, which the caller commits.
        where: the store, for messages, without its password.

    Raises:
        BadInput: the store's schema is newer than this program, or is no schema of ours.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(sa.text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
    here = known(connection, where)
    if here is None and set(sa.inspect(connection).get_table_names()) - {"alembic_version"}:
        raise foreign(where)
    migrate(connection)
    _must_be_whole(connection, where)


def _must_be_whole(connection: sa.Connection, where: str) -> None:
    """Refuse a store that lost a table: it would be served, and take no answer."""
    missing = sorted(set(METADATA.tables) - set(sa.inspect(connection).get_table_names()))
    if missing:
        raise BadInput(f"{where}: damaged, its table '{missing[0]}' is missing; restore a backup", where=where)


def revision_of(connection: sa.Connection) -> str | None:
    """The id of the schema that a database has; of another program's it may be several in one; None: none."""
    return ", ".join(sorted(MigrationContext.configure(connection).get_current_heads())) or None


def known(connection: sa.Connection, where: str) -> str | None:
    """The schema's id, if this program knows it; None: the database has none.

    Raises:
        BadInput: it is newer than this program.
    """
    here = revision_of(connection)
    if here is not None and here not in revisions(connection):
        raise BadInput(
            f"{where}: its schema '{here}' is newer than this paragone knows; install the version that made it",
            where=where,
        )
    return here


def revisions(connection: sa.Connection) -> list[str]:
    """The ids of all schemas that this program knows, the first one first."""
    scripts = ScriptDirectory.from_config(_config(connection)).walk_revisions()
    return [script.revision for script in scripts][::-1]


def _config(connection: sa.Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config

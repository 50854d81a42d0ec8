"""The store's tables, the same for SQLite and PostgreSQL. Times (`at` and `*_at`) are UTC epoch seconds.

`answer` and `event` are append-only: triggers (in the migrations) refuse UPDATE and DELETE while `door.open` is 0, which it
is outside the one job that forgets a person.
"""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

__all__ = [
    "LEASE_STATES",
    "METADATA",
    "admin",
    "admin_token",
    "answer",
    "door",
    "event",
    "insert_once",
    "lab_code",
    "lease",
    "participant",
    "version",
    "visit",
]

LEASE_STATES = ("free", "leased", "complete", "accepted", "excluded", "abandoned", "retired")
"""States of a lease. free: nobody has it; leased: under way; complete: every answer is there; accepted: and looked at;
excluded: its answers do not count; abandoned: left, though its person may come back; retired: no longer needed."""

METADATA = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _table(name: str, *parts: sa.schema.SchemaItem) -> sa.Table:
    return sa.Table(name, METADATA, *parts, sqlite_autoincrement=True)  # an id is never used again


def _id() -> sa.Column[int]:
    return sa.Column("id", sa.Integer, primary_key=True)


def _at(name: str = "at", *, nullable: bool = False) -> sa.Column[float]:
    return sa.Column(name, sa.Double, nullable=nullable)


def _of(table: str, *, nullable: bool = False, name: str = "", index: bool = True) -> sa.Column[int]:
    return sa.Column(name or f"{table}_id", sa.Integer, sa.ForeignKey(f"{table}.id"), nullable=nullable, index=index)


version = _table(
    "version",
    _id(),
    sa.Column("sha256", sa.Text, nullable=False, unique=True),
    sa.Column("turn", sa.Integer, nullable=False),  # the largest is the one served; an earlier version may come back
    sa.Column("study", sa.Text, nullable=False),
    sa.Column("plan", sa.LargeBinary, nullable=False),
    sa.Column("items", sa.LargeBinary, nullable=False),
    _at(),
)

participant = _table(
    "participant",
    _id(),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("platform", sa.Text, nullable=False),
    sa.Column("external_hmac", sa.Text),
    sa.Column("sealed", sa.LargeBinary),
    _at("purge_after", nullable=True),
    sa.Column("language", sa.Text),
    _at(),
    _at("forgotten_at", nullable=True),
    sa.UniqueConstraint("platform", "external_hmac"),
)

lease = _table(
    "lease",
    _id(),
    _of("version", index=False),  # the unique constraint begins with it
    sa.Column("stage", sa.Text, nullable=False),
    sa.Column("owner", sa.Text, nullable=False),
    sa.Column("copy", sa.Integer, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("priority", sa.Integer, nullable=False),  # lower goes first; replacements -1
    _of("participant", nullable=True),
    _of("lease", nullable=True, name="replaces"),
    _at("taken_at", nullable=True),
    _at("seen_at", nullable=True),
    _at("away_until", nullable=True),  # between two sessions: not missed before
    _at("done_at", nullable=True),
    sa.UniqueConstraint("version_id", "stage", "owner", "copy"),
    sa.CheckConstraint(sa.text("state IN ('" + "', '".join(LEASE_STATES) + "')"), name="state"),
    sa.Index(None, "state", "stage", "priority", "id"),
)

visit = _table(
    "visit",
    _id(),
    _of("participant"),
    sa.Column("key_sha256", sa.Text, unique=True),
    _at("key_used_at", nullable=True),
    sa.Column("cookie_sha256", sa.Text, unique=True),
    sa.Column("token_sha256", sa.Text, unique=True),
    sa.Column("submission_hmac", sa.Text, index=True),
    _at(),
    _at("ended_at", nullable=True),
)

answer = _table(
    "answer",
    _id(),
    sa.Column("client_id", sa.Text, nullable=False, unique=True),
    _of("lease", index=False),  # the unique constraint begins with it
    _of("participant"),
    sa.Column("trial", sa.Text, nullable=False),
    sa.Column("criterion", sa.Text, nullable=False),
    sa.Column("revision", sa.Integer, nullable=False, server_default="0"),
    sa.Column("value", sa.Text, nullable=False),
    sa.Column("seconds", sa.Double),
    _at(),
    sa.Column("body", sa.Text, nullable=False),
    sa.UniqueConstraint("lease_id", "trial", "criterion", "revision"),
)

event = _table(
    "event",
    _id(),
    sa.Column("client_id", sa.Text, unique=True),
    _of("participant", nullable=True),
    _of("lease", nullable=True),
    sa.Column("session", sa.Text),
    sa.Column("kind", sa.Text, nullable=False, index=True),
    _at(),
    sa.Column("body", sa.Text, nullable=False),
)

door = sa.Table("door", METADATA, _id(), sa.Column("open", sa.Integer, nullable=False))

lab_code = _table(
    "lab_code",
    _id(),
    sa.Column("code_sha256", sa.Text, nullable=False, unique=True),
    sa.Column("label", sa.Text, nullable=False),
    _at(),
    _of("participant", nullable=True, name="used_by"),
)

admin = _table(
    "admin",
    _id(),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("password_argon2", sa.Text, nullable=False),
    sa.Column("role", sa.Text, nullable=False),
    _at(),
    sa.CheckConstraint("role IN ('viewer', 'admin')", name="role"),
)

admin_token = _table(
    "admin_token",
    _id(),
    _of("admin"),
    sa.Column("sha256", sa.Text, nullable=False, unique=True),
    sa.Column("label", sa.Text, nullable=False),
    _at(),
    _at("expires", nullable=True),
)


def insert_once(dialect: str, table: sa.Table) -> sa.Executable:
    """INSERT that does nothing where a unique value is there already, and returns the id of a row that went in.

    Ask whether a row came back; `rowcount` differs between the databases.
    """
    if dialect == "sqlite":
        return sqlite.insert(table).on_conflict_do_nothing().returning(table.c.id)
    return postgresql.insert(table).on_conflict_do_nothing().returning(table.c.id)

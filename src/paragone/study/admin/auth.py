"""Who may enter the desk: names and passwords, sessions of browsers, tokens of programs.

Passwords are kept as argon2id, secrets of sessions and tokens as SHA-256. There is no default password: while the store
knows nobody, the token that the server prints at its start opens /admin/setup, and nothing else does.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import hmac
import secrets
from typing import Any, Literal, NamedTuple, get_args

import sqlalchemy as sa
from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from ...errors import BadInput
from ..store import events
from ..store.keys import Keys
from ..store.tables import admin, admin_token

__all__ = [
    "IDLE_SECONDS",
    "ROLES",
    "SHORTEST",
    "Role",
    "Token",
    "Who",
    "add",
    "admins",
    "change_password",
    "digest",
    "drop_token",
    "enter",
    "first",
    "hashed",
    "leave",
    "make_token",
    "needs_note",
    "nobody_yet",
    "note",
    "password_of",
    "remove",
    "setup_token",
    "tokens",
    "verified",
    "who",
]

Role = Literal["viewer", "admin"]
ROLES: tuple[str, ...] = get_args(Role)
"""viewer: sees everything but secrets; admin: may also change things."""
SHORTEST = 12
"""Fewest characters of a password."""
_LONGEST = 1024  # argon2 reads all of them
IDLE_SECONDS = 2 * 3600.0
"""A session that nobody used for so long has ended."""
_WHOLE_SECONDS = 12 * 3600.0  # a session ends then, used or not
_SESSION = "(session)"
_NOTE_EVERY = 60.0  # seconds between two notes that a session is in use
_MOST_NAME = 64


class Who(NamedTuple):
    """Who is at the desk."""

    admin_id: int
    name: str
    role: str
    token_id: int
    session: bool
    """True: a browser's session; False: a program's token."""

    @property
    def may(self) -> bool:
        """Whether they may change things."""
        return self.role == "admin"


class Token(NamedTuple):
    """A token of a program, without its secret."""

    id: int
    name: str
    """Whose it is."""
    label: str
    at: float
    expires: float | None


@functools.cache
def _hasher() -> PasswordHasher:
    return PasswordHasher()  # argon2id with the parameters that RFC 9106 recommends for less memory


@functools.cache
def _nobodys() -> str:
    """A hash to be verified where there is no such name, so that both take equally long."""
    return _hasher().hash(secrets.token_urlsafe(16))


def hashed(password: str) -> str:
    """Return a password as argon2id; takes about a tenth of a second and 64 MiB.

    Raises:
        BadInput: it is shorter than `SHORTEST` characters, or absurdly long.
    """
    if not SHORTEST <= len(password) <= _LONGEST:
        raise BadInput(
            f"a password has at least {SHORTEST} characters; a sentence is easy to remember", where="password"
        )
    return _hasher().hash(password)


def verified(password: str, kept: str | None) -> bool:
    """Whether a password is the one that was kept; equally slow where nothing was.

    Args:
        password: what was typed.
        kept: as from `hashed`; None: there is no such name.
    """
    try:
        return _hasher().verify(kept or _nobodys(), password[:_LONGEST]) and kept is not None
    except (VerificationError, InvalidHashError):
        return False


def digest(secret: str) -> str:
    """SHA-256 of a secret, as the store keeps it."""
    return hashlib.sha256(secret.encode()).hexdigest()


def setup_token(keys: Keys) -> str:
    """The token that opens /admin/setup while the store knows no admin; print it on the console, nowhere else.

    It follows from the study's key, so that all processes of a server print the same one.
    """
    letters = base64.b32encode(hmac.digest(keys.derived("admin setup"), b"first", "sha256")).decode()[:24]
    return "-".join(letters[start : start + 6] for start in range(0, 24, 6))


def nobody_yet(c: sa.Connection) -> bool:
    """Whether the store knows no admin at all."""
    return c.execute(sa.select(admin.c.id).limit(1)).first() is None


def first(c: sa.Connection, name: str, password_hash: str, now: float) -> bool:
    """Make the first admin; False: somebody was first.

    Args:
        c: the connection.
        name: name to sign in with.
        password_hash: as from `hashed`.
        now: the server's clock.
    """
    if c.dialect.name == "postgresql":
        c.execute(sa.text("LOCK TABLE admin IN SHARE ROW EXCLUSIVE MODE"))
    if not nobody_yet(c):
        return False
    _insert(c, name, password_hash, "admin", now)
    events.append(c, "admin.setup", now, body={"who": name})
    return True


def add(c: sa.Connection, name: str, password_hash: str, role: str, now: float, *, by: str) -> None:
    """Make another one who may enter.

    Args:
        c: the connection.
        name: name to sign in with.
        password_hash: as from `hashed`.
        role: 'viewer' or 'admin'.
        now: the server's clock.
        by: who made them.

    Raises:
        BadInput: the name is taken or impossible, or there is no such role.
    """
    if role not in ROLES:
        raise BadInput(f"role '{role}' is not one of {', '.join(ROLES)}", where="role")
    if c.execute(sa.select(admin.c.id).where(admin.c.name == name)).first() is not None:
        raise BadInput(f"there is an admin '{name}' already; take another name", where="name")
    _insert(c, name, password_hash, role, now)
    events.append(c, "admin.added", now, body={"who": by, "name": name, "role": role})


def _insert(c: sa.Connection, name: str, password_hash: str, role: str, now: float) -> None:
    if not (0 < len(name) <= _MOST_NAME and name.isprintable() and name == name.strip()):
        raise BadInput(f"a name has 1 to {_MOST_NAME} printable characters", where="name")
    c.execute(admin.insert(), {"name": name, "password_argon2": password_hash, "role": role, "at": now})


def admins(c: sa.Connection) -> list[tuple[str, str, float]]:
    """Name, role and since when, by name."""
    rows = c.execute(sa.select(admin.c.name, admin.c.role, admin.c.at).order_by(admin.c.name))
    return [(row.name, row.role, row.at) for row in rows]


def remove(c: sa.Connection, name: str, now: float, *, by: str) -> bool:
    """Take somebody's entry away, with every session and token; the last admin stays. Return whether it was done."""
    row = c.execute(sa.select(admin.c.id, admin.c.role).where(admin.c.name == name).with_for_update()).first()
    others = sa.select(sa.func.count()).select_from(admin).where(admin.c.role == "admin", admin.c.name != name)
    if row is None or (row.role == "admin" and not c.execute(others).scalar_one()):
        return False
    c.execute(admin_token.delete().where(admin_token.c.admin_id == row.id))
    c.execute(admin.delete().where(admin.c.id == row.id))
    events.append(c, "admin.removed", now, body={"who": by, "name": name})
    return True


def change_password(c: sa.Connection, name: str, password_hash: str, now: float, *, by: str) -> bool:
    """Set a new password and end every session of that name; False: nobody has it."""
    made = admin.update().where(admin.c.name == name).values(password_argon2=password_hash).returning(admin.c.id)
    admin_id = c.execute(made).scalar()
    if admin_id is None:
        return False
    c.execute(admin_token.delete().where(admin_token.c.admin_id == admin_id, admin_token.c.label == _SESSION))
    events.append(c, "admin.password", now, body={"who": by, "name": name})
    return True


def enter(c: sa.Connection, name: str, secret_sha256: str, now: float, *, old_sha256: str | None = None) -> None:
    """Open a session for somebody whose password was right; the one that the browser had before ends.

    Args:
        c: the connection.
        name: who.
        secret_sha256: of the new session's secret.
        now: the server's clock.
        old_sha256: of the secret that the browser showed when signing in; None: it had none.
    """
    admin_id = c.execute(sa.select(admin.c.id).where(admin.c.name == name)).scalar_one()
    ended = sa.and_(admin_token.c.label == _SESSION, admin_token.c.expires <= now)
    c.execute(admin_token.delete().where(sa.or_(ended, admin_token.c.sha256 == (old_sha256 or ""))))
    row = {"admin_id": admin_id, "sha256": secret_sha256, "label": _SESSION, "at": now, "expires": now + IDLE_SECONDS}
    c.execute(admin_token.insert(), row)
    events.append(c, "admin.login", now, body={"who": name})


def leave(c: sa.Connection, secret_sha256: str, now: float) -> None:
    """End a session; nothing happens where there is none."""
    found = who(c, secret_sha256, now)
    mine = admin_token.c.sha256 == secret_sha256
    c.execute(admin_token.delete().where(mine, admin_token.c.label == _SESSION))
    if found is not None:
        events.append(c, "admin.logout", now, body={"who": found.name})


def who(c: sa.Connection, secret_sha256: str, now: float) -> Who | None:
    """Whose session or token it is; None: nobody's, or its time is over."""
    found = _row(c, secret_sha256)
    if found is None or (found.expires is not None and found.expires <= now):
        return None
    session = found.label == _SESSION
    if session and now - found.at > _WHOLE_SECONDS:
        return None
    return Who(found.admin_id, found.name, found.role, found.id, session)


def note(c: sa.Connection, secret_sha256: str, now: float) -> None:
    """Remember that a session is in use: it ends `IDLE_SECONDS` later."""
    mine = admin_token.update().where(admin_token.c.sha256 == secret_sha256, admin_token.c.label == _SESSION)
    c.execute(mine.values(expires=now + IDLE_SECONDS))


def needs_note(c: sa.Connection, secret_sha256: str, now: float) -> bool:
    """Whether the last note is old enough for another."""
    found = _row(c, secret_sha256)
    if found is None or found.expires is None or found.label != _SESSION:
        return False
    return bool(now - (found.expires - IDLE_SECONDS) >= _NOTE_EVERY)


def _row(c: sa.Connection, secret_sha256: str) -> Any:
    columns = (
        admin_token.c.id, admin_token.c.admin_id, admin_token.c.label, admin_token.c.at, admin_token.c.expires,
        admin.c.name, admin.c.role,
    )  # fmt: skip
    query = sa.select(*columns).select_from(admin_token.join(admin)).where(admin_token.c.sha256 == secret_sha256)
    return c.execute(query).first()


def make_token(
    c: sa.Connection, whose: int, secret_sha256: str, label: str, now: float, *, expires: float | None, by: str
) -> None:
    """Store a token of a program.

    Args:
        c: the connection.
        whose: id of the admin in whose name it acts.
        secret_sha256: of the token.
        label: what it is for.
        now: the server's clock.
        expires: when it ends; None: never.
        by: who made it.

    Raises:
        BadInput: the label is empty, too long, or that of sessions.
    """
    if not (0 < len(label) <= _MOST_NAME and label.isprintable() and label != _SESSION):
        raise BadInput(f"a label has 1 to {_MOST_NAME} printable characters", where="label")
    row = {"admin_id": whose, "sha256": secret_sha256, "label": label, "at": now, "expires": expires}
    c.execute(admin_token.insert(), row)
    events.append(c, "admin.token", now, body={"who": by, "label": label, "expires": expires})


def drop_token(c: sa.Connection, token_id: int, now: float, *, by: str) -> bool:
    """End a program's token; False: there is none of that number."""
    gone = admin_token.delete().where(admin_token.c.id == token_id, admin_token.c.label != _SESSION)
    label = c.execute(gone.returning(admin_token.c.label)).scalar()
    if label is not None:
        events.append(c, "admin.token-ended", now, body={"who": by, "label": label})
    return label is not None


def tokens(c: sa.Connection) -> list[Token]:
    """The tokens of programs, oldest first."""
    columns = (admin_token.c.id, admin.c.name, admin_token.c.label, admin_token.c.at, admin_token.c.expires)
    query = sa.select(*columns).select_from(admin_token.join(admin)).where(admin_token.c.label != _SESSION)
    return [Token._make(row) for row in c.execute(query.order_by(admin_token.c.id))]


def password_of(c: sa.Connection, name: str) -> str | None:
    """The kept hash of a name; None: nobody has it."""
    kept: str | None = c.execute(sa.select(admin.c.password_argon2).where(admin.c.name == name)).scalar()
    return kept

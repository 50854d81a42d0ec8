"""The first schema: versions, people, leases, answers, events, desk."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_STATES = "'free', 'leased', 'complete', 'accepted', 'excluded', 'abandoned', 'retired'"
_APPEND_ONLY = ("answer", "event")


def _id() -> sa.Column[int]:
    return sa.Column("id", sa.Integer, nullable=False)


def _table(name: str, *columns: sa.schema.SchemaItem) -> None:
    op.create_table(
        name, _id(), *columns, sa.PrimaryKeyConstraint("id", name=f"pk_{name}"), sqlite_autoincrement=name != "door"
    )


def _to(table: str, column: str, target: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [f"{target}.id"], name=f"fk_{table}_{column}_{target}")


def _once(table: str, *columns: str) -> sa.UniqueConstraint:
    return sa.UniqueConstraint(*columns, name=f"uq_{table}_{'_'.join(columns)}")


def _text(name: str, *, null: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=null)


def _whole(name: str, *, null: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.Integer, nullable=null)


def _real(name: str, *, null: bool = False) -> sa.Column[float]:
    return sa.Column(name, sa.Double, nullable=null)


def _bytes(name: str, *, null: bool = False) -> sa.Column[bytes]:
    return sa.Column(name, sa.LargeBinary, nullable=null)


def upgrade() -> None:
    _table(
        "version", _text("sha256"), _whole("turn"), _text("study"), _bytes("plan"), _bytes("items"), _real("at"),
        _once("version", "sha256"),
    )  # fmt: skip
    _table(
        "participant", _text("name"), _text("platform"), _text("external_hmac", null=True),
        _bytes("sealed", null=True), _real("purge_after", null=True), _text("language", null=True), _real("at"),
        _real("forgotten_at", null=True), _once("participant", "name"),
        _once("participant", "platform", "external_hmac"),
    )  # fmt: skip
    _table(
        "lease", _whole("version_id"), _text("stage"), _text("owner"), _whole("copy"), _text("state"),
        _whole("priority"), _whole("participant_id", null=True), _whole("replaces", null=True),
        _real("taken_at", null=True), _real("seen_at", null=True), _real("away_until", null=True),
        _real("done_at", null=True), _to("lease", "version_id", "version"),
        _to("lease", "participant_id", "participant"), _to("lease", "replaces", "lease"),
        _once("lease", "version_id", "stage", "owner", "copy"),
        sa.CheckConstraint(f"state IN ({_STATES})", name=op.f("ck_lease_state")),
    )  # fmt: skip
    op.create_index("ix_lease_participant_id", "lease", ["participant_id"])
    op.create_index("ix_lease_replaces", "lease", ["replaces"])
    op.create_index("ix_lease_state_stage_priority_id", "lease", ["state", "stage", "priority", "id"])
    _table(
        "visit", _whole("participant_id"), _text("key_sha256", null=True), _real("key_used_at", null=True),
        _text("cookie_sha256", null=True), _text("token_sha256", null=True), _text("submission_hmac", null=True),
        _real("at"), _real("ended_at", null=True), _to("visit", "participant_id", "participant"),
        _once("visit", "key_sha256"), _once("visit", "cookie_sha256"), _once("visit", "token_sha256"),
    )  # fmt: skip
    op.create_index("ix_visit_participant_id", "visit", ["participant_id"])
    op.create_index("ix_visit_submission_hmac", "visit", ["submission_hmac"])
    _table(
        "answer", _text("client_id"), _whole("lease_id"), _whole("participant_id"), _text("trial"),
        _text("criterion"), sa.Column("revision", sa.Integer, nullable=False, server_default="0"), _text("value"),
        _real("seconds", null=True), _real("at"), _text("body"), _to("answer", "lease_id", "lease"),
        _to("answer", "participant_id", "participant"), _once("answer", "client_id"),
        _once("answer", "lease_id", "trial", "criterion", "revision"),
    )  # fmt: skip
    op.create_index("ix_answer_participant_id", "answer", ["participant_id"])
    _table(
        "event", _text("client_id", null=True), _whole("participant_id", null=True), _whole("lease_id", null=True),
        _text("session", null=True), _text("kind"), _real("at"), _text("body"),
        _to("event", "participant_id", "participant"), _to("event", "lease_id", "lease"), _once("event", "client_id"),
    )  # fmt: skip
    for column in ("participant_id", "lease_id", "kind"):
        op.create_index(f"ix_event_{column}", "event", [column])
    _table("door", _whole("open"))
    _table(
        "lab_code", _text("code_sha256"), _text("label"), _real("at"), _whole("used_by", null=True),
        _to("lab_code", "used_by", "participant"), _once("lab_code", "code_sha256"),
    )  # fmt: skip
    op.create_index("ix_lab_code_used_by", "lab_code", ["used_by"])
    _table(
        "admin", _text("name"), _text("password_argon2"), _text("role"), _real("at"), _once("admin", "name"),
        sa.CheckConstraint("role IN ('viewer', 'admin')", name=op.f("ck_admin_role")),
    )  # fmt: skip
    _table(
        "admin_token", _whole("admin_id"), _text("sha256"), _text("label"), _real("at"),
        _real("expires", null=True), _to("admin_token", "admin_id", "admin"), _once("admin_token", "sha256"),
    )  # fmt: skip
    op.create_index("ix_admin_token_admin_id", "admin_token", ["admin_id"])
    op.execute("INSERT INTO door (id, open) VALUES (1, 0)")
    _guard()


def _guard() -> None:
    if op.get_bind().dialect.name == "sqlite":
        for table in _APPEND_ONLY:
            for deed in ("UPDATE", "DELETE"):
                op.execute(
                    f"CREATE TRIGGER {table}_refuses_{deed.lower()} BEFORE {deed} ON {table} "
                    "WHEN (SELECT open FROM door) = 0 "
                    f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
                )
        return
    op.execute(
        "CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "IF (SELECT open FROM door) = 0 THEN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END IF; "
        "RETURN NULL; END $$"
    )
    for table in _APPEND_ONLY:
        op.execute(
            f"CREATE TRIGGER {table}_is_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
        )


def downgrade() -> None:
    for table in ("admin_token", "admin", "lab_code", "event", "answer", "door", "visit", "lease", "participant"):
        op.drop_table(table)
    op.drop_table("version")
    if op.get_bind().dialect.name != "sqlite":
        op.execute("DROP FUNCTION refuse_change()")

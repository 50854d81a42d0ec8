"""Alembic's entry: runs the versions on the connection that `store.schema` hands over."""

from alembic import context

from paragone.study.store.tables import METADATA

connection = context.config.attributes["connection"]
context.configure(
    connection=connection, target_metadata=METADATA, render_as_batch=True, transaction_per_migration=False
)
with context.begin_transaction():
    context.run_migrations()

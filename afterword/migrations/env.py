"""Alembic's environment: one transaction for each revision, on the session that `migrate` opened and locked."""

from alembic import context

context.configure(connection=context.config.attributes["connection"], transaction_per_migration=True)
with context.begin_transaction():
    context.run_migrations()

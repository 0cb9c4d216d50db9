"""Webhook endpoints and their deliveries. The SQL stands in 0011_webhooks.sql."""

from afterword.migrations import run_file

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Run the file; there is no way back."""
    run_file("0011_webhooks.sql")

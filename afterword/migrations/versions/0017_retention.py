"""Retention of the queue. The SQL stands in 0017_retention.sql."""

from afterword.migrations import run_file

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    """Run the file; there is no way back."""
    run_file("0017_retention.sql")

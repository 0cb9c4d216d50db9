"""Sender domains of organizations. The SQL stands in 0028_sender_domains.sql."""

from afterword.migrations import run_file

revision = "0028"
down_revision = "0027"


def upgrade() -> None:
    """Run the file; there is no way back."""
    run_file("0028_sender_domains.sql")

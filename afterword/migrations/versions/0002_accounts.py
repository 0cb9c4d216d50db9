"""Accounts: billing, plans and credits. The SQL stands in 0002_accounts.sql."""

from afterword.migrations import run_file

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Run the file; there is no way back."""
    run_file("0002_accounts.sql")

"""The house; the SQL stands in 0001_foundation.sql."""

from afterword.migrations import run_file

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Run the file; there is no way back."""
    run_file("0001_foundation.sql")

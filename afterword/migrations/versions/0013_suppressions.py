"""Suppressions, reports of providers. The SQL stands in 0013_suppressions.sql."""

from afterword.migrations import run_file

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    """Run the file; there is no way back."""
    run_file("0013_suppressions.sql")

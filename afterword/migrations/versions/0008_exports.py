"""Exports: jobs and the pieces of their files. The SQL stands in 0008_exports.sql."""

from afterword.migrations import run_file

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Run the file; there is no way back."""
    run_file("0008_exports.sql")

"""Erasure of people, the end of instances. The SQL stands in 0018_erasure.sql."""

from afterword.migrations import run_file

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    """Run the file; there is no way back."""
    run_file("0018_erasure.sql")

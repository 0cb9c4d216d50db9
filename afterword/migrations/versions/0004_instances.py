"""Instances and responders: tags, values, search. The SQL stands in 0004_instances.sql."""

from afterword.migrations import run_file

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Run the file; there is no way back."""
    run_file("0004_instances.sql")

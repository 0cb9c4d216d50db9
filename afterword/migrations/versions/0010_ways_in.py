"""CSV imports and sequences. The SQL stands in 0010_ways_in.sql."""

from afterword.migrations import run_file

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Run the file; there is no way back."""
    run_file("0010_ways_in.sql")

"""Room in the pages of hot paths. The SQL stands in 0016_speed.sql."""

from afterword.migrations import run_file

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    """Run the file; there is no way back."""
    run_file("0016_speed.sql")

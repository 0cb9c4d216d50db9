"""People of kept counts. The SQL stands in 0026_people_of_counts.sql."""

from afterword.migrations import run_file

revision = "0026"
down_revision = "0025"


def upgrade() -> None:
    """Run the file; there is no way back."""
    run_file("0026_people_of_counts.sql")

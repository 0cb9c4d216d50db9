"""The cluster whose transactions the event log counts. The SQL stands in 0022_cluster_of_the_log.sql."""

from afterword.migrations import run_file

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    """Run the file; there is no way back."""
    run_file("0022_cluster_of_the_log.sql")

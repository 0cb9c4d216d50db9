"""The queue: business keys, bulk. The SQL stands in 0005_queue.sql."""

from afterword.migrations import run_file

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Run the file; there is no way back."""
    run_file("0005_queue.sql")

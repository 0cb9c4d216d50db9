"""The channel of responses that were there before. The SQL stands in 0021_fill_channels.sql."""

from afterword.migrations import run_file

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    """Run the file; there is no way back."""
    run_file("0021_fill_channels.sql")

"""The channel of responses. The SQL stands in 0020_channels_of_responses.sql."""

from afterword.migrations import run_file

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    """Run the file; there is no way back."""
    run_file("0020_channels_of_responses.sql")

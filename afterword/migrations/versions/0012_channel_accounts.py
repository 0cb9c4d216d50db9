"""Provider accounts of channels. The SQL stands in 0012_channel_accounts.sql."""

from afterword.migrations import run_file

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    """Run the file; there is no way back."""
    run_file("0012_channel_accounts.sql")

"""When accounts were resumed. The SQL stands in 0019_account_resumed.sql."""

from afterword.migrations import run_file

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    """Run the file; there is no way back."""
    run_file("0019_account_resumed.sql")

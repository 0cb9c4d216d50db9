"""An index of the tokens that a token made. The SQL stands in 0025_tokens_made.sql."""

from afterword.migrations import run_file

revision = "0025"
down_revision = "0024"


def upgrade() -> None:
    """Run the file; there is no way back."""
    run_file("0025_tokens_made.sql")

"""With which token a token was made. The SQL stands in 0024_makers_of_tokens.sql."""

from afterword.migrations import run_file

revision = "0024"
down_revision = "0023"


def upgrade() -> None:
    """Run the file; there is no way back."""
    run_file("0024_makers_of_tokens.sql")

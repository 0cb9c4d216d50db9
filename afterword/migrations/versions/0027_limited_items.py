"""Items of callers with some applications. The SQL stands in 0027_limited_items.sql."""

from afterword.migrations import run_file

revision = "0027"
down_revision = "0026"


def upgrade() -> None:
    """Run the file; there is no way back."""
    run_file("0027_limited_items.sql")

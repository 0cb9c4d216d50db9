"""Recipients and byte-order marks of exports. The SQL stands in 0023_columns_of_exports.sql."""

from afterword.migrations import run_file

revision = "0023"
down_revision = "0022"


def upgrade() -> None:
    """Run the file; there is no way back."""
    run_file("0023_columns_of_exports.sql")

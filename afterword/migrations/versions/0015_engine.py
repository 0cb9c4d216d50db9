"""The sending engine. The SQL stands in 0015_engine.sql."""

from afterword.migrations import run_file

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    """Run the file; there is no way back."""
    run_file("0015_engine.sql")

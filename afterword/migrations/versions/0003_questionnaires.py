"""Questionnaires: drafts, visuals, metadata definitions. The SQL stands in 0003_questionnaires.sql."""

from afterword.migrations import run_file

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Run the file; there is no way back."""
    run_file("0003_questionnaires.sql")

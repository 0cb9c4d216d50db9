"""Contact policy, holidays, reminders. The SQL stands in 0009_policies.sql."""

from afterword.migrations import run_file

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Run the file; there is no way back."""
    run_file("0009_policies.sql")

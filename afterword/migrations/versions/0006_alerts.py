"""The log's readers; alerts, their cases, comments, notifications. The SQL stands in 0006_alerts.sql."""

from afterword.migrations import run_file

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Run the file; there is no way back."""
    run_file("0006_alerts.sql")

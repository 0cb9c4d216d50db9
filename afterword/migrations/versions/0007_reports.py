"""Reports: kept counts, custom reports. The SQL stands in 0007_reports.sql."""

from afterword.migrations import run_file

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Run the file; there is no way back."""
    run_file("0007_reports.sql")

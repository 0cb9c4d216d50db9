"""Rates by recipient domain. The SQL stands in 0014_domain_rates.sql."""

from afterword.migrations import run_file

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    """Run the file; there is no way back."""
    run_file("0014_domain_rates.sql")

"""Fixtures of copies, for the tests of their commands."""

from tests.run.backups.conftest import original as original  # noqa: PLC0414  a fixture

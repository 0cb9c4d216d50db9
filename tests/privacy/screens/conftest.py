"""Fixtures of other folders."""

from tests.console.conftest import (
    browser as browser,  # noqa: PLC0414  a fixture
    office as office,  # noqa: PLC0414  a fixture
)

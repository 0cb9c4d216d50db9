"""Fixtures of other folders."""

from tests.console.conftest import browser as browser  # noqa: PLC0414  a fixture
from tests.console.conftest import office as office  # noqa: PLC0414  a fixture

"""Fixtures of other folders."""

from tests.conftest import client as client  # noqa: PLC0414  a fixture
from tests.console.conftest import office as office  # noqa: PLC0414  a fixture

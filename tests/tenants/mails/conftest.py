"""Fixtures of other folders."""

from tests.cases.conftest import desk as desk  # noqa: PLC0414  a fixture

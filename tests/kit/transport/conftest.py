"""Fixtures of other folders."""

from tests.sending.channels.conftest import certificate as certificate  # noqa: PLC0414  a fixture

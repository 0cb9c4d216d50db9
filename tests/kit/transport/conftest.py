"""Fixtures of other folders."""

from tests.dovecot import (
    mailserver as mailserver,  # noqa: PLC0414  a fixture
    started as started,  # noqa: PLC0414  a fixture
)
from tests.sending.channels.conftest import certificate as certificate  # noqa: PLC0414  a fixture

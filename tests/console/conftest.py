"""The console of an organization whose owner logs in."""

from tests.tenants.logins.conftest import (
    browser as browser,  # noqa: PLC0414  a fixture
    office as office,  # noqa: PLC0414  a fixture
)

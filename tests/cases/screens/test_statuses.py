"""Statuses of cases in the console: those of the product stay as they are."""

import httpx2
import pytest

from tests.console.conftest import office as office  # noqa: PLC0414  a fixture
from tests.tenants.logins.conftest import Office

STATUSES = "/console/settings/statuses"
FORM = {"title": "Waits for parts", "description": "", "color": "#aa5500", "closing": "", "position": "7"}
WRONG = (("title", ""), ("color", "orange"), ("position", "x"))


@pytest.mark.parametrize("number", ["1", "x" * 22, "9" * 30])
async def test_no_own_status(office: Office, number: str, owner: httpx2.AsyncClient) -> None:
    assert "built in" in (await owner.get(STATUSES)).text
    for below in ("", "/removal"):
        assert 404 == (await owner.get(f"{STATUSES}/{number}{below}")).status_code
        assert 404 == (await owner.post(f"{STATUSES}/{number}{below}", data=FORM)).status_code

"""Statuses of cases in the console: those of the product stay as they are."""

import pytest

from tests.tenants.logins.conftest import Office, browser_of, log_in

STATUSES = "/console/settings/statuses"
FORM = {"title": "Waits for parts", "description": "", "color": "#aa5500", "closing": "", "position": "7"}
WRONG = (("title", ""), ("color", "orange"), ("position", "x"))


@pytest.mark.parametrize("number", ["1", "x" * 22, "9" * 30])
async def test_no_own_status(office: Office, number: str) -> None:
    async with browser_of(office.pool) as browser:
        await log_in(browser)
        assert "of the product" in (await browser.get(STATUSES)).text
        for below in ("", "/removal"):
            assert 404 == (await browser.get(f"{STATUSES}/{number}{below}")).status_code
            assert 404 == (await browser.post(f"{STATUSES}/{number}{below}", data=FORM)).status_code

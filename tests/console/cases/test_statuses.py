"""Statuses of cases in the console: own ones are made, changed and removed; those of the product stay."""

import html
import re

from tests.console.sending.test_pipelines import version_of
from tests.logins.conftest import Office, browser_of, found, log_in

STATUSES = "/console/settings/statuses"
FORM = {"title": "Waits for parts", "description": "", "color": "#aa5500", "closing": "", "position": "7"}


async def test_statuses(office: Office) -> None:
    await office.add_user("ben@kalamata.example")
    await found(office.pool, domain="patras", email="pan@patras.example")
    async with browser_of(office.pool) as browser, browser_of(office.pool) as other:
        await log_in(other, email="ben@kalamata.example")
        assert 403 == (await other.post(f"{STATUSES}/new", data=FORM)).status_code
        await log_in(other, email="pan@patras.example")
        await log_in(browser)
        for name, value in (("title", ""), ("color", "orange"), ("position", "x")):
            wrong = await browser.post(f"{STATUSES}/new", data={**FORM, name: value})
            assert 422 == wrong.status_code, name
            assert f'href="#{name}"' in wrong.text
        assert 303 == (await browser.post(f"{STATUSES}/new", data=FORM)).status_code
        page = html.unescape((await browser.get(STATUSES)).text)
        match = re.search(rf'href="({STATUSES}/\d+)"><strong>Waits for parts', page)
        assert match is not None
        path = match[1]
        for below in ("", "/removal"):
            assert 404 == (await other.get(path + below)).status_code
            assert 404 == (await other.post(path + below, data={**FORM, "version": "1"})).status_code
            for number in ("1", "x" * 22, "9" * 30):
                assert 404 == (await browser.get(f"{STATUSES}/{number}{below}")).status_code
        version = version_of(await browser.get(path))
        saved = await browser.post(path, data={**FORM, "closing": "1", "version": version})
        assert 303 == saved.status_code
        assert 412 == (await browser.post(path, data={**FORM, "version": version})).status_code
        assert 303 == (await browser.post(f"{path}/removal")).status_code
        assert 404 == (await browser.get(path)).status_code

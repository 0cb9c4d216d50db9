"""Webhooks in the console: the secret is shown once and asks for the password, deliveries can be sent again."""

import html
import re

from tests.sending.screens.test_pipelines import version_of
from tests.tenants.logins.conftest import PASSWORD, Office, browser_of, log_in

WEBHOOKS = "/console/settings/webhooks"
FORM = {"title": "Warehouse <b>", "target_url": "https://93.184.215.14/hook", "active": "1",
        "event_types": "questionnaire_instance.completed\nalert_instance.*"}  # fmt: skip


WRONG = (("title", ""), ("target_url", "http://127.0.0.1/"), ("event_types", "moon.rises"))


async def test_page(office: Office) -> None:
    async with browser_of(office.pool) as browser:
        await log_in(browser)
        await browser.post("/console/proof", data={"password": PASSWORD, "next": WEBHOOKS})
        made = await browser.post(f"{WEBHOOKS}/new", data=FORM)
        secret = re.search(r'id="secret" value="(whsec_[^"]+)"', made.text)
        assert secret is not None
        page = html.unescape((await browser.get(WEBHOOKS)).text)
        assert secret[1] not in page
        match = re.search(rf'href="({WEBHOOKS}/\w{{22}})"><strong>Warehouse <b>', page)
        assert match is not None
        path = match[1]
        again = await browser.post(f"{path}/redelivery", data={"delivery_id": "0" * 22})
        assert 404 == again.status_code
        shown = (await browser.get(path)).text
        assert "Nothing has been sent to it yet" in shown
        assert "<dt>Events</dt><dd>questionnaire_instance.<wbr>completed, alert_instance.<wbr>*</dd><dt>" in shown
        version = version_of(await browser.get(f"{path}/edit"))
        assert 303 == (await browser.post(f"{path}/edit", data={**FORM, "active": "", "version": version})).status_code
        assert ">Off<" in (await browser.get(path)).text
        assert "both secrets" in (await browser.get(f"{path}/secret")).text
        renewed = re.search(r'id="secret" value="([^"]+)"', (await browser.post(f"{path}/secret")).text)
        assert renewed is not None
        assert secret[1] != renewed[1]

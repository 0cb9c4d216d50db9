"""DNS of sender domains, and addresses for reports, in the console."""

import re

from afterword.core.wire.site import Site
from afterword.kit import db
from afterword.sending.screens.providers import PROVIDERS
from tests.kit.transport.name_server import name_server
from tests.run.test_app import client_of
from tests.sending.screens.test_provider_forms import NEW
from tests.tenants.logins.conftest import OWN, SITE, Office, browser_of, log_in


async def test_records(office: Office) -> None:
    async with db.transaction(office.pool) as database:
        await database.execute(
            "insert into organization_sender_domain (organization_id, domain) values ($1, 'shop.example')",
            office.organization_id,
        )
    async with name_server({"shop.example": ["v=spf1 <b> +all"]}) as server:
        site = Site(SITE.public_url, SITE.secret, name_servers=(("127.0.0.1", server.port),))
        async with client_of(office.pool, site=site) as client:
            client.headers.update(OWN)
            await log_in(client)
            path = (await client.post(f"{PROVIDERS}/new", data=NEW)).headers["location"].partition("?")[0]
            page = await client.get(f"{path}/dns?selector=own", headers={"Accept-Language": "el"})
            wrong = await client.get(f"{path}/dns?selector=a+b")
    assert ("v=spf1 &lt;b&gt; ~all" in page.text, "own" in page.text) == (True, True)
    assert (422, True) == (wrong.status_code, 'value="a b"' in wrong.text)


async def test_an_address_for_reports(office: Office) -> None:
    """Its key is shown this once."""
    async with browser_of(office.pool) as client:
        await log_in(client)
        path = (await client.post(f"{PROVIDERS}/new", data=NEW)).headers["location"].partition("?")[0]
        assert 422 == (await client.post(f"{path}/inbound", data={"adapter": "sns", "topic": "x"})).status_code
        assert 422 == (await client.post(f"{path}/inbound", data={"adapter": "provider"})).status_code
        made = await client.post(f"{path}/inbound", data={"adapter": "standard"})
        assert (200, "no-store") == (made.status_code, made.headers["cache-control"])
        assert "whsec_" in made.text
        assert 409 == (await client.post(f"{path}/inbound", data={"adapter": "standard"})).status_code
        page = (await client.get(path)).text
        assert "whsec_" not in page
        closing = re.search(r"inbound(?:/|&#x2f;)([0-9A-Za-z]+)(?:/|&#x2f;)closing", page)
        assert closing is not None
        address = f"{path}/inbound/{closing[1]}/closing"
        assert closing[1] in (await client.get(address)).text
        assert f"{path}?done=removed" == (await client.post(address)).headers["location"]
        assert "No address is open" in (await client.get(path)).text

"""Log-in through an identity provider in a browser: to another site and back, past the policies of our pages."""

import pytest
from playwright.async_api import Browser

from afterword.core.messaging.networks import networks_of
from afterword.run.app import create_app
from afterword.tenants.logins.identities import service
from tests.browser.conftest import listening, served
from tests.browser.test_console import opened
from tests.conftest import patient_pool
from tests.databases import fresh_database
from tests.sizes import one_of
from tests.tenants.logins.conftest import found
from tests.tenants.logins.identities.provider import running
from tests.tenants.logins.identities.test_service import NIKOS, connect

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.parametrize("scripts", one_of(["with", "without"]))
async def test_there_and_back(browser: Browser, server_url: str, monkeypatch: pytest.MonkeyPatch, scripts: str) -> None:
    """With scripts the person types the name of the organization alone; without, one button more is pressed."""
    monkeypatch.setenv("AUTHLIB_INSECURE_TRANSPORT", "1")
    listener, site = listening(networks=networks_of("127.0.0.0/8"))
    url = site.public_url
    async with fresh_database(server_url) as database_url, patient_pool(database_url) as pool:
        office = await found(pool)
        async with (
            served(create_app(pool=pool, site=site), listener),
            opened(browser, java_script_enabled=scripts == "with") as page,
        ):
            with running(service.return_url(site)) as provider:
                await connect(office, provider, site=site)
                provider.person = NIKOS
                await page.goto(f"{url}/console/login?next=/console/cases")
                await page.get_by_role("link", name="Log in with your organization").click()
                await page.locator("#domain").fill("kalamata")
                await page.get_by_role("button", name="Continue").click()
                if scripts == "without":
                    await page.wait_for_url(f"{url}{service.RETURN_PATH}?*")
                    await page.get_by_role("button", name="Continue").click()
                await page.wait_for_url(f"{url}/console/cases")
                provider.document = {"end_session_endpoint": f"{provider.issuer}/end"}
                await page.get_by_role("button", name="Log out").click()
                await page.wait_for_url(lambda address: address.startswith(f"{provider.issuer}/end?"))

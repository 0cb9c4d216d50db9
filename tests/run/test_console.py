"""Every address of the console: the roles that open it, forms of other sites, and headers."""

import html
import re

import pytest

from afterword.console.screens import Screen
from afterword.core.organizations.access import ROLE_SCOPES
from afterword.run import console
from tests.tenants.logins.conftest import Office, browser_of, log_in

SCREENS = console.screens()
CLOSED = [screen for screen in SCREENS if not screen.is_open]
PARAMETER = re.compile(r"\{[^}]*\}")


def path_of(screen: Screen) -> str:
    return PARAMETER.sub("0" * 22, screen.path)


def test_each_address_once() -> None:
    assert len({(screen.method, screen.path) for screen in SCREENS}) == len(SCREENS)


async def test_anonymous(office: Office) -> None:
    async with browser_of(office.pool) as client:
        for screen in CLOSED:
            response = await client.request(screen.method, path_of(screen))
            is_kept = (
                screen.method == "POST" and response.status_code == 401
            )  # a form, on a page that leads to the login
            assert is_kept or response.status_code == 303, screen.path
            led = html.unescape(response.text) if is_kept else f'href="{response.headers["location"]}"'
            assert 'href="/console/login' in led, screen.path


async def test_no_such_page(office: Office) -> None:
    """It is the console's own, with its navigation; who is not logged in learns nothing."""
    async with browser_of(office.pool) as client:
        asked = await client.get("/console/no/such-page")
        assert "/console/login?next=%2Fconsole%2Fno%2Fsuch-page" == asked.headers["location"]
        await log_in(client)
        for path in ("/console/no/such-page", "/console/logout"):  # which takes a form
            page = await client.get(path)
            assert (404, True) == (page.status_code, "There is no such page." in page.text), path
            assert 'href="/console/responses"' in html.unescape(page.text)


async def test_forms_of_other_sites(office: Office) -> None:
    async with browser_of(office.pool) as client:
        await log_in(client)
        for screen in SCREENS:
            if screen.method == "POST":
                headers = {"Sec-Fetch-Site": "cross-site"}
                response = await client.post(path_of(screen), data={"a": "b"}, headers=headers)
                assert 403 == response.status_code, screen.path


@pytest.mark.parametrize("role", ROLE_SCOPES)
async def test_roles(office: Office, role: str) -> None:
    """A screen whose scope the role lacks is refused before anything else is asked or read."""
    await office.add_user("ben@kalamata.example", role=role)
    async with browser_of(office.pool) as client:
        await log_in(client, email="ben@kalamata.example")
        for screen in CLOSED:
            if screen.path in {"/console/logout", "/console/settings/sessions/end"}:
                continue
            response = await client.request(screen.method, path_of(screen))
            is_refused = 403 == response.status_code and "insufficient" not in response.text
            lacks = screen.scope is not None and screen.scope not in ROLE_SCOPES[role]
            assert lacks == is_refused or (not lacks and response.status_code in {403, 404, 422}), screen.path
            assert response.status_code < 500, screen.path


async def test_headers(office: Office) -> None:
    async with browser_of(office.pool) as client:
        await log_in(client)
        for screen in SCREENS:
            if screen.method == "GET":
                response = await client.get(path_of(screen))
                if response.status_code == 303 or not response.headers["content-type"].startswith("text/html"):
                    continue
                policy = response.headers["content-security-policy"]
                assert "script-src 'self'" in policy, screen.path
                assert "require-trusted-types-for 'script'" in policy, screen.path
                assert "same-origin" == response.headers["cross-origin-opener-policy"], screen.path
                assert response.headers["cache-control"] in {"private, no-cache", "no-store"}, screen.path
                assert " style=" not in response.text, screen.path

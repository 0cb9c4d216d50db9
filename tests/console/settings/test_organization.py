"""Settings of the organization and its applications: kept as typed, refused at their field, nobody is overwritten."""

import html
import re

from tests.console.sending.test_pipelines import version_of
from tests.logins.conftest import EMAIL, Office, browser_of, log_in

ORGANIZATION = "/console/settings/organization"
APPLICATIONS = "/console/settings/applications"
FORM = {"display_name": "Kalamata <b>", "legal_name": "", "postal_address": "Main Street 1\nKalamata",
        "default_locale": "el", "locales": ["el", "en"], "time_zone": "Europe/Athens", "minimum_base": "7",
        "first_weekday": "7"}  # fmt: skip
SHOP = {"display_name": "Second shop", "description": "", "time_zone": "", "default_locale": "",
        "website_urls": "https://shop.example", "active": "1"}  # fmt: skip


async def test_organization(office: Office) -> None:
    async with browser_of(office.pool) as browser:
        await log_in(browser)
        form = {**FORM, "version": version_of(await browser.get(ORGANIZATION))}
        for name, value in (
            ("display_name", ""),
            ("default_locale", "xx-"),
            ("time_zone", "Moon"),
            ("minimum_base", "0"),
        ):
            wrong = await browser.post(ORGANIZATION, data={**form, name: value})
            assert 422 == wrong.status_code, name
            assert f'href="#{name}"' in wrong.text
        assert 303 == (await browser.post(ORGANIZATION, data=form)).status_code
        page = await browser.get(ORGANIZATION)
        assert "Kalamata &lt;b&gt;" in page.text
        assert "Main Street 1" in page.text
        assert ["en", "el"] == re.findall(r'name="locales" value="(\w+)" checked', page.text)
        assert '<option value="el" selected>Greek</option>' in page.text
        stale = await browser.post(ORGANIZATION, data={**form, "minimum_base": "9"})
        assert 412 == stale.status_code
        assert "<dd>7</dd>" in stale.text


async def test_applications(office: Office) -> None:
    async with browser_of(office.pool) as browser:
        await log_in(browser, email=EMAIL)
        wrong = await browser.post(f"{APPLICATIONS}/new", data={**SHOP, "website_urls": "shop"})
        assert 422 == wrong.status_code
        assert 'href="#website_urls"' in wrong.text
        assert 'value="Second shop"' in wrong.text
        assert 303 == (await browser.post(f"{APPLICATIONS}/new", data=SHOP)).status_code
        page = html.unescape((await browser.get(APPLICATIONS)).text)
        match = re.search(rf'href="({APPLICATIONS}/\w{{22}})"><strong>Second shop', page)
        assert match is not None
        path = match[1]
        version = version_of(await browser.get(path))
        saved = await browser.post(path, data={**SHOP, "active": "", "version": version})
        assert 303 == saved.status_code
        assert ">off<" in (await browser.get(APPLICATIONS)).text
        assert 412 == (await browser.post(path, data={**SHOP, "version": version})).status_code
        assert 200 == (await browser.get(f"{path}/removal")).status_code
        assert 303 == (await browser.post(f"{path}/removal")).status_code
        assert 404 == (await browser.get(path)).status_code

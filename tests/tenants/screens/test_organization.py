"""Settings of the organization and its applications: kept as typed, refused at their field, nobody is overwritten."""

import re
from html import unescape

from afterword.console import settings
from afterword.kit import db
from tests.making import make_application
from tests.sending.screens.test_pipelines import version_of
from tests.tenants.logins.conftest import EMAIL, Browser, Office, browser_of, log_in

ORGANIZATION = "/console/settings/organization"
APPLICATIONS = "/console/settings/applications"
FORM = {"display_name": "Kalamata <b>", "legal_name": "", "postal_address": "Main Street 1\nKalamata",
        "default_locale": "el", "locales": ["el", "en"], "time_zone": "Europe/Athens", "minimum_base": "7",
        "first_weekday": "7", "click_answers": "1", "accepts_provisional": ""}  # fmt: skip
SHOP = {"display_name": "Second shop", "description": "", "time_zone": "", "default_locale": "",
        "website_urls": "https://shop.example", "active": "1"}  # fmt: skip
WRONG = (("display_name", ""), ("website_urls", "shop"), ("time_zone", "Moon"))


async def test_organization(browser: Browser) -> None:
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
    for name, state in (("click_answers", " checked"), ("accepts_provisional", "")):
        assert re.search(rf' id="{name}" name="{name}" value="1"{state} ', page.text), name
    assert "It counts after 10 minutes, unless other scores of the mail were opened too" in page.text
    stale = await browser.post(ORGANIZATION, data={**form, "minimum_base": "9"})
    assert 412 == stale.status_code
    assert "<dd>7</dd>" in stale.text


async def test_application_that_is_off(office: Office) -> None:
    async with browser_of(office.pool) as browser:
        await log_in(browser, email=EMAIL)
        assert 303 == (await browser.post(f"{APPLICATIONS}/new", data={**SHOP, "active": ""})).status_code
        assert ">off<" in (await browser.get(APPLICATIONS)).text


async def test_application_that_owns_something(office: Office) -> None:
    """The page counts and links the things that refuse the removal, a status too, and has no button then."""
    async with browser_of(office.pool) as browser:
        await log_in(browser, email=EMAIL)
        made = await make_application(office.pool, office.organization_id, "Second shop")
        path = f"{APPLICATIONS}/{made}/removal"
        assert ">Remove the application</button>" in (await browser.get(path)).text
        async with db.transaction(office.pool) as database:
            await database.execute(
                """insert into alert_status (organization_id, status_id, application_id, title, color, created_time,
                     updated_time)
                   values ($1, 100, $2, 'Parked', '#005d69', now(), now())""",
                *(office.organization_id, made),
            )
        page = unescape((await browser.get(path)).text)
        assert ("cannot be removed" in page, ">Remove the application</button>" in page) == (True, False)
        assert '<a href="/console/settings/statuses">Statuses of cases</a>: 1<' in page
        refused = await browser.post(path)
        assert (409, True) == (refused.status_code, "Something still belongs to the application." in refused.text)


async def test_pages_of_the_settings(browser: Browser) -> None:
    """Each has the name that the list of the settings gives it, below the way back."""
    for page in (each for _, pages in settings.GROUPS for each in pages):
        back, name = re.findall(
            r'<p class="back"><a[^>]*>(.*?)</a></p>|<h1>(.*?)</h1>', (await browser.get(page.path)).text
        )
        assert (True, page.title) == (bool(back[0]), unescape(name[1])), page.path

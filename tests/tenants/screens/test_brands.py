"""Brands in the console: inherited, looked at before they are saved, with findings in words, refused at their field."""

import html
import re
from typing import Any

from afterword.kit import db
from tests.contract.world import PIXEL
from tests.sending.screens.test_pipelines import version_of
from tests.tenants.logins.conftest import Browser, Office, browser_of, found

BRAND = "/console/settings/brand"
FORM: dict[str, Any] = {"color_primary": "#ffdd00", "font": "mono", "corner_radius": "4", "density": "", "logo": ""}


async def test_brands(office: Office, browser: Browser) -> None:
    own = f"{BRAND}/{office.application_id}"
    version = version_of(await browser.get(BRAND))
    # Refused at the field, with what was typed and a colour that can be read.
    pale = {**FORM, "color_background": "#ffffff", "color_text": "#cccccc", "version": version}
    wrong = await browser.post(BRAND, data=pale)
    text = html.unescape(wrong.text)
    assert 422 == wrong.status_code
    assert 'href="#color_text"' in text
    assert 'value="#cccccc"' in text
    assert "4.5\u2069 to 1 is needed" in text
    take = re.search(rf'href="({BRAND}\?[^"]*color_text=[^"]*)"', text)
    assert take is not None
    assert "which can be read" in (await browser.get(take[1])).text
    for name, value in (
        ("corner_radius", "99"),
        ("font", "comic"),
        ("logo", f"/asset/{'0' * 22}/{'0' * 10}-1x1.png"),
    ):
        refused = await browser.post(BRAND, data={**FORM, name: value, "version": version})
        assert 422 == refused.status_code, name
    # Stored, inherited by the application, and taken back.
    assert 303 == (await browser.post(BRAND, data={**FORM, "version": version})).status_code
    assert 412 == (await browser.post(BRAND, data={**FORM, "font": "serif", "version": version})).status_code
    page = html.unescape((await browser.get(own)).text)
    assert 'value="#ffdd00"' in page
    assert "From the organization" in page
    assert "As the organization (\u2068Typewriter\u2069)" in page
    first = {
        **FORM,
        "color_primary": "#FFDD00",
        "font": "serif",
        "corner_radius": "",
        "version": version_of(await browser.get(own)),
    }
    assert 303 == (await browser.post(own, data=first)).status_code
    assert "Differs from the organization" in (await browser.get(BRAND)).text
    again = {**FORM, "inherit": "color_primary", "version": version_of(await browser.get(BRAND))}
    assert 303 == (await browser.post(BRAND, data=again)).status_code
    async with db.connection(office.pool) as database:
        brands = await database.fetch_one(
            """select (select brand from application where application_id = $1) as application,
                 (select brand from organization where organization_id = $2) as organization""",
            office.application_id,
            office.organization_id,
        )
    assert {"font": "serif"} == brands["application"], "the inherited colour is not set"
    assert {"font": "mono", "corner_radius": 4} == brands["organization"]


async def test_at_the_login(office: Office, browser: Browser) -> None:
    """The logo of the only organization stands over the form; one of several is nobody's."""
    async with browser_of(office.pool) as guest:
        assert '<p class="brand">Afterword</p>' in (await guest.get("/console/login")).text
        version = version_of(await browser.get(BRAND))
        saved = await browser.post(BRAND, data={**FORM, "version": version}, files={"file": ("a.png", PIXEL)})
        assert 303 == saved.status_code
        logo = re.compile(r'<p class="brand"><img src="(/asset/[^"]+)" class="logo" alt="Kalamata Books"></p>')
        for page in (
            await guest.get("/console/login"),
            await guest.post("/console/login", data={"email": "a@b.example", "password": "x"}),
        ):
            shown = logo.search(html.unescape(page.text))
            assert shown is not None
            assert 200 == (await guest.get(shown[1])).status_code
        await found(office.pool, domain="other", email="o@other.example")
        assert '<p class="brand">Afterword</p>' in (await guest.get("/console/login")).text


async def test_shown_before_it_is_saved(browser: Browser) -> None:
    """The page and the mail have the new look, and nothing of it is stored."""
    assert "A preview needs a questionnaire" in (await browser.get(BRAND)).text
    await browser.post("/console/welcome/questionnaire", data={"name": "support_case", "color": "#005d69"})
    version = version_of(await browser.get(BRAND))
    seen = await browser.post(
        BRAND, data={**FORM, "go": "show", "look": "desktop", "shade": "dark"}, files={"file": ("a.png", PIXEL)}
    )
    assert 303 == seen.status_code
    page = html.unescape((await browser.get(seen.headers["location"])).text)
    assert "Pages show" in page
    assert "Unsaved preview" in page
    assert 'class="framed desktop dark"' in page
    frames = re.findall(r'<iframe src="[^"]*?(/preview/[^"]+)"', page)
    answer, mail = [(await browser.get(frame)).text.replace("&#x2f;", "/") for frame in frames]
    assert "/theme/pffdd00fmonor4dark.css" in answer
    assert re.search(r'<img class="logo" src="/asset/\w{22}/', answer)
    assert "/asset/" in mail
    assert "#ffdd00" in mail
    stored = version_of(await browser.get(BRAND))
    assert version == stored, "looking at it changes nothing"

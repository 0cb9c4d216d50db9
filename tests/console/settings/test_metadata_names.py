"""Names of metadata in the console: declared for all or one application, retitled, removed."""

import html
import re

from tests.console.sending.test_pipelines import version_of
from tests.logins.conftest import Office, browser_of, found, log_in

METADATA = "/console/settings/metadata"


async def test_names(office: Office) -> None:
    form = {"kind": "responder", "name": "segment", "type": "text", "level": "application", "title": "Segment",
            "application_id": office.application_id, "anonymize": "1"}  # fmt: skip
    await office.add_user("ben@kalamata.example")
    await found(office.pool, domain="patras", email="pan@patras.example")
    async with browser_of(office.pool) as browser, browser_of(office.pool) as other:
        await log_in(other, email="ben@kalamata.example")
        assert 403 == (await other.post(f"{METADATA}/new", data=form)).status_code
        await log_in(other, email="pan@patras.example")
        await log_in(browser)
        for name, value in (("name", "no name"), ("title", ""), ("type", "colour"), ("application_id", "")):
            wrong = await browser.post(f"{METADATA}/new", data={**form, name: value})
            assert 422 == wrong.status_code, name
            assert f'href="#{name}"' in wrong.text
        assert 303 == (await browser.post(f"{METADATA}/new", data=form)).status_code
        taken = await browser.post(f"{METADATA}/new", data=form)
        assert 422 == taken.status_code
        assert 'href="#name"' in taken.text
        page = html.unescape((await browser.get(f"{METADATA}?kind=responder")).text)
        match = re.search(rf'href="({METADATA}/responder/\w{{22}})"><strong>segment', page)
        assert match is not None
        path = match[1]
        assert "segment" not in (await browser.get(METADATA)).text
        for below in ("", "/removal"):
            assert 404 == (await other.get(path + below)).status_code
            assert 404 == (await other.post(path + below, data={"title": "T", "version": "1"})).status_code
        version = version_of(await browser.get(path))
        saved = await browser.post(path, data={"title": "Customer segment", "anonymize": "", "version": version})
        assert 303 == saved.status_code
        assert 412 == (await browser.post(path, data={"title": "T", "version": version})).status_code
        assert "Customer segment" in (await browser.get(f"{METADATA}?kind=responder")).text
        product = re.search(r"<strong>email</strong>", (await browser.get(f"{METADATA}?kind=responder")).text)
        assert product is not None
        assert "stay" in (await browser.get(f"{path}/removal")).text
        assert 303 == (await browser.post(f"{path}/removal")).status_code
        assert 404 == (await browser.get(path)).status_code

"""Names of metadata in the console: declared for all or one application, retitled, removed."""

import html
import re

from tests.sending.queue.conftest import (
    Client,
    http as http,  # noqa: PLC0414  a fixture
    queue as queue,  # noqa: PLC0414  a fixture
)
from tests.sending.screens.conftest import (
    client as client,  # noqa: PLC0414  a fixture
    plain,
)
from tests.sending.screens.test_pipelines import version_of
from tests.tenants.logins.conftest import Office, browser_of, log_in

METADATA = "/console/settings/metadata"


async def test_seen(client: Client) -> None:
    """A name that arrives and nobody declared leads to its declaration; values stand beside the names."""
    made = [
        await client.send(
            "POST",
            f"/q/questionnaire/{client.queue.house.questionnaire_id}/instance",
            {"metadata": {"questionnaire": {"branch": branch, "gift": "yes"}}},
        )
        for branch in ("Old Town", "Harbour", "Old Town")
    ]
    assert [201] * 3 == [one.status_code for one in made]
    async with browser_of(client.queue.pool) as browser:
        await log_in(browser)
        page = await browser.get(METADATA)
        assert "In 3 of the last 1,000. Old Town: 2; Harbour: 1" in plain(page.text)
        address = re.search(rf'href="({METADATA}/new\?kind=questionnaire&name=branch)"', html.unescape(page.text))
        assert address is not None
        assert 'value="branch"' in (await browser.get(address[1])).text
        form = {"kind": "questionnaire", "name": "branch", "type": "text", "level": "organization", "title": "Branch"}
        assert 303 == (await browser.post(f"{METADATA}/new", data=form)).status_code
        page = await browser.get(METADATA)
        assert "name=gift" in page.text
        assert "name=branch" not in page.text
        assert "Old Town: 2; Harbour: 1" in plain(page.text)


async def test_names(office: Office) -> None:
    form = {"kind": "responder", "name": "segment", "type": "text", "level": "application", "title": "Segment",
            "application_id": office.application_id, "anonymize": "1"}  # fmt: skip
    async with browser_of(office.pool) as browser:
        await log_in(browser)
        for kind in ("responder", "questionnaire"):  # what a person is called by is personal, unless somebody says no
            blank = (await browser.get(f"{METADATA}/new?kind={kind}")).text
            assert (kind == "responder") == bool(re.search(r'name="anonymize" value="1" checked', blank))
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

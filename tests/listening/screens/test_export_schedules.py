"""Exports on a timetable in the console: a form for each destination, the page with its runs, the key of a server."""

import html
import re
from collections.abc import Mapping

import pytest

from afterword.kit.transport.stores import fingerprint_of
from afterword.listening.exports import schedules
from afterword.listening.exports.schedules import ExportCheck
from tests.sending.screens.test_pipelines import version_of
from tests.tenants.logins.conftest import PASSWORD, Browser

EXPORTS = "/console/settings/exports"
FORM = {
    "title": "Warehouse <b>", "destination": "s3", "endpoint": "https://93.184.215.14", "bucket": "answers",
    "region": "eu-central-1", "path": "afterword/delivery", "access_key": "AKIAEXAMPLE", "secret": "a secret key",
    "format": "csv", "every": "daily", "day": "1", "hour": "3", "include_metadata": "1", "active": "1",
}  # fmt: skip
SFTP = {
    "title": "Files", "destination": "sftp", "host": "93.184.215.14", "path": "/upload", "username": "ann",
    "secret": "a password", "format": "csv", "every": "hourly", "day": "1", "hour": "3", "active": "1",
}  # fmt: skip
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHzXF6zzOQbQZKz1cBqD3v0lG0gE0wJ3m5mB1mGJ9mQy"
WRONG = (("title", ""), ("endpoint", "http://127.0.0.1/"), ("path", "../other"), ("hour", "25"), ("secret", ""))


async def form_of(browser: Browser, form: Mapping[str, str] = FORM) -> dict[str, str]:
    """With the first questionnaire that the form offers."""
    page = (await browser.get(f"{EXPORTS}/new?destination={form['destination']}")).text
    match = re.search(r'name="questionnaire_id".*?<option value="(\w+)"', page, re.DOTALL)
    assert match is not None, page
    return {**form, "questionnaire_id": match[1]}


async def page_of(browser: Browser, form: Mapping[str, str]) -> str:
    """The address of a new one."""
    made = await browser.post(f"{EXPORTS}/new", data=await form_of(browser, form))
    assert 303 == made.status_code, made.text
    return made.headers["location"].partition("?")[0]


@pytest.fixture
async def proven(browser: Browser) -> Browser:
    await browser.post("/console/proof", data={"password": PASSWORD, "next": EXPORTS})
    return browser


class TestNew:
    async def test_destinations(self, proven: Browser) -> None:
        """Those that the installation has: it has no folder here."""
        page = (await proven.get(f"{EXPORTS}/new")).text
        assert ["s3", "sftp"] == re.findall(r"destination=(\w+)", page)
        assert 'name="endpoint"' not in (await proven.get(f"{EXPORTS}/new?destination=folder")).text
        page = (await proven.get(f"{EXPORTS}/new?destination=s3")).text
        assert 'name="endpoint"' in page
        assert 'name="host"' not in page

    async def test_none_may_be_left_out(self, proven: Browser) -> None:
        wrong = await proven.post(f"{EXPORTS}/new", data={"destination": "elsewhere", "title": "A"})
        assert "Where do the files go?" in wrong.text


class TestPage:
    async def test_ok(self, proven: Browser) -> None:
        path = await page_of(proven, FORM)
        page = html.unescape((await proven.get(path)).text)
        assert "https://93.184.215.14/answers/afterword/delivery" in page
        assert "a secret key" not in page
        assert "No run yet." in page
        assert f"{path}?done=started" == (await proven.post(f"{path}/run")).headers["location"]
        again = await proven.post(f"{path}/run")
        assert (409, True) == (again.status_code, "A run of this export is under way." in again.text)
        assert ">Waiting<" in again.text

    async def test_an_empty_secret_stays(self, proven: Browser) -> None:
        path = await page_of(proven, FORM)
        version = version_of(await proven.get(f"{path}/edit"))
        changed = {**FORM, "secret": "", "title": "Another", "version": version}
        assert 303 == (await proven.post(f"{path}/edit", data=changed)).status_code
        version = version_of(await proven.get(f"{path}/edit"))
        moved = {**changed, "endpoint": "https://93.184.215.15", "version": version}
        wrong = await proven.post(f"{path}/edit", data=moved)
        assert (422, True) == (wrong.status_code, 'href="#secret"' in wrong.text)


class TestCheck:
    async def test_host_key(self, proven: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
        """The key of the server is shown, and confirmed by a button."""

        async def shown(*_: object, **__: object) -> ExportCheck:
            return ExportCheck(problem="unknown_host_key", reply=None, host_key=KEY, fingerprint=fingerprint_of(KEY))

        monkeypatch.setattr(schedules, "check", shown)
        path = await page_of(proven, SFTP)
        assert "Check the destination first." in (await proven.get(path)).text
        page = html.unescape((await proven.post(f"{path}/check")).text)
        assert fingerprint_of(KEY) in page
        assert KEY in page
        done = await proven.post(f"{path}/host-key", data={"host_key": KEY})
        assert f"{path}?done=host_key" == done.headers["location"]
        page = html.unescape((await proven.get(path)).text)
        assert fingerprint_of(KEY) in page

    async def test_no_problem(self, proven: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
        async def good(*_: object, **__: object) -> ExportCheck:
            return ExportCheck(problem=None, reply=None, host_key=None, fingerprint=None)

        monkeypatch.setattr(schedules, "check", good)
        path = await page_of(proven, FORM)
        assert "The destination works." in (await proven.post(f"{path}/check")).text

"""Settings of cases in the console: typed, refused with what was typed, saved."""

import re

import httpx2

from tests.console.conftest import office as office  # noqa: PLC0414  a fixture
from tests.tenants.logins.conftest import Office

PATH = "/console/settings/cases"
FORM = {
    "weekday": ["1", "2"],
    "start_time": "09:00",
    "end_time": "17:00",
    "causes": "Late\r\nBroken <b>\r\n\r\nLate",
    "remedies": "",
    "text_title": ["Sorry", ""],
    "text_body": ["Dear {customer_name}", ""],
}


async def test_saved(office: Office, owner: httpx2.AsyncClient) -> None:
    form = {**FORM, "version": version_of((await owner.get(PATH)).text)}
    for wrong in ({"weekday": []}, {"start_time": "9"}, {"end_time": ""}, {"text_body": ["", ""]}):
        response = await owner.post(PATH, data={**form, **wrong})
        assert 422 == response.status_code, wrong
        assert "Broken &lt;b&gt;" in response.text
    assert 303 == (await owner.post(PATH, data=form)).status_code
    page = (await owner.get(PATH)).text
    assert "Late\nBroken &lt;b&gt;</textarea>" in page
    assert 2 == page.count("checked")
    assert "Dear {customer_name}" in page
    assert 412 == (await owner.post(PATH, data={**form, "causes": "Mine"})).status_code


def version_of(page: str) -> str:
    found = re.search(r'name="version" value="(\d+)"', page)
    assert found is not None
    return found[1]

"""The way back from an act: offered on the page that says it was done, and on no other."""

import base64
import html
import re

import msgspec
import pytest

from afterword.console.screens import UNDO_COOKIE, Undo
from tests.tenants.logins.conftest import Browser

RESPONSES = "/console/responses"
SAID = f"{RESPONSES}?done=view_removed"


def undo_of(page: str) -> Undo:
    """The form behind the button."""
    found = re.search(r'<div class="toast">.*?</form>', page, re.DOTALL)
    assert found is not None, "there is no way back"
    action = re.search(r'action="([^"]*)"', found[0])
    assert action is not None
    fields = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)">', found[0])
    return Undo(html.unescape(action[1]), {name: html.unescape(value) for name, value in fields} | {"undo": "1"})


def sealed(**changes: object) -> str:
    undo = {"action": f"{RESPONSES}/views", "fields": {}, "page": RESPONSES, "done": "view_removed", **changes}
    return base64.urlsafe_b64encode(msgspec.json.encode(undo)).decode()


@pytest.mark.parametrize(
    "value",
    [
        "",
        "%%%",
        base64.urlsafe_b64encode(b"{}").decode(),
        sealed(more=1),
        sealed(fields={"version": 1}),
        sealed(action="https://evil.example/"),
        sealed(action="/p/elsewhere"),
        sealed(page="/console/cases"),
        sealed(done="saved"),
        sealed()[:20],
    ],
)
async def test_no_way_back(browser: Browser, value: str) -> None:
    browser.cookies.set(UNDO_COOKIE, value)
    page = await browser.get(SAID)
    assert (200, True, False) == (page.status_code, "The view is removed." in page.text, 'name="undo"' in page.text)


async def test_way_back(browser: Browser) -> None:
    browser.cookies.set(UNDO_COOKIE, sealed(fields={"title": "<b>"}))
    undo = undo_of((await browser.get(SAID)).text)
    assert (f"{RESPONSES}/views", {"title": "<b>", "undo": "1"}) == (undo.action, undo.fields)
    assert 'name="undo"' not in (await browser.get(RESPONSES)).text

"""The list of notifications in the console: one's own, with the pages of cases, marked as read."""

import html
import re

from afterword.cases.screens.notifications import NOTICES, NOTIFICATIONS
from tests.cases.conftest import Desk
from tests.cases.screens.test_cases import CASE
from tests.cases.screens.test_notifications import form_of
from tests.tenants.logins.conftest import browser_of, log_in

UNREAD = re.compile(r'<input type="hidden" name="id" value="(\w{22})">')


async def test_list(office: Desk) -> None:
    """The list has notices of followed things, for nobody else, and keeps them unread until they are marked."""
    async with browser_of(office.pool) as owner, browser_of(office.pool) as ben:
        await log_in(owner)
        await log_in(ben, email="ben@demo.example")
        form = form_of((await ben.get(NOTIFICATIONS)).text)
        form["watch"] = [f"organization/{office.house.organization_id}"]
        assert 303 == (await ben.post(NOTIFICATIONS, data=form)).status_code
        await office.notify_all()
        page = (await ben.get(NOTICES)).text
        unread = UNREAD.findall(page)
        assert 2 == len(unread) == len({*CASE.findall(html.unescape(page))})
        assert "New alert: Unhappy &lt;b&gt;" in page
        assert "No notifications" in (await owner.get(NOTICES)).text
        assert 303 == (await owner.post(f"{NOTICES}/read", data={"id": unread})).status_code
        assert unread == UNREAD.findall((await ben.get(NOTICES)).text)
        read = await ben.post(f"{NOTICES}/read", data={"id": ["0" * 22, unread[0]]})
        assert f"{NOTICES}?done=notices_read" == read.headers["location"]
        assert unread[1:] == UNREAD.findall((await ben.get(NOTICES)).text)

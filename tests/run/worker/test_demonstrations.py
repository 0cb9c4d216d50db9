"""The made-up shop that all may look at: made once, open to look only, without a word of one visitor to another."""

import asyncio
import html
import re
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace
from typing import Any, LiteralString

import pytest

from afterword.kit import db
from afterword.run.demonstration import service
from afterword.run.worker.messages import Notices
from afterword.sending.channels.email import EmailChannel
from tests.sending.channels.sink import Sink
from tests.tenants.logins.conftest import EMAIL, SITE, Browser, browser_of, found, log_in

DEMO = "/console/demonstration"
OTHER = "pan@patras.example"
PAGES_MAX = 150


@dataclass
class Two:
    """Two organizations of an installation, each with its owner in a browser."""

    pool: db.Pool
    database_url: str
    olga: Browser
    pan: Browser

    async def make(self) -> bool:
        return await service.make_next(self.pool, database_url=self.database_url, secret=SITE.secret)

    async def value(self, query: LiteralString, *values: object) -> Any:
        async with db.connection(self.pool) as database:
            return await database.fetch_value(query, *values)

    async def shops(self) -> int:
        return await self.value("select count(*) from organization where demonstration_time is not null")


@pytest.fixture
async def two(pool: db.Pool, database_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Two]:
    monkeypatch.setattr(service, "MESSAGES_A_DAY", service.MESSAGES_A_DAY // 4)
    await found(pool)
    await found(pool, domain="patras", email=OTHER)
    async with AsyncExitStack() as stack:
        olga, pan = [await stack.enter_async_context(browser_of(pool)) for _ in range(2)]
        await log_in(olga)
        await log_in(pan, email=OTHER)
        yield Two(pool, database_url, olga, pan)


@pytest.fixture
async def inside(two: Two) -> Two:
    """Both of them look at the shop."""
    await two.olga.post(DEMO)
    await two.make()
    for browser in (two.olga, two.pan):
        assert "/console?period=90" == (await browser.post(DEMO)).headers["location"]
    return two


class TestRefusals:
    async def test_nobody_is_logged_in(self, two: Two) -> None:
        async with browser_of(two.pool) as stranger:
            assert "/console/login" == (await stranger.post(DEMO)).headers["location"]

    async def test_switched_off(self, two: Two) -> None:
        async with browser_of(two.pool, site=replace(SITE, has_demonstration=False)) as browser:
            await log_in(browser)
            assert DEMO not in (await browser.get("/console")).text
            assert [404, 404] == [(await browser.get(DEMO)).status_code, (await browser.post(DEMO)).status_code]
        assert 0 == await two.value("select count(*) from demonstration")

    async def test_unasked(self, two: Two) -> None:
        page = await two.olga.get(DEMO)
        assert "It is made when somebody asks for it." in page.text
        assert "refresh" not in page.headers
        assert not await two.make()
        assert 0 == await two.shops()


class TestMake:
    async def test_once_however_many_ask_and_work(self, two: Two) -> None:
        assert f'action="{DEMO}"' in html.unescape((await two.olga.get("/console")).text)
        for browser in (two.olga, two.pan):
            assert DEMO == (await browser.post(DEMO)).headers["location"]
        page = await two.pan.get(DEMO)
        assert "This takes about a minute." in page.text
        assert page.headers["refresh"]
        await asyncio.gather(two.make(), two.make())
        assert 1 == await two.shops()
        await two.make()
        assert 1 == await two.shops()
        page = await two.pan.get(DEMO)
        assert "The shop is ready." in page.text
        assert "refresh" not in page.headers

    async def test_killed_half_way(self, two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
        await two.olga.post(DEMO)
        begun, never = asyncio.Event(), asyncio.Event()

        async def hang(*_: object) -> None:
            begun.set()
            await never.wait()

        with monkeypatch.context() as patch:
            patch.setattr(service, "_settle_statistics", hang)
            working = asyncio.create_task(two.make())
            await begun.wait()
            working.cancel()
            with suppress(asyncio.CancelledError):
                await working
        assert 0 == await two.shops()
        await two.make()
        assert 1 == await two.value("select count(*) from organization where domain like 'demo-%'")

    async def test_fails(self, two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
        await two.olga.post(DEMO)

        async def fail(*_: object) -> None:
            raise RuntimeError("a bug")

        monkeypatch.setattr(service, "_settle_statistics", fail)
        with pytest.raises(RuntimeError, match="a bug"):
            await two.make()
        assert 0 == await two.shops()
        assert "It is made when somebody asks for it." in (await two.olga.get(DEMO)).text


class TestVisit:
    async def test_looks_only_and_comes_back(self, inside: Two) -> None:
        browser = inside.olga
        overview = html.unescape((await browser.get("/console?period=90")).text)
        assert "Demo Shop" in overview
        assert "NPS" in overview
        assert "The newest are of" in overview
        assert f'action="{DEMO}"' not in overview
        for path in (DEMO, "/console/settings/account", "/console/proof", "/console/settings/sessions/end"):
            refused = await browser.post(path, data={"display_name": "Olga"})
            assert 403 == refused.status_code, path
            assert "change nothing" in refused.text
        assert [404, 404] == [(await browser.get(one)).status_code for one in (DEMO, "/console/parts")]
        assert 403 == (await browser.get("/console/settings/people")).status_code
        left = await browser.post("/console/switch", data={"user": home_of(overview)})
        assert "/console" == left.headers["location"]
        back = (await browser.get("/console")).text
        assert "Kalamata Books" in back
        assert "Leave the demo" not in back

    async def test_leaves_for_no_other_user(self, inside: Two) -> None:
        home = home_of((await inside.pan.get("/console")).text)
        assert 404 == (await inside.olga.post("/console/switch", data={"user": home})).status_code
        assert 303 == (await inside.pan.post("/console/switch", data={"user": home})).status_code
        assert "Patras Books" in (await inside.pan.get("/console")).text
        assert 1 == await inside.value("select count(*) from login_session where home_user_id is not null")
        assert 303 == (await inside.pan.post("/console/settings/account", data={"display_name": "Pan"})).status_code

    async def test_goes_back_to_a_user_of_an_identity_provider(self, inside: Two) -> None:
        """The login reaches that user in no other way."""
        home = home_of((await inside.pan.get("/console")).text)
        async with db.transaction(inside.pool) as database:
            await database.execute("update organization_user set login_id = null where email = $1", OTHER)
        assert 303 == (await inside.pan.post("/console/switch", data={"user": home})).status_code
        assert 404 == (await inside.olga.post("/console/switch", data={"user": home})).status_code

    async def test_removed_at_home(self, inside: Two) -> None:
        home = home_of((await inside.olga.get("/console")).text)
        async with db.transaction(inside.pool) as database:
            await database.execute("update organization_user set active = false where email = $1", EMAIL)
        assert 404 == (await inside.olga.post("/console/switch", data={"user": home})).status_code

    async def test_takes_no_answer(self, inside: Two) -> None:
        instance_id = await inside.value(
            """select instance_id from questionnaire_instance where submitted_time is null
               order by sent_time desc limit 1"""
        )
        page = await inside.olga.get(f"/a/{instance_id}")
        assert "<form" not in page.text, page.text

    async def test_no_page_names_the_other_visitor(self, inside: Two) -> None:
        """Nor the own address, but where somebody's own account is shown: the shop has no row of theirs."""
        seen = await tour(inside.olga)
        assert len(seen) > 30, sorted(seen)
        for path, text in seen.items():
            assert OTHER not in text, path
            assert EMAIL not in text or path.startswith("/console/settings/account"), path
        assert 3 == await inside.value(
            """select count(*) from organization_user join demonstration using (organization_id)
               where email like '%@demo.example'"""
        )

    async def test_no_item_waits(self, inside: Two) -> None:
        assert 0 == await inside.value(
            """select count(*) from queue_item join demonstration using (organization_id)
               where dispatched_time is null and reason is null"""
        )

    async def test_no_mail_leaves(self, inside: Two) -> None:
        async with db.transaction(inside.pool) as database:
            await database.execute(
                """insert into notice_mail (organization_id, mail_id, user_id, due_time, created_time)
                   select organization_id, user_id, user_id, now() - interval '1 hour', now() from organization_user"""
            )
            await database.execute(
                """insert into notification (organization_id, notification_id, user_id, event_id, type, title, body,
                     mail_id)
                   select organization_id, user_id, user_id, user_id, 'alert', 'A case', 'Of somebody', user_id
                   from organization_user"""
            )
        async with Sink() as sink:
            channel = EmailChannel(sink.url)
            notices = Notices(pool=inside.pool, site=SITE, channel=channel, mail_from="survey@shop.example")
            await notices.turn()
            await notices.land()
            await channel.close()
        assert [[EMAIL], [OTHER]] == sorted(mail.recipients for mail in sink.mails)
        assert 0 == await inside.value("select count(*) from notice_mail where state in ('waiting', 'claimed')")


def home_of(page: str) -> str:
    """The button “Leave the demo” posts this."""
    [home] = re.findall(r'name="user" value="([^"]+)"', html.unescape(page))
    return home


async def tour(browser: Browser) -> dict[str, str]:
    """One page of each kind that links lead to from the overview, by address."""
    waiting, kinds, seen = ["/console?period=90"], set[str](), dict[str, str]()
    while waiting and len(seen) < PAGES_MAX:
        path = waiting.pop()
        kind = re.sub(r"[0-9A-Za-z]{22}", "*", path.partition("?")[0])
        if kind in kinds:
            continue
        kinds.add(kind)
        page = await browser.get(path)
        assert page.status_code in {200, 303, 403}, (path, page.status_code)
        if page.status_code == 303:
            waiting.append(page.headers["location"])
        elif page.status_code == 200:
            seen[path] = html.unescape(page.text)
            waiting += re.findall(r'href="(/console[^"#]*)', seen[path])
    return seen

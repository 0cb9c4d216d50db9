"""The pages of public links: when they are open, what they store, and who may answer once more."""

import re
import time
from datetime import timedelta
from typing import Any

import httpx2
import pytest

from afterword.core.answers.values import field_name
from afterword.core.wire.site import Site
from afterword.kit import db
from afterword.kit.web.limits import Limits
from afterword.run.app import create_app
from afterword.tenants import mails
from afterword.tenants.mails import compose
from tests.asking.instances.conftest import NPS, PUBLIC_URL, SECRET, SINGLE, Shop
from tests.asking.instances.test_starts import get, post
from tests.asking.links.test_public_links import made
from tests.browser import markup


async def link(shop: Shop, **members: Any) -> tuple[str, str]:
    """The path and the id of a new link."""
    found = await made(shop, **members)
    return found["url"].removeprefix(PUBLIC_URL), found["link_id"]


async def begun(shop: Shop, address: str) -> httpx2.Response:
    return await post(shop, address, **await get(shop, address), **{field_name(NPS): "3", "go": "next"})


async def instances(shop: Shop) -> list[dict[str, Any]]:
    async with db.connection(shop.world.pool) as database:
        rows = await database.fetch(
            """select i.instance_id, i.link_id, i.metadata, i.locale, r.metadata as person, i.responder_id
               from questionnaire_instance i join responder r using (organization_id, responder_id)
               order by i.created_time"""
        )
    return [dict(row) for row in rows]


async def test_no_such_link(shop: Shop) -> None:
    address, _ = await link(shop)
    for wrong in ("/l/abc", "/l/000000000000", f"{address}/ref/1042"):
        assert 404 == (await shop.http.get(wrong)).status_code
    await shop.world.set_questionnaire(public_link=False)  # the switch of the questionnaire's own address
    assert 200 == (await shop.http.get(address)).status_code
    await shop.world.set_questionnaire(published_version_id=None)
    assert 404 == (await shop.http.get(address)).status_code


async def test_not_open(shop: Shop) -> None:
    for status, sentence, members in (
        (200, "2031", {"opens_time": "2031-01-01T09:00:00+02:00"}),
        (410, "closed", {"closes_time": "2026-01-01T09:00:00+02:00"}),
        (410, "closed", {"active": False}),
    ):
        address, _ = await link(shop, **members, locale="en")
        page = await shop.http.get(address)
        assert status == page.status_code
        assert sentence in page.text
        assert status == (await shop.http.post(address, data={field_name(NPS): "3"})).status_code
    assert [] == await instances(shop)


@pytest.mark.parametrize(
    ("accepted", "date"),
    [
        ("en-US,en;q=0.9", "Jan 1, 2031"),
        ("en-GB", "1 Jan 2031"),
        ("de-AT,de;q=0.5", "1 Jan 2031"),
        ("en", "Jan 1, 2031"),
    ],
)
async def test_dates_of_the_region(shop: Shop, accepted: str, date: str) -> None:
    """Dates are written as in the region that the browser names, whatever its language."""
    address, _ = await link(shop, opens_time="2031-01-01T09:00:00+02:00", locale="en")
    page = await shop.http.get(address, headers={"Accept-Language": accepted})
    assert date in page.text, page.text


async def test_stored_with_the_response(shop: Shop) -> None:
    """The first POST makes the instance: the link's own values, and of the address those that the link takes."""
    address, link_id = await link(
        shop, metadata={"store_id": "7", "till": "4"}, parameters=["transaction_id", "email"], locale="en"
    )
    query = "?transaction_id=1042&booking_no=9&store_id=8&responder[email]=ann@example.com&responder[name]=Ann"
    page = await get(shop, f"{address}{query}")
    assert [] == await instances(shop)
    for _ in range(2):  # a form sent twice makes one
        await post(shop, f"{address}{query}", **page, **{field_name(NPS): "3", "go": "next"})
    [found] = await instances(shop)
    assert {"transaction_id": "1042", "store_id": "7", "till": "4"} == found["metadata"]
    assert ({"email": "ann@example.com"}, "en", link_id) == (found["person"], found["locale"], found["link_id"])
    other, _ = await link(shop)
    await begun(shop, other)
    assert 1 == (await shop.get(f"/q/link/{link_id}")).json()["responses_count"]
    refused = await shop.delete(f"/q/link/{link_id}")
    assert (409, "in_use") == (refused.status_code, refused.json()["code"])


async def test_reference(shop: Shop) -> None:
    address, _ = await link(shop, takes_reference=True)
    first = await begun(shop, f"{address}/ref/1042-x7")
    shop.http.cookies = httpx2.Cookies()
    assert 409 == (await shop.http.get(f"{address}/ref/1042-x7")).status_code
    await begun(shop, f"{address}/ref/1043-x7")
    assert 2 == len(await instances(shop))
    assert first.headers["location"].startswith("/a/")


async def test_once_in_a_browser(shop: Shop) -> None:
    """The cookie leads to the response that began; without it anybody can answer again, as the docs say."""
    address, _ = await link(shop, one_response_per="browser")
    open_tab = await get(shop, address)
    first = await begun(shop, address)
    instance_id = first.headers["location"].partition("?")[0].removeprefix("/a/")
    cookie = {"Cookie": first.headers["set-cookie"].partition(";")[0]}
    again = await shop.http.get(address, headers=cookie)
    assert (303, f"/a/{instance_id}") == (again.status_code, again.headers["location"])
    form = {**open_tab, field_name(NPS): "9", "go": "next"}
    late = await shop.http.post(address, data=form, headers=cookie)
    assert f"/a/{instance_id}" == late.headers["location"]
    shop.http.cookies = httpx2.Cookies()
    forged = await shop.http.get(address, headers={"Cookie": f"answered={instance_id}.{'0' * 32}"})
    assert "<form" in forged.text
    assert 1 == len(await instances(shop))
    await begun(shop, address)
    assert 2 == len(await instances(shop))


async def test_responses_max(shop: Shop) -> None:
    address, _ = await link(shop, responses_max=1, locale="en")
    late = await get(shop, address)
    first = await begun(shop, address)
    assert 410 == (await shop.http.get(address)).status_code
    refused = await shop.http.post(address, data={**late, field_name(NPS): "3", "go": "next"})
    assert 410 == refused.status_code
    assert 1 == len(await instances(shop))
    goes_on = first.headers["location"]
    await post(shop, goes_on.partition("?")[0], **await get(shop, goes_on), **{field_name(SINGLE): "1", "go": "send"})


async def held(shop: Shop) -> dict[str, Any]:
    """The newest response that is held back: its signs, and whether it is finished."""
    [one, *_] = (await shop.get("/q/response/doubtful")).json()["results"]
    return {"flags": one["flags"], "link_id": one["link_id"]}


async def test_what_a_machine_may_have_sent(shop: Shop) -> None:
    """A field that people do not see, no time to read, or many from one network keep it apart from the start."""
    address, link_id = await link(shop, locale="en")
    app: Any = create_app(pool=shop.world.pool, site=Site(PUBLIC_URL, SECRET), limits=Limits(link_burst=3))
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url=PUBLIC_URL) as http:
        busy = Shop(shop.world, http, shop.token)

        async def start(*, seconds: float, **fields: str) -> str:
            page = await get(busy, address)
            clock = shop.world.pool.clock
            clock.set(clock.now() + timedelta(seconds=seconds), monotonic=time.monotonic())
            sent = await post(busy, address, **{**page, **fields}, **{field_name(NPS): "3", "go": "next"})
            return sent.headers["location"]

        page = await start(seconds=30, homepage="https://spam.example")
        assert {"flags": ["hidden_field"], "link_id": link_id} == await held(busy)
        await post(busy, page.partition("?")[0], **await get(busy, page), **{field_name(SINGLE): "1", "go": "send"})
        assert "Thank you" in (await http.get(page.partition("?")[0])).text  # whoever it is is told nothing
        assert 409 == (await busy.delete(f"/q/link/{link_id}")).status_code
        await start(seconds=0)
        assert ["too_fast"] == (await held(busy))["flags"]
        assert 0 == (await busy.get(f"/q/link/{link_id}")).json()["responses_count"]
        await start(seconds=30)
        assert 1 == (await busy.get(f"/q/link/{link_id}")).json()["responses_count"]
        for _ in range(4):  # the minute may turn in between
            await start(seconds=30)
        assert ["burst"] == (await held(busy))["flags"]


async def mailed(shop: Shop) -> str:
    """The address of the one mail that waits, which leaves now."""
    async with db.transaction(shop.world.pool) as database:
        now = database.clock.now()
        [mail] = await mails.claim_mails(database, now=now, limit=9)
        message = compose(
            mail, recipient=mail.email or "", sender="a@b.example", site=Site(PUBLIC_URL, SECRET), now=now
        )
        assert "ann@example.com" == message.recipient
        assert "questions" in message.subject
        await mails.settle_mail(database, mail=mail, outcome="sent", reason="", now=now, jitter=1.0)
        assert (None, None) == tuple(await database.fetch_one("select recipient, link from notice_mail limit 1"))
    found = re.search(rf"{PUBLIC_URL}(/l/\S+)", message.text)
    assert found is not None
    return found[1]


async def test_confirmed_address(shop: Shop) -> None:
    """A mail leads to the questions; however often it is asked for, an address has one response, of its own person."""
    address, link_id = await link(shop, one_response_per="address", locale="en", parameters=["transaction_id"])
    asking = f"{address}?transaction_id=1042"
    page = await shop.http.get(asking)
    assert field_name(NPS) not in page.text
    token = markup.read(page.text).fields["token"]
    for form, status in (
        ({"email": "ann", "token": token}, 422),
        ({"email": "ann@example.com", "token": "0" * 32}, 422),
        ({field_name(NPS): "3", "token": token}, 200),  # asks for the address
    ):
        assert status == (await shop.http.post(asking, data=form)).status_code
    assert [] == await instances(shop)
    sent = await shop.http.post(asking, data={"email": "ann@example.com", "token": token})
    assert "mailbox" in sent.text
    proof = await mailed(shop)
    assert "<form" in (await shop.http.get(proof[:-3] + "xxx")).text
    assert field_name(NPS) not in (await shop.http.get(proof[:-3] + "xxx")).text
    begun_here = await begun(shop, proof)
    [found] = await instances(shop)
    assert ({"transaction_id": "1042"}, link_id) == (found["metadata"], found["link_id"])
    async with db.connection(shop.world.pool) as database:
        assert "ann@example.com" == await database.fetch_value("select identifier from responder_address")
    again = await shop.http.get(proof)
    assert begun_here.headers["location"].startswith(again.headers["location"])
    for _ in range(4):  # at most three mails an hour, and the page says the same
        assert "mailbox" in (await shop.http.post(asking, data={"email": "ann@example.com", "token": token})).text
    async with db.connection(shop.world.pool) as database:
        assert 3 == await database.fetch_value("select count(*) from notice_mail")

"""One repair for all rows of a list with the same problem, from the page of its check."""

import html
import re

import httpx2

from tests.sending.queue.conftest import SMS, Client
from tests.sending.queue.conftest import http as http  # noqa: PLC0414  a fixture
from tests.sending.queue.conftest import queue as queue  # noqa: PLC0414  a fixture
from tests.sending.screens.test_address_lists import choices, upload, work
from tests.sending.screens.test_queue_items import client as client  # noqa: PLC0414  a fixture
from tests.sending.screens.test_queue_items import plain
from tests.tenants.logins.conftest import browser_of, log_in


async def checked(browser: httpx2.AsyncClient, client: Client, content: bytes) -> str:
    """Send a file and check it; the address of the list."""
    here = await upload(browser, client, content)
    sent = await browser.post(f"{here}/columns", data=choices((await browser.get(f"{here}/columns")).text))
    assert 303 == sent.status_code, plain(sent.text)
    await work(client)
    return here


async def problems(browser: httpx2.AsyncClient, here: str) -> list[str]:
    """The addresses of the repairs that the check offers, the most frequent problem first."""
    page = html.unescape((await browser.get(f"{here}/check")).text)
    return re.findall(rf'href="({here}/alike\?kind=\w+)"', page)


async def test_countries_of_phones(client: Client) -> None:
    """Of all numbers without a country; one that does not exist there stays, with its own problem."""
    sms = await client.queue.pipeline(questionnaire_id=client.queue.house.questionnaire_id, channel_id=SMS, title="SMS")
    client = Client(client.http, sms)
    rows = ["Phone;Order", *(f"21012345{n:02};{n}" for n in range(30)), "+44 20 7946 0958;30", "12345;31"]
    async with browser_of(client.queue.pool) as browser:
        await log_in(browser)
        here = await checked(browser, client, "\n".join(rows).encode())
        [one] = await problems(browser, here)
        page = (await browser.get(one)).text
        assert "Repair 31 rows" in plain(page)
        assert "11 other values are not shown." in plain(page)
        assert 'name="every"' not in page
        assert "Greece" in page
        for country, told in (("", "This changes no row."), ("XX", "Choose a country of the list.")):
            refused = await browser.post(one, data={"country": country})
            assert 422 == refused.status_code
            assert told in plain(refused.text)
        assert 303 == (await browser.post(one, data={"country": "GR"})).status_code
        assert 409 == (await browser.post(one, data={"country": "GR"})).status_code
        await work(client)
        page = plain((await browser.get(f"{here}/check")).text)
        assert "31will be asked1have a problem" in page
        assert "33 Column “Phone”" in page
        assert [one] == await problems(browser, here)
        assert "Repair 1 row" in plain((await browser.get(one)).text)
        await browser.post(one, data={"wrong0": "12345", "right0": "+30 210 7654321"})
        await work(client)
        assert "32will be asked" in plain((await browser.get(f"{here}/check")).text)
        assert 404 == (await browser.get(one)).status_code
        await browser.post(f"{here}/confirm")
        assert 409 == (await browser.post(one, data={"country": "GR"})).status_code
        await work(client)
    assert 31 == await client.queue.value(
        "select count(*) from queue_item where responder_channel_identifier like '+30%'"
    )


async def test_values(client: Client) -> None:
    """A wrong value has its right one, all others have one; what a browser changes on the way is not offered."""
    rows = ["E-mail,Language,Order"]
    rows += [f"p{n}@example.com,{'martian!' if n < 3 else 'el' if n < 6 else '?'},{n}" for n in range(8)]
    rows += ['p8@example.com,"a\nb",8', "nobody,el,9", "p10@example.com", 'p11@example.com,<b>"x"</b>,11']
    async with browser_of(client.queue.pool) as browser:
        await log_in(browser)
        here = await checked(browser, client, "\n".join(rows).encode("utf-16"))
        first, second = await problems(browser, here)
        page = (await browser.get(first)).text
        assert "Repair 7 rows" in plain(page)
        assert "martian! 3" in plain(page)
        assert "1 other value is not shown." in plain(page)
        assert "<b>" not in page
        assert 'name="country"' not in page
        refused = await browser.post(first, data={"every": "x" * 201, "wrong0": "martian!", "right0": "el"})
        assert "at most 200 characters" in plain(refused.text)
        assert 'name="right0" value="el"' in refused.text
        await browser.post(first, data={"every": "en", "wrong0": "martian!", "right0": "el"})
        await work(client)
        page = plain((await browser.get(f"{here}/check")).text)
        assert "10will be asked2have a problem" in page
        assert "This row has 1 cells, and the header 3" in page
        assert [second] == await problems(browser, here)
        assert 'name="every"' not in (await browser.get(second)).text
        await browser.post(f"{here}/confirm")
        await work(client)
    counts = await client.queue.value(
        "select jsonb_object_agg(locale, n) from (select locale, count(*) as n from queue_item group by 1) l"
    )
    assert {"el": 6, "en": 4} == counts


async def test_agent(client: Client) -> None:
    """Whoever only reads sees no repair, and none of what stands in the rows."""
    async with browser_of(client.queue.pool) as browser:
        await log_in(browser)
        here = await checked(browser, client, b"E-mail,Order\nnobody,1\n")
        [one] = await problems(browser, here)
        assert 404 == (await browser.get(f"{here}/alike?kind=0")).status_code
    async with browser_of(client.queue.pool) as browser:
        await log_in(browser, email="ben@demo.example")
        assert [] == await problems(browser, here)
        assert 403 == (await browser.get(one)).status_code
        assert 403 == (await browser.post(one, data={"wrong0": "nobody", "right0": "a@b.example"})).status_code

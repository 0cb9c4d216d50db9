"""Doubtful responses in the console: why each is held back, and judging one or many."""

import html
import re
from datetime import datetime, timedelta

from afterword.asking.instances.answers import Start
from tests.listening.reports.conftest import NPS, TEXT, House
from tests.tenants.logins.conftest import Browser

DOUBTFUL = "/console/responses/doubtful"


async def test_provisional_answer(owner: House, now: datetime, browser: Browser) -> None:
    """The page of the response says that it is one, and each check that speaks against it."""
    start = Start(signs=["provisional", "many_links", "one_network", "automated"])
    response = await owner.respond({NPS: 2}, now=now - timedelta(hours=1), complete=False, start=start)
    page = (await browser.get(f"/console/responses/{response.instance_id}")).text
    for said in (
        "provisional: the page was only looked at, nobody confirmed the score",
        "several scores of one mail were opened",
        "mails of other people were opened from the same network within seconds",
        "a program opened the page",
        "Held back",
    ):
        assert said in page
    assert response.instance_id in (await browser.get(f"{DOUBTFUL}?flag=provisional")).text


async def test_screens(owner: House, now: datetime, browser: Browser) -> None:
    there = [
        await owner.respond(
            {NPS: score, TEXT: "Buy <b>pills</b>"},
            now=now - timedelta(hours=score),
            start=Start(is_burst=True, has_hidden_field=score > 1),
        )
        for score in (1, 2, 3)
    ]
    first, second, third = (f"/console/responses/{one.instance_id}" for one in there)

    async def listed(query: str = "") -> list[str]:
        page = await browser.get(f"{DOUBTFUL}{query}")
        return re.findall(r'<a href="(/console/responses/\w{22})"', html.unescape(page.text))

    assert [first, second, third] == await listed()
    assert [second, third] == await listed("?flag=hidden_field")
    assert [] == await listed("?flag=speeding") == await listed("?state=accepted")
    every = await browser.get("/console/responses")
    assert ("Held back" in every.text, there[0].instance_id in every.text) == (True, False)
    page = (await browser.get(second)).text
    assert "a field that people cannot see was filled in" in page
    assert "Buy &lt;b&gt;pills" in page
    assert "triggers no rules" in page

    nothing = await browser.post(DOUBTFUL, data={"judgement": "accepted", "shown": [there[0].instance_id]})
    assert f"{DOUBTFUL}" == nothing.headers["location"]
    await browser.post(DOUBTFUL, data={"judgement": "rejected", "id": [there[2].instance_id]})
    assert ([first, second], [third]) == (await listed(), await listed("?state=rejected"))
    shown = [one.instance_id for one in there[:2]]
    done = await browser.post(DOUBTFUL, data={"judgement": "accepted", "shown": shown, "among": "page"})
    assert f"{DOUBTFUL}?done=judged" == done.headers["location"]
    await owner.follow()
    every = await browser.get("/console/responses")
    assert (True, False) == (there[0].instance_id in every.text, "Held back" in every.text)
    one = await browser.post(f"{first}/judgement", data={"judgement": "rejected"})
    assert f"{first}?done=judged" == one.headers["location"]
    assert "Accept" in (await browser.get(first)).text
    await owner.follow()
    assert there[0].instance_id not in (await browser.get("/console/responses")).text
    log = (await browser.get("/console/settings/audit")).text
    assert {"accepted", "rejected"} <= set(re.findall(r"(accepted|rejected) \u2068a response", log))

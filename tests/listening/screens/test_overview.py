"""The overview: figures with n and interval, the API's own, and all that needs somebody."""

import html
import re
from datetime import datetime, timedelta

import httpx2
import pytest

from afterword.kit import db
from tests.listening.reports.conftest import NPS, TEXT, House
from tests.tenants.logins.conftest import Browser, Office, browser_of, log_in


async def page_of(browser: Browser, path: str = "/console") -> str:
    response = await browser.get(path)
    assert 200 == response.status_code
    return response.text


async def test_without_a_questionnaire(office: Office) -> None:
    async with browser_of(office.pool) as client:
        await log_in(client)
        assert "Continue the set-up" in (await client.get("/console")).text


async def test_without_answers(browser: Browser) -> None:
    page = await page_of(browser)
    steps = ("First steps", "Connect your mail server", "Choose who gets it: create a pipeline", "create an alert")
    for step in steps:
        assert step in page
    assert "Nothing needs your attention." not in page
    assert "Nobody has answered in this period." in await page_of(browser, "/console/responses")
    assert "Nobody has answered" not in await page_of(browser, "/console/responses?days=7")
    assert ">Alerts</a>" in await page_of(browser, "/console/cases")


async def test_equal_to_the_api(owner: House, now: datetime, browser: Browser) -> None:
    for days, values in ((0, (3, 10, 10, 10)), (31, (10, 3, 3, 3))):
        for number, value in enumerate(values):
            at = now - timedelta(days=days, hours=number, minutes=1)
            await owner.respond({NPS: value}, now=at, count=10, every=timedelta(hours=4))
    page = await page_of(browser, "/console?days=30")
    shown = re.sub(r"<[^>]+>|[\u2068\u2069]", "", page)
    report = await owner.template("nps")
    figure = report["total"][0]
    found = re.search(r"([\d.-]+) \+[\d.]+, clear \(([\d.-]+) to ([\d.-]+)", shown)
    assert found is not None
    low, high = figure["interval"]["low"], figure["interval"]["high"]
    assert [figure["value"], low, high] == pytest.approx([float(each) for each in found.groups()], abs=0.06)
    assert "40 answers" in shown
    assert "before: " in shown
    assert "incomplete." in shown  # the last step ends now
    [link, *_] = re.findall(r'href="([^"]*score=nps&between=[^"]*)"', html.unescape(page))
    begin = httpx2.URL(link).params["between"].partition("/")[0]
    assert datetime.fromisoformat(report["period"]["from_time"]) == datetime.fromisoformat(begin)


async def test_each_stage_has_its_own_number(owner: House, now: datetime, browser: Browser) -> None:
    for answers, complete, count in (({NPS: 9}, True, 6), ({NPS: 9}, False, 1), ({}, False, 3)):
        await owner.respond(answers, now=now - timedelta(days=1), complete=complete, count=count)
    shown = re.sub(r"<[^>]+>", " ", await page_of(browser))
    for stage, count, share in (("Sent", 10, 100), ("Answered", 7, 70), ("Completed", 6, 60)):
        assert re.search(rf"{stage}\s+{count}\s+{share}\.0\s?%", shown), stage


async def test_any_query(browser: Browser) -> None:
    for query in (
        "?period=last_monday",
        "?period=dates&first=x",
        "?days=abc",
        "?days=99999999999999999999",
        "?application=nobody",
        "?application=" + "0" * 22,
    ):
        assert "Overview" in await page_of(browser, f"/console{query}"), query


async def execute(house: House, statement: str, *values: object) -> None:
    async with db.transaction(house.pool) as database:
        await database._connection.execute(statement, *values)


async def test_nothing(owner: House, now: datetime, browser: Browser) -> None:
    assert "Needs your attention" not in await page_of(browser)  # before the first response the next steps are enough
    await owner.respond({NPS: 9}, now=now)
    page = await page_of(browser)
    assert "Nothing needs your attention." in page
    assert "What is waiting, and why" not in page


async def test_sending_silence_and_credits(owner: House, now: datetime, browser: Browser) -> None:
    for day in range(10, 16):
        await owner.respond({NPS: 9}, now=now - timedelta(days=day))
    await owner.respond({}, now=now - timedelta(days=1), complete=False)
    organization_id = owner.caller.organization_id
    await execute(
        owner,
        """insert into plan (organization_id, plan_id, title, kind, credits, remaining_credits, start_time)
           values ($1, $1, 'Pack', 'once', 1000, 40, now() - interval '1 day')""",
        organization_id,
    )
    page = await page_of(browser)
    for text in ("used to get answers regularly, and has had none for a week", "are low: "):
        assert text in page, text
    assert "Nothing needs your attention." not in page


async def test_of_one_branch(owner: House, now: datetime) -> None:
    """The figures, comments and cases of the branch; what cannot be limited is left off."""
    for store, score in (("north", 9), ("south", 2)):
        answers: dict[str, object] = {NPS: score, TEXT: f"{store} says it"}
        await owner.respond(answers, now=now - timedelta(days=2), metadata={"store_id": store}, count=12)
    await owner.write_rows()
    await owner.execute("update pipeline set paused = true where organization_id = $1", owner.caller.organization_id)
    office = Office(owner.pool, owner.caller.organization_id, owner.application_id, "")
    await office.add_user("manager@shop.example", role="reporting")
    await owner.execute(
        """update organization_user set only_where = 'store_id', only_values = '{south}'
           where organization_id = $1 and email = 'manager@shop.example'""",
        owner.caller.organization_id,
    )
    async with browser_of(owner.pool) as client:
        await log_in(client, email="manager@shop.example")
        page = (await client.get("/console")).text
        reports = (await client.get("/console/reports")).text
        words = (await client.get("/console/reports/comments")).text
        refused = await client.get("/console/settings/retention", headers={"Accept-Language": "de"})
        assert (403, False) == (refused.status_code, "store_id" in refused.text)
        assert "Filiale" in refused.text
        file = (await client.get("/console/reports/ready/nps/csv")).text
    shown = re.sub(r"<[^>]+>|[\u2066-\u2069]", "", page).replace("−", "-")  # noqa: RUF001
    assert "south says" in page
    assert "north" not in page + words + file
    assert "-100.0" in shown
    assert "of all together: 0.0" in shown
    assert "12 answers" in shown
    assert "is off" not in shown
    assert "Reports by mail" in reports
    assert "south" in words
    assert "-100" in file

"""Responses in the console: the list and the open one, and tags."""

import html
import re

import httpx2

from afterword.asking.questionnaires import service as questionnaires
from afterword.kit import db
from tests.asking.instances.files.test_service import send
from tests.core.answers.test_files import PDF
from tests.listening.reports.conftest import House
from tests.listening.screens.conftest import ATTACK
from tests.tenants.logins.conftest import Browser, Office, browser_of, log_in

LINK = re.compile(r'class="whole" data-swap="list" href="(/console/responses/\w{22}[^"]*)"')


def links_of(response: httpx2.Response) -> list[str]:
    assert 200 == response.status_code
    return LINK.findall(html.unescape(response.text))


async def test_tabs_and_filters(shop: House, browser: Browser) -> None:
    numbers = {
        tab: len(links_of(await browser.get(f"/console/responses?tab={tab}")))
        for tab in ("all", "comment", "unhappy", "unread", "mine")
    }
    assert {"all": 3, "comment": 2, "unhappy": 1, "unread": 3, "mine": 0} == numbers
    assert 3 == len(links_of(await browser.get(f"/console/responses?questionnaire={shop.questionnaire_id}")))
    for query in (
        "questionnaire=nobody",
        "days=x",
        "after=x_y",
        "after=99999999999999999_z",
        "tab=x",
        "tag=none",
        "since=x",
        "channel=x",
        "search=-",
        "search=%22",
        "test=1",
    ):
        assert 200 == (await browser.get(f"/console/responses?{query}")).status_code, query


async def test_period_of_a_link(shop: House, browser: Browser) -> None:
    """The moments of a chart are the chosen period of the form, until another period is chosen."""
    moments, path = "2020-01-01T00:00:00+00:00/2020-02-01T00:00:00+00:00", "/console/responses"
    page = await browser.get(path, params={"between": moments})
    assert [] == links_of(page)
    form = html.unescape(page.text).partition('action="/console/responses"')[2].partition("</form>")[0]
    shown = re.sub(r"[\u2068\u2069]", "", form)
    assert f'<option value="{moments}" selected>Jan 1 to Feb 1</option>' in shown
    assert 'name="between"' not in form
    assert [] == links_of(await browser.get(path, params={"period": moments, "search": ""}))
    assert 3 == len(links_of(await browser.get(path, params={"period": "7"})))


async def test_open(shop: House, browser: Browser) -> None:
    link = links_of(await browser.get("/console/responses?tab=unhappy"))[0]
    page = await browser.get(link)
    assert "<img" not in page.text
    assert ATTACK in html.unescape(page.text)
    assert "How likely?" in page.text
    assert "tab=unhappy" in link
    shown = re.sub(r"<[^>]+>", " ", page.text)
    for step in ("Link issued", "Questionnaire opened", "First answer", "Response completed"):
        assert step in shown.partition("How it happened")[2], step
    assert "Response given" in shown.partition("The person")[2]
    await browser.get(link)  # within the hour
    log = (await browser.get("/console/settings/audit?group=readings")).text
    assert 1 == re.sub(r"[\u2068\u2069]", "", log).count("opened a person.")


async def test_tags(shop: House, browser: Browser) -> None:
    link = links_of(await browser.get("/console/responses"))[0]
    path = link.partition("?")[0]
    added = await browser.post(f"{path}/tag?tab=comment", data={"tag": "Late"})
    assert f"{path}?tab=comment" == added.headers["location"]
    tagged = links_of(await browser.get("/console/responses?tag=late"))
    assert [path] == [each.partition("?")[0] for each in tagged]
    assert 422 == (await browser.post(f"{path}/tag", data={"tag": "x" * 99})).status_code
    assert 303 == (await browser.post(f"{path}/untag", data={"tag": "Late"})).status_code
    assert 404 == (await browser.post(f"{path}/untag", data={"tag": "Late"})).status_code


async def test_files_of_a_response(office: Office) -> None:
    """An open response links them, to be saved."""
    text = """
display_name: Repairs
title: Repairs
default_locale: en
public_link: true
groups: [{key: a, questions: [{key: seen, type: file, title: What was broken?}]}]
"""
    async with db.transaction(office.pool) as database:
        key = {"organization_id": office.organization_id, "application_id": office.application_id}
        made = await questionnaires.import_file(database, **key, text=text, slug="a", now=database.clock.now())
    async with browser_of(office.pool) as client:
        page = await client.get(f"/p/{made.questionnaire.questionnaire_id}")
        sent = await send(
            client, page, ("τσάντα.pdf", PDF), question_id=made.version.definition.questions()[0].question_id
        )
        instance_id = sent.url.path.rpartition("/")[2]
        await log_in(client)
        opened = await client.get(f"/console/responses/{instance_id}")
        links = re.findall(
            rf'<a href="(/console/responses/{instance_id}/file/\w+)" download>', html.unescape(opened.text)
        )
        got = await client.get(links[0])
        assert (200, PDF) == (got.status_code, got.content)
        assert "attachment; filename=\"______.pdf\"; filename*=UTF-8''%CF" in got.headers["content-disposition"]
        assert "sandbox" in got.headers["content-security-policy"]

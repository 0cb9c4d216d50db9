"""The results of a questionnaire on one page: its figures, its links, and what is refused."""

import re
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from html import unescape

import pytest

from afterword.asking.questionnaires import metadata
from afterword.core.organizations.access import ROLE_SCOPES, SCOPES
from afterword.tenants.logins import sessions
from tests.conftest import note_statements
from tests.listening.reports.conftest import CSAT, MATRIX, NPS, ROW, TEXT, House
from tests.listening.screens.test_reports import plain
from tests.tenants.logins.conftest import Browser, Office, browser_of, log_in

STATEMENTS_MAX = 14  # with a matrix, comments, drivers, and the count of those who opened the review link


@pytest.fixture
async def stores(owner: House, now: datetime) -> House:
    """Two stores: one delivers late, and its people say so."""
    for store, score, row in (("north", 9, 3), ("south", 3, 1)):
        for number, count in enumerate((1, 4, 5, 5, 5)):
            await owner.respond(
                {NPS: score, CSAT: number + 1, MATRIX: {ROW: row}, TEXT: f"{store} says {number}"},
                now=now - timedelta(days=1, minutes=number),
                metadata={"store_id": store},
                count=count,
            )
    await owner.write_rows()
    return owner


async def page_of(browser: Browser, path: str) -> str:
    reply = await browser.get(path)
    assert 200 == reply.status_code
    return unescape(reply.text)


def path_of(house: House) -> str:
    return f"/console/questionnaires/{house.questionnaire_id}/results"


async def test_statements(stores: House, browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many for a group as for all; daily counts, and what has none, are read once for both periods."""
    monkeypatch.setattr(metadata, "KEPT_SECONDS", 60)  # however slow the machine is
    for query in ("", "?value=south"):
        await browser.get(path_of(stores) + query)
        statements = note_statements(monkeypatch, stores.pool)
        await browser.get(path_of(stores) + query)
        assert STATEMENTS_MAX >= len(statements), statements


async def test_what_is_not_there(stores: House, browser: Browser) -> None:
    """Another id is not found; a period that is too long is refused in place; unknown names and values are none."""
    assert 404 == (await browser.get(f"/console/questionnaires/{'z' * 22}/results")).status_code
    refused = await browser.get(f"{path_of(stores)}?period=dates&first=1980-01-01&last=2100-01-01")
    assert 422 == refused.status_code
    assert 'role="alert"' in refused.text
    page = await page_of(browser, f"{path_of(stores)}?by=order&value=west&page=x&period=never")
    assert plain(page) == plain(await page_of(browser, path_of(stores)))
    assert "There is no question here." in (await browser.get(f"{path_of(stores)}?page=7")).text


class TestOneBranch:
    """A manager of one store sees that store alone, and the score of all beside it if others are enough."""

    async def limit(self, house: House, *values: str, name: str = "store_id") -> None:
        await house.execute(
            """update organization_user set only_where = $3, only_values = $2
               where organization_id = $1 and role = 'reporting'""",
            *(house.caller.organization_id, list(values), name),
        )

    @pytest.fixture
    async def manager(self, stores: House) -> AsyncIterator[Browser]:
        office = Office(stores.pool, stores.caller.organization_id, stores.application_id, "")
        await office.add_user("manager@shop.example", role="reporting")
        await self.limit(stores, "south")
        async with browser_of(stores.pool) as browser:
            await log_in(browser, email="manager@shop.example")
            yield browser

    async def test_no_choice_widens_it(self, stores: House, manager: Browser) -> None:
        for query in ("", "?value=north", "?by=&value=", "?by=store_id&value=north", "?value=south"):
            page = await page_of(manager, path_of(stores) + query)
            assert "south says" in page, query
            assert "north" not in page.replace("value=north", ""), query
            text = plain(page).replace("−", "-")  # noqa: RUF001
            assert "-100.0" in text
            assert "of all together: 0.0" in text

    async def test_few_others(self, stores: House, manager: Browser) -> None:
        await stores.set_organization(minimum_base=21)
        assert "of all together" not in await page_of(manager, path_of(stores))

    async def test_several_values(self, stores: House, manager: Browser) -> None:
        await self.limit(stores, "north", "south")
        page = await page_of(manager, path_of(stores))
        assert "north says" in page
        assert "south says" not in page
        assert "south says" in await page_of(manager, f"{path_of(stores)}?value=south")
        assert '<option value="">All' not in page

    async def test_a_name_that_nobody_declares(self, stores: House, manager: Browser) -> None:
        await self.limit(stores, "south", name="branch")
        page = await page_of(manager, path_of(stores))
        assert "says" not in page
        assert "No answers yet." in page


async def test_all_questions_of_a_group(stores: House, browser: Browser) -> None:
    """Each question with its figure, the rows of a matrix on its scale, the newest words, and what goes together."""
    page = await page_of(browser, path_of(stores))
    text = plain(page)
    for shown in (
        "Results of “After delivery”",
        "How likely? i How this is calculated Promoters minus detractors, for each question. 0.0",
        "Means from 1 (Choice 1) to 3 (Choice 3).",
        "NPS by group Clearly different: north, south.",
        "What drives NPS Most closely related: Food.",
        (
            "How easy? i How this is calculated The share of customers for whom it was easy, for each question. No "
            "answers yet."
        ),
        "south says 0",
    ):
        assert shown in text
    south = plain(await page_of(browser, f"{path_of(stores)}?value=south"))
    assert "\u2212100.0" in south
    assert "Store: south · Show all" in south
    assert "north says" not in south
    assert "Fewer than 30 responses answer both questions" in south


async def test_the_period_before(stores: House, browser: Browser, now: datetime) -> None:
    """Bars, columns and means are drawn with their values of the period before, which the tables say too."""
    assert 'class="ghost"' not in await page_of(browser, path_of(stores))
    await stores.respond({NPS: 9, CSAT: 2, MATRIX: {ROW: 1}}, now=now - timedelta(days=40), metadata={}, count=8)
    await stores.write_rows()
    page = await page_of(browser, path_of(stores))
    assert re.search(r'<rect class="ghost" x="[\d.]+%" y="[\d.]+%" width="[\d.]+%" height="100.0%"/>', page)
    assert re.search(r'<circle class="ghost" cx="0.0%"', page)
    assert "The period before, dashed" in page
    assert "before: 100.0" in plain(page)
    told = set(re.findall(r"[\w.]+ · before: [\d.]+", plain(page)))
    assert {"clear · before: 100.0", "1.0 · before: 1.0"} <= told, told


async def test_numbers_lead_to_exactly_their_responses(stores: House, browser: Browser) -> None:
    page = await page_of(browser, f"{path_of(stores)}?value=south")
    links = {(text, url) for url, text in re.findall(r'href="(/console/responses\?[^"]+)"[^>]*>([^<]+)<', page)}
    counts = {
        text: (await browser.get(url)).text.count("data-row")
        for text, url in links
        if text in {"Detractors 20", "Promoters 0", "All its answers"}
    }
    [answer] = set(re.findall(r'href="(/console/responses/[\w-]+\?[^"]+)"[^>]*><span[^>]*>south says 0<', page))
    assert "south says 0" in (await browser.get(answer)).text
    assert {"Detractors 20": 20, "Promoters 0": 0, "All its answers": 20} == counts


async def test_ways_there(stores: House, browser: Browser) -> None:
    """From the overview with its period, from the page of the questionnaire, and from Find."""
    expected = {
        "/console?period=90": f"{path_of(stores)}?period=90",
        path_of(stores).removesuffix("/results"): path_of(stores),
        "/console/find?q=After": path_of(stores),
    }
    for path, link in expected.items():
        assert f'href="{link}"' in await page_of(browser, path), path


async def test_a_reader_of_figures_alone(stores: House, browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole months with the reason, no words and no links; of the owner nothing is hidden."""
    assert "Hidden" not in await page_of(browser, path_of(stores))
    scopes = {**ROLE_SCOPES, "owner": SCOPES - {"Questionnaire Instance.Read"}}
    monkeypatch.setattr(sessions, "ROLE_SCOPES", scopes)
    page = await page_of(browser, path_of(stores))
    assert "because it does not give access to individual answers" in page
    assert "Your role does not give access to individual answers." in page
    assert "says 0" not in page
    assert "/console/responses?" not in page

"""A web process on a copy: what writes is refused with the primary's address, before anything else looks at it."""

from collections.abc import AsyncGenerator

import httpx2
import pytest

from afterword.kit import db
from afterword.kit.db.replicas import Replica
from tests.conftest import House, build_house
from tests.run.test_app import SITE, client_of
from tests.standbys import Told
from tests.tenants.logins.conftest import OWN, Office, browser_of, found, log_in

WRITING = ("POST", "PUT", "PATCH", "DELETE", "BREW")


@pytest.fixture
async def house(pool: db.Pool) -> House:
    return await build_house(pool, domain="demo")


@pytest.fixture
async def reading(pool_url: str) -> AsyncGenerator[db.Pool]:
    """A pool that writes nothing."""
    only_reads = {"default_transaction_read_only": "on"}
    async with await db.open_pool(pool_url, size_max=2, server_settings=only_reads) as pool:
        yield pool


@pytest.fixture
async def client(reading: db.Pool) -> AsyncGenerator[httpx2.AsyncClient]:
    async with client_of(reading, copy=Replica(reading)) as client:
        yield client


class TestRefused:
    @pytest.mark.parametrize("method", WRITING)
    async def test_before_the_token_is_looked_at(self, client: httpx2.AsyncClient, method: str) -> None:
        answer = await client.request(method, "/v3.2/q/questionnaire?a=b", content=b"{")
        assert (421, "read_only_copy") == (answer.status_code, answer.json()["code"])
        assert f"{SITE.public_url}/v3.2/q/questionnaire" == answer.headers["location"]
        assert SITE.public_url in answer.json()["detail"]

    async def test_a_look_that_is_noted(self, client: httpx2.AsyncClient, house: House) -> None:
        """The file of the audit log notes who took it, which a copy cannot."""
        answer = await client.get("/v3.2/audit/file", headers=house.headers)
        assert (421, "read_only_copy", "0") == (
            answer.status_code,
            answer.json()["code"],
            answer.headers["afterword-replica-lag"],
        )

    async def test_the_page_of_a_form_leads_to_the_primary(self, client: httpx2.AsyncClient) -> None:
        """To the page that the form stood on: its own address may be none of a page."""
        referer = {**OWN, "Referer": "http://copy.example/console/settings/themes?done=x"}
        answer = await client.post("/console/settings/themes/new", headers=referer, data={"title": "Parking"})
        assert (421, "text/html") == (answer.status_code, answer.headers["content-type"].partition(";")[0])
        assert "This server only shows a copy" in answer.text
        assert 'href="http:&#x2f;&#x2f;testserver&#x2f;console&#x2f;settings&#x2f;themes"' in answer.text

    @pytest.mark.parametrize("referer", ["", "http://[", "http://evil.example"])
    async def test_whatever_the_form_says_of_itself(self, client: httpx2.AsyncClient, referer: str) -> None:
        answer = await client.post("/console/logout", headers={**OWN, "Referer": referer})
        assert (421, True) == (answer.status_code, 'href="http:&#x2f;&#x2f;testserver"' in answer.text)

    async def test_a_screen_that_notes_who_looks(self, pool: db.Pool, reading: db.Pool) -> None:
        office = await found(pool)
        async with browser_of(pool) as browser, client_of(reading, copy=Replica(reading)) as copy:
            await log_in(browser)
            copy.cookies = browser.cookies
            copy.headers.update(OWN)
            answer = await copy.get("/console/settings/audit/file")
        assert (421, True) == (answer.status_code, "This server only shows a copy" in answer.text), office


class TestRead:
    async def test_with_its_age(self, client: httpx2.AsyncClient, house: House) -> None:
        for method in ("GET", "HEAD"):
            answer = await client.request(method, "/v3.2/q/questionnaire", headers=house.headers)
            assert (200, "0") == (answer.status_code, answer.headers["afterword-replica-lag"])
        assert 204 == (await client.options("/v3.2/q/questionnaire")).status_code

    async def test_refusals_have_the_age_too(self, client: httpx2.AsyncClient) -> None:
        answer = await client.get("/v3.2/q/questionnaire")
        assert (401, "0") == (answer.status_code, answer.headers["afterword-replica-lag"])

    async def test_nobody_knows_the_age(self, pool: db.Pool, house: House) -> None:
        async with client_of(pool, copy=Told(pool, None)) as client:
            answer = await client.get("/v3.2/q/questionnaire", headers=house.headers)
        assert 200 == answer.status_code
        assert "afterword-replica-lag" not in answer.headers

    async def test_what_operators_ask(self, client: httpx2.AsyncClient) -> None:
        answer = await client.get("/healthz")
        assert (200, False) == (answer.status_code, "afterword-replica-lag" in answer.headers)

    async def test_primaries_say_nothing(self, pool: db.Pool, house: House) -> None:
        async with client_of(pool) as client:
            answer = await client.get("/v3.2/q/questionnaire", headers=house.headers)
        assert (200, False) == (answer.status_code, "afterword-replica-lag" in answer.headers)


class TestConsole:
    @pytest.mark.parametrize(("age", "sentence"), [(4, "may be 4 s old"), (None, "of unknown age")])
    async def test_each_page_says_it(self, pool: db.Pool, age: int | None, sentence: str) -> None:
        """Logged in at the primary with the same cookie, and before."""
        await found(pool)
        async with browser_of(pool) as browser, client_of(pool, copy=Told(pool, age)) as copy:
            await log_in(browser)
            copy.headers.update(OWN)
            before = await copy.get("/console/login")
            copy.cookies = browser.cookies
            inside = await copy.get("/console/settings/themes")
        for answer in (before, inside):
            assert (200, True) == (answer.status_code, sentence in answer.text), answer.text
        assert 'href="http:&#x2f;&#x2f;testserver&#x2f;console&#x2f;settings&#x2f;themes"' in inside.text
        assert "Olga" not in before.text

    async def test_the_primary_says_nothing(self, pool: db.Pool) -> None:
        office: Office = await found(pool)
        async with browser_of(pool) as browser:
            await log_in(browser)
            assert "You are reading a copy" not in (await browser.get("/console")).text, office

"""Reports on screens: equal to the API's, saved from their address, refused in place, hidden groups said."""

import csv
import io
import re
from datetime import timedelta
from html import unescape

import pytest

from afterword.kit import db
from tests.listening.reports.conftest import NPS, House
from tests.listening.reports.conftest import house as house  # noqa: PLC0414  a fixture
from tests.listening.screens.test_overview import owner as owner  # noqa: PLC0414  a fixture
from tests.tenants.logins.conftest import browser_of, log_in

STORE = "questionnaire_metadata:store_id"
GROUPS = "/console/reports/ready/by_metadata"


@pytest.fixture
async def shops(owner: House) -> House:
    """Four stores that differ, one of three people."""
    async with db.connection(owner.pool) as database:
        now = database.clock.now()
    stores = {"north": [9, 10, 10, 9] * 4, "south": [3, 6, 9, 5] * 4, "east": [10] * 6, "west": [0] * 3}
    for store, values in stores.items():
        for number, value in enumerate(values):
            at = now - timedelta(days=number, minutes=1)
            await owner.respond({NPS: value}, now=at, metadata={"store_id": store})
    return owner


def plain(page: str) -> str:
    text = unescape(re.sub(r"<[^>]+>", " ", page))
    return " ".join(text.replace("\u2068", "").replace("\u2069", "").split())


class TestReady:
    async def test_wrong_addresses(self, owner: House) -> None:
        async with browser_of(owner.pool) as client:
            await log_in(client)
            assert 404 == (await client.get("/console/reports/ready/nothing")).status_code
            assert 404 == (await client.get(f"/console/reports/saved/{'z' * 22}")).status_code
            for query in ("metric=none", f"question_id={'z' * 22}&metric=mean", "condition={", "metadata=x"):
                response = await client.get(f"{GROUPS}?{query}")
                assert 422 == response.status_code, query
                assert 'role="alert"' in response.text

    async def test_equal_to_the_api(self, shops: House) -> None:
        """Each row's figure, interval, count and difference on the screen and in the file are the API's."""
        spec = {"template_id": "by_metadata", "metric": "nps", "metadata": STORE, "compare": "rest", "last_days": 90}
        body = {"spec": {"questionnaire_ids": [shops.questionnaire_id], **spec}}
        given = (await shops.send("POST", "/report/run", body)).json()
        async with browser_of(shops.pool) as client:
            await log_in(client)
            page = plain((await client.get(GROUPS)).text)
            file = (await client.get(f"{GROUPS}/csv")).content.decode("utf-8-sig")
        lines = {line[STORE]: line for line in csv.DictReader(io.StringIO(file))}
        assert 0 == given["suppressed_rows"]
        for row in given["rows"]:
            store, figure = row["key"][STORE], row["figures"][0]
            assert str(figure["suppressed"]).lower() == lines[store]["suppressed"]
            low, high = list(figure["interval"].values())[:2]
            shown = f"{store} {figure['value']:.1f} {low:.1f} to {high:.1f} {figure['n']}"
            assert shown.replace("-", "\u2212") in page
            assert (figure["value"], figure["n"]) == (float(lines[store]["value"]), int(lines[store]["n"]))
            assert figure["change"]["difference"] == float(lines[store]["difference"])
            assert figure["change"]["real"]
        assert "Clearly different: north, south, east, west." in page

    async def test_a_row_leads_to_its_responses(self, shops: House) -> None:
        await shops.follow()
        async with browser_of(shops.pool) as client:
            await log_in(client)
            page = (await client.get(GROUPS)).text
            [link] = {unescape(each) for each in re.findall(r'href="([^"]+)"[^>]*>north<', page)}
            responses = (await client.get(link)).text
        assert 16 == responses.count("data-row")

    @pytest.mark.parametrize(
        "template_id", ["nps", "csat", "ces", "trend", "distribution", "funnel", "sending", "drivers"]
    )
    async def test_each_opens_without_a_choice(self, shops: House, template_id: str) -> None:
        async with browser_of(shops.pool) as client:
            await log_in(client)
            for query in ("", "?days=30&compare=previous_period&by=pipeline", "?bucket=month&metric=mean&by=channel"):
                assert 200 == (await client.get(f"/console/reports/ready/{template_id}{query}")).status_code


class TestSaved:
    async def test_from_its_address(self, shops: House) -> None:
        """Saved without a title it says so and keeps the rest; saved it stays as it was, and ends."""
        async with browser_of(shops.pool) as client:
            await log_in(client)
            given = {"given": "metric=csat&days=30"}
            refused = await client.post("/console/reports/ready/trend", data={**given, "title": " "})
            assert 422 == refused.status_code
            assert "Give the report a title." in refused.text
            saved = await client.post("/console/reports/ready/trend", data={**given, "title": "Monthly CSAT"})
            address = saved.headers["location"].partition("?")[0]
            assert "Monthly CSAT" in (await client.get("/console/reports")).text
            page = (await client.get(f"{address}?days=365")).text
            assert "CSAT" in page
            assert 200 == (await client.get(f"{address}/csv")).status_code
            readings = plain((await client.get("/console/settings/audit?group=readings")).text)
            assert "downloaded the report “Monthly CSAT”." in readings
            [stored] = (await shops.get("/report/custom")).json()["results"]
            assert ("trend", "csat", 30) == tuple(
                stored["spec"][each] for each in ("template_id", "metric", "last_days")
            )
            assert "Monthly CSAT" in (await client.get(f"{address}/delete")).text
            await client.post(f"{address}/delete")
            assert 404 == (await client.get(address)).status_code

"""Reports on screens: equal to the API's, saved from their address, refused in place, opened by a link."""

import csv
import io
import re
from datetime import datetime, timedelta
from html import unescape

from afterword.listening.screens.reports import given_of
from tests.listening.reports.conftest import NPS, House
from tests.tenants.logins.conftest import Browser, browser_of, found, log_in

STORE = "questionnaire_metadata:store_id"
GROUPS = "/console/reports/ready/by_metadata"


def plain(page: str) -> str:
    text = unescape(re.sub(r"<[^>]+>", " ", page))
    return " ".join(text.replace("\u2068", "").replace("\u2069", "").split())


class TestReady:
    async def test_without_a_questionnaire(self, house: House) -> None:
        """The address is right: the report opens once there is one."""
        await found(house.pool, domain="empty", email="first@empty.example")
        async with browser_of(house.pool) as browser:
            await log_in(browser, email="first@empty.example")
            for name in ("nps", "by_metadata", "funnel"):
                response = await browser.get(f"/console/reports/ready/{name}")
                assert 409 == response.status_code
                assert "There is no questionnaire yet." in response.text

    async def test_wrong_addresses(self, browser: Browser) -> None:
        assert 404 == (await browser.get("/console/reports/ready/nothing")).status_code
        assert 404 == (await browser.get(f"/console/reports/saved/{'z' * 22}")).status_code
        for query in ("metric=none", f"question_id={'z' * 22}&metric=mean", "condition={", "metadata=x"):
            response = await browser.get(f"{GROUPS}?{query}")
            assert 422 == response.status_code, query
            assert 'role="alert"' in response.text

    async def test_equal_to_the_api(self, shops: House, browser: Browser) -> None:
        """Each row's figure, interval, count and difference on the screen and in the file are the API's."""
        spec = {"template_id": "by_metadata", "metric": "nps", "metadata": STORE, "compare": "rest", "last_days": 90}
        body = {"spec": {"questionnaire_ids": [shops.questionnaire_id], **spec}}
        given = (await shops.send("POST", "/report/run", body)).json()
        page = plain((await browser.get(GROUPS)).text)
        file = (await browser.get(f"{GROUPS}/csv")).content.decode("utf-8-sig")
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

    async def test_a_row_leads_to_its_responses(self, shops: House, browser: Browser) -> None:
        await shops.write_rows()
        page = (await browser.get(GROUPS)).text
        [link] = {unescape(each) for each in re.findall(r'href="([^"]+)"[^>]*>north<', page)}
        responses = (await browser.get(link)).text
        assert 16 == responses.count("data-row")

    async def test_each_opens_without_a_choice(self, shops: House, browser: Browser) -> None:
        for template_id in ("nps", "csat", "ces", "trend", "distribution", "funnel", "sending", "drivers"):
            for query in ("", "?days=30&compare=previous_period&by=pipeline", "?bucket=month&metric=mean&by=channel"):
                assert 200 == (await browser.get(f"/console/reports/ready/{template_id}{query}")).status_code


class TestSaved:
    async def test_from_its_address(self, shops: House, browser: Browser) -> None:
        """Saved without a title it says so and keeps the rest; saved it stays as it was, and ends."""
        given = {"given": "metric=csat&days=30"}
        refused = await browser.post("/console/reports/ready/trend", data={**given, "title": " "})
        assert 422 == refused.status_code
        assert "Give the report a title." in refused.text
        saved = await browser.post("/console/reports/ready/trend", data={**given, "title": "Monthly CSAT"})
        address = saved.headers["location"].partition("?")[0]
        assert "Monthly CSAT" in (await browser.get("/console/reports")).text
        page = (await browser.get(f"{address}?days=365")).text
        assert "CSAT" in page
        assert 200 == (await browser.get(f"{address}/csv")).status_code
        readings = plain((await browser.get("/console/settings/audit?group=readings")).text)
        assert "downloaded the report “Monthly CSAT”." in readings
        [stored] = (await shops.get("/report/custom")).json()["results"]
        assert ("trend", "csat", 30) == tuple(stored["spec"][each] for each in ("template_id", "metric", "last_days"))
        assert "Monthly CSAT" in (await browser.get(f"{address}/delete")).text
        await browser.post(f"{address}/delete")
        assert 404 == (await browser.get(address)).status_code


async def test_from_the_page_to_its_end(owner: House, now: datetime, browser: Browser) -> None:
    await owner.respond({NPS: 9}, now=now.replace(day=10) - timedelta(days=31), count=6)
    async with browser_of(owner.pool) as stranger:
        saved = await browser.post(
            "/console/reports/ready/trend", data={"given": "metric=nps", "title": "For the board"}
        )
        page = saved.headers["location"].partition("?")[0]
        made = (await browser.post(f"{page}/share", data={"share_days": "7"})).text
        [path, _] = re.findall(r"http:&#x2f;&#x2f;testserver(&#x2f;console&#x2f;shared[^<\"]+)", made)
        path = path.replace("&#x2f;", "/")
        shown = await stranger.get(path)
        assert 200 == shown.status_code
        assert "For the board" in shown.text
        assert "6 answers" in shown.text
        assert "/console/responses" not in shown.text
        assert 'class="brand">' in shown.text
        assert ">Afterword</p>" not in shown.text
        preview = await browser.get(f"{page}/preview")
        charts = r'<div class="wide stack">.*?</div>(?=\s*</main>)'
        assert re.findall(charts, shown.text, re.DOTALL) == re.findall(charts, preview.text, re.DOTALL) != []
        listed = plain((await browser.get(page)).text)
        assert re.search(rf"Link of {now:%b} {now.day}, {now.year}, .*, valid until ", listed)
        assert path not in listed
        [end] = re.findall(r'action="([^"]+share[^"]+end)"', (await browser.get(page)).text)
        ended = await browser.post(end.replace("&#x2f;", "/"))
        assert (
            "The link is disabled. Nobody can open it any more." in (await browser.get(ended.headers["location"])).text
        )
        gone = await stranger.get(path)
        assert (404, True) == (gone.status_code, "There is no such report" in gone.text)


async def test_pinned_on_the_overview(browser: Browser) -> None:
    saved = await browser.post("/console/reports/ready/nps", data={"given": "", "title": "Our NPS"})
    page = saved.headers["location"].partition("?")[0]
    assert "Our NPS" not in (await browser.get("/console")).text
    await browser.post(f"{page}/pin", data={"pinned": "1"})
    assert "Our NPS" in (await browser.get("/console")).text
    await browser.post(f"{page}/pin")
    assert "Our NPS" not in (await browser.get("/console")).text


def test_given() -> None:
    """Values that are none of ours are left out, and the best known stand for those that are missing."""
    assert {} == given_of({"days": "31", "compare": "everything", "other": "x"})
    assert {"period": "30", "metric": "nps", "compare": "rest"} == given_of(
        {"days": "30", "metric": "nps", "compare": "rest", "bucket": ""}
    )
    dates = {"period": "dates", "first": "2026-11-29", "last": "2026-11-01"}
    assert {"period": "dates", "first": "2026-11-01", "last": "2026-11-29"} == given_of(dates)
    assert (
        {}
        == given_of({"period": "dates", "first": "2026-02-30"})
        == given_of({"period": "dates", "last": "0001-01-01"})
    )
    assert {"period": "last_month"} == given_of({"period": "last_month", "days": "30"})
    assert 300 == len(given_of({"metadata": "x" * 500})["metadata"])

"""Exports of the list of responses: the rows of a file are those that the list counts, however they were chosen."""

import asyncio
import csv
import html
import io
import json
import re
import uuid
from datetime import datetime, timedelta

import httpx2
import pytest

from afterword.kit import db
from afterword.listening.exports import service
from afterword.run.worker.long_work import Exporter
from tests.listening.reports.conftest import NPS, House
from tests.listening.screens.test_responses import links_of
from tests.tenants.logins.conftest import Browser

CONDITION = json.dumps({"subject": f"question:{NPS}", "operator": "greater_equal", "value": 9})
EXPORT = "/console/responses/export"


async def written(shop: House, client: httpx2.AsyncClient, page: str) -> httpx2.Response:
    """The file of the export whose page this is, as a worker writes it."""
    assert "A worker" in (await client.get(page)).text
    assert await Exporter(shop.pool, uuid.uuid4()).work_next(asyncio.Event())
    ready = html.unescape((await client.get(page)).text)
    link = re.search(r'href="([^"]+/file)"', ready)
    assert link is not None, ready
    return await client.get(link[1])


async def test_as_listed(shop: House, monkeypatch: pytest.MonkeyPatch, browser: Browser) -> None:
    """The rows are the listed ones in their order, as many as the page counts; both acts are in the audit log."""
    monkeypatch.setattr(service, "BATCH_ROWS", 1)
    for query in ("tab=unhappy", "search=fine", f"condition={CONDITION}", "days=7", "tab=unread&days=30"):
        listed = [link[19:41] for link in links_of(await browser.get(f"/console/responses?{query}"))]
        form = html.unescape((await browser.get(f"{EXPORT}?{query}")).text)
        assert f">Export {len(listed)} response" in form.replace("\u2068", "").replace("\u2069", ""), query
        action = re.search(rf'action="({EXPORT}[^"]*)"', form)
        assert action is not None
        done = await browser.post(action[1], data={"format": "csv", "metadata": "1"})
        file = await written(shop, browser, done.headers["location"])
        assert "attachment" in file.headers["content-disposition"]
        rows = list(csv.DictReader(io.StringIO(file.content.decode("utf-8-sig"), newline="")))
        assert listed == [row["instance_id"] for row in rows], query
    assert "A-10" in file.text
    assert "recipient" not in rows[0]
    assert "Your exports" in (await browser.get(EXPORT)).text
    log = html.unescape((await browser.get("/console/settings/audit")).text)
    assert "exported a file of responses" in log.replace("\u2068", "").replace("\u2069", "")
    assert "downloaded a file of responses" in log.replace("\u2068", "").replace("\u2069", "")


async def test_refused(shop: House, now: datetime, monkeypatch: pytest.MonkeyPatch, browser: Browser) -> None:
    assert "No response matches" in (await browser.get(f"{EXPORT}?search=nothing")).text
    monkeypatch.setattr(service, "LISTED_MAX", 2)
    assert 422 == (await browser.get(EXPORT)).status_code
    assert 422 == (await browser.post(EXPORT, data={"format": "csv"})).status_code
    await shop.execute("update login_session set proven_time = $1", now - timedelta(hours=1))
    for method, path in (("GET", EXPORT), ("POST", EXPORT), ("GET", f"{EXPORT}/{'0' * 22}/file")):
        asked = await browser.request(method, path)
        assert asked.headers["location"].startswith("/console/proof"), path


async def test_over_the_api(shop: House) -> None:
    """A search and an export with one filter find the same; a caller of other applications does not see the file."""
    for chosen in ({}, {"only": "comment"}, {"condition": json.loads(CONDITION)}, {"search": "fine"}):
        found = await shop.send("POST", "/q/response/search", chosen)
        ids = [one["instance_id"] for one in found.json()["results"]]
        made = await shop.send("POST", "/q/response/export", {"format": "jsonl", "filter": chosen})
        assert 201 == made.status_code
        assert (len(ids), None) == (made.json()["selected_count"], made.json()["questionnaire_id"])
        assert await Exporter(shop.pool, uuid.uuid4()).work_next(asyncio.Event())
        path = f"/q/export/{made.json()['export_id']}"
        file = (await shop.get(f"{path}/file")).text.splitlines()
        assert ids == [json.loads(line)["instance_id"] for line in file]
        assert len(ids) == (await shop.get(path)).json()["row_count"]
    assert {"questionnaire", "score", "tags", "external_reference"} <= json.loads(file[0]).keys()
    listed = (await shop.get("/q/response/export")).json()
    assert 4 == len(listed["results"])
    async with db.connection(shop.pool) as database:
        scope = {"organization_id": shop.caller.organization_id, "export_id": made.json()["export_id"]}
        assert await service.store.get_export(database, **scope, application_ids=[shop.application_id])
        assert not await service.store.get_export(database, **scope, application_ids=["0" * 22])

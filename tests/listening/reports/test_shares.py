"""Links to reports: made by those who may, read as by readers of figures alone, over when they end or are ended."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from afterword import errors
from afterword.kit import db
from afterword.listening.reports import results, shares
from tests.listening.reports.conftest import CSAT, NPS, House
from tests.pruning import prune

ABSENT = "z" * 22
STORE = "questionnaire_metadata:store_id"


async def saved(house: House, **spec: Any) -> str:
    by_day = {"template_id": "trend", "metric": "nps", "bucket": "day"}
    body = {"questionnaire_ids": [house.questionnaire_id], **by_day, **spec}
    response = await house.send("POST", "/report/custom", {"title": "By day", "spec": body})
    assert 201 == response.status_code, response.text
    return response.json()["report_id"]


async def shared(house: House, report_id: str, **body: Any) -> dict[str, Any]:
    response = await house.send("POST", f"/report/custom/{report_id}/share", body)
    assert 201 == response.status_code, response.text
    return response.json()


def secret_of(share: dict[str, Any]) -> str:
    return share["share_url"].rpartition("/")[2]


async def test_refusals(house: House) -> None:
    report_id = await saved(house)
    path = f"/report/custom/{report_id}/share"
    assert 422 == (await house.send("POST", path, {"days": 400})).status_code
    drivers = await saved(house, template_id="drivers", outcome_question_id=CSAT, metric=None, bucket=None)
    response = await house.send("POST", f"/report/custom/{drivers}/share", {})
    assert (422, "unknown_value") == (response.status_code, response.json()["errors"][0]["code"])


async def test_ok(house: House) -> None:
    report_id = await saved(house)
    share = await shared(house, report_id, days=7)
    assert share["share_url"].startswith(f"https://reports.example/console/shared/{house.caller.organization_id}/")
    [listed] = (await house.get(f"/report/custom/{report_id}/share")).json()
    assert {**share, "share_url": None} == listed
    async with db.connection(house.pool) as database:
        stored = await database.fetch_value("select to_jsonb(s)::text from report_share s")
    assert secret_of(share) not in stored
    assert 204 == (await house.send("DELETE", f"/report/custom/{report_id}/share/{share['share_id']}")).status_code
    assert [] == (await house.get(f"/report/custom/{report_id}/share")).json()


async def test_reader_of_figures_alone(house: House, now: datetime) -> None:
    """Whole months that are over, in which few people stay hidden; nothing of this month, though the maker sees it."""
    before = (now.replace(day=15) - timedelta(days=31)).replace(day=10)
    for store, count in (("north", 9), ("south", 7), ("east", 3), ("west", 4)):
        await house.respond({NPS: 9}, now=before, metadata={"store_id": store}, count=count)
    await house.respond({NPS: 2}, now=now - timedelta(minutes=5), metadata={"store_id": "north"}, count=8)
    report_id = await saved(house, template_id="by_metadata", metadata=STORE, bucket=None, last_days=90)
    share = await shared(house, report_id)
    async with db.connection(house.pool) as database:
        report, plan = await shares.read(
            database, organization_id=house.caller.organization_id, secret=secret_of(share), now=now
        )
        result = await results.run_plan(database, plan)
    assert "By day" == report.title
    shown = {row.key[STORE]: row.figures[0] for row in result.rows}
    assert [9, 7] == [shown[store].measure.n for store in ("north", "south")]
    assert [True, True] == [shown[store].suppressed for store in ("east", "west")]
    assert 1 == result.period.to_time.astimezone(result.period.zone).day
    assert result.period.to_time <= now


async def test_ended(house: House, now: datetime) -> None:
    """After its days it says that it has ended; with its report, and for another organization, there is none."""
    report_id = await saved(house)
    secret = secret_of(await shared(house, report_id, days=1))
    organization_id = house.caller.organization_id
    async with db.connection(house.pool) as database:
        with pytest.raises(shares.ShareEnded):
            await shares.read(database, organization_id=organization_id, secret=secret, now=now + timedelta(days=2))
        for other, text in ((ABSENT, secret), (organization_id, ABSENT)):
            with pytest.raises(errors.NotFound):
                await shares.read(database, organization_id=other, secret=text, now=now)
    async with db.transaction(house.pool) as database:
        assert 0 == await prune(database, "links to reports", now=now + timedelta(days=30))
        assert 1 == await prune(database, "links to reports", now=now + timedelta(days=32))


async def test_pins_are_bounded(house: House) -> None:
    reports = [await saved(house) for _ in range(5)]
    for report_id in reports[:4]:
        pinned = await house.send("PATCH", f"/report/custom/{report_id}", {"pinned": True})
        assert pinned.json()["pinned"]
    assert 422 == (await house.send("PATCH", f"/report/custom/{reports[4]}", {"pinned": True})).status_code
    assert not (await house.send("PATCH", f"/report/custom/{reports[0]}", {"pinned": False})).json()["pinned"]
    assert 200 == (await house.send("PATCH", f"/report/custom/{reports[4]}", {"pinned": True})).status_code

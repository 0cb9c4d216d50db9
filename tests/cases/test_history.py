"""The history of a case: complete, in order, and nothing of the person in it."""

from tests.cases.conftest import Desk


async def test_history(desk: Desk) -> None:
    """Opening, changes and comments in the order of time; the number to call stands in the case alone."""
    case = await desk.case()
    path = f"/alert/instance/{case['alert_instance_id']}"
    await desk.api.ok("PATCH", path, {"call_back_time": "2027-01-02T10:00:00Z", "call_back_number": "+30 210 7"})
    await desk.api.ok("POST", f"{path}/comment", {"body": "Nobody there."})
    closed = await desk.api.ok("PATCH", path, {"status_id": 3, "cause": "Late", "remedy": "Voucher"})
    assert ("Late", "Voucher") == (closed["cause"], closed["remedy"])
    assert 1 == (await desk.api.get("/alert/instance?filter_by[EQUAL][Cause]=Late"))["total_results"]
    entries = (await desk.api.get(f"{path}/history"))["results"]
    assert ["opened", "changed", "commented", "changed"] == [one["kind"] for one in entries]
    assert [None, *[desk.house.user_id] * 3] == [one["user_id"] for one in entries]
    assert "Nobody there." == entries[2]["body"]
    assert {"from": 1, "to": 3} == entries[3]["changes"]["status_id"]
    assert {"status_id", "cause", "remedy", "resolved_time"} == entries[3]["changes"].keys()
    assert [] == [part for part in ("+30", "210 7") if part in str(entries)]  # "210" alone may be a part of a second
    assert "+30 210 7" not in str([event.data for event in await desk.news()])
    pages = [await desk.api.get(f"{path}/history?limit=3")]
    pages.append(await desk.api.get(f"{path}/history?limit=3&cursor={pages[0]['next_cursor']}"))
    assert entries == [one for page in pages for one in page["results"]]

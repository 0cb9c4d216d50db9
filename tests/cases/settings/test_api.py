"""Settings of cases: who may change them, what they take, and the due times that follow from them."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from tests.cases.conftest import Desk

PATH = "/alert/settings"
OFFICE = {"weekdays": [5, 1, 2, 3, 4, 1], "start_time": "09:00", "end_time": "17:00"}


async def test_wrong(desk: Desk) -> None:
    for body, wrong in (
        ({"start_time": "09:00"}, "required /end_time"),
        ({"start_time": "09:00", "end_time": "09:00"}, "out_of_range /end_time"),
        ({"causes": ["x" * 101]}, "too_long /causes/0"),
        ({"saved_texts": [{"title": "a"}]}, "required /saved_texts/0/body"),
    ):
        assert (422, wrong) == await desk.api.refused("PATCH", PATH, body)


async def test_members_stay(desk: Desk) -> None:
    """Each PATCH changes what it names; lists lose what stands in them twice."""
    first = await desk.api.get(PATH)
    assert [1, 2, 3, 4, 5, 6, 7] == first["weekdays"]
    assert first["start_time"] is first["end_time"] is None
    texts = [{"title": "Sorry", "body": "Dear {customer_name}"}]
    await desk.api.ok("PATCH", PATH, {**OFFICE, "saved_texts": texts})
    after = await desk.api.ok("PATCH", PATH, {"causes": ["Late", "Late", "Broken"], "closed_on_holidays": True})
    assert [1, 2, 3, 4, 5] == after["weekdays"]
    assert ("09:00", "17:00", True) == (after["start_time"], after["end_time"], after["closed_on_holidays"])
    assert ["Late", "Broken"] == after["causes"]
    assert texts == after["saved_texts"]


async def test_due_within_hours(desk: Desk) -> None:
    """Three business hours later, in the organization's zone, and not on a holiday of the contact policy."""
    zone = ZoneInfo("Europe/Athens")
    tomorrow = (await desk.now()).astimezone(zone).date().toordinal() + 1
    off = [datetime.fromordinal(tomorrow).date().isoformat()]
    await desk.api.ok("PUT", "/policy/contact", {"holidays": off})
    await desk.api.ok("PATCH", PATH, {"start_time": "10:00", "end_time": "11:00", "closed_on_holidays": True})
    case = await desk.case(due_hours=3)
    due = datetime.fromisoformat(case["due_time"]).astimezone(zone)
    opened = datetime.fromisoformat(case["created_time"]).astimezone(zone)
    assert 10 <= due.hour <= 11
    assert 3 <= (due.date() - opened.date()).days <= 4
    assert due > opened.astimezone(UTC)

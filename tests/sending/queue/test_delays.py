"""Delays that count from a date of the item: local days, what is refused or too late, and items that follow it."""

from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from afterword.kit.transport.base import Sent
from tests.sending.queue.conftest import BODY, SMS, Client, codes

ATHENS = ZoneInfo("Europe/Athens")
DATE = "delivery_date"
POINTER = f"/metadata/questionnaire/{DATE}"
RULE = "delay_from = 'questionnaire_metadata:delivery_date', delay_cap_days = 3"
IGNORED = 6


@pytest.fixture(autouse=True)
async def counting(client: Client) -> None:
    """The pipeline counts three days from the delivery."""
    await client.queue.change_pipeline(RULE)


async def day(client: Client, days: int) -> date:
    """The day in Athens that lies so many days ahead."""
    return ((await client.queue.now()).astimezone(ATHENS) + timedelta(days=days)).date()


def midnight(of: date) -> datetime:
    return datetime(of.year, of.month, of.day, tzinfo=ATHENS)


def dated(text: object, **more: object) -> dict[str, Any]:
    return {**BODY, "metadata": {"questionnaire": {DATE: str(text)}}, **more}


def sent_at(item: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(item["send_time"])


class TestCreate:
    @pytest.mark.parametrize(
        ("metadata", "code"),
        [
            (None, "required"),
            ({}, "required"),
            ({"questionnaire": {DATE: ""}}, "required"),
            ({"questionnaire": {DATE: None}}, "required"),
            ({"responder": {DATE: "2026-11-20"}}, "required"),
            ({"questionnaire": {DATE: "soon"}}, "invalid_format"),
            ({"questionnaire": {DATE: "2026-02-30"}}, "invalid_format"),
            ({"questionnaire": {DATE: "2026-11-20 25:00"}}, "invalid_date_time"),
            ({"questionnaire": {DATE: "9999-12-31"}}, "out_of_range"),
        ],
    )
    async def test_refused(self, client: Client, metadata: object, code: str) -> None:
        response = await client.send("POST", client.items, {**BODY, "metadata": metadata})
        assert (422, [(POINTER, code)]) == (response.status_code, codes(response))
        assert 0 == await client.queue.value("select count(*) from queue_item")

    async def test_ok(self, client: Client) -> None:
        delivered = await day(client, 1)
        item = await client.create(**dated(delivered))
        assert midnight(delivered + timedelta(days=3)) == sent_at(item)
        row = await client.queue.value("select due_time from queue_item")
        assert sent_at(item) == row
        assert sent_at(item) + timedelta(days=3) == await client.queue.value("select not_after from queue_item")

    async def test_date_with_a_time(self, client: Client) -> None:
        delivered = await day(client, 1)
        local = await client.create(**dated(f"{delivered} 18:02:11"))
        assert midnight(delivered + timedelta(days=3)) + timedelta(hours=18, minutes=2, seconds=11) == sent_at(local)
        abroad = await client.create(**dated(f"{delivered}T12:00:00Z"))
        assert datetime.fromisoformat(f"{delivered + timedelta(days=3)}T12:00:00+00:00") == sent_at(abroad)

    async def test_send_time_wins(self, client: Client) -> None:
        moment = midnight(await day(client, 9)).isoformat()
        for body in ({**BODY, "send_time": moment}, dated(await day(client, 1), send_time=moment)):
            assert moment == (await client.create(**body))["send_time"]

    async def test_zone_of_the_phone(self, client: Client) -> None:
        """A number of Japan: midnight is earlier there."""
        sms = await client.queue.pipeline(channel_id=SMS, title="SMS")
        await sms.change_pipeline(RULE)
        delivered = await day(client, 2)
        other = Client(client.http, sms)
        item = await other.create(**dated(delivered, responder_channel_identifier="+81312345678"))
        expected = datetime.fromisoformat(f"{delivered + timedelta(days=3)}T00:00:00+09:00")
        assert (expected, item["send_time"][-6:]) == (sent_at(item), "+09:00")

    async def test_into_the_window(self, client: Client) -> None:
        await client.queue.change_pipeline("dispatch_start_time = '09:00', dispatch_end_time = '20:00'")
        delivered = await day(client, 1)
        await client.create(**dated(delivered))
        due = await client.queue.value("select due_time from queue_item")
        opening = midnight(delivered + timedelta(days=3)) + timedelta(hours=9)
        assert opening <= due < opening + timedelta(minutes=10)

    async def test_past_and_not_too_late(self, client: Client) -> None:
        """Five days ago: two days late, and three are allowed."""
        await client.create(**dated(await day(client, -5)))
        [dispatch] = await client.queue.worker().send(Sent("reference", 250, "ok"))
        assert dispatch.item.send_time < dispatch.item.due_time

    async def test_too_late(self, client: Client) -> None:
        item = await client.create(**dated(await day(client, -30)))
        assert [] == await client.queue.worker().send(Sent("reference", 250, "ok"))
        found = (await client.send("GET", f"/q/queue/item/{item['item_id']}")).json()
        assert (IGNORED, "too_late") == (found["status_id"], found["reason"])
        assert found["result"].startswith("Ignored: it came after ")

    async def test_batch_and_dry_run(self, client: Client) -> None:
        delivered = await day(client, 1)
        rows = [dated(delivered), BODY, dated("soon"), dated(await day(client, -30))]
        for path, wrong in (("batch", "problem"), ("simulate", "problem")):
            response = await client.send("POST", f"{client.items}/{path}", rows)
            problems = [row[wrong] and row[wrong]["errors"][0] for row in response.json()["results"]]
            assert [None, (POINTER, "required"), (POINTER, "invalid_format"), None] == [
                each and (each["pointer"], each["code"]) for each in problems
            ]
        [good, _, _, late] = response.json()["results"]
        assert midnight(delivered + timedelta(days=3)) == datetime.fromisoformat(good["planned_time"])
        assert ("skip", "too_late") == (late["verdict"], late["reason"])

    async def test_dry_run_of_an_item_that_a_row_before_made(self, client: Client) -> None:
        """The second row keeps the send time of the first one, and needs no date."""
        first = {**BODY, "external_reference": "1", "send_time": midnight(await day(client, 9)).isoformat()}
        second = dated(await day(client, 1), external_reference="1")
        response = await client.send("POST", f"{client.items}/batch?on_conflict=update", [first, second])
        assert [201, 200] == [row["status"] for row in response.json()["results"]]
        assert 1 == await client.queue.value("select count(*) from queue_item where send_time > now() + interval '7d'")


class TestChange:
    async def test_refused(self, client: Client) -> None:
        item = await client.create(**dated(await day(client, 1)), external_reference="order-1")
        path = f"/q/queue/item/{item['item_id']}"
        for text, code in ((None, "required"), ("soon", "invalid_format")):
            response = await client.send("PATCH", path, {"metadata": {"questionnaire": {DATE: text}}})
            assert (422, [(POINTER, code)]) == (response.status_code, codes(response))
        response = await client.send("PUT", f"{client.pipeline}/queue/reference/order-1", {**BODY, "locale": "el"})
        assert (422, [(POINTER, "required")]) == (response.status_code, codes(response))
        assert item == (await client.send("GET", path)).json()

    async def test_follows_its_date(self, client: Client) -> None:
        item = await client.create(**dated(await day(client, 1)), external_reference="order-1")
        later = await day(client, 4)
        changed = await client.send("PUT", f"{client.pipeline}/queue/reference/order-1", dated(later))
        assert (200, midnight(later + timedelta(days=3))) == (changed.status_code, sent_at(changed.json()))
        path, latest = f"/q/queue/item/{item['item_id']}", await day(client, 6)
        changed = await client.send("PATCH", path, {"metadata": {"questionnaire": {DATE: str(latest)}}})
        assert midnight(latest + timedelta(days=3)) == sent_at(changed.json())
        assert sent_at(changed.json()) == await client.queue.value("select due_time from queue_item")

    async def test_send_time_of_its_own_stays(self, client: Client) -> None:
        own = midnight(await day(client, 9)).isoformat()
        item = await client.create(**BODY, send_time=own)
        path = f"/q/queue/item/{item['item_id']}"
        changed = await client.send("PATCH", path, {"metadata": {"questionnaire": {DATE: str(await day(client, 1))}}})
        assert own == changed.json()["send_time"]
        counted = await client.create(**dated(await day(client, 1)))
        body = {"send_time": own, "metadata": {"questionnaire": {DATE: str(await day(client, 2))}}}
        changed = await client.send("PATCH", f"/q/queue/item/{counted['item_id']}", body)
        assert own == changed.json()["send_time"]

    async def test_item_of_an_older_rule(self, client: Client) -> None:
        """Waiting messages keep their time when the delay changes, and do not follow their date any more."""
        item = await client.create(**dated(await day(client, 1)))
        await client.queue.change_pipeline("delay_cap_days = 5")
        body = {"metadata": {"questionnaire": {DATE: str(await day(client, 2))}}}
        changed = await client.send("PATCH", f"/q/queue/item/{item['item_id']}", body)
        assert item["send_time"] == changed.json()["send_time"]


class TestTrace:
    async def told(self, client: Client, item: dict[str, Any]) -> tuple[str | None, str]:
        trace = (await client.send("GET", f"/q/queue/item/{item['item_id']}/trace")).json()
        return trace["delay_summary"], trace["pipeline_summary"]

    async def test_counted(self, client: Client) -> None:
        item = await client.create(**dated(await day(client, 1)))
        said, summary = await self.told(client, item)
        assert "3 days after “delivery_date”" == said
        assert "is due 3 days after its “delivery_date”." in summary

    async def test_send_time_of_its_own(self, client: Client) -> None:
        item = await client.create(**BODY, send_time=midnight(await day(client, 9)).isoformat())
        assert None is (await self.told(client, item))[0]
        await client.queue.change_pipeline("delay_from = null")
        assert None is (await self.told(client, await client.create()))[0]


class TestTrial:
    async def reasons(self, client: Client, **changes: object) -> dict[str | None, tuple[int, int]]:
        response = await client.send("POST", f"{client.pipeline}/trial", changes)
        assert 200 == response.status_code, response.text
        return {one["reason"]: (one["before"], one["after"]) for one in response.json()["outcomes"]}

    async def test_each_at_its_new_time(self, client: Client) -> None:
        """Of five invitations that left at once: one lacks a date, one is too old; one had a time of its own."""
        name = f"questionnaire_metadata:{DATE}"
        made = {"name": DATE, "title": "Delivered", "type": "date", "application_id": client.queue.house.application_id}
        assert 201 == (await client.send("POST", "/q/metadata/questionnaire", made)).status_code
        await client.queue.change_pipeline("delay_from = null, delay_cap_days = 0")
        past = midnight(await day(client, -2)).isoformat()
        for place, body in enumerate([
            {}, dated(await day(client, -30)), dated(await day(client, -4)), dated(await day(client, 0)),
            {"send_time": past},
        ]):  # fmt: skip
            await client.create(**{**BODY, **body, "responder_channel_identifier": f"{place}@example.com"})
        await client.queue.worker().send(Sent("reference", 250, "ok"))
        assert {None: (5, 5)} == await self.reasons(client, delay_cap_days=1)
        expected = {None: (5, 3), "no_date": (0, 1), "too_late": (0, 1)}
        assert expected == await self.reasons(client, delay_from=name, delay_cap_days=3)

"""Items of the last days decided anew: as of their own time, by caps that count the replay, and without a trace."""

from datetime import UTC, datetime, timedelta
from typing import Any

from afterword.core.organizations.access import installation
from afterword.kit import db
from afterword.sending.queue import backtests
from tests.sending.queue.conftest import Client, codes


async def sent(client: Client, days_ago: int, name: str = "ann", **more: Any) -> str:
    """The id of an item that was sent so long ago."""
    item = await client.sent(responder_channel_identifier=f"{name}@example.com", **more)
    await client.queue.execute(
        """update queue_item set send_time = now() - make_interval(days => $2, secs => 1), not_after = now()
           where item_id = $1""",
        *(item["item_id"], days_ago),
    )
    return item["item_id"]


async def replayed(client: Client) -> dict[str, str]:
    organization_id, pipeline_id = client.queue.house.organization_id, client.queue.house.pipeline_id
    async with db.connection(client.queue.pool) as database:
        now = database.clock.now() + timedelta(seconds=1)
        tried = await backtests.try_change(
            database,
            caller=installation(organization_id),
            questionnaire_id=client.queue.house.questionnaire_id,
            pipeline_id=pipeline_id,
            changes={},
            now=now,
        )
        assert tried.before == tried.after
        return dict(tried.before)


async def test_caps_count_what_the_replay_sends(client: Client) -> None:
    ids = [await sent(client, days) for days in (9, 7, 1)]
    other = await sent(client, 5, "bob")
    assert dict.fromkeys([*ids, other], backtests.ASKED) == await replayed(client)
    await client.queue.change_pipeline("frequency_cap_days = 3")
    found = await replayed(client)
    assert ["", "frequency_cap", ""] == [found[item_id] for item_id in ids]
    assert backtests.ASKED == found[other]


async def test_what_came_later_does_not_count(client: Client) -> None:
    early, late = await sent(client, 9), await sent(client, 1)
    await client.send("POST", "/suppression", {"channel_id": 1, "identifier": "ann@example.com"})
    await client.queue.execute("update suppression set created_time = now() - interval '5 days'")
    found = await replayed(client)
    assert backtests.ASKED == found[early]
    assert found[late] not in {backtests.ASKED, "frequency_cap"}


async def test_left_out(client: Client) -> None:
    """Tests, reminders, erased people, what is older, and what is still to come."""
    await sent(client, 40)
    await sent(client, 2, "test")
    await sent(client, 2, "reminder")
    erased = await sent(client, 2, "erased")
    await client.queue.execute("update queue_item set test = true where responder_channel_identifier ~ '^test'")
    await client.queue.execute(
        "update queue_item set source = 'reminder' where responder_channel_identifier ~ '^reminder'"
    )
    await client.queue.execute("update queue_item set anonymized_time = now() where item_id = $1", erased)
    assert {} == await replayed(client)


async def test_holds_end(client: Client) -> None:
    """Items held by a closed window are decided again when it opens."""
    item_id = await sent(client, 8)
    await client.queue.execute("update queue_item set not_after = now() + interval '9 days'")
    await client.queue.change_pipeline("dispatch_start_time = '03:00', dispatch_end_time = '03:30'")
    assert {item_id: backtests.ASKED} == await replayed(client)


class TestRoute:
    def path(self, client: Client) -> str:
        return f"{client.pipeline}/trial"

    async def test_refused(self, client: Client) -> None:
        """As the change would be: of a wrong rule, of another version."""
        path = self.path(client)
        wrong = await client.send("POST", path, {"conditions": {"all": [{"metadata": "nobody", "equals": "1"}]}})
        assert 422 == wrong.status_code
        assert [("/frequency_cap_days", "out_of_range")] == codes(
            await client.send("POST", path, {"frequency_cap_days": -1})
        )
        stale = await client.send("POST", path, {}, if_match='"999"')
        assert 412 == stale.status_code

    async def test_ok(self, client: Client) -> None:
        """Both outcomes beside each other, and nothing of the change is stored."""
        for days in (9, 7, 1):
            await sent(client, days)
        before = await client.ok("GET", client.pipeline)
        reply = await client.send("POST", self.path(client), {"frequency_cap_days": 3, "paused": True})
        assert (200, {"items": 3, "moved": 1}) == (
            reply.status_code, {name: reply.json()[name] for name in ("items", "moved")},
        )  # fmt: skip
        assert [
            {"reason": None, "before": 3, "after": 2},
            {"reason": "frequency_cap", "before": 0, "after": 1},
        ] == reply.json()["outcomes"]
        assert before == await client.ok("GET", client.pipeline)

    async def test_held_beyond_now(self, client: Client) -> None:
        """An invitation that the changed hours would still hold is decided at the time when they open."""
        await sent(client, 0)
        opens = datetime.now(UTC) + timedelta(hours=36)
        reply = await client.send("POST", self.path(client), {"weekdays": [opens.isoweekday()]})
        assert (200, 1) == (reply.status_code, reply.json()["items"])

    async def test_without_invitations(self, client: Client) -> None:
        reply = await client.send("POST", self.path(client), {"frequency_cap_days": 3})
        assert {"items": 0, "moved": 0, "outcomes": [{"reason": None, "before": 0, "after": 0}]} == reply.json()

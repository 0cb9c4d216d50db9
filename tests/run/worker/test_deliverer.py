"""Fan-out of events: fewer at a time where many webhooks want them, or a turn failed."""

import pytest

from afterword import errors
from afterword.events import sending
from afterword.kit import db
from afterword.run.worker import deliverer as deliverers
from afterword.run.worker.deliverer import Deliverer
from tests.events.conftest import Desk, client, deliverer, desk, make_deliverer
from tests.events.test_sending import NOBODY

__all__ = ["client", "deliverer", "desk", "make_deliverer"]


class TestFanOut:
    async def test_fewer_at_a_time_where_many_want_them(
        self, desk: Desk, deliverer: Deliverer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(deliverers, "FAN_OUT_DELIVERIES_MAX", 8)
        deliverer._fan_out_events = 16
        hook = await desk.hook(NOBODY)
        told = await desk.tell(*["tag.added"] * 40)
        limits: list[int] = []
        more = True
        while more:
            limits.append(deliverer._fan_out_events)
            more = await deliverer.fan_out()
        assert [16, 8, 8] == limits[:3]
        assert sorted(told) == sorted(one["event_id"] for one in await desk.deliveries(hook["webhook_id"]))

    async def test_a_turn_that_fails_is_followed_by_a_shorter_one(
        self, desk: Desk, deliverer: Deliverer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Else one that is too much for the database would fail for ever, and nobody be told of anything."""
        fan_out = sending.fan_out
        limits: list[int] = []

        async def refuse(database: db.Database, *, limit: int) -> tuple[int, int]:
            limits.append(limit)
            if limit > 100:
                raise errors.Unavailable("Too slow.")
            return await fan_out(database, limit=limit)

        monkeypatch.setattr(sending, "fan_out", refuse)
        await desk.hook(NOBODY)
        await desk.tell("tag.added")
        for _ in range(3):
            with pytest.raises(errors.Unavailable):
                await deliverer.fan_out()
        await deliverer.fan_out()
        assert [500, 250, 125, 62] == limits
        assert deliverer._fan_out_events > 62

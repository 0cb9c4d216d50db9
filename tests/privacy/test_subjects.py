"""Finding what is a person's, and no other's, and ending what is still on its way to the person."""

from afterword.kit.transport.base import Sent
from tests.privacy.conftest import CANARY, Desk, people


class TestSubjects:
    async def test_waits_for_what_is_being_sent(self, desk: Desk) -> None:
        [known] = await people(desk, [CANARY])
        await desk.execute("delete from suppression")
        item = await desk.ask("POST", desk.items, {"responder_channel_identifier": known.address})
        worker = desk.queue.worker()
        begun = await worker.begin(*await worker.claim())
        assert item["item_id"] == begun[0].item.item_id
        made = await desk.ask("POST", f"/q/responder/{known.responder_id}/erasure", {})
        await desk.work()
        waits = await desk.ask("GET", f"/q/responder/erasure/{made['erasure_id']}")
        assert "running" == waits["state"]
        await worker.settle(Sent("250 ok"), *begun)
        await desk.execute("update erasure set due_time = now() - interval '1s'")
        await desk.work()
        assert "done" == (await desk.ask("GET", f"/q/responder/erasure/{made['erasure_id']}"))["state"]
        assert [] == await desk.traces(CANARY)

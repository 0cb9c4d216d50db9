from tests.worker.conftest import Bench


class TestRun:
    async def test_ok(self, bench: Bench) -> None:
        items = [await bench.queue.schedule(f"ann{n}@example.com") for n in range(20)]

        async with bench.worker():
            await bench.until_done()

        assert {item.item_id: 1 for item in items} == bench.channel.accepted
        assert 20 == await bench.queue.value("select count(*) from queue_item where status = 4")
        assert 20 == await bench.queue.value("select count(*) from event where type = 'queue_item.sent'")

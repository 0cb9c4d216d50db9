"""The queue's figures for /metrics."""

from afterword.kit.transport.base import Refused, Sent
from afterword.sending.queue import metrics as queue_metrics
from tests.sending.queue.conftest import Queue
from tests.sending.queue.test_lanes import MINUTE


async def test_figures(queue: Queue) -> None:
    for number in range(7):
        await queue.schedule(f"a{number}@example.com")
    await queue.schedule("later@example.com", send_time=await queue.now() + MINUTE)
    await queue.execute("update queue_item set due_time = due_time - interval '1 minute' where due_time <= now()")
    worker = queue.worker()
    await worker.send(Sent(), 1)
    await worker.send(Refused("no"), 1)
    await worker.begin(*await worker.claim(1))
    await worker.claim(2)

    figures = await queue.run(queue_metrics.samples)

    by_state = {"".join(value for _, value in figure.labels) or figure.name: figure.value for figure in figures}
    assert (1, 1, 0) == (by_state["accepted"], by_state["refused"], by_state["unknown"])
    assert (2, 2, 1) == (by_state["due"], by_state["claimed"], by_state["sending"])
    assert 60 <= by_state["afterword_queue_oldest_due_seconds"] < 120
    assert (0, 0) == (by_state["afterword_queue_paused_accounts"], by_state["afterword_queue_open_breakers"])

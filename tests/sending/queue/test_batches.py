"""Acts on many items: refusals, dry runs, steps that a worker may lose, stop and resumption."""

import asyncio
import time
import uuid
from datetime import timedelta
from typing import Any

import pytest

from afterword.core.organizations.access import SCOPES
from afterword.kit.db.leases import LeaseLost
from afterword.kit.transport.base import Refused, Sent, Unknown
from afterword.run.worker.long_work import BatchWorker
from afterword.sending.queue import batches
from afterword.sending.queue.batches import LEASES as BATCHES_LEASES
from tests.conftest import House, note_statements
from tests.dates import YEAR
from tests.sending.intake.test_imports import Importing, lines
from tests.sending.queue.conftest import Client, codes

BATCHES = "/q/queue/batch"
LATER = f"{YEAR}-05-02T10:00:00+00:00"


async def imported(client: Client, *addresses: str) -> str:
    """The id of an import that scheduled a message to each address."""
    importing = Importing(client, client.queue)
    rows = [f"{address},{LATER}" for address in addresses]
    content = lines(*rows, header="responder_channel_identifier,send_time")
    return (await importing.done(content))["import_id"]


async def start(client: Client, **body: Any) -> dict[str, Any]:
    return await client.ok("POST", BATCHES, body, status=201)


async def work(client: Client, *, turns: int = 10) -> None:
    worker = BatchWorker(client.queue.pool, uuid.uuid4(), secret=client.queue.secret)
    for _ in range(turns):
        if not await worker.work_next(asyncio.Event()):
            return


async def ended(client: Client, batch_id: str) -> tuple[Any, ...]:
    await work(client)
    found = await client.ok("GET", f"{BATCHES}/{batch_id}")
    return tuple(found[name] for name in ("state", "items_changed", "items_held", "items_skipped", "items_refused"))


class TestRefusals:
    async def test_body(self, client: Client) -> None:
        for body, wrong in (
            ({"action": "move"}, ("/send_time", "required")),
            ({"action": "cancel", "send_time": LATER}, ("/send_time", "exclusive")),
            ({"action": "cancel", "filter": {"pipeline_id": "z" * 22}}, ("/filter/pipeline_id", "unknown_id")),
            ({"action": "cancel", "pipeline_id": "z" * 22}, ("/pipeline_id", "unknown_member")),
            ({"action": "cancel", "filter": {"pipeline": "z" * 22}}, ("/filter/pipeline", "unknown_member")),
        ):
            assert [wrong] == codes(await client.send("POST", BATCHES, body))
        assert 0 == await client.queue.value("select count(*) from queue_batch")

    async def test_repetition_makes_items(self, client: Client) -> None:
        narrow = await client.with_token(SCOPES - {"Queue.Create"})
        assert 403 == (await narrow.send("POST", BATCHES, {"action": "repeat"})).status_code
        assert 201 == (await narrow.send("POST", BATCHES, {"action": "cancel"})).status_code

    async def test_import(self, client: Client, neighbour: House) -> None:
        made = await imported(client, "a@example.com")
        others = Client(client.http, client.queue, neighbour.headers)
        for one, body, wrong in (
            (client, {"import_id": "z" * 22}, "unknown_id"),
            (others, {"import_id": made}, "unknown_id"),
            (client, {"import_id": made, "reason": "paused"}, "exclusive"),
        ):
            refused = await one.send("POST", BATCHES, {"action": "cancel", "filter": body})
            assert [("/filter/import_id", wrong)] == codes(refused)


class TestWork:
    async def test_repeat_what_failed_once(self, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
        """Foreseen by the rules; neither what may have arrived nor what was sent again is sent once more."""
        monkeypatch.setattr("afterword.sending.queue.batches.ITEMS_A_STEP", 2)
        await client.create(responder_channel_identifier="lost@example.com")
        await client.queue.execute("update queue_item set resend_after_seconds = null")
        await client.queue.worker().send(Unknown("silence"))
        for name in ("ann", "bob", "eve"):
            await client.sent(Refused("no"), responder_channel_identifier=f"{name}@example.com")
        await client.create(send_time=LATER)
        await client.send("POST", "/suppression", {"channel_id": 1, "identifier": "bob@example.com"})
        made = await start(client, action="repeat", dry_run=True)
        assert ("done", 2, 0, 1, 0) == await ended(client, made["batch_id"])
        assert 5 == await client.queue.value("select count(*) from queue_item")
        made = await start(client, action="repeat")
        assert ("done", 3, 0, 0, 0) == await ended(client, made["batch_id"])
        assert 3 == await client.queue.value(
            "select count(*) from queue_item where source = 'repetition' and due_time <= now()"
        )
        made = await start(client, action="repeat")
        assert ("done", 0, 0, 0, 0) == await ended(client, made["batch_id"])
        made = await start(client, action="repeat", filter={"reason": "outcome_unknown"})
        assert ("done", 1, 0, 0, 0) == await ended(client, made["batch_id"])
        sent = await client.queue.worker().send(Sent("reference", 250, "ok"))
        assert ["ann", "eve", "lost"] == sorted(one.item.responder_channel_identifier.split("@")[0] for one in sent)

    async def test_the_items_of_an_import_alone(self, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("afterword.sending.queue.batches.ITEMS_A_STEP", 2)
        await client.create(send_time=LATER)
        import_id = await imported(client, *(f"a{number}@example.com" for number in range(5)))
        other = await imported(client, "other@example.com")
        await client.queue.execute(
            "update queue_item set status = 8 where responder_channel_identifier = 'a2@example.com'"
        )
        for dry_run in (True, False):
            made = await start(client, action="cancel", filter={"import_id": import_id}, dry_run=dry_run)
            assert import_id == made["import_id"]
            assert ("done", 4, 0, 0, 0) == await ended(client, made["batch_id"])
        left = await client.queue.fetch("select responder_channel_identifier as a from queue_item where status = 1")
        assert {"ann@example.com", "other@example.com"} == {row["a"] for row in left}
        made = await start(client, action="cancel", filter={"import_id": other}, dry_run=True)
        assert ("done", 1, 0, 0, 0) == await ended(client, made["batch_id"])

    async def test_many_items_take_no_more_statements_than_two(
        self, client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Whoever stops a mistake in time must be faster than those who send it."""
        statements = note_statements(monkeypatch, client.queue.pool)
        for action in ({"action": "move", "send_time": f"{YEAR}-06-02T10:00:00+00:00"}, {"action": "cancel"}):
            took = list[int]()
            for number in (2, 40):
                import_id = await imported(client, *(f"{action['action']}{n}@example.com" for n in range(number)))
                made = await start(client, filter={"import_id": import_id}, **action)
                statements.clear()
                await work(client)
                took.append(len(statements))
                assert ("done", number, 0, 0, 0) == await ended(client, made["batch_id"])
            assert took[0] == took[1]

    async def test_what_waits_in_a_removed_pipeline_can_only_be_cancelled(self, client: Client) -> None:
        import_id = await imported(client, "a@example.com", "b@example.com")
        filtered = {"import_id": import_id}
        moved = await start(client, action="move", send_time=f"{YEAR}-06-02T10:00:00+00:00", filter=filtered)
        cancelled = await start(client, action="cancel", filter=filtered)
        await client.queue.execute("update pipeline set deleted_time = now()")
        assert ("done", 0, 0, 0, 2) == await ended(client, moved["batch_id"])
        assert ("done", 2, 0, 0, 0) == await ended(client, cancelled["batch_id"])

    async def test_cancel_what_waits(self, client: Client) -> None:
        ids = [(await client.create(send_time=LATER))["item_id"] for _ in range(3)]
        await client.create(send_time=f"{YEAR}-06-02T10:00:00+00:00")
        until = {"to_time": f"{YEAR}-06-01T00:00:00+00:00"}
        dry = await start(client, action="cancel", filter=until, dry_run=True)
        assert ("done", 3, 0, 0, 0) == await ended(client, dry["batch_id"])
        assert 0 == await client.queue.value("select count(*) from queue_item where status = 7")
        made = await start(client, action="cancel", filter=until)
        assert ("done", 3, 0, 0, 0) == await ended(client, made["batch_id"])
        query = "select count(*) from queue_item where status = 7 and item_id = any($1::text[])"
        assert 3 == await client.queue.value(query, ids)
        events = "select count(*) from event where type = 'queue_item.aborted' and actor_kind = 'token'"
        assert 3 == await client.queue.value(events)
        assert 2 == await client.queue.value("select count(*) from audit_entry where thing_kind = 'queue_batch'")

    async def test_send_now_and_move_in_steps(self, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("afterword.sending.queue.batches.ITEMS_A_STEP", 2)
        for day in range(1, 6):
            await client.create(send_time=f"{YEAR}-05-0{day}T10:00:00+00:00")
        made = await start(client, action="move", send_time=f"{YEAR}-05-03T10:00:00+00:00")
        assert ("done", 4, 0, 0, 0) == await ended(client, made["batch_id"])
        made = await start(client, action="send_now")
        assert ("done", 5, 0, 0, 0) == await ended(client, made["batch_id"])
        assert 5 == await client.queue.value("select count(*) from queue_item where due_time <= now()")

    async def test_the_clock_of_the_process_is_late(self, client: Client) -> None:
        """Items and acts have the time of their transaction, so what was there before is meant."""
        await client.create(send_time=LATER)
        clock = client.queue.pool.clock
        clock.set(clock.now() - timedelta(seconds=2), monotonic=time.monotonic())
        made = await start(client, action="cancel")
        assert ("done", 1, 0, 0, 0) == await ended(client, made["batch_id"])

    async def test_dry_run_foresees_the_rules(self, client: Client) -> None:
        await client.create(send_time=LATER)
        await client.create(send_time=LATER, responder_channel_identifier="bob@example.com")
        await client.send("POST", "/suppression", {"channel_id": 1, "identifier": "bob@example.com"})
        made = await start(client, action="send_now", dry_run=True)
        assert ("done", 1, 0, 1, 0) == await ended(client, made["batch_id"])
        await client.queue.change_pipeline("paused = true")
        made = await start(client, action="send_now", dry_run=True)
        assert ("done", 0, 2, 0, 0) == await ended(client, made["batch_id"])

    async def test_a_lost_lease_settles_nothing(self, client: Client) -> None:
        """A worker that overslept leaves neither items nor counts behind."""
        await client.create(send_time=LATER)
        made = await start(client, action="cancel")
        job = await client.queue.run(BATCHES_LEASES.claim, owner=uuid.uuid4(), now=await client.queue.now())
        assert job is not None
        with pytest.raises(LeaseLost):
            await client.queue.run(
                batches.work, job=job, owner=uuid.uuid4(), secret=client.queue.secret, now=await client.queue.now()
            )
        assert 0 == await client.queue.value("select count(*) from queue_item where status = 7")
        await client.queue.execute("update queue_batch set lease_until = now() - interval '1 second'")
        assert ("done", 1, 0, 0, 0) == await ended(client, made["batch_id"])

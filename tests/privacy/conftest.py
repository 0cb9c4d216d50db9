"""A house whose people left something of themselves in every table there is."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4
from zlib import crc32

import asyncpg
import httpx2
import pytest
from msgspec.structs import replace

from afterword.asking.instances.answers import lock_context, save_answers
from afterword.cases import service
from afterword.core.answers.values import Given
from afterword.kit import db
from afterword.kit.transport.base import Sent
from afterword.listening.responses import rows
from afterword.privacy import service as erasures
from afterword.run.app import create_app
from afterword.run.worker.long_work import Exporter, Importer
from afterword.sending.queue import outbox
from tests.conftest import POOL_SIZE, House, build_house, settled
from tests.dates import YEAR
from tests.sending.channels.conftest import MESSAGE
from tests.sending.queue.conftest import Queue

LATER = f"{YEAR}-07-01T09:00:00+03:00"
TURNS_MAX = 2_000
ROUNDS_MAX = 5


@dataclass(kw_only=True)
class Known:
    """A person as the test knows it: `canary` stands in every field that can hold something of a person."""

    canary: str
    responder_id: str
    instance_id: str
    item_ids: list[str]

    @property
    def address(self) -> str:
        return address_of(self.canary)


def address_of(canary: str) -> str:
    return f"{canary}@example.com"


@dataclass
class Desk:
    """Actions of the tests of erasures."""

    pool: db.Pool
    house: House
    http: httpx2.AsyncClient
    queue: Queue

    @property
    def base(self) -> str:
        return f"/q/questionnaire/{self.house.questionnaire_id}"

    @property
    def items(self) -> str:
        return f"{self.base}/pipeline/{self.house.pipeline_id}/queue/item"

    async def ask(self, method: str, path: str, body: object = None, *, status: int = 0, **headers: str) -> Any:
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        response = await self.http.request(method, path, json=body, headers={**self.house.headers, **names})
        wanted = status or {"POST": 201, "DELETE": 204}.get(method, 200)
        assert wanted == response.status_code, response.text
        return response.json() if response.content else None

    async def execute(self, statement: Any, *values: object) -> None:
        async with db.transaction(self.pool) as database:
            await database.execute(statement, *values)

    async def value(self, statement: Any, *values: object) -> Any:
        async with db.connection(self.pool) as database:
            return await database.fetch_value(statement, *values)

    async def erase(self, responder_id: str, **request: object) -> dict[str, Any]:
        """Ask for it and let the worker's job do it; a turn that a busy machine ended is repeated at once."""
        made = await self.ask("POST", f"/q/responder/{responder_id}/erasure", request)
        shown: dict[str, Any] = made
        for _ in range(ROUNDS_MAX):
            await self.work()
            shown = await self.ask("GET", f"/q/responder/erasure/{made['erasure_id']}")
            if shown["state"] == "done":
                break
            await self.execute("update erasure set due_time = now() - interval '1s'")
        return shown

    async def work(self) -> int:
        """The worker's job, until there is nothing to go on with; how many turns it took."""
        for turns in range(TURNS_MAX):
            async with db.transaction(self.pool) as database:
                if not await erasures.work_next(database, now=database.clock.now()):
                    return turns
        raise AssertionError("the erasure does not come to its end")

    async def traces(self, canary: str) -> list[str]:
        """The tables with a row in which the canary stands, as text, in JSON or in bytes."""
        tables = await self.value(
            """select array_agg(relname::text order by relname) from pg_class
               where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace"""
        )
        found = []
        for table in tables:
            query: Any = f"select count(*) from {table} t where lower(t::text) like $1 or t::text like $2"
            if await self.value(query, f"%{canary.lower()}%", f"%{canary.encode().hex()}%"):
                found.append(table)
        return found


@pytest.fixture
async def desk(database_url: str) -> AsyncGenerator[Desk]:
    async with desk_on(database_url) as desk:
        yield desk


@asynccontextmanager
async def desk_on(url: str, house: House | None = None) -> AsyncGenerator[Desk]:
    """A desk on a database, with a new house where it has none."""
    async with await db.open_pool(url, size_max=POOL_SIZE) as pool:
        house = house or await build_house(pool, domain="demo")
        asgi: Any = create_app(pool=pool, site=house.site)
        transport = httpx2.ASGITransport(app=asgi)
        async with httpx2.AsyncClient(transport=transport, base_url="https://answers.example/v3.2") as http:
            yield Desk(pool, house, http, Queue(pool, house, house.pipeline_id))


@asynccontextmanager
async def backup_of(url: str, server_url: str) -> AsyncGenerator[str]:
    """A copy of a database to which nobody is connected, as it is now, for as long as it is used."""
    source = urlsplit(url).path.lstrip("/")
    name = f"test_{uuid4().hex}"
    admin: Any = await asyncpg.connect(server_url)
    try:
        await admin.execute(f"create database {name} template {source} strategy file_copy")
        yield url.replace(f"/{source}?", f"/{name}?")
        await admin.execute(f"drop database {name} with (force)")
    finally:
        await admin.close()


async def people(desk: Desk, canaries: Sequence[str]) -> list[Known]:
    """These people, asked, answering, complaining, written about, exported and called back for."""
    declared = {"name": "store_section", "title": "Section", "type": "text", "level": "organization"}
    await desk.ask("POST", "/q/metadata/questionnaire", declared)
    alert = {"application_id": desk.house.application_id, "title": "Any", "trigger": "completed"}
    await desk.ask("POST", "/alert", alert)
    hook = {"title": "CRM", "target_url": "https://hooks.example.com/", "event_types": ["*"], "active": False}
    webhook = await desk.ask("POST", "/webhook", hook)
    found = [await _asked(desk, canary) for canary in canaries]
    await settled(desk.pool)
    async with db.transaction(desk.pool) as database:
        while await service.raise_next(database, now=database.clock.now(), limit=500):
            pass
        while await rows.follow(database, now=database.clock.now()):
            pass
    for each in found:
        await _written_about(desk, each, webhook["webhook_id"])
    await desk.ask("POST", f"{desk.base}/export", {"format": "csv"})
    assert await Exporter(desk.pool, uuid4()).work_next(asyncio.Event())
    return found


async def _asked(desk: Desk, canary: str) -> Known:
    """Items that were sent, that wait, that ended unsent, that came in a file; and a whole response."""
    address = address_of(canary)
    metadata = {
        "questionnaire": {"undeclared": canary, "transaction_id": canary, "store_section": "Garden"},
        "responder": {
            "email": address,
            "phone_number": f"+30694{crc32(canary.encode()) % 10_000_000:07}",
            "first_name": canary,
        },
    }
    body = {"responder_channel_identifier": address, "metadata": metadata, "locale": f"en-x-{canary[:8]}"}
    key = f"key-of-{len(canary)}-{uuid4().hex}"
    cancelled = await desk.ask("POST", desk.items, {**body, "send_time": LATER})
    await desk.ask("PATCH", f"/q/queue/item/{cancelled['item_id']}", {"status_id": 5, "result": f"as {canary} wished"})
    sent = await desk.ask("POST", desk.items, {**body, "external_reference": f"order-{canary}"}, Idempotency_Key=key)
    waiting = await desk.ask("POST", desk.items, {**body, "send_time": LATER})
    assert await desk.queue.worker().send(Sent("250 ok"))
    shown = await desk.ask("GET", f"/q/queue/item/{sent['item_id']}")
    assert 3 == shown["status_id"]
    known = Known(
        canary=canary,
        responder_id=shown["responder_id"],
        instance_id=shown["questionnaire_instance_id"],
        item_ids=[cancelled["item_id"], sent["item_id"], waiting["item_id"]],
    )
    await answer(desk, known.instance_id, f"I am {known.canary}")
    file = f"responder_channel_identifier,send_time,external_reference\n{address},{LATER},row-{canary}\n"
    for _ in range(2):  # the second one fails on the item of the first
        response = await desk.http.post(
            f"{desk.base}/pipeline/{desk.house.pipeline_id}/queue/import",
            content=file.encode(),
            headers={**desk.house.headers, "Content-Type": "text/csv"},
        )
        assert 201 == response.status_code, response.text
    while await Importer(desk.pool, uuid4(), secret=desk.house.site.secret).work_next(asyncio.Event()):
        pass
    return known


async def answer(desk: Desk, instance_id: str, words: str) -> None:
    async with db.transaction(desk.pool) as database:
        context = await lock_context(database, instance_id=instance_id)
        questions = context.definition.questions()
        [text] = [question for question in questions if question.type == "text"]
        saved = await save_answers(
            database,
            context=context,
            answers={questions[0].question_id: Given(4), text.question_id: Given(words)},
            complete=True,
            now=database.clock.now(),
        )
        assert () == saved.wrong


async def _written_about(desk: Desk, known: Known, webhook_id: str) -> None:
    """Texts of agents, providers and receivers of webhooks; some are put where only faults would put them."""
    canary, organization_id = known.canary, desk.house.organization_id
    sent = known.item_ids[1]
    await desk.ask("POST", f"/q/instance/{known.instance_id}/tag", {"tag": "angry"})
    await desk.ask("PATCH", f"/q/responder/{known.responder_id}", {"time_zone": "Europe/Athens"})
    case_id = await desk.value("select alert_instance_id from alert_instance where instance_id = $1", known.instance_id)
    await desk.ask("POST", f"/alert/instance/{case_id}/comment", {"body": f"Called {canary}"})
    lifted = await desk.ask(
        "POST", "/suppression", {"channel_id": 1, "identifier": known.address, "note": f"{canary} rang"}
    )
    await desk.ask("DELETE", f"/suppression/{lifted['suppression_id']}")
    await desk.ask(
        "POST", "/suppression", {"channel_id": 1, "identifier": known.address, "note": f"{canary} rang again"}
    )
    for statement, values in (
        ("update attempt set reply = $2, provider_reference = $2 where item_id = $1", (sent, canary)),
        (("update queue_item set trace = jsonb_build_array(jsonb_build_object('rule', 'conditions', 'passed', true, "
         "'detail', $2::text, 'until_time', null)) where item_id = $1"), (sent, canary)),
        ("update answer set other_text = $2 where instance_id = $1", (known.instance_id, canary)),
        (("insert into response_file (organization_id, instance_id, file_id, question_id, name, media_type, bytes, "
         "content_hash, content, created_time) select organization_id, instance_id, 'F', question_id, $2, 'x', 1, "
         "sha256(''), convert_to($2, 'UTF8'), now() from answer where instance_id = $1 "
         "and jsonb_typeof(value) = 'string'"), (known.instance_id, canary)),
        (("update alert_instance set call_back_time = now(), call_back_number = $2, call_back_note = $2, "
         "matched = jsonb_build_array("
         "jsonb_build_object('subject', 'a', 'operator', 'equal', 'value', 1, 'matches', true, 'actual', $2::text)) "
         "where instance_id = $1"), (known.instance_id, canary)),
        (("insert into alert_message (organization_id, message_id, alert_instance_id, address, subject, body, locale, "
         "key, error, whole) select organization_id, alert_instance_id, alert_instance_id, $3, $2, $2, 'en', $2, $2, "
         "$2 from alert_instance where instance_id = $1"), (known.instance_id, canary, known.address)),
        ("update questionnaire_instance set reference_id = $2, external_id = $2 where instance_id = $1",
         (known.instance_id, canary)),
        ("update responder set locale = $2 where responder_id = $1", (known.responder_id, f"en-x-{canary[:8]}")),
        (("insert into delivery_report (organization_id, item_id, kind, is_hard, is_proven, code, said) "
         "values ($1, $2, 'bounced', false, true, '', $3)"), (organization_id, sent, canary)),
        (("insert into provider_reference (organization_id, account_id, provider_reference, item_id) "
         "select organization_id, account_id, $2, $3 from pipeline where organization_id = $1 limit 1"),
         (organization_id, canary, sent)),
        (("insert into contact (organization_id, address_key, recent) select organization_id, address_key, "
         "jsonb_build_array($2::text) from responder_address where responder_id = $1 on conflict "
         "(organization_id, address_key) do update set recent = excluded.recent"), (known.responder_id, canary)),
        (("insert into trial (organization_id, trial_id, questionnaire_id, pipeline_id, channel_id, recipient, locale, "
         "metadata, subject, body) select organization_id, $3, questionnaire_id, pipeline_id, 1, $2, 'en', "
         "jsonb_build_object('name', $2::text), $2, $2 from pipeline where organization_id = $1 limit 1"),
         (organization_id, known.address, uuid4().hex[:22])),
        (("insert into source_event (organization_id, source_event_id, source_id, event_id, what, name, time, "
         "object_id, subject, person, facts, is_test, received_time) select organization_id, $3, $3, $4, 'other', $4, "
         "now(), $4, $4, jsonb_build_object('email', $2::text, 'first_name', $4::text), "
         "jsonb_build_object('a', $4::text), false, now() from pipeline where organization_id = $1 limit 1"),
         (organization_id, known.address, uuid4().hex[:22], canary)),
        (("with s as (insert into source (organization_id, source_id, title, kind, created_time, updated_time) select "
         "organization_id, $2, 'Desk', 'zendesk', now(), now() from queue_item where item_id = $1 returning *) "
         "insert into source_item (organization_id, item_id, source_id, object_id, what) "
         "select organization_id, $1, source_id, $3, 'ticket.solved' from s"), (sent, uuid4().hex[:22], canary)),
        (("insert into delivery (organization_id, delivery_id, webhook_id, event_id, event_type, subject_id, seq, "
         "response_excerpt, error) select organization_id, left(md5($2 || event_id), 22), $3, event_id, type, "
         "subject_id, seq, $2, $2 from event where subject_id = $1"), (sent, canary, webhook_id)),
    ):  # fmt: skip
        await desk.execute(statement, *values)
    async with db.transaction(desk.pool) as database:
        own = {"organization_id": organization_id, "item_id": sent, "recipient": known.address}
        await outbox.insert_message(database, message=replace(MESSAGE, **own, subject=f"Dear {canary}"))


CANARY = "zqcassandra"

"""A queue on a real PostgreSQL: items by the shortest way, workers that make one move at a time, what came of it."""

import random
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Concatenate, ParamSpec, TypeVar

import httpx2
import pytest

from afterword.core.scheduling.lanes import AccountKey, LaneKey
from afterword.core.wire.times import Moment
from afterword.kit import db
from afterword.kit.transport.base import Outcome, Sent
from afterword.kit.transport.mime import Report
from afterword.kit.web.fields import MetadataGroups
from afterword.run.app import create_app
from afterword.sending.pipelines import service as pipelines
from afterword.sending.queue import service
from afterword.sending.queue.lanes import SettingsCache
from afterword.sending.queue.records import STATUS_ABORTED, QueueItemRecord, QueueItemRequest, QueueItemUpdate
from afterword.sending.queue.sending import service as sending
from afterword.sending.queue.sending.dispatches import Dispatch
from afterword.sending.queue.sending.outcomes import Waits
from afterword.sending.queue.sending.service import Lease, Result
from afterword.sending.queue.service import NewItem
from afterword.sending.receipts import service as receipts
from tests.conftest import House
from tests.making import make_token

EMAIL, SMS, LINK, OUTBOX = 1, 2, 4, 5
LEASE_SECONDS = 60.0
MARGIN_SECONDS = 5.0
BODY = {"responder_channel_identifier": "ann@example.com"}
OK = Sent("reference", 250, "ok")
MAIL = {"channel_id": EMAIL, "title": "Other", "message_subject": "Well?", "message_body": "Tell us."}
P = ParamSpec("P")
Found = TypeVar("Found")


@dataclass
class Worker:
    """One worker process as far as the database can tell: it claims, begins and settles by the services."""

    queue: "Queue"
    lease: Lease = field(
        default_factory=lambda: Lease(owner=uuid.uuid4(), seconds=LEASE_SECONDS, margin_seconds=MARGIN_SECONDS)
    )
    cache: SettingsCache = field(default_factory=SettingsCache)

    async def claim(
        self,
        count: int = 10,
        *,
        shares: Mapping[LaneKey, int] | None = None,
        metered: frozenset[AccountKey] = frozenset(),
        by_domain: frozenset[AccountKey] = frozenset(),
    ) -> list[Dispatch]:
        async with db.transaction(self.queue.pool) as database:
            prepared = await sending.claim(
                database,
                shares=shares or {self.queue.lane: count},
                metered=metered,
                lease=self.lease,
                cache=self.cache,
                secret=self.queue.secret,
                draw=random.random,
                by_domain=by_domain,
            )
        return list(prepared.dispatches)

    async def begin(self, *dispatches: Dispatch) -> list[Dispatch]:
        begun = await self.queue.run(sending.begin, dispatches=dispatches, lease=self.lease)
        return [dispatch for dispatch in dispatches if dispatch.item.lease_key in begun]

    async def settle(self, outcome: Outcome, *dispatches: Dispatch, waits: Waits = Waits()) -> None:  # noqa: B008
        async with db.transaction(self.queue.pool) as database:
            results = [Result(dispatch, outcome, waits) for dispatch in dispatches]
            await sending.settle(database, results=results, now=database.clock.now())

    async def send(self, outcome: Outcome, count: int = 10) -> list[Dispatch]:
        """Claim, begin and settle."""
        dispatches = await self.claim(count)
        begun = await self.begin(*dispatches)
        await self.settle(outcome, *begun)
        return dispatches

    async def hand_back(self, *dispatches: Dispatch) -> None:
        await self.queue.run(sending.hand_back, items=[dispatch.item for dispatch in dispatches])

    async def renew(self, *dispatches: Dispatch) -> int:
        lease_keys = [dispatch.item.lease_key for dispatch in dispatches]
        return len(await self.queue.run(sending.renew, lease_keys=lease_keys, lease_seconds=LEASE_SECONDS))


@dataclass
class Queue:
    """The queue of one house."""

    pool: db.Pool
    house: House
    pipeline_id: str

    @property
    def secret(self) -> bytes:
        return self.house.site.secret

    @property
    def lane(self) -> LaneKey:
        return self.house.organization_id, self.pipeline_id

    def worker(self) -> Worker:
        return Worker(self)

    async def pipeline(self, **fields: Any) -> "Queue":
        """The same house with another pipeline in view."""
        columns: dict[str, Any] = {**MAIL, "questionnaire_id": self.house.questionnaire_id, **fields}
        async with db.transaction(self.pool) as database:
            made = await pipelines.create_pipeline(
                database, organization_id=self.house.organization_id, now=database.clock.now(), **columns
            )
        return replace(self, pipeline_id=made.pipeline_id)

    async def change_pipeline(self, statement: str) -> None:
        await self.execute(
            f"update pipeline set version = version + 1, {statement} where organization_id = $1 and pipeline_id = $2",
            *self.lane,
        )

    async def schedule(
        self,
        address: str = "ann@example.com",
        *,
        send_time: datetime | None = None,
        locale: str | None = None,
        metadata: Mapping[str, Mapping[str, str | None]] | None = None,
        external_reference: str | None = None,
        test: bool = False,
    ) -> QueueItemRecord:
        async with db.transaction(self.pool) as database:
            return await service.schedule(
                database,
                new=NewItem(
                    caller=self.house.caller,
                    questionnaire_id=self.house.questionnaire_id,
                    pipeline_id=self.pipeline_id,
                    request=QueueItemRequest(
                        responder_channel_identifier=address,
                        locale=locale,
                        send_time=None if send_time is None else Moment(send_time, 0),
                        metadata=MetadataGroups(**{kind: dict(values) for kind, values in (metadata or {}).items()}),
                        external_reference=external_reference,
                    ),
                    test=test,
                ),
                secret=self.secret,
            )

    async def sent(self, address: str = "ann@example.com", outcome: Outcome = OK) -> QueueItemRecord:
        """An item that a worker has sent, with this outcome."""
        item = await self.schedule(address)
        await self.worker().send(outcome)
        return item

    async def cancel(self, item: QueueItemRecord, result: str | None = None) -> QueueItemRecord:
        return await self.change(item, QueueItemUpdate(status_id=STATUS_ABORTED, result=result))

    async def change(self, item: QueueItemRecord, change: QueueItemUpdate) -> QueueItemRecord:
        return await self.run(
            service.change, caller=self.house.caller, item_id=item.item_id, change=change, secret=self.secret
        )

    async def delete(self, item: QueueItemRecord) -> None:
        await self.run(service.delete, caller=self.house.caller, item_id=item.item_id)

    async def resolve(self, item: QueueItemRecord, *, is_sent: bool) -> QueueItemRecord:
        return await self.run(service.resolve, caller=self.house.caller, item_id=item.item_id, is_sent=is_sent)

    async def take(self, *said: Report, account_id: str | None = None, house: House | None = None) -> int:
        """Take reports about messages, as those of an account."""
        account_id = account_id or await self.account_id()
        async with db.transaction(self.pool) as database:
            return await receipts.take(
                database,
                organization_id=(house or self.house).organization_id,
                account_id=account_id,
                reports=said,
                now=database.clock.now(),
                secret=self.secret,
            )

    async def account_id(self) -> str:
        return await self.value("select account_id from pipeline where pipeline_id = $1", self.pipeline_id)

    async def reap(self, waits: Waits = Waits()) -> int:  # noqa: B008
        return await self.run(sending.reap, limit=500, waits=waits)

    async def run(
        self, work: Callable[Concatenate[db.Database, P], Awaitable[Found]], *values: P.args, **named: P.kwargs
    ) -> Found:
        """Call a service in a transaction of its own."""
        async with db.transaction(self.pool) as database:
            return await work(database, *values, **named)

    async def now(self) -> datetime:
        return await self.value("select now()")

    async def row(self, item: QueueItemRecord | Dispatch) -> Mapping[str, Any]:
        """Every column of the item."""
        item_id = item.item_id if isinstance(item, QueueItemRecord) else item.item.item_id
        [row] = await self.fetch("select * from queue_item where item_id = $1", item_id)
        return row

    async def status(self, item: QueueItemRecord) -> int:
        return (await self.row(item))["status"]

    async def attempts(self, item: QueueItemRecord) -> list[str | None]:
        rows = await self.fetch("select outcome from attempt where item_id = $1 order by epoch", item.item_id)
        return [row["outcome"] for row in rows]

    async def told(self, item: QueueItemRecord) -> list[str]:
        """The types of the item's events, the terminal one marked."""
        rows = await self.fetch("select type, is_terminal from event where subject_id = $1 order by seq", item.item_id)
        return [row["type"].removeprefix("queue_item.") + ("!" if row["is_terminal"] else "") for row in rows]

    async def shift(self, amount: timedelta) -> None:
        """Let time pass: everything that is stored moves into the past."""
        await self.execute(
            """update queue_item set due_time = due_time - $1::interval, not_after = not_after - $1::interval,
                 lease_until = lease_until - $1::interval, send_time = send_time - $1::interval""",
            amount,
        )

    async def fetch(self, statement: str, *values: object) -> Sequence[Mapping[str, Any]]:
        async with db.connection(self.pool) as database:
            return await database._connection.fetch(statement, *values)

    async def value(self, statement: str, *values: object) -> Any:
        async with db.connection(self.pool) as database:
            return await database._connection.fetchval(statement, *values)

    async def execute(self, statement: str, *values: object) -> None:
        async with db.connection(self.pool) as database:
            await database._connection.execute(statement, *values)


class Client:
    """Speaks as the house, as one token of it, or as nobody."""

    def __init__(self, http: httpx2.AsyncClient, queue: Queue, headers: Mapping[str, str] | None = None) -> None:
        self.http, self.queue = http, queue
        self.headers = queue.house.headers if headers is None else headers

    @property
    def pipeline(self) -> str:
        return f"/q/questionnaire/{self.queue.house.questionnaire_id}/pipeline/{self.queue.pipeline_id}"

    @property
    def items(self) -> str:
        return f"{self.pipeline}/queue/item"

    def paths(self, item_id: str) -> list[str]:
        return [f"{self.items}/{item_id}", f"/q/queue/item/{item_id}"]

    async def send(self, method: str, path: str, body: object = None, **headers: str) -> httpx2.Response:
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.http.request(method, path, json=body, headers={**self.headers, **names})

    async def ok(self, method: str, path: str, body: object = None, *, status: int = 200, **headers: str) -> Any:
        """The document of an answer that has this status."""
        response = await self.send(method, path, body, **headers)
        assert status == response.status_code, response.text
        return response.json()

    async def create(self, **body: object) -> dict[str, Any]:
        return await self.ok("POST", self.items, {**BODY, **body}, status=201)

    async def sent(self, outcome: Outcome = OK, **body: object) -> dict[str, Any]:
        """An item that a worker has sent, with this outcome."""
        item = await self.create(**body)
        await self.queue.worker().send(outcome)
        return item

    async def with_token(self, scopes: frozenset[str], **limits: Any) -> "Client":
        text = await make_token(self.queue.pool, self.queue.house.organization_id, scopes=scopes, **limits)
        return Client(self.http, self.queue, {"Authorization": f"Bearer {text}"})


def codes(response: httpx2.Response) -> list[tuple[str | None, str]]:
    return [(error.get("pointer"), error["code"]) for error in response.json()["errors"]]


@pytest.fixture
async def queue(pool: db.Pool, house: House) -> Queue:
    return Queue(pool, house, house.pipeline_id)


@pytest.fixture
async def http(pool: db.Pool, house: House) -> AsyncGenerator[httpx2.AsyncClient]:
    """A client of the whole application, without a token."""
    asgi: Any = create_app(pool=pool, site=house.site)
    async with httpx2.AsyncClient(
        transport=httpx2.ASGITransport(app=asgi), base_url="https://answers.example/v3.2"
    ) as client:
        yield client


@pytest.fixture
def client(http: httpx2.AsyncClient, queue: Queue) -> Client:
    return Client(http, queue)

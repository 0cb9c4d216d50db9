"""An organization with alerts: its people's tokens, responses as they come in, the worker's jobs called directly."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Concatenate, ParamSpec, TypeVar

import httpx2
import pytest

from afterword.asking.instances import issuing, service as instances
from afterword.asking.instances.answers import lock_context, save_answers
from afterword.asking.instances.issuing import IssueInput
from afterword.asking.instances.store import Instance
from afterword.asking.questionnaires import store as questionnaires_store
from afterword.cases import notifications, service
from afterword.core.answers.values import Given
from afterword.core.questionnaires.definition import Definition
from afterword.events.service import Event
from afterword.kit import db
from afterword.tenants.organizations import service as accounts
from tests.conftest import House
from tests.contract.alerting import read_all
from tests.event_log import list_events
from tests.making import make_token

P = ParamSpec("P")
Found = TypeVar("Found")


@dataclass
class Client:
    """The API as one token has it."""

    http: httpx2.AsyncClient
    token: str
    user_id: str | None = None

    async def send(self, method: str, path: str, body: object = None, **options: Any) -> httpx2.Response:
        headers = {"Authorization": f"Bearer {self.token}", **options.pop("headers", {})}
        more: dict[str, Any] = {} if body is None else {"json": body}
        return await self.http.request(method, f"/v3.2{path}", headers=headers, **more, **options)

    async def ok(self, method: str, path: str, body: object = None, **options: Any) -> Any:
        response = await self.send(method, path, body, **options)
        assert response.is_success, response.text
        return response.json() if response.content else None

    async def get(self, path: str) -> Any:
        return await self.ok("GET", path)

    async def refused(self, method: str, path: str, body: object = None, **options: Any) -> tuple[int, str]:
        """Status and code; of wrong fields the first one's code and place."""
        response = await self.send(method, path, body, **options)
        document = response.json()
        if document["errors"]:
            first = document["errors"][0]
            return response.status_code, f"{first['code']} {first.get('pointer', first.get('parameter'))}"
        return response.status_code, document["code"]


@dataclass
class Desk:
    """Actions of the tests of alerts."""

    pool: db.Pool
    house: House
    http: httpx2.AsyncClient
    api: Client  # the owner's
    definition: Definition

    @property
    def score_id(self) -> str:
        """The question with a score from 1 to 5."""
        return self.definition.questions()[0].question_id

    @property
    def comment_id(self) -> str:
        """The question with a text."""
        return self.definition.questions()[-1].question_id

    def low(self) -> dict[str, Any]:
        """Conditions: dissatisfied."""
        return {"subject": f"question:{self.score_id}", "operator": "less_equal", "value": 2}

    async def alert(self, **fields: Any) -> dict[str, Any]:
        body = {"application_id": self.house.application_id, "title": "Unhappy", **fields}
        return await self.api.ok("POST", "/alert", body)

    async def person(self, name: str, role: str = "agent", **options: Any) -> Client:
        """A user and a token with all that the role allows."""
        async with db.transaction(self.pool) as database:
            now, organization_id = database.clock.now(), self.house.organization_id
            user = await accounts.create_user(
                database, organization_id=organization_id, email=f"{name}@demo.example", role=role, now=now, **options
            )
        return await self.token(user_id=user.user_id)

    async def token(self, *, user_id: str | None = None, **options: Any) -> Client:
        text = await make_token(self.pool, self.house.organization_id, user_id=user_id, **options)
        return Client(self.http, text, user_id)

    async def issue(self, *, responder_id: str | None = None, test: bool = False) -> Instance:
        caller = self.house.caller
        async with db.transaction(self.pool) as database:
            instance, _ = await issuing.issue(
                database,
                caller=caller,
                questionnaire_id=self.house.questionnaire_id,
                request=IssueInput(responder_id=responder_id),
                now=database.clock.now(),
                secret=self.house.site.secret,
                draw=lambda: 0.0,
            )
            if test:
                await database.execute("update questionnaire_instance set test = true")
                instance = await instances.get(database, caller=caller, instance_id=instance.instance_id)
        return instance

    async def answer(self, instance: Instance, answers: Mapping[str, object], *, complete: bool = True) -> Instance:
        async with db.transaction(self.pool) as database:
            saved = await save_answers(
                database,
                context=await lock_context(database, instance_id=instance.instance_id),
                answers={question_id: Given(value) for question_id, value in answers.items()},  # pyrefly: ignore[bad-argument-type]
                complete=complete,
                now=database.clock.now(),
            )
        assert () == saved.wrong
        return saved.instance

    async def respond(self, score: int = 1, *, responder_id: str | None = None, test: bool = False) -> Instance:
        """A complete response."""
        return await self.answer(await self.issue(responder_id=responder_id, test=test), {self.score_id: score})

    async def raised(self, score: int = 1, *, responder_id: str | None = None) -> Instance:
        """A complete response that the rules have judged."""
        response = await self.respond(score, responder_id=responder_id)
        await self.raise_all()
        return response

    async def raise_all(self, *, later: timedelta = timedelta(0)) -> None:
        """The worker's job, until it has read all."""
        await read_all(self.pool, service.READER, service.raise_next, later=later)

    async def notify_all(self, *, later: timedelta = timedelta(0)) -> None:
        """The worker's job, until it has read all."""
        await read_all(self.pool, notifications.READER, notifications.notify_next, later=later)

    async def cases(self) -> list[dict[str, Any]]:
        """All of them, the oldest first."""
        return (await self.api.get("/alert/instance?order_by[ASC][]=CreatedTime&limit=500"))["results"]

    async def case(self, **fields: Any) -> dict[str, Any]:
        """A new case, of an alert that takes everything."""
        await self.alert(**fields)
        await self.raised()
        return (await self.cases())[-1]

    async def told_case(self, **fields: Any) -> dict[str, Any]:
        """A new case that everybody has been told of."""
        case = await self.case(**fields)
        await self.notify_all()
        return case

    async def news(self, kind: str = "") -> list[Event]:
        """The events of cases, the oldest first."""
        async with db.connection(self.pool) as database:
            found = await list_events(database, organization_id=self.house.organization_id)
        return [event for event in found if event.type.startswith(f"alert_instance.{kind}")]

    async def kinds(self) -> list[str]:
        return [event.type.removeprefix("alert_instance.") for event in await self.news()]

    async def run(
        self, work: Callable[Concatenate[db.Database, P], Awaitable[Found]], *values: P.args, **named: P.kwargs
    ) -> Found:
        """Call a service in a transaction of its own."""
        async with db.transaction(self.pool) as database:
            return await work(database, *values, **named)

    async def value(self, statement: Any, *values: object) -> Any:
        async with db.connection(self.pool) as database:
            return await database.fetch_value(statement, *values)

    async def execute(self, statement: Any, *values: object) -> None:
        async with db.transaction(self.pool) as database:
            await database.execute(statement, *values)

    async def now(self) -> datetime:
        async with db.connection(self.pool) as database:
            return database.clock.now()


@pytest.fixture
async def desk(pool: db.Pool, house: House, client: httpx2.AsyncClient) -> Desk:
    async with db.connection(pool) as database:
        version = await questionnaires_store.get_version(
            database, organization_id=house.organization_id, version_id=house.version_id
        )
    desk = Desk(pool, house, client, Client(client, house.token), version.definition)
    desk.api = await desk.token(user_id=house.user_id)
    await desk.notify_all()  # what was told while the organization was made
    return desk

"""An organization, and a connection to look at it."""

import time
from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import httpx2
import pytest

from afterword.core.organizations.access import SCOPES
from afterword.kit import db
from afterword.tenants.organizations import service
from tests.conftest import House
from tests.event_log import list_events
from tests.making import make_application, make_token, make_user


def refusal(reply: httpx2.Response) -> tuple[int, str]:
    return reply.status_code, reply.json()["code"]


def wrong(reply: httpx2.Response) -> list[tuple[str, str]]:
    return [(each["pointer"], each["code"]) for each in reply.json()["errors"]]


@pytest.fixture
async def database(pool: db.Pool) -> AsyncIterator[db.Database]:
    async with db.connection(pool) as database:
        yield database


@pytest.fixture
async def organization_id(database: db.Database) -> str:
    organization = await service.create_organization(
        database, domain="demo", display_name="Demo", now=database.clock.now()
    )
    return organization.organization_id


@dataclass
class Desk:
    """The organization `demo` behind its API, and people of every role."""

    pool: db.Pool
    house: House
    http: httpx2.AsyncClient
    count: int = 0

    async def ask(self, method: str, path: str, token: str | None = "", **options: Any) -> httpx2.Response:
        """Ask with the house's token unless another is given; None: without one."""
        headers: dict[str, str] = {**options.pop("headers", {})}
        if token is not None:
            headers["Authorization"] = f"Bearer {token or self.house.token}"
        return await self.http.request(method, f"/v3.2{path}", headers=headers, **options)

    async def person(
        self, role: str, *, application_ids: Sequence[str] = (), scopes: Collection[str] = SCOPES
    ) -> tuple[str, str]:
        """A new person in this role: their id and a token of theirs."""
        self.count += 1
        user_id = await make_user(
            self.pool,
            self.house.organization_id,
            f"{role}{self.count}@demo.example",
            role=role,
            application_ids=application_ids,
        )
        return user_id, await self.token(user_id=user_id, scopes=scopes)

    async def token(self, *, user_id: str | None = None, scopes: Collection[str] = SCOPES, **options: Any) -> str:
        """The text of a token that the services made."""
        return await make_token(self.pool, self.house.organization_id, scopes=scopes, user_id=user_id, **options)

    async def application(self, name: str = "Second") -> str:
        """Another application of the organization."""
        return await make_application(self.pool, self.house.organization_id, name)

    async def execute(self, statement: Any, *values: object) -> None:
        """Run SQL that no service has."""
        async with db.transaction(self.pool) as database:
            await database.execute(statement, *values)

    async def later(self, *, seconds: float) -> None:
        """Let the clock that decides about requests go on."""
        self.pool.clock.set(self.pool.clock.now() + timedelta(seconds=seconds), monotonic=time.monotonic())

    async def told(self, prefix: str) -> list[str]:
        """The types of the organization's events, in order."""
        async with db.connection(self.pool) as database:
            found = await list_events(database, organization_id=self.house.organization_id)
        return [event.type for event in found if event.type.startswith(prefix)]


@pytest.fixture
def desk(pool: db.Pool, house: House, client: httpx2.AsyncClient) -> Desk:
    return Desk(pool, house, client)

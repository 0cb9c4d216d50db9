"""A shop with responses to export, and a worker's hands to write them."""

import asyncio
import csv
import io
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import httpx2
import pytest

from afterword.asking.instances.answers import lock_context, save_answers
from afterword.core.answers.values import Given
from afterword.core.organizations.access import SCOPES, Caller
from afterword.kit import db
from afterword.run.worker.long_work import Exporter
from tests.conftest import House

CSAT, REASONS, COMMENT = 0, 1, 2  # the places of its questions


@dataclass
class Shop:
    """The organization's API, and what happens behind it."""

    house: House
    pool: db.Pool
    client: httpx2.AsyncClient

    @property
    def path(self) -> str:
        return f"/v3.2/q/questionnaire/{self.house.questionnaire_id}/export"

    async def ask(self, status: int = 201, **request: Any) -> dict[str, Any]:
        response = await self.client.post(self.path, json={"format": "csv", **request}, headers=self.house.headers)
        assert status == response.status_code, response.text
        return response.json()

    async def get(self, path: str) -> httpx2.Response:
        return await self.client.get(f"/v3.2{path}", headers=self.house.headers)

    async def delete(self, path: str) -> httpx2.Response:
        return await self.client.delete(f"/v3.2{path}", headers=self.house.headers)

    async def write(self) -> int:
        """Write all that waits, as a worker does; how many there were."""
        count, exporter = 0, Exporter(self.pool, uuid.uuid4())
        while await exporter.work_next(asyncio.Event()):
            count += 1
        return count

    async def file(self, **request: Any) -> str:
        """The text of a written export."""
        export = await self.ask(**request)
        assert 1 == await self.write()
        response = await self.get(f"/q/export/{export['export_id']}/file")
        assert 200 == response.status_code, response.text
        return response.content.decode()

    async def respond(
        self, answers: Mapping[int, Given], *, metadata: Mapping[str, Any] | None = None, complete: bool = False
    ) -> str:
        """Issue an instance and answer its questions, named by their place; its id."""
        response = await self.client.post(
            f"/v3.2/q/questionnaire/{self.house.questionnaire_id}/instance",
            json={"metadata": metadata or {}, "locale": "en"},
            headers=self.house.headers,
        )
        assert 201 == response.status_code, response.text
        instance_id: str = response.json()["instance_id"]
        async with db.transaction(self.pool) as database:
            context = await lock_context(database, instance_id=instance_id)
            questions = context.definition.questions()
            saved = await save_answers(
                database,
                context=context,
                answers={questions[place].question_id: given for place, given in answers.items()},
                complete=complete,
                now=database.clock.now(),
            )
            assert not saved.wrong
        return instance_id


@pytest.fixture
def shop(house: House, pool: db.Pool, client: httpx2.AsyncClient) -> Shop:
    return Shop(house, pool, client)


@pytest.fixture
def weak(house: House) -> Caller:
    """Somebody who may export, but reads no values."""
    return replace(house.caller, scopes=SCOPES - {"Questionnaire Value.Read", "Responder Value.Read"})


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))

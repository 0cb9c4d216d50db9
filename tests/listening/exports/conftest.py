"""A shop with responses to export, and a worker's hands to write them."""

import asyncio
import csv
import io
import uuid
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest

from afterword.asking.instances.answers import lock_context, save_answers
from afterword.core.answers.values import Given
from afterword.core.messaging.networks import networks_of
from afterword.core.organizations.access import SCOPES, Caller
from afterword.core.wire.site import Site
from afterword.kit import db
from afterword.run.app import create_app
from afterword.run.worker.long_work import Exporter, Shipper
from tests.conftest import SITE, House

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


NO_STOP = asyncio.Event()


@dataclass
class Timetable(Shop):
    """A shop with a folder for exports, and a worker's hands."""

    site: Site

    async def send(self, method: str, path: str, body: object = None, status: int = 200) -> Any:
        more: dict[str, Any] = {} if body is None else {"json": body}
        response = await self.client.request(method, f"/v3.2{path}", headers=self.house.headers, **more)
        assert status == response.status_code, response.text
        return response.json() if response.content else None

    async def schedule(self, status: int = 201, **given: Any) -> dict[str, Any]:
        document = {
            "title": "For the warehouse",
            "questionnaire_id": self.house.questionnaire_id,
            "destination": "folder",
            "path": "delivery",
            "format": "parquet",
            **given,
        }
        return await self.send("POST", "/export/schedule", document, status)

    async def run(self, schedule: dict[str, Any]) -> dict[str, Any]:
        """Run it to its end; the run as it is then."""
        await self.send("POST", f"/export/schedule/{schedule['schedule_id']}/run", status=201)
        await self.ship()
        return await self.last_run(schedule)

    async def ship(self) -> None:
        shipper = Shipper(self.pool, uuid.uuid4(), self.site)
        while await shipper.work_next(NO_STOP):
            pass

    async def last_run(self, schedule: dict[str, Any]) -> dict[str, Any]:
        runs = await self.send("GET", f"/export/schedule/{schedule['schedule_id']}/run")
        return runs["results"][0]

    async def get_schedule(self, schedule: dict[str, Any]) -> dict[str, Any]:
        return await self.send("GET", f"/export/schedule/{schedule['schedule_id']}")

    @property
    def folder(self) -> Path:
        return Path(self.site.export_folder, self.house.organization_id)

    @property
    def files(self) -> list[str]:
        return sorted(str(one.relative_to(self.folder)) for one in self.folder.rglob("*") if one.is_file())

    async def shift(self, instance_id: str, days: int) -> str:
        """Let a response have been created so many days ago; the name of its day."""
        async with db.transaction(self.pool) as database:
            time: datetime = await database.fetch_value(
                """update questionnaire_instance set created_time = created_time - make_interval(days => $2)
                   where instance_id = $1 returning created_time""",
                *(instance_id, days),
            )
        return f"{time.astimezone(UTC):%Y-%m-%d}"


@pytest.fixture
async def timetable(house: House, pool: db.Pool, tmp_path: Path) -> AsyncGenerator[Timetable]:
    site = replace(SITE, export_folder=str(tmp_path), networks=networks_of("127.0.0.0/8"))
    app: Any = create_app(pool=pool, site=site)
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url=site.public_url) as client:
        yield Timetable(house, pool, client, site)

"""A kind of source with a signature and a time, and a shop that calls by it."""

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import httpx2
import pytest

from afterword import errors
from afterword.core.sources.parts import AGE_SECONDS_MAX, Happening, NotSigned, SourceKind
from afterword.kit.web import parsing
from afterword.sending.intake.sources import records
from tests.sending.queue.conftest import Client

SECRET: Final = "of the shop alone"
NOW: Final = datetime.now(UTC).replace(microsecond=0)


def verify(secret: str, headers: Mapping[str, str], body: bytes, now: datetime, _url: str) -> None:
    sent = headers.get("x-time", "")
    if not hmac.compare_digest(signature(secret, sent, body), headers.get("x-signature", "")):
        raise NotSigned("The signature is wrong.")
    if abs(now.timestamp() - float(sent)) > AGE_SECONDS_MAX:
        raise NotSigned("The signature is too old.")


def read(_headers: Mapping[str, str], body: bytes) -> list[Happening]:
    document = parsing.read_json(body)
    if not isinstance(document, dict):
        raise errors.Invalid("An object is expected.")
    found: list[dict[str, Any]] = document.get("events", [document])
    times: list[dict[str, Any]] = [{"time": datetime.fromisoformat(one["time"])} for one in found]
    return [Happening(**{**one, **time}) for one, time in zip(found, times, strict=True)]


def signature(secret: str, sent: str, body: bytes) -> str:
    return hmac.new(secret.encode(), f"{sent}.".encode() + body, hashlib.sha256).hexdigest()


KIND: Final = SourceKind(
    name="signed", label="Signed", secret_label="Secret", verify=verify, read=read,
    whats=("order.created", "order.delivered", "order.refunded", "ticket.solved", "ticket.reopened"),
    values={"total": "Total"}, steps=("Open the settings.",), settings={},
)  # fmt: skip


@pytest.fixture(autouse=True)
def kind(monkeypatch: pytest.MonkeyPatch) -> SourceKind:
    monkeypatch.setattr(records, "KINDS", {**records.KINDS, "signed": KIND})
    return KIND


@dataclass
class Shop:
    """A source of the house, and the system behind it."""

    client: Client
    source_id: str

    @property
    def path(self) -> str:
        return f"/source/{self.source_id}"

    async def rule(self, **body: object) -> dict[str, Any]:
        document = {"what": "order.delivered", "pipeline_id": self.client.queue.pipeline_id, **body}
        return await self.client.ok("POST", f"{self.path}/rule", document, status=201)

    async def post(
        self, body: bytes, *, secret: str = SECRET, age: float = 0, source_id: str = "", **headers: str
    ) -> httpx2.Response:
        sent = str(datetime.now(UTC).timestamp() - age)
        url = f"https://answers.example/in/{source_id or self.source_id}"
        signed = {"X-Time": sent, "X-Signature": signature(secret, sent, body)}
        return await self.client.http.post(url, content=body, headers={**signed, **headers})

    async def tell(self, **event: object) -> None:
        response = await self.post(body_of(**event))
        assert 200 == response.status_code, response.text

    async def source(self) -> dict[str, Any]:
        return await self.client.ok("GET", self.path)

    async def events(self) -> list[dict[str, Any]]:
        """The newest first."""
        return (await self.client.ok("GET", f"{self.path}/event"))["results"]

    async def items(self) -> list[dict[str, Any]]:
        return await self.client.ok("GET", self.client.items)

    async def reasons(self) -> list[str | None]:
        """Why nothing was done, of each decision, the newest event first."""
        return [said["reason"] for one in await self.events() for said in one["decisions"]]


def event_of(*, ago: timedelta = timedelta(), **event: object) -> dict[str, Any]:
    return {
        "event_id": "event-1",
        "what": "order.delivered",
        "name": "fulfilled",
        "time": (datetime.now(UTC) - ago).isoformat(),
        "subject": "1042",
        "email": "ann@example.com",
        **event,
    }


def body_of(**event: Any) -> bytes:
    return json.dumps(event_of(**event)).encode()


@pytest.fixture
async def shop(client: Client) -> Shop:
    made = await client.ok("POST", "/source", {"title": "Kalamata", "kind": "signed", "secret": SECRET}, status=201)
    return Shop(client, made["source_id"])

"""The web application with its endpoint for assistants behind a real socket, and clients of the official SDK."""

import asyncio
import os
import socket
import sys
from collections.abc import AsyncGenerator, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from afterword.core.organizations.access import SCOPES
from afterword.extras.assistants.server import Endpoint
from afterword.kit import db
from afterword.kit.web.limits import Limits
from afterword.run.app import create_app
from tests.browser.conftest import served
from tests.conftest import SITE, House
from tests.making import make_token

SECONDS_MAX = 30.0


@dataclass
class Assisted:
    """An installation with the endpoint, and an organization in it."""

    pool: db.Pool
    house: House
    url: str

    async def token(self, *, without: Collection[str] = (), of: House | None = None) -> str:
        """A new token with all scopes but these."""
        return await make_token(self.pool, (of or self.house).organization_id, scopes=SCOPES - set(without))

    @asynccontextmanager
    async def client(self, token: str | None = None, *, mode: Any = "auto") -> AsyncGenerator[Client]:
        """Over HTTP."""
        headers = {"Authorization": f"Bearer {token or self.house.token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=SECONDS_MAX) as http,
            Client(streamable_http_client(f"{self.url}/mcp", http_client=http), mode=mode) as client,
        ):
            yield client

    async def post(self, content: bytes, **headers: str) -> httpx2.Response:
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        async with httpx2.AsyncClient(timeout=SECONDS_MAX) as http:
            return await http.post(f"{self.url}/mcp", content=content, headers={**MESSAGE_HEADERS, **names})

    async def ask(self, path: str) -> Any:
        """The API's own answer."""
        async with httpx2.AsyncClient(timeout=SECONDS_MAX) as http:
            response = await http.get(f"{self.url}/v3.2{path}", headers=self.house.headers)
        assert 200 == response.status_code, response.text
        return response.json()

    async def put(self, path: str, body: object) -> Any:
        async with httpx2.AsyncClient(timeout=SECONDS_MAX) as http:
            response = await http.put(f"{self.url}/v3.2{path}", json=body, headers=self.house.headers)
        assert response.is_success, response.text
        return response.json()


MESSAGE_HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
PING = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}'


@asynccontextmanager
async def stdio(url: str, token: str, **more: str) -> AsyncGenerator[Client]:
    inherited = {name: text for name, text in os.environ.items() if not name.startswith("AFTERWORD_")}
    environment = {**inherited, "AFTERWORD_URL": url, "AFTERWORD_TOKEN": token, **more}
    parameters = StdioServerParameters(command=sys.executable, args=["-m", "afterword", "mcp"], env=environment)
    async with Client(parameters, read_timeout_seconds=SECONDS_MAX) as client:
        yield client


@asynccontextmanager
async def listening(app: Any) -> AsyncGenerator[str]:
    """The address of an application behind a socket."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        async with served(app, listener):
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"


@asynccontextmanager
async def assisted_by(pool: db.Pool, house: House, *, limits: Limits = Limits()) -> AsyncGenerator[Assisted]:  # noqa: B008
    app = create_app(pool=pool, site=SITE, limits=limits, origins=["https://pages.example"], make_endpoint=Endpoint)
    async with listening(app) as url:
        yield Assisted(pool, house, url)


@pytest.fixture
async def assisted(pool: db.Pool, house: House) -> AsyncGenerator[Assisted]:
    async with assisted_by(pool, house) as assisted:
        yield assisted


async def call(client: Client, name: str, **arguments: Any) -> dict[str, Any]:
    """The result of a tool that succeeds."""
    async with asyncio.timeout(SECONDS_MAX):
        found = await client.call_tool(name, arguments)
    assert not found.is_error, text_of(found)
    assert found.structured_content is not None
    return found.structured_content


async def refusal(client: Client, name: str, **arguments: Any) -> str:
    """The sentence of a tool that is refused."""
    async with asyncio.timeout(SECONDS_MAX):
        found = await client.call_tool(name, arguments)
    assert found.is_error, text_of(found)
    return text_of(found)


def text_of(found: Any) -> str:
    [content] = found.content
    return content.text

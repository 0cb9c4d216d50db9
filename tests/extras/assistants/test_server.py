"""The server of the SDK: the tools and their hints, an unknown tool, and the end of its client."""

import asyncio
import json
import sys
from dataclasses import replace
from typing import Any

import httpx2
import pytest

from afterword.core.wire.site import Domains
from afterword.extras.assistants.server import INSTRUCTIONS, MESSAGE_BYTES_MAX, MESSAGE_DEPTH_MAX, TOOLS, Endpoint
from afterword.kit import db
from afterword.kit.web.limits import Limits
from afterword.run.app import create_app
from tests.conftest import SITE, House
from tests.extras.assistants.conftest import (
    MESSAGE_HEADERS,
    PING,
    SECONDS_MAX,
    Assisted,
    assisted_by,
    call,
    listening,
    refusal,
    text_of,
)
from tests.kit.web.client import problem


async def test_tools_are_declared_with_hints_and_instructions(assisted: Assisted) -> None:
    async with assisted.client() as client:
        listed = (await client.list_tools()).tools
        assert INSTRUCTIONS == client.instructions
        unknown = await client.call_tool("erase_everybody", {})
    assert list(TOOLS) == [tool.name for tool in listed]
    hints = {
        tool.name: (tool.annotations.read_only_hint, tool.annotations.destructive_hint)
        for tool in listed
        if tool.annotations
    }
    assert {name: (not tool.writes, tool.writes) for name, tool in TOOLS.items()} == hints
    assert (True, "There is no tool of this name.") == (unknown.is_error, text_of(unknown))
    assert 20 <= len(listed) <= 25


async def test_text_and_structure_say_the_same(assisted: Assisted) -> None:
    async with assisted.client() as client:
        found = await client.call_tool("read_overview", {})
    assert json.loads(text_of(found)) == found.structured_content


async def test_it_ends_with_its_client(assisted: Assisted) -> None:
    environment = {"AFTERWORD_URL": assisted.url, "AFTERWORD_TOKEN": assisted.house.token}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "afterword", "mcp"),
        env=environment,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(30):
        printed, _ = await process.communicate(b"no message\n")
    assert 0 == process.returncode
    assert all("jsonrpc" in json.loads(line) for line in printed.splitlines())


async def test_refused_before_anything_is_read(assisted: Assisted) -> None:
    problem(await assisted.post(PING), 401, "unauthenticated")
    problem(await assisted.post(PING, Authorization="Bearer afw_nobody"), 401, "invalid_token")
    token = f"Bearer {assisted.house.token}"
    problem(await assisted.post(PING, Authorization=token, Origin="https://evil.example"), 403, "foreign_origin")
    problem(await assisted.post(PING, Authorization=token, esat_domain="other"), 403, "domain_mismatch")
    large = b" " * (MESSAGE_BYTES_MAX + 1)
    problem(await assisted.post(large, Authorization=token), 413, "body_too_large")
    problem(await assisted.post(b"{", Authorization=token), 400, "malformed_json")
    problem(await assisted.post(b"[" + PING + b"]", Authorization=token), 400, "malformed_json")
    deep = b'{"a":' + b"[" * MESSAGE_DEPTH_MAX + b"]" * MESSAGE_DEPTH_MAX + b"}"
    assert 400 == (await assisted.post(deep, Authorization=token)).status_code
    async with httpx2.AsyncClient() as http:
        problem(await http.get(f"{assisted.url}/mcp", headers={"Authorization": token}), 405, "method_not_allowed")


async def test_off_unless_it_is_switched_on(client: httpx2.AsyncClient, house: House) -> None:
    problem(await client.post("/mcp", content=PING, headers=house.headers), 404, "unknown_route")


async def test_not_on_the_host_of_an_organization(pool: db.Pool, house: House) -> None:
    site = replace(SITE, domains=Domains())
    site.domains.replace([(house.organization_id, "answers.acme.example", True)])
    app: Any = create_app(pool=pool, site=site, make_endpoint=Endpoint)
    headers = {**MESSAGE_HEADERS, **house.headers}
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), headers=headers) as http:
        assert 404 == (await http.post("https://answers.acme.example/mcp", content=PING)).status_code
        assert 200 == (await http.post("https://survey.example/mcp", content=PING)).status_code


async def test_a_page_that_may_call_the_api_may_call_it(assisted: Assisted) -> None:
    token = f"Bearer {assisted.house.token}"
    for origin in ("https://pages.example", SITE.public_url):
        assert 200 == (await assisted.post(PING, Authorization=token, Origin=origin)).status_code


async def test_messages_and_calls_of_tools_count_as_requests(pool: db.Pool, house: House, one_minute: None) -> None:
    async with assisted_by(pool, house, limits=Limits(token_requests=4)) as assisted, httpx2.AsyncClient() as http:
        async with assisted.client(mode="2026-07-28") as client:
            await call(client, "list_pipelines")  # the message and the request of the tool
            assert "429 rate_limited" in await refusal(client, "explain_item", item_id="0" * 22)
        token = f"Bearer {house.token}"
        limited = problem(await assisted.post(PING, Authorization=token), 429, "rate_limited")
        assert limited
        assert 429 == (await http.get(f"{assisted.url}/v3.2/q/pipeline", headers=house.headers)).status_code


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_scopes_tenants_and_an_answer(assisted: Assisted, neighbour: House, mode: Any) -> None:
    house = assisted.house
    async with assisted.client(await assisted.token(without={"Pipeline.Read"}), mode=mode) as client:
        assert "Pipeline.Read" in await refusal(client, "list_pipelines")
    async with assisted.client(neighbour.token, mode=mode) as client:
        foreign = {"questionnaire_id": house.questionnaire_id, "pipeline_id": house.pipeline_id}
        assert (await refusal(client, "preview_message", **foreign)).startswith("404 not_found")
        own = await call(client, "list_pipelines")
        assert [neighbour.pipeline_id] == [one["pipeline_id"] for one in own["result"]["results"]]
    async with assisted.client(mode=mode) as client:
        found = await call(client, "list_pipelines")
        assert await assisted.ask("/q/pipeline?limit=20") == found["result"]


async def test_a_client_that_leaves_ends_the_tool_and_not_the_request(pool: db.Pool, house: House) -> None:
    """The tool waits for the API; the client leaves; the request of the API goes on to its end."""
    began, left, go_on, ended = (asyncio.Event() for _ in range(4))
    made: list[Endpoint] = []

    class Watched(Endpoint):
        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            made.append(self)
            try:
                await super().__call__(scope, receive, send)
            finally:
                left.set()

    async def slow(scope: Any, receive: Any, send: Any) -> None:
        began.set()
        await go_on.wait()
        await whole(scope, receive, send)
        ended.set()

    whole = create_app(pool=pool, site=SITE, make_endpoint=Watched)
    async with listening(whole) as url:
        async with Assisted(pool, house, url).client(mode="2026-07-28") as client:
            await client.list_tools()
            left.clear()
            made[0].app = slow
            asked = asyncio.create_task(client.call_tool("list_pipelines", {}))
            await began.wait()
            asked.cancel()
            async with asyncio.timeout(SECONDS_MAX):
                await left.wait()
        assert not ended.is_set()
        go_on.set()
        async with asyncio.timeout(SECONDS_MAX):
            await ended.wait()
    assert [True] == [each.done() for each in (asked,)]

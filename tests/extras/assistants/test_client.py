"""Calls of the API: what is refused is told in words, what does not answer ends, what is too large is not read."""

import asyncio
from collections.abc import Callable
from typing import Any

import httpx2
import pytest
from starlette.types import Receive, Scope, Send

from afterword.extras.assistants import client
from afterword.extras.assistants.client import Api, InProcess, Refused


def api_of(answer: Callable[[httpx2.Request], httpx2.Response]) -> Api:
    transport = httpx2.MockTransport(answer)
    return Api(httpx2.AsyncClient(transport=transport, base_url="http://a/v3.2"), headers={"Authorization": "Bearer t"})


def problem(status: int, **more: Any) -> httpx2.Response:
    return httpx2.Response(status, json={"code": "c", "detail": "No.", "errors": [], **more})


@pytest.mark.parametrize(
    ("response", "sentence"),
    [
        (problem(404), "404 c: No."),
        (problem(403, required_scopes=["Queue.Read"]), "The token lacks one of these scopes: Queue.Read."),
        (problem(422, errors=[{"pointer": "/a", "code": "x", "message": "Too long."}]), "/a: Too long."),
        (problem(422, errors=[{"parameter": "limit", "code": "x", "message": "Too much."}]), "limit: Too much."),
        (httpx2.Response(429, json=problem(429).json(), headers={"Retry-After": "7"}), "Try again in 7 seconds."),
        (httpx2.Response(502, text="<html>"), "502 without JSON"),
        (httpx2.Response(200, text="<html>"), "200 without JSON"),
        (httpx2.Response(404, json=["no problem"]), "it is not Afterword's"),
        (httpx2.Response(200, content=b" " * (client.ANSWER_BYTES_MAX + 1)), "too large"),
    ],
)
async def test_refusals(response: httpx2.Response, sentence: str) -> None:
    with pytest.raises(Refused) as refused:
        await api_of(lambda _request: response).get("/q/pipeline")
    assert sentence in str(refused.value)


async def test_a_reason_is_said_once() -> None:
    errors = [{"pointer": "/a", "code": "x", "message": "Too long."}]
    with pytest.raises(Refused) as refused:
        await api_of(lambda _: problem(422, detail="1 field is wrong: /a. Too long.", errors=errors)).get("/q/pipeline")
    assert "422 c: 1 field is wrong: /a. Too long." == str(refused.value)
    body, headers = problem(429, detail="Too many. Try again in 7 seconds.").json(), {"Retry-After": "7"}
    with pytest.raises(Refused) as refused:
        await api_of(lambda _: httpx2.Response(429, json=body, headers=headers)).get("/q/pipeline")
    assert "429 c: Too many. Try again in 7 seconds." == str(refused.value)


async def test_not_reached_and_too_slow() -> None:
    def fail(error: type[Exception]) -> Callable[[httpx2.Request], httpx2.Response]:
        def answer(_request: httpx2.Request) -> httpx2.Response:
            raise error("why")

        return answer

    with pytest.raises(Refused, match="cannot be reached"):
        await api_of(fail(httpx2.ConnectError)).get("/q/pipeline")
    with pytest.raises(Refused, match="did not answer within 20 seconds"):
        await api_of(fail(httpx2.ReadTimeout)).get("/q/pipeline")


async def test_what_is_sent() -> None:
    asked: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(request)
        return httpx2.Response(200, json={"a": 1}, headers={"ETag": '"2"'})

    api = api_of(answer)
    found = await api.get("/q/queue/item", {"status_id[]": [1, 2], "after": None})
    await api.send("POST", "/token", {"b": 2}, key="once", version='"1"')
    assert ({"a": 1}, '"2"') == (found.document, found.version)
    read, written = asked
    assert "status_id%5B%5D=1&status_id%5B%5D=2" == read.url.query.decode()
    assert "Bearer t" == read.headers["authorization"]
    assert ("once", '"1"', b'{"b":2}') == (
        written.headers["idempotency-key"],
        written.headers["if-match"],
        written.content,
    )


async def test_a_request_in_process_goes_on_when_its_tool_is_cancelled() -> None:
    began, go_on, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def app(_scope: Scope, _receive: Receive, send: Send) -> None:
        began.set()
        await go_on.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})
        ended.set()

    transport = InProcess(app, client=("127.0.0.1", 1))
    async with httpx2.AsyncClient(transport=transport, base_url="http://a") as http:
        asked = asyncio.create_task(http.get("/"))
        await began.wait()
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        go_on.set()
        await ended.wait()
        assert 200 == (await http.get("/")).status_code

"""The tree of paths: fixed segments win, parameters keep their order, other addresses pass through."""

from collections.abc import MutableMapping
from typing import Any

import pytest

from afterword import errors
from afterword.web.operations import Answer, Call, Routes
from afterword.web.routing import App, Operations

Message = MutableMapping[str, Any]


def routes() -> Routes:
    table = Routes(tag="Test")

    async def answer(_call: Call[None], _db: Any) -> Answer:
        return Answer()

    for path in (
        "/alert", "/alert/status", "/alert/{alert_id}", "/alert/{alert_id}/instance", "/alert/instance/{case_id}",
        "/q/{a}/x/{b}",
    ):  # fmt: skip
        table.get(path, scope=None, answer=None, summary="Get")(answer)
    table.post("/alert", scope=None, summary="Make")(answer)
    return table


@pytest.fixture
def asked() -> list[Any]:
    """What was reached, with the parameters of its path."""
    return []


@pytest.fixture
def operations(asked: list[Any]) -> Operations:
    def reach(name: str) -> App:
        async def operation(scope: Message, _receive: Any, _send: Any) -> None:
            asked.append((name, scope.get("path_params")))

        return operation

    return Operations(
        [(route, reach(f"{route.method} {route.path}")) for route in routes().all], others=reach("others")
    )


async def ask(operations: Operations, path: str, method: str = "GET") -> list[Message]:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {}

    await operations({"type": "http", "method": method, "path": path}, receive, send)
    return sent


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/v3.2/alert", ("GET /alert", {})),
        ("/v3.2/alert/status", ("GET /alert/status", {})),
        ("/v3.2/alert/7", ("GET /alert/{alert_id}", {"alert_id": "7"})),
        ("/v3.2/alert/7/instance", ("GET /alert/{alert_id}/instance", {"alert_id": "7"})),
        ("/v3.2/alert/status/instance", ("GET /alert/{alert_id}/instance", {"alert_id": "status"})),
        ("/v3.2/alert/instance/7", ("GET /alert/instance/{case_id}", {"case_id": "7"})),
        ("/v3.2/alert/instance/instance", ("GET /alert/instance/{case_id}", {"case_id": "instance"})),
        ("/v3.2/q/1/x/2", ("GET /q/{a}/x/{b}", {"a": "1", "b": "2"})),
        ("/v3.2/q/{a}/x/é;1", ("GET /q/{a}/x/{b}", {"a": "{a}", "b": "é;1"})),
        ("/v3.2", ("others", None)),
        ("/v3.2/", ("others", None)),
        ("/v3.2/alert/7/8", ("others", None)),
        ("/v3.2/q/1/y/2", ("others", None)),
        ("/v3.2x/alert", ("others", None)),
        ("/alert", ("others", None)),
        ("/a/7", ("others", None)),
    ],
)
async def test_find(operations: Operations, asked: list[Any], path: str, expected: object) -> None:
    await ask(operations, path)
    assert [expected] == asked


async def test_other_method(operations: Operations) -> None:
    with pytest.raises(errors.MethodNotAllowed) as refused:
        await ask(operations, "/v3.2/alert", "DELETE")
    assert {"Allow": "GET, POST"} == refused.value.headers


async def test_options(operations: Operations, asked: list[Any]) -> None:
    start, end = await ask(operations, "/v3.2/alert", "OPTIONS")
    assert (204, [(b"allow", b"GET, POST")], b"") == (start["status"], start["headers"], end["body"])
    assert [] == asked


def test_two_spellings_of_one_address() -> None:
    table = routes()

    async def answer(_call: Call[None], _db: Any) -> Answer:
        return Answer()

    async def operation(_scope: Any, _receive: Any, _send: Any) -> None:
        """Answer nothing."""

    table.get("/alert/{other_id}", scope=None, answer=None, summary="Get")(answer)
    with pytest.raises(AssertionError, match="one spelling"):
        Operations([(route, operation) for route in table.all], others=operation)

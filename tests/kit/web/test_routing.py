"""The router: fixed segments win, parameters keep their names, other addresses lead nowhere."""

from collections.abc import MutableMapping
from functools import partial
from typing import Any

import pytest

from afterword import errors
from afterword.kit.web.routing import Router

Message = MutableMapping[str, Any]
PATHS = (
    "/v3.2/alert", "/v3.2/alert/status", "/v3.2/alert/{alert_id}", "/v3.2/alert/{alert_id}/instance",
    "/v3.2/alert/instance/{case_id}", "/v3.2/openapi.json", "/v3.2/q/item/{a}/x/{b}", "/v3.2/q/import", "/a/{id}",
    "/a/sample", "/file/{path:path}",
)  # fmt: skip


@pytest.fixture
def asked() -> list[Any]:
    """The handler that was reached, with the parameters of its path."""
    return []


@pytest.fixture
def router(asked: list[Any]) -> Router:
    def reach(method: str, path: str) -> Any:
        async def app(scope: Message, _receive: Any, _send: Any) -> None:
            assert path == scope["path_template"]
            asked.append((f"{method} {path}", scope["path_params"]))

        return app

    methods = [*(("GET", path) for path in PATHS), ("POST", "/v3.2/alert")]
    return Router([(method, path, partial(reach, method, path)) for method, path in methods])


async def ask(router: Router, path: str, method: str = "GET") -> list[Message]:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {}

    await router({"type": "http", "method": method, "path": path}, receive, send)
    return sent


@pytest.mark.parametrize(
    "path",
    [
        "/v3.2",
        "/v3.2/",
        "/v3.2/alert/7/8",
        "/v3.2/alert/",
        "/v3.2/q/item/1/y/2",
        "/v3.2x/alert",
        "/v3x2/alert",
        "/alert",
        "/a",
        "",
    ],
)
async def test_nowhere(router: Router, path: str) -> None:
    with pytest.raises(errors.NotFound) as refused:
        await ask(router, path)
    assert "unknown_route" == refused.value.code


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/v3.2/alert", ("GET /v3.2/alert", {})),
        ("/v3.2/alert/status", ("GET /v3.2/alert/status", {})),
        ("/v3.2/alert/7", ("GET /v3.2/alert/{alert_id}", {"alert_id": "7"})),
        ("/v3.2/alert/7/instance", ("GET /v3.2/alert/{alert_id}/instance", {"alert_id": "7"})),
        ("/v3.2/alert/status/instance", ("GET /v3.2/alert/{alert_id}/instance", {"alert_id": "status"})),
        ("/v3.2/alert/instance/7", ("GET /v3.2/alert/instance/{case_id}", {"case_id": "7"})),
        ("/v3.2/alert/instance/instance", ("GET /v3.2/alert/instance/{case_id}", {"case_id": "instance"})),
        ("/v3.2/q/item/1/x/2", ("GET /v3.2/q/item/{a}/x/{b}", {"a": "1", "b": "2"})),
        ("/v3.2/q/item/{a}/x/é;1", ("GET /v3.2/q/item/{a}/x/{b}", {"a": "{a}", "b": "é;1"})),
        ("/v3.2/q/import", ("GET /v3.2/q/import", {})),
        ("/v3.2/openapi.json", ("GET /v3.2/openapi.json", {})),
        ("/a/7", ("GET /a/{id}", {"id": "7"})),
        ("/a/sample", ("GET /a/sample", {})),
        ("/file/a/../b", ("GET /file/{path:path}", {"path": "a/../b"})),
    ],
)
async def test_find(router: Router, asked: list[Any], path: str, expected: object) -> None:
    await ask(router, path)
    assert [expected] == asked


async def test_other_method(router: Router) -> None:
    with pytest.raises(errors.MethodNotAllowed) as refused:
        await ask(router, "/v3.2/alert", "DELETE")
    assert {"Allow": "GET, POST"} == refused.value.headers


async def test_options(router: Router, asked: list[Any]) -> None:
    start, end = await ask(router, "/v3.2/alert", "OPTIONS")
    assert (204, [(b"allow", b"GET, POST")], b"") == (start["status"], start["headers"], end["body"])
    assert [] == asked


def test_two_spellings_of_one_address() -> None:
    make: Any = None
    with pytest.raises(AssertionError, match="one spelling"):
        Router([("GET", "/a/{id}", make), ("POST", "/a/{other_id}", make)])


def test_one_method_twice() -> None:
    make: Any = None
    with pytest.raises(AssertionError, match="declared twice"):
        Router([("GET", "/a/{id}", make), ("GET", "/a/{id}", make)])

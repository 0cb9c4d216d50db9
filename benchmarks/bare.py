"""A bare server, a process of its own: reads the body, answers a constant. What HTTP alone costs on this machine."""

import json
import sys
from typing import Any

import uvicorn


def app(content: bytes, *, status: int) -> Any:
    """A plain ASGI application."""
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(content))]

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        while (await receive()).get("more_body"):
            pass
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": content})

    return answer


def main() -> None:
    """Read the order as JSON from the command line: port, bytes, status."""
    order = json.loads(sys.argv[1])
    uvicorn.run(
        app(b"x" * order["bytes"], status=order["status"]),
        port=order["port"],
        http="httptools",
        loop="uvloop",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
    )


if __name__ == "__main__":
    main()

"""A bare HTTP load, a process of its own: N connections that send as soon as they can, or requests at a fixed rate."""

import asyncio
import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import cast

import uvloop

GRACE_SECONDS = 20.0  # for the answers that are out when the time is over


@dataclass(frozen=True, slots=True)
class Load:
    """Requests a second, the 50th and 99th percentile in milliseconds, and how many answers were not 2xx."""

    requests_per_second: float
    p50_ms: float
    p99_ms: float
    failed: int
    count: int


@dataclass(frozen=True, slots=True)
class Rhythm:
    """The time from the moment a request was due to the first byte of its answer, in milliseconds."""

    p50_ms: float
    p99_ms: float
    failed: int
    count: int


class _Connection(asyncio.Protocol):
    """One request at a time; the next leaves when the answer is whole (judged by Content-Length)."""

    def __init__(self, next_request: Callable[[], bytes | None], took: list[float], failed: list[int]) -> None:
        self._next, self._took, self._failed = next_request, took, failed
        self._buffer = b""
        self._missing = 0
        self._begun = 0.0
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's own does not say so
        self._send()

    def _send(self) -> None:
        request = self._next()
        if request is None:
            self._transport.close()
            return
        self._begun = time.perf_counter()
        self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        if self._missing:
            self._missing -= len(data)
        else:
            self._buffer += data
            head, separator, body = self._buffer.partition(b"\r\n\r\n")
            if not separator:
                return
            if not head.startswith(b"HTTP/1.1 2"):
                self._failed.append(int(head[9:12]))
            self._missing = _length(head) - len(body)
            self._buffer = b""
        if self._missing == 0:
            self._took.append(time.perf_counter() - self._begun)
            self._send()

    def connection_lost(self, exc: Exception | None) -> None:
        if self.ended.done():
            return
        if exc is None:
            self.ended.set_result(None)
        else:
            self.ended.set_exception(exc)


async def run(host: str, port: int, requests: list[bytes], *, connections: int, seconds: float) -> Load:
    """Send `requests` in turn over `connections` for `seconds`."""
    took: list[float] = []
    failed: list[int] = []
    sent = 0
    loop = asyncio.get_running_loop()
    end = time.perf_counter() + seconds

    def next_request() -> bytes | None:
        nonlocal sent
        if time.perf_counter() >= end:
            return None
        sent += 1
        return requests[sent % len(requests)]

    begun = time.perf_counter()
    protocols = [
        (await loop.create_connection(lambda: _Connection(next_request, took, failed), host, port))[1]
        for _ in range(connections)
    ]
    async with asyncio.timeout(seconds + GRACE_SECONDS):
        await asyncio.gather(*(protocol.ended for protocol in protocols))
    lasted = time.perf_counter() - begun
    ordered = sorted(took)
    return Load(
        requests_per_second=len(took) / lasted,
        p50_ms=1000 * ordered[len(ordered) // 2],
        p99_ms=1000 * ordered[int(len(ordered) * 0.99)],
        failed=len(failed),
        count=len(took),
    )


class _Paced(asyncio.Protocol):
    """One request at a time; idle again when the answer is whole."""

    def __init__(self, idle: list["_Paced"], took: list[float], failed: list[int]) -> None:
        self._idle, self._took, self._failed = idle, took, failed
        self._buffer = b""
        self._missing = 0
        self._whole = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def send(self, request: bytes, *, due: float) -> None:
        self._due = due
        self._whole.clear()
        self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        if self._missing:
            self._missing -= len(data)
        else:
            if not self._buffer:
                self._took.append(time.perf_counter() - self._due)
            self._buffer += data
            head, separator, body = self._buffer.partition(b"\r\n\r\n")
            if not separator:
                return
            if not head.startswith(b"HTTP/1.1 2"):
                self._failed.append(int(head[9:12]))
            self._missing = _length(head) - len(body)
            self._buffer = b""
        if self._missing == 0:
            self._whole.set()
            self._idle.append(self)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        """A server closes what was idle for seconds."""
        if self in self._idle:
            self._idle.remove(self)

    async def close(self) -> None:
        await self._whole.wait()
        self._transport.close()


async def run_at(host: str, port: int, requests: list[bytes], *, per_second: int, seconds: float) -> Rhythm:
    """Send `requests` in turn, each when it is due, over as many connections as that takes.

    A server that falls behind gets the next request all the same, and the time it waited counts.
    """
    took: list[float] = []
    failed: list[int] = []
    idle: list[_Paced] = []
    every: list[_Paced] = []
    loop = asyncio.get_running_loop()
    begun, count = time.perf_counter(), int(per_second * seconds)
    for number in range(count):
        due = begun + number / per_second
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        if not idle:
            _, protocol = await loop.create_connection(lambda: _Paced(idle, took, failed), host, port)
            every.append(protocol)
            idle.append(protocol)
        idle.pop().send(requests[number % len(requests)], due=due)
    async with asyncio.timeout(GRACE_SECONDS):
        await asyncio.gather(*(protocol.close() for protocol in every))
    ordered = sorted(took)
    p50, p99 = (1000 * ordered[int(len(ordered) * share)] for share in (0.5, 0.99))
    return Rhythm(p50, p99, len(failed), len(ordered))


def _length(head: bytes) -> int:
    found = head.lower().partition(b"\r\ncontent-length:")[2]
    return int(found.partition(b"\r\n")[0]) if found else 0


def main() -> None:
    """Read the order as JSON from standard input, write the Load or the Rhythm as JSON to standard output."""
    order = json.load(sys.stdin)
    requests = [text.encode() for text in order.pop("requests")]
    found = uvloop.run(run_at(requests=requests, **order) if "per_second" in order else run(requests=requests, **order))
    json.dump(asdict(found), sys.stdout)


if __name__ == "__main__":
    main()

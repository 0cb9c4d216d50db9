"""Requests at a given rate, whatever the answers are; a process of its own: orders on its input, figures on its output.

Who waits for the answer before the next request is slowed down by a slow server, and never floods it.
"""

import asyncio
import json
import sys
import time
from dataclasses import asdict, dataclass, field
from typing import Any, cast

import uvloop

TICK_SECONDS = 0.001
GRACE_SECONDS = 20.0


@dataclass
class Figures:
    """Waiting times in seconds by status; what was refused without a word of when to come back; what found no line."""

    seconds: dict[int, list[float]] = field(default_factory=dict[int, list[float]])
    without_retry: int = 0
    unsent: int = 0
    unanswered: int = 0
    lasted: float = 0.0

    def percentile(self, share: float, *statuses: int) -> float:
        ordered = sorted(second for status in statuses for second in self.seconds.get(status, []))
        return ordered[int(len(ordered) * share)] if ordered else 0.0

    def p99(self, *statuses: int) -> float:
        return self.percentile(0.99, *statuses)

    def count(self, *statuses: int) -> int:
        return sum(len(self.seconds.get(status, [])) for status in statuses)


class _Line(asyncio.Protocol):
    """A connection with one request on it at a time."""

    def __init__(self, flood: "Flood") -> None:
        self._flood = flood
        self._buffer = b""
        self.begun: float | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)  # uvloop's own does not say so

    def ask(self, request: bytes) -> None:
        """Send one; its answer goes to the flood."""
        self.begun = time.perf_counter()
        self.transport.write(request)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, separator, body = self._buffer.partition(b"\r\n\r\n")
        if not separator or self.begun is None:
            return
        lower = head.lower()
        if len(body) >= int(lower.partition(b"\r\ncontent-length:")[2].partition(b"\r\n")[0] or 0):
            self._buffer = b""
            seconds, self.begun = time.perf_counter() - self.begun, None
            self._flood.answered(self, int(head[9:12]), seconds, has_retry=b"\r\nretry-after:" in lower)

    def connection_lost(self, exc: Exception | None) -> None:
        self._flood.lost(self)


class Flood:
    """Keeps the rate as long as it has lines to send on; `rate` 0: as fast as the answers come."""

    def __init__(self, request: bytes, *, rate: float, lines: int) -> None:
        self._request, self._rate, self._lines = request, rate, lines
        self._free: list[_Line] = []
        self._all: set[_Line] = set()
        self._is_over = False
        self.figures = Figures()

    def answered(self, line: _Line, status: int, seconds: float, *, has_retry: bool) -> None:
        self.figures.seconds.setdefault(status, []).append(seconds)
        self.figures.without_retry += status in {429, 503} and not has_retry
        if self._rate or self._is_over:
            self._free.append(line)
        else:
            line.ask(self._request)

    def lost(self, line: _Line) -> None:
        self._all.discard(line)
        self.figures.unanswered += line.begun is not None

    async def run(self, host: str, port: int, *, seconds: float) -> Figures:
        """Flood for so long, then wait for the answers that are out."""
        loop = asyncio.get_running_loop()
        for _ in range(self._lines):
            _, line = await loop.create_connection(lambda: _Line(self), host, port)
            self._all.add(line)
            self._free.append(line)
        began = time.perf_counter()
        if not self._rate:
            while self._free:
                self._free.pop().ask(self._request)
        sent = 0
        while (passed := time.perf_counter() - began) < seconds:
            while self._rate and sent < passed * self._rate:
                sent += 1
                if self._free:
                    self._free.pop().ask(self._request)
                else:
                    self.figures.unsent += 1
            await asyncio.sleep(TICK_SECONDS)
        self._is_over = True
        self.figures.lasted = seconds
        deadline = time.perf_counter() + GRACE_SECONDS
        while any(line.begun for line in self._all) and time.perf_counter() < deadline:
            await asyncio.sleep(TICK_SECONDS)
        self.figures.unanswered += sum(line.begun is not None for line in self._all)
        return self.figures


async def flood(
    url: str, *, path: str, token: str, body: str, rate: float = 0.0, lines: int, seconds: float
) -> Figures:
    """The figures of a flood from another process."""
    host, _, port = url.removeprefix("http://").partition(":")
    request = (
        f"POST {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n{body}"
    )
    orders: dict[str, Any] = {
        "host": host, "port": int(port), "request": request, "rate": rate, "lines": lines, "seconds": seconds
    }  # fmt: skip
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.run.worker.faults.flood",
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    output, _ = await asyncio.wait_for(child.communicate(json.dumps(orders).encode()), seconds + 3 * GRACE_SECONDS)
    found: dict[str, Any] = json.loads(output)
    found["seconds"] = {int(status): took for status, took in found["seconds"].items()}
    return Figures(**found)


def main() -> None:
    orders = json.load(sys.stdin)
    one = Flood(orders["request"].encode(), rate=orders["rate"], lines=orders["lines"])
    json.dump(asdict(uvloop.run(one.run(orders["host"], orders["port"], seconds=orders["seconds"]))), sys.stdout)


if __name__ == "__main__":
    main()

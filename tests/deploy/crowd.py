"""Shops and a reader of the event log, in a process of their own: `python -m tests.deploy.crowd ORDERS`, until SIGTERM.

Nobody asks twice: each answer counts. Everything goes to files of the given folder, a line of JSON each: `answers` has
each request with its moment, site and status, and the item of a 201; `events` has what the reader saw, in order.
"""

import asyncio
import contextlib
import itertools
import json
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

import httpx2

REQUEST_SECONDS_MAX: Final = 60.0
LOOK_SECONDS: Final = 0.2
PAGE: Final = 500


@dataclass(frozen=True)
class Orders:
    sites: Sequence[str]
    items_path: str
    headers: Mapping[str, str]
    folder: str
    rate: float  # requests a second, dealt out among the sites

    @property
    def text(self) -> str:
        """As a command line carries it."""
        return json.dumps(asdict(self))


class Crowd:
    def __init__(self, orders: Orders) -> None:
        self._orders = orders
        self._answers = Path(orders.folder, "answers").open("a", buffering=1)  # noqa: SIM115
        self._events = Path(orders.folder, "events").open("a", buffering=1)  # noqa: SIM115
        self._numbers = itertools.count()
        self._tasks: set[asyncio.Task[None]] = set()

    async def shop(self, site: str, stop: asyncio.Event) -> None:
        """So many a second at one site, whatever its answers are."""
        period = len(self._orders.sites) / self._orders.rate
        async with httpx2.AsyncClient(base_url=site, headers=self._orders.headers, timeout=REQUEST_SECONDS_MAX) as http:
            due = time.monotonic()
            while not stop.is_set():
                task = asyncio.create_task(self._post(http, site))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
                due = max(due + period, time.monotonic() - 1.0)
                await asyncio.sleep(max(due - time.monotonic(), 0))
            await asyncio.gather(*self._tasks)

    async def _post(self, http: httpx2.AsyncClient, site: str) -> None:
        body = {"responder_channel_identifier": f"person{next(self._numbers)}@example.com"}
        item = None
        try:
            answer = await http.post(self._orders.items_path, json=body)
        except httpx2.TransportError as error:
            status: int | str = type(error).__name__
        else:
            status = answer.status_code
            item = answer.json()["item_id"] if status == HTTPStatus.CREATED else None
        self._answers.write(f"{json.dumps([time.time(), self._orders.sites.index(site), status, item])}\n")

    async def read(self, stop: asyncio.Event) -> None:
        """The log from its beginning, as docs/webhooks.md says; when told to stop, to its end first."""
        sites = itertools.cycle(self._orders.sites)
        after = ""
        async with httpx2.AsyncClient(headers=self._orders.headers, timeout=REQUEST_SECONDS_MAX) as http:
            while True:
                is_last = stop.is_set()
                page = await self._page(http, next(sites), after)
                if page is None:
                    after = ""
                elif page:
                    for row in page["results"]:
                        self._events.write(f"{json.dumps([row['event_id'], row['type']])}\n")
                    if page["results"]:
                        after = page["results"][-1]["cursor"]
                    after = page["next_cursor"] or after
                    if is_last and not page["results"] and not page["next_cursor"]:
                        return
                    if page["results"]:
                        continue
                await asyncio.sleep(LOOK_SECONDS)

    async def _page(self, http: httpx2.AsyncClient, site: str, after: str) -> Any:
        """A page; {} where there is no answer now; None where the cursor is refused."""
        query = {"limit": PAGE} | ({"after": after} if after else {})
        try:
            answer = await http.get(f"{site}/v3.2/event", params=query)
        except httpx2.TransportError:
            return {}
        if answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY:
            self._events.write(f"{json.dumps(['', 'cursor_expired'])}\n")
            return None
        return answer.json() if answer.status_code == HTTPStatus.OK else {}


async def ready(site: str) -> None:
    """Wait until the web process there is ready; whoever started it gives up waiting."""
    async with httpx2.AsyncClient(timeout=REQUEST_SECONDS_MAX) as http:
        while True:
            with contextlib.suppress(httpx2.TransportError):
                if (await http.get(f"{site}/readyz")).status_code == HTTPStatus.OK:
                    return
            await asyncio.sleep(LOOK_SECONDS)


async def main(orders: Orders) -> None:
    stop, end = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGUSR1, stop.set)  # no more orders; the reader goes on
    loop.add_signal_handler(signal.SIGTERM, end.set)
    crowd = Crowd(orders)
    await asyncio.gather(*map(ready, orders.sites))
    await asyncio.gather(*(crowd.shop(site, stop) for site in orders.sites), crowd.read(end))


if __name__ == "__main__":
    asyncio.run(main(Orders(**json.loads(sys.argv[1]))))

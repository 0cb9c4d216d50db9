"""Load as an installation has it: orders of shops, mails that arrive, people who answer, webhooks, and a report.

Whoever is refused or loses the answer asks another web process again, with the same key where there is one.
"""

import asyncio
import contextlib
import itertools
import json
import random
import re
import time
from collections import Counter
from collections.abc import AsyncGenerator, Coroutine, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

import httpx2

from tests.browser import markup
from tests.conftest import House
from tests.run.worker.faults.rig import Rig, Web
from tests.sending.channels.receiver import Given, Reply
from tests.sending.channels.sink import Mail

AGAIN_SECONDS: Final = 0.25
REQUEST_SECONDS_MAX: Final = 30.0
TICK_SECONDS: Final = 0.02
BATCH: Final = 10
ONE_BATCH_OF: Final = 20  # requests; a third of all items
OPENED: Final = 0.5  # shares of those who got a mail
EDITED: Final = 0.02
UNHAPPY: Final = 0.2
REPORT_SECONDS: Final = 10.0
TASKS_MAX: Final = 3_000
PAGES_MAX: Final = 3
PEOPLE: Final = "person"  # their addresses begin with it
BUSY: Final = frozenset({409, 429, 503})  # come again; 409: the first request under this key is not over
LINK: Final = re.compile(r"/a/[\w-]+")


@dataclass
class Load:
    """Its clients, and everything that was acknowledged to them or reached them."""

    rig: Rig
    house: House
    lanes: Sequence[str]  # pipelines
    sites: Sequence[Web]
    answered: str  # the field of the score
    old: Sequence[str]  # instances of earlier days, which may be edited
    told: Counter[str] = field(default_factory=Counter[str])
    wrong: list[str] = field(default_factory=list[str])
    item_of: dict[str, str] = field(default_factory=dict[str, str])  # by address
    completed: set[str] = field(default_factory=set[str])
    unhappy: set[str] = field(default_factory=set[str])
    calls: dict[str, tuple[datetime, str]] = field(default_factory=dict[str, tuple[datetime, str]])  # by event
    notices: int = 0
    repeats: int = 0  # of calls
    late: int = 0  # orders that had to wait for room
    _tasks: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])

    def __post_init__(self) -> None:
        self._numbers = itertools.count()
        self._turns = itertools.cycle(range(len(self.sites)))
        self._draw = random.Random(self.rig.draw.getrandbits(32))  # noqa: S311

    @contextlib.asynccontextmanager
    async def clients(self) -> AsyncGenerator[None]:
        """Connections that stay open, as those of shops do."""
        async with contextlib.AsyncExitStack() as stack:
            self._clients = [
                await stack.enter_async_context(httpx2.AsyncClient(base_url=site.url, timeout=REQUEST_SECONDS_MAX))
                for site in self.sites
            ]
            yield

    async def run(self, rate: float, done: asyncio.Event) -> None:
        """So many orders a second, whatever the answers are, and a report now and then."""
        began = reported = time.monotonic()
        owed = 0.0
        while not done.is_set():
            now = time.monotonic()
            owed, began = owed + (now - began) * rate, now
            while owed >= 1:
                if len(self._tasks) > TASKS_MAX:
                    self.late += 1
                    break
                is_batch = self._draw.random() < 1 / ONE_BATCH_OF
                self.begin(self.batch() if is_batch else self.order())
                owed -= BATCH if is_batch else 1
            if now - reported > REPORT_SECONDS:
                reported = now
                self.begin(self.report())
            await asyncio.sleep(TICK_SECONDS)

    def begin(self, work: Coroutine[Any, Any, None]) -> None:
        """Beside everything else; an exception is told as wrong."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._end)

    async def land(self) -> None:
        """Wait for all that is under way."""
        while self._tasks:
            await asyncio.wait(set(self._tasks), return_when=asyncio.ALL_COMPLETED)

    async def order(self) -> None:
        address = f"{PEOPLE}{next(self._numbers)}@example.com"
        body = {"responder_channel_identifier": address}
        answer = await self.ask("POST", self._items(), json=body, headers=self._keyed(address))
        if self._is_good(answer, 201):
            self._acknowledge(address, answer.json()["item_id"])

    async def batch(self) -> None:
        addresses = [f"{PEOPLE}{next(self._numbers)}@example.com" for _ in range(BATCH)]
        rows = [{"responder_channel_identifier": address} for address in addresses]
        answer = await self.ask("POST", f"{self._items()}/batch", json=rows, headers=self._keyed(addresses[0]))
        if self._is_good(answer, 200):
            for address, result in zip(addresses, answer.json()["results"], strict=True):
                self._acknowledge(address, result["item_id"])

    async def report(self) -> None:
        """The funnel of the last month."""
        to = datetime.now(UTC)
        answer = await self.ask(
            "GET",
            "/v3.2/report/template/funnel",
            params={
                "questionnaire_id": self.house.questionnaire_id,
                "from_time": to.replace(year=to.year - 1).isoformat(),
                "to_time": to.isoformat(),
            },
            headers=self.house.headers,
        )
        self._is_good(answer, 200)

    async def person(self, mail: Mail) -> None:
        """Opens the page of the mail and answers."""
        body = mail.parsed.get_body(("plain",))
        found = LINK.search(body.get_content()) if body is not None else None
        if found is None:
            self.wrong.append("a mail without a link")
            return
        is_unhappy = self._draw.random() < UNHAPPY
        score = self._draw.randint(1, 2) if is_unhappy else self._draw.randint(3, 5)
        if await self._answer(found[0], score):
            instance_id = found[0].removeprefix("/a/")
            self.completed.add(instance_id)
            if is_unhappy:
                self.unhappy.add(instance_id)

    async def edit(self) -> None:
        """Somebody changes an answer of an earlier day."""
        await self._answer(f"/a/{self._draw.choice(self.old)}", self._draw.randint(3, 5))

    def arrive(self, mail: Mail) -> None:
        """The mail of an order, which the server has taken."""
        number = self._draw.random()
        if number < OPENED:
            self.begin(self.person(mail))
        elif number < OPENED + EDITED:
            self.begin(self.edit())

    def take(self, given: Given) -> Reply:
        """A call of a webhook."""
        event_id, moment = given.headers["webhook-id"], datetime.now(UTC)
        kind: str = json.loads(given.body)["event"]["type"]
        if event_id in self.calls:
            self.repeats += 1
        else:
            self.calls[event_id] = moment, kind
        return Reply()

    async def ask(self, method: str, path: str, **more: Any) -> httpx2.Response:
        """The first answer that is none of `BUSY`, from one process or another; the header `tries` counts them."""
        for tries in itertools.count(1):
            client = self._clients[next(self._turns)]
            try:
                answer = await client.request(method, path, **more)
            except httpx2.TransportError as error:
                self.told[type(error).__name__] += 1
            else:
                if answer.status_code not in BUSY:
                    self.told[f"{method} {answer.status_code}"] += 1
                    answer.extensions["tries"] = tries
                    return answer
                self.told[f"busy {answer.status_code}"] += 1
            await asyncio.sleep(AGAIN_SECONDS)
        raise AssertionError

    async def _answer(self, path: str, score: int) -> bool:
        """Page by page, until there is nothing more to ask; whether this was thanked for."""
        page = await self.ask("GET", f"{path}?page=1")  # whoever has answered sees a summary first
        if not self._is_good(page, 200):
            return False
        tries = 0
        for _ in range(PAGES_MAX):
            fields = {**markup.read(page.text).fields, self.answered: str(score), "go": "send"}
            page = await self.ask("POST", path, data=fields, follow_redirects=True)
            tries = max(tries, page.extensions["tries"])
            if page.status_code != 200 or "Thank you" in page.text:
                break
        if page.status_code == 200 and "Thank you" in page.text:
            return True
        if tries == 1:  # else the answer of an earlier try was lost
            self.wrong.append(f"POST {path} {page.status_code}: {markup.read(page.text).text[:500]}")
        return False

    def _items(self) -> str:
        pipeline_id = self.lanes[next(self._numbers) % len(self.lanes)]
        return f"/v3.2/q/questionnaire/{self.house.questionnaire_id}/pipeline/{pipeline_id}/queue/item"

    def _keyed(self, key: str) -> dict[str, str]:
        return {**self.house.headers, "Idempotency-Key": key}

    def _acknowledge(self, address: str, item_id: str | None) -> None:
        if item_id is None or address in self.item_of:
            self.wrong.append(f"{address} has {item_id} and {self.item_of.get(address)}")
            return
        self.item_of[address] = item_id
        self.rig.acknowledged.add(item_id)

    def _is_good(self, answer: httpx2.Response, status: int) -> bool:
        if answer.status_code != status:
            self.wrong.append(f"{answer.request.method} {answer.request.url.path} {answer.status_code}: {answer.text}")
        return answer.status_code == status

    def _end(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self.wrong.append(repr(error))

"""All parts on one machine at once: items that come in, mails, people who answer, and users of the console.

Each sends its next request as soon as the last is answered, so together they take all that the machine has; the users
look at each page for a moment.
"""

import asyncio
import itertools
import re
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

import httpx2

from afterword.core.answers.values import field_name
from afterword.kit import db
from benchmarks import console
from benchmarks.engine import sent
from benchmarks.findings import Figure, Finding, Ratio
from benchmarks.requests import connects, headers_of, item_body, item_path
from benchmarks.stage import SECRET, Stage, answers, free_port, running

SECONDS: Final = 25.0
WARM_SECONDS: Final = 3.0
SHOPS: Final = 2  # that send items, each over a connection of its own
PEOPLE: Final = 8  # who answer at a time
USERS: Final = 5  # of the console
LOOK_SECONDS: Final = 1.0
INSTANCES: Final = 6_000  # of people who will answer, at most
PAGES_MAX: Final = 4
REQUEST_MS_MAX, PAGE_MS_MAX, CONSOLE_MS_MAX = 250.0, 250.0, 500.0
HIDDEN: Final = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)"')
CSAT: Final = """
select q ->> 'question_id' from questionnaire x
  join questionnaire_version v
    on v.organization_id = x.organization_id and v.version_id = x.published_version_id,
  jsonb_array_elements(v.definition -> 'groups') g, jsonb_array_elements(g -> 'questions') q
where x.questionnaire_id = $1 and q ->> 'type' = 'csat'"""
Turn = Callable[[httpx2.AsyncClient], Awaitable[None]]


@dataclass
class Crowd:
    """The people who use the installation, and how long each of their requests took."""

    stage: Stage
    url: str
    score: str  # the field that all answer
    instances: Sequence[str]
    addresses: Mapping[str, list[str]]  # of the console
    took: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    done: Counter[str] = field(default_factory=Counter)
    _numbers: "itertools.count[int]" = field(default_factory=itertools.count)
    _people: "itertools.count[int]" = field(default_factory=itertools.count)

    async def at_work(self, *turns: Turn, seconds: float) -> Mapping[str, float]:
        """Repeat each turn for `seconds`, all at once; returns how often a second each kind of work was done."""
        self.took.clear()
        self.done.clear()
        before, began = await sent(self.stage), time.perf_counter()
        await asyncio.gather(*(self._again(turn, began + seconds) for turn in turns))
        lasted = time.perf_counter() - began
        self.done["mails"] = await sent(self.stage) - before
        return {name: count / lasted for name, count in self.done.items()}

    async def _again(self, turn: Turn, end: float) -> None:
        is_user = turn == self.user
        opened = console.visitor(base_url=self.url) if is_user else httpx2.AsyncClient(base_url=self.url, timeout=60)
        async with opened as client:
            while time.perf_counter() < end:
                await turn(client)

    async def shop(self, client: httpx2.AsyncClient) -> None:
        """One item."""
        body = item_body(next(self._numbers))
        await self._ask(client, "items", "POST", item_path(self.stage), json=body, headers=headers_of(self.stage))
        self.done["items"] += 1

    async def person(self, client: httpx2.AsyncClient) -> None:
        """Opens the page and answers to its end."""
        path = self.instances[next(self._people)]
        text = await self._ask(client, "pages", "GET", path)
        for _ in range(PAGES_MAX):
            fields = {**dict(HIDDEN.findall(text)), self.score: "4", "go": "send"}
            text = await self._ask(client, "pages", "POST", path, data=fields, follow_redirects=True)
            if "<form" not in text:
                self.done["answers"] += 1
                return
        raise RuntimeError("A questionnaire did not come to its end.")

    async def user(self, client: httpx2.AsyncClient) -> None:
        """A page of the console after the other."""
        number = next(self._numbers)
        pages = [address for each in self.addresses.values() for address in each]
        await self._ask(client, "console", "GET", pages[number % len(pages)])
        self.done["console"] += 1
        await asyncio.sleep(LOOK_SECONDS)

    def p95_ms(self, name: str) -> float:
        """Of the requests of this kind since work began."""
        return 1000 * statistics.quantiles(self.took[name], n=20)[-1]

    async def _ask(self, client: httpx2.AsyncClient, name: str, method: str, path: str, **more: object) -> str:
        began = time.perf_counter()
        answer = await client.request(method, path, **more)  # pyrefly: ignore[bad-argument-type]
        self.took[name].append(time.perf_counter() - began)
        if answer.status_code not in {HTTPStatus.OK, HTTPStatus.CREATED}:
            raise RuntimeError(f"{method} {path}: {answer.status_code}")
        return answer.text


async def at_once(stage: Stage) -> list[Finding]:
    """Rates beside everything else, against the same part alone; and how long one waits meanwhile."""
    port, mail_port = free_port(), free_port()
    await console.demonstrate(stage)
    settings = {
        "database_url": stage.url,
        "data_dir": str(stage.folder / "serve"),
        "port": str(port),
        "secret": SECRET,
        "smtp_url": f"smtp://127.0.0.1:{mail_port}?starttls=never",
        "log_level": "warning",
        **dict.fromkeys(
            ("token_requests_per_minute", "organization_requests_per_minute", "link_burst_per_minute"), "0"
        ),
    }
    url = f"http://127.0.0.1:{port}"
    async with (
        running("benchmarks.sink", str(mail_port), settings={}),
        running("afterword", "serve", settings=settings) as process,
    ):
        await connects(mail_port)
        await answers(f"{url}/readyz", process)
        crowd = await crowd_of(stage, url)
        shops, people, users = [crowd.shop] * SHOPS, [crowd.person] * PEOPLE, [crowd.user] * USERS
        await crowd.at_work(*shops, *people, *users, seconds=WARM_SECONDS)
        alone = {**await crowd.at_work(*people, seconds=SECONDS / 2)}
        alone |= {name: rate for name, rate in (await crowd.at_work(*shops, seconds=SECONDS / 2)).items() if rate}
        alone |= {"console": (await crowd.at_work(*users, seconds=SECONDS / 2))["console"]}
        beside = await crowd.at_work(*shops, *people, *users, seconds=SECONDS)
    together = f"{SHOPS} shops, {PEOPLE} people and {USERS} console users at once"
    return [
        *(
            Ratio(f"{words}: {together}", "this part alone", "a second", [(beside[name], alone[name])])
            for name, words in (
                ("items", "Items by single requests"),
                ("mails", "Mails that left"),
                ("answers", "Questionnaires that people answered"),
                ("console", "Pages of the console"),
            )
        ),
        Figure("POST of an item meanwhile, p95", crowd.p95_ms("items"), REQUEST_MS_MAX, "ms"),
        Figure("Answer page meanwhile, p95", crowd.p95_ms("pages"), PAGE_MS_MAX, "ms"),
        Figure("Page of the console meanwhile, p95", crowd.p95_ms("console"), CONSOLE_MS_MAX, "ms"),
    ]


async def crowd_of(stage: Stage, url: str, *, instances: int = INSTANCES, with_users: bool = True) -> Crowd:
    below = f"/v3.2/q/questionnaire/{stage.seeded.questionnaire_id}/instance"
    async with httpx2.AsyncClient(base_url=url, headers=headers_of(stage), timeout=60) as client:
        made = [(await client.post(below, json={})).json()["instance_id"] for _ in range(instances)]
    async with db.connection(stage.pool) as database:
        question_id = await database.fetch_value(CSAT, stage.seeded.questionnaire_id)
    addresses: Mapping[str, list[str]] = {}
    if with_users:
        async with console.visitor(base_url=url) as client:
            addresses = await console.addresses(client)
    paths = [urlsplit(stage.site.pages("").collection_url(one)).path for one in made]
    return Crowd(stage, url, field_name(question_id), paths, addresses)

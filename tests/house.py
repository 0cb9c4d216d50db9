"""The figures of the whole: lines, files, places of one question type, and the path of a request.

`python -m tests.house` prints them beside their aims. A path is measured on a real request against the application
and a PostgreSQL of its own, the second time that it is made. Lambdas and comprehensions count as their function.
"""

import asyncio
import re
import sys
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from types import FrameType
from typing import Any, Final

import httpx2

from afterword.core.questionnaires.question_types import TYPES
from afterword.kit import db
from afterword.run import embedded, migrations
from tests.browser import markup
from tests.conftest import SETTINGS, build_house
from tests.run.test_app import client_of
from tests.tenants.logins.conftest import browser_of, found, log_in

ROOT: Final = Path(__file__).parent.parent
PRODUCT: Final = ROOT / "afterword"
SCREENS: Final = {"console", "screens"}  # folders
SHOWN_MAX: Final = 3
AMBIGUOUS: Final = {"text", "number", "date", "time", "date_time", "consent", "contact", "address", "file", "rating"}
FIRST_INSTRUCTIONS: Final = 16  # bytes: a call begins here, a coroutine that goes on does not
AIMS: Final[Mapping[str, str]] = {
    "product, lines of Python": "98,000",
    "product, files of Python": "500",
    "tests, lines of Python": "89,339",
    "noun with its screens, lines": "150",
    "question type, places": "1",
    "POST queue item": "24 · 80",
    "GET queue item": "14 · 40",
    "GET instance": "14 · 40",
    "answer, last page": "26 · 100 · 100",
    "console list": "12",
    "report": "28 · 100",
}  # of a request: its files, functions and returns
Request = Callable[[], Awaitable[httpx2.Response]]


async def crossed(prepare: Callable[[], Awaitable[Request]]) -> str:
    """Files, functions and returns of a request; a return is a call into a file that the path had left."""
    await (await prepare())()  # fills what a process remembers
    request = await prepare()
    calls: list[tuple[str, str]] = []

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        is_ours = event == "call" and code.co_filename.startswith(f"{PRODUCT}/") and not code.co_name.startswith("<")
        if is_ours and frame.f_lasti < FIRST_INSTRUCTIONS:
            calls.append((code.co_filename, code.co_qualname))

    sys.setprofile(note)
    try:
        response = await request()
    finally:
        sys.setprofile(None)
    if response.is_error:
        raise RuntimeError(f"{response.request.url} answered {response.status_code}: {response.text}")
    stays = [file for file, _ in groupby(file for file, _ in calls)]
    files = len(set(stays))
    return " · ".join(map(str, (files, len(set(calls)), len(stays) - files)))


async def walks(pool: db.Pool) -> AsyncGenerator[tuple[str, str]]:
    """The name of each request, and its counts."""
    house = await build_house(pool, domain="demo")
    questionnaire, instance = f"/v3.2/q/questionnaire/{house.questionnaire_id}", "/v3.2/q/instance"
    items, numbers = f"{questionnaire}/pipeline/{house.pipeline_id}/queue/item", iter(range(9))
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    async with client_of(pool) as client:
        client.headers.update(house.headers)

        async def get(path: str) -> Request:
            return lambda: client.get(path)

        async def schedule() -> Request:
            body = {"send_time": tomorrow, "responder_channel_identifier": f"anna{next(numbers)}@example.com"}
            return lambda: client.post(items, json=body)

        async def issue() -> str:
            return (await client.post(f"{questionnaire}/instance", json={})).json()["instance_id"]

        async def answer() -> Request:
            path = f"/a/{await issue()}"
            page = await client.get(path)
            while 'value="send"' not in page.text:
                sent = await client.post(path, data=filled(page.text) | {"go": "next"})
                page = await client.get(sent.headers["location"])
            return lambda: client.post(path, data=filled(page.text) | {"go": "send"})

        yield "POST queue item", await crossed(schedule)
        item = (await (await schedule())()).json()["item_id"]
        yield "GET queue item", await crossed(lambda: get(f"/v3.2/q/queue/item/{item}"))
        issued = await issue()
        yield "GET instance", await crossed(lambda: get(f"{instance}/{issued}"))
        yield "answer, last page", await crossed(answer)
        report = f"/v3.2/report/template/nps?questionnaire_id={house.questionnaire_id}&compare=previous_period"
        yield "report", await crossed(lambda: get(report))
    await found(pool)
    async with browser_of(pool) as browser:
        await log_in(browser)

        async def look() -> Request:
            return lambda: browser.get("/console/settings/statuses")

        yield "console list", await crossed(look)


def filled(page: str) -> dict[str, str]:
    """The fields of an answer page: hidden ones as they are, of radio buttons the first, in texts a word."""
    fields = markup.read(page).fields
    inputs = [dict(re.findall(r'(\w+)="([^"]*)"', tag)) for tag in re.findall(r"<(?:input|textarea)[^>]*>", page)]
    for one in reversed(inputs):
        if one.get("type", "text") in {"radio", "text"} and "name" in one:
            fields[one["name"]] = one.get("value") or "fine"
    return fields


@asynccontextmanager
async def server_pool() -> AsyncGenerator[db.Pool]:
    with tempfile.TemporaryDirectory() as folder:
        server = await embedded.start(Path(folder), durable=False, settings=SETTINGS)
        try:
            await migrations.migrate(server.url)
            async with await db.open_pool(server.url, size_max=4) as pool:
                yield pool
        finally:
            await server.stop()


def counts() -> Iterable[tuple[str, str]]:
    """The name of each figure of the source, and its value."""
    product, tests = ([*(ROOT / folder).rglob("*.py")] for folder in ("afterword", "tests"))
    yield "product, lines of Python", f"{lines_of(product):,}"
    yield "product, files of Python", f"{len(product):,}"
    yield "tests, lines of Python", f"{lines_of(tests):,}"
    yield "noun with its screens, lines", most(noun_lines(product)) or "no noun is declared"
    yield "question type, places", most(type_places())


def lines_of(files: Iterable[Path]) -> int:
    return sum(path.read_text(encoding="utf-8").count("\n") for path in files)


def noun_lines(product: Iterable[Path]) -> Mapping[str, int]:
    """The lines of each noun's file, and of the hand-made screens of its name."""
    files = list(product)
    nouns: dict[str, int] = {}
    for path in files:
        declared = re.findall(r"^(\w+)(?:: .*)? = Noun\(", path.read_text(encoding="utf-8"), re.MULTILINE)
        screens = [one for one in files if SCREENS & {*one.parts} and one.name == path.name]
        nouns |= dict.fromkeys(declared, lines_of({path, *screens}))
    return nouns


def type_places() -> Mapping[str, int]:
    """The number of files of the product that name a type of question, for types whose name means nothing else."""
    texts = [path.read_text(encoding="utf-8") for ending in ("*.py", "*.html") for path in PRODUCT.rglob(ending)]
    return {
        name: sum(f'"{name}"' in text or f"'{name}'" in text for text in texts)
        for name in TYPES
        if name not in AMBIGUOUS
    }


def most(figures: Mapping[str, int]) -> str:
    """The largest of these figures first."""
    ordered = sorted(figures.items(), key=lambda pair: -pair[1])
    return ", ".join(f"{figure} ({name})" for name, figure in ordered[:SHOWN_MAX])


async def report() -> None:
    async with server_pool() as pool:
        for name, value in [*counts(), *[pair async for pair in walks(pool)]]:
            print(f"{name:30} {value:40} {AIMS[name]}")


if __name__ == "__main__":
    asyncio.run(report())

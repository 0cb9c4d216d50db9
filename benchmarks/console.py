"""Pages of the console over a million responses: what one web process takes for each, asked one after the other."""

import asyncio
import html
import re
import statistics
import time
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from datetime import datetime
from http import HTTPStatus
from typing import Any, Final

import asyncpg
import httpx2

from afterword.kit import db
from afterword.run.app import create_app
from afterword.run.demonstration import service as demonstration
from afterword.tenants.logins import service
from afterword.tenants.organizations import service as organizations
from benchmarks import report
from benchmarks.findings import Figure
from benchmarks.stage import Stage

RESPONSES: Final = 1_000_000
REQUESTS: Final = 60  # of each page, once each of its addresses has been asked for; the 57th slowest counts
DAYS: Final = 365  # of the responses
LATE_HOUR: Final = 22  # of the organization's day when they are made: what came today is counted live
SECONDS_MAX: Final = 900.0
EMAIL, PASSWORD = "ann@example.com", "four words make a password"
HEADERS: Final = {"Sec-Fetch-Site": "same-origin", "Accept": "text/html", "Accept-Encoding": "gzip, deflate, br, zstd"}
WORDS: Final = ("late", "delivery wrong", "παράδοση", "verspätet", "التوصيل")
FILTERS: Final = (
    {"tab": "unread"},
    {"score": "csat"},
    {"band": "passive"},
    {"channel": "2"},
    {"tag": "frequent"},
    {"tag": "seldom"},
    {"tag": "rare"},
    {"condition": '{"subject":"questionnaire_metadata:store_id","operator":"equal","value":"Old Town"}'},
)
OVERVIEW: Final = "overview"
FILTERED: Final = "filtered list"
FLOORS: Final[Mapping[str, float]] = {
    "list": 40,
    FILTERED: 40,
    "list of another period": 40,
    "open response": 40,
    "search": 80,
    "cases": 40,
    "people": 40,
    "sending": 40,
    "questionnaires": 40,
    "editor": 40,
    OVERVIEW: 100,
    "results": 120,
}
KB_MAX: Final = 40.0  # of a page with all its scripts and styles, as they come to a browser that has seen none
QUESTION: Final = re.compile(r"/console/questionnaires/[0-9A-Za-z]{22}/edit/[0-9A-Za-z]{22}")
LENGTH: Final = re.compile(rb"content-length: (\d+)", re.IGNORECASE)
FILES: Final = re.compile(r'(?:src|href)="(/static/[^"]+\.(?:js|css)[^"]*)"')


async def pages(stage: Stage, port: int, *, responses: int) -> list[Figure]:
    """The 95th percentile of each page in milliseconds; the median and the number of statements are printed."""
    await prepare(stage, responses=responses)
    found: list[Figure] = []
    async with visitor(base_url=f"http://127.0.0.1:{port}") as client, _inside(stage) as inside:
        for name, found_here in (await addresses(client)).items():
            for address in found_here:
                await _seconds(client, address)
            took = sorted([1000 * await _seconds(client, found_here[n % len(found_here)]) for n in range(REQUESTS)])
            p95 = took[int(0.95 * len(took))]
            with _noted() as statements:
                await inside.get(found_here[0])
            print(
                f"  {name}: p50 {statistics.median(took):.1f} ms, p95 {p95:.1f} ms, {len(statements)} statements",
                flush=True,
            )
            found.append(Figure(f"Console, {name} of {responses:,} responses, p95", p95, FLOORS[name], "ms"))
            kb = await weight(client, found_here[0]) / 1000
            found.append(Figure(f"Console, {name} with scripts and styles", kb, KB_MAX, "kB"))
    return found


async def prepare(stage: Stage, *, responses: int) -> None:
    """Make the responses where there are none, and count them."""
    began = time.perf_counter()
    async with db.connection(stage.pool) as database:
        is_filled = await database.fetch_value("select exists (select from response)")
    if not is_filled:
        await _fill(stage, responses)
        print(f"  {responses:,} responses made in {time.perf_counter() - began:.0f} s", flush=True)
    await report.keep(stage)
    print(f"  and counted after {time.perf_counter() - began:.0f} s", flush=True)


async def addresses(client: httpx2.AsyncClient) -> dict[str, list[str]]:
    """Addresses to ask for in turn, by the name of the page."""
    listed = await client.get("/console/responses")
    text = html.unescape(listed.text)
    opened = re.findall(r'class="whole"[^>]* href="([^"]+)"', text)
    questionnaires = re.findall(r'<option value="([0-9A-Za-z]{22})"', text)
    below = [f"/console/questionnaires/{one}" for one in questionnaires]
    editors = [f"{one}/edit" for one in below]
    shown = [html.unescape((await client.get(each)).text) for each in editors]
    questions = [found[0] for each in shown if (found := QUESTION.search(each))]
    found = {
        OVERVIEW: ["/console", "/console?days=7", "/console?days=90"],
        "list": ["/console/responses", "/console/responses?days=365"],
        "list of another period": [f"/console/responses?days={days}" for days in (7, 30, 365)],
        FILTERED: [
            f"/console/responses?questionnaire={one}&days=365&tab={tab}"
            for one in questionnaires
            for tab in ("unhappy", "comment")
        ]
        + [str(httpx2.URL("/console/responses", params={"days": "365", **chosen})) for chosen in FILTERS],
        "open response": opened,
        "cases": ["/console/cases"],
        "people": ["/console/people"],
        "sending": ["/console/sending"],
        "questionnaires": ["/console/questionnaires"],
        "editor": [*editors, *questions],
        "results": [f"{one}/results" for one in below],
    }
    found["search"] = [
        str(httpx2.URL("/console/responses", params={"search": words, "days": "365"})) for words in WORDS
    ]
    return found


async def _seconds(client: httpx2.AsyncClient, address: str) -> float:
    began = time.perf_counter()
    response = await client.get(address)
    took = time.perf_counter() - began
    if response.status_code != HTTPStatus.OK:
        raise RuntimeError(f"{address}: {response.status_code}")
    return took


class Browser:
    """A connection that is kept, without the time that an HTTP client takes of its own."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, cookie: str) -> None:
        self._reader, self._writer = reader, writer
        self._head = "".join(f"{name}: {value}\r\n" for name, value in {**HEADERS, "Cookie": cookie}.items())

    async def first_byte(self, address: str) -> float:
        """Seconds from the request to the head of its answer. Raises RuntimeError for a refusal."""
        request = f"GET {address} HTTP/1.1\r\nHost: localhost\r\n{self._head}\r\n".encode()
        began = time.perf_counter()
        self._writer.write(request)
        head = await self._reader.readuntil(b"\r\n\r\n")
        took = time.perf_counter() - began
        length = LENGTH.search(head)
        if b" 200 " not in head[:20] or length is None:
            raise RuntimeError(f"{address}: {head.decode()}")
        await self._reader.readexactly(int(length[1]))
        return took


@asynccontextmanager
async def browser(port: int) -> AsyncGenerator[tuple[Browser, httpx2.AsyncClient], None]:
    """A browser of the owner, and a client of the same session."""
    async with visitor(base_url=f"http://127.0.0.1:{port}") as client:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        cookie = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
        try:
            yield Browser(reader, writer, cookie), client
        finally:
            writer.close()


async def weight(client: httpx2.AsyncClient, address: str) -> int:
    """Bytes of a page with all its scripts and styles, as they are sent."""
    size, text = await _sent(client, address)
    return size + sum([(await _sent(client, file))[0] for file in sorted(set(FILES.findall(text)))])


async def _sent(client: httpx2.AsyncClient, address: str) -> tuple[int, str]:
    async with client.stream("GET", address) as response:
        await response.aread()
        return response.num_bytes_downloaded, html.unescape(response.text)


@asynccontextmanager
async def visitor(**options: Any) -> AsyncGenerator[httpx2.AsyncClient, None]:
    """A browser of the owner."""
    async with httpx2.AsyncClient(headers=HEADERS, timeout=60, **options) as client:
        await client.post("/console/login", data={"email": EMAIL, "password": PASSWORD})
        yield client


@asynccontextmanager
async def _inside(stage: Stage) -> AsyncGenerator[httpx2.AsyncClient, None]:
    """The same application in this process, where its statements can be counted."""
    transport = httpx2.ASGITransport(app=create_app(pool=stage.pool, site=stage.site))
    async with visitor(transport=transport, base_url=stage.site.public_url) as client:
        yield client


@contextmanager
def _noted() -> Generator[list[str], None, None]:
    """The statements that are sent meanwhile."""
    sent: list[str] = []
    bare = {name: getattr(db.Database, name) for name in ("fetch", "fetch_row", "fetch_value", "execute")}

    def noting(name: str) -> Any:
        async def note(database: db.Database, query: Any, *values: object) -> Any:
            sent.append(query)
            return await bare[name](database, query, *values)

        return note

    for name in bare:
        setattr(db.Database, name, noting(name))
    try:
        yield sent
    finally:
        for name, method in bare.items():
            setattr(db.Database, name, method)


# A million responses: those of the demonstration, many times --------------------------------------------------------


async def demonstrate(stage: Stage) -> tuple[int, datetime]:
    """The responses of the demonstration, and an owner who may log in; how many there are, and when they were made."""
    organization_id = stage.caller.organization_id
    async with db.transaction(stage.pool) as database:
        now = database.clock.now()
        made = await demonstration.fill(
            database,
            organization_id=organization_id,
            application_id=stage.seeded.application_id,
            secret=stage.site.secret,
            now=now,
        )
        user = await organizations.create_user(
            database, organization_id=organization_id, email=EMAIL, role="owner", now=now
        )
        login = await service.insert_login(
            database, email=EMAIL, password_hash=await service.hash_of(PASSWORD), now=now
        )
        await service.join(database, organization_id=organization_id, user_id=user.user_id, login=login)
        await database.execute(
            "update organization set time_zone = $2 where organization_id = $1", organization_id, _late_zone(now)
        )
    return made, now


async def _fill(stage: Stage, responses: int) -> None:
    organization_id = stage.caller.organization_id
    made, now = await demonstrate(stage)
    copies = max(responses // made - 1, 0)
    settings = {"jit": "off", "synchronous_commit": "off", "work_mem": "256MB", "maintenance_work_mem": "1GB"}
    connection: Any = await asyncpg.connect(stage.url, server_settings=settings)
    try:
        # The copies are right: their foreign keys are not checked, and indexes are made once all rows are there.
        keys = await connection.fetch(_KEYS, list(TABLES))
        indexes = await connection.fetch(_INDEXES, list(TABLES))
        await connection.execute("".join(f"alter table {table} drop constraint {name};" for table, name, _ in keys))
        await connection.execute("".join(f"drop index {name};" for name, _ in indexes))
        for statement in (_PEOPLE, _ADDRESSES, _ITEMS, _ANSWERS, _ROWS, _TAGS, _INSTANCES):
            await connection.execute(statement, organization_id, copies, DAYS, now, timeout=SECONDS_MAX)
        for _, text in indexes:
            await connection.execute(text, timeout=SECONDS_MAX)
        await connection.execute(
            "".join(f"alter table {table} add constraint {name} {text} not valid;" for table, name, text in keys)
        )
        await connection.execute(f"vacuum analyze {', '.join(TABLES)}", timeout=SECONDS_MAX)
    finally:
        await connection.close()


def _late_zone(now: datetime) -> str:
    """A time zone where this hour is `LATE_HOUR`."""
    hours = (LATE_HOUR - now.hour + 9) % 24 - 9
    return f"Etc/GMT{-hours:+d}"


TABLES: Final = (
    *("responder", "responder_address", "queue_item", "questionnaire_instance", "answer", "response", "instance_tag"),
)
_KEYS: Final = """
select conrelid::regclass::text, quote_ident(conname), pg_get_constraintdef(oid)
from pg_constraint where conrelid = any($1::text[]::regclass[]) and contype = 'f'"""
_INDEXES: Final = """
select i.indexrelid::regclass::text, pg_get_indexdef(i.indexrelid) from pg_index i
where i.indrelid = any($1::text[]::regclass[])
  and not exists (select from pg_constraint c where c.conindid = i.indexrelid)"""
# A copy's key begins with its number; the rest, which is drawn at random, is that of the original. A row is written
# when it is made, so those of one day stand together. Copies of a response are spread evenly over $3 days before $4.
_COPIES: Final = (
    "cross join (select copy, 'C' || lpad(copy::text, 5, '0') as mark from generate_series(1, $2::integer) copy) c"
)
_AGED: Final = """cross join lateral (
  select floor(extract(epoch from $4::timestamptz - {time}) / 86400)::integer as age) a
cross join lateral (
  select make_interval(days => (age + copy * 131) % $3::integer - age, secs => copy % 997) as back) b"""
_OF_INSTANCE: Final = _AGED.format(time="coalesce(i.completed_time, i.submitted_time)")
_PEOPLE: Final = f"""
insert into responder (organization_id, responder_id, locale, metadata, created_time, updated_time)
select organization_id, mark || right(responder_id, 16), locale, metadata, created_time, updated_time
from responder {_COPIES} where organization_id = $1 and $3::integer > 0 and $4::timestamptz is not null"""
_ADDRESSES: Final = f"""
insert into responder_address (organization_id, channel_id, address_key, responder_id, identifier, unsubscribe_id,
  created_time)
select organization_id, channel_id, sha256(address_key || int4send(copy)), mark || right(responder_id, 16),
  copy || '.' || identifier, mark || right(unsubscribe_id, 16), created_time
from responder_address {_COPIES} where organization_id = $1 and $3::integer > 0 and $4::timestamptz is not null"""
_ITEMS: Final = f"""
insert into queue_item (organization_id, item_id, questionnaire_id, pipeline_id, responder_channel_identifier,
  address_key, responder_id, locale, metadata, send_time, send_offset_minutes, due_time, not_after, status, reason,
  attempts, attempts_max, dispatched_time, questionnaire_instance_id, external_reference, created_time, updated_time)
select q.organization_id, mark || right(q.item_id, 16), q.questionnaire_id, q.pipeline_id,
  copy || '.' || q.responder_channel_identifier, sha256(q.address_key || int4send(copy)),
  mark || right(q.responder_id, 16), q.locale, q.metadata, q.send_time - back, q.send_offset_minutes, q.due_time - back,
  q.not_after - back, q.status, q.reason, q.attempts, q.attempts_max, q.dispatched_time - back,
  mark || right(q.questionnaire_instance_id, 16), q.external_reference || '-' || copy, q.created_time - back,
  q.updated_time - back
from queue_item q
join questionnaire_instance i
  on i.organization_id = q.organization_id and i.instance_id = q.questionnaire_instance_id
{_COPIES} {_OF_INSTANCE}
where q.organization_id = $1 and i.submitted_time is not null
order by q.created_time - back"""
_INSTANCES: Final = f"""
insert into questionnaire_instance (organization_id, instance_id, questionnaire_id, version_id, responder_id, item_id,
  channel_id, pipeline_id, short_code, locale, valid_days, editable, finalized, question_ids, metadata, sent_time,
  delivered_time, viewed_time, submitted_time, completed_time, created_time, updated_time)
select organization_id, mark || right(instance_id, 16), questionnaire_id, version_id, mark || right(responder_id, 16),
  mark || right(item_id, 16), channel_id, pipeline_id, right(md5(short_code || copy), 12), locale, valid_days, editable,
  finalized, question_ids, metadata, sent_time - back, delivered_time - back, viewed_time - back,
  submitted_time - back, completed_time - back, created_time - back, updated_time - back
from questionnaire_instance i {_COPIES} {_OF_INSTANCE} where organization_id = $1 and submitted_time is not null
order by created_time - back"""
_ANSWERS: Final = f"""
insert into answer (organization_id, instance_id, question_id, questionnaire_id, version_id, value, answered_time)
select r.organization_id, mark || right(r.instance_id, 16), r.question_id, r.questionnaire_id, r.version_id, r.value,
  r.answered_time - back
from answer r join questionnaire_instance i using (organization_id, instance_id) {_COPIES} {_OF_INSTANCE}
where r.organization_id = $1
order by r.answered_time - back"""
_ROWS: Final = f"""
insert into response (organization_id, instance_id, questionnaire_id, application_id, version_id, responder_id,
  channel_id, test, locale, submitted_time, external_reference, score_question_id, score_kind, score, score_max, band,
  comment, words)
select r.organization_id, mark || right(r.instance_id, 16), r.questionnaire_id, r.application_id, r.version_id,
  mark || right(r.responder_id, 16), r.channel_id, r.test, r.locale, r.submitted_time - back,
  r.external_reference || '-' || copy, r.score_question_id, r.score_kind, r.score, r.score_max, r.band, r.comment,
  r.words
from response r join questionnaire_instance i using (organization_id, instance_id) {_COPIES} {_OF_INSTANCE}
where r.organization_id = $1
order by r.submitted_time - back"""
# One response of ten, of five hundred and of twenty thousand.
_TAGS: Final = """
insert into instance_tag (organization_id, instance_id, tag)
select r.organization_id, r.instance_id, t.tag from response r
cross join (values ('frequent', 10), ('seldom', 700), ('rare', 20000)) as t (tag, each)
where r.organization_id = $1 and $2::integer + $3::integer > 0 and $4::timestamptz is not null
  and abs(hashtextextended(r.instance_id, t.each)) % t.each = 0"""

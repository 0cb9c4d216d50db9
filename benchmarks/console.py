"""Pages of the console over a million responses: what one web process takes for each, asked one after the other."""

import html
import re
import statistics
import time
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from http import HTTPStatus
from typing import Any, Final

import asyncpg
import httpx2

from afterword import db
from afterword.app import create_app
from afterword.demonstration import service as demonstration
from afterword.logins import hashing
from afterword.logins import service as logins
from afterword.organizations import service as organizations
from benchmarks import report
from benchmarks.findings import Figure
from benchmarks.stage import Stage

RESPONSES: Final = 1_000_000
REQUESTS: Final = 60  # of each page; the 57th slowest counts
WARM_REQUESTS: Final = 3
DAYS: Final = 275  # that the copies go back, besides the 90 of the demonstration
SECONDS_MAX: Final = 900.0
EMAIL, PASSWORD = "ann@example.com", "four words make a password"
HEADERS: Final = {"Sec-Fetch-Site": "same-origin", "Accept": "text/html", "Accept-Encoding": "gzip"}
WORDS: Final = ("late", "delivery wrong", "παράδοση", "verspätet", "التوصيل")
FLOORS: Final[Mapping[str, float]] = {
    "list": 40,
    "filtered list": 40,
    "open response": 40,
    "search": 80,
    "overview": 100,
}


async def pages(stage: Stage, port: int, *, responses: int) -> list[Figure]:
    """The 95th percentile of each page in milliseconds; the median and the number of statements are printed."""
    began = time.perf_counter()
    await _fill(stage, responses)
    print(f"  {responses:,} responses made in {time.perf_counter() - began:.0f} s", flush=True)
    await report.keep(stage)
    print(f"  and counted after {time.perf_counter() - began:.0f} s", flush=True)
    found: list[Figure] = []
    async with _visitor(base_url=f"http://127.0.0.1:{port}") as client, _inside(stage) as inside:
        for name, addresses in (await _addresses(client)).items():
            took = [
                await _seconds(client, addresses[number % len(addresses)]) for number in range(WARM_REQUESTS + REQUESTS)
            ]
            took = sorted(1000 * seconds for seconds in took[WARM_REQUESTS:])
            p95 = took[int(0.95 * len(took))]
            with _noted() as statements:
                await inside.get(addresses[0])
            print(
                f"  {name}: p50 {statistics.median(took):.1f} ms, p95 {p95:.1f} ms, {len(statements)} statements",
                flush=True,
            )
            found.append(Figure(f"Console, {name} of {responses:,} responses, p95", p95, FLOORS[name], "ms"))
    return found


async def _addresses(client: httpx2.AsyncClient) -> dict[str, list[str]]:
    """Addresses to ask for in turn, by the name of the page."""
    listed = await client.get("/console/responses")
    text = html.unescape(listed.text)
    opened = re.findall(r'class="whole"[^>]* href="([^"]+)"', text)
    questionnaires = re.findall(r'<option value="([0-9A-Za-z]{22})"', text)
    found = {
        "overview": ["/console", "/console?days=7", "/console?days=90"],
        "list": ["/console/responses", "/console/responses?days=365"],
        "filtered list": [
            f"/console/responses?questionnaire={one}&days=365&tab={tab}"
            for one in questionnaires
            for tab in ("unhappy", "comment")
        ],
        "open response": opened,
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


@asynccontextmanager
async def _visitor(**options: Any) -> AsyncGenerator[httpx2.AsyncClient, None]:
    """A browser of the owner."""
    async with httpx2.AsyncClient(headers=HEADERS, timeout=60, **options) as client:
        await client.post("/console/login", data={"email": EMAIL, "password": PASSWORD})
        yield client


@asynccontextmanager
async def _inside(stage: Stage) -> AsyncGenerator[httpx2.AsyncClient, None]:
    """The same application in this process, where its statements can be counted."""
    transport = httpx2.ASGITransport(app=create_app(pool=stage.pool, site=stage.site))  # type: ignore[arg-type]  ASGI is typed by starlette here
    async with _visitor(transport=transport, base_url=stage.site.public_url) as client:
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


async def _fill(stage: Stage, responses: int) -> None:
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
        login = await logins.add_login(database, email=EMAIL, password_hash=await hashing.hash_of(PASSWORD), now=now)
        await logins.join(database, organization_id=organization_id, user_id=user.user_id, login=login)
    copies = max(responses // made - 1, 0)
    connection: Any = await asyncpg.connect(stage.url, server_settings={"jit": "off", "synchronous_commit": "off"})
    try:
        # The copies are right: their foreign keys are not checked.
        keys = await connection.fetch(_KEYS, list(TABLES))
        await connection.execute("".join(f"alter table {table} drop constraint {name};" for table, name, _ in keys))
        for first in range(1, copies + 1, COPIES_A_STATEMENT):
            last = min(first + COPIES_A_STATEMENT - 1, copies)
            for statement in (_PEOPLE, _INSTANCES, _ANSWERS, _ROWS):
                await connection.execute(statement, organization_id, first, last, DAYS, timeout=SECONDS_MAX)
        await connection.execute(
            "".join(f"alter table {table} add constraint {name} {text} not valid;" for table, name, text in keys)
        )
        # A row is written when it is made: rows of one day stand together.
        await connection.execute(_IN_ORDER, timeout=SECONDS_MAX)
        await connection.execute(f"vacuum analyze {', '.join(TABLES)}", timeout=SECONDS_MAX)
    finally:
        await connection.close()


COPIES_A_STATEMENT: Final = 20
TABLES: Final = ("responder", "questionnaire_instance", "answer", "response")
_IN_ORDER: Final = """
create index went_out_in_order on questionnaire_instance (coalesce(sent_time, created_time));
cluster questionnaire_instance using went_out_in_order;
drop index went_out_in_order"""
_KEYS: Final = """
select conrelid::regclass::text, quote_ident(conname), pg_get_constraintdef(oid)
from pg_constraint where conrelid = any($1::text[]::regclass[]) and contype = 'f'"""
# A copy's key begins with its number; the rest, which is drawn at random, is that of the original.
_PEOPLE: Final = """
insert into responder (organization_id, responder_id, locale, metadata, created_time, updated_time)
select organization_id, 'C' || lpad(copy::text, 5, '0') || right(responder_id, 16), locale, metadata, created_time,
  updated_time
from responder cross join generate_series($2::integer, $3::integer) copy
where organization_id = $1 and responder_id !~ '^C[0-9]{5}' and $4::integer > 0"""
_INSTANCES: Final = """
insert into questionnaire_instance (organization_id, instance_id, questionnaire_id, version_id, responder_id,
  channel_id, pipeline_id, short_code, locale, valid_days, editable, finalized, question_ids, metadata, sent_time,
  delivered_time, viewed_time, submitted_time, completed_time, created_time, updated_time)
select organization_id, 'C' || lpad(copy::text, 5, '0') || right(instance_id, 16), questionnaire_id, version_id,
  'C' || lpad(copy::text, 5, '0') || right(responder_id, 16), channel_id, pipeline_id,
  right(md5(short_code || copy), 12), locale, valid_days, editable, finalized, question_ids, metadata,
  sent_time - back, delivered_time - back, viewed_time - back, submitted_time - back, completed_time - back,
  created_time - back, updated_time - back
from questionnaire_instance cross join generate_series($2::integer, $3::integer) copy
cross join lateral (select make_interval(days => copy % $4::integer, secs => copy % 997) as back) b
where organization_id = $1 and instance_id !~ '^C[0-9]{5}' and submitted_time is not null"""
_ANSWERS: Final = """
insert into answer (organization_id, instance_id, question_id, questionnaire_id, version_id, value, answered_time)
select organization_id, 'C' || lpad(copy::text, 5, '0') || right(instance_id, 16), question_id, questionnaire_id,
  version_id, value, answered_time - make_interval(days => copy % $4::integer, secs => copy % 997)
from answer cross join generate_series($2::integer, $3::integer) copy
where organization_id = $1 and instance_id !~ '^C[0-9]{5}'"""
_ROWS: Final = """
insert into response (organization_id, instance_id, questionnaire_id, application_id, version_id, responder_id,
  channel_id, test, locale, submitted_time, external_reference, score_question_id, score_kind, score, score_max, band,
  comment, words)
select organization_id, 'C' || lpad(copy::text, 5, '0') || right(instance_id, 16), questionnaire_id, application_id,
  version_id, 'C' || lpad(copy::text, 5, '0') || right(responder_id, 16), channel_id, test, locale,
  submitted_time - make_interval(days => copy % $4::integer, secs => copy % 997), external_reference,
  score_question_id, score_kind, score, score_max, band, comment, words
from response cross join generate_series($2::integer, $3::integer) copy
where organization_id = $1 and instance_id !~ '^C[0-9]{5}'"""

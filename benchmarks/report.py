"""A report by day over millions of answers, by HTTP from kept counts, against the raw SQL over the same rows."""

import hashlib
import statistics
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import asyncpg
import httpx2

from afterword.asking.questionnaires import store as questionnaires_store
from afterword.core.questionnaires import definition as core_definition
from afterword.kit import db
from afterword.listening.reports.daily_counts import service as rollups
from afterword.run.worker.loop import PLANNER
from benchmarks.findings import Ratio
from benchmarks.stage import Stage

ANSWERS_DEFAULT: Final = 10_000_000
QUESTIONS: Final = 10
DAYS: Final = 365
STORES: Final = 50
FLOOR: Final = 30.0
RAW_ROUNDS: Final = 3
REQUESTS: Final = 15  # of each raw round; their median counts
INSTANCES_A_STATEMENT: Final = 50_000
SECONDS_MAX: Final = 900.0
ZONE: Final = "Europe/Athens"
QUESTION_IDS: Final = tuple(f"QREPORT{number:015d}" for number in range(QUESTIONS))
QUESTIONNAIRE_ID: Final = f"{'REPORT':0<22}"
VERSION_ID: Final = f"{'VERSION':0<22}"
PEOPLE_OF_TEN: Final = 7  # responses; the other three are of people who come again
DOCUMENT: Final[dict[str, Any]] = {
    "default_locale": "en",
    "locales": ["en"],
    "groups": [
        {
            "group_id": f"{'GROUP':0<22}",
            "questions": [
                {"question_id": question_id, "type": "nps", "title": f"How likely, of part {number}?"}
                for number, question_id in enumerate(QUESTION_IDS)
            ],
        }
    ],
}

# Promoters, detractors and answers of each local day, as somebody who knows the tables would write it.
RAW: Final = """
select (date_trunc('day', i.submitted_time at time zone $6))::date as day,
  count(*) filter (where a.value::integer >= 9) as promoters,
  count(*) filter (where a.value::integer <= 6) as detractors, count(*) as n
from questionnaire_instance i
join answer a on a.organization_id = i.organization_id and a.instance_id = i.instance_id
where i.organization_id = $1 and i.questionnaire_id = $2 and i.submitted_time >= $3 and i.submitted_time < $4
  and i.deleted_time is null and not i.test and not a.provisional and a.question_id = any($5)
group by 1 order by 1"""


@dataclass(frozen=True, slots=True)
class Period:
    """The days that are reported: the last year up to now, so that the first and the last day are no whole ones."""

    from_time: datetime
    to_time: datetime


async def by_day(stage: Stage, port: int, *, answers: int = ANSWERS_DEFAULT) -> list[Ratio]:
    """NPS by day of a year; both give the same numbers, or this fails."""
    now = stage.pool.clock.now().replace(microsecond=0)
    period = Period(now - timedelta(days=DAYS), now)
    raw = await asyncpg.connect(stage.url, server_settings={"statement_timeout": "0", "jit": "off"})
    try:
        began = time.perf_counter()
        await _fill(stage, raw, period, answers=answers)
        filled = time.perf_counter() - began
        await keep(stage)
        kept = time.perf_counter() - began - filled
        print(f"  {answers:,} answers made in {filled:.0f} s, counted in {kept:.0f} s", flush=True)
        rounds = [await _round(stage, port, raw, period) for _ in range(RAW_ROUNDS)]
    finally:
        await raw.close()
    raw_seconds = statistics.median(60 / rate for _, rate in rounds)
    ours = statistics.median(60 / rate for rate, _ in rounds)
    note = f"; {ours * 1000:,.0f} ms, {raw_seconds * 1000:,.0f} ms"
    what = f"Report by day over {answers:,} answers, HTTP"
    floor = FLOOR if answers >= ANSWERS_DEFAULT else None  # the raw scan grows with the answers, the report does not
    return [Ratio(what, "raw SQL over the same rows", "a minute", rounds, floor, note)]


async def _round(stage: Stage, port: int, raw: Any, period: Period) -> tuple[float, float]:
    """Reports a minute: ours, and the raw SQL's."""
    found, seconds = await _ask(stage, port, period)
    began = time.perf_counter()
    rows = await raw.fetch(
        RAW,
        *(stage.caller.organization_id, QUESTIONNAIRE_ID, period.from_time, period.to_time, list(QUESTION_IDS), ZONE),
    )
    raw_seconds = time.perf_counter() - began
    expected = {str(row["day"]): (row["promoters"], row["detractors"], row["n"]) for row in rows}
    if found != expected:
        raise RuntimeError("The report differs from the raw figures.")
    return 60 / seconds, 60 / raw_seconds


async def _ask(stage: Stage, port: int, period: Period) -> tuple[dict[str, tuple[int, int, int]], float]:
    """The report's counts for each day with answers, and the median of its seconds."""
    query = {
        "questionnaire_id": QUESTIONNAIRE_ID,
        "metric": "nps",
        "bucket": "day",
        "from_time": period.from_time.isoformat(),
        "to_time": period.to_time.isoformat(),
    }
    took: list[float] = []
    rows: list[dict[str, Any]] = []
    headers = {"Authorization": f"Bearer {stage.seeded.token}"}
    async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=60) as client:
        for _ in range(REQUESTS):
            began = time.perf_counter()
            answer = await client.get("/v3.2/report/template/trend", params=query)
            took.append(time.perf_counter() - began)
            assert answer.status_code == httpx2.codes.OK, answer.text
            rows = answer.json()["rows"]
    return {row["key"]["bucket"]: _numbers(row) for row in rows if row["figures"][0]["n"]}, statistics.median(took)


def _numbers(row: Mapping[str, Any]) -> tuple[int, int, int]:
    figure = row["figures"][0]
    return figure["parts"]["promoter"], figure["parts"]["detractor"], figure["n"]


async def keep(stage: Stage) -> None:
    """Run a worker's jobs until all days that are over are kept."""
    began = time.perf_counter()
    async with await db.open_pool(stage.url, size_max=1, server_settings=PLANNER, statement_seconds_max=10) as pool:
        async with db.transaction(pool) as database:
            await rollups.survey(database, after="", now=database.clock.now())
        while time.perf_counter() - began < SECONDS_MAX:
            async with db.transaction(pool) as database:
                now = database.clock.now()
                passed = await rollups.follow(database, now=now)
                count, _ = await rollups.keep(database, after=rollups.START, now=now)
            if not count and passed < rollups.EVENTS_MAX:
                return
    raise RuntimeError(f"Counting took more than {SECONDS_MAX:.0f} seconds.")


# Millions of answers, always the same --------------------------------------------------------------------------------


async def _fill(stage: Stage, raw: Any, period: Period, *, answers: int) -> None:
    """Responses spread evenly over the period; values by a hash of their number. The checks of keys come afterwards."""
    organization_id = stage.caller.organization_id
    await _prepare(stage, period)
    foreign = await raw.fetchval(
        "select conname from pg_constraint where conrelid = 'answer'::regclass and contype = 'f'"
    )
    listed = await raw.fetchval("select indexdef from pg_indexes where indexname = 'answer_list'")
    await raw.execute(f'alter table answer drop constraint "{foreign}"; drop index answer_list')
    await raw.execute("set synchronous_commit to off")
    instances = answers // QUESTIONS
    people = instances * PEOPLE_OF_TEN // 10
    await raw.execute(_PEOPLE, organization_id, people)
    step = timedelta(days=DAYS) / instances
    for first in range(0, instances, INSTANCES_A_STATEMENT):
        last = min(first + INSTANCES_A_STATEMENT, instances) - 1
        row = (organization_id, QUESTIONNAIRE_ID, VERSION_ID)
        values = (first, last, period.from_time, step, list(QUESTION_IDS))
        await raw.execute(_INSTANCES, *row, people, *values)
        await raw.execute(_ANSWERS, *row, *values)
    await raw.execute(listed)
    await raw.execute(
        f'alter table answer add constraint "{foreign}" foreign key (organization_id, instance_id)'
        " references questionnaire_instance on delete cascade"
    )
    await raw.execute("vacuum (analyze) questionnaire_instance")
    await raw.execute("vacuum (analyze) answer")


async def _prepare(stage: Stage, period: Period) -> None:
    """A questionnaire of ten NPS questions."""
    organization_id = stage.caller.organization_id
    async with db.transaction(stage.pool) as database:
        made = await questionnaires_store.insert_questionnaire(
            database,
            organization_id=organization_id,
            questionnaire_id=QUESTIONNAIRE_ID,
            application_id=stage.seeded.application_id,
            slug=None,
            settings={
                "display_name": "Report",
                "valid_days": 0,
                "editable": False,
                "desktop_collapsed": False,
                "non_collapsed_questions_count": 1,
                "credits_accountable": False,
                "default_locale": "en",
                "locales": ["en"],
                "public_link": False,
            },
            now=period.from_time,
            by=None,
        )
        assert made is not None
        definition = core_definition.parse(DOCUMENT)
        version = questionnaires_store.Version(
            organization_id=organization_id,
            version_id=VERSION_ID,
            questionnaire_id=QUESTIONNAIRE_ID,
            number=1,
            note=None,
            definition=definition,
            checksum="sha256:" + hashlib.sha256(repr(definition).encode()).hexdigest(),
            published_time=period.from_time,
            published_by=None,
        )
        await questionnaires_store.insert_version(database, version=version)
        await database.execute(
            "update questionnaire set published_version_id = $1 where organization_id = $2 and questionnaire_id = $3",
            *(VERSION_ID, organization_id, QUESTIONNAIRE_ID),
        )
        await database.execute(
            "update organization set time_zone = $1 where organization_id = $2", ZONE, organization_id
        )


_PEOPLE: Final = """
insert into responder (organization_id, responder_id)
select $1, 'P' || lpad(n::text, 21, '0') from generate_series(0, $2::integer - 1) n"""
_INSTANCES: Final = f"""
insert into questionnaire_instance (organization_id, instance_id, questionnaire_id, version_id, responder_id,
  short_code, locale, valid_days, editable, finalized, question_ids, metadata,
  created_time, updated_time, sent_time, viewed_time, submitted_time, completed_time)
select $1, 'R' || lpad(n::text, 21, '0'), $2, $3, 'P' || lpad((n % $4::integer)::text, 21, '0'),
  lpad(n::text, 12, '0'), 'en', 0, false, true, $9::text[],
  jsonb_build_object('store_id', (n % {STORES})::text), t, t, t, t, t, t
from (select n, $7::timestamptz + n * $8::interval as t from generate_series($5::integer, $6::integer) n) numbers"""
_ANSWERS: Final = """
insert into answer (organization_id, instance_id, question_id, questionnaire_id, version_id, value, answered_time)
select $1, 'R' || lpad(n::text, 21, '0'), q.question_id, $2, $3,
  to_jsonb((hashint4extended(n, q.place) & 1023)::integer * 11 / 1024), $6::timestamptz + n * $7::interval
from generate_series($4::integer, $5::integer) n
cross join unnest($8::text[]) with ordinality as q (question_id, place) order by n, q.question_id"""

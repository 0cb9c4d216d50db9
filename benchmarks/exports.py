"""Exports: a million responses to CSV by a real worker, against `copy … to` of the same rows and columns."""

import asyncio
import time
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import asyncpg

from afterword.asking.questionnaires import store as questionnaires_store
from afterword.kit import db
from afterword.listening.exports import service, store as exports_store
from afterword.listening.exports.api import ExportRequest
from benchmarks.findings import Figure, Finding, Ratio
from benchmarks.stage import SECRET, Stage, running

ROWS: Final = 1_000_000
ROUNDS: Final = 3
BATCH_ROWS: Final = 100_000
RATIO_MIN: Final = 0.32
MEMORY_GROWTH_MB_MAX: Final = 60.0
POLL_SECONDS: Final = 0.05
SECONDS_MAX: Final = 600.0
COPY_SECONDS_MAX: Final = 600.0
_DAY: Final = timedelta(days=1)

# The export's contents as bare columns: no labels, no guard against formulas.
CEILING: Final = """
    select i.instance_id, i.version_id, i.responder_id, i.locale, i.finalized, i.created_time, i.sent_time,
      i.delivered_time, i.viewed_time, i.submitted_time, i.completed_time,
      a.answers -> '{0}' ->> 0, a.answers -> '{1}' ->> 0, a.answers -> '{1}' ->> 1, a.answers -> '{2}' ->> 0,
      i.metadata ->> 'transaction_id', i.metadata ->> 'transaction_date', i.metadata ->> 'store_pickup',
      i.metadata ->> 'store_id', r.metadata ->> 'email', r.metadata ->> 'phone_number'
    from questionnaire_instance i
    join responder r on r.organization_id = i.organization_id and r.responder_id = i.responder_id
    left join lateral (
      select jsonb_object_agg(a.question_id, jsonb_build_array(a.value, a.other_text)) as answers from answer a
      where a.organization_id = i.organization_id and a.instance_id = i.instance_id and not a.provisional
    ) a on true
    where i.organization_id = $1 and i.questionnaire_id = $2 and i.deleted_time is null and not i.test
      and i.submitted_time is not null
    order by i.created_time desc, i.instance_id"""


async def write_csv(stage: Stage, *, rows: int, rounds: int) -> Sequence[Finding]:
    """The ratio of rates, and how much the worker's memory grew from a tenth of the rows to all of them."""
    question_ids = await fill(stage, rows)
    questionnaire_id = stage.seeded.questionnaire_id
    settings = {"database_url": stage.url, "data_dir": str(stage.folder / "exporter"), "secret": SECRET}
    pairs: list[tuple[float, float]] = []
    async with running("afterword", "worker", settings={**settings, "log_level": "warning"}) as process:
        await _export(stage, "jsonl", share=0.1)
        before = _peak_mb(process.pid)
        for _ in range(rounds):
            seconds, written = await _export(stage, "csv")
            copied = await _copy(stage, questionnaire_id, question_ids)
            pairs.append((written / seconds, written / copied))
        after = _peak_mb(process.pid)
    found: list[Finding] = [
        Ratio(
            f"Export of {rows:,} responses, CSV", "`copy … to`, the same responses", "rows a second", pairs, RATIO_MIN
        )
    ]
    if before is not None and after is not None:
        found.append(
            Figure("Worker's memory, growth with ten times the rows", after - before, MEMORY_GROWTH_MB_MAX, "MB")
        )
    return found


async def fill(stage: Stage, rows: int) -> list[str]:
    """Responses with three answers each, spread over a year; the ids of their questions."""
    async with db.connection(stage.pool) as database:
        questionnaire = await questionnaires_store.get_questionnaire(
            database,
            organization_id=stage.seeded.organization_id,
            questionnaire_id=stage.seeded.questionnaire_id,
        )
        assert questionnaire.published_version_id is not None
        version = await questionnaires_store.get_version(
            database,
            organization_id=questionnaire.organization_id,
            version_id=questionnaire.published_version_id,
        )
    questions = [question for question in version.definition.questions() if question.is_answered][:3]
    question_ids = [question.question_id for question in questions]
    connection: Any = await asyncpg.connect(stage.url)
    try:
        for first in range(0, rows, BATCH_ROWS):
            await connection.execute(
                _FILL, questionnaire.organization_id, questionnaire.questionnaire_id, version.version_id,
                first, min(first + BATCH_ROWS, rows) - 1, rows, timeout=SECONDS_MAX,
            )  # fmt: skip
            for place, question_id in enumerate(question_ids):
                value = "to_jsonb('quite good, \"really\"'::text)" if place == 2 else ("'[1, 2]'" if place else "'4'")
                await connection.execute(
                    _FILL_ANSWERS.replace("VALUE", f"{value}::jsonb"), questionnaire.organization_id, question_id,
                    questionnaire.questionnaire_id, version.version_id, first, min(first + BATCH_ROWS, rows) - 1,
                    rows, timeout=SECONDS_MAX,
                )  # fmt: skip
        await connection.execute("vacuum analyze questionnaire_instance, responder, answer", timeout=SECONDS_MAX)
    finally:
        await connection.close()
    return question_ids


_FILL: Final = """
    with made as (
      select 'EXPORTRESPONDER' || lpad(n::text, 7, '0') as responder_id,
             'EXPORTINSTANCE0' || lpad(n::text, 7, '0') as instance_id,
             now() - make_interval(secs => 31536000.0 * n / $6) as time, n
      from generate_series($4::int, $5::int) n
    ), people as (
      insert into responder (organization_id, responder_id, metadata)
      select $1, responder_id, jsonb_build_object('email', 'person' || n || '@example.com') from made
    )
    insert into questionnaire_instance (organization_id, instance_id, questionnaire_id, version_id, responder_id,
      short_code, locale, valid_days, editable, finalized, question_ids, metadata, sent_time, viewed_time,
      submitted_time, completed_time, created_time, updated_time)
    select $1, instance_id, $2, $3, responder_id, 'EXPO' || lpad(n::text, 8, '0'), 'en', 30, true, true, '{}',
      jsonb_build_object('transaction_id', n::text, 'store_id', (n % 50)::text), time, time, time, time, time, time
    from made"""
_FILL_ANSWERS: Final = """
    insert into answer (organization_id, instance_id, question_id, questionnaire_id, version_id, value, answered_time)
    select $1, 'EXPORTINSTANCE0' || lpad(n::text, 7, '0'), $2, $3, $4, VALUE,
      now() - make_interval(secs => 31536000.0 * n / $7)
    from generate_series($5::int, $6::int) n"""


async def _export(stage: Stage, format_name: str, *, share: float = 1.0) -> tuple[float, int]:
    """Ask for an export and wait for it: seconds from the worker's start to the end, rows."""
    async with db.transaction(stage.pool) as database:
        now = database.clock.now()
        questionnaire = await questionnaires_store.get_questionnaire(
            database,
            organization_id=stage.seeded.organization_id,
            questionnaire_id=stage.seeded.questionnaire_id,
        )
        from_time = None if share == 1.0 else now - (365 * share) * _DAY
        columns = {**ExportRequest(format="csv").columns(), "format": format_name, "from_time": from_time}
        export = await service.create(
            database, caller=stage.caller, questionnaire=questionnaire, columns=columns, now=now
        )
    deadline = time.monotonic() + SECONDS_MAX
    while time.monotonic() < deadline:
        async with db.connection(stage.pool) as database:
            found = await exports_store.get_export(database, **stage.caller.part, export_id=export.export_id)
        assert found is not None
        if found.finished_time is not None and found.started_time is not None:
            assert found.state == "done", found.error
            async with db.transaction(stage.pool) as database:
                await service.delete(database, export=found, now=database.clock.now())
            return (found.finished_time - found.started_time).total_seconds(), found.row_count or 0
        await asyncio.sleep(POLL_SECONDS)
    raise TimeoutError("the export did not end")


async def _copy(stage: Stage, questionnaire_id: str, question_ids: Sequence[str]) -> float:
    """Seconds that PostgreSQL takes to write the same rows as CSV to a client that throws them away."""
    connection: Any = await asyncpg.connect(stage.url, server_settings={"jit": "off"})
    start = time.perf_counter()
    try:
        await connection.copy_from_query(
            CEILING.format(*question_ids), stage.seeded.organization_id, questionnaire_id,
            output=_ignore, format="csv", timeout=COPY_SECONDS_MAX,
        )  # fmt: skip
    finally:
        await connection.close()
    return time.perf_counter() - start


async def _ignore(_: bytes) -> None:
    """Nobody reads it."""


def _peak_mb(pid: int) -> float | None:
    file = Path(f"/proc/{pid}/status")
    if not file.exists():
        return None
    line = next(line for line in file.read_text().splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) / 1000

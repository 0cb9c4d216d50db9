"""Each job and each poller of a worker reads a bounded number of rows, however many lie under it.

Its tables are full of what it has nothing to do with: young rows, rows that are done, rows that wait for something
else. What it reads is counted by the database, once by plans for the very values and once by plans for any.
"""

import random
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from typing import Any, Final

import pytest

from afterword.asking.links import domains
from afterword.cases import chats, escalation, mailboxes, messages
from afterword.events import log, sending as deliveries
from afterword.kit import db
from afterword.kit.db import Database
from afterword.listening.exports.schedules import RUNS
from afterword.listening.exports.store import EXPORTS
from afterword.privacy import retention as ages
from afterword.run.worker.flights import BATCH_ITEMS_MAX, Pace
from afterword.run.worker.jobs import EXPIRE_LANES_MAX, jobs_of
from afterword.run.worker.loop import PLANNER
from afterword.run.worker.retention import RETENTION
from afterword.sending.intake import test_messages
from afterword.sending.intake.imports.service import IMPORTS
from afterword.sending.intake.sources import notes
from afterword.sending.queue import batches, restores, retention
from afterword.sending.queue.sending.service import Lease
from afterword.tenants import mails
from tests.conftest import House, filled_database
from tests.sizes import size

ROWS: Final = size(5_000, 300_000)
FEW: Final = 60  # rows of jobs that look along an index for what is due
PAGE: Final = 4 * 1_000  # of walks: a thousand rows, each with one that it belongs to and what is looked for
LIMITS: Final[Mapping[str, int]] = {
    **{f"prune {name}": PAGE + FEW for name, old in RETENTION.items() if old.walk},
    "see to open cases": 4 * escalation.LOOKED_MAX,
    "keep counts": PAGE,
    "survey kept counts": PAGE,
    "remove what is too old": 12 * ages.ORGANIZATIONS_MAX,
    "remove old items": 3 * retention.ORGANIZATIONS_MAX,
    "expire items of closed lanes": 6 * EXPIRE_LANES_MAX + 3 * BATCH_ITEMS_MAX,
    "prune the event log": PAGE,
    "judge provisional answers": 10 * 50,
    "tell of ended instances": PAGE,
    "evaluate daily alerts": 300,
    "custom domains": PAGE,
}

# Rows by table: columns and their values for the rows n; the others that a table needs are made from n.
ID: Final = "lpad(n::text, 22, '0')"
OTHER: Final = "'o' || lpad(n::text, 21, '0')"  # an organization
DAYS: Final = "now() + interval '1 day'"
FULL: Final[Mapping[str, Mapping[str, str]]] = {
    "organization": {"organization_id": OTHER, "domain": "'d' || n", "time_zone": "'UTC'", "default_locale": "'en'"},
    "access_token": {"expires_time": DAYS},
    "login_session": {"expires_time": f"{DAYS} + n * interval '1 second'", "seen_time": "now()"},
    "login_link": {"expires_time": DAYS},
    "login_challenge": {"expires_time": DAYS},
    "login_failure": {"since": "now()"},
    "idempotency_key": {"created_time": "now()"},
    "report_share": {"expires_time": DAYS},
    "export": {
        "state": "'expired'",
        "expires_time": "now() - interval '10 days' - n * interval '1 second'",
        "finished_time": "now()",
    },
    "export_run": {"state": "'done'", "finished_time": "now()"},
    "export_schedule": {"next_time": DAYS, "path": "n::text"},
    "queue_import": {"state": "'done'", "finished_time": "now() - interval '10 days' - n * interval '1 second'"},
    "queue_list": {"created_time": "now() - interval '10 days' - n * interval '1 second'"},
    "queue_batch": {"state": "'done'", "finished_time": "now()"},
    "source": {},
    "source_event": {"received_time": "now()"},
    "outbox_message": {"created_time": "now()"},
    "trial": {"created_time": "now()", "state": "'sent'"},
    "webhook": {"active": "false", "secret": "'\\x00'", "event_types": "'{*}'", "organization_id": OTHER},
    "delivery": {"state": "'scheduled'", "created_time": "now()", "webhook_id": "'0000000000000000000007'"},
    "link_opening": {"opened_time": "now()"},
    "notification": {"created_time": "now()"},
    "notification_subscription": {"types": """'{"queue_item.sent": {"web": true}}'""", "organization_id": OTHER},
    "notice_mail": {"state": "'sent'", "finished_time": "now()", "source_id": "'0000000000000000000007'"},
    "chat": {},
    "response_import": {"state": "'done'", "finished_time": "now()", "updated_time": "now() - interval '100 days'"},
    "response_upload": {"state": "'done'", "created_time": "now()"},
    "tagging": {"state": "'done'", "created_time": "now()"},
    "queue_item": {
        "pipeline_id": "lpad('7', 22, '0')",
        "due_time": "now() - interval '1 hour'",
        "not_after": "now() + interval '9 days'",
    },
    "pipeline": {},
    "domain_rate": {"throttled_time": "now()"},
    "plan": {
        "organization_id": OTHER,
        "kind": "'monthly'",
        "credits": "1",
        "remaining_credits": "1",
        "renew_time": DAYS,
        "end_time": DAYS,
    },
    "stray_file": {"due_time": DAYS},
    "audit_entry": {"created_time": "now()"},
    "alert": {"trigger": "'schedule'", "evaluated_time": "now()", "escalation_hours": "5", "open_count": "1"},
    "alert_instance": {
        "due_time": "now() - interval '1 day'",
        "overdue_time": "now() - interval '1 day'",
        "escalated_time": "now()",
    },
    "alert_message": {"state": "'sent'"},
    "alert_mailbox": {"due_time": DAYS, "organization_id": OTHER},
    "custom_domain": {"proven_time": "now()", "checked_time": "now()", "organization_id": OTHER, "host": "'h' || n"},
    "questionnaire": {},
    "questionnaire_instance": {"sent_time": "now() - n * interval '3 minutes'", "valid_days": "30"},
    "rollup_span": {"dimension": "'channel'", "due_time": DAYS, "kept_until": "current_date"},
    "rollup_dirty": {"day": "current_date", "marked_time": "now() - n * interval '1 second'", "dimension": "'channel'"},
    "rollup_retired": {"retired_time": "now()"},
    "erasure": {"state": "'done'"},
    "retention_run": {"state": "'done'", "kind": "'items'"},
    "report_digest": {"due_time": DAYS},
    "event": {},
}

VALUES: Final[Mapping[str, str]] = {
    "text": ID, "jsonb": "'{}'", "ARRAY": "'{}'", "boolean": "false", "bytea": "sha256(int8send(n))", "bigint": "n",
    "date": "current_date", "timestamp with time zone": "now()", "smallint": "1", "integer": "1",
    "double precision": "1",
}  # fmt: skip
SEVENTH: Final = "lpad('7', 22, '0')"
AFTERWARDS: Final = (
    f"update pipeline set paused = true where pipeline_id = {SEVENTH}",
    "update expiry_cursor set expired_until = now() - interval '10 minutes'",
    """insert into event_cursor (reader, xid, seq) select name, pg_current_xact_id(), 9e15
       from unnest('{alerts,notifications,reminders,sequences,responses,rollups,webhooks}'::text[]) name
       on conflict (reader) do update set xid = excluded.xid, seq = excluded.seq""",
    "insert into response_fill (done_time) values (now()) on conflict (is_single) do update set done_time = now()",
    "select brin_summarize_new_values('questionnaire_instance_went_out')",
)
Work = Callable[..., Awaitable[Any]]


async def fill(pool: db.Pool, house: House) -> None:
    async with db.transaction(pool) as database:
        raw: Any = database._connection
        for table, name in await raw.fetch(
            """select conrelid::regclass::text, conname from pg_constraint
               where contype in ('c', 'f') and connamespace = 'public'::regnamespace"""
        ):
            await raw.execute(f"alter table {table} drop constraint {name}")
        for table, given in FULL.items():
            needed = await raw.fetch(
                """select column_name::text, data_type::text from information_schema.columns where table_name = $1
                   and is_nullable = 'NO' and column_default is null and is_identity = 'NO'""",
                table,
            )
            values = {name: _value_of(house, table, name, kind) for name, kind in needed} | dict(given)
            columns = ", ".join(values)
            await raw.execute(f"alter table {table} disable trigger user")
            await raw.execute(
                f"insert into {table} ({columns}) select {', '.join(values.values())} from generate_series(1, {ROWS}) n"
            )
        for statement in AFTERWARDS:
            await raw.execute(statement)
    async with db.connection(pool) as database:
        await database.execute("analyze")


def _value_of(house: House, table: str, name: str, kind: str) -> str:
    own = {"organization_id": house.organization_id, "owner_application_id": house.application_id}
    if table in {"pipeline", "queue_item"}:
        own["questionnaire_id"] = house.questionnaire_id
    if name in own:
        return f"'{own[name]}'"
    if name == "account_id":
        return "(select account_id from channel_account order by 1 limit 1)"
    return VALUES[kind]


async def _count_read(database: Database) -> int:
    return await database.fetch_value(
        "select coalesce(sum(seq_tup_read + idx_tup_fetch), 0)::bigint from pg_stat_xact_user_tables"
    )


@pytest.fixture
async def pool_url(server_url: str) -> AsyncGenerator[str]:
    async with filled_database(server_url, "under_jobs", fill) as url:
        yield url


def work_of(house: House) -> dict[str, Work]:
    """All jobs by name, and what the worker asks for in turns."""
    owner = uuid.uuid4()
    lease = Lease(owner=owner, seconds=60.0, margin_seconds=5.0)
    jobs = jobs_of(lease=lease, site=house.site, pace=Pace(), draw=random.random, queue_days=30)
    asked: dict[str, Work] = {
        "custom domains": lambda db, **at: domains.claim_due(db, after="", limit=5, **at),
        "mailboxes of cases": lambda db, **at: mailboxes.claim_due(db, limit=3, **at),
        "notices": lambda db, **at: mails.claim_mails(db, limit=20, **at),
        "calls to chats": lambda db, **at: chats.claim_calls(db, limit=20, **at),
        "calls to sources": lambda db, **at: notes.claim_calls(db, limit=20, **at),
        "case messages": lambda db, **at: messages.claim_due(db, limit=10, **at),
        "test messages": lambda db, **at: test_messages.claim_test_messages(db, channel_ids=[1], limit=10, **at),
        "fan out": lambda db, **_: deliveries.fan_out(db, limit=500),
        "webhooks": lambda db, **_: deliveries.claim(db, after=deliveries.START, limit=40),
        "reap deliveries": lambda db, **at: deliveries.reap(db, limit=50, jitter=1.0, **at),
        "the guard of sending": lambda db, **_: restores.check_log(db, mark=None, is_first=False),
        "the order of the event log": lambda db, **_: log.adopt(db),
        **{
            leases.table: lambda db, leases=leases, **at: leases.claim(db, owner=owner, **at)
            for leases in (EXPORTS, RUNS, IMPORTS, batches.LEASES)
        },
    }
    return {job.name: lambda db, job=job, **_: job.run(db) for job in jobs} | asked


async def test_however_many_rows_there_are(pool_url: str, house: House) -> None:
    work = work_of(house)
    assert LIMITS.keys() <= work.keys()
    read: dict[str, int] = {}
    async with await db.open_pool(pool_url, size_max=1, server_settings=PLANNER) as pool:
        for mode in ("force_custom_plan", "force_generic_plan"):
            for name, run in work.items():
                async with db.transaction(pool) as database:
                    await database.execute("select set_config('plan_cache_mode', $1, true)", mode)
                    before = await _count_read(database)
                    await run(database, now=database.clock.now())
                    read[name] = max(read.get(name, 0), await _count_read(database) - before)
    assert {} == {name: count for name, count in read.items() if count > LIMITS.get(name, FEW)}, read

"""SQL of webhook endpoints. A deleted one is invisible; retention removes its deliveries in batches, then its row."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, LiteralString

from afterword.core.wire.lists import Page, Rows
from afterword.db import Database
from afterword.db.columns import qualified


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """An endpoint without its secrets. No questionnaire, no application: all of them."""

    organization_id: str
    webhook_id: str
    title: str
    target_url: str
    questionnaire_id: str | None
    application_id: str | None
    event_types: list[str]
    test: bool
    active: bool
    consecutive_failures: int
    failing_since: datetime | None
    disabled_time: datetime | None
    version: int
    created_time: datetime
    updated_time: datetime
    created_by: str | None
    updated_by: str | None


_COLUMNS: Final[LiteralString] = """organization_id, webhook_id, title, target_url, questionnaire_id,
  application_id, event_types, test, active, consecutive_failures, failing_since, disabled_time, version,
  created_time, updated_time, created_by, updated_by"""
_COLUMNS_W: Final = qualified(_COLUMNS, "w")


async def list_webhooks(
    db: Database, *, organization_id: str, application_ids: Sequence[str], test_only: bool, page: Page
) -> Rows[Webhook]:
    rows = await db.fetch_list(
        """select w.organization_id, w.webhook_id, w.title, w.target_url, w.questionnaire_id, w.application_id,
             w.event_types, w.test, w.active, w.consecutive_failures, w.failing_since, w.disabled_time, w.version,
             w.created_time, w.updated_time, w.created_by collate "C" as created_by,
             w.updated_by collate "C" as updated_by
           from webhook w
           left join questionnaire q
             on q.organization_id = w.organization_id and q.questionnaire_id = w.questionnaire_id
           where w.organization_id = $1 and w.deleted_time is null and (w.test or not $3::boolean)
             and (cardinality($2::text[]) = 0 or w.application_id = any($2) or q.owner_application_id = any($2))""",
        *(organization_id, list(application_ids), test_only),
        page=page,
    )
    return rows.map(lambda row: Webhook(**row))


async def get_webhook(
    db: Database,
    *,
    organization_id: str,
    webhook_id: str,
    application_ids: Sequence[str] = (),
    test_only: bool = False,
    is_locked: bool = False,
) -> Webhook | None:
    lock: LiteralString = "for no key update of w" if is_locked else ""
    row = await db.fetch_row(
        f"""select {_COLUMNS_W} from webhook w
           left join questionnaire q
             on q.organization_id = w.organization_id and q.questionnaire_id = w.questionnaire_id
           where w.organization_id = $1 and w.webhook_id = $2 and w.deleted_time is null
             and (w.test or not $4::boolean)
             and (cardinality($3::text[]) = 0 or w.application_id = any($3) or q.owner_application_id = any($3))
           {lock}""",
        *(organization_id, webhook_id, list(application_ids), test_only),
    )
    return Webhook(**row) if row else None


async def count_webhooks_locked(db: Database, *, organization_id: str) -> int:
    await db.execute("select 1 from organization where organization_id = $1 for no key update", organization_id)
    return await db.fetch_value(
        "select count(*) from webhook where organization_id = $1 and deleted_time is null", organization_id
    )


async def get_owner_id(db: Database, *, organization_id: str, questionnaire_id: str) -> str | None:
    return await db.fetch_value(
        """select owner_application_id from questionnaire
           where organization_id = $1 and questionnaire_id = $2 and archived_time is null""",
        *(organization_id, questionnaire_id),
    )


async def get_has_application(db: Database, *, organization_id: str, application_id: str) -> bool:
    return await db.fetch_value(
        "select exists (select from application where organization_id = $1 and application_id = $2)",
        *(organization_id, application_id),
    )


async def insert_webhook(
    db: Database,
    *,
    organization_id: str,
    webhook_id: str,
    columns: Mapping[str, Any],
    test: bool,
    secret: bytes,
    now: datetime,
    by: str,
) -> Webhook:
    row = await db.fetch_one(
        f"""insert into webhook (organization_id, webhook_id, title, target_url, questionnaire_id, application_id,
             event_types, active, test, secret, created_time, updated_time, created_by, updated_by)
           select $1, $2, w.title, w.target_url, w.questionnaire_id, w.application_id, w.event_types, w.active, $4, $5,
             $6, $6, $7, $7
           from jsonb_populate_record(null::webhook, $3::jsonb) w
           returning {_COLUMNS}""",
        *(organization_id, webhook_id, columns, test, secret, now, by),
    )
    return Webhook(**row)


async def update_webhook(
    db: Database, *, organization_id: str, webhook_id: str, columns: Mapping[str, Any], now: datetime, by: str
) -> Webhook | None:
    """Write these columns. Activation resets the failures."""
    row = await db.fetch_row(
        f"""update webhook w set title = n.title, target_url = n.target_url, questionnaire_id = n.questionnaire_id,
             application_id = n.application_id, event_types = n.event_types, active = n.active,
             since_time = case when n.active and not w.active then now() else w.since_time end,
             disabled_time = case when n.active then null else w.disabled_time end,
             consecutive_failures = case when n.active and not w.active then 0 else w.consecutive_failures end,
             failing_since = case when n.active and not w.active then null else w.failing_since end,
             resume_time = case when n.active and not w.active then null else w.resume_time end,
             version = w.version + 1, updated_time = $4, updated_by = $5
           from webhook o, jsonb_populate_record(o, $3::jsonb) n
           where o.organization_id = $1 and o.webhook_id = $2 and w.organization_id = o.organization_id
             and w.webhook_id = o.webhook_id and w.deleted_time is null
           returning {_COLUMNS_W}""",
        *(organization_id, webhook_id, columns, now, by),
    )
    return Webhook(**row) if row else None


async def update_webhook_secret(
    db: Database, *, organization_id: str, webhook_id: str, secret: bytes, until: datetime, now: datetime, by: str
) -> Webhook | None:
    """Replace the secret; the previous one signs too until `until`."""
    row = await db.fetch_row(
        f"""update webhook set previous_secret = secret, previous_secret_until = $4, secret = $3,
             version = version + 1, updated_time = $5, updated_by = $6
           where organization_id = $1 and webhook_id = $2 and deleted_time is null returning {_COLUMNS}""",
        *(organization_id, webhook_id, secret, until, now, by),
    )
    return Webhook(**row) if row else None


async def update_webhook_failures(
    db: Database,
    *,
    organization_id: str,
    webhook_id: str,
    failed: bool,
    resume_time: datetime | None,
    rest_seconds: Sequence[int],
    now: datetime,
) -> Webhook | None:
    """Count a failure, or reset the count after a success; None if there was nothing to reset.

    `rest_seconds`: the pause after the first, second … failure in a row. A running pause is never shortened: another
    delivery may have been in flight when the target asked for it.
    """
    row = await db.fetch_row(
        f"""update webhook set
             consecutive_failures = case when $3::boolean then consecutive_failures + 1 else 0 end,
             failing_since = case when $3 then coalesce(failing_since, $5::timestamptz) end,
             resume_time = greatest($4::timestamptz, case when resume_time > $5 then resume_time end, case when $3 then
               $5 + make_interval(secs => ($6::int[])[least(consecutive_failures + 1, cardinality($6))]) end),
             version = version + 1
           where organization_id = $1 and webhook_id = $2 and deleted_time is null
             and ($3 or consecutive_failures > 0)
           returning {_COLUMNS}""",
        *(organization_id, webhook_id, failed, resume_time, now, list(rest_seconds)),
    )
    return Webhook(**row) if row else None


async def update_webhook_disabled(
    db: Database, *, organization_id: str, webhook_id: str, now: datetime
) -> Webhook | None:
    row = await db.fetch_row(
        f"""update webhook set active = false, disabled_time = $3, version = version + 1, updated_time = $3,
             updated_by = null
           where organization_id = $1 and webhook_id = $2 and active returning {_COLUMNS}""",
        *(organization_id, webhook_id, now),
    )
    return Webhook(**row) if row else None


async def delete_webhook(db: Database, *, organization_id: str, webhook_id: str, now: datetime) -> bool:
    """Mark it deleted and erase its secrets; retention removes the rows."""
    touched = await db.execute(
        """update webhook set active = false, deleted_time = $3, secret = null, previous_secret = null,
             previous_secret_until = null, version = version + 1
           where organization_id = $1 and webhook_id = $2 and deleted_time is null""",
        *(organization_id, webhook_id, now),
    )
    return touched > 0


async def prune_webhooks(db: Database, *, limit: int) -> int:  # any tenant: retention
    return await db.execute(
        """delete from webhook w using (
             select organization_id, webhook_id from webhook o where deleted_time is not null
               and not exists (select from delivery d
                 where d.organization_id = o.organization_id and d.webhook_id = o.webhook_id)
             order by deleted_time limit $1) old
           where w.organization_id = old.organization_id and w.webhook_id = old.webhook_id""",
        limit,
    )

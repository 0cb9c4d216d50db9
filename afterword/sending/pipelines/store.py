"""The SQL of pipelines and of the accounts that they send through."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time
from typing import Any, Final, LiteralString

from afterword.core.wire.lists import Page, Rows
from afterword.kit.db import Database
from afterword.kit.db.columns import assigned, qualified


@dataclass(frozen=True, slots=True)
class Pipeline:
    organization_id: str
    pipeline_id: str
    questionnaire_id: str
    account_id: str
    slug: str | None
    channel_id: int
    title: str
    description: str | None
    template_pipeline_id: str | None
    locale: str | None
    delay_cap_minutes: int
    delay_cap_hours: int
    delay_cap_days: int
    frequency_cap_minutes: int
    frequency_cap_hours: int
    frequency_cap_days: int
    message_subject: str | None
    message_body: str | None
    message_button: str | None
    message_reason: str | None
    message_footer: str | None
    messages: dict[str, dict[str, str]]
    start_time: datetime | None
    end_time: datetime | None
    dispatch_start_time: time | None
    dispatch_end_time: time | None
    time_zone: str | None
    zone_of: str
    weekdays: list[int]
    conditions: Any
    sender_name: str | None
    sender_address: str | None
    reply_to: str | None
    max_retry_attempts: int
    not_after_days: int
    priority: int
    paused: bool
    if_outside: str
    if_capped: str
    policy_exempt: bool
    on_holidays: str
    reminders: list[dict[str, Any]]
    target_url: str | None
    capped_time: datetime | None
    version: int
    created_time: datetime
    updated_time: datetime
    created_by: str | None
    updated_by: str | None
    deleted_time: datetime | None
    application_id: str

    @property
    def as_event(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in type(self).__dataclass_fields__ if name != "deleted_time"}


_EDITABLE: Final[LiteralString] = """title, description, locale, delay_cap_minutes, delay_cap_hours, delay_cap_days,
  frequency_cap_minutes, frequency_cap_hours, frequency_cap_days, message_subject, message_body, message_button,
  message_reason, message_footer, messages, start_time, end_time, dispatch_start_time, dispatch_end_time, time_zone,
  zone_of, weekdays, conditions, sender_name, sender_address, reply_to, max_retry_attempts, not_after_days,
  priority, paused, if_outside, if_capped, policy_exempt, on_holidays, reminders, target_url"""
_INSERTED: Final[LiteralString] = f"""pipeline_id, questionnaire_id, account_id, slug, channel_id, template_pipeline_id,
  {_EDITABLE}, created_by, created_time"""
PIPELINE_COLUMNS: Final[LiteralString] = f"""organization_id, {_INSERTED}, capped_time, version, updated_by,
  updated_time, deleted_time"""
PIPELINE_COLUMNS_P: Final = qualified(PIPELINE_COLUMNS, "p")
_FROM: Final[LiteralString] = """from pipeline p
           join questionnaire q on q.organization_id = p.organization_id and q.questionnaire_id = p.questionnaire_id"""
_SELECTED: Final[LiteralString] = f"select {PIPELINE_COLUMNS_P}, q.owner_application_id as application_id {_FROM}"
_BY_ID: Final[LiteralString] = f"""{_SELECTED}
           where p.organization_id = $1 and p.questionnaire_id = $2 and p.pipeline_id = $3
             and p.deleted_time is null and (cardinality($4::text[]) = 0 or q.owner_application_id = any($4))"""


async def get_pipeline(
    db: Database, *, organization_id: str, questionnaire_id: str, pipeline_id: str, application_ids: Sequence[str] = ()
) -> Pipeline | None:
    row = await db.fetch_row(_BY_ID, organization_id, questionnaire_id, pipeline_id, list(application_ids))
    return None if row is None else Pipeline(**row)


async def get_pipeline_id_by_slug(
    db: Database, *, organization_id: str, questionnaire_id: str, slug: str
) -> str | None:
    return await db.fetch_value(
        "select pipeline_id from pipeline where organization_id = $1 and questionnaire_id = $2 and slug = $3",
        *(organization_id, questionnaire_id, slug),
    )


async def list_pipelines(
    db: Database,
    *,
    organization_id: str,
    questionnaire_id: str | None = None,
    application_ids: Sequence[str] = (),
    page: Page,
) -> Rows[Pipeline]:
    rows = await db.fetch_list(
        f"""select {PIPELINE_COLUMNS_P}, q.owner_application_id as application_id,
             to_char(p.dispatch_start_time, 'HH24:MI') as dispatch_start_clock,
             to_char(p.dispatch_end_time, 'HH24:MI') as dispatch_end_clock
           {_FROM}
           where p.organization_id = $1 and ($2::text is null or p.questionnaire_id = $2) and p.deleted_time is null
             and (cardinality($3::text[]) = 0 or q.owner_application_id = any($3))""",
        *(organization_id, questionnaire_id, list(application_ids)),
        page=page,
    )
    return rows.map(lambda row: Pipeline(**{name: row[name] for name in Pipeline.__dataclass_fields__}))


async def get_pipeline_locked(
    db: Database, *, organization_id: str, questionnaire_id: str, pipeline_id: str, application_ids: Sequence[str] = ()
) -> Pipeline | None:
    """As get_pipeline, locked until the transaction ends against every change and every new item."""
    query = f"{_BY_ID} for update of p"
    row = await db.fetch_row(query, organization_id, questionnaire_id, pipeline_id, list(application_ids))
    return None if row is None else Pipeline(**row)


async def get_template(
    db: Database, *, organization_id: str, pipeline_id: str, application_ids: Sequence[str] = ()
) -> Pipeline | None:
    row = await db.fetch_row(
        f"""{_SELECTED}
           where p.organization_id = $1 and p.pipeline_id = $2 and p.deleted_time is null
             and (cardinality($3::text[]) = 0 or q.owner_application_id = any($3))""",
        *(organization_id, pipeline_id, list(application_ids)),
    )
    return None if row is None else Pipeline(**row)


@dataclass(frozen=True, slots=True)
class Sender:
    """The `sender_address` of a pipeline, and the domains that its organization (named by `domain`) may send from."""

    domain: str
    pipeline_id: str
    sender_address: str
    sender_domains: list[str]


async def list_senders(db: Database) -> list[Sender]:  # any tenant: the doctor looks at a whole installation
    rows = await db.fetch(
        """select o.domain, p.pipeline_id, p.sender_address, array(
             select s.domain from organization_sender_domain s
             where s.organization_id = p.organization_id) as sender_domains
           from pipeline p
           join organization o on o.organization_id = p.organization_id
           where p.sender_address is not null and p.deleted_time is null and p.channel_id = 1
           order by p.organization_id, p.pipeline_id"""
    )
    return [Sender(**row) for row in rows]


async def claim_questionnaire(
    db: Database, *, organization_id: str, questionnaire_id: str, application_ids: Sequence[str] = ()
) -> bool:
    """Hold the questionnaire until the transaction ends, so that its pipelines are counted by one at a time."""
    found = await db.fetch_value(
        """select true from questionnaire
           where organization_id = $1 and questionnaire_id = $2
             and (cardinality($3::text[]) = 0 or owner_application_id = any($3))
           for no key update""",
        *(organization_id, questionnaire_id, list(application_ids)),
    )
    return found is not None


async def count_pipelines(db: Database, *, organization_id: str, questionnaire_id: str) -> int:
    return await db.fetch_value(
        """select count(*) from pipeline
           where organization_id = $1 and questionnaire_id = $2 and deleted_time is null""",
        *(organization_id, questionnaire_id),
    )


async def count_among(db: Database, *, organization_id: str, questionnaire_ids: Sequence[str], pipeline_id: str) -> int:
    """1 if one of these questionnaires has or had this pipeline, else 0."""
    return await db.fetch_value(
        """select count(*) from pipeline
           where organization_id = $1 and questionnaire_id = any($2::text[]) and pipeline_id = $3""",
        *(organization_id, list(questionnaire_ids), pipeline_id),
    )


async def count_open_items(db: Database, *, organization_id: str, pipeline_id: str, limit: int) -> int:
    return await db.fetch_value(
        """select count(*) from (
             -- Each half has an index of its own; one condition for both would look through all that has ended.
             (select from queue_item where organization_id = $1 and pipeline_id = $2 and status = 1 limit $3)
             union all
             (select from queue_item where organization_id = $1 and pipeline_id = $2 and status in (2, 3) limit $3)
             limit $3) open""",
        *(organization_id, pipeline_id, limit),
    )


async def update_pipeline(
    db: Database, *, organization_id: str, pipeline_id: str, updated_by: str, document: Mapping[str, object]
) -> None:
    await db.execute(
        f"""update pipeline p
           set {assigned(_EDITABLE, "d")}, version = p.version + 1,
             -- With a cap each send is recorded in `contact`, without one none is.
             capped_time = case when p.frequency_cap_minutes + p.frequency_cap_hours + p.frequency_cap_days > 0
               then p.capped_time else now() end,
             updated_time = greatest(p.updated_time, now()), updated_by = $3
           from jsonb_populate_record(null::pipeline, $4::jsonb) d
           where p.organization_id = $1 and p.pipeline_id = $2 and p.deleted_time is null""",
        *(organization_id, pipeline_id, updated_by, document),
    )


async def delete_pipeline(db: Database, *, organization_id: str, pipeline_id: str, deleted_by: str) -> int:
    """Hide a pipeline; its row stays, since its items refer to it. The number of pipelines hidden."""
    return await db.execute(
        """update pipeline
           set deleted_time = now(), slug = null, version = version + 1, updated_time = greatest(updated_time, now()),
             updated_by = $3
           where organization_id = $1 and pipeline_id = $2 and deleted_time is null""",
        *(organization_id, pipeline_id, deleted_by),
    )


async def insert_pipeline(db: Database, *, organization_id: str, document: Mapping[str, object]) -> None:
    await db.execute(
        f"""insert into pipeline (organization_id, {_INSERTED}, updated_by, updated_time)
           select $1, {_INSERTED}, created_by, created_time from jsonb_populate_record(null::pipeline, $2::jsonb) d""",
        *(organization_id, document),
    )


async def insert_account(db: Database, *, organization_id: str, account_id: str, channel_id: int) -> str:
    """The organization's default account on a channel: the existing one, else this new one."""
    return await db.fetch_value(
        """insert into channel_account (organization_id, account_id, channel_id, is_default) values ($1, $2, $3, true)
           on conflict (organization_id, channel_id) where is_default do update set channel_id = excluded.channel_id
           returning account_id""",
        *(organization_id, account_id, channel_id),
    )

"""The SQL of pipelines and of the accounts that they send through."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time
from typing import Any, Final

from afterword.core.lists import Column, Listing, Page, Rows
from afterword.db import Database


@dataclass(frozen=True, slots=True)
class Pipeline:
    """How a questionnaire is sent: every column, and the application that it belongs to."""

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
    reminders: list[dict[str, Any]]
    target_url: str | None
    version: int
    created_time: datetime
    updated_time: datetime
    created_by: str | None
    updated_by: str | None
    application_id: str


_SCALARS: Final[Mapping[str, Column]] = {
    "pipeline_id": Column("pipeline_id", "id"),
    "questionnaire_id": Column("questionnaire_id", "id"),
    "application_id": Column("application_id", "id"),
    "template_pipeline_id": Column("template_pipeline_id", "id", nullable=True),
    "channel_id": Column("channel_id", "integer"),
    "title": Column("title"),
    "description": Column("description", nullable=True),
    "locale": Column("locale", nullable=True),
    "message_subject": Column("message_subject", nullable=True),
    "message_body": Column("message_body", nullable=True),
    "start_time": Column("start_time", "time", nullable=True),
    "end_time": Column("end_time", "time", nullable=True),
    "time_zone": Column("time_zone", nullable=True),
    "sender_name": Column("sender_name", nullable=True),
    "sender_address": Column("sender_address", nullable=True),
    "reply_to": Column("reply_to", nullable=True),
    "target_url": Column("target_url", nullable=True),
    "zone_of": Column("zone_of"),
    "if_outside": Column("if_outside"),
    "if_capped": Column("if_capped"),
    "paused": Column("paused", "boolean"),
    "policy_exempt": Column("policy_exempt", "boolean"),
    "created_time": Column("created_time", "time"),
    "updated_time": Column("updated_time", "time"),
    "created_by": Column("created_by", nullable=True),
    "updated_by": Column("updated_by", nullable=True),
}
_NUMBERS: Final = (
    "delay_cap_minutes", "delay_cap_hours", "delay_cap_days",
    "frequency_cap_minutes", "frequency_cap_hours", "frequency_cap_days",
    "max_retry_attempts", "not_after_days", "priority",
)  # fmt: skip
PIPELINES: Final = Listing(
    columns={**_SCALARS, **{name: Column(name, "integer") for name in _NUMBERS}},
    order=(("created_time", "desc"),),
    id="pipeline_id",
)


async def get_pipeline(
    db: Database, *, organization_id: str, questionnaire_id: str, pipeline_id: str, application_ids: Sequence[str] = ()
) -> Pipeline | None:
    """The pipeline, unless it belongs to another application than these (none: any)."""
    row = await db.fetch_row(
        """select p.*, q.owner_application_id as application_id
           from pipeline p
           join questionnaire q on q.organization_id = p.organization_id and q.questionnaire_id = p.questionnaire_id
           where p.organization_id = $1 and p.questionnaire_id = $2 and p.pipeline_id = $3
             and (cardinality($4::text[]) = 0 or q.owner_application_id = any($4))""",
        organization_id,
        questionnaire_id,
        pipeline_id,
        list(application_ids),
    )
    return None if row is None else Pipeline(**row)


async def get_pipeline_id(
    db: Database, *, organization_id: str, questionnaire_id: str, pipeline_id: str, application_ids: Sequence[str] = ()
) -> str | None:
    """As get_pipeline, the id alone: for those who only ask whether it is there."""
    return await db.fetch_value(
        """select p.pipeline_id
           from pipeline p
           join questionnaire q on q.organization_id = p.organization_id and q.questionnaire_id = p.questionnaire_id
           where p.organization_id = $1 and p.questionnaire_id = $2 and p.pipeline_id = $3
             and (cardinality($4::text[]) = 0 or q.owner_application_id = any($4))""",
        organization_id,
        questionnaire_id,
        pipeline_id,
        list(application_ids),
    )


async def get_pipeline_id_by_slug(
    db: Database, *, organization_id: str, questionnaire_id: str, slug: str
) -> str | None:
    """The id of the pipeline that was made under this name."""
    return await db.fetch_value(
        "select pipeline_id from pipeline where organization_id = $1 and questionnaire_id = $2 and slug = $3",
        organization_id,
        questionnaire_id,
        slug,
    )


async def list_pipelines(
    db: Database, *, organization_id: str, questionnaire_id: str, application_ids: Sequence[str] = (), page: Page
) -> Rows[Pipeline]:
    """The pipelines of a questionnaire."""
    rows = await db.fetch_list(
        """select p.*, q.owner_application_id as application_id
           from pipeline p
           join questionnaire q on q.organization_id = p.organization_id and q.questionnaire_id = p.questionnaire_id
           where p.organization_id = $1 and p.questionnaire_id = $2
             and (cardinality($3::text[]) = 0 or q.owner_application_id = any($3))""",
        organization_id,
        questionnaire_id,
        list(application_ids),
        page=page,
    )
    return rows.map(lambda row: Pipeline(**row))


async def insert_pipeline(db: Database, *, organization_id: str, document: Mapping[str, object]) -> None:
    """Insert a pipeline from a document whose keys are columns."""
    await db.execute(
        """insert into pipeline (organization_id, pipeline_id, questionnaire_id, account_id, slug, channel_id, title,
             description, template_pipeline_id, locale, delay_cap_minutes, delay_cap_hours, delay_cap_days,
             frequency_cap_minutes, frequency_cap_hours, frequency_cap_days, message_subject, message_body, messages,
             start_time, end_time, dispatch_start_time, dispatch_end_time, time_zone, zone_of, weekdays, conditions,
             sender_name, sender_address, reply_to, max_retry_attempts, not_after_days, priority, paused, if_outside,
             if_capped, policy_exempt, reminders, target_url, created_by, updated_by, created_time, updated_time)
           select $1, d.pipeline_id, d.questionnaire_id, d.account_id, d.slug, d.channel_id, d.title,
             d.description, d.template_pipeline_id, d.locale, d.delay_cap_minutes, d.delay_cap_hours, d.delay_cap_days,
             d.frequency_cap_minutes, d.frequency_cap_hours, d.frequency_cap_days, d.message_subject, d.message_body,
             d.messages, d.start_time, d.end_time, d.dispatch_start_time, d.dispatch_end_time, d.time_zone, d.zone_of,
             d.weekdays, d.conditions, d.sender_name, d.sender_address, d.reply_to, d.max_retry_attempts,
             d.not_after_days, d.priority, d.paused, d.if_outside, d.if_capped, d.policy_exempt, d.reminders,
             d.target_url, d.created_by, d.created_by, d.created_time, d.created_time
           from jsonb_populate_record(null::pipeline, $2::jsonb) d""",
        organization_id,
        document,
    )


async def insert_account(db: Database, *, organization_id: str, account_id: str, channel_id: int) -> str:
    """The account through which an organization sends on a channel: the one there is, else this new one."""
    return await db.fetch_value(
        """insert into channel_account (organization_id, account_id, channel_id) values ($1, $2, $3)
           on conflict (organization_id, channel_id) do update set channel_id = excluded.channel_id
           returning account_id""",
        organization_id,
        account_id,
        channel_id,
    )

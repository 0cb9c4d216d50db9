"""The SQL of captured messages."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, LiteralString

from afterword.core.wire.lists import Page, Rows
from afterword.kit.db import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxMessage:
    """A message without its content. `pipeline_id`: None for a message that is about no pipeline."""

    organization_id: str
    message_id: str
    channel_id: int
    pipeline_id: str | None
    questionnaire_id: str | None
    pipeline_title: str | None
    responder_channel_identifier: str
    subject: str | None
    test: bool
    created_time: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeMessage(OutboxMessage):
    """`content` is the whole mail, or the text of what is no mail. `item_id` and `instance_id`: while they are kept."""

    content: bytes
    item_id: str | None
    instance_id: str | None


_COLUMNS: Final[LiteralString] = """m.organization_id, m.message_id, m.channel_id, m.pipeline_id,
  p.questionnaire_id, p.title as pipeline_title, m.recipient as responder_channel_identifier, m.subject,
  m.test, m.created_time"""
_WHOLE: Final[LiteralString] = f"""select {_COLUMNS}, m.content, q.item_id, i.instance_id
  from outbox_message m
  left join pipeline p on p.organization_id = m.organization_id and p.pipeline_id = m.pipeline_id
  left join queue_item q on q.organization_id = m.organization_id and q.item_id = m.item_id and q.deleted_time is null
  left join questionnaire_instance i on i.organization_id = q.organization_id
    and i.instance_id = q.questionnaire_instance_id and i.deleted_time is null"""
# Mails to users hold links that log in: the operator alone sees them. An older release does not say which they are.
_VISIBLE: Final[LiteralString] = """m.organization_id = $1 and not coalesce(m.to_user, m.pipeline_id is null)
  and (m.test or not $3) and (cardinality($2::text[]) = 0
  or exists (select from questionnaire n where n.organization_id = p.organization_id
    and n.questionnaire_id = p.questionnaire_id and n.owner_application_id = any($2)))"""


async def insert_message(
    db: Database,
    *,
    organization_id: str,
    item_id: str,
    channel_id: int,
    recipient: str,
    subject: str | None,
    content: bytes,
    to_user: bool,
) -> None:
    """Keep a message of an item, or a test message, in place of sending it; the same again replaces it."""
    await db.execute(
        """insert into outbox_message (organization_id, message_id, item_id, channel_id, recipient, subject, content,
             pipeline_id, test,
             to_user)
           select $1, $2, $2, $3, $4, $5, $6, coalesce(q.pipeline_id, t.pipeline_id),
             coalesce(q.test, t.captured, false), $7
           from (select) one
           left join queue_item q on q.organization_id = $1 and q.item_id = $2
           left join trial t on t.organization_id = $1 and t.trial_id = $2
           on conflict (organization_id, message_id) do update
           set recipient = excluded.recipient, subject = excluded.subject, content = excluded.content""",
        *(organization_id, item_id, channel_id, recipient, subject, content, to_user),
    )


async def list_captured(
    db: Database, *, organization_id: str, application_ids: Sequence[str], test_only: bool, page: Page
) -> Rows[OutboxMessage]:
    rows = await db.fetch_list(
        f"""select {_COLUMNS} from outbox_message m
           left join pipeline p on p.organization_id = m.organization_id and p.pipeline_id = m.pipeline_id
           where {_VISIBLE}""",
        *(organization_id, list(application_ids), test_only),
        page=page,
    )
    return rows.map(lambda row: OutboxMessage(**row))


async def get_captured(
    db: Database, *, organization_id: str, application_ids: Sequence[str], test_only: bool, message_id: str
) -> WholeMessage | None:
    row = await db.fetch_row(
        f"{_WHOLE} where {_VISIBLE} and m.message_id = $4",
        *(organization_id, list(application_ids), test_only, message_id),
    )
    return None if row is None else WholeMessage(**row)


async def get_has_message(db: Database, *, organization_id: str, message_id: str) -> bool:
    return await db.fetch_value(
        "select exists (select from outbox_message where organization_id = $1 and message_id = $2)",
        *(organization_id, message_id),
    )


async def get_message(  # any tenant: a page of the installation's operator
    db: Database, *, message_id: str
) -> WholeMessage | None:
    row = await db.fetch_row(f"{_WHOLE} where m.message_id = $1 order by m.created_time limit 1", message_id)
    return None if row is None else WholeMessage(**row)


async def list_messages(  # any tenant: a page of the installation's operator
    db: Database, *, limit: int, offset: int = 0
) -> list[OutboxMessage]:
    rows = await db.fetch(
        f"""select {_COLUMNS} from outbox_message m
           left join pipeline p on p.organization_id = m.organization_id and p.pipeline_id = m.pipeline_id
           order by m.created_time desc limit $1 offset $2""",
        *(limit, offset),
    )
    return [OutboxMessage(**row) for row in rows]

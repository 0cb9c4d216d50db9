"""Seals again, with the secret in use, what was sealed with one of before: in batches that commit one by one.

Each batch asks for what is left, so it may be stopped at any moment and begun again.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, LiteralString

from afterword.cases import chats, mailboxes
from afterword.events.webhooks import seal_context
from afterword.kit import db as databases, sealing
from afterword.kit.db import Database, Pool
from afterword.listening.exports import schedules
from afterword.sending.intake.sources import records as sources
from afterword.tenants.mails import link_context


@dataclass(frozen=True, slots=True)
class Sealed:
    """A sealed value and the key of its row."""

    organization_id: str
    id: str
    value: bytes = field(repr=False)


# The columns, with the context of a value by organization and id of its row; those of the installation have none.
CONTEXTS: Final[dict[str, Callable[[str, str], str]]] = {
    "login.totp_secret": lambda _, login_id: f"totp:{login_id}",
    "channel_account.settings": lambda organization_id, account_id: f"account:{organization_id}:{account_id}",
    "inbound_endpoint.settings": lambda organization_id, inbound_id: f"inbound:{organization_id}:{inbound_id}",
    "webhook.secret": seal_context,
    "webhook.previous_secret": seal_context,
    "notice_mail.link": lambda _, mail_id: link_context(mail_id),
    "anonymous_pool.sealed": lambda organization_id, version_id: f"anonymous pool:{organization_id}:{version_id}",
    "identity_provider.client_secret": lambda organization_id, _: f"identity:{organization_id}",
    "alert_mailbox.sealed_password": mailboxes.seal_context,
    "chat.sealed_address": chats.seal_context,
    "source.sealed_secret": sources.seal_context,
    "export_schedule.sealed_secret": schedules.seal_context,
    "login_session.id_token": lambda _, session_id: f"id token:{session_id}",
}
_SEALED: Final[LiteralString] = """(
    select 'login.totp_secret' as name, '' as organization_id, login_id as id, totp_secret as value from login
    union all select 'channel_account.settings', organization_id, account_id, settings from channel_account
    union all select 'inbound_endpoint.settings', organization_id, inbound_id, settings from inbound_endpoint
    union all select 'webhook.secret', organization_id, webhook_id, secret from webhook
    union all select 'webhook.previous_secret', organization_id, webhook_id, previous_secret from webhook
    union all select 'notice_mail.link', '', mail_id, link from notice_mail
    union all select 'anonymous_pool.sealed', organization_id, version_id, nullif(sealed, '') from anonymous_pool
    union all select 'identity_provider.client_secret', organization_id, organization_id, client_secret
      from identity_provider
    union all select 'alert_mailbox.sealed_password', organization_id, organization_id, sealed_password
      from alert_mailbox
    union all select 'chat.sealed_address', organization_id, chat_id, sealed_address from chat
    union all select 'source.sealed_secret', organization_id, source_id, sealed_secret from source
    union all select 'export_schedule.sealed_secret', organization_id, schedule_id, sealed_secret from export_schedule
    union all select 'login_session.id_token', organization_id, session_id, id_token from login_session) s"""


async def list_sealed(  # any tenant: the secret is the installation's
    db: Database, *, column: str, head: bytes, after: tuple[str, str], limit: int
) -> list[Sealed]:
    return await db.records(Sealed).fetch(
        f"""select organization_id, id, value from {_SEALED}
           where name = $1 and substring(value from 1 for length($2::bytea)) <> $2 and (organization_id, id) > ($3, $4)
           order by organization_id, id limit $5""",
        *(column, head, *after, limit),
    )


async def count_sealed(db: Database, *, head: bytes) -> int:  # any tenant: the secret is the installation's
    return await db.fetch_value(
        f"select count(*) from {_SEALED} where substring(value from 1 for length($1::bytea)) <> $1", head
    )


async def update_sealed(  # any tenant: the secret is the installation's
    db: Database, *, column: str, before: Sealed, value: bytes
) -> bool:
    """Whether it was still the same value: what somebody wrote meanwhile stays."""
    count = await db.fetch_value(
        """with
           a as (update login set totp_secret = $5
             where $1 = 'login.totp_secret' and login_id = $3 and totp_secret = $4 returning 1),
           b as (update channel_account set settings = $5 where $1 = 'channel_account.settings'
             and organization_id = $2 and account_id = $3 and settings = $4 returning 1),
           c as (update inbound_endpoint set settings = $5 where $1 = 'inbound_endpoint.settings'
             and organization_id = $2 and inbound_id = $3 and settings = $4 returning 1),
           d as (update webhook set secret = $5 where $1 = 'webhook.secret'
             and organization_id = $2 and webhook_id = $3 and secret = $4 returning 1),
           e as (update webhook set previous_secret = $5 where $1 = 'webhook.previous_secret'
             and organization_id = $2 and webhook_id = $3 and previous_secret = $4 returning 1),
           f as (update notice_mail set link = $5
             where $1 = 'notice_mail.link' and mail_id = $3 and link = $4 returning 1),
           g as (update anonymous_pool set sealed = $5 where $1 = 'anonymous_pool.sealed'
             and organization_id = $2 and version_id = $3 and sealed = $4 returning 1),
           h as (update identity_provider set client_secret = $5 where $1 = 'identity_provider.client_secret'
             and organization_id = $2 and client_secret = $4 returning 1),
           i as (update login_session set id_token = $5 where $1 = 'login_session.id_token'
             and organization_id = $2 and session_id = $3 and id_token = $4 returning 1),
           j as (update alert_mailbox set sealed_password = $5 where $1 = 'alert_mailbox.sealed_password'
             and organization_id = $2 and sealed_password = $4 returning 1),
           k as (update chat set sealed_address = $5 where $1 = 'chat.sealed_address'
             and organization_id = $2 and chat_id = $3 and sealed_address = $4 returning 1),
           l as (update source set sealed_secret = $5 where $1 = 'source.sealed_secret'
             and organization_id = $2 and source_id = $3 and sealed_secret = $4 returning 1),
           m as (update export_schedule set sealed_secret = $5 where $1 = 'export_schedule.sealed_secret'
             and organization_id = $2 and schedule_id = $3 and sealed_secret = $4 returning 1)
           select count(*) from (
             select from a union all select from b union all select from c union all select from d
             union all select from e union all select from f union all select from g union all select from h
             union all select from i union all select from j union all select from k union all select from l
             union all select from m) found""",
        *(column, before.organization_id, before.id, before.value, value),
    )
    return bool(count)


BATCH_VALUES: Final = 100


async def reseal(
    pool: Pool, *, secret: bytes, report: Callable[[str, int, int], None], batch: int = BATCH_VALUES
) -> int:
    """Seal everything again; returns how many values nothing opens. `report`: column, sealed anew, unreadable."""
    return sum([await _reseal(pool, column, secret=secret, report=report, batch=batch) for column in CONTEXTS])


async def _reseal(
    pool: Pool, column: str, *, secret: bytes, report: Callable[[str, int, int], None], batch: int
) -> int:
    after, done, lost = ("", ""), 0, 0
    while True:
        async with databases.transaction(pool) as db:
            found = await list_sealed(db, column=column, head=sealing.head_of(secret), after=after, limit=batch)
            for one in found:
                context = CONTEXTS[column](one.organization_id, one.id)
                try:
                    text = sealing.unseal(one.value, secret=secret, context=context)
                except sealing.Unreadable:
                    lost += 1
                    continue
                value = sealing.seal(text, secret=secret, context=context)
                done += await update_sealed(db, column=column, before=one, value=value)
        report(column, done, lost)
        if len(found) < batch:
            return lost
        after = (found[-1].organization_id, found[-1].id)

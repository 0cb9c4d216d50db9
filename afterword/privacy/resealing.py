"""Seals again, with the secret in use, what was sealed with one of before: in batches that commit one by one.

Each batch asks for what is left, so it may be stopped at any moment and begun again.
"""

from collections.abc import Callable, Sequence
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
# The table, the column, and of its rows the organization and the id.
_PLACES: Final[Sequence[tuple[LiteralString, LiteralString, LiteralString, LiteralString]]] = (
    ("login", "totp_secret", "''", "login_id"),
    ("channel_account", "settings", "organization_id", "account_id"),
    ("inbound_endpoint", "settings", "organization_id", "inbound_id"),
    ("webhook", "secret", "organization_id", "webhook_id"),
    ("webhook", "previous_secret", "organization_id", "webhook_id"),
    ("notice_mail", "link", "''", "mail_id"),
    ("anonymous_pool", "sealed", "organization_id", "version_id"),
    ("identity_provider", "client_secret", "organization_id", "organization_id"),
    ("alert_mailbox", "sealed_password", "organization_id", "organization_id"),
    ("chat", "sealed_address", "organization_id", "chat_id"),
    ("source", "sealed_secret", "organization_id", "source_id"),
    ("export_schedule", "sealed_secret", "organization_id", "schedule_id"),
    ("login_session", "id_token", "organization_id", "session_id"),
)
_PLACE_OF: Final = {f"{place[0]}.{place[1]}": place for place in _PLACES}


def _values(column: str) -> LiteralString:
    table, name, organization_id, id_ = _PLACE_OF[column]
    return f"(select {organization_id} as organization_id, {id_} as id, nullif({name}, '') as value from {table}) s"


def _update(column: str) -> LiteralString:
    table, name, organization_id, id_ = _PLACE_OF[column]
    return f"update {table} set {name} = $4 where {organization_id} = $1::text and {id_} = $2 and {name} = $3"


async def list_sealed(  # any tenant: the secret is the installation's
    db: Database, *, column: str, head: bytes, after: tuple[str, str], limit: int
) -> list[Sealed]:
    return await db.records(Sealed).fetch(
        f"""select organization_id, id, value from {_values(column)}
           where substring(value from 1 for length($1::bytea)) <> $1 and (organization_id, id) > ($2, $3)
           order by organization_id, id limit $4""",
        *(head, *after, limit),
    )


async def count_sealed(db: Database, *, head: bytes) -> int:  # any tenant: the secret is the installation's
    counts = [
        await db.fetch_value(
            f"select count(*) from {_values(column)} where substring(value from 1 for length($1::bytea)) <> $1", head
        )
        for column in CONTEXTS
    ]
    return sum(counts)


async def update_sealed(  # any tenant: the secret is the installation's
    db: Database, *, column: str, before: Sealed, value: bytes
) -> bool:
    """Whether it was still the same value: what somebody wrote meanwhile stays."""
    return bool(await db.execute(_update(column), before.organization_id, before.id, before.value, value))


BATCH_VALUES: Final = 100


async def reseal(pool: Pool, *, secret: bytes, report: Callable[[str, int, int], None]) -> int:
    """Seal everything again; returns how many values nothing opens. `report`: column, sealed anew, unreadable."""
    return sum([await _reseal(pool, column, secret=secret, report=report) for column in CONTEXTS])


async def _reseal(pool: Pool, column: str, *, secret: bytes, report: Callable[[str, int, int], None]) -> int:
    after, done, lost = ("", ""), 0, 0
    while True:
        async with databases.transaction(pool) as db:
            head = sealing.head_of(secret)
            found = await list_sealed(db, column=column, head=head, after=after, limit=BATCH_VALUES)
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
        if len(found) < BATCH_VALUES:
            return lost
        after = (found[-1].organization_id, found[-1].id)

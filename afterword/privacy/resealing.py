"""Seals again, with the secret in use, what was sealed with one of before: in batches that commit one by one.

Each batch asks for what is left, so it may be stopped at any moment and begun again.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, LiteralString

import msgspec

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


class _Column(msgspec.Struct, frozen=True):
    """`id`: the column with the id of a row; `owner`: the one with its organization; `context`: of both."""

    table: LiteralString
    name: LiteralString
    id: LiteralString
    context: Callable[[str, str], str]
    owner: LiteralString = "organization_id"


_OF_ALL: Final[LiteralString] = "''::text"  # of rows of the installation
_COLUMNS: Final = {
    f"{one.table}.{one.name}": one
    for one in (
        _Column("login", "totp_secret", "login_id", lambda _, login_id: f"totp:{login_id}", _OF_ALL),
        _Column("channel_account", "settings", "account_id", lambda *key: ":".join(("account", *key))),
        _Column("inbound_endpoint", "settings", "inbound_id", lambda *key: ":".join(("inbound", *key))),
        _Column("webhook", "secret", "webhook_id", seal_context),
        _Column("webhook", "previous_secret", "webhook_id", seal_context),
        _Column("notice_mail", "link", "mail_id", lambda _, mail_id: link_context(mail_id), _OF_ALL),
        _Column("anonymous_pool", "sealed", "version_id", lambda *key: ":".join(("anonymous pool", *key))),
        _Column("identity_provider", "client_secret", "organization_id", lambda owner, _: f"identity:{owner}"),
        _Column("alert_mailbox", "sealed_password", "organization_id", mailboxes.seal_context),
        _Column("chat", "sealed_address", "chat_id", chats.seal_context),
        _Column("source", "sealed_secret", "source_id", sources.seal_context),
        _Column("source", "sealed_note_token", "source_id", lambda of, key: sources.seal_context(of, f"{key}:note")),
        _Column("export_schedule", "sealed_secret", "schedule_id", schedules.seal_context),
        _Column("login_session", "id_token", "session_id", lambda _, session_id: f"id token:{session_id}"),
    )
}
CONTEXTS: Final = {name: one.context for name, one in _COLUMNS.items()}


async def list_sealed(  # any tenant: the secret is the installation's
    db: Database, *, column: str, head: bytes, after: tuple[str, str], limit: int
) -> list[Sealed]:
    of = _COLUMNS[column]
    return await db.records(Sealed).fetch(
        f"""select {of.owner} as organization_id, {of.id} as id, {of.name} as value from {of.table}
           where {of.name} <> '' and substring({of.name} from 1 for length($1::bytea)) <> $1
             and ({of.owner}, {of.id}) > ($2, $3)
           order by {of.owner}, {of.id} limit $4""",
        *(head, *after, limit),
    )


async def count_sealed(db: Database, *, head: bytes) -> int:  # any tenant: the secret is the installation's
    statements: list[LiteralString] = [
        f"select count(*) from {of.table} where {of.name} <> '' and substring({of.name} for length($1::bytea)) <> $1"
        for of in _COLUMNS.values()
    ]
    return sum([await db.fetch_value(statement, head) for statement in statements])


async def update_sealed(  # any tenant: the secret is the installation's
    db: Database, *, column: str, before: Sealed, value: bytes
) -> bool:
    """Whether it was still the same value: what somebody wrote meanwhile stays."""
    of = _COLUMNS[column]
    count = await db.execute(
        f"update {of.table} set {of.name} = $4 where {of.owner} = $1 and {of.id} = $2 and {of.name} = $3",
        *(before.organization_id, before.id, before.value, value),
    )
    return bool(count)


BATCH_VALUES: Final = 100


async def reseal(
    pool: Pool, *, secret: bytes, report: Callable[[str, int, int], None], batch: int = BATCH_VALUES
) -> int:
    """Seal everything again; returns how many values nothing opens. `report`: column, sealed anew, unreadable."""
    lost = sum([await _reseal(pool, column, secret=secret, report=report, batch=batch) for column in CONTEXTS])
    return max(lost, await databases.load(pool, count_unreadable, secret=secret))


async def _reseal(
    pool: Pool, column: str, *, secret: bytes, report: Callable[[str, int, int], None], batch: int
) -> int:
    after, done, lost = ("", ""), 0, 0
    while True:
        async with databases.transaction(pool) as db:
            found = await list_sealed(db, column=column, head=sealing.head_of(secret), after=after, limit=batch)
            for one in found:
                if (text := _opened(one, column, secret)) is None:
                    lost += 1
                    continue
                value = sealing.seal(text, secret=secret, context=CONTEXTS[column](one.organization_id, one.id))
                done += await update_sealed(db, column=column, before=one, value=value)
        report(column, done, lost)
        if len(found) < batch:
            return lost
        after = (found[-1].organization_id, found[-1].id)


async def count_unreadable(db: Database, *, secret: bytes, limit: int = BATCH_VALUES) -> int:
    """The number of values that no secret known here opens, among the first of each kind."""
    given: dict[str, Any] = {"head": b"\0", "after": ("", ""), "limit": limit}  # nothing begins with this head
    found = [(one, column) for column in CONTEXTS for one in await list_sealed(db, column=column, **given)]
    return sum(_opened(one, column, secret) is None for one, column in found)


def _opened(one: Sealed, column: str, secret: bytes) -> str | None:
    try:
        return sealing.unseal(one.value, secret=secret, context=CONTEXTS[column](one.organization_id, one.id))
    except sealing.Unreadable:
        return None

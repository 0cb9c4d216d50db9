"""SQL of everything that is stored sealed, in the tables of all packages."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, LiteralString

from afterword.alerts.mails.service import link_context
from afterword.db import Database
from afterword.events.webhooks.service import seal_context


@dataclass(frozen=True, slots=True)
class Column:
    """A sealed column. `listing` takes the head of the secret in use, the last key and a limit."""

    name: str
    listing: LiteralString
    counting: LiteralString
    writing: LiteralString
    context: Callable[[str, str], str]


@dataclass(frozen=True, slots=True)
class Sealed:
    """A sealed value and the key of its row."""

    organization_id: str
    id: str
    value: bytes = field(repr=False)


# any tenant: the secret is the installation's
COLUMNS: Final = (
    Column(
        "login.totp_secret",
        """select '' as organization_id, login_id as id, totp_secret as value from login
           where totp_secret is not null and substring(totp_secret from 1 for length($1::bytea)) <> $1
             and ('', login_id) > ($2, $3) order by login_id limit $4""",
        """select count(*) from login
           where totp_secret is not null and substring(totp_secret from 1 for length($1::bytea)) <> $1""",
        "update login set totp_secret = $4 where $1 = '' and login_id = $2 and totp_secret = $3",
        lambda _, login_id: f"totp:{login_id}",
    ),
    Column(
        "channel_account.settings",
        """select organization_id, account_id as id, settings as value from channel_account
           where settings is not null and substring(settings from 1 for length($1::bytea)) <> $1
             and (organization_id, account_id) > ($2, $3) order by organization_id, account_id limit $4""",
        """select count(*) from channel_account
           where settings is not null and substring(settings from 1 for length($1::bytea)) <> $1""",
        "update channel_account set settings = $4 where organization_id = $1 and account_id = $2 and settings = $3",
        lambda organization_id, account_id: f"account:{organization_id}:{account_id}",
    ),
    Column(
        "inbound_endpoint.settings",
        """select organization_id, inbound_id as id, settings as value from inbound_endpoint
           where settings is not null and substring(settings from 1 for length($1::bytea)) <> $1
             and (organization_id, inbound_id) > ($2, $3) order by organization_id, inbound_id limit $4""",
        """select count(*) from inbound_endpoint
           where settings is not null and substring(settings from 1 for length($1::bytea)) <> $1""",
        "update inbound_endpoint set settings = $4 where organization_id = $1 and inbound_id = $2 and settings = $3",
        lambda organization_id, inbound_id: f"inbound:{organization_id}:{inbound_id}",
    ),
    Column(
        "webhook.secret",
        """select organization_id, webhook_id as id, secret as value from webhook
           where secret is not null and substring(secret from 1 for length($1::bytea)) <> $1
             and (organization_id, webhook_id) > ($2, $3) order by organization_id, webhook_id limit $4""",
        """select count(*) from webhook
           where secret is not null and substring(secret from 1 for length($1::bytea)) <> $1""",
        "update webhook set secret = $4 where organization_id = $1 and webhook_id = $2 and secret = $3",
        seal_context,
    ),
    Column(
        "webhook.previous_secret",
        """select organization_id, webhook_id as id, previous_secret as value from webhook
           where previous_secret is not null and substring(previous_secret from 1 for length($1::bytea)) <> $1
             and (organization_id, webhook_id) > ($2, $3) order by organization_id, webhook_id limit $4""",
        """select count(*) from webhook
           where previous_secret is not null and substring(previous_secret from 1 for length($1::bytea)) <> $1""",
        """update webhook set previous_secret = $4
           where organization_id = $1 and webhook_id = $2 and previous_secret = $3""",
        seal_context,
    ),
    Column(
        "notice_mail.link",
        """select '' as organization_id, mail_id as id, link as value from notice_mail
           where link is not null and substring(link from 1 for length($1::bytea)) <> $1
             and ('', mail_id) > ($2, $3) order by mail_id limit $4""",
        """select count(*) from notice_mail
           where link is not null and substring(link from 1 for length($1::bytea)) <> $1""",
        "update notice_mail set link = $4 where $1 = '' and mail_id = $2 and link = $3",
        lambda _, mail_id: link_context(mail_id),
    ),
    Column(
        "anonymous_pool.sealed",
        """select organization_id, version_id as id, sealed as value from anonymous_pool
           where sealed <> '' and substring(sealed from 1 for length($1::bytea)) <> $1
             and (organization_id, version_id) > ($2, $3) order by organization_id, version_id limit $4""",
        """select count(*) from anonymous_pool
           where sealed <> '' and substring(sealed from 1 for length($1::bytea)) <> $1""",
        "update anonymous_pool set sealed = $4 where organization_id = $1 and version_id = $2 and sealed = $3",
        lambda organization_id, version_id: f"anonymous pool:{organization_id}:{version_id}",
    ),
    Column(
        "identity_provider.client_secret",
        """select organization_id, organization_id as id, client_secret as value from identity_provider
           where client_secret is not null and substring(client_secret from 1 for length($1::bytea)) <> $1
             and (organization_id, organization_id) > ($2, $3) order by organization_id limit $4""",
        """select count(*) from identity_provider
           where client_secret is not null and substring(client_secret from 1 for length($1::bytea)) <> $1""",
        "update identity_provider set client_secret = $4 where organization_id = $1 and $2 = $1 and client_secret = $3",
        lambda organization_id, _: f"identity:{organization_id}",
    ),
)


async def list_sealed(  # any tenant: the secret is the installation's
    db: Database, *, column: Column, head: bytes, after: tuple[str, str], limit: int
) -> list[Sealed]:
    """Values that were not sealed with the secret of this head."""
    return [Sealed(**row) for row in await db.fetch(column.listing, head, *after, limit)]


async def count_sealed(db: Database, *, head: bytes) -> int:  # any tenant: the secret is the installation's
    """The number of values that were not sealed with the secret of this head."""
    return sum([await db.fetch_value(column.counting, head) for column in COLUMNS])


async def update_sealed(  # any tenant: the secret is the installation's
    db: Database, *, column: Column, before: Sealed, value: bytes
) -> bool:
    """Whether it was still the same value: what somebody wrote meanwhile stays."""
    return bool(await db.execute(column.writing, before.organization_id, before.id, before.value, value))

"""SQL of tokens, of access tokens, and of the credential of a request."""

import zlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Final, Literal, LiteralString

import msgspec

from afterword.core.messaging.networks import Network, networks_of
from afterword.core.wire.lists import Page, Rows
from afterword.kit.db import Database, Row
from afterword.kit.db.columns import columns_of
from afterword.kit.nouns.declaration import Hidden
from afterword.kit.web import fields

HINT_CHARACTERS: Final = 8


class Token(msgspec.Struct, frozen=True, kw_only=True):
    """An API token. `token` is its text, in the answer that creates it and never again."""

    token_id: fields.Id
    organization_id: fields.Id
    user_id: fields.Id | None
    title: str
    kind: Literal["user", "organization"]
    scopes: list[str]
    application_ids: list[str]
    only_where: str | None
    only_values: list[str]
    networks: list[str]
    test: bool
    expires_time: datetime | None
    revoked_time: datetime | None
    last_used_time: datetime | None
    created_time: datetime
    created_by: fields.Id | None
    selector: Annotated[str, Hidden()]
    maker_role: Annotated[str, Hidden()]
    retires_time: Annotated[datetime | None, Hidden()]  # its end because it was rotated
    made_by_token_id: Annotated[str | None, Hidden()]
    owner_name: Annotated[str | None, Hidden()]  # of its user

    @property
    def hint(self) -> str:
        return self.selector[:HINT_CHARACTERS]

    @property
    def ends_time(self) -> datetime | None:
        ends = [end for end in (self.expires_time, self.retires_time) if end is not None]
        return min(ends, default=None)

    @property
    def version(self) -> int:
        """Does not grow, but differs after each change of the token."""
        changing = (self.title, self.networks, self.retires_time, self.revoked_time, self.last_used_time)
        return zlib.crc32(repr(changing).encode())


_GIVEN: Final[LiteralString] = """user_id, kind, title, scopes, application_ids, selector, maker_role, test,
  expires_time, created_time, created_by, made_by_token_id, networks, only_where, only_values"""
_COLUMNS: Final[LiteralString] = f"""{columns_of(Token, without={"owner_name"})},
  (select coalesce(u.display_name, u.email) from organization_user u
   where u.organization_id = token.organization_id and u.user_id = token.user_id) as owner_name"""


class Credential(msgspec.Struct, frozen=True):
    """The data that authorize a request: of the token, its organization and, for a user's token, the user.

    With an `access_token_id`, digest, scopes and end are the access token's, and all else is its parent's.
    """

    organization_id: str
    token_id: str
    access_token_id: str | None
    kind: str
    verifier_digest: bytes
    scopes: frozenset[str]
    application_ids: list[str]
    maker_role: str
    test: bool
    expires_time: datetime | None
    revoked_time: datetime | None
    domain: str
    time_zone: str
    default_locale: str
    user_id: str | None
    user_role: str | None
    user_active: bool | None
    user_service: bool | None
    user_application_ids: list[str]
    only_where: str | None
    only_values: list[str]
    user_only_where: str | None
    user_only_values: list[str]
    networks: Sequence[Network]
    organization_networks: Sequence[Network]


async def insert_token(
    db: Database, *, organization_id: str, token_id: str, document: Mapping[str, object], verifier_digest: bytes
) -> Token:
    """Insert a token from a document whose keys are columns, with its digest, without its text."""
    return await db.records(_token).fetch_one(
        f"""insert into token (organization_id, token_id, verifier_digest, {_GIVEN})
           select $1, $2, $3, {_GIVEN} from jsonb_populate_record(null::token, $4) returning {_COLUMNS}""",
        *(organization_id, token_id, verifier_digest, document),
    )


class UserRights(msgspec.Struct, frozen=True):
    role: str
    application_ids: list[str]
    service: bool


async def get_user_rights(db: Database, *, organization_id: str, user_id: str) -> UserRights | None:
    return await db.records(UserRights).fetch_row(
        """select role, application_ids, service from organization_user
           where organization_id = $1 and user_id = $2 and removed_time is null""",
        *(organization_id, user_id),
    )


async def get_token(
    db: Database,
    *,
    organization_id: str,
    token_id: str,
    application_ids: Sequence[str] = (),
    user_id: str | None = None,
    is_locked: bool = False,
) -> Token | None:
    """The token, if a caller of these applications (none: all) may see it.

    Such a caller sees the tokens of its own `user_id`, and those of no other applications. `is_locked`: until the
    transaction ends.
    """
    lock: LiteralString = "for no key update" if is_locked else ""
    return await db.records(_token).fetch_row(
        f"""select {_COLUMNS} from token
           where organization_id = $1 and token_id = $2
             and ($3::text[] = '{{}}' or user_id = $4 or (application_ids <> '{{}}' and application_ids <@ $3))
           {lock}""",
        *(organization_id, token_id, list(application_ids), user_id),
    )


async def list_tokens(
    db: Database, *, organization_id: str, page: Page, application_ids: Sequence[str] = (), user_id: str | None = None
) -> Rows[Token]:
    return await db.records(_token).fetch_list(
        f"""select {_COLUMNS}, left(selector, 8) as hint, least(expires_time, retires_time) as ends_time from token
           where organization_id = $1
             and ($2::text[] = '{{}}' or user_id = $3 or (application_ids <> '{{}}' and application_ids <@ $2))""",
        *(organization_id, list(application_ids), user_id),
        page=page,
    )


async def list_tokens_like(db: Database, *, hint: str, limit: int) -> list[Token]:  # any tenant: for operators
    """The tokens whose selector begins with `hint`, letters and digits."""
    return await db.records(_token).fetch(
        f"select {_COLUMNS} from token where selector >= $1 and selector < $1 || '~' order by selector limit $2",
        *(hint, limit),
    )


async def count_unused_tokens(  # any tenant: for operators
    db: Database, *, before: datetime, now: datetime
) -> int:
    return await db.fetch_value(
        """select count(*) from token
           where revoked_time is null and coalesce(last_used_time, created_time) < $1
             and coalesce(least(expires_time, retires_time), 'infinity') > $2""",
        *(before, now),
    )


async def update_token(
    db: Database, *, organization_id: str, token_id: str, title: str, networks: Sequence[str]
) -> Token:
    return await db.records(_token).fetch_one(
        f"""update token set title = $3, networks = $4 where organization_id = $1 and token_id = $2
           returning {_COLUMNS}""",
        *(organization_id, token_id, title, list(networks)),
    )


async def update_family_to_revoked(db: Database, *, organization_id: str, token_id: str, now: datetime) -> list[Token]:
    """Revoke the token and all tokens created with it, recursively; return those that were valid."""
    return await db.records(_token).fetch(
        f"""with recursive family as (
             select $2::text collate "C" as token_id
             union
             select made.token_id from token made join family on made.made_by_token_id = family.token_id
             where made.organization_id = $1)
           update token set revoked_time = $3
           where organization_id = $1 and token_id in (select token_id from family) and revoked_time is null
           returning {_COLUMNS}""",
        *(organization_id, token_id, now),
    )


async def update_maker(db: Database, *, organization_id: str, made_by_token_id: str, successor_id: str) -> None:
    await db.execute(
        "update token set made_by_token_id = $3 where organization_id = $1 and made_by_token_id = $2",
        *(organization_id, made_by_token_id, successor_id),
    )


async def update_user_tokens_to_revoked(
    db: Database, *, organization_id: str, user_id: str, now: datetime
) -> list[Token]:
    return await db.records(_token).fetch(
        f"""update token set revoked_time = $3
           where organization_id = $1 and user_id = $2 and revoked_time is null returning {_COLUMNS}""",
        *(organization_id, user_id, now),
    )


async def update_token_to_retire(db: Database, *, organization_id: str, token_id: str, retires_time: datetime) -> int:
    return await db.execute(
        "update token set retires_time = least(retires_time, $3) where organization_id = $1 and token_id = $2",
        *(organization_id, token_id, retires_time),
    )


async def update_tokens_used(  # any tenant: the ticks of a process
    db: Database, *, used: Mapping[tuple[str, str], datetime]
) -> int:
    """Store the times of last use of tokens (organization, token), at most once a minute each."""
    return await db.execute(
        """with locked as (
             select t.organization_id, t.token_id, u.used_time
             from unnest($1::text[], $2::text[], $3::timestamptz[]) as u (organization_id, token_id, used_time)
             join token t on t.organization_id = u.organization_id and t.token_id = u.token_id
             where t.last_used_time is null or t.last_used_time <= u.used_time - interval '1 minute'
             for no key update of t skip locked)
           update token t set last_used_time = l.used_time
           from locked l where t.organization_id = l.organization_id and t.token_id = l.token_id""",
        [organization_id for organization_id, _ in used],
        [token_id for _, token_id in used],
        list(used.values()),
    )


async def get_credential(db: Database, *, selector: str) -> Credential | None:  # any tenant: the token says which
    """The token or access token with this selector, with its current rights."""
    row = await db.fetch_row(
        """select t.organization_id, t.token_id, s.access_token_id, t.kind, s.verifier_digest, s.scopes,
                  t.application_ids, t.maker_role, t.test,
                  least(t.expires_time, t.retires_time, s.expires_time) as expires_time, t.revoked_time,
                  o.domain, o.time_zone, o.default_locale, t.user_id, u.role as user_role,
                  u.active and u.removed_time is null as user_active, u.service as user_service,
                  coalesce(u.application_ids, '{}') as user_application_ids, t.networks,
                  t.only_where, t.only_values, u.only_where as user_only_where,
                  coalesce(u.only_values, '{}') as user_only_values,
                  coalesce(p.token_networks, '{}') as organization_networks
           from (select organization_id, token_id, null as access_token_id, verifier_digest, scopes,
                        null::timestamptz as expires_time
                 from token where selector = $1
                 union all
                 select organization_id, token_id, access_token_id, verifier_digest, scopes, expires_time
                 from access_token where selector = $1) s
             join token t on t.organization_id = s.organization_id and t.token_id = s.token_id
             join organization o on o.organization_id = t.organization_id
             left join login_policy p on p.organization_id = t.organization_id
             left join organization_user u on u.organization_id = t.organization_id and u.user_id = t.user_id""",
        selector,
    )
    if row is None:
        return None
    values: dict[str, Any] = {**row, "scopes": frozenset(row["scopes"])}
    for name in ("networks", "organization_networks"):
        values[name] = networks_of(",".join(row[name])) if row[name] else ()
    return Credential(**values)


async def insert_access_token(  # any tenant: the parent names its own
    db: Database, *, parent: Credential, columns: Mapping[str, object], verifier_digest: bytes, alive_max: int
) -> bool:
    """Insert it, unless its parent has `alive_max` valid ones. `columns`: what it has besides."""
    count = await db.execute(
        """insert into access_token (organization_id, access_token_id, token_id, selector, verifier_digest, scopes,
                                     expires_time, created_time)
           select $1, n.access_token_id, $2, n.selector, $4, n.scopes, n.expires_time, n.created_time
           from jsonb_populate_record(null::access_token, $3) n
           where (select count(*) from (
                    select from access_token
                    where organization_id = $1 and token_id = $2 and expires_time > n.created_time
                    limit $5) alive) < $5""",
        *(parent.organization_id, parent.token_id, columns, verifier_digest, alive_max),
    )
    return count == 1


def _token(row: Row) -> Token:
    return Token(**{name: row[name] for name in Token.__struct_fields__})

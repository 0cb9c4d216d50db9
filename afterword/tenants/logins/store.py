"""SQL of logins, their second factors, and the failures that slow guessing down."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, LiteralString

from afterword.kit.db import Database


@dataclass(frozen=True, slots=True)
class Login:
    login_id: str
    email: str
    password_hash: str = field(repr=False)
    totp_secret: bytes | None = field(repr=False)  # sealed
    totp_time: datetime | None
    totp_step: int
    has_passkey: bool

    @property
    def has_totp(self) -> bool:
        return self.totp_time is not None

    @property
    def has_second_factor(self) -> bool:
        return self.has_totp or self.has_passkey


@dataclass(frozen=True, slots=True)
class Membership:
    """A user that a login acts as."""

    organization_id: str
    user_id: str
    organization_name: str
    role: str


_COLUMNS: Final[LiteralString] = """login_id, email, password_hash, totp_secret, totp_time, totp_step,
  exists (select from login_passkey k where k.login_id = login.login_id) as has_passkey"""


async def insert_login(  # any tenant: a login belongs to a person
    db: Database, *, login_id: str, email: str, password_hash: str, now: datetime
) -> Login:
    """Raises Taken if the address has a login."""
    row = await db.fetch_one(
        f"""insert into login (login_id, email, password_hash, password_time, created_time, updated_time)
           values ($1, $2, $3, $4, $4, $4) returning {_COLUMNS}""",
        *(login_id, email, password_hash, now),
    )
    return Login(**row)


async def get_login(  # any tenant: a login belongs to a person
    db: Database, *, login_id: str, is_locked: bool = False
) -> Login | None:
    lock: LiteralString = "for no key update" if is_locked else ""
    row = await db.fetch_row(f"select {_COLUMNS} from login where login_id = $1 {lock}", login_id)
    return Login(**row) if row else None


async def get_login_by_email(  # any tenant: a login belongs to a person
    db: Database, *, email: str, is_locked: bool = False
) -> Login | None:
    """The person's own; those that identity providers vouch for are found by these alone."""
    lock: LiteralString = "for no key update" if is_locked else ""
    row = await db.fetch_row(
        f"select {_COLUMNS} from login where lower(email) = lower($1) and not is_of_provider {lock}", email
    )
    return Login(**row) if row else None


async def update_login(  # any tenant: a login belongs to a person
    db: Database, *, login_id: str, changes: Mapping[str, object], now: datetime
) -> None:
    """`changes`: some of email, password_hash. Raises Taken if the address has another login."""
    await db.execute(
        """update login l set (email, password_hash) = (
             select s.email, s.password_hash from jsonb_populate_record(l, $2) s),
             password_time = case when $2::jsonb ? 'password_hash' then $3 else password_time end, updated_time = $3
           where login_id = $1""",
        *(login_id, changes, now),
    )


async def update_totp(  # any tenant: a login belongs to a person
    db: Database, *, login_id: str, secret: bytes | None, since: datetime | None, now: datetime
) -> None:
    await db.execute(
        """update login set totp_secret = $2, totp_time = $3, updated_time = $4,
             totp_step = case when $3::timestamptz is null then 0 else totp_step end
           where login_id = $1""",
        *(login_id, secret, since, now),
    )


async def update_totp_step(  # any tenant: a login belongs to a person
    db: Database, *, login_id: str, step: int
) -> bool:
    """Whether no code of this step or a later one was used before."""
    return bool(
        await db.execute("update login set totp_step = $2 where login_id = $1 and totp_step < $2", login_id, step)
    )


async def insert_recovery_codes(  # any tenant: a login belongs to a person
    db: Database, *, login_id: str, digests: Sequence[bytes]
) -> None:
    """The codes that there were stop to work."""
    await db.execute("delete from login_recovery_code where login_id = $1", login_id)
    await db.execute(
        "insert into login_recovery_code (login_id, digest) select $1, unnest($2::bytea[])", login_id, list(digests)
    )


async def delete_recovery_code(  # any tenant: a login belongs to a person
    db: Database, *, login_id: str, digest: bytes
) -> bool:
    return bool(
        await db.execute("delete from login_recovery_code where login_id = $1 and digest = $2", login_id, digest)
    )


async def count_recovery_codes(  # any tenant: a login belongs to a person
    db: Database, *, login_id: str
) -> int:
    return await db.fetch_value("select count(*) from login_recovery_code where login_id = $1", login_id)


async def list_memberships(  # any tenant: a login belongs to a person
    db: Database, *, login_id: str
) -> list[Membership]:
    rows = await db.fetch(
        """select u.organization_id, u.user_id, o.display_name as organization_name, u.role
           from organization_user u join organization o using (organization_id)
           where u.login_id = $1 and u.active and u.removed_time is null
           order by u.last_login_time desc nulls last, o.display_name limit 100""",
        login_id,
    )
    return [Membership(**row) for row in rows]


async def update_user_login(db: Database, *, organization_id: str, user_id: str, login_id: str) -> bool:
    """Let the login act as this user; false where another login does already."""
    return bool(
        await db.execute(
            """update organization_user set login_id = $3
               where organization_id = $1 and user_id = $2 and removed_time is null
                 and (login_id is null or login_id = $3)""",
            *(organization_id, user_id, login_id),
        )
    )


async def update_user_emails(  # any tenant: a login belongs to a person
    db: Database, *, login_id: str, email: str, now: datetime
) -> None:
    """Raises Taken if an organization has another user with this address."""
    await db.execute(
        """update organization_user set email = $2, version = version + 1, updated_time = greatest($3, updated_time)
           where login_id = $1 and removed_time is null""",
        *(login_id, email, now),
    )


async def get_has_login(db: Database, *, organization_id: str, user_id: str) -> bool:
    return bool(
        await db.fetch_value(
            "select login_id is not null from organization_user where organization_id = $1 and user_id = $2",
            *(organization_id, user_id),
        )
    )


async def get_owner_email(db: Database, *, organization_id: str | None) -> str | None:
    """The address of an owner who can log in; of any organization without an id."""
    return await db.fetch_value(
        """select email from organization_user
           where ($1::text is null or organization_id = $1) and role = 'owner' and active and removed_time is null
             and login_id is not null
           order by created_time limit 1""",
        organization_id,
    )


async def list_failures(  # any tenant: a login belongs to a person
    db: Database, *, keys: Sequence[bytes], after: datetime
) -> dict[bytes, int]:
    rows = await db.fetch(
        "select key, failures from login_failure where key = any($1) and since > $2", list(keys), after
    )
    return {row["key"]: row["failures"] for row in rows}


async def insert_failures(  # any tenant: a login belongs to a person
    db: Database, *, keys: Sequence[bytes], now: datetime, after: datetime
) -> dict[bytes, int]:
    """Count one more for each key, from anew where the last count began before `after`."""
    rows = await db.fetch(
        """insert into login_failure as f (key, failures, since) select k, 1, $2 from unnest($1::bytea[]) k order by k
           on conflict (key) do update set failures = case when f.since > $3 then f.failures + 1 else 1 end,
             since = case when f.since > $3 then f.since else $2 end
           returning key, failures""",
        *(list(keys), now, after),
    )
    return {row["key"]: row["failures"] for row in rows}


async def update_failures(  # any tenant: a login belongs to a person
    db: Database, *, keys: Sequence[bytes]
) -> None:
    """Count one less for each key."""
    await db.execute(
        """with locked as (select key from login_failure where key = any($1) and failures > 0 order by key for update)
           update login_failure f set failures = failures - 1 from locked where f.key = locked.key""",
        list(keys),
    )


async def delete_failures(  # any tenant: a login belongs to a person
    db: Database, *, keys: Sequence[bytes]
) -> None:
    await db.execute("delete from login_failure where key = any($1)", list(keys))

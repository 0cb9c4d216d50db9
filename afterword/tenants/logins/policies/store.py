"""SQL of login policies."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, LiteralString

from afterword.kit.db import Database


@dataclass(frozen=True, slots=True)
class LoginPolicy:
    """Networks empty: from anywhere. Before one was set nothing is required, in version 1."""

    organization_id: str
    requires_second_factor: bool
    requires_provider: bool
    console_networks: list[str]
    token_networks: list[str]
    version: int
    updated_time: datetime | None
    updated_by: str | None


_COLUMNS: Final[
    LiteralString
] = """o.organization_id, coalesce(p.requires_second_factor, false) as requires_second_factor,
  coalesce(p.requires_provider, false) as requires_provider, coalesce(p.console_networks, '{}') as console_networks,
  coalesce(p.token_networks, '{}') as token_networks, coalesce(p.version, 0) + 1 as version, p.updated_time,
  p.updated_by"""


async def get_login_policy(db: Database, *, organization_id: str, is_locked: bool = False) -> LoginPolicy:
    """`is_locked`: the organization is, since there may be no policy yet."""
    lock: LiteralString = "for no key update of o" if is_locked else ""
    row = await db.fetch_one(
        f"""select {_COLUMNS} from organization o left join login_policy p on p.organization_id = o.organization_id
           where o.organization_id = $1 {lock}""",
        organization_id,
    )
    return LoginPolicy(**row)


async def update_login_policy(
    db: Database,
    *,
    organization_id: str,
    requires_second_factor: bool,
    requires_provider: bool,
    console_networks: Sequence[str],
    token_networks: Sequence[str],
    now: datetime,
    updated_by: str | None,
) -> None:
    await db.execute(
        """insert into login_policy as p (organization_id, requires_second_factor, requires_provider, console_networks,
             token_networks, updated_time, updated_by)
           values ($1, $2, $3, $4, $5, $6, $7)
           on conflict (organization_id) do update set (requires_second_factor, requires_provider, console_networks,
               token_networks, version, updated_time, updated_by)
             = (excluded.requires_second_factor, excluded.requires_provider, excluded.console_networks,
                excluded.token_networks, p.version + 1, excluded.updated_time, excluded.updated_by)""",
        *(organization_id, requires_second_factor, requires_provider, list(console_networks), list(token_networks)),
        *(now, updated_by),
    )

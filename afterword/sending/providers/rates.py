"""Buckets of recipient domains: made by a domain's first throttle, halved by the next, removed after recovery.

`channel_account.has_domain_rates` says whether an account has any.
"""

from collections.abc import Collection, Mapping
from typing import Final, LiteralString

import msgspec

from afterword.core.scheduling.lanes import AccountKey
from afterword.kit.db import Database
from afterword.kit.db.columns import arrays

DOMAIN_CHARACTERS_MAX: Final = 255
DomainKey = tuple[str, str, str]  # organization_id, account_id, domain
# The messages a second that account $2 of organization $1 accepted lately, $4 at least, by the newest $5 events.
ACCEPTED: Final[LiteralString] = """select greatest($4::float8, count(*) / greatest(1, least(10,
    extract(epoch from clock_timestamp() - min(e.created_time))))) as rate
  from (select organization_id, type, created_time, data, item from event order by xid desc, seq desc limit $5) e
  join pipeline p on p.organization_id = e.organization_id
    and p.pipeline_id = coalesce(e.data ->> 'pipeline_id', (e.item).pipeline_id)
  where e.organization_id = $1 and p.account_id = $2 and e.type = 'queue_item.sent'
    and e.created_time > now() - interval '10 seconds'"""


class Grant(msgspec.Struct, frozen=True):
    """The number of messages that may be sent to a domain now, and its rate a second."""

    count: int
    rate: float


async def count_domains(db: Database, *, account: AccountKey, domain: str) -> tuple[bool, int, int]:
    """Whether this domain has a bucket, the number of all, and that of others that throttled lately."""
    found = await db.fetch_one(
        """select coalesce(bool_or(domain = $3), false) as is_known, count(*) as total,
             count(*) filter (
               where domain <> $3 and throttled_time > now() - make_interval(secs => $4::float8)) as recent
           from domain_rate where organization_id = $1 and account_id = $2""",
        *account,
        domain,
        AT_ONCE_SECONDS,
    )
    return found["is_known"], found["total"], found["recent"]


async def insert_rate(db: Database, *, account: AccountKey, domain: str) -> None:
    """Insert a domain's rate after its first throttle: half of the rate at which it took mail in the last 10 s.

    That rate is its ceiling. The account notes that it has such domains.
    """
    await db.execute(
        f"""with accepted as (
             {ACCEPTED} and lower(split_part(coalesce(e.data ->> 'responder_channel_identifier',
               (e.item).responder_channel_identifier), '@', 2)) = $3),
           made as (
             insert into domain_rate (organization_id, account_id, domain, rate, rate_ceiling)
             select $1, $2, $3, accepted.rate * 0.5, accepted.rate from accepted
             on conflict (organization_id, account_id, domain) do nothing)
           update channel_account set has_domain_rates = true
           where organization_id = $1 and account_id = $2""",
        *account,
        domain,
        CEILING_MIN,
        SAMPLE_EVENTS,
    )


async def update_rate(db: Database, *, account: AccountKey, domain: str) -> None:
    """Halve the recovered rate after another throttle, at most once in PAUSE_SECONDS, and empty the bucket."""
    await db.execute(
        """update domain_rate
           set rate = least(rate_ceiling, greatest($5, 0.5 * (rate
                 + rate_ceiling * extract(epoch from now() - refilled_time)::float8 * 0.05 / 60))),
             tokens = least(tokens, 0), refilled_time = now(), throttled_time = now()
           where organization_id = $1 and account_id = $2 and domain = $3
             and throttled_time < now() - make_interval(secs => $4::float8)""",
        *account,
        domain,
        PAUSE_SECONDS,
        FLOOR,
    )


async def update_tokens(  # any tenant: a claimed batch serves many organizations
    db: Database, *, wanted: Mapping[DomainKey, int]
) -> Mapping[DomainKey, Grant]:
    """Take tokens, never more than there are; domains without a bucket are absent from the result.

    A bucket holds 10 s of its rate, at least one.
    """
    rows = await db.fetch(
        """with b as materialized (
             select * from unnest($1::text[], $2::text[], $3::text[], $4::int[])
               as b (organization_id, account_id, domain, wanted)),
           filled as (
             select d.organization_id, d.account_id, d.domain, b.wanted,
               extract(epoch from now() - d.refilled_time)::float8 as seconds,
               floor(least(greatest(1, d.rate * 10),
                 d.tokens + d.rate * extract(epoch from now() - d.refilled_time)::float8))::int as whole
             from b join domain_rate d
               on d.organization_id = b.organization_id and d.account_id = b.account_id and d.domain = b.domain
             order by d.organization_id, d.account_id, d.domain for no key update of d)
           update domain_rate d
           set tokens = least(greatest(1, d.rate * 10), d.tokens + d.rate * f.seconds)
                 - least(f.wanted, greatest(f.whole, 0)),
             rate = least(d.rate_ceiling, d.rate + d.rate_ceiling * f.seconds * 0.05 / 60), refilled_time = now()
           from filled f
           where d.organization_id = f.organization_id and d.account_id = f.account_id and d.domain = f.domain
           returning d.organization_id, d.account_id, d.domain, d.rate,
             least(f.wanted, greatest(f.whole, 0)) as count""",
        *arrays(((*key, count) for key, count in sorted(wanted.items())), 4),
    )
    return {
        (row["organization_id"], row["account_id"], row["domain"]): Grant(row["count"], row["rate"]) for row in rows
    }


async def prune_rates(db: Database, *, limit: int) -> list[AccountKey]:  # any tenant: a job for everyone
    """Remove buckets that were not throttled for so long and have their full rate again; the account of each."""
    return await db.fetch_tuples(
        """delete from domain_rate where (organization_id, account_id, domain) in (
             select organization_id, account_id, domain from domain_rate
             where throttled_time < now() - make_interval(secs => $1::float8)
               and rate + rate_ceiling * extract(epoch from now() - refilled_time)::float8 * 0.05 / 60 >= rate_ceiling
             order by throttled_time limit $2 for update skip locked)
           returning organization_id, account_id""",
        *(QUIET_SECONDS, limit),
    )


async def _update_accounts(db: Database, *, accounts: Collection[AccountKey]) -> None:  # any tenant: a job for everyone
    await db.execute(
        """update channel_account a set has_domain_rates = false
           where (a.organization_id, a.account_id) in (
             select c.organization_id, c.account_id from unnest($1::text[], $2::text[]) k (organization_id, account_id)
             join channel_account c using (organization_id, account_id)
             where c.has_domain_rates and not exists (
               select from domain_rate d where d.organization_id = c.organization_id and d.account_id = c.account_id)
             order by c.organization_id, c.account_id for no key update of c)""",
        *arrays(sorted(accounts), 2),
    )


DOMAINS_MAX: Final = 200  # of an account; if more throttle, the account is the cause
AT_ONCE_MAX: Final = 3  # domains that throttle within the next limit
AT_ONCE_SECONDS: Final = 60.0
CEILING_MIN: Final = 1.0  # messages a second, also where the measured rate was low
FLOOR: Final = 0.05  # messages a second: one every 20 s notices the end of the throttle
PAUSE_SECONDS: Final = 1.0  # throttles of messages in flight at the same time count once
SAMPLE_EVENTS: Final = 5_000
QUIET_SECONDS: Final = 600.0  # without a throttle, before a recovered bucket goes


async def slow_down(db: Database, *, account: AccountKey, domain: str) -> bool:
    """Halve the domain's rate; False if the account's must be: several domains at once, or too many in all."""
    domain = domain[:DOMAIN_CHARACTERS_MAX]
    is_known, total, recent = await count_domains(db, account=account, domain=domain)
    if recent >= AT_ONCE_MAX - 1 or (total >= DOMAINS_MAX and not is_known):
        return False
    await (update_rate if is_known else insert_rate)(db, account=account, domain=domain)
    return True


async def prune(db: Database, *, limit: int) -> int:
    """Remove the buckets of domains that have recovered; their number."""
    pruned = await prune_rates(db, limit=limit)
    if pruned:
        await _update_accounts(db, accounts=set(pruned))
    return len(pruned)

"""Buckets of recipient domains: made by a domain's first throttle, halved by the next, removed after recovery.

`channel_account.has_domain_rates` says whether an account has any.
"""

from collections.abc import Mapping
from typing import Final

from afterword.core.scheduling.lanes import AccountKey
from afterword.kit.db import Database
from afterword.sending.providers.rates import store
from afterword.sending.providers.rates.store import DomainKey, Grant

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
    organization_id, account_id = account
    key = {
        "organization_id": organization_id,
        "account_id": account_id,
        "domain": domain[: store.DOMAIN_CHARACTERS_MAX],
    }
    state = await store.count_domains(db, **key, seconds=AT_ONCE_SECONDS)
    if state.recent >= AT_ONCE_MAX - 1 or (state.total >= DOMAINS_MAX and not state.is_known):
        return False
    if state.is_known:
        await store.update_rate(db, **key, pause_seconds=PAUSE_SECONDS, floor=FLOOR)
    else:
        await store.insert_rate(db, **key, ceiling_min=CEILING_MIN, sample=SAMPLE_EVENTS)
    return True


async def take_tokens(db: Database, *, wanted: Mapping[DomainKey, int]) -> Mapping[DomainKey, Grant]:
    """Take the requested tokens, or as many as there are; domains without a bucket are absent from the result."""
    return await store.update_tokens(db, wanted=sorted(wanted.items())) if wanted else {}


async def prune(db: Database, *, limit: int) -> int:
    """Remove the buckets of domains that have recovered; their number."""
    count = await store.prune_rates(db, quiet_seconds=QUIET_SECONDS, limit=limit)
    if count:
        await store.update_accounts(db, limit=limit)
    return count

"""Rate limits by recipient domain: which claimed items pass, and when the others are due again."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta

from afterword.core.messaging.addresses import domain_of
from afterword.core.scheduling import retries
from afterword.core.scheduling.lanes import AccountKey, LaneKey
from afterword.kit.db import Database
from afterword.kit.transport.base import WEBHOOK
from afterword.kit.transport.http import host_of
from afterword.sending.providers import rates
from afterword.sending.providers.rates import DomainKey
from afterword.sending.queue.lanes import LaneSettings
from afterword.sending.queue.records import Claimed
from afterword.sending.queue.sending import outcomes
from afterword.sending.queue.sending.store import Settlement


async def within_rates(
    db: Database,
    *,
    items: Sequence[Claimed],
    settings: Mapping[LaneKey, LaneSettings],
    accounts: Collection[AccountKey],
    jitter: float,
) -> tuple[list[Claimed], list[Settlement]]:
    """Items within their domain's rate, in order, and releases of the others, spread over time; no attempt is counted.

    `accounts` are those with throttled domains; items of others are not looked at.
    """
    keys: dict[tuple[str, str], DomainKey] = {}
    for item in items:
        account = settings[item.lane].account
        domain = _domain_of(item, settings[item.lane]) if account in accounts else None
        if domain is not None:
            keys[item.key] = (*account, domain)
    grants = await rates.take_tokens(db, wanted=Counter(keys.values()))
    going: list[Claimed] = []
    over: list[Settlement] = []
    places: dict[DomainKey, int] = defaultdict(int)
    for item in items:
        key = keys.get(item.key)
        grant = grants.get(key) if key is not None else None
        if key is None or grant is None:
            going.append(item)
            continue
        places[key] += 1
        if places[key] <= grant.count:
            going.append(item)
            continue
        # The wait by the rate alone, but longer after each throttle, so that items do not return to an empty bucket.
        turn = timedelta(seconds=(places[key] - grant.count) / grant.rate)
        wait = max(turn, retries.throttle_wait(item.throttled + 1, jitter=1.0)) * jitter
        over.append(outcomes.overdrawn(item, key[2], wait=retries.clamped(wait.total_seconds())))
    return going, over


def _domain_of(item: Claimed, settings: LaneSettings) -> str | None:
    if settings.pipeline.channel_id == WEBHOOK:
        return host_of(settings.pipeline.target_url or "")
    return domain_of(item.responder_channel_identifier)

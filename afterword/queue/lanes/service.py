"""Keeps lanes open or closes them: settings remembered by version, tokens, throttled rates, the breaker, pauses."""

from collections.abc import Mapping, Sequence
from typing import Final

from afterword.core import retries
from afterword.core.lanes import AccountKey, LaneKey
from afterword.core.scheduling import Block
from afterword.db import Database
from afterword.queue.lanes import store
from afterword.queue.lanes.store import Lane, PausedAccount, Settings
from afterword.queue.rates import service as rates

LANES_KEPT_MAX: Final = 2_000
PAUSED_ACCOUNTS_MAX: Final = 1_000
RATE_CEILING_MIN: Final = 5.0  # messages a second; what was learned while hardly anything was sent must not stay so
RATE_PAUSE_SECONDS: Final = 1.0  # the messages that one throttle catches in flight are one throttle
RATE_SAMPLE_EVENTS: Final = 5_000


class SettingsCache:
    """The settings of the lanes that a process met lately, used only while the database has the same stamp."""

    def __init__(self) -> None:
        self.kept: dict[LaneKey, Settings] = {}

    def keep(self, found: Sequence[Settings]) -> None:
        """Remember these, and forget all when there are too many."""
        if len(self.kept) + len(found) > LANES_KEPT_MAX:
            self.kept.clear()
        self.kept.update({settings.key: settings for settings in found})


async def settings_of(db: Database, *, lanes: Sequence[LaneKey], cache: SettingsCache) -> Mapping[LaneKey, Settings]:
    """The settings of these lanes as they are now; only those that changed are read whole."""
    stamps = await store.list_stamps(db, lanes=lanes)
    changed = [key for key, stamp in stamps.items() if key not in cache.kept or cache.kept[key].stamp != stamp]
    if changed:
        cache.keep(await store.list_settings(db, lanes=changed))
    return {key: cache.kept[key] for key in stamps}


async def block_of(db: Database, *, lane: LaneKey) -> Block | None:  # noqa: PLR0911  one line for each answer
    """Why nobody claims from a lane at the moment, credits aside; None: its items go as they are due."""
    gate = await store.get_gate(db, organization_id=lane[0], pipeline_id=lane[1])
    if gate is None:
        return None
    if gate.paused:
        return Block("paused", "the pipeline is paused")
    if gate.paused_time is not None:
        why = f": {gate.paused_reason}" if gate.paused_reason else ""
        return Block("account_paused", f"the account that it is sent through waits for a person{why}")
    if gate.is_guarded:
        return Block("all_paused", "all sending is paused until the operator has looked")
    if not gate.has_way:
        return Block("no_account", "the organization has no account to send it by")
    if gate.open_until is not None:
        return Block("account_resting", "the provider does not answer", gate.open_until)
    return None


async def take_tokens(db: Database, *, claimed: Mapping[AccountKey, int]) -> None:
    """Take what was claimed out of the buckets of accounts with a rate; a bucket may go below zero."""
    if claimed:
        await store.update_tokens(db, claimed=sorted(claimed.items()))


async def win_probe(db: Database, *, lane: Lane) -> bool:
    """Whether we may send the one item that tries an account whose breaker has rested."""
    if lane.open_until is None:
        return True
    return await store.claim_probe(
        db,
        organization_id=lane.organization_id,
        account_id=lane.account_id,
        open_until=lane.open_until,
        seconds=retries.BREAKER_SECONDS,
    )


async def record_failure(db: Database, *, account: AccountKey, is_probe: bool, is_failing: bool) -> float:
    """Count a conversation with an account that failed; the seconds that it rests from now on, 0 for none.

    `is_probe`: it was the one item that tries a resting account. `is_failing`: half of the last conversations failed,
    which opens the breaker like five in a row.
    """
    organization_id, account_id = account
    failures = await store.update_failures(
        db, organization_id=organization_id, account_id=account_id, failures=1, is_probe=is_probe
    )
    if failures is None:
        return 0.0
    seconds = retries.breaker_seconds(max(failures, retries.BREAKER_FAILURES) if is_failing else failures)
    if seconds:
        await store.update_breaker(db, organization_id=organization_id, account_id=account_id, seconds=seconds)
    return seconds


async def record_success(db: Database, *, account: AccountKey) -> None:
    """A conversation worked: the breaker closes."""
    await store.update_to_healthy(db, organization_id=account[0], account_id=account[1])


async def slow_down(db: Database, *, account: AccountKey, domain: str | None = None) -> None:
    """The account was throttled: half its rate, at most once a second.

    Where one recipient domain throttled it, that alone goes slower; unless several do at once, which then speaks of us.
    """
    if domain is not None and await rates.slow_down(db, account=account, domain=domain):
        return
    await store.update_rate(
        db,
        organization_id=account[0],
        account_id=account[1],
        pause_seconds=RATE_PAUSE_SECONDS,
        ceiling_min=RATE_CEILING_MIN,
        sample=RATE_SAMPLE_EVENTS,
    )


async def pause(db: Database, *, account: AccountKey, reason: str) -> bool:
    """Our own login or trust is at fault: nothing is sent through it until a person looks; whether that is new."""
    return await store.update_to_paused(
        db, organization_id=account[0], account_id=account[1], reason=reason[: store.REASON_CHARACTERS_MAX]
    )


async def resume(db: Database, *, account: AccountKey) -> bool:
    """A person has looked: send through the account again; whether it was closed."""
    return await store.update_to_resumed(db, organization_id=account[0], account_id=account[1])


async def resume_all(db: Database) -> list[PausedAccount]:
    """Send again through every account that waits for a person: whoever calls this has looked."""
    paused = await store.list_paused_accounts(db, limit=PAUSED_ACCOUNTS_MAX)
    for account in paused:
        await resume(db, account=(account.organization_id, account.account_id))
    return paused

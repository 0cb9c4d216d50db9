"""Keeps provider accounts: their sealed settings, and which one a channel's pipelines send through."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import msgspec

from afterword import errors, ids, sealing
from afterword.channels import accounts as kinds
from afterword.channels.http import check_url
from afterword.core.messaging.networks import Network
from afterword.core.wire.site import Site
from afterword.db import Database
from afterword.providers import store
from afterword.providers.health import service as health
from afterword.providers.store import Account

SETTINGS_BYTES_MAX: Final = 50_000
SLOTS_MAX: Final = 200
RATE_MIN, RATE_MAX = 0.01, 10_000.0
STATUS_URL: Final = "status_url"


class InUse(errors.Conflict):
    """Pipelines send through the account."""

    code_default = "in_use"


@dataclass(frozen=True, slots=True)
class Opened:
    """The settings of an account that make its channel."""

    kind: str
    settings: Mapping[str, Any]
    version: int
    slots_max: int


async def add_account(
    db: Database,
    *,
    organization_id: str,
    kind: str,
    title: str | None,
    settings: Mapping[str, Any],
    is_default: bool,
    site: Site,
    now: datetime,
) -> tuple[Account, int]:
    """Add an account, as its channel's default if `is_default`; also the number of pipelines moved. Raises Invalid."""
    known = _checked(kind, settings, site.networks)
    _check_title(title)
    account_id = ids.ordered(now)
    key = {"organization_id": organization_id, "account_id": account_id}
    await store.insert_account(
        db,
        **key,
        channel_id=kinds.CHANNELS[known],
        kind=known,
        title=title,
        settings=_sealed(settings, site=site, **key),
        now=now,
    )
    moved = 0
    if is_default:
        moved = await store.update_default(db, **key, channel_id=kinds.CHANNELS[known])
    return await find_account(db, account_id=account_id), moved


async def find_account(db: Database, *, account_id: str) -> Account:
    """The account, locked; raises NotFound."""
    found = await store.get_account(db, account_id=account_id)
    if found is None:
        raise errors.NotFound("There is no account of this id. See: afterword account list")
    return found


async def change_account(
    db: Database,
    *,
    account_id: str,
    site: Site,
    title: str | None = None,
    settings: Mapping[str, Any] | None = None,
    slots_max: int | None = None,
    is_default: bool = False,
) -> tuple[Account, int]:
    """Write the given members; workers read them with their next claim. Raises NotFound, Invalid."""
    before = await find_account(db, account_id=account_id)
    key = {"organization_id": before.organization_id, "account_id": account_id}
    _check_title(title)
    if slots_max is not None and not 1 <= slots_max <= SLOTS_MAX:
        raise errors.Invalid(f"An account has 1 to {SLOTS_MAX} slots.")
    sealed = None
    if settings is not None:
        if before.kind == kinds.DEFAULT:
            raise errors.Invalid("This account is the installation's own way to send; it has no settings. Add another.")
        _checked(before.kind, settings, site.networks)
        sealed = _sealed(settings, site=site, **key)
    if title is not None or sealed is not None or slots_max is not None:
        await store.update_account(
            db, **key, title=title or before.title, settings=sealed, slots_max=slots_max or before.slots_max
        )
    moved = await store.update_default(db, **key, channel_id=before.channel_id) if is_default else 0
    return await find_account(db, account_id=account_id), moved


async def limit_rate(db: Database, *, account_id: str, rate: float | None) -> Account:
    """At most so many messages a second; null lifts the limit. Raises NotFound, Invalid."""
    account = await find_account(db, account_id=account_id)
    if rate is not None and not RATE_MIN <= rate <= RATE_MAX:
        raise errors.Invalid(f"A rate is {RATE_MIN:g} to {RATE_MAX:g} messages a second.")
    await store.update_ceiling(db, organization_id=account.organization_id, account_id=account_id, rate_ceiling=rate)
    return await find_account(db, account_id=account_id)


async def pause_account(db: Database, *, account_id: str, reason: str) -> Account:
    """Send nothing through it until it is resumed. Raises NotFound."""
    account = await find_account(db, account_id=account_id)
    await health.pause(db, account=(account.organization_id, account_id), reason=reason)
    return await find_account(db, account_id=account_id)


async def resume_account(db: Database, *, account_id: str) -> Account:
    """Send through it again: pause and breaker end. Raises NotFound."""
    account = await find_account(db, account_id=account_id)
    await health.resume(db, account=(account.organization_id, account_id))
    return await find_account(db, account_id=account_id)


async def remove_account(db: Database, *, account_id: str) -> Account:
    """Remove an account that no pipeline sends through. Raises NotFound, InUse."""
    account = await find_account(db, account_id=account_id)
    if not await store.delete_account(db, organization_id=account.organization_id, account_id=account_id):
        raise InUse("Pipelines send through it. Make another one of its channel the default, which moves them.")
    return account


async def open_account(db: Database, *, organization_id: str, account_id: str, site: Site) -> Opened | None:
    """The settings of an account for a channel; None without an account or settings of its own.

    Raises `sealing.Unreadable` where the settings were sealed with another secret.
    """
    found = await store.get_sealed(db, organization_id=organization_id, account_id=account_id)
    if found is None:
        return None
    kind, sealed, version, slots_max, inbound_id = found
    settings = _unsealed(sealed, site=site, organization_id=organization_id, account_id=account_id)
    if inbound_id is not None and kind in kinds.CALLED_BACK and not settings.get(STATUS_URL):
        settings[STATUS_URL] = site.inbound_url(inbound_id)
    return Opened(kind, settings, version, slots_max)


def settings_of(account: Account, *, site: Site) -> dict[str, Any]:
    """An account's settings in the clear; raises `sealing.Unreadable`."""
    if account.settings is None:
        return {}
    return _unsealed(
        account.settings, site=site, organization_id=account.organization_id, account_id=account.account_id
    )


def _checked(kind: str, settings: Mapping[str, Any], networks: Sequence[Network]) -> kinds.Kind:
    known = kinds.kind_of(kind)
    if known is None:
        raise errors.Invalid(f"An account is one of {', '.join(kinds.CHANNELS)}.")
    try:
        kinds.check(known, settings)
    except ValueError as error:
        raise errors.Invalid(f"The settings of this {kind} account cannot be used: {error}") from None
    for url in kinds.urls_of(known, settings):
        wrong = check_url(url, networks)
        if wrong is not None:
            raise errors.Invalid(f"The url of this {kind} account cannot be used: {wrong}")
    if len(msgspec.json.encode(settings)) > SETTINGS_BYTES_MAX:
        raise errors.Invalid(f"The settings of an account have at most {SETTINGS_BYTES_MAX} bytes.")
    return known


def _check_title(title: str | None) -> None:
    if title is not None and not 1 <= len(title) <= store.TITLE_CHARACTERS_MAX:
        raise errors.Invalid(f"A title has 1 to {store.TITLE_CHARACTERS_MAX} characters.")


def _sealed(settings: Mapping[str, Any], *, site: Site, organization_id: str, account_id: str) -> bytes:
    text = msgspec.json.encode(settings).decode()
    return sealing.seal(text, secret=site.secret, context=_context(organization_id, account_id))


def _unsealed(sealed: bytes, *, site: Site, organization_id: str, account_id: str) -> dict[str, Any]:
    text = sealing.unseal(sealed, secret=site.secret, context=_context(organization_id, account_id))
    return msgspec.json.decode(text, type=dict[str, Any])


def _context(organization_id: str, account_id: str) -> str:
    return f"account:{organization_id}:{account_id}"

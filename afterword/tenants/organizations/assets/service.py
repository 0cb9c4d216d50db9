"""Keeps pictures, within the limits of an organization, and deletes those that nothing uses."""

import hashlib
from datetime import datetime
from typing import Final

from afterword import errors, ids
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires.visuals import read_address
from afterword.kit.db import Database
from afterword.tenants.organizations.assets import store
from afterword.tenants.organizations.assets.encoding import Encoded
from afterword.tenants.organizations.assets.store import Asset

ASSETS_MAX: Final = 2_000  # of an organization
BYTES_MAX: Final = 100_000_000  # of all of them
USES_NAMED_MAX: Final = 5
VERSION: Final = 1  # a picture never changes


async def get(db: Database, *, caller: Caller, asset_id: str, is_locked: bool = False) -> Asset:
    found = await store.get_asset(db, organization_id=caller.organization_id, asset_id=asset_id, is_locked=is_locked)
    return errors.found(found, "There is no such picture.")


async def keep(db: Database, *, caller: Caller, picture: Encoded, title: str | None, now: datetime) -> Asset:
    """Store a picture, or return the one that is there with the same bytes. Raises Invalid `too_many`."""
    organization_id = caller.organization_id
    content_hash = hashlib.sha256(picture.content).digest()
    count, size = await store.get_total_locked(db, organization_id=organization_id)
    same = await store.get_asset_by_hash(db, organization_id=organization_id, content_hash=content_hash)
    if same is not None:
        return same
    if count >= ASSETS_MAX or size + len(picture.content) > BYTES_MAX:
        message = f"An organization has at most {ASSETS_MAX:,} pictures of {BYTES_MAX:,} bytes. Delete some first."
        raise errors.Invalid.at("", "too_many", message)
    return await store.insert_asset(
        db,
        organization_id=organization_id,
        asset_id=ids.ordered(now),
        title=title,
        picture=picture,
        content_hash=content_hash,
        now=now,
        by=caller.actor_id or None,
    )


async def delete(db: Database, *, caller: Caller, asset_id: str, expect: errors.Expect = errors.ANY) -> None:
    """Raises NotFound, Forbidden, Conflict `in_use` with names of what uses it, and what `expect` raises."""
    asset = await get(db, caller=caller, asset_id=asset_id, is_locked=True)
    expect(VERSION)
    caller.require_whole()
    uses = await uses_of(db, asset=asset)
    if uses:
        raise errors.Conflict(f"The picture is in use: {', '.join(uses)}.", "in_use")
    await store.delete_asset(db, organization_id=asset.organization_id, asset_id=asset_id)


async def uses_of(db: Database, *, asset: Asset) -> list[str]:
    return await store.list_uses(db, organization_id=asset.organization_id, path=asset.path, limit=USES_NAMED_MAX)


async def require(db: Database, *, organization_id: str, address: str | None, pointer: str) -> None:
    """Raise Invalid where `address` names no picture of the organization. One that it has stays until the commit."""
    picture = read_address(address or "")
    if picture is None:
        return
    found = await store.get_asset(db, organization_id=organization_id, asset_id=picture.asset_id, is_locked=True)
    if found is None or found.path != address:
        raise errors.Invalid.at(pointer, "unknown_id", "There is no such picture.")

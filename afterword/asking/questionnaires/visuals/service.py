"""Creates, changes, activates and deletes visuals."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

import msgspec

from afterword import errors, ids
from afterword.asking.questionnaires import access
from afterword.asking.questionnaires.visuals import store
from afterword.asking.questionnaires.visuals.store import Visual
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires import visuals
from afterword.core.questionnaires.visuals import read_address
from afterword.core.wire.lists import Page, Rows
from afterword.kit.db import Database
from afterword.tenants.organizations.assets import service as assets
from afterword.tenants.organizations.assets import store as assets_store

CONFIGURATION_BYTES_MAX: Final = 64 << 10
VISUALS_MAX: Final = 100  # of a questionnaire

_text: Final = msgspec.json.encode


async def get(db: Database, *, caller: Caller, questionnaire_id: str, visual_id: str) -> Visual:
    await access.get(db, caller=caller, questionnaire_id=questionnaire_id)
    return await _told(db, await _visual(db, caller=caller, questionnaire_id=questionnaire_id, visual_id=visual_id))


async def list_of(db: Database, *, caller: Caller, questionnaire_id: str, page: Page) -> Rows[Visual]:
    """Raises NotFound."""
    await access.get(db, caller=caller, questionnaire_id=questionnaire_id)
    key = {"organization_id": caller.organization_id}
    rows = await store.list_visuals(db, **key, questionnaire_id=questionnaire_id, page=page)
    pictures = await _pictures(db, rows.items)
    return rows.map(lambda visual: _judged(visual, pictures))


async def layers(db: Database, *, caller: Caller, questionnaire_id: str) -> store.Layers:
    """Raises NotFound."""
    questionnaire = await access.get(db, caller=caller, questionnaire_id=questionnaire_id)
    return errors.found(await store.get_layers(db, **questionnaire.key), "There is no such questionnaire.")


async def create(
    db: Database, *, caller: Caller, questionnaire_id: str, columns: Mapping[str, Any], now: datetime
) -> Visual:
    """Create a visual of these columns; an active one deactivates the other. Raises NotFound, Invalid."""
    # The lock lets one transaction at a time change a questionnaire's visuals, so that only one is active.
    questionnaire = await access.lock(db, caller=caller, questionnaire_id=questionnaire_id)
    key = questionnaire.key
    new: dict[str, Any] = {**key, **columns}
    await check(db, caller=caller, configuration=columns["configuration"])
    if await store.count_visuals(db, **key) >= VISUALS_MAX:
        raise errors.Invalid.at("", "too_many", f"A questionnaire has at most {VISUALS_MAX} visuals.")
    if columns["active"]:
        await store.update_to_inactive(db, **key, now=now, by=caller.actor_id)
    made = await store.insert_visual(db, **new, visual_id=ids.ordered(now), now=now, by=caller.actor_id)
    return await _told(db, made)


async def change(
    db: Database,
    *,
    caller: Caller,
    questionnaire_id: str,
    visual_id: str,
    columns: Mapping[str, Any],
    expect: errors.Expect = errors.ANY,
    now: datetime,
) -> Visual:
    """Set these columns; activation deactivates the other visual. Raises NotFound, Stale, Invalid."""
    await access.lock(db, caller=caller, questionnaire_id=questionnaire_id)
    before = await _visual(db, caller=caller, questionnaire_id=questionnaire_id, visual_id=visual_id)
    expect(before.version)
    if "configuration" in columns:
        await check(db, caller=caller, configuration=columns["configuration"])
    # Compared as texts, because the order of a configuration's keys counts.
    changed = {name: value for name, value in columns.items() if _text(value) != _text(getattr(before, name))}
    if not changed:
        return await _told(db, before)
    key = {"organization_id": before.organization_id}
    if changed.get("active"):
        await store.update_to_inactive(db, **key, questionnaire_id=questionnaire_id, now=now, by=caller.actor_id)
    after = await store.update_visual(db, **key, visual_id=visual_id, **changed, now=now, by=caller.actor_id)
    return await _told(db, after)


async def delete(
    db: Database, *, caller: Caller, questionnaire_id: str, visual_id: str, expect: errors.Expect = errors.ANY
) -> None:
    await access.lock(db, caller=caller, questionnaire_id=questionnaire_id)
    before = await _visual(db, caller=caller, questionnaire_id=questionnaire_id, visual_id=visual_id)
    expect(before.version)
    await store.delete_visual(db, organization_id=before.organization_id, visual_id=visual_id)


async def check(db: Database, *, caller: Caller, configuration: Mapping[str, object]) -> None:
    """Raise Invalid for a configuration that is too large. It may hold anything: see `visuals.problems`.

    A picture that it names stays until the transaction ends.
    """
    if len(_text(configuration)) > CONFIGURATION_BYTES_MAX:
        message = f"A configuration has at most {CONFIGURATION_BYTES_MAX:,} bytes."
        raise errors.Invalid.at("/configuration", "too_long", message)
    theme, _ = visuals.read(configuration)
    with suppress(errors.Invalid):  # there is none: the page shows the name instead
        await assets.require(db, organization_id=caller.organization_id, address=theme.logo, pointer="/configuration")


async def _told(db: Database, visual: Visual) -> Visual:
    return _judged(visual, await _pictures(db, [visual]))


async def _pictures(db: Database, found: Sequence[Visual]) -> set[str]:
    """Of the pictures that these visuals name those that there are, by address."""
    named = {picture.asset_id for each in found if (picture := read_address(_logo(each))) is not None}
    if not named:
        return set()
    return await assets_store.list_asset_paths(db, organization_id=found[0].organization_id, asset_ids=sorted(named))


def _judged(visual: Visual, pictures: Collection[str]) -> Visual:
    logo = _logo(visual)
    return replace(visual, lacks_picture=read_address(logo) is not None and logo not in pictures)


def _logo(visual: Visual) -> str:
    return visuals.read(visual.configuration)[0].logo or ""


async def _visual(db: Database, *, caller: Caller, questionnaire_id: str, visual_id: str) -> Visual:
    visual = await store.get_visual(
        db, organization_id=caller.organization_id, questionnaire_id=questionnaire_id, visual_id=visual_id
    )
    return errors.found(visual, "There is no such visual.")

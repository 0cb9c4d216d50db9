"""Settings of lanes, cached by version; the blocks that close lanes; tokens taken from rate buckets."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from afterword.asking.questionnaires import store as questionnaires_store
from afterword.asking.questionnaires.store import Version
from afterword.core.scheduling.decisions import Block
from afterword.core.scheduling.lanes import AccountKey, LaneKey
from afterword.core.text import locales
from afterword.kit.db import Database
from afterword.sending.messages.context import MessageContext
from afterword.sending.queue.lanes import store
from afterword.sending.queue.lanes.store import LaneBlock, LaneSettings

LANES_KEPT_MAX: Final = 2_000


class SettingsCache:
    """The settings of lanes that a process used lately, valid while the database has the same fingerprint."""

    def __init__(self) -> None:
        self.kept: dict[LaneKey, LaneSettings] = {}

    def keep(self, found: Sequence[LaneSettings]) -> None:
        if len(self.kept) + len(found) > LANES_KEPT_MAX:
            self.kept.clear()
        self.kept.update({settings.key: settings for settings in found})


async def settings_of(
    db: Database, *, lanes: Sequence[LaneKey], cache: SettingsCache
) -> Mapping[LaneKey, LaneSettings]:
    """The settings of these lanes as they are now; only those that changed are read whole."""
    found = await store.list_fingerprints(db, lanes=lanes)
    changed = [key for key, now in found.items() if key not in cache.kept or cache.kept[key].fingerprint != now]
    if changed:
        cache.keep(await store.list_settings(db, lanes=changed))
    return {key: cache.kept[key] for key in found}


async def get_published(db: Database, *, lane: LaneKey) -> tuple[LaneSettings, Version]:
    """The settings of a lane as they are now, and the published version. Raises NotFound where there is none."""
    [settings] = await store.list_settings(db, lanes=[lane])
    version_id = settings.fingerprint.published_version_id or ""
    return settings, await questionnaires_store.get_version(db, organization_id=lane[0], version_id=version_id)


def locale_of(settings: LaneSettings, version: Version, item_locale: str | None, person_locale: str | None) -> str:
    """The language of a message: the item's, the pipeline's or the person's, if the questionnaire has it."""
    definition = version.definition
    wanted = item_locale or settings.pipeline.locale or person_locale
    return locales.match(wanted, definition.locales, definition.default_locale)


def context_of(settings: LaneSettings, **members: Any) -> MessageContext:
    """The context of a message of the lane; `members` are those of the item."""
    return MessageContext(
        pipeline=settings.pipeline,
        organization_name=settings.organization_name,
        postal_address=settings.postal_address,
        theme=settings.theme,
        questionnaire_name=settings.questionnaire_name,
        sender_domains=settings.fingerprint.sender_domains or (),
        time_zone=settings.zone_name,
        **members,
    )


async def block_of(db: Database, *, lane: LaneKey) -> Block | None:
    """The reason that closes a lane now, credits aside; None: its items go when they are due."""
    found = await store.get_lane_block(db, organization_id=lane[0], pipeline_id=lane[1])
    return None if found is None else reason_of(found)


def reason_of(found: LaneBlock) -> Block | None:
    if found.paused:
        return Block("paused", "the pipeline is paused")
    if found.paused_time is not None:
        why = f": {found.paused_reason}" if found.paused_reason else ""
        return Block("account_paused", f"the account that it is sent through waits for a person{why}")
    if found.is_guarded:
        return Block("all_paused", "all sending is paused until the operator has looked")
    if not found.has_channel:
        return Block("no_account", "the organization has no account to send it by")
    if found.open_until is not None:
        return Block("account_resting", "the provider does not answer", found.open_until)
    return None


async def take_tokens(db: Database, *, claimed: Mapping[AccountKey, int]) -> None:
    """Take what was claimed out of the buckets of accounts with a rate; a bucket may go below zero."""
    if claimed:
        await store.update_tokens(db, claimed=sorted(claimed.items()))

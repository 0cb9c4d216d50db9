"""Issues, changes and deletes questionnaire instances, and records what became of them."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final, Literal

import msgspec

from afterword import errors
from afterword.asking.instances import responders as instance_responders, store
from afterword.asking.instances.store import Instance
from afterword.asking.questionnaires import store as questionnaires_store
from afterword.core.answers import instances
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires.metadata import NAMES_MAX, Changes, merge
from afterword.core.text import locales
from afterword.events import service as events
from afterword.events.service import NewEvent
from afterword.kit.db import Database
from afterword.kit.db.columns import arrays
from afterword.people.responders import service as responders
from afterword.tenants.organizations import retention as holds

NO_INSTANCE: Final = "There is no such questionnaire instance."
TimeKind = Literal["sent", "delivered", "bounced", "processed", "flow"]


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """The members of a PATCH; None leaves one unchanged. Null or empty metadata are removed."""

    responder_id: str | None = None
    locale: str | None = None
    valid_days: int | None = None
    editable: bool | None = None
    metadata: Changes = msgspec.field(default_factory=Changes)
    is_strict: bool = False  # refuse a language that the questionnaire lacks


async def get(db: Database, *, caller: Caller, instance_id: str, is_locked: bool = False) -> Instance:
    found = await store.get_instance(db, **caller.sight, instance_id=instance_id, is_locked=is_locked)
    return errors.found(found, NO_INSTANCE)


async def settle_times(  # any tenant: workers serve many organizations
    db: Database, kind: TimeKind, *, times: Mapping[tuple[str, str], datetime], now: datetime
) -> int:
    """Set a time of these instances, by organization and instance, once; returns the number of those set.

    Kinds: their first message was sent, delivered or bounced, the alerts processed their completion, a sequence queued
    items.
    """
    return await db.execute(
        """update questionnaire_instance i
           set sent_time = coalesce(i.sent_time, case when $4 = 'sent' then b.time end),
             delivered_time = coalesce(i.delivered_time, case when $4 = 'delivered' then b.time end),
             bounced_time = coalesce(i.bounced_time, case when $4 = 'bounced' then b.time end),
             processed_time = coalesce(i.processed_time, case when $4 = 'processed' then b.time end),
             flow_time = coalesce(i.flow_time, case when $4 = 'flow' then b.time end),
             version = i.version + 1, updated_time = greatest(i.updated_time, $5)
           from unnest($1::text[], $2::text[], $3::timestamptz[]) as b (organization_id, instance_id, time)
           where i.organization_id = b.organization_id and i.instance_id = b.instance_id
             and case $4 when 'sent' then i.sent_time when 'delivered' then i.delivered_time
               when 'bounced' then i.bounced_time when 'processed' then i.processed_time
               else i.flow_time end is null""",
        *arrays(times, 2),
        *(list(times.values()), kind, now),
    )


async def update(
    db: Database, *, caller: Caller, instance_id: str, change: Change, now: datetime, expect: errors.Expect = errors.ANY
) -> Instance:
    """Apply a PATCH; without an effect, `updated_time` and version stay.

    `expect` (of `If-Match`) is called with the version of the locked row and may raise Stale. Raises NotFound, Invalid
    (`unknown_id`, `too_many`, of a strict change also `unknown_value`), and Held for another person.
    """
    before = await _expected(db, caller=caller, instance_id=instance_id, expect=expect)
    if change.responder_id is not None and change.responder_id != before.responder_id:
        await instance_responders.require_seen(db, caller=caller, responder_id=change.responder_id)
        key = {"organization_id": before.organization_id, "responder_id": before.responder_id}
        await holds.require_may_move(db, **key)
    after = await store.update_instance(
        db,
        organization_id=before.organization_id,
        instance_id=instance_id,
        responder_id=change.responder_id,
        locale=await _matched(db, instance=before, change=change),
        valid_days=change.valid_days,
        editable=False if before.anonymity else change.editable,
        metadata_set=merge({}, change.metadata.questionnaire),
        metadata_removed=[name for name, value in change.metadata.questionnaire.items() if not value],
        now=now,
        updated_by=caller.actor_id,
    )
    if after is None:
        after = await get(db, caller=caller, instance_id=instance_id)
    else:
        if len(after.metadata) > NAMES_MAX:
            raise errors.Invalid.at("/metadata", "too_many", f"An instance keeps at most {NAMES_MAX} names.")
        if after.valid_days not in {0, before.valid_days}:
            await store.insert_expiry_cursor(db, valid_days=after.valid_days, since=now)
        await events.record(db, events=_events(before, after, caller=caller, now=now))
    if change.metadata.responder:
        await instance_responders.require_whole(db, caller=caller, responder_id=after.responder_id)
        merged = responders.Change(metadata=change.metadata.responder)
        key = {"organization_id": after.organization_id, "responder_id": after.responder_id}
        await responders.update(db, **key, change=merged, now=now, actor=responders.Actor.of(caller))
    return after


async def delete(
    db: Database, *, caller: Caller, instance_id: str, now: datetime, expect: errors.Expect = errors.ANY
) -> None:
    """Mark the instance and its answers as deleted; raises NotFound, Held and the errors of `expect`."""
    before = await _expected(db, caller=caller, instance_id=instance_id, expect=expect)
    await holds.require_not_held(db, organization_id=before.organization_id, responder_id=before.responder_id)
    await take_out(db, caller=caller, instance=before, now=now)


async def take_out(db: Database, *, caller: Caller, instance: Instance, now: datetime) -> None:
    """Delete as `delete` does, whether or not a legal hold has come meanwhile. Raises NotFound."""
    found = await store.delete_instance(db, **instance.key, now=now, updated_by=caller.actor_id)
    deleted = errors.found(found, NO_INSTANCE)
    await events.record(db, events=[deleted.event("deleted", now=now, caller=caller)])


async def _expected(db: Database, *, caller: Caller, instance_id: str, expect: errors.Expect = errors.ANY) -> Instance:
    # Without the lock another PATCH could commit between this read and the write.
    instance = await get(db, caller=caller, instance_id=instance_id, is_locked=expect is not errors.ANY)
    expect(instance.version)
    return instance


async def update_language(db: Database, *, organization_id: str, instance_id: str, locale: str, now: datetime) -> None:
    await db.execute(
        """update questionnaire_instance
           set locale = $3, version = version + 1, updated_time = greatest(updated_time, $4)
           where organization_id = $1 and instance_id = $2 and deleted_time is null""",
        *(organization_id, instance_id, locale, now),
    )


async def _matched(db: Database, *, instance: Instance, change: Change) -> str | None:
    """The best matching language of the instance's version; raises Invalid if strict and none matches."""
    if change.locale is None:
        return None
    version = await questionnaires_store.get_version(db, **instance.version_key)
    found = locales.match(change.locale, version.definition.locales, version.definition.default_locale)
    if change.is_strict and not locales.is_same_language(change.locale, found):
        there_are = ", ".join(version.definition.locales)
        message = f"The questionnaire is not written in this language. There are: {there_are}."
        raise errors.Invalid.at("/locale", "unknown_value", message)
    return found


def _events(before: Instance, after: Instance, *, caller: Caller, now: datetime) -> list[NewEvent]:
    """The events of a PATCH: updated, and reopened or expired if its `valid_days` changed that."""
    was_over, is_over = instances.is_expired(before, now), instances.is_expired(after, now)
    kinds = ["updated"]
    if was_over and not is_over:
        kinds.append("reopened")
    if is_over and not was_over and not after.is_over:
        kinds.append("expired")
    return [after.event(kind, now=now, caller=caller) for kind in kinds]

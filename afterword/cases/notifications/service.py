"""Notifications: a reader of the event log inserts them, and users subscribe to types and things."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, NoReturn, cast

from afterword import errors, ids
from afterword.cases.notifications import store, words
from afterword.cases.notifications.store import Notification, Recipient, Subject, Subscription, Watch
from afterword.core.messaging import notices
from afterword.core.messaging.notices import Digest, NoticeChannels
from afterword.core.organizations.access import Caller
from afterword.errors import FieldError
from afterword.events import service as events
from afterword.events.service import Event
from afterword.kit.db import Database
from afterword.tenants import mails
from afterword.tenants.mails import MailKey

READER: Final = "notifications"
WATCHES_MAX: Final = 500


@dataclass(frozen=True, slots=True)
class _PendingNotice:
    event: Event
    subject: Subject
    recipient: Recipient
    channels: NoticeChannels


async def notify_next(db: Database, *, now: datetime, limit: int) -> int:
    """Read the next `limit` events of the log and notify users; return the count of events passed.

    A smaller count than `limit` means that there are no more. Users are not notified of their own changes, of events
    that their role or applications do not allow, or of test data.
    """
    types = notices.FEW_TYPES | (notices.MASS_TYPES & set(await store.list_chosen_types(db)))
    return await events.handle_next(
        db, reader=READER, types=types, limit=limit, handle=lambda read: _handle(db, read, now=now)
    )


async def _handle(db: Database, read: Sequence[Event], *, now: datetime) -> None:
    oldest = now - timedelta(days=notices.AGE_DAYS_MAX)
    fresh = [event for event in read if not event.test and event.created_time >= oldest]
    pending = await _pending_notices(db, fresh) if fresh else []
    if pending:
        await _write(db, pending, now=now)


async def get(db: Database, *, caller: Caller, notification_id: str) -> Notification:
    """The caller's own notification. Raises NotFound, also for test tokens: none is about a test."""
    found = (
        caller.user_id
        and not caller.test
        and await store.get_notification(
            db, organization_id=caller.organization_id, user_id=caller.user_id, notification_id=notification_id
        )
    )
    return found or _refuse_unknown("There is no such notification.")


async def mark_read(
    db: Database,
    *,
    caller: Caller,
    notification_id: str,
    read: bool | None,
    now: datetime,
    expect: errors.Expect = errors.ANY,
) -> Notification:
    before = await get(db, caller=caller, notification_id=notification_id)
    expect(before.version)
    if read is None:
        return before
    after = await store.update_read(
        db,
        organization_id=before.organization_id,
        user_id=before.user_id,
        notification_id=notification_id,
        read_time=now if read else None,
    )
    return after or before


async def get_subscription(db: Database, *, caller: Caller) -> tuple[Subscription, list[Watch]]:
    """The caller's subscription and watched things. Raises NotFound for a token without a user."""
    subscription = caller.user_id and await store.get_subscription(
        db, organization_id=caller.organization_id, user_id=caller.user_id
    )
    if not subscription:
        _refuse_unknown("This token belongs to no user, so there is nobody to notify.")
    watches = await store.list_watches(
        db, organization_id=caller.organization_id, user_id=subscription.user_id, limit=WATCHES_MAX
    )
    return subscription, watches


async def subscribe(
    db: Database,
    *,
    caller: Caller,
    types: Mapping[str, Mapping[str, bool]],
    watches: Sequence[Watch],
    digest: Digest,
    now: datetime,
    expect: errors.Expect = errors.ANY,
) -> tuple[Subscription, list[Watch]]:
    """Replace the caller's whole subscription. Raises NotFound, Invalid, and what `expect` raises."""
    before, _ = await get_subscription(db, caller=caller)
    expect(before.version)
    distinct = list(dict.fromkeys(watches))
    wrong = [
        FieldError("unknown_value", "There are no events of this type.", pointer=f"/types/{name}")
        for name in types
        if name not in notices.TYPES
    ]
    known = await store.list_entities(db, **caller.part, among=distinct)
    wrong += [
        FieldError("unknown_id", "There is nothing with this id.", pointer=f"/watches/{position}/entity_id")
        for position, watch in enumerate(watches)
        if watch not in known
    ]
    errors.check(wrong)
    key = {"organization_id": caller.organization_id, "user_id": before.user_id}
    await store.update_subscription(db, **key, types=types, digest=digest, now=now)
    await store.delete_watches(db, **key)
    await store.insert_watches(db, **key, watches=distinct)
    return await get_subscription(db, caller=caller)


async def _pending_notices(db: Database, read: Sequence[Event]) -> list[_PendingNotice]:
    about = [
        (event.organization_id, event.questionnaire_id, event.data.get("alert_id"), event.data.get("application_id"))
        for event in read
    ]
    subjects = await store.list_subjects(db, about=about)
    entities = [
        (position, event.organization_id, entity, entity_id)
        for position, (event, subject) in enumerate(zip(read, subjects, strict=True))
        for entity, entity_id in _entities_of(event, subject)
    ]
    found: list[_PendingNotice] = []
    for recipient in await store.list_recipients(db, about=entities):
        event, subject = read[recipient.position], subjects[recipient.position]
        channels = notices.channels_of(event.type, recipient.types)
        is_own = event.actor_kind == "user" and event.actor_id == recipient.user_id
        if event.type == "alert_instance.commented" and recipient.user_id in event.data.get("mentioned_user_ids", ()):
            continue  # the notice of the mention says it
        may = notices.may_see(
            event.type,
            role=recipient.role,
            application_ids=recipient.application_ids,
            application_id=subject.application_id,
        )
        if channels.any and may and not is_own:
            found.append(_PendingNotice(event, subject, recipient, channels))
    return found


def _entities_of(event: Event, subject: Subject) -> list[tuple[str, str]]:
    """The entities of an event; users who watch one of them are notified."""
    if event.type == "alert_instance.mentioned":
        return [("assignee", user_id) for user_id in event.data["mentioned_user_ids"]]
    found: list[tuple[str, str | None]] = [
        ("organization", event.organization_id),
        ("application", subject.application_id),
        ("questionnaire", event.questionnaire_id),
    ]
    if event.type.startswith("alert_instance."):
        assignee = cast("str | None", event.data.get("assigned_user_id"))
        found += [
            ("alert", event.data["alert_id"]),
            ("subscribers", event.data["alert_id"]),
            ("assignee", assignee),
            ("user", assignee),
        ]
    if event.type.startswith("user."):
        found.append(("user", event.subject_id))
    return [(entity, entity_id) for entity, entity_id in found if entity_id is not None]


async def _write(db: Database, pending: Sequence[_PendingNotice], *, now: datetime) -> None:
    due = {position: _mail_key(one, now=now) for position, one in enumerate(pending) if one.channels.email}
    mail_ids = await mails.schedule(db, keys=due.values(), now=now)
    texts_by_key: dict[tuple[str, str, str, str], tuple[str, str, str | None]] = {}
    written: list[Notification] = []
    for position, one in enumerate(pending):
        event, recipient = one.event, one.recipient
        key = event.organization_id, event.event_id, recipient.locale, recipient.time_zone
        if key not in texts_by_key:
            texts_by_key[key] = words.notice(
                event.type, data=event.data, subject=one.subject, locale=recipient.locale, time_zone=recipient.time_zone
            )
        title, body, link = texts_by_key[key]
        made_time = now + timedelta(microseconds=position)  # apart, so that a list has the order of their events
        written.append(
            Notification(
                organization_id=event.organization_id,
                notification_id=ids.ordered(made_time),
                user_id=recipient.user_id,
                event_id=event.event_id,
                type=event.type,
                title=title,
                body=body,
                link=link,
                web=one.channels.web,
                mail_id=mail_ids[due[position]] if position in due else None,
                read_time=None,
                version=1,
                created_time=made_time,
            )
        )
    await store.insert_notifications(db, notifications=written)


def _mail_key(one: _PendingNotice, *, now: datetime) -> MailKey:
    recipient = one.recipient
    due_time = notices.mail_time(now, digest=cast("Digest", recipient.digest), time_zone=recipient.time_zone)
    return recipient.organization_id, recipient.user_id, due_time.astimezone(UTC)


def _refuse_unknown(message: str) -> NoReturn:
    raise errors.NotFound(message)

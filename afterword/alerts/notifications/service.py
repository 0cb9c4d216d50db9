"""Who is told of what: a reader of the event log writes notifications, users choose what they hear."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NoReturn, cast

from afterword import errors, ids
from afterword.alerts.mails import service as mails
from afterword.alerts.mails.service import MailKey
from afterword.alerts.notifications import store, words
from afterword.alerts.notifications.store import Notification, Recipient, Subject, Subscription, Watch
from afterword.core.messaging import notices
from afterword.core.messaging.notices import Digest, NoticeChannels
from afterword.core.organizations.access import Caller
from afterword.db import Database
from afterword.errors import FieldError
from afterword.events import service as events
from afterword.events.service import Event

READER: Final = "notifications"
WATCHES_MAX: Final = 500

Expect = Callable[[int], None]  # is given the version of a row, raises Stale


@dataclass(frozen=True, slots=True)
class _Told:
    """An event, a user who hears of it, and how."""

    event: Event
    subject: Subject
    recipient: Recipient
    ways: NoticeChannels


async def notify_next(db: Database, *, now: datetime, limit: int) -> int:
    """Read the next `limit` events of the log and tell those users who are to hear of them.

    How many events were passed; fewer than `limit` means that there are no more. Nobody is told what they did
    themselves, what their role or applications keep from them, or what happened to test data.
    """
    types = notices.FEW_TYPES | (notices.MASS_TYPES & set(await store.list_chosen_types(db)))
    return await events.handle_next(
        db, reader=READER, types=types, limit=limit, handle=lambda read: _handle(db, read, now=now)
    )


async def _handle(db: Database, read: Sequence[Event], *, now: datetime) -> None:
    oldest = now - timedelta(days=notices.AGE_DAYS_MAX)
    fresh = [event for event in read if not event.test and event.created_time >= oldest]
    told = await _told(db, fresh) if fresh else []
    if told:
        await _write(db, told, now=now)


async def get(db: Database, *, caller: Caller, notification_id: str) -> Notification:
    """One of the caller's own; raises NotFound."""
    found = caller.user_id and await store.get_notification(
        db, organization_id=caller.organization_id, user_id=caller.user_id, notification_id=notification_id
    )
    return found or _refuse_unknown("There is no such notification.")


async def mark_read(
    db: Database,
    *,
    caller: Caller,
    notification_id: str,
    read: bool | None,
    now: datetime,
    expect: Expect | None = None,
) -> Notification:
    """Note that the caller has read it, or not yet. Raises NotFound, and what `expect` raises."""
    before = await get(db, caller=caller, notification_id=notification_id)
    if expect is not None:
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
    """What the caller hears, and what the caller watches; raises NotFound for a token without a user."""
    subscription = caller.user_id and await store.get_subscription(
        db, organization_id=caller.organization_id, user_id=caller.user_id
    )
    if not subscription:
        _refuse_unknown("This token belongs to no user, so nobody is told anything.")
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
    expect: Expect | None = None,
) -> tuple[Subscription, list[Watch]]:
    """Put this in place of all that the caller chose before. Raises NotFound, Invalid, and what `expect` raises."""
    before, _ = await get_subscription(db, caller=caller)
    if expect is not None:
        expect(before.version)
    wanted = list(dict.fromkeys(watches))
    wrong = [
        FieldError("unknown_value", "There are no events of this type.", pointer=f"/types/{name}")
        for name in types
        if name not in notices.TYPES
    ]
    known = await store.list_entities(
        db, organization_id=caller.organization_id, among=wanted, application_ids=caller.application_ids
    )
    wrong += [
        FieldError("unknown_id", "There is nothing with this id.", pointer=f"/watches/{place}/entity_id")
        for place, watch in enumerate(watches)
        if watch not in known
    ]
    if wrong:
        raise errors.Invalid.of(*wrong)
    key = {"organization_id": caller.organization_id, "user_id": before.user_id}
    await store.update_subscription(db, **key, types=types, digest=digest, now=now)
    await store.delete_watches(db, **key)
    await store.insert_watches(db, **key, watches=wanted)
    return await get_subscription(db, caller=caller)


async def prune(db: Database, *, now: datetime, limit: int) -> int:
    """Remove what was told more than `KEPT_DAYS` ago."""
    return await store.prune_notifications(db, before=now - timedelta(days=notices.KEPT_DAYS), limit=limit)


# Who, and what -------------------------------------------------------------------------------------------------------


async def _told(db: Database, read: Sequence[Event]) -> list[_Told]:
    about = [
        (event.organization_id, event.questionnaire_id, event.data.get("alert_id"), event.data.get("application_id"))
        for event in read
    ]
    subjects = await store.list_subjects(db, about=about)
    entities = [
        (place, event.organization_id, entity, entity_id)
        for place, (event, subject) in enumerate(zip(read, subjects, strict=True))
        for entity, entity_id in _entities_of(event, subject)
    ]
    found: list[_Told] = []
    for recipient in await store.list_recipients(db, about=entities):
        event, subject = read[recipient.place], subjects[recipient.place]
        ways = notices.ways_of(event.type, recipient.types)
        is_own = event.actor_kind == "user" and event.actor_id == recipient.user_id
        may = notices.may_hear(
            event.type,
            role=recipient.role,
            application_ids=recipient.application_ids,
            application_id=subject.application_id,
        )
        if ways.any and may and not is_own:
            found.append(_Told(event, subject, recipient, ways))
    return found


def _entities_of(event: Event, subject: Subject) -> list[tuple[str, str]]:
    """What those watch who are to hear of an event."""
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


async def _write(db: Database, told: Sequence[_Told], *, now: datetime) -> None:
    due = {place: _mail_key(one, now=now) for place, one in enumerate(told) if one.ways.email}
    mail_ids = await mails.gather(db, wanted=due.values(), now=now)
    said: dict[tuple[str, str, str], tuple[str, str, str | None]] = {}
    written: list[Notification] = []
    for place, one in enumerate(told):
        event, recipient = one.event, one.recipient
        key = event.organization_id, event.event_id, recipient.locale
        if key not in said:
            said[key] = words.notice(event.type, data=event.data, subject=one.subject, locale=recipient.locale)
        mail_id = mail_ids[due[place]] if place in due else None
        # A microsecond apart, so that a list shows them in the order in which it happened.
        written.append(_notification(one, said[key], mail_id=mail_id, now=now + timedelta(microseconds=len(written))))
    await store.insert_notifications(db, notifications=written)


def _mail_key(one: _Told, *, now: datetime) -> MailKey:
    recipient = one.recipient
    due_time = notices.mail_time(now, digest=cast("Digest", recipient.digest), time_zone=recipient.time_zone)
    return recipient.organization_id, recipient.user_id, due_time.astimezone(UTC)


def _notification(one: _Told, said: tuple[str, str, str | None], *, mail_id: str | None, now: datetime) -> Notification:
    title, body, link = said
    columns: dict[str, Any] = {"organization_id": one.event.organization_id, "user_id": one.recipient.user_id}
    return Notification(
        **columns,
        notification_id=ids.ordered(now),
        event_id=one.event.event_id,
        type=one.event.type,
        title=title,
        body=body,
        link=link,
        web=one.ways.web,
        mail_id=mail_id,
        read_time=None,
        version=1,
        created_time=now,
    )


def _refuse_unknown(message: str) -> NoReturn:
    raise errors.NotFound(message)

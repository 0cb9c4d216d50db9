"""Notifications: a reader of the event log inserts them, and users subscribe to types and things."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Final, Literal, LiteralString, Unpack, cast

import msgspec
from msgspec import Meta

from afterword import errors, ids
from afterword.cases import chats
from afterword.cases.notice_texts import Subject, notice
from afterword.core.messaging import notices
from afterword.core.messaging.notices import Digest as DigestRecord, NoticeChannels
from afterword.core.organizations.access import Caller, Part
from afterword.core.wire.lists import Rows
from afterword.errors import FieldError
from afterword.events import service as events
from afterword.events.service import Event
from afterword.kit.db import Database
from afterword.kit.db.columns import arrays
from afterword.kit.nouns import service as nouns
from afterword.kit.nouns.api import route_of
from afterword.kit.nouns.declaration import Change, Given, Hidden, Noun, Operation, OwnRecord
from afterword.kit.nouns.structs import listing_of, resource_of, shown_as
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.tenants import mails
from afterword.tenants.mails import MailKey


class Notification(OwnRecord, kw_only=True):
    """A notification of an event to a user. `link` is the API path of its subject."""

    notification_id: fields.Id
    user_id: fields.Id
    event_id: fields.Id
    type: str
    title: str
    body: str
    link: str | None
    web: Annotated[bool, Hidden()]  # false: it goes by mail alone
    mail_id: Annotated[str | None, Hidden()]
    read: Annotated[bool, Given(sql="t.read_time is not null")] = False
    read_time: datetime | None
    version: int


def _allow(caller: Caller, _operation: Operation) -> None:
    """Test tokens have none: no notification is about a test."""
    if caller.test:
        raise errors.NotFound(NOTIFICATION.nothing)


async def _check(change: Change[Notification]) -> None:
    read = change.columns.pop("read", change.row.read)
    if read != change.row.read:
        change.columns["read_time"] = change.now if read else None


NOTIFICATION = Noun(
    record=Notification,
    table="notification",
    one="notification",
    many="notifications",
    tag="Notifications",
    path="/notification",
    scope="Notification",
    about_update="Marks a notification as read, or as unread.",
    operations=("list", "update"),
    shape="envelope",
    visible="t.user_id = $2 and t.web",
    is_personal=True,
    filled_later=("read_time",),
    check=_check,
    allow=_allow,
)


class Subscription(msgspec.Struct, frozen=True, kw_only=True):
    """The subscription of a user: types of events and watched things. A type that is not named has its default."""

    organization_id: Annotated[str, Hidden()]
    user_id: fields.Id
    types: dict[str, dict[str, bool]]
    digest: str
    version: Annotated[int, Hidden()]  # 0: nothing was saved yet
    updated_time: datetime


Watch = tuple[str, str]  # entity, entity_id
# Things that can be watched, but for the organization itself.
_THINGS: Final[LiteralString] = """(
  select 'application' as entity, organization_id, application_id as entity_id, application_id, created_by, created_time
  from application
  union all
  select 'questionnaire', organization_id, questionnaire_id, owner_application_id, created_by, created_time
  from questionnaire
  union all
  select 'alert', organization_id, alert_id, application_id, created_by, created_time from alert
  where deleted_time is null
  union all
  select 'user', organization_id, user_id, null, created_by, created_time from organization_user) t"""


class Recipient(msgspec.Struct, frozen=True, kw_only=True):
    """A user who may be notified of the event at `position`."""

    position: int
    organization_id: str
    user_id: str
    role: str
    application_ids: list[str]
    locale: str
    time_zone: str
    types: dict[str, dict[str, bool]]
    digest: str


async def _insert_notifications(  # any tenant: a batch of events serves many organizations
    db: Database, *, notifications: Sequence[Notification]
) -> int:
    """Insert them, at most one for an event and user; return the count."""
    return await db.execute(
        """insert into notification (organization_id, notification_id, user_id, event_id, type, title, body, link, web,
             mail_id, created_time)
           select organization_id, notification_id, user_id, event_id, type, title, body, link, web, mail_id,
             created_time
           from jsonb_populate_recordset(null::notification, $1::jsonb)
           on conflict (organization_id, user_id, event_id) do nothing""",
        notifications,
    )


async def get_subscription_record(db: Database, *, organization_id: str, user_id: str) -> Subscription | None:
    """The user's subscription, or the defaults; None if there is no such user."""
    return await db.records(Subscription).fetch_row(
        """select u.organization_id, u.user_id, coalesce(s.types, '{}') as types, coalesce(s.digest, 'none') as digest,
             coalesce(s.version, 0) as version, coalesce(s.updated_time, u.created_time) as updated_time
           from organization_user u
             left join notification_subscription s on s.organization_id = u.organization_id and s.user_id = u.user_id
           where u.organization_id = $1 and u.user_id = $2""",
        *(organization_id, user_id),
    )


async def list_watches(db: Database, *, organization_id: str, user_id: str, limit: int) -> list[Watch]:
    """The watched things: the chosen ones in order, then those that the user created since, the newest first."""
    return await db.fetch_tuples(
        f"""with mine as (
             select t.entity, t.entity_id, t.created_time from {_THINGS}
             where t.organization_id = $1 and t.created_by = $2)
           select entity, entity_id from (
             select entity, entity_id, place, null::timestamptz as created_time from notification_watch
             where organization_id = $1 and user_id = $2
             union all
             select m.entity, m.entity_id, null, m.created_time from mine m
             where not exists (
                 select from notification_subscription s
                 where s.organization_id = $1 and s.user_id = $2 and s.updated_time >= m.created_time)
               and not exists (
                 select from notification_watch w
                 where w.organization_id = $1 and w.user_id = $2 and w.entity = m.entity
                   and w.entity_id = m.entity_id)) watched
           order by place nulls last, created_time desc, entity_id limit $3""",
        *(organization_id, user_id, limit),
    )


async def list_entities(db: Database, *, among: Sequence[Watch], **part: Unpack[Part]) -> set[Watch]:
    """The existing things of these applications (none: all) among `among`."""
    found = await db.fetch_tuples(
        f"""with w as materialized (
             select * from unnest($2::text[], $3::text[]) as w (entity, entity_id))
           select w.entity, w.entity_id from w where w.entity = 'organization' and w.entity_id = $1
           union
           select w.entity, w.entity_id from w join {_THINGS} on t.entity = w.entity and t.entity_id = w.entity_id
           where t.organization_id = $1
             and (t.entity = 'user' or cardinality($4::text[]) = 0 or t.application_id = any($4))""",
        part["organization_id"],
        *arrays(among, 2),
        list(part["application_ids"]),
    )
    return set(found)


async def update_subscription(
    db: Database,
    *,
    organization_id: str,
    user_id: str,
    types: Mapping[str, Mapping[str, bool]],
    digest: str,
    now: datetime,
) -> None:
    await db.execute(
        """insert into notification_subscription (organization_id, user_id, types, digest, created_time, updated_time)
           values ($1, $2, $3, $4, $5, $5)
           on conflict (organization_id, user_id) do update
           set types = excluded.types, digest = excluded.digest, version = notification_subscription.version + 1,
             updated_time = greatest(notification_subscription.updated_time, excluded.updated_time)""",
        *(organization_id, user_id, dict(types), digest, now),
    )


async def _delete_watches(db: Database, *, organization_id: str, user_id: str) -> int:
    return await db.execute(
        "delete from notification_watch where organization_id = $1 and user_id = $2", organization_id, user_id
    )


async def insert_watches(db: Database, *, organization_id: str, user_id: str, watches: Sequence[Watch]) -> int:
    return await db.execute(
        """insert into notification_watch (organization_id, user_id, entity, entity_id, place)
           select $1, $2, entity, entity_id, place
           from unnest($3::text[], $4::text[]) with ordinality as w (entity, entity_id, place)""",
        organization_id,
        user_id,
        *arrays(watches, 2),
    )


async def _list_chosen_types(  # any tenant: a reader serves all of them
    db: Database, *, organization_ids: Sequence[str]
) -> list[str]:
    return await db.fetch_column(
        """select distinct jsonb_object_keys(types) as type from notification_subscription
           where organization_id = any($1::text[])""",
        organization_ids,
    )


async def _list_subjects(  # any tenant: a batch of events serves many organizations
    db: Database, *, about: Sequence[tuple[str, str | None, str | None, str | None]]
) -> list[Subject]:
    """The subjects of events (organization, questionnaire, alert, application), in order."""
    return await db.records(Subject).fetch(
        """select coalesce(a.application_id, q.owner_application_id, e.application_id) as application_id,
             a.title as alert_title, q.display_name as questionnaire_name
           from unnest($1::text[], $2::text[], $3::text[], $4::text[]) with ordinality
               as e (organization_id, questionnaire_id, alert_id, application_id, position)
             left join questionnaire q on q.organization_id = e.organization_id
               and q.questionnaire_id = e.questionnaire_id
             left join alert a on a.organization_id = e.organization_id and a.alert_id = e.alert_id
           order by e.position""",
        *arrays(about, 4),
    )


async def _list_recipients(  # any tenant: a batch of events serves many organizations
    db: Database, *, about: Sequence[tuple[int, str, str, str]]
) -> list[Recipient]:
    """The active users to notify of events: (position of the event, organization, entity, entity_id).

    Entities are the things that can be watched (their creators watch them too), and `subscribers` of an alert and
    `assignee`, a user whom the event concerns; they need not watch it.
    """
    return await db.records(Recipient).fetch(
        """with e as materialized (
             select * from unnest($1::integer[], $2::text[], $3::text[], $4::text[])
               as e (position, organization_id, entity, entity_id)),
           recipient as (
             select e.position, e.organization_id, w.user_id from e
               join notification_watch w on w.organization_id = e.organization_id and w.entity = e.entity
                 and w.entity_id = e.entity_id
             union
             select e.position, e.organization_id, c.created_by from e
               cross join lateral (
                 select created_by, created_time from application where e.entity = 'application'
                   and organization_id = e.organization_id and application_id = e.entity_id
                 union all
                 select created_by, created_time from questionnaire where e.entity = 'questionnaire'
                   and organization_id = e.organization_id and questionnaire_id = e.entity_id
                 union all
                 select created_by, created_time from alert where e.entity = 'alert'
                   and organization_id = e.organization_id and alert_id = e.entity_id
                 union all
                 select created_by, created_time from organization_user where e.entity = 'user'
                   and organization_id = e.organization_id and user_id = e.entity_id) c
               left join notification_subscription s on s.organization_id = e.organization_id
                 and s.user_id = c.created_by
             where s.updated_time is null or s.updated_time < c.created_time
             union
             select e.position, e.organization_id, unnest(a.subscriber_user_ids) from e
               join alert a on e.entity = 'subscribers' and a.organization_id = e.organization_id
                 and a.alert_id = e.entity_id
             union
             select e.position, e.organization_id, e.entity_id from e where e.entity = 'assignee')
           select t.position, u.organization_id, u.user_id, u.role, u.application_ids,
             coalesce(u.locale, o.default_locale) as locale, coalesce(u.time_zone, o.time_zone) as time_zone,
             coalesce(s.types, '{}') as types, coalesce(s.digest, 'none') as digest
           from recipient t
             join organization_user u on u.organization_id = t.organization_id and u.user_id = t.user_id and u.active
               and not u.service and u.only_where is null
             join organization o on o.organization_id = u.organization_id
             left join notification_subscription s on s.organization_id = u.organization_id and s.user_id = u.user_id
           order by t.position, u.user_id""",
        *arrays(about, 4),
    )


READER: Final = "notifications"
WATCHES_MAX: Final = 500
NOBODY: Final = "This token belongs to no user, so there is nobody to notify."


class _PendingNotice(msgspec.Struct, frozen=True):
    event: Event
    subject: Subject
    recipient: Recipient
    channels: NoticeChannels


async def notify_next(db: Database, *, now: datetime, limit: int) -> int:
    """Read the next `limit` events of the log and notify users and chats; return the count of events passed.

    A smaller count than `limit` means that there are no more. Users are not notified of their own changes, of events
    that their role or applications do not allow, or of test data.
    """
    of = await events.list_unread_organizations(db, reader=READER, limit=limit)
    if not of:
        return 0
    types = notices.FEW_TYPES | (notices.MASS_TYPES & set(await _list_chosen_types(db, organization_ids=sorted({*of}))))
    return await events.handle_next(
        db, reader=READER, types=types, limit=len(of), handle=lambda read: _handle(db, read, now=now)
    )


async def _handle(db: Database, read: Sequence[Event], *, now: datetime) -> None:
    oldest = now - timedelta(days=notices.AGE_DAYS_MAX)
    fresh = [event for event in read if not event.test and event.created_time >= oldest]
    pending = await _pending_notices(db, fresh) if fresh else []
    if pending:
        await _write(db, pending, now=now)
    await chats.insert_cards(db, read=fresh, now=now)


async def subscription_of(db: Database, *, caller: Caller) -> tuple[Subscription, list[Watch]]:
    """The caller's subscription and watched things. Raises NotFound for a token without a user."""
    key = {"organization_id": caller.organization_id, "user_id": caller.user_id or ""}
    subscription = errors.found(await get_subscription_record(db, **key), NOBODY)
    return subscription, await list_watches(db, **key, limit=WATCHES_MAX)


async def subscribe(
    db: Database,
    *,
    caller: Caller,
    types: Mapping[str, Mapping[str, bool]],
    watches: Sequence[Watch],
    digest: DigestRecord,
    now: datetime,
    expect: errors.Expect = errors.ANY,
) -> tuple[Subscription, list[Watch]]:
    """Replace the caller's whole subscription. Raises NotFound, Invalid, and what `expect` raises."""
    before, _ = await subscription_of(db, caller=caller)
    expect(before.version)
    distinct = list(dict.fromkeys(watches))
    wrong = [
        FieldError("unknown_value", "There are no events of this type.", pointer=f"/types/{name}")
        for name in types
        if name not in notices.TYPES
    ]
    known = await list_entities(db, **caller.part, among=distinct)
    wrong += [
        FieldError("unknown_id", "There is nothing with this id.", pointer=f"/watches/{position}/entity_id")
        for position, watch in enumerate(watches)
        if watch not in known
    ]
    errors.check(wrong)
    key = {"organization_id": caller.organization_id, "user_id": before.user_id}
    await update_subscription(db, **key, types=types, digest=digest, now=now)
    await _delete_watches(db, **key)
    await insert_watches(db, **key, watches=distinct)
    return await subscription_of(db, caller=caller)


async def _pending_notices(db: Database, read: Sequence[Event]) -> list[_PendingNotice]:
    about = [
        (event.organization_id, event.questionnaire_id, event.data.get("alert_id"), event.data.get("application_id"))
        for event in read
    ]
    subjects = await _list_subjects(db, about=about)
    entities = [
        (position, event.organization_id, entity, entity_id)
        for position, (event, subject) in enumerate(zip(read, subjects, strict=True))
        for entity, entity_id in _entities_of(event, subject)
    ]
    found: list[_PendingNotice] = []
    for recipient in await _list_recipients(db, about=entities):
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
    mail_ids = await mails.insert_mails(db, keys=due.values(), now=now)
    texts_by_key: dict[tuple[str, str, str, str], tuple[str, str, str | None]] = {}
    written: list[Notification] = []
    for position, one in enumerate(pending):
        event, recipient = one.event, one.recipient
        key = event.organization_id, event.event_id, recipient.locale, recipient.time_zone
        if key not in texts_by_key:
            texts_by_key[key] = notice(
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
    await _insert_notifications(db, notifications=written)


def _mail_key(one: _PendingNotice, *, now: datetime) -> MailKey:
    recipient = one.recipient
    due_time = notices.mail_time(now, digest=cast("Digest", recipient.digest), time_zone=recipient.time_zone)
    return recipient.organization_id, recipient.user_id, due_time.astimezone(UTC)


routes = Routes(tag="Notifications")

DEFAULTS: Final = (
    "A type that is not named is notified on the web, and by mail only new alert instances, plans, disabled webhooks. "
    "Types of single messages, responses and people (queue_item, questionnaire_instance, answer, responder, "
    "suppression, tag) are notified only if named."
)

Digest = Literal["none", "daily", "weekly"]


class NotificationWays(fields.Request):
    """The channels of one type of event."""

    web: bool
    email: bool


class NotificationWatch(fields.Request):
    """A watched thing."""

    entity: Literal["organization", "application", "questionnaire", "alert", "user"]
    entity_id: fields.Id


Watches = Annotated[list[NotificationWatch], Meta(max_length=WATCHES_MAX)]


class NotificationSubscriptionRequest(fields.Request):
    """The whole subscription of a user; members that are left out get their defaults."""

    types: dict[str, NotificationWays] = msgspec.field(default_factory=dict[str, NotificationWays])
    watches: Watches = msgspec.field(default_factory=list[NotificationWatch])
    digest: Digest = "none"

    def chosen(self) -> dict[str, Any]:
        return {
            "types": {name: {"web": ways.web, "email": ways.email} for name, ways in self.types.items()},
            "watches": [(watch.entity, watch.entity_id) for watch in self.watches],
            "digest": self.digest,
        }


NotificationSubscription: Final = shown_as(
    "NotificationSubscription",
    Subscription,
    types={"types": dict[str, NotificationWays], "digest": Digest},
    before={"digest": {"watches": list[NotificationWatch]}},
)


@routes.list(
    "/notification",
    scope="Notification.Read",
    answer=resource_of(NOTIFICATION),
    listing=listing_of(NOTIFICATION),
    summary="Get all notifications",
    description="Those of the token's user; a token of the organization has none, nor has one for tests.",
)
async def list_notifications(call: Call[None], db: Database) -> Rows[Notification]:
    user_id = None if call.caller.test else call.caller.user_id
    return await nouns.rows(
        NOTIFICATION, db, organization_id=call.caller.organization_id, user_id=user_id, page=call.page
    )


routes.all.append(route_of(NOTIFICATION, "update"))


@routes.get(
    "/notification/subscription",
    scope="Notification.Read",
    answer=NotificationSubscription,
    summary="Get Notification Subscription",
    description=f"{DEFAULTS} A user without a subscription watches the things that they created.",
    refusals=("not_found",),
)
async def get_subscription(call: Call[None], db: Database) -> Answer:
    return _shown(call, *await subscription_of(db, caller=call.caller))


@routes.put(
    "/notification/subscription",
    scope="Notification.Update",
    body=NotificationSubscriptionRequest,
    answer=NotificationSubscription,
    summary="Replace Notification Subscription",
    description=f"All of it. {DEFAULTS}",
    refusals=("not_found",),
)
async def replace_subscription(call: Call[NotificationSubscriptionRequest], db: Database) -> Answer:
    found = await subscribe(db, caller=call.caller, **call.body.chosen(), now=call.now, expect=call.expect)
    return _shown(call, *found)


def _shown(call: Call[Any], subscription: Subscription, watches: Sequence[Watch]) -> Answer:
    watched = [{"entity": entity, "entity_id": entity_id} for entity, entity_id in watches]
    shown = NotificationSubscription.of(subscription, call.zone, watches=watched)
    return Answer(shown, version=subscription.version)

"""SQL of notifications and of the subscriptions of users."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, LiteralString

from afterword.core.wire.lists import Page, Rows
from afterword.kit.db import Database, Row
from afterword.kit.db.columns import arrays


@dataclass(frozen=True, slots=True, kw_only=True)
class Notification:
    """A notification of one user. `web`: it is in the list; false: it goes by mail alone."""

    organization_id: str
    notification_id: str
    user_id: str
    event_id: str
    type: str
    title: str
    body: str
    link: str | None
    web: bool
    mail_id: str | None
    read_time: datetime | None
    version: int
    created_time: datetime

    @property
    def read(self) -> bool:
        return self.read_time is not None


_COLUMNS: Final[LiteralString] = """organization_id, notification_id, user_id, event_id, type, title, body, link,
  web, mail_id, read_time, version, created_time"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """The subscription of a user; version 0: the defaults, nothing saved yet."""

    organization_id: str
    user_id: str
    types: dict[str, dict[str, bool]]
    digest: str
    version: int
    updated_time: datetime


Watch = tuple[str, str]  # entity, entity_id


@dataclass(frozen=True, slots=True)
class Subject:
    application_id: str | None
    alert_title: str | None
    questionnaire_name: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipient:
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


async def get_notification(
    db: Database, *, organization_id: str, user_id: str, notification_id: str
) -> Notification | None:
    row = await db.fetch_row(
        f"""select {_COLUMNS} from notification
           where organization_id = $1 and user_id = $2 and notification_id = $3 and web""",
        *(organization_id, user_id, notification_id),
    )
    return _notification(row) if row else None


async def list_notifications(db: Database, *, organization_id: str, user_id: str, page: Page) -> Rows[Notification]:
    rows = await db.fetch_list(
        f"""select {_COLUMNS}, read_time is not null as read from notification
           where organization_id = $1 and user_id = $2 and web""",
        *(organization_id, user_id),
        page=page,
    )
    return rows.map(_notification)


async def insert_notifications(  # any tenant: a batch of events serves many organizations
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


async def update_read(
    db: Database, *, organization_id: str, user_id: str, notification_id: str, read_time: datetime | None
) -> Notification | None:
    row = await db.fetch_row(
        f"""update notification set read_time = $4, version = version + 1
           where organization_id = $1 and user_id = $2 and notification_id = $3 and web
             and (read_time is null) <> ($4::timestamptz is null) returning {_COLUMNS}""",
        *(organization_id, user_id, notification_id, read_time),
    )
    return _notification(row) if row else None


async def get_subscription(db: Database, *, organization_id: str, user_id: str) -> Subscription | None:
    """The user's subscription, or the defaults; None if there is no such user."""
    row = await db.fetch_row(
        """select u.organization_id, u.user_id, coalesce(s.types, '{}') as types, coalesce(s.digest, 'none') as digest,
             coalesce(s.version, 0) as version, coalesce(s.updated_time, u.created_time) as updated_time
           from organization_user u
             left join notification_subscription s on s.organization_id = u.organization_id and s.user_id = u.user_id
           where u.organization_id = $1 and u.user_id = $2""",
        *(organization_id, user_id),
    )
    return Subscription(**dict(row)) if row else None


async def list_watches(db: Database, *, organization_id: str, user_id: str, limit: int) -> list[Watch]:
    """The watched things: the chosen ones in order, then those that the user created since, the newest first."""
    rows = await db.fetch(
        """with mine as (
             select 'application' as entity, application_id as entity_id, created_time from application
             where organization_id = $1 and created_by = $2
             union all
             select 'questionnaire', questionnaire_id, created_time from questionnaire
             where organization_id = $1 and created_by = $2
             union all
             select 'alert', alert_id, created_time from alert
             where organization_id = $1 and created_by = $2 and deleted_time is null
             union all
             select 'user', user_id, created_time from organization_user where organization_id = $1 and created_by = $2)
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
    return [(row["entity"], row["entity_id"]) for row in rows]


async def list_entities(
    db: Database, *, organization_id: str, among: Sequence[Watch], application_ids: Sequence[str]
) -> set[Watch]:
    """The existing things of these applications (none: all) among `among`."""
    rows = await db.fetch(
        """with w as materialized (
             select * from unnest($2::text[], $3::text[]) as w (entity, entity_id))
           select w.entity, w.entity_id from w where w.entity = 'organization' and w.entity_id = $1
           union
           select w.entity, w.entity_id from w
             join application a on w.entity = 'application' and a.organization_id = $1
               and a.application_id = w.entity_id
           where cardinality($4::text[]) = 0 or a.application_id = any($4)
           union
           select w.entity, w.entity_id from w
             join questionnaire q on w.entity = 'questionnaire' and q.organization_id = $1
               and q.questionnaire_id = w.entity_id
           where cardinality($4::text[]) = 0 or q.owner_application_id = any($4)
           union
           select w.entity, w.entity_id from w
             join alert a on w.entity = 'alert' and a.organization_id = $1 and a.alert_id = w.entity_id
               and a.deleted_time is null
           where cardinality($4::text[]) = 0 or a.application_id = any($4)
           union
           select w.entity, w.entity_id from w
             join organization_user u on w.entity = 'user' and u.organization_id = $1 and u.user_id = w.entity_id""",
        organization_id,
        *arrays(among, 2),
        list(application_ids),
    )
    return {(row["entity"], row["entity_id"]) for row in rows}


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


async def delete_watches(db: Database, *, organization_id: str, user_id: str) -> int:
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


async def list_chosen_types(db: Database) -> list[str]:  # any tenant: a reader serves all of them
    rows = await db.fetch("select distinct jsonb_object_keys(types) as type from notification_subscription")
    return [row["type"] for row in rows]


async def list_subjects(  # any tenant: a batch of events serves many organizations
    db: Database, *, about: Sequence[tuple[str, str | None, str | None, str | None]]
) -> list[Subject]:
    """The subjects of events (organization, questionnaire, alert, application), in order."""
    rows = await db.fetch(
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
    return [Subject(**dict(row)) for row in rows]


async def list_recipients(  # any tenant: a batch of events serves many organizations
    db: Database, *, about: Sequence[tuple[int, str, str, str]]
) -> list[Recipient]:
    """The active users to notify of events: (position of the event, organization, entity, entity_id).

    Entities are the things that can be watched (their creators watch them too), and `subscribers` of an alert and
    `assignee`, a user whom the event concerns; they need not watch it.
    """
    rows = await db.fetch(
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
               and not u.service
             join organization o on o.organization_id = u.organization_id
             left join notification_subscription s on s.organization_id = u.organization_id and s.user_id = u.user_id
           order by t.position, u.user_id""",
        *arrays(about, 4),
    )
    return [Recipient(**dict(row)) for row in rows]


def _notification(row: Row) -> Notification:
    columns: dict[str, Any] = {name: row[name] for name in Notification.__dataclass_fields__}
    return Notification(**columns)

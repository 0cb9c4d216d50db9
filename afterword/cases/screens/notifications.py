"""One's own notifications: the events that a person is told of, by mail or in the list, and when the mails leave."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

import msgspec
from msgspec.structs import asdict
from starlette.responses import Response

from afterword import errors
from afterword.asking.questionnaires import access
from afterword.cases import notifications
from afterword.cases.notice_texts import TITLES
from afterword.cases.notifications import NOTIFICATION, Notification, Subscription, Watch
from afterword.cases.rules import ALERT
from afterword.console.inputs import placed, read_as, same_version
from afterword.console.screens import Form, Screens, Visit
from afterword.core.messaging import notices
from afterword.core.wire.lists import Page
from afterword.kit.db import Database
from afterword.kit.nouns import service as nouns, structs
from afterword.kit.texts import Marked, texts
from afterword.kit.ui.lists import ROWS, Listing, page_links, page_of
from afterword.kit.web import html
from afterword.tenants.mails import SETTINGS, page_of_case
from afterword.tenants.organizations.users import USERS, list_users
from afterword.tenants.screens import members

NOTICES: Final = "/console/notifications"
LISTING: Final = structs.listing_of(NOTIFICATION)

routes = Screens()


@routes.get(NOTICES, scope="Notification.Read")
async def list_notices(visit: Visit, db: Database) -> Response:
    words = visit.words
    found = await nouns.rows(
        NOTIFICATION,
        db,
        organization_id=visit.caller.organization_id,
        user_id=visit.session.user_id,
        page=page_of(LISTING, visit.query),
    )
    return visit.page(
        "notices.html",
        title=words("Notifications"),
        choose=(words("Choose notifications"), SETTINGS),
        action=f"{NOTICES}/read",
        unread=[one.notification_id for one in found.items if not one.read],
        list=Listing(
            rows=[_row(visit, one) for one in found.items],
            empty=words("No notifications in the last 90 days."),
            **page_links(found, visit.query, NOTICES),
        ),
    )


@routes.post(f"{NOTICES}/read", scope="Notification.Update")
async def mark_as_read(visit: Visit, db: Database) -> Response:
    for notification_id in visit.form.all("id")[:ROWS]:
        with suppress(errors.NotFound):  # pruned since the page was shown
            await nouns.update(NOTIFICATION, db, key=notification_id, changes={"read": True}, **visit.acting)
    return html.redirect(f"{NOTICES}?done=notices_read")


def _row(visit: Visit, one: Notification) -> dict[str, Any]:
    return {
        "title": one.title,
        "body": one.body,
        "url": page_of_case(one.link),
        "when": visit.words.moment(one.created_time, time_zone=visit.zone),
        "is_unread": not one.read,
    }


NOTIFICATIONS: Final = SETTINGS
ALERTS: Final = structs.listing_of(ALERT)
LISTED_MAX: Final = 200  # things of a kind that can be ticked
DIGESTS: Final[Mapping[str, Marked]] = {
    "none": "Immediately; events of the same minute share one e-mail",
    "daily": "Once a day, at 8 in the morning",
    "weekly": "Once a week, on Monday at 8 in the morning",
}
GROUPS: Final[Mapping[Marked, tuple[str, ...]]] = {
    "Cases": ("alert_instance",), "Questionnaires and pipelines": ("questionnaire", "pipeline"),
    "Files": ("import", "export", "response_import", "export_schedule"),
    "Credits, webhooks and tokens": ("plan", "webhook", "chat", "token"),
    "People and roles": ("user",), "Each message": ("queue_item", "sequence", "suppression"),
    "Each response": ("questionnaire_instance", "answer", "tag"), "Each customer": ("responder",),
}  # fmt: skip
# The console speaks of cases where the notices, which have the alert's title, speak of alerts.
CASES: Final[Mapping[str, Marked]] = {
    "alert_instance.created": "A case opens", "alert_instance.repeated": "It happens again while the case is open",
    "alert_instance.assigned": "A case gets another owner",
    "alert_instance.status_changed": "A case gets another status", "alert_instance.resolved": "A case is closed",
    "alert_instance.reopened": "A case is opened again", "alert_instance.commented": "A colleague comments on a case",
    "alert_instance.mentioned": "A colleague mentions you",
    "alert_instance.answered": "The customer answers your reply",
    "alert_instance.recovery_answered": "The customer was asked again and answered",
    "alert_instance.overdue": "A case is overdue", "alert_instance.escalated": "A case has been open for too long",
}  # fmt: skip
KINDS: Final[Mapping[str, Marked]] = {
    "application": "Applications",
    "questionnaire": "Questionnaires",
    "alert": "Alerts",
    "user": "Colleagues, with the cases that they own",
}


class _Choice(msgspec.Struct, frozen=True):
    """The choices of the form: names of types, watches as `entity/id`."""

    email: Collection[str]
    web: Collection[str]
    watched: Collection[str]
    digest: str


@routes.post(NOTIFICATIONS, scope="Notification.Update", again=(errors.Invalid, errors.Stale))
async def save_notifications(visit: Visit, db: Database) -> Response:
    expect = same_version(visit, "This was changed elsewhere in the meantime. Saving again replaces that change.")
    before, _ = await notifications.subscription_of(db, caller=visit.caller)
    request = read_as(notifications.NotificationSubscriptionRequest, _document(visit, before), visit)
    await notifications.subscribe(db, caller=visit.caller, **request.chosen(), now=visit.now, expect=expect)
    return html.redirect(f"{NOTIFICATIONS}?done=saved")


def _document(visit: Visit, before: Subscription) -> dict[str, Any]:
    """The form as the API has it. Types that the page does not show keep their channels.

    Those with their default are left out: a type of the masses that somebody names is read for everybody.
    """
    form = visit.form
    chosen = _typed(form)
    shown = {*_types_of(visit), *chosen.email, *chosen.web}
    channels = {name: {"web": name in chosen.web, "email": name in chosen.email} for name in sorted(shown)}
    return {
        "types": {name: each for name, each in before.types.items() if name not in shown}
        | {name: each for name, each in channels.items() if each != asdict(notices.channels_of(name, {}))},
        "watches": [
            {"entity": entity, "entity_id": entity_id}
            for entity, _, entity_id in (text.partition("/") for text in chosen.watched)
        ],
        "digest": chosen.digest,
    }


def _typed(form: Form) -> _Choice:
    return _Choice(form.all("email"), form.all("web"), form.ids("watch"), form.text("digest"))


def _stored(subscription: Subscription, watches: Collection[Watch], types: Sequence[str]) -> _Choice:
    channels = {name: notices.channels_of(name, subscription.types) for name in types}
    return _Choice(
        email=[name for name, each in channels.items() if each.email],
        web=[name for name, each in channels.items() if each.web],
        watched=["/".join(watch) for watch in watches],
        digest=subscription.digest,
    )


def _types_of(visit: Visit) -> list[str]:
    """The types whose events the role opens."""
    table = {**notices.FEW, **notices.MASS}
    return [
        f"{family}.{name}"
        for families in GROUPS.values()
        for family in families
        for name in table[family]
        if notices.read_of(f"{family}.{name}") in visit.caller.scopes
    ]


@routes.get(NOTIFICATIONS, scope="Notification.Read")
async def _page(visit: Visit, db: Database, refusal: errors.Refusal | None = None) -> Response:
    form, types = visit.form, _types_of(visit)
    subscription, watches = await notifications.subscription_of(db, caller=visit.caller)
    known = await notifications.list_entities(db, **visit.caller.part, among=watches)
    things = await _things(visit, db)
    is_stale = isinstance(refusal, errors.Stale)
    choice = _typed(form) if form.values else _stored(subscription, [one for one in watches if one in known], types)
    return visit.page(
        "notifications.html",
        title=visit.words("Notifications"),
        refusal=placed(refusal) if refusal and not is_stale else refusal,
        version=form.text("version") if form.values and not is_stale else subscription.version,
        digests=[(name, visit.words(text)) for name, text in DIGESTS.items()],
        digest=choice.digest,
        groups=_groups(visit, types, choice),
        organization=f"organization/{visit.caller.organization_id}",
        watched=choice.watched,
        kinds=_kinds(visit, things, choice),
    )


async def _things(visit: Visit, db: Database) -> dict[str, list[tuple[str, str]]]:
    """The things of each kind that can be followed: `entity/id` and name, by name."""
    part = visit.caller.part
    applications = await members.applications_of(visit, db)
    questionnaires = await access.offered(db, part)
    rules = await nouns.rows(ALERT, db, **part, page=Page.first(ALERTS, limit=LISTED_MAX))
    users = await list_users(
        db, organization_id=visit.caller.organization_id, page=Page.first(USERS, limit=LISTED_MAX), with_service=True
    )
    named = {
        "application": [(one.application_id, one.display_name) for one in applications],
        "questionnaire": [(one.questionnaire_id, one.display_name) for one in questionnaires],
        "alert": [(one.alert_id, one.title) for one in rules.items],
        "user": [
            (one.user_id, one.display_name or one.email or "")
            for one in users.items
            if one.user_id != visit.caller.user_id
        ],
    }
    return {
        entity: sorted(((f"{entity}/{each}", name) for each, name in found), key=lambda one: one[1].casefold())
        for entity, found in named.items()
    }


def _groups(visit: Visit, types: Sequence[str], choice: _Choice) -> list[dict[str, Any]]:
    said = texts("notices", visit.words.language)
    groups: list[dict[str, Any]] = []
    for title, families in GROUPS.items():
        rows = [
            {
                "type": name,
                "text": visit.words(CASES[name]) if name in CASES else said(TITLES[name]),
                "email": name in choice.email,
                "web": name in choice.web,
            }
            for name in types
            if name.partition(".")[0] in families
        ]
        if rows:
            mailed = sum(row["email"] for row in rows)
            groups.append(
                {
                    "title": visit.words(title),
                    "rows": rows,
                    "count": visit.words.plural("{n} by mail", "{n} by mail", mailed) if mailed else "",
                    "is_many": rows[0]["type"] in notices.MASS_TYPES,
                }
            )
    return groups


def _kinds(visit: Visit, things: Mapping[str, list[tuple[str, str]]], choice: _Choice) -> list[dict[str, Any]]:
    """The boxes of each kind."""
    kinds: list[dict[str, Any]] = []
    for entity, title in KINDS.items():
        options, chosen = list(things[entity]), [one for one in choice.watched if one.startswith(f"{entity}/")]
        count = visit.words.plural("{n} followed", "{n} followed", len(chosen)) if chosen else ""
        if options or chosen:
            kinds.append({"title": visit.words(title), "options": options, "chosen": chosen, "count": count})
    return kinds

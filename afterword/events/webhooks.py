"""Webhook endpoints: target address, event types, secrets, and switch-off after lasting failure.

A deleted one is invisible; retention removes its deliveries in batches, then its row.
"""

import secrets
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from afterword import errors
from afterword.core.messaging import webhooks as rules
from afterword.core.messaging.webhooks import TYPE_DEFAULT
from afterword.core.organizations.access import Caller
from afterword.core.wire.site import Site
from afterword.errors import FieldError
from afterword.events import service
from afterword.events.service import NewEvent
from afterword.kit import sealing
from afterword.kit.db import Database
from afterword.kit.nouns import service as nouns
from afterword.kit.nouns.api import answer_of, routes_of
from afterword.kit.nouns.declaration import Change, Editable, Hidden, Noun, Record, Screens, ShownOnce
from afterword.kit.nouns.service import Made, get_reaches_application
from afterword.kit.nouns.structs import resource_of
from afterword.kit.texts import Texts
from afterword.kit.transport import http
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call

EventTypes = Annotated[
    list[fields.Text100], Meta(min_length=1, max_length=50, examples=[["queue_item.*", TYPE_DEFAULT]])
]
TARGET: Final = (
    "`target_url` is https at a public address. `event_types` are types, `prefix.*` or `*`; without them it gets "
    "`questionnaire_instance.completed` alone. Your token needs the Read scope of every event type that it gets."
)
_TARGETING: Final = frozenset({"target_url", "event_types", "questionnaire_id", "application_id"})


class Webhook(Record, kw_only=True):
    """An endpoint of yours that receives events. `secret` signs them: shown when it is created, and never again."""

    webhook_id: fields.Id
    title: Annotated[fields.Text200, Editable("Title", "For your colleagues.")]
    active: Annotated[bool, Editable("Events are sent to it", "", "switch")] = True
    target_url: Annotated[
        fields.Url, Editable("Address", "It starts with https:// and is on the public internet.", holds="account")
    ]
    questionnaire_id: Annotated[fields.Id | None, Editable()] = None
    application_id: Annotated[fields.Id | None, Editable()] = None
    event_types: Annotated[
        EventTypes,
        Editable(
            "Events",
            "One per line, such as questionnaire_instance.completed or alert_instance.*",
            "lines",
            holds="fixed",
        ),
    ] = msgspec.field(default_factory=lambda: [TYPE_DEFAULT])
    secret: Annotated[str | None, ShownOnce()] = None
    consecutive_failures: int
    disabled_time: datetime | None
    failing_since: Annotated[datetime | None, Hidden()]
    test: Annotated[bool, Hidden()]


async def _check(change: Change[Webhook]) -> None:
    """Raise InsufficientScope, and Invalid with every error. A new one gets its secret."""
    columns = change.columns
    if change.before is None or _TARGETING & columns.keys():
        for scope in rules.reads_of(change.after("event_types")):  # it must not deliver what its owner may not read
            change.caller.require(scope)
    wrong: list[FieldError] = []
    if "target_url" in columns and (sentence := http.check_url(columns["target_url"], change.site.networks)):
        wrong.append(FieldError("invalid_address", sentence, pointer="/target_url"))
    for index, one in enumerate(columns.get("event_types") or ()):
        if message := rules.check_type(one):
            wrong.append(FieldError("unknown_value", message, pointer=f"/event_types/{index}"))
    errors.check([*wrong, *await _binding_errors(change)])
    if change.before is None:
        change.shown["secret"], sealed = _new_secret(change.caller, change.key, change.site)
        columns |= {"test": change.caller.test, "secret": sealed}


async def _binding_errors(change: Change[Webhook]) -> list[FieldError]:
    questionnaire_id, application_id = change.after("questionnaire_id"), change.after("application_id")
    reach = set(change.caller.application_ids)
    wrong: list[FieldError] = []
    if questionnaire_id is not None:
        owner = await _get_owner_id(change.db, change.caller.organization_id, questionnaire_id)
        if owner is None or (reach and owner not in reach):
            wrong.append(FieldError("unknown_id", "There is no such questionnaire.", pointer="/questionnaire_id"))
        elif application_id not in {None, owner}:
            message = "The questionnaire belongs to another application."
            return [FieldError("unknown_value", message, pointer="/application_id")]
    if application_id is not None and not await get_reaches_application(change, application_id):
        wrong.append(FieldError("unknown_id", "There is no such application.", pointer="/application_id"))
    if reach and questionnaire_id is None and application_id is None:
        message = "Your token reaches some applications only: name one of them, or one of their questionnaires."
        wrong.append(FieldError("required", message, pointer="/application_id"))
    return wrong


async def _get_owner_id(db: Database, organization_id: str, questionnaire_id: str) -> str | None:
    return await db.fetch_value(
        """select owner_application_id from questionnaire
           where organization_id = $1 and questionnaire_id = $2 and archived_time is null""",
        *(organization_id, questionnaire_id),
    )


async def _delete_hidden(change: Change[Webhook], _options: Mapping[str, Any]) -> None:
    """Mark it deleted and erase its secrets; retention removes the rows."""
    await change.db.execute(
        """update webhook set active = false, deleted_time = $3, secret = null, previous_secret = null,
             previous_secret_until = null, version = version + 1
           where organization_id = $1 and webhook_id = $2 and deleted_time is null""",
        *(change.caller.organization_id, change.key, change.now),
    )


def _row(words: Texts, one: Webhook) -> dict[str, str]:
    return {
        "state": "" if one.active else words("off"),
        "when": words("switched off after failures") if one.disabled_time else "",
        "more": f"{one.target_url} · {', '.join(one.event_types)}",
    }


WEBHOOK = Noun(
    record=Webhook,
    table="webhook",
    one="webhook",
    many="webhooks",
    tag="Webhooks",
    path="/webhook",
    scope="Webhook",
    about_create="A new endpoint. No `questionnaire_id`, no `application_id`: of all of them.",
    about_update="Changes of an endpoint; `active` true switches one on again that failures switched off.",
    about={
        "create": f"At most 50 an organization. {TARGET}",
        "update": TARGET,
        "delete": "Events that were not delivered yet are never delivered.",
    },
    shows_organization=True,
    visible="""(t.test or not $3::boolean) and (cardinality($2::text[]) = 0 or t.application_id = any($2)
  or exists (select from questionnaire q where q.organization_id = t.organization_id
    and q.questionnaire_id = t.questionnaire_id and q.owner_application_id = any($2)))""",
    live="t.deleted_time is null",
    most=50,
    filled=("test", "secret"),
    also_set="""since_time = case when s.active and not t.active then now() else t.since_time end,
  disabled_time = case when s.active then null else t.disabled_time end,
  consecutive_failures = case when s.active and not t.active then 0 else t.consecutive_failures end,
  failing_since = case when s.active and not t.active then null else t.failing_since end,
  resume_time = case when s.active and not t.active then null else t.resume_time end""",
    check=_check,
    delete=_delete_hidden,
    screens=Screens(
        path="/console/settings/webhooks",
        title="Webhooks",
        lead="A webhook tells another system of events when they happen, and signs what it sends.",
        new="New webhook",
        empty="No webhook yet.",
        row=_row,
        inputs=("title", "target_url", "event_types", "active"),
        proof=True,
        has_page=True,
        shown_once=(
            "Copy the secret now. It is shown only once. Your system uses it to check the signature of each delivery."
        ),
        removal="Remove the webhook “{title}”?",
        removal_sentence="Events that were not delivered yet are never delivered.",
        removal_button="Remove the webhook",
    ),
)
routes = routes_of(WEBHOOK)


@routes.post(
    "/webhook/{webhook_id}/secret",
    scope="Webhook.Update",
    answer=resource_of(WEBHOOK),
    status=200,
    summary="Renew secret of webhook",
    description="For 24 hours every delivery is signed with both secrets.",
)
async def renew_webhook_secret(call: Call[Any], db: Database) -> Answer:
    made = await renew_secret(db, caller=call.caller, **call.ids, site=call.site, now=call.now)
    return await answer_of(WEBHOOK, call, db, made, is_new=False)


async def renew_secret(db: Database, *, caller: Caller, webhook_id: str, site: Site, now: datetime) -> Made[Webhook]:
    """Replace the secret; for 24 hours the previous one signs too. Raises NotFound."""
    await nouns.get(WEBHOOK, db, caller=caller, key=webhook_id, is_locked=True)
    secret, sealed = _new_secret(caller, webhook_id, site)
    until = now + timedelta(hours=rules.OVERLAP_HOURS)
    await _update_secret(db, caller=caller, webhook_id=webhook_id, secret=sealed, until=until, now=now)
    return Made(await nouns.get(WEBHOOK, db, caller=caller, key=webhook_id), {"secret": secret})


async def _update_secret(
    db: Database, *, caller: Caller, webhook_id: str, secret: bytes, until: datetime, now: datetime
) -> None:
    await db.execute(
        """update webhook set previous_secret = secret, previous_secret_until = $4, secret = $3,
             version = version + 1, updated_time = $5, updated_by = $6
           where organization_id = $1 and webhook_id = $2 and deleted_time is null""",
        *(caller.organization_id, webhook_id, secret, until, now, caller.actor_id),
    )


async def record_reply(
    db: Database, *, organization_id: str, webhook_id: str, reply: rules.Reply, now: datetime
) -> None:
    """Count the outcome of a delivery: a success resets the failures, five days of failures alone switch it off."""
    key = {"organization_id": organization_id, "webhook_id": webhook_id}
    pause = None if reply.pause_seconds is None else now + timedelta(seconds=reply.pause_seconds)
    failing_since = await _update_failures(db, **key, failed=not reply.is_delivered, resume_time=pause, now=now)
    if failing_since is None:
        return
    if reply.is_gone or rules.is_given_up(failing_since=failing_since, now=now):
        was_active = await _update_disabled(db, organization_id, webhook_id, now)
        disabled = await nouns.find(WEBHOOK, db, organization_id=organization_id, key=webhook_id)
        if was_active and disabled is not None:
            data = nouns.columns_of(WEBHOOK, disabled)
            event = NewEvent.of(disabled, "webhook.disabled", webhook_id, data, now=now)
            await service.record(db, events=[event])


async def _update_failures(
    db: Database, *, organization_id: str, webhook_id: str, failed: bool, resume_time: datetime | None, now: datetime
) -> datetime | None:
    """Count a failure, or reset the count after a success. Return since when all deliveries fail.

    A running pause is never shortened: another delivery may have been in flight when the target asked for it.
    """
    return await db.fetch_value(
        """update webhook set
             consecutive_failures = case when $3::boolean then consecutive_failures + 1 else 0 end,
             failing_since = case when $3 then coalesce(failing_since, $5::timestamptz) end,
             resume_time = greatest($4::timestamptz, case when resume_time > $5 then resume_time end, case when $3 then
               $5 + make_interval(secs => ($6::int[])[least(consecutive_failures + 1, cardinality($6))]) end),
             version = version + 1
           where organization_id = $1 and webhook_id = $2 and deleted_time is null
             and ($3 or consecutive_failures > 0)
           returning failing_since""",
        *(organization_id, webhook_id, failed, resume_time, now, list(rules.REST_SECONDS)),
    )


async def _update_disabled(db: Database, organization_id: str, webhook_id: str, now: datetime) -> bool:
    return await db.touches(
        """update webhook set active = false, disabled_time = $3, version = version + 1, updated_time = $3,
             updated_by = null
           where organization_id = $1 and webhook_id = $2 and active""",
        *(organization_id, webhook_id, now),
    )


def seal_context(organization_id: str, webhook_id: str) -> str:
    return f"webhook:{organization_id}:{webhook_id}"


def _new_secret(caller: Caller, webhook_id: str, site: Site) -> tuple[str, bytes]:
    """A secret, and how it is stored."""
    secret = rules.secret_of(secrets.token_bytes(rules.SECRET_BYTES))
    return secret, sealing.seal(secret, secret=site.secret, context=seal_context(caller.organization_id, webhook_id))

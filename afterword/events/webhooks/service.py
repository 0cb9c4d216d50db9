"""Webhook endpoints: creation, changes, new secrets, switch-off after lasting failure."""

import secrets
from collections.abc import Collection, Mapping
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any, Final

from afterword import errors, ids, sealing
from afterword.channels import http
from afterword.core.messaging import webhooks as rules
from afterword.core.organizations.access import Caller
from afterword.core.wire.site import Site
from afterword.db import Database
from afterword.errors import FieldError
from afterword.events import service as events
from afterword.events.service import NewEvent
from afterword.events.webhooks import store
from afterword.events.webhooks.store import Webhook

NO_WEBHOOK: Final = "There is no such webhook."
WEBHOOKS_MAX: Final = 50  # of one organization
_TARGETING: Final = frozenset({"target_url", "event_types", "questionnaire_id", "application_id"})


async def get(db: Database, *, caller: Caller, webhook_id: str, is_locked: bool = False) -> Webhook:
    found = await store.get_webhook(db, **caller.reach, webhook_id=webhook_id, is_locked=is_locked)
    return errors.found(found, NO_WEBHOOK)


async def create(
    db: Database, *, caller: Caller, columns: Mapping[str, Any], site: Site, now: datetime
) -> tuple[Webhook, str]:
    """Return it with its secret, which only this answer shows. Raises InsufficientScope, and `too_many`."""
    _require_reads(caller, columns["event_types"])
    await _check(db, caller=caller, columns=columns, bound=columns, site=site)
    if await store.count_webhooks_locked(db, organization_id=caller.organization_id) >= WEBHOOKS_MAX:
        raise errors.Invalid.at("", "too_many", f"There are {WEBHOOKS_MAX} already.")
    webhook_id, secret = ids.ordered(now), rules.secret_of(secrets.token_bytes(rules.SECRET_BYTES))
    webhook = await store.insert_webhook(
        db,
        organization_id=caller.organization_id,
        webhook_id=webhook_id,
        columns=columns,
        test=caller.test,
        secret=_sealed(secret, organization_id=caller.organization_id, webhook_id=webhook_id, site=site),
        now=now,
        by=caller.actor_id,
    )
    return webhook, secret


async def update(
    db: Database,
    *,
    caller: Caller,
    webhook_id: str,
    changes: Mapping[str, Any],
    site: Site,
    now: datetime,
    expect: errors.Expect,
) -> Webhook:
    """`active` true resets its failures. Raises InsufficientScope, Invalid."""
    before = await get(db, caller=caller, webhook_id=webhook_id, is_locked=True)
    expect(before.version)
    differing = {name: value for name, value in changes.items() if getattr(before, name) != value}
    if not differing:
        return before
    if _TARGETING & differing.keys():
        _require_reads(caller, differing.get("event_types", before.event_types))
    bound = {name: changes.get(name, getattr(before, name)) for name in ("questionnaire_id", "application_id")}
    await _check(db, caller=caller, columns=differing, bound=bound, site=site)
    after = await store.update_webhook(
        db,
        organization_id=before.organization_id,
        webhook_id=webhook_id,
        columns=differing,
        now=now,
        by=caller.actor_id,
    )
    return errors.found(after, NO_WEBHOOK)


async def delete(db: Database, *, caller: Caller, webhook_id: str, now: datetime, expect: errors.Expect) -> None:
    """Delete it with all its deliveries. Raises NotFound, and what `expect` raises."""
    before = await get(db, caller=caller, webhook_id=webhook_id, is_locked=True)
    expect(before.version)
    await store.delete_webhook(db, organization_id=before.organization_id, webhook_id=webhook_id, now=now)


async def renew_secret(
    db: Database, *, caller: Caller, webhook_id: str, site: Site, now: datetime
) -> tuple[Webhook, str]:
    """Replace the secret; for 24 hours the previous one signs too. Raises NotFound."""
    before = await get(db, caller=caller, webhook_id=webhook_id, is_locked=True)
    secret = rules.secret_of(secrets.token_bytes(rules.SECRET_BYTES))
    webhook = await store.update_webhook_secret(
        db,
        organization_id=before.organization_id,
        webhook_id=webhook_id,
        secret=_sealed(secret, organization_id=before.organization_id, webhook_id=webhook_id, site=site),
        until=now + timedelta(hours=rules.OVERLAP_HOURS),
        now=now,
        by=caller.actor_id,
    )
    return errors.found(webhook, NO_WEBHOOK), secret


async def record_reply(
    db: Database, *, organization_id: str, webhook_id: str, reply: rules.Reply, now: datetime
) -> None:
    """Count the outcome of a delivery: a success resets the failures, five days of failures alone switch it off."""
    pause = reply.pause_seconds
    counted = await store.update_webhook_failures(
        db,
        organization_id=organization_id,
        webhook_id=webhook_id,
        failed=not reply.is_delivered,
        resume_time=None if pause is None else now + timedelta(seconds=pause),
        rest_seconds=rules.REST_SECONDS,
        now=now,
    )
    if counted is None or counted.failing_since is None:
        return
    if reply.is_gone or rules.is_given_up(failing_since=counted.failing_since, now=now):
        disabled = await store.update_webhook_disabled(
            db, organization_id=organization_id, webhook_id=webhook_id, now=now
        )
        if disabled is not None:
            await events.record(db, events=[_disabled(disabled, now=now)])


async def prune(db: Database, *, limit: int) -> int:
    return await store.prune_webhooks(db, limit=limit)


def _require_reads(caller: Caller, event_types: Collection[str]) -> None:
    for scope in rules.reads_of(event_types):  # a webhook must not deliver data that its owner may not read
        caller.require(scope)


async def _check(
    db: Database, *, caller: Caller, columns: Mapping[str, Any], bound: Mapping[str, Any], site: Site
) -> None:
    """Raise Invalid with every error; `bound`: the questionnaire and the application after the change."""
    wrong: list[FieldError] = []
    if "target_url" in columns and (sentence := http.check_url(columns["target_url"], site.networks)):
        wrong.append(FieldError("invalid_address", sentence, pointer="/target_url"))
    for index, one in enumerate(columns.get("event_types") or ()):
        if message := rules.check_type(one):
            wrong.append(FieldError("unknown_value", message, pointer=f"/event_types/{index}"))
    wrong += await _check_binding(db, caller=caller, bound=bound)
    errors.check(wrong)


async def _check_binding(db: Database, *, caller: Caller, bound: Mapping[str, Any]) -> list[FieldError]:
    questionnaire_id, application_id = bound.get("questionnaire_id"), bound.get("application_id")
    reach = set(caller.application_ids)
    wrong: list[FieldError] = []
    if questionnaire_id is not None:
        owner = await store.get_owner_id(db, organization_id=caller.organization_id, questionnaire_id=questionnaire_id)
        if owner is None or (reach and owner not in reach):
            wrong.append(FieldError("unknown_id", "There is no such questionnaire.", pointer="/questionnaire_id"))
        elif application_id not in {None, owner}:
            message = "The questionnaire belongs to another application."
            wrong.append(FieldError("unknown_value", message, pointer="/application_id"))
            return wrong
    if application_id is not None and (
        (reach and application_id not in reach)
        or not await store.get_has_application(
            db, organization_id=caller.organization_id, application_id=application_id
        )
    ):
        wrong.append(FieldError("unknown_id", "There is no such application.", pointer="/application_id"))
    if reach and questionnaire_id is None and application_id is None:
        message = "Your token reaches some applications only: name one of them, or one of their questionnaires."
        wrong.append(FieldError("required", message, pointer="/application_id"))
    return wrong


def seal_context(organization_id: str, webhook_id: str) -> str:
    return f"webhook:{organization_id}:{webhook_id}"


def _sealed(secret: str, *, organization_id: str, webhook_id: str, site: Site) -> bytes:
    return sealing.seal(secret, secret=site.secret, context=seal_context(organization_id, webhook_id))


def _disabled(webhook: Webhook, *, now: datetime) -> NewEvent:
    return NewEvent(
        organization_id=webhook.organization_id,
        event_id=ids.ordered(now),
        type="webhook.disabled",
        subject_id=webhook.webhook_id,
        subject_version=webhook.version,
        questionnaire_id=webhook.questionnaire_id,
        data=asdict(webhook),
        test=webhook.test,
    )

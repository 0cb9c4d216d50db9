"""Acts on the events of a call: rules decide, items are made, and those that wait are cancelled.

All of it happens in the transaction that stores the events. Calls about one subject wait for each other, so that a
delivery and a refund which arrive together are decided about in one order.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any, Final

import msgspec

from afterword import errors, ids
from afterword.asking.questionnaires import metadata as metadata_service
from afterword.core.messaging.addresses import CHANNEL_EMAIL, CHANNEL_SMS
from afterword.core.organizations.access import Caller, installation
from afterword.core.questionnaires import conditions
from afterword.core.questionnaires.metadata import Declared
from afterword.core.sources import notes, rules
from afterword.core.sources.parts import Happening
from afterword.core.sources.rules import Event, Terms
from afterword.core.text import locales
from afterword.core.wire import times
from afterword.core.wire.lists import Page
from afterword.core.wire.site import Site
from afterword.kit.db import Database
from afterword.kit.nouns import service as nouns
from afterword.kit.nouns.declaration import Change
from afterword.kit.nouns.structs import written
from afterword.kit.web.fields import MetadataGroups
from afterword.sending.intake import dry_runs
from afterword.sending.intake.dry_runs import RowForecast
from afterword.sending.intake.sources import records, store
from afterword.sending.intake.sources.records import RULE, SOURCE, SourceRule
from afterword.sending.intake.sources.store import SourceEventRecord
from afterword.sending.pipelines import store as pipelines
from afterword.sending.pipelines.store import Pipeline
from afterword.sending.queue import service as queue
from afterword.sending.queue.records import QueueItemRecord, QueueItemRequest
from afterword.sending.queue.service import NewItem, ReferenceTaken

HAPPENINGS_MAX: Final = 500  # of one call
TEXT_CHARACTERS_MAX: Final = 100  # of a subject, which becomes the reference of an item
IDENTIFIER_CHARACTERS_MAX: Final = 320
NAME_CHARACTERS_MAX: Final = 200
VALUES_MAX: Final = 50
VALUE_CHARACTERS_MAX: Final = 500
TRIED_MAX: Final = 100  # events of a dry run
PERSON: Final = ("email", "phone", "first_name", "last_name", "locale")
SAYS: Final[Mapping[str, str]] = {
    "test": "The sender only tried it out.",
    "too_old": "The event is older than the rule takes.",
    "stopped": "Another event of the same order or ticket stops the rule.",
    "conditions": "The conditions are not met.",
    "no_address": "The event has no address on the pipeline's channel.",
    "inactive": "The pipeline was deleted.",
    "already_asked": "An item of the pipeline has this reference already.",
    "too_late": "The message is being sent already.",
}


Target = tuple[SourceRule, Pipeline | None]  # None where it was deleted, or no event is of the rule's sort


async def _target(db: Database, rule: SourceRule, whats: Collection[str]) -> Target:
    path = {"organization_id": rule.organization_id, "pipeline_id": rule.pipeline_id}
    return rule, await pipelines.get_pipeline(db, **path) if rule.what in whats else None


async def take(
    db: Database,
    *,
    organization_id: str,
    source_id: str,
    test: bool,
    happenings: Sequence[Happening],
    secret: bytes,
    now: datetime,
) -> None:
    """Store what happened, and ask by the rules. Events that are known change nothing."""
    if len(happenings) > HAPPENINGS_MAX:
        raise errors.Invalid(f"A call has at most {HAPPENINGS_MAX} events.")
    place: dict[str, Any] = {"organization_id": organization_id, "source_id": source_id}
    found = {one.event_id: one for one in (_kept(each, source_id, now) for each in reversed(happenings))}
    object_ids = sorted({one.object_id for one in found.values() if one.object_id})
    if object_ids:
        await store.claim_objects(db, **place, object_ids=object_ids)
    known = {one.object_id: one for one in _completed(await store.list_known(db, **place, object_ids=object_ids), {})}
    complete = _completed(sorted(found.values(), key=lambda one: one.time), known)
    documents = [{**msgspec.structs.asdict(one), "facts": one.values} for one in complete]
    new = set(await store.insert_events(db, **place, documents=documents)) if documents else set[str]()
    fresh = [one for one in complete if one.source_event_id in new]
    whats = {one.what for one in fresh}
    of_source = await records.rules_of(db, **place) if fresh else []
    targets = [await _target(db, one, whats) for one in of_source if one.active]
    if targets:
        decisions = await _decide(db, place, fresh, targets, test=test, secret=secret, now=now)
        await store.update_decisions(db, organization_id=organization_id, decisions=decisions)
        form = {"noted": notes.NOTED, "id_form": notes.OBJECT_ID}
        await store.insert_items(db, **place, event_ids=list(decisions), **form)
    await store.update_called(db, **place, problem=None, now=now)


async def refuse(db: Database, *, organization_id: str, source_id: str, problem: str, now: datetime) -> None:
    """Count a call that was refused, and keep why."""
    await store.update_called(db, organization_id=organization_id, source_id=source_id, problem=problem, now=now)


async def _decide(
    db: Database,
    place: Mapping[str, str],
    fresh: Sequence[SourceEventRecord],
    targets: Sequence[Target],
    *,
    test: bool,
    secret: bytes,
    now: datetime,
) -> dict[str, list[dict[str, Any]]]:
    decisions: dict[str, list[dict[str, Any]]] = {one.source_event_id: [] for one in fresh}
    wanted: list[tuple[SourceEventRecord, SourceRule, NewItem]] = []
    stops = await _stops(db, place, fresh, targets)
    for one in fresh:
        decisions[one.source_event_id] += await _cancel(db, place, one, targets)
        for target in targets:
            rule, _ = target
            if rule.what != one.what:
                continue
            item = await _item(db, one, target, stops=stops.get(one.object_id, {}), test=test, now=now)
            if isinstance(item, NewItem):
                wanted.append((one, rule, item))
            else:
                decisions[one.source_event_id].append(_said(rule, "not_asked", item))
    made = await queue.schedule_all(db, wanted=[item for _, _, item in wanted], secret=secret) if wanted else []
    for (one, rule, _), outcome in zip(wanted, made, strict=True):
        if isinstance(outcome, QueueItemRecord):
            said = _said(rule, "asked", item_id=outcome.item_id)
        elif isinstance(outcome, ReferenceTaken):
            said = _said(rule, "not_asked", "already_asked")
        else:
            said = _said(rule, "not_asked") | _why(outcome)
        decisions[one.source_event_id].append(said)
    return {key: said for key, said in decisions.items() if said}


class Tried(msgspec.Struct, frozen=True):
    """The decision of a rule about an event, tried; `reason` and its `detail` where nobody would be asked."""

    event: SourceEventRecord
    asks: bool
    reason: str | None = None
    detail: str | None = None
    planned_time: datetime | None = None


async def try_rule(
    db: Database, *, source_id: str, columns: Mapping[str, Any], caller: Caller, site: Site, now: datetime
) -> list[Tried]:
    """Decide by a rule that nobody has stored about the last events of its sort as if they came now; nothing is kept.

    References that items have already do not count: these events had their turn. Raises NotFound, and Invalid as the
    creation of the rule does.
    """
    place = records.place_of(await nouns.get(SOURCE, db, caller=caller, key=source_id))
    change = Change[SourceRule](db=db, caller=caller, site=site, now=now, key=None, before=None)
    change.columns.update(written(RULE, columns))
    await RULE.check(change)
    stamps = {"version": 1, "created_time": now, "updated_time": now, "created_by": None, "updated_by": None}
    rule = SourceRule(**change.columns, **stamps, **place, source_rule_id="")
    page = Page.first(store.EVENTS, limit=TRIED_MAX)
    kept = [one for one in (await store.list_events(db, **place, page=page)).items if one.what == rule.what]
    target = _, pipeline = await _target(db, rule, {rule.what})
    stops = await _stops(db, place, kept, [target])
    items = [await _item(db, one, target, stops=stops.get(one.object_id, {}), test=False, now=now) for one in kept]
    rows = [item.request for item in items if isinstance(item, NewItem)]
    path = {"questionnaire_id": pipeline.questionnaire_id if pipeline else "", "pipeline_id": rule.pipeline_id}
    forecasts = iter(
        await dry_runs.simulate(db, caller=caller, **path, rows=rows, on_conflict="skip", site=site) if rows else ()
    )
    found = [item if isinstance(item, str) else next(forecasts) for item in items]
    return [_tried(one, outcome) for one, outcome in zip(kept, found, strict=True)]


def _tried(event: SourceEventRecord, forecast: RowForecast | str) -> Tried:
    if isinstance(forecast, str):
        return Tried(event, asks=False, reason=forecast, detail=SAYS[forecast])
    if forecast.refusal is not None:
        return Tried(event, asks=False, **_why(forecast.refusal))
    decision = forecast.decision
    if decision is not None and decision.verdict == "skip":
        return Tried(event, asks=False, reason=decision.reason, detail=decision.text)
    return Tried(event, asks=True, planned_time=forecast.planned_time)


def _kept(happening: Happening, source_id: str, now: datetime) -> SourceEventRecord:
    """The event within the limits of its columns; without a time of its own it happened now. Raises Invalid."""
    event_id = _clean(happening.event_id)
    if not event_id:
        raise errors.Invalid("An event has no id of its own.")
    person = {name: _clean(getattr(happening, name)) for name in PERSON}
    values = {
        _clean(name)[:TEXT_CHARACTERS_MAX]: _clean(value)[:VALUE_CHARACTERS_MAX] if isinstance(value, str) else value
        for name, value in list(happening.values.items())[:VALUES_MAX]
        if not isinstance(value, float) or math.isfinite(value)
    }
    return SourceEventRecord(
        source_event_id=ids.ordered(now),
        source_id=source_id,
        event_id=event_id if len(event_id) <= NAME_CHARACTERS_MAX else sha256(event_id.encode()).hexdigest(),
        what=happening.what,
        name=_clean(happening.name)[:NAME_CHARACTERS_MAX],
        time=min(happening.time or now, now),
        object_id=(_clean(happening.object_id) or _clean(happening.subject))[:NAME_CHARACTERS_MAX],
        subject=_clean(happening.subject)[:TEXT_CHARACTERS_MAX],
        person={name: text[:IDENTIFIER_CHARACTERS_MAX] for name, text in person.items() if text},
        values=values,
        is_test=happening.is_test,
        state="no_rule",
        decisions=[],
        received_time=now,
    )


def _completed(found: Sequence[SourceEventRecord], known: dict[str, SourceEventRecord]) -> list[SourceEventRecord]:
    """Events in the order of their times, each with what earlier ones of its order or ticket said.

    A delivery often names neither the number nor the address.
    """
    complete: list[SourceEventRecord] = []
    for one in found:
        before = known.get(one.object_id, one)
        told = msgspec.structs.replace(
            one,
            subject=one.subject or before.subject,
            person={**before.person, **one.person},
            values={**before.values, **one.values},
        )
        if one.object_id and not one.is_test:
            known[one.object_id] = told
        complete.append(told)
    return complete


def _clean(text: str) -> str:
    return "".join(one for one in text if one.isprintable()).strip()


def _said(rule: SourceRule, state: str, reason: str | None = None, *, item_id: str | None = None) -> dict[str, Any]:
    return {
        "source_rule_id": rule.source_rule_id,
        "state": state,
        "reason": reason,
        "detail": SAYS.get(reason or ""),
        "item_id": item_id,
    }


def _why(refusal: errors.Refusal) -> dict[str, Any]:
    first = refusal.errors[0] if refusal.errors else None
    return {"reason": first.code if first else refusal.code, "detail": str(first.message if first else refusal.detail)}


async def _stops(
    db: Database, place: Mapping[str, str], kept: Sequence[SourceEventRecord], targets: Sequence[Target]
) -> dict[str, dict[str, datetime]]:
    whats = sorted({what for rule, _ in targets for what in rule.unless})
    object_ids = sorted({one.object_id for one in kept if one.object_id})
    if not whats or not object_ids:
        return {}
    return await store.list_stops(db, **place, object_ids=object_ids, whats=whats)


async def _cancel(
    db: Database, place: Mapping[str, str], event: SourceEventRecord, targets: Sequence[Target]
) -> list[dict[str, Any]]:
    """Cancel the items that wait for this order or ticket, of rules that the event stops."""
    stopped = {rule.source_rule_id: rule for rule, _ in targets if event.what in rule.unless}
    if not stopped or not event.object_id or event.is_test:
        return []
    waiting = [
        (rule, item_id)
        for rule_id, item_id, asked_time in await store.list_waiting(db, **place, object_id=event.object_id)
        if (rule := stopped.get(rule_id)) is not None and rules.stops(event.what, event.time, asked_time)
    ]
    cancelled = await queue.cancel_all(
        db,
        caller=installation(place["organization_id"]),
        item_ids=[item_id for _, item_id in waiting],
        result=f"Stopped by {event.what}",
    )
    return [
        _said(rule, "cancelled", item_id=item_id)
        if item_id in cancelled
        else _said(rule, "not_asked", "too_late", item_id=item_id)
        for rule, item_id in waiting
    ]


async def _item(
    db: Database, event: SourceEventRecord, target: Target, *, stops: Mapping[str, datetime], test: bool, now: datetime
) -> NewItem | str:
    """The item that a rule makes of an event, or the reason for which it makes none."""
    rule, pipeline = target
    condition = conditions.read_saved(rule.conditions)
    terms = Terms(condition=condition, unless=rule.unless, age_days_max=rule.age_days_max)
    fact = Event(time=event.time, is_test=event.is_test, values=event.values, stops=stops)
    if (reason := rules.reason_against(terms, fact, now=now)) is not None:
        return reason
    if pipeline is None:
        return "inactive"
    email, phone = event.person.get("email", ""), event.person.get("phone", "")
    by_channel = {CHANNEL_EMAIL: email, CHANNEL_SMS: phone}
    if not (identifier := by_channel.get(pipeline.channel_id, email or phone or event.subject)):
        return "no_address"
    path = {"organization_id": rule.organization_id, "questionnaire_id": pipeline.questionnaire_id}
    declared = await metadata_service.declared_of(db, **path)
    locale = None
    with suppress(KeyError, locales.InvalidLocale):  # the event need not name one
        locale = locales.normalise(event.person["locale"])
    send_time = None  # that of a date, which the pipeline counts from
    if (delay := _delay(rule, pipeline)) is not None:
        send_time = times.moment_at(event.time + delay, times.zone_of("UTC"))
    return NewItem(
        caller=installation(rule.organization_id),
        questionnaire_id=pipeline.questionnaire_id,
        pipeline_id=rule.pipeline_id,
        request=QueueItemRequest(
            responder_channel_identifier=identifier,
            locale=locale,
            send_time=send_time,
            metadata=_metadata(event, declared),
            external_reference=event.subject or None,
        ),
        source="source",
        test=test,
    )


def _delay(rule: SourceRule, pipeline: Pipeline) -> timedelta | None:
    if rule.delay_days is not None or rule.delay_hours is not None:
        return timedelta(days=rule.delay_days or 0, hours=rule.delay_hours or 0)
    if pipeline.delay_from is not None:
        return None
    return timedelta(**{unit: getattr(pipeline, f"delay_cap_{unit}") for unit in ("days", "hours", "minutes")})


def _metadata(event: SourceEventRecord, declared: Declared) -> MetadataGroups:
    """The values that have the name of a declared one, the names of the person, and the number of order or ticket."""
    number = "case_id" if event.what.startswith("ticket.") else "transaction_id"
    values = {number: event.subject, **{name: rules.text_of(value) for name, value in event.values.items()}}
    person = {"email": "email", "phone": "phone_number", "first_name": "first_name", "last_name": "last_name"}
    known = {**values, **{name: event.person[ours] for ours, name in person.items() if ours in event.person}}
    return MetadataGroups(
        questionnaire={name: text for name, text in values.items() if name in declared.questionnaire and text},
        responder={name: text for name, text in known.items() if name in declared.responder and text},
    )

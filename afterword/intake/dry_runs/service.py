"""Says what would become of items, by the very rules and texts that sending goes by; reads, and writes nothing."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

import msgspec

from afterword import errors, ids
from afterword.channels.mime import one_line
from afterword.core.messaging import segments
from afterword.core.messaging.addresses import CHANNEL_SMS
from afterword.core.messaging.segments import Length
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires import conditions
from afterword.core.questionnaires.conditions import LeafResult
from afterword.core.scheduling.decisions import Decision
from afterword.core.scheduling.statuses import Item
from afterword.core.text import locales, placeholders
from afterword.core.text.placeholders import Template
from afterword.core.wire.site import Site
from afterword.db import Database
from afterword.intake.batches import store as bulk_store
from afterword.intake.batches.service import ROWS_A_TURN, Policy, scheduler_of
from afterword.messages import email, sms
from afterword.messages.context import item_values
from afterword.questionnaires import store as questionnaires_store
from afterword.questionnaires.store import Version
from afterword.queue.deciding import service as deciding
from afterword.queue.deciding.service import Forecast
from afterword.queue.lanes import store as lanes_store
from afterword.queue.lanes.store import LaneSettings
from afterword.queue.resources import QueueItemRequest
from afterword.queue.scheduler import Schedule, Scheduler, changes_of
from afterword.queue.service import ReferenceTaken
from afterword.responders.store import Responder

VALUE_SCOPE: Final = "Responder Value.Read"  # without it texts are filled with what the row itself says


class ProposedItem(msgspec.Struct, frozen=True, kw_only=True):
    organization_id: str
    item_id: str
    questionnaire_id: str
    pipeline_id: str
    responder_channel_identifier: str
    address_key: bytes
    metadata: dict[str, dict[str, str]]
    not_after: datetime
    locale: str | None
    due_time: datetime
    send_time: datetime
    external_reference: str | None = None
    reason: str | None = None
    previous_item_id: str | None = None
    source: str = "api"
    test: bool = False  # judged by the real clock


class RowForecast(msgspec.Struct, frozen=True, kw_only=True):
    refusal: errors.Refusal | None = None
    decision: Decision | None = None
    leaves: Sequence[LeafResult] = ()
    planned_time: datetime | None = None
    zone_name: str | None = None
    locale: str | None = None
    responder_id: str | None = None
    subject: str | None = None
    body: str | None = None
    length: Length | None = None  # of an SMS


async def simulate(
    db: Database,
    *,
    caller: Caller,
    questionnaire_id: str,
    pipeline_id: str,
    rows: Sequence[QueueItemRequest | errors.Invalid],
    on_conflict: Policy,
    site: Site,
) -> list[RowForecast]:
    """Forecast each row as if it were created now; raises NotFound, NotPublished."""
    scheduler = await scheduler_of(
        db, caller=caller, questionnaire_id=questionnaire_id, pipeline_id=pipeline_id, secret=site.secret
    )
    [settings] = await lanes_store.list_settings(db, lanes=[(caller.organization_id, pipeline_id)])
    version = await questionnaires_store.get_version(
        db, organization_id=caller.organization_id, version_id=settings.fingerprint.published_version_id or ""
    )
    taken = await _taken(db, caller, scheduler, rows)
    proposed = await _proposed_rows(scheduler, rows, taken, refuses=on_conflict == "error")
    wanted = [(one, one.due_time) for one in proposed if isinstance(one, ProposedItem)]
    forecasts = await deciding.foresee_items(
        db,
        items=wanted,
        settings={settings.key: settings},
        now=scheduler.intake.now,
        requested_time={item.item_id: item.send_time for item, _ in wanted},
    )
    writer = _Writer(
        settings, version, site, valid_days=scheduler.intake.valid_days, with_metadata=VALUE_SCOPE in caller.scopes
    )
    found: list[RowForecast] = []
    for place, one in enumerate(proposed):
        if place % ROWS_A_TURN == 0:
            await asyncio.sleep(0)
        if isinstance(one, errors.Refusal):
            found.append(RowForecast(refusal=one))
        else:
            found.append(writer.forecast(one, forecasts[one.item_id]))
    return found


async def decide_rows(
    db: Database,
    *,
    caller: Caller,
    questionnaire_id: str,
    pipeline_id: str,
    rows: Mapping[int, tuple[QueueItemRequest, Schedule]],
    known: Collection[int],
    secret: bytes,
) -> dict[int, tuple[Decision, datetime]]:
    """The decision about each row of a part of a file, by its place, and when it would leave.

    `known`: places of rows whose address an earlier row of the file has. Where that row is in another part, and the
    rules count messages to an address, it is taken to leave first.
    """
    scheduler = await scheduler_of(
        db, caller=caller, questionnaire_id=questionnaire_id, pipeline_id=pipeline_id, secret=secret
    )
    [settings] = await lanes_store.list_settings(db, lanes=[(caller.organization_id, pipeline_id)])
    new_ids = ids.ordered_many(scheduler.intake.now, len(rows))
    wanted = {
        place: _proposed(scheduler, row, schedule, item_id)
        for (place, (row, schedule)), item_id in zip(rows.items(), new_ids, strict=True)
    }
    earlier: dict[bytes, ProposedItem | None] = {}
    for place, one in wanted.items() if settings.reserves_contacts else ():
        is_elsewhere = place in known and one.address_key not in earlier
        # Its id is before all others, so that it goes first.
        ghost = msgspec.structs.replace(one, item_id=f"!{one.item_id}") if is_elsewhere else None
        earlier.setdefault(one.address_key, ghost)
    forecasts = await deciding.foresee_items(
        db,
        items=[(one, one.due_time) for one in (*filter(None, earlier.values()), *wanted.values())],
        settings={settings.key: settings},
        now=scheduler.intake.now,
    )
    return {
        place: (decision, decision.until or one.due_time)
        for place, one in wanted.items()
        for decision in (forecasts[one.item_id].decision,)
    }


# Below: how, in the order of their use ------------------------------------------------------------------------


async def _taken(
    db: Database, caller: Caller, scheduler: Scheduler, rows: Sequence[QueueItemRequest | errors.Invalid]
) -> dict[str, str | None]:
    """The rows' references that live items have, and which item waits under each."""
    wanted = {row.external_reference for row in rows if isinstance(row, QueueItemRequest) and row.external_reference}
    if not wanted:
        return {}
    found = await bulk_store.list_items_by_reference(
        db,
        organization_id=caller.organization_id,
        place=(scheduler.intake.questionnaire_id, scheduler.intake.pipeline_id, False),
        external_references=sorted(wanted),
    )
    return {name: item.item_id if item.status == Item.SCHEDULED else None for name, item in found.items()}


async def _proposed_rows(
    scheduler: Scheduler,
    rows: Sequence[QueueItemRequest | errors.Invalid],
    taken: dict[str, str | None],
    *,
    refuses: bool,
) -> list[ProposedItem | errors.Refusal]:
    now = scheduler.intake.now
    new_ids = ids.ordered_many(now, len(rows))
    found: list[ProposedItem | errors.Refusal] = []
    for place, row in enumerate(rows):
        if place % ROWS_A_TURN == 0:
            await asyncio.sleep(0)
        if isinstance(row, errors.Invalid):
            found.append(scheduler.completed(row))
            continue
        try:
            schedule = scheduler.schedule(row, item_id=new_ids[place], created_time=now)
        except errors.Refusal as refusal:
            found.append(refusal)
            continue
        name = row.external_reference
        if refuses and name is not None:
            if name in taken:
                found.append(ReferenceTaken())
                continue
            taken[name] = None
        # Of the item that the row would change: that one does not wait beside it.
        found.append(_proposed(scheduler, row, schedule, taken.get(name or "") or new_ids[place]))
    return found


def _proposed(scheduler: Scheduler, row: QueueItemRequest, schedule: Schedule, item_id: str) -> ProposedItem:
    intake = scheduler.intake
    return ProposedItem(
        organization_id=intake.organization_id,
        item_id=item_id,
        questionnaire_id=intake.questionnaire_id,
        pipeline_id=intake.pipeline_id,
        responder_channel_identifier=row.responder_channel_identifier,
        address_key=schedule.address_key,
        metadata=changes_of(row.metadata).as_stored,
        not_after=schedule.not_after,
        locale=row.locale,
        due_time=schedule.due_time,
        send_time=schedule.send_time,
        external_reference=row.external_reference,
    )


class _Writer:
    """Fills the pipeline's texts for one person after the other; each language is read once."""

    def __init__(
        self, settings: LaneSettings, version: Version, site: Site, *, valid_days: int, with_metadata: bool
    ) -> None:
        self._valid_days, self._with_metadata = valid_days, with_metadata
        self._is_sms = settings.pipeline.channel_id == CHANNEL_SMS
        self._settings, self._definition = settings, version.definition
        self._tree = deciding.rules_of(settings).conditions
        self._texts: dict[str, tuple[Template | None, Template | None, frozenset[str]]] = {}
        pages = site.pages(settings.pipeline.organization_id)
        self._fixed = {
            "organization": one_line(settings.organization_name),
            "questionnaire": one_line(settings.questionnaire_name),
            "link": pages.short_url(email.SAMPLE_CODE) if self._is_sms else pages.collection_url(email.SAMPLE_ID),
            "unsubscribe_link": pages.unsubscribe_url(email.SAMPLE_ID),
        }

    def forecast(self, item: ProposedItem, forecast: Forecast) -> RowForecast:
        decision, person = forecast.decision, forecast.responder
        locale = self._locale(item, person)
        subject, body = self._message(item, locale, person.metadata if person and self._with_metadata else {})
        planned = {"go": item.due_time, "hold": decision.until, "skip": None}[decision.verdict]
        return RowForecast(
            decision=decision,
            leaves=conditions.leaves(self._tree, forecast.metadata) if self._tree is not None else (),
            planned_time=planned,
            zone_name=forecast.zone_name,
            locale=locale,
            responder_id=person and person.responder_id,
            subject=subject,
            body=body,
            length=segments.measure(body) if self._is_sms and body is not None else None,
        )

    def _locale(self, item: ProposedItem, person: Responder | None) -> str:
        wanted = item.locale or self._settings.pipeline.locale or (person and person.locale)
        return locales.match(wanted, self._definition.locales, self._definition.default_locale)

    def _message(self, item: ProposedItem, locale: str, known: Mapping[str, str]) -> tuple[str | None, str | None]:
        """The authored texts with their values; the channel's frame is left out."""
        texts = self._texts.get(locale)
        if texts is None:
            authored = email.authored(self._settings.pipeline, locale)
            subject, body = (placeholders.parse(text) if text else None for text in (authored.subject, authored.body))
            used = [text.names for text in (subject, body) if text is not None]
            if self._is_sms:
                body = sms.parsed(authored.body)
            texts = self._texts[locale] = subject, body, frozenset[str]().union(*used)
        subject, body, names = texts
        values = self._values(item, locale, known, names)
        line = one_line(subject.fill(values))[: email.SUBJECT_CHARACTERS_MAX] if subject else None
        if body is not None and self._is_sms:
            return line, sms.shown(body, values)
        return line, body.fill(values) if body else None

    def _values(
        self, item: ProposedItem, locale: str, known: Mapping[str, str], names: frozenset[str]
    ) -> Mapping[str, str]:
        own = item_values(
            names,
            recipient=item.responder_channel_identifier,
            external_reference=item.external_reference,
            send_time=item.send_time or item.due_time,
            valid_until=item.due_time + timedelta(days=self._valid_days) if self._valid_days else None,
            locale=locale,
            time_zone=self._settings.zone_name,
        )
        return placeholders.values_of(
            fixed={**self._fixed, **own},
            responder={**known, **item.metadata["responder"]},
            questionnaire=item.metadata["questionnaire"],
        )

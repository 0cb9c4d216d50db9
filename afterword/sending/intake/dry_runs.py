"""Says what would become of items, by the very rules and texts that sending goes by; reads, and writes nothing."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Final, Unpack

import msgspec

from afterword import errors, ids
from afterword.asking.questionnaires.store import Version
from afterword.core.messaging import segments
from afterword.core.messaging.addresses import CHANNEL_SMS
from afterword.core.messaging.segments import Length
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires.conditions import LeafResult
from afterword.core.scheduling.decisions import Decision
from afterword.core.scheduling.statuses import Item
from afterword.core.wire import times
from afterword.core.wire.site import Site
from afterword.kit.db import Database
from afterword.kit.web import problems
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.sending.intake import batches
from afterword.sending.intake.batches import ITEMS, ROWS_A_TURN, ROWS_MAX, Policy, ReadRow, scheduler_of
from afterword.sending.messages import composing
from afterword.sending.messages.composing import SAMPLE_ID, SampleInstance
from afterword.sending.pipelines.service import PipelinePath
from afterword.sending.queue import deciding, lanes
from afterword.sending.queue.api import declared_of
from afterword.sending.queue.deciding import Forecast
from afterword.sending.queue.lanes import LaneSettings
from afterword.sending.queue.records import (
    DecidedItem,
    QueueItemRequest,
    Simulation,
    SimulationQuery,
    SimulationRow,
    checks_of,
)
from afterword.sending.queue.scheduler import Schedule, Scheduler, changes_of, checked_rows
from afterword.sending.queue.service import ReferenceTaken

VALUE_SCOPE: Final = "Responder Value.Read"  # without it texts are filled with what the row itself says


class ProposedItem(DecidedItem, frozen=True, kw_only=True):
    send_time: datetime
    external_reference: str | None


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
    rows: Sequence[ReadRow],
    on_conflict: Policy,
    site: Site,
    **path: Unpack[PipelinePath],
) -> list[RowForecast]:
    """Forecast each row as if it were created now; raises NotFound, NotPublished."""
    scheduler = await scheduler_of(db, caller=caller, secret=site.secret, **path)
    settings, version = await lanes.get_published(db, lane=(caller.organization_id, path["pipeline_id"]))
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
    told = partial(
        _forecast,
        settings=settings,
        version=version,
        site=site,
        valid_days=scheduler.intake.valid_days,
        with_metadata=VALUE_SCOPE in caller.scopes,
    )
    found: list[RowForecast] = []
    for place, one in enumerate(proposed):
        if place % ROWS_A_TURN == 0:
            await asyncio.sleep(0)
        if isinstance(one, errors.Refusal):
            found.append(RowForecast(refusal=one))
        else:
            found.append(told(one, forecasts[one.item_id]))
    return found


async def decide_rows(
    db: Database,
    *,
    scheduler: Scheduler,
    rows: Mapping[int, tuple[QueueItemRequest, Schedule]],
    known: Collection[int],
) -> dict[int, tuple[Decision, datetime]]:
    """The decision about each row of a part of a file, by its place, and when it would leave.

    `known`: places of rows whose address an earlier row of the file has. Where that row is in another part, and the
    rules count messages to an address, it is taken to leave first.
    """
    intake = scheduler.intake
    [settings] = await lanes.list_settings(db, lanes=[(intake.organization_id, intake.pipeline_id)])
    new_ids = ids.ordered_many(intake.now, len(rows))
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
        now=intake.now,
    )
    return {
        place: (decision, decision.until or one.due_time)
        for place, one in wanted.items()
        for decision in (forecasts[one.item_id].decision,)
    }


async def _taken(db: Database, caller: Caller, scheduler: Scheduler, rows: Sequence[ReadRow]) -> dict[str, str | None]:
    """The rows' references that live items have, and which item waits under each."""
    wanted = {row.external_reference for row in rows if isinstance(row, QueueItemRequest) and row.external_reference}
    if not wanted:
        return {}
    found = await batches.list_items_by_reference(
        db,
        organization_id=caller.organization_id,
        place=(scheduler.intake.questionnaire_id, scheduler.intake.pipeline_id, False),
        external_references=sorted(wanted),
    )
    return {name: item.item_id if item.status == Item.SCHEDULED else None for name, item in found.items()}


async def _proposed_rows(
    scheduler: Scheduler, rows: Sequence[ReadRow], taken: dict[str, str | None], *, refuses: bool
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
        reason=None,
        previous_item_id=None,
        source="api",
        test=False,  # decided by the real clock
    )


def _forecast(
    item: ProposedItem,
    forecast: Forecast,
    *,
    settings: LaneSettings,
    version: Version,
    site: Site,
    valid_days: int,
    with_metadata: bool,
) -> RowForecast:
    decision, person = forecast.decision, forecast.responder
    locale = lanes.locale_of(settings, version, item.locale, person and person.locale)
    known = person.metadata if person and with_metadata else {}
    context = lanes.context_of(
        settings,
        item_id=item.item_id,
        recipient=item.responder_channel_identifier,
        version=version,
        instance=SampleInstance(locale=locale, metadata=item.metadata["questionnaire"], valid_days=valid_days),
        responder_metadata={**known, **item.metadata["responder"]},
        unsubscribe_id=SAMPLE_ID,
        sender="",
        site=site,
        now=item.due_time,
        external_reference=item.external_reference,
        send_time=item.send_time,
    )
    subject, body = composing.authored_texts(context)
    is_sms = settings.pipeline.channel_id == CHANNEL_SMS
    return RowForecast(
        decision=decision,
        leaves=forecast.leaves,
        planned_time={"go": item.due_time, "hold": decision.until, "skip": None}[decision.verdict],
        zone_name=forecast.zone_name,
        locale=locale,
        responder_id=person and person.responder_id,
        subject=subject,
        body=body,
        length=segments.measure(body) if is_sms and body is not None else None,
    )


routes = Routes(tag="Queue")


@routes.post(
    f"{ITEMS}/simulate",
    scope="Queue.Create",
    body=QueueItemRequest,
    query=SimulationQuery,
    answer=Simulation,
    rows_max=ROWS_MAX,
    summary="Say what would become of queue items",
    description=(
        "The body of a batch; nothing is written. Each row is decided about as it would be when it is due, with every "
        "rule and the filled texts; links in them are samples. Earlier rows of an address count for later ones, and "
        "so do up to 20,000 items that wait for the same addresses in open lanes. What is known of a "
        "responder already fills the texts for those with `Responder Value.Read`."
    ),
    refusals=("application_inactive", "questionnaire_not_published"),
)
async def simulate_batch(call: Call[list[ReadRow]], db: Database) -> Answer:
    declared = await declared_of(call, db)
    foreseen = await simulate(
        db,
        caller=call.caller,
        **call.ids,
        rows=checked_rows(call.body, declared),
        **call.query.named(),
        site=call.site,
    )
    return Answer(Simulation(results=[_row(call, place, one) for place, one in enumerate(foreseen)]))


def _row(call: Call[list[ReadRow]], place: int, one: RowForecast) -> SimulationRow:
    decision, refusal, zone = one.decision, one.refusal, call.zone
    return SimulationRow(
        row=place,
        valid=refusal is None,
        verdict=decision and decision.verdict,
        reason=decision and decision.reason,
        result=decision and decision.text,
        planned_time=times.format_optional(one.planned_time, zone=zone),
        time_zone=one.zone_name,
        locale=one.locale,
        responder_id=one.responder_id,
        checks=checks_of(decision.checks if decision else (), zone=zone, leaves=one.leaves),
        subject=one.subject,
        body=one.body,
        segments=one.length and one.length.segments,
        encoding=one.length and one.length.encoding,
        problem=problems.document_of(refusal, site=call.site, request_id=call.request_id) if refusal else None,
    )

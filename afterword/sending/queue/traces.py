"""The trace of an item, which explains its state, and the item that is sent in its place."""

from datetime import datetime, tzinfo
from typing import Any, Final

import msgspec

from afterword import errors
from afterword.asking.questionnaires import metadata
from afterword.asking.questionnaires.condition_rows import subjects_of
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires.metadata import KINDS, Declared
from afterword.core.scheduling.statuses import ITEM_TERMINAL, Item
from afterword.core.wire import times
from afterword.core.wire.lists import Page, Rows
from afterword.kit.db import Database
from afterword.kit.texts import SOURCE_LANGUAGE, Texts, texts
from afterword.kit.web.fields import MetadataGroups
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.sending.pipelines.resources import date_title, delay_words, summary_of
from afterword.sending.pipelines.store import Pipeline
from afterword.sending.queue import deciding, lanes, service as queue, store
from afterword.sending.queue.lanes import BLOCK_COLUMNS, LaneBlock
from afterword.sending.queue.records import (
    ATTEMPTS,
    TEXTS,
    Attempt,
    AttemptRecord,
    Check,
    QueueItem,
    QueueItemRecord,
    QueueItemRequest,
    Trace,
    checks_of,
)
from afterword.sending.queue.scheduler import Scheduler
from afterword.sending.queue.service import NewItem


async def list_attempt_records(db: Database, *, organization_id: str, item_id: str, page: Page) -> Rows[AttemptRecord]:
    rows = await db.fetch_list(
        """select row_number() over (order by a.epoch) as attempt, a.begin_time, a.finish_time, p.channel_id, a.outcome,
             a.reply_code, a.reply, a.provider_reference, lpad(a.epoch::text, 19, '0') as attempt_id
           from attempt a
           join queue_item i on i.organization_id = a.organization_id and i.item_id = a.item_id
           join pipeline p on p.organization_id = i.organization_id and p.pipeline_id = i.pipeline_id
           where a.organization_id = $1 and a.item_id = $2""",
        *(organization_id, item_id),
        page=page,
    )
    return rows.map(lambda row: AttemptRecord(**{name: row[name] for name in AttemptRecord.__struct_fields__}))


async def _get_checks(
    db: Database, *, organization_id: str, item_id: str
) -> tuple[list[dict[str, Any]], LaneBlock] | None:
    """The rule results of the last hold or skip, empty if there was none; the block of the lane now."""
    row = await db.fetch_row(
        f"""select i.trace, {BLOCK_COLUMNS}
           from queue_item i
           join pipeline p on p.organization_id = i.organization_id and p.pipeline_id = i.pipeline_id
           join channel_account a on a.organization_id = p.organization_id and a.account_id = p.account_id
           where i.organization_id = $1 and i.item_id = $2""",
        *(organization_id, item_id),
    )
    if row is None:
        return None
    trace, *block = row.values()
    return trace or [], LaneBlock(*block)


async def get_reminder_number(db: Database, *, organization_id: str, item_id: str) -> int | None:
    return await db.fetch_value(
        "select reminder_number from queue_item where organization_id = $1 and item_id = $2", organization_id, item_id
    )


async def _get_source_event(db: Database, *, item: QueueItemRecord) -> tuple[str | None, str | None]:
    """The source and the event that made the item, whose reference is the subject of the event."""
    if item.source != "source" or not item.external_reference:
        return None, None
    row = await db.fetch_row(
        """select source_id, source_event_id from source_event
           where organization_id = $1 and subject = $2 and subject <> ''
             and decisions @> jsonb_build_array(jsonb_build_object('item_id', $3::text, 'state', 'asked')) limit 1""",
        *(item.organization_id, item.external_reference, item.item_id),
    )
    return (row["source_id"], row["source_event_id"]) if row else (None, None)


ENGLISH: Final = texts("console", SOURCE_LANGUAGE)
REPEATABLE: Final = frozenset({Item.FAILED, Item.UNCERTAIN, Item.IGNORED})


class NotRepeatable(errors.Conflict):
    code_default = "item_not_repeatable"


async def explain(db: Database, *, item: QueueItemRecord, now: datetime, zone: tzinfo, words: Texts = ENGLISH) -> Trace:
    """The decision about an item as it stands now, or as it was made when the item ended.

    `words`: of the console, for the sentences of the pipeline.
    """
    found = await _get_checks(db, organization_id=item.organization_id, item_id=item.item_id)
    kept, closed_by = found or ([], None)
    is_held = bool(kept) and item.reason is not None
    moment = now if is_held or item.due_time <= now else item.due_time
    lane = (item.organization_id, item.pipeline_id)
    settings, version = await lanes.get_published(db, lane=lane)
    has_ended = item.status in ITEM_TERMINAL
    block = lanes.reason_of(closed_by) if closed_by is not None and item.status == Item.SCHEDULED else None
    if block is not None and block.until is not None and block.until <= moment:
        block = None  # it ends before the item is due
    forecasts = await deciding.foresee_items(
        db,
        items=[(item, moment)],
        settings={lane: settings},
        now=now,
        blocks={lane: block} if block else {},
        requested_time={item.item_id: item.send_time},
    )
    forecast = forecasts[item.item_id]
    decision, person = forecast.decision, forecast.responder
    if has_ended:
        planned, verdict = item.due_time, "skip" if item.status == Item.IGNORED else "done"
        checks = msgspec.convert([{"leaves": [], **check} for check in kept], list[Check])
    else:
        planned, verdict = {"go": moment, "hold": decision.until, "skip": None}[decision.verdict], decision.verdict
        checks = checks_of(decision.checks, zone=zone, leaves=forecast.leaves)
    declared = await metadata.declared_of(
        db, organization_id=item.organization_id, questionnaire_id=item.questionnaire_id
    )
    counted = await _counted(db, item, settings.pipeline, declared, words)
    source_id, source_event_id = await _get_source_event(db, item=item)
    local = planned and planned.astimezone(times.zone_of(forecast.zone_name)).replace(tzinfo=None)
    return Trace(
        item_id=item.item_id,
        status_id=item.status_id.value,
        decided_time=times.format_time(item.updated_time if has_ended else now, zone=zone),
        verdict=verdict,
        reason=item.reason if has_ended else decision.reason,
        result=item.result if has_ended else decision.text or item.result,
        planned_time=times.format_optional(planned, zone=zone),
        planned_local_time=local.isoformat(timespec="seconds") if local else None,
        delay_summary=counted,
        time_zone=forecast.zone_name,
        locale=lanes.locale_of(settings, version, item.locale, person and person.locale),
        checks=checks,
        undeclared_metadata=sorted(
            {name for kind in KINDS for name in item.metadata.get(kind, {}) if name not in getattr(declared, kind)}
        ),
        pipeline_summary=summary_of(words, settings.pipeline, time_zone=str(zone)),
        source_id=source_id,
        source_event_id=source_event_id,
    )


async def repeat(db: Database, *, caller: Caller, item_id: str, secret: bytes, now: datetime) -> QueueItemRecord:
    """A new item, due now, for one that failed or was skipped; raises NotFound, NotRepeatable."""
    item = await queue.get(db, caller=caller, item_id=item_id)
    if item.status not in REPEATABLE:
        raise NotRepeatable("Only a Failed or Ignored item can be sent again.")
    return await queue.schedule(
        db,
        new=NewItem(
            caller=caller,
            questionnaire_id=item.questionnaire_id,
            pipeline_id=item.pipeline_id,
            request=QueueItemRequest(
                **{name: getattr(item, name) for name in TEXTS},
                responder_channel_identifier=item.responder_channel_identifier,
                send_time=times.moment_at(now, times.zone_of(caller.time_zone)),
                metadata=MetadataGroups(**{kind: dict[str, str | None](item.metadata.get(kind, {})) for kind in KINDS}),
            ),
            previous_item_id=item.item_id,
            previous_questionnaire_instance_id=item.previous_questionnaire_instance_id,
            source="repetition",
            test=item.test,
        ),
        secret=secret,
    )


async def _counted(
    db: Database, item: QueueItemRecord, pipeline: Pipeline, declared: Declared, words: Texts
) -> str | None:
    """The delay in words, where it gave the item's send time, from its date."""
    if pipeline.delay_from is None:
        return None
    key = item.organization_id, item.questionnaire_id, item.pipeline_id
    intakes = await store.list_intakes(db, wanted=[key])
    subjects = subjects_of(words, definitions=(), declared=declared)
    if not any(Scheduler(intake, b"").has_delayed(item) for intake in intakes):
        return None
    return delay_words(words, pipeline, date_title(pipeline.delay_from, subjects))


ITEM: Final = "/q/queue/item/{item_id}"

routes = Routes(tag="Queue", scope="Queue")


@routes.get(
    f"{ITEM}/trace",
    answer=Trace,
    for_limited="part",
    summary="Say why an item goes, waits or went nowhere",
    description="Every rule in the order in which they decide: as it stands now, or as it was when the item ended.",
)
async def explain_item(call: Call[None], db: Database) -> Answer:
    item = await queue.get(db, caller=call.caller, **call.ids)
    return Answer(await explain(db, item=item, now=call.now, zone=call.zone))


@routes.list(
    f"{ITEM}/attempt",
    answer=Attempt,
    for_limited="part",
    shape="array",
    listing=ATTEMPTS,
    summary="Get the attempts to send an item",
)
async def list_attempts(call: Call[None], db: Database) -> Rows[AttemptRecord]:
    item = await queue.get(db, caller=call.caller, **call.ids)
    return await list_attempt_records(db, organization_id=item.organization_id, item_id=item.item_id, page=call.page)


@routes.post(
    f"{ITEM}/repetition",
    answer=QueueItem,
    for_limited="part",
    summary="Send a Failed or Ignored item again",
    description="Makes a new item, due now, whose `previous_item_id` is this one; this one stays as it is.",
    refusals=("item_not_repeatable", "application_inactive", "questionnaire_not_published"),
)
async def repeat_item(call: Call[None], db: Database) -> Answer:
    item = await repeat(db, caller=call.caller, **call.ids, secret=call.site.secret, now=call.now)
    return Answer(record=queue.visible(item, call.caller), location=f"/q/queue/item/{item.item_id}")

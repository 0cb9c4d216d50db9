"""Decides anew about the invitations of the last days, each at its send time, by stored and by changed rules."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, Unpack

import msgspec
from msgspec.structs import replace

from afterword import errors
from afterword.core.organizations.access import Caller
from afterword.core.scheduling.decisions import REMINDER
from afterword.core.scheduling.statuses import Item
from afterword.core.wire.site import Site
from afterword.kit.db import Database
from afterword.kit.nouns.declaration import NO_SITE
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.sending.pipelines import service as pipelines
from afterword.sending.pipelines.resources import PipelineUpdate
from afterword.sending.pipelines.service import PipelinePath
from afterword.sending.pipelines.store import Pipeline
from afterword.sending.queue import batches, deciding, lanes, lists, store
from afterword.sending.queue.lanes import LaneSettings
from afterword.sending.queue.lists import RequestedItems
from afterword.sending.queue.records import QueueItemRecord
from afterword.sending.queue.scheduler import Scheduler

DAYS: Final = 30
ITEMS_MAX: Final = 500
ASKED: Final = ""  # in place of the reason
NO_DATE: Final = "no_date"  # the reason of an item that a changed delay could not count for
DELAY: Final = ("delay_from", "delay_cap_days", "delay_cap_hours", "delay_cap_minutes")


class TriedChange(msgspec.Struct, frozen=True):
    """For each item by its id why it would not have been sent, `ASKED` where it would."""

    before: Mapping[str, str]
    after: Mapping[str, str]

    @property
    def moved(self) -> int:
        """Items that come out differently."""
        return sum(reason != self.after[item_id] for item_id, reason in self.before.items())

    @property
    def outcomes(self) -> list[tuple[str, int, int]]:
        """Each reason with its counts by the stored and by the changed rules, `ASKED` first."""
        before, after = Counter(self.before.values()), Counter(self.after.values())
        reasons = [ASKED, *sorted(before.keys() | after.keys() - {ASKED})]
        return [(reason, before[reason], after[reason]) for reason in dict.fromkeys(reasons)]


async def try_change(
    db: Database,
    *,
    caller: Caller,
    changes: Mapping[str, Any],
    expect: errors.Expect = errors.ANY,
    now: datetime,
    site: Site = NO_SITE,
    **path: Unpack[PipelinePath],
) -> TriedChange:
    """Decide about the newest invitations by the stored and by the changed rules. Raises as the change does."""
    changed = await pipelines.as_changed(db, caller=caller, changes=changes, expect=expect, site=site, **path)
    items = await list_newest(db, caller=caller, pipeline_id=changed.pipeline_id, now=now)
    [settings] = await lanes.list_settings(db, lanes=[(caller.organization_id, changed.pipeline_id)])
    delayed, without = await _delayed(db, items, before=settings.pipeline, after=changed)
    after = await _outcomes(db, settings=replace(settings, pipeline=changed), items=delayed, now=now)
    before = await _outcomes(db, settings=settings, items=items, now=now)
    return TriedChange(before, {**after, **dict.fromkeys(without, NO_DATE)})


async def _delayed(
    db: Database, items: Sequence[QueueItemRecord], *, before: Pipeline, after: Pipeline
) -> tuple[Sequence[QueueItemRecord], Sequence[str]]:
    """The items at the times that a changed delay gives, and the ids of those that lack the date to count from.

    A send time that is not by the stored delay was asked for, and stays.
    """
    changes = {name: getattr(after, name) for name in DELAY}
    if changes == {name: getattr(before, name) for name in DELAY}:
        return items, ()
    key = before.organization_id, before.questionnaire_id, before.pipeline_id
    [intake] = await store.list_intakes(db, wanted=[key])
    stored, changed = Scheduler(intake, b""), Scheduler(replace(intake, **changes), b"")
    found: list[QueueItemRecord] = []
    without: list[str] = []
    for item in items:
        try:
            found.append(changed.delayed(item) if stored.has_delayed(item) else item)
        except errors.Invalid:
            without.append(item.item_id)
    return found, without


async def _outcomes(
    db: Database, *, settings: LaneSettings, items: Sequence[QueueItemRecord], now: datetime
) -> dict[str, str]:
    decisions = await deciding.backtest_items(db, items=items, settings=settings, now=now)
    return {item_id: ASKED if one.verdict == "go" else one.reason or "" for item_id, one in decisions.items()}


async def list_newest(db: Database, *, caller: Caller, pipeline_id: str, now: datetime) -> list[QueueItemRecord]:
    """The newest invitations whose time has come, without tests and without those of people who were erased."""
    wanted = RequestedItems(pipeline_id=pipeline_id, from_time=now - timedelta(days=DAYS), to_time=now)
    found = await lists.list_items(db, caller=caller, wanted=wanted, limit=ITEMS_MAX)
    item_ids = [one.item_id for one in found.items if not one.test and one.source != REMINDER]
    items = await batches.list_whole_items(db, organization_id=caller.organization_id, item_ids=item_ids)
    return [
        msgspec.structs.replace(item, status=int(Item.SCHEDULED), reason=None, due_time=item.send_time)
        for item in items
        if item.anonymized_time is None
    ]


routes = Routes(tag="Pipelines")


class TriedOutcome(fields.Answer):
    """Invitations with one outcome: `reason` says why they are not asked, null that they are."""

    reason: str | None
    before: int
    after: int


class PipelineTrial(fields.Answer):
    """Outcomes of the same invitations by the stored rules (`before`) and by the changed ones (`after`)."""

    items: int
    moved: int
    outcomes: list[TriedOutcome]


@routes.post(
    "/q/questionnaire/{questionnaire_id}/pipeline/{pipeline_id}/trial",
    scope="Pipeline.Update",
    more_scopes=("Queue.Read",),
    answer=PipelineTrial,
    summary="Try changes of a pipeline",
    description=(
        f"The body of a change; nothing is written. The newest invitations of the last {DAYS} days, at most "
        f"{ITEMS_MAX} and without tests and reminders, are decided anew, each at its send time. A changed "
        "delay moves those whose send time the stored delay gave; `no_date`: one lacks the date to count from. "
        "Deliveries, responses and stops count from their own time on. A change that would be refused is refused here."
    ),
    status=200,
)
async def try_pipeline(call: Call[PipelineUpdate], db: Database) -> Answer:
    tried = await try_change(db, **call.ids, changes=call.body.given, expect=call.expect, **call.acting)
    outcomes = [
        TriedOutcome(reason=reason or None, before=before, after=after) for reason, before, after in tried.outcomes
    ]
    return Answer(PipelineTrial(items=len(tried.before), moved=tried.moved, outcomes=outcomes))

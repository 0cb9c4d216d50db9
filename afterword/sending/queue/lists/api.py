"""Routes of queue items of all pipelines."""

from dataclasses import replace
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from afterword.core.scheduling.statuses import PublicItem
from afterword.core.wire.lists import Column, Listing
from afterword.kit.db import Database
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.sending.queue import service as queue
from afterword.sending.queue.lists import service
from afterword.sending.queue.resources import QueueItem, Reference, StatusId

ITEMS: Final = "/q/queue/item"
LISTING: Final = Listing({}, (("send_time", "desc"),), "item_id", hidden={"send_time": Column("send_time", "time")})
REASON: Final = Meta(description="A code of docs/rules.md, such as `quiet_hours`.")

routes = Routes(tag="Queue")


class WaitingFilter(fields.Request):
    """A filter of items. A missing member filters nothing. The times are those of `send_time`, the end open."""

    reason: Annotated[fields.Text50, REASON] | None = None
    pipeline_id: fields.Id | None = None
    questionnaire_id: fields.Id | None = None
    application_id: fields.Id | None = None
    from_time: fields.Moment | None = None
    to_time: fields.Moment | None = None

    @property
    def wanted(self) -> service.ItemFilter:
        named = ("reason", "pipeline_id", "questionnaire_id", "application_id")
        return service.ItemFilter(
            **{name: getattr(self, name) for name in named},
            from_time=self.from_time and self.from_time.instant,
            to_time=self.to_time and self.to_time.instant,
        )


class ItemFilter(WaitingFilter):
    """The items that are counted."""

    status_id: Annotated[list[StatusId], Meta(max_length=6)] = msgspec.field(default_factory=list[Any])

    @property
    def wanted(self) -> service.ItemFilter:
        statuses = [PublicItem(one) for one in self.status_id] or tuple(PublicItem)
        return replace(super().wanted, statuses=statuses)


class ItemQuery(ItemFilter):
    """The items that are listed, and their order."""

    external_reference: Reference | None = None
    responder_channel_identifier: fields.Text320 | None = None
    oldest_first: bool = False


class QueueCount(fields.Resource):
    """Items of one status and reason."""

    status_id: StatusId
    reason: str | None
    count: int
    is_capped: Annotated[bool, Meta(description=f"True: there are more; counting ends at {service.COUNT_MAX:,}.")]


class HourQuery(fields.Request):
    """The items that are counted."""

    pipeline_id: fields.Id | None = None
    questionnaire_id: fields.Id | None = None
    application_id: fields.Id | None = None


class OverlapQuery(fields.Request):
    """The pipeline whose people are looked at."""

    pipeline_id: fields.Id


class QueueOverlap(fields.Resource):
    """Another pipeline that wrote to the same people lately."""

    pipeline_id: fields.Id
    title: str
    people: Annotated[int, Meta(description="Those that it wrote to.")]
    sampled_people: Annotated[int, Meta(description="Those that were looked at.")]


class QueueHour(fields.Resource):
    """Waiting items that become due within an hour."""

    hour: Annotated[fields.DateTime, Meta(description="Its beginning, in the organization's time zone.")]
    count: int
    is_capped: Annotated[
        bool, Meta(description=f"True: there may be more, as {service.COUNT_MAX:,} of each pipeline are counted.")
    ]


@routes.get(
    ITEMS,
    scope="Queue.Read",
    query=ItemQuery,
    answer=QueueItem,
    shape="cursor",
    listing=LISTING,
    summary="Get the queue items of all pipelines",
    description="The latest `send_time` first, or the earliest. Read on with `after`. A page filtered by pipeline, "
    "questionnaire or application may have fewer items than `limit`, or none, and a `next_cursor`.",
)
async def list_all_items(call: Call[None], db: Database) -> Answer:
    query: ItemQuery = call.query or ItemQuery()
    after_id = str(call.page.after[-1]) if call.page.after else None
    rows = await service.list_items(
        db,
        caller=call.caller,
        wanted=replace(
            query.wanted, external_reference=query.external_reference, identifier=query.responder_channel_identifier
        ),
        after=await service.key_of(db, caller=call.caller, item_id=after_id) if after_id else None,
        oldest_first=query.oldest_first,
        limit=call.page.limit,
        secret=call.site.secret,
    )
    return Answer(record=rows.map(lambda item: queue.visible(item, call.caller)))


@routes.get(
    "/q/queue/count",
    scope="Queue.Read",
    query=ItemFilter,
    answer=QueueCount,
    shape="array",
    summary="Count the queue items of all pipelines by status and reason",
)
async def count_all_items(call: Call[None], db: Database) -> Answer:
    query: ItemFilter = call.query or ItemFilter()
    found = await service.count_items(db, caller=call.caller, wanted=query.wanted)
    return Answer([QueueCount.of(one) for one in found])


@routes.get(
    "/q/queue/overlap",
    scope="Queue.Read",
    query=OverlapQuery,
    answer=QueueOverlap,
    shape="array",
    summary="Get the pipelines that write to the same people",
    description=f"Of the people of the newest {service.OVERLAP_ITEMS_MAX} items of {service.OVERLAP_DAYS} days. "
    f"At most {service.OVERLAPS_MAX} pipelines, those that wrote to most of them first.",
)
async def list_overlaps_of_pipeline(call: Call[None], db: Database) -> Answer:
    found = await service.list_overlaps(db, caller=call.caller, pipeline_id=call.query.pipeline_id, now=call.now)
    return Answer([QueueOverlap.of(one) for one in found])


@routes.get(
    "/q/queue/hour",
    scope="Queue.Read",
    query=HourQuery,
    answer=QueueHour,
    shape="array",
    summary="Count the waiting queue items of the next seven days by hour",
    description="By the hour in which they become due; the rules then decide about each. Empty hours are absent.",
)
async def count_hours_of_items(call: Call[None], db: Database) -> Answer:
    query: HourQuery = call.query or HourQuery()
    found = await service.count_hours(
        db,
        caller=call.caller,
        wanted=service.ItemFilter(**{name: getattr(query, name) for name in HourQuery.__struct_fields__}),
        time_zone=call.caller.time_zone,
        now=call.now,
    )
    return Answer([QueueHour.of(one, call.zone) for one in found])

"""Judges responses that were held back: accepted ones count, rejected ones do not; each can be reversed."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Final, Literal, LiteralString, Unpack

import msgspec
from msgspec import Meta

from afterword import errors
from afterword.asking.instances import answers, store as instances_store
from afterword.asking.instances.store import INSTANCE_COLUMNS, Instance
from afterword.core.answers.suspicion import Flag
from afterword.core.organizations.access import Caller, Reach, values_of
from afterword.core.wire.lists import Page, Rows
from afterword.errors import FieldError
from afterword.events import service as events
from afterword.kit.db import Database
from afterword.kit.nouns.declaration import Hidden
from afterword.kit.nouns.structs import shown_as
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.tenants.organizations import plans

State = Literal["held", "rejected", "accepted", "marked"]
STATES: Final[tuple[State, ...]] = ("held", "rejected", "accepted", "marked")


class DoubtfulResponseRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A response with signs of a machine or of haste."""

    instance_id: fields.Id
    questionnaire_id: fields.Id
    questionnaire_name: Annotated[str, Hidden()]
    link_id: Annotated[fields.Id | None, Meta(description="The public link at which it began.")]
    link_title: Annotated[str | None, Hidden()]
    submitted_time: Annotated[datetime, Meta(description="When its first answer came.")]
    flags: Annotated[fields.Computed[list[Flag]], Meta(description="The last two hold no response back.")]
    state: fields.Computed[State]


DOUBTFUL: Final[LiteralString] = """from questionnaire_instance i
  join questionnaire q on q.organization_id = i.organization_id and q.questionnaire_id = i.questionnaire_id
  where i.organization_id = $1 and i.flags is not null and i.deleted_time is null and not (i.test or $3::boolean)
    and coalesce(i.submitted_time, i.held_submitted_time) is not null
    and (cardinality($2::text[]) = 0 or q.owner_application_id = any($2))"""


async def list_doubtful(
    db: Database, *, state: State, flag: str | None, page: Page, **reach: Unpack[Reach]
) -> Rows[DoubtfulResponseRecord]:
    return await db.records(DoubtfulResponseRecord).fetch_list(
        f"""select i.instance_id, i.questionnaire_id, q.display_name as questionnaire_name, i.link_id,
              (select l.title from public_link l
               where l.organization_id = i.organization_id and l.link_id = i.link_id) as link_title,
              coalesce(i.submitted_time, i.held_submitted_time) as submitted_time, i.flags,
              coalesce(i.judgement, 'marked') as state
            {DOUBTFUL} and coalesce(i.judgement, 'marked') = $4
              and ($5::text is null or i.flags @> array[$5::text])""",
        *(*values_of(reach), reach["test_only"], state, flag),
        page=page,
    )


async def count_doubtful(
    db: Database, *, states: Sequence[State], limit: int, **reach: Unpack[Reach]
) -> dict[State, int]:
    return await db.fetch_pairs(
        f"""select k.state, (select count(*) from (
              select {DOUBTFUL} and coalesce(i.judgement, 'marked') = k.state limit $4) i) as count
            from unnest($5::text[]) k (state)""",
        *(*values_of(reach), reach["test_only"], limit, list(states)),
    )


async def _update_accepted(
    db: Database, *, organization_id: str, instance_id: str, now: datetime, updated_by: str | None
) -> Instance:
    """Give a response that is kept apart its times, and count its answers."""
    return await db.records(Instance.of).fetch_one(
        f"""with answers as (
             update answer set provisional = false
             where organization_id = $1 and instance_id = $2 and provisional)
           update questionnaire_instance
           set judgement = 'accepted', viewed_time = coalesce(viewed_time, held_submitted_time),
             submitted_time = held_submitted_time, completed_time = held_completed_time, held_submitted_time = null,
             held_completed_time = null, version = version + 1, updated_time = greatest(updated_time, $3),
             updated_by = $4
           where organization_id = $1 and instance_id = $2 returning {INSTANCE_COLUMNS}""",
        *(organization_id, instance_id, now, updated_by),
    )


async def _update_rejected(
    db: Database, *, organization_id: str, instance_id: str, now: datetime, updated_by: str | None
) -> Instance:
    return await db.records(Instance.of).fetch_one(
        f"""with answers as (
             update answer set provisional = true
             where organization_id = $1 and instance_id = $2 and not provisional)
           update questionnaire_instance
           set judgement = 'rejected', viewed_time = null,
             held_submitted_time = coalesce(held_submitted_time, submitted_time),
             held_completed_time = coalesce(held_completed_time, completed_time), submitted_time = null,
             completed_time = null, version = version + 1, updated_time = greatest(updated_time, $3), updated_by = $4
           where organization_id = $1 and instance_id = $2 returning {INSTANCE_COLUMNS}""",
        *(organization_id, instance_id, now, updated_by),
    )


JUDGED_MAX: Final = 100  # at once: each that is accepted is read whole, for its event

Decision = Literal["accepted", "rejected"]


async def judge(db: Database, *, caller: Caller, instance_ids: Sequence[str], decision: Decision, now: datetime) -> int:
    """The number of newly judged ones; those never held back stay as they are. Raises Invalid for ids out of reach."""
    reached = {
        instance_id: await instances_store.get_instance(db, **caller.sight, instance_id=instance_id, is_locked=True)
        for instance_id in sorted(set(instance_ids))  # in this order, so that two who judge at once do not wait in turn
    }
    errors.check(
        [
            FieldError("unknown_id", "There is no such instance.", pointer=f"/instance_ids/{index}")
            for index, instance_id in enumerate(instance_ids)
            if reached[instance_id] is None
        ]
    )
    count = 0
    for instance in reached.values():
        if instance is None or instance.judgement in {None, decision} or instance.answered_time is None:
            continue
        change = accept if decision == "accepted" else _reject
        await change(db, caller=caller, before=instance, now=now)
        count += 1
    return count


async def accept(db: Database, *, caller: Caller, before: Instance, now: datetime) -> None:
    """Record the events that the response would have had: rules and webhooks follow them as always."""
    after = await _update_accepted(db, **before.key, now=now, updated_by=caller.actor_id or None)
    context = await answers.context_of(db, instance=after)
    recorded = [after.event("accepted", now=now, caller=caller)]
    recorded += [after.event("viewed", now=now)] if before.viewed_time is None else []
    recorded.append(after.event("submitted", now=now))
    recorded += [answers.completed_event(context, now=now)] if after.finalized else []
    await events.record(db, events=recorded)
    if before.judgement == "held" and context.questionnaire.credits_accountable:
        key = {"organization_id": after.organization_id, "application_id": context.questionnaire.owner_application_id}
        await plans.use_credit(db, **key, now=now)


async def _reject(db: Database, *, caller: Caller, before: Instance, now: datetime) -> None:
    after = await _update_rejected(db, **before.key, now=now, updated_by=caller.actor_id or None)
    # The event tells the times that it had, by which readers find the day in which they counted it.
    told = msgspec.structs.replace(after, submitted_time=before.submitted_time, completed_time=before.completed_time)
    await events.record(db, events=[told.event("rejected", now=now, caller=caller)])


PATH: Final = "/q/response/doubtful"
routes = Routes(tag="Responses")


class DoubtfulQuery(fields.Request):
    """The doubtful responses that are listed."""

    state: Annotated[State, Meta(description="`marked`: never held back.")] = "held"
    flag: Annotated[Flag | None, Meta(description="Those with this sign.")] = None


class JudgementRequest(fields.Request):
    """A judgement of responses that were held back."""

    instance_ids: Annotated[
        Annotated[list[fields.Id], Meta(min_length=1, max_length=JUDGED_MAX)],
        Meta(description="Each is judged that was held back and not judged so before."),
    ]
    judgement: Annotated[Decision, Meta(description="Can be reversed by the other one.")]


class JudgementResult(fields.Answer):
    """The outcome of a judgement."""

    count: Annotated[int, Meta(description="The responses that were not judged so before.")]


DoubtfulResponse: Final = shown_as("DoubtfulResponse", DoubtfulResponseRecord)
LISTING: Final = fields.listing_of(DoubtfulResponse, order=(("submitted_time", "desc"),))


@routes.list(
    PATH,
    scope="Questionnaire Instance.Read",
    answer=DoubtfulResponse,
    query=DoubtfulQuery,
    listing=LISTING,
    summary="Get all doubtful responses",
    description="`held` and `rejected` ones count nowhere, `accepted` and `marked` ones do.",
)
async def list_doubtful_responses(call: Call[None], db: Database) -> Answer:
    query: DoubtfulQuery = call.query
    rows = await list_doubtful(db, **call.caller.reach, state=query.state, flag=query.flag, page=call.page)
    return Answer(record=rows)


@routes.post(
    f"{PATH}/judgement",
    scope="Questionnaire Instance.Update",
    answer=JudgementResult,
    status=200,
    summary="Accept or reject responses that were held back",
    description="Accepted ones count from now on, with their own times, and get the events of a response. Responses "
    "that were never held back stay as they are.",
)
async def judge_responses(call: Call[JudgementRequest], db: Database) -> Answer:
    count = await judge(
        db, caller=call.caller, instance_ids=call.body.instance_ids, decision=call.body.judgement, now=call.now
    )
    return Answer(JudgementResult(count=count))

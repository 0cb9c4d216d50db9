"""Invitations behind a figure of a report: exactly those that it counts."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Final, Literal, LiteralString

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from afterword import errors
from afterword.asking.instances.resources import QuestionnaireInstance, instance_of
from afterword.asking.instances.store import SHOWN_COLUMNS, ShownInstance
from afterword.asking.questionnaires import contexts
from afterword.core.figures import queries
from afterword.core.figures.queries import CountQuery, ReportContext, ReportQuery
from afterword.core.figures.reports import Basis
from afterword.core.organizations.access import Caller
from afterword.core.reading.findings import Findings
from afterword.core.wire.lists import Column, Listing, Rows
from afterword.kit.db import Database
from afterword.kit.db.columns import qualified
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.listening.reports import counts
from afterword.listening.reports.counts import HAS_ANSWERED, IS_INVITED
from afterword.listening.reports.resources import FILTER_CHARACTERS_MAX, QuestionnaireIds, query_of

COUNT_MAX: Final = 10_000  # beyond it a count says "at least"

Key = tuple[datetime, str]  # the time by the basis, and the instance's id


class Filter(msgspec.Struct, frozen=True, kw_only=True):
    """`stages`: all of them were reached. `channel_id`: 0 for a link that was not sent. None: any."""

    stages: Sequence[str] = ()
    channel_id: int | None = None
    pipeline_id: str | None = None
    version_id: str | None = None
    locale: str | None = None


class Found(msgspec.Struct, frozen=True):
    """The query that counts the invitations; `instance_ids`: those that meet its condition, None without one."""

    asked: CountQuery
    instance_ids: Sequence[str] | None
    chosen: Filter


class Invitation(ShownInstance, frozen=True):
    """An instance with its message; `at`: the time by which it counts."""

    item_id: str | None
    responder_channel_identifier: str | None
    bounced_time: datetime | None
    at: datetime


_SHOWN_I: Final = qualified(SHOWN_COLUMNS, "i")
_ANSWERED_APART: Final[LiteralString] = f"({HAS_ANSWERED} and $6 && '{{sent,delivered}}')"
_SENT: Final[LiteralString] = "coalesce(i.sent_time, i.created_time)"
# The time by each basis, with an index for each; by the basis $11 of test data, which are few.
_TIMES: Final[Mapping[Basis, LiteralString]] = {
    "sent": _SENT, "submitted": "i.submitted_time", "completed": "i.completed_time",
}  # fmt: skip
_TIME_OF_TESTS: Final[LiteralString] = f"""case $11::text when 'submitted' then i.submitted_time
  when 'completed' then i.completed_time else {_SENT} end"""
# Of $1 organization and $2 questionnaires, from $3 up to $4, among $5 (null: all); $6 stages; $7 to $10 as in `Filter`.
# An anonymous response counts for its answers alone; of its invitation is known that it was answered.
_CHOSEN: Final[LiteralString] = f"""i.organization_id = $1 and i.deleted_time is null and $11::text is not null
  and ($5::text[] is null or i.instance_id = any($5))
  and ($7::integer is null or coalesce(i.channel_id, 0) = $7) and ($8::text is null or i.pipeline_id = $8)
  and ($9::text is null or i.version_id = $9) and ($10::text is null or i.locale = $10)
  and ({IS_INVITED} or $6::text[] && '{{viewed,started,submitted,completed,answered}}')
  and (i.sent_time is not null or 'sent' <> all($6))
  and (i.delivered_time is not null or 'delivered' <> all($6))
  and (i.bounced_time is not null or 'bounced' <> all($6)) and (i.viewed_time is not null or 'viewed' <> all($6))
  and (coalesce(i.submitted_time, i.completed_time) is not null or 'started' <> all($6))
  and (i.submitted_time is not null or 'submitted' <> all($6) or {_ANSWERED_APART})
  and (i.completed_time is not null or 'completed' <> all($6) or {_ANSWERED_APART})
  and (i.completed_time is not null or 'answered' <> all($6) or {_ANSWERED_APART} or i.submitted_time is not null
    and 2 * (select count(*) from answer a
      where a.organization_id = i.organization_id and a.instance_id = i.instance_id and not a.provisional
        and a.value not in ('null', '[]', '{{}}')) >= cardinality(i.question_ids))"""


def _time(asked: CountQuery) -> LiteralString:
    return _TIME_OF_TESTS if asked.test else _TIMES[asked.basis]


def _source(asked: CountQuery) -> LiteralString:
    time: LiteralString = _time(asked)
    test: LiteralString = "i.test" if asked.test else "not i.test"
    return f"""from unnest($2::text[]) s (questionnaire_id) cross join lateral (
      select i.instance_id, {time} as at from questionnaire_instance i
      where i.questionnaire_id = s.questionnaire_id and {time} >= $3 and {time} < $4 and {test} and {_CHOSEN}"""


async def list_invitations(db: Database, found: Found, *, after: Key | None = None, limit: int) -> Rows[Invitation]:
    """A page of them, the newest first."""
    time: LiteralString = _time(found.asked)
    rows = await db.fetch(
        f"""with found as (
              select x.instance_id, x.at {_source(found.asked)} and ({time}, i.instance_id) < ($12, $13::text)
                order by {time} desc, i.instance_id desc limit $14) x
              order by x.at desc, x.instance_id desc limit $14)
            select {_SHOWN_I}, i.item_id, i.bounced_time, found.at, q.responder_channel_identifier
            from found join questionnaire_instance i on i.organization_id = $1 and i.instance_id = found.instance_id
            left join queue_item q on q.organization_id = i.organization_id and q.item_id = i.item_id
              and q.deleted_time is null
            order by found.at desc, found.instance_id desc""",
        found.asked.organization_id,
        *_parameters(found),
        *(after or (found.asked.period.to_time, "")),
        limit + 1,
    )
    items = [Invitation(**row) for row in rows[:limit]]
    has_more = len(rows) > limit
    return Rows(items, next_key=(items[-1].at, items[-1].instance_id) if has_more else None, has_more=has_more)


async def count_invitations(db: Database, found: Found) -> int:
    """Their number, up to one more than COUNT_MAX."""
    return await db.fetch_value(
        f"select count(*) from (select 1 {_source(found.asked)} limit $12) x limit $12) n",
        found.asked.organization_id,
        *_parameters(found),
        COUNT_MAX + 1,
    )


async def get_key(db: Database, found: Found, instance_id: str) -> Key | None:
    """The place of an instance in the list."""
    if found.instance_ids is not None and instance_id not in found.instance_ids:
        return None
    at = await db.fetch_value(
        """select case $3 when 'submitted' then submitted_time when 'completed' then completed_time
             else coalesce(sent_time, created_time) end
           from questionnaire_instance where organization_id = $1 and instance_id = $2""",
        *(found.asked.organization_id, instance_id, found.asked.basis),
    )
    return None if at is None else (at, instance_id)


def _parameters(found: Found) -> tuple[Any, ...]:
    """The values $2 to $11 of `_CHOSEN`."""
    asked, chosen = found.asked, found.chosen
    return (
        list(asked.questionnaire_ids),
        *(asked.period.from_time, asked.period.to_time),
        found.instance_ids,
        list(chosen.stages),
        *(chosen.channel_id, chosen.pipeline_id, chosen.version_id, chosen.locale, asked.basis),
    )


async def find(db: Database, *, caller: Caller, query: ReportQuery, chosen: Filter, now: datetime) -> Found:
    """The invitations that a query counts.

    Raises Invalid for questionnaires out of reach, and for a condition over too many.
    """
    findings = Findings(place=queries.parameter)
    if query.filter is None:  # which alone needs the questions
        await contexts.check_questionnaires(db, caller=caller, query=query, findings=findings)
        context = ReportContext(
            organization_id=caller.organization_id,
            time_zone=caller.time_zone,
            minimum_base=0,
            first_weekday=1,
            questions={},
            declared=(),
            test=caller.test,
            only=caller.only,
        )
    else:
        context = await contexts.load_context(db, caller=caller, query=query, findings=findings)
    run = queries.plan(replace(query, metrics=(("created", None),)), context, now=now, findings=findings)
    asked = run.of_cases(run.period)
    return Found(asked, (await counts.scope_of(db, asked, asked.spans)).instance_ids, chosen)


LISTING: Final = Listing({}, (("at", "desc"),), "instance_id", hidden={"at": Column("at", "time")})
STAGES_MAX: Final = 9

routes = Routes(tag="Reports", scope="Questionnaire Instance")

Stage = Literal[
    "created", "sent", "delivered", "bounced", "viewed", "started", "submitted", "answered", "completed"
]  # fmt: skip


class InvitationQuery(fields.Request):
    """The members of a row's `selection`, and the stages that the figure is about."""

    questionnaire_id: QuestionnaireIds
    from_time: fields.Moment | None = None
    to_time: fields.Moment | None = None
    date_basis: Basis = "sent"
    stage: Annotated[
        list[Stage],
        Meta(
            max_length=STAGES_MAX,
            description="All of them were reached. `started`: an answer or the end; `answered`: half of the questions.",
        ),
    ] = msgspec.field(default_factory=list[Stage])
    channel_id: Annotated[
        Annotated[int, Meta(ge=0, le=32_767)] | None, Meta(description="0: a link that was not sent.")
    ] = None
    pipeline_id: fields.Id | None = None
    version_id: fields.Id | None = None
    locale: fields.LocaleNormal | None = None
    filter: Annotated[str, Meta(max_length=FILTER_CHARACTERS_MAX)] | None = None


@routes.get(
    "/report/invitation",
    query=InvitationQuery,
    answer=QuestionnaireInstance,
    for_limited="part",
    shape="cursor",
    listing=LISTING,
    is_long=True,
    summary="Get the invitations behind a figure",
    description="Exactly those that a row or a total counts: give its `selection`, and of a stage its name. A rate "
    "counts those of two stages: `delivery` is `sent` and `delivered`. The newest by `date_basis` first.",
)
async def list_report_invitations(call: Call[None], db: Database) -> Answer:
    query: InvitationQuery = call.query
    found = await find(
        db,
        caller=call.caller,
        query=query_of(query),
        chosen=Filter(
            stages=query.stage,
            channel_id=query.channel_id,
            pipeline_id=query.pipeline_id,
            version_id=query.version_id,
            locale=query.locale,
        ),
        now=call.now,
    )
    after_id = str(call.page.after[-1]) if call.page.after else ""
    after = await get_key(db, found, after_id) if after_id else None
    if after_id and after is None:
        message = "The instance that this cursor stood on is gone; start again."
        raise errors.Invalid.in_query("after", "invalid_cursor", message)
    rows = await list_invitations(db, found, after=after, limit=call.page.limit)
    return Answer(rows.map(lambda one: instance_of(one, call.public_pages, call.zone)))

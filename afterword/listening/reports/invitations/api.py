"""The HTTP route of invitations behind the figures of reports."""

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from afterword.asking.instances.resources import QuestionnaireInstance, instance_of
from afterword.core.figures.cells import Basis
from afterword.core.figures.queries import ReportQuery
from afterword.core.figures.reports import QUESTIONNAIRES_MAX
from afterword.core.wire.lists import Column, Listing
from afterword.kit.db import Database
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.listening.reports.invitations import service
from afterword.listening.reports.invitations.store import Filter
from afterword.listening.reports.resources import FILTER_CHARACTERS_MAX, condition_of

LISTING: Final = Listing({}, (("at", "desc"),), "instance_id", hidden={"at": Column("at", "time")})
STAGES_MAX: Final = 9

routes = Routes(tag="Reports")

Stage = Literal[
    "created", "sent", "delivered", "bounced", "viewed", "started", "submitted", "answered", "completed"
]  # fmt: skip


class InvitationQuery(fields.Request):
    """The members of a row's `selection`, and the stages that the figure is about."""

    questionnaire_id: Annotated[list[fields.Id], Meta(min_length=1, max_length=QUESTIONNAIRES_MAX)]
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
    scope="Questionnaire Instance.Read",
    query=InvitationQuery,
    answer=QuestionnaireInstance,
    shape="cursor",
    listing=LISTING,
    summary="Get the invitations behind a figure",
    description="Exactly those that a row or a total counts: give its `selection`, and of a stage its name. A rate "
    "counts those of two stages: `delivery` is `sent` and `delivered`. The newest by `date_basis` first.",
)
async def list_report_invitations(call: Call[None], db: Database) -> Answer:
    query: InvitationQuery = call.query
    found = await service.find(
        db,
        caller=call.caller,
        query=ReportQuery(
            questionnaire_ids=tuple(dict.fromkeys(query.questionnaire_id)),
            filter=condition_of(query.filter),
            from_time=query.from_time and query.from_time.instant,
            to_time=query.to_time and query.to_time.instant,
            date_basis=query.date_basis,
        ),
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
    after = await service.key_of(db, found, after_id) if after_id else None
    rows = await service.page(db, found, after=after, limit=call.page.limit)
    return Answer(rows.map(lambda one: instance_of(one, call.public_pages, call.zone)))

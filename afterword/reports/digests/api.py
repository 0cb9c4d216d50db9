"""The HTTP routes of digests: reports that the token's user gets by mail."""

from datetime import tzinfo
from typing import Annotated, Literal

from msgspec import Meta

from afterword.core.figures import digests
from afterword.core.wire.times import format_optional, format_time
from afterword.db import Database
from afterword.reports.digests import service, store
from afterword.web import fields
from afterword.web.operations import Answer, Call, Routes

routes = Routes(tag="Reports")

Day = Annotated[
    int, Meta(ge=1, le=digests.MONTH_DAYS_MAX, description="Of the week, from Monday 1 to 7, or of the month, to 28.")
]
Hour = Annotated[int, Meta(ge=0, le=23, description="In the organization's time zone.")]


class ReportDigestRequest(fields.Request):
    """A report to be mailed regularly."""

    frequency: Literal["weekly", "monthly"]
    day: Day
    report_id: Annotated[fields.Id | None, Meta(description="The saved report; null: the overview.")] = None
    hour: Hour = 8
    locale: Annotated[Literal["en", "el"], Meta(description="The language of the mail.")] = "en"


class ReportDigest(fields.Answer):
    """A report that is mailed to the token's user with the figures that the user may see at that time."""

    digest_id: fields.Id
    report_id: Annotated[fields.Id | None, Meta(description="The saved report; null: the overview.")]
    frequency: Literal["weekly", "monthly"]
    day: Day
    hour: Hour
    locale: str
    due_time: fields.DateTime
    sent_time: fields.DateTime | None
    created_time: fields.DateTime


def _shown(one: store.Digest, zone: tzinfo) -> ReportDigest:
    return ReportDigest(
        digest_id=one.digest_id,
        report_id=one.report_id,
        frequency=one.frequency,
        day=one.day,
        hour=one.hour,
        locale=one.locale,
        due_time=format_time(one.due_time, zone=zone),
        sent_time=format_optional(one.sent_time, zone=zone),
        created_time=format_time(one.created_time, zone=zone),
    )


@routes.get(
    "/report/digest",
    scope="Report.Read",
    answer=ReportDigest,
    shape="array",
    summary="Get all digests",
    description="Those of the token's user; a token of the organization has none.",
)
async def list_report_digests(call: Call[None], db: Database) -> Answer:
    return Answer([_shown(one, call.zone) for one in await service.list_of(db, caller=call.caller)])


@routes.post(
    "/report/digest",
    scope="Report.Read",
    body=ReportDigestRequest,
    answer=ReportDigest,
    summary="Create a digest",
    description="Mails the report, or the overview, to the token's user every week or month, until it is deleted.",
)
async def create_report_digest(call: Call[ReportDigestRequest], db: Database) -> Answer:
    columns = {name: getattr(call.body, name) for name in ReportDigestRequest.__struct_fields__}
    found = await service.create(db, caller=call.caller, columns=columns, now=call.now)
    return Answer(_shown(found, call.zone), location="/report/digest")


@routes.post(
    "/report/digest/{digest_id}/mail",
    scope="Report.Read",
    answer=ReportDigest,
    summary="Send a digest now",
    description="Sends one more mail within some seconds. The days of the others stay.",
    status=200,
)
async def send_report_digest(call: Call[None], db: Database) -> Answer:
    found = await service.send_now(db, caller=call.caller, **call.ids, now=call.now)
    return Answer(_shown(found, call.zone))


@routes.delete("/report/digest/{digest_id}", scope="Report.Read", summary="Stop a digest")
async def delete_report_digest(call: Call[None], db: Database) -> None:
    await service.stop(db, caller=call.caller, **call.ids, expect=call.expect)

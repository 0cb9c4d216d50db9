"""The HTTP routes of links to reports."""

from typing import Annotated

from msgspec import Meta

from afterword.kit.db import Database
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.listening.reports.shares import service

routes = Routes(tag="Reports")


class ReportShareRequest(fields.Request):
    """A link to a report for somebody without a login."""

    days: Annotated[int, Meta(ge=1, le=service.DAYS_MAX)] = 30


class ReportShare(fields.Resource):
    """A link to a report. Its reader sees whole months, and no small groups."""

    share_id: fields.Id
    report_id: fields.Id
    expires_time: fields.DateTime
    created_time: fields.DateTime
    created_by: fields.Id | None
    share_url: fields.ShownOnce = None


@routes.get(
    "/report/custom/{report_id}/share",
    scope="Report.Read",
    answer=ReportShare,
    shape="array",
    summary="Get the links to a report",
    description="Also those that ended in the last 30 days.",
)
async def list_report_shares(call: Call[None], db: Database) -> Answer:
    found = await service.list_of(db, caller=call.caller, **call.ids)
    return Answer([ReportShare.of(one, call.zone) for one in found])


@routes.post(
    "/report/custom/{report_id}/share",
    scope="Report.Update",
    body=ReportShareRequest,
    answer=ReportShare,
    summary="Create a link to a report",
    description="Whoever has its `share_url` reads the figures without a login, until it ends. It is shown this once.",
)
async def create_report_share(call: Call[ReportShareRequest], db: Database) -> Answer:
    report_id = call.ids["report_id"]
    share, secret = await service.create(db, caller=call.caller, report_id=report_id, days=call.body.days, now=call.now)
    url = url_of(call.site.public_url, share.organization_id, secret)
    return Answer(ReportShare.of(share, call.zone, share_url=url), location=f"/report/custom/{report_id}/share")


@routes.delete("/report/custom/{report_id}/share/{share_id}", scope="Report.Update", summary="End a link to a report")
async def delete_report_share(call: Call[None], db: Database) -> None:
    report_id, share_id = call.ids["report_id"], call.ids["share_id"]
    await service.end(db, caller=call.caller, report_id=report_id, share_id=share_id, expect=call.expect)


def url_of(public_url: str, organization_id: str, secret: str) -> str:
    return f"{public_url}/console/shared/{organization_id}/{secret}"

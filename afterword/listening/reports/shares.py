"""Links to reports: made for some days, listed, ended, and read as by somebody who may read figures alone."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Annotated, Final, LiteralString

import msgspec
from msgspec import Meta

from afterword import errors, ids
from afterword.core.figures.queries import Plan
from afterword.core.organizations.access import Caller, Limit, installation
from afterword.kit.db import Database
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.listening.reports import custom_reports, results
from afterword.listening.reports.custom_reports import CustomReport


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """`application_ids`: those that its maker reached; none: all. `limited_to`: `Caller.only` of the maker."""

    organization_id: str
    share_id: str
    report_id: str
    application_ids: Sequence[str]
    limited_to: Sequence[str] | None
    expires_time: datetime
    created_time: datetime
    created_by: str | None


_COLUMNS: Final[LiteralString] = """organization_id, share_id, report_id, application_ids, limited_to, expires_time,
  created_time, created_by"""


async def _insert_share(db: Database, *, organization_id: str, share: Share, digest: bytes) -> None:
    await db.execute(
        f"insert into report_share ({_COLUMNS}, digest) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        *(organization_id, *msgspec.structs.astuple(share)[1:], digest),
    )


async def _get_share(db: Database, *, organization_id: str, digest: bytes) -> Share | None:
    return await db.records(Share).fetch_row(
        f"select {_COLUMNS} from report_share where organization_id = $1 and digest = $2", organization_id, digest
    )


async def list_shares(
    db: Database, *, organization_id: str, report_id: str, only: Sequence[str] | None, limit: int
) -> list[Share]:
    """Of somebody with a limit those with the same one."""
    return await db.records(Share).fetch(
        f"""select {_COLUMNS} from report_share where organization_id = $1 and report_id = $2
             and ($4::text[] is null or limited_to = $4)
           order by created_time desc, share_id limit $3""",
        *(organization_id, report_id, limit, only),
    )


async def _delete_share(
    db: Database, *, organization_id: str, report_id: str, share_id: str, only: Sequence[str] | None
) -> int:
    return await db.execute(
        """delete from report_share where organization_id = $1 and report_id = $2 and share_id = $3
             and ($4::text[] is null or limited_to = $4)""",
        *(organization_id, report_id, share_id, only),
    )


SHARES_MAX: Final = 20  # of a report
DAYS_MAX: Final = 366
VERSION: Final = 1  # of every link: they are made and ended, never changed
KEPT_DAYS: Final = 30  # after the end, so that a late reader learns that it has ended
COARSE: Final[Mapping[str, str]] = {"day": "month", "week": "month"}


class ShareEnded(errors.Gone):
    """Its time is over."""

    code_default = "link_gone"


async def create(db: Database, *, caller: Caller, report_id: str, days: int, now: datetime) -> tuple[Share, str]:
    """Make a link, and return its secret, which is stored nowhere.

    Raises NotFound, and Invalid for a report that readers of figures alone may not read, or for one link too many.
    Raises Forbidden for test tokens, since a link shows the figures of real people.
    """
    caller.require_real()
    report = await custom_reports.get(db, caller=caller, report_id=report_id, is_locked=True)
    if report.has_texts:
        raise errors.Invalid.at("", "unknown_value", "It shows words of comments, and a link shows figures alone.")
    key = {"organization_id": caller.organization_id, "report_id": report_id}
    if len(await list_shares(db, **key, only=None, limit=SHARES_MAX)) >= SHARES_MAX:
        raise errors.Invalid.at("", "too_many", f"A report has {SHARES_MAX} links at most.")
    await _plan(db, caller=_reader(caller), report=report, now=now)
    secret = ids.secret()
    share = Share(
        **key,
        share_id=ids.ordered(now),
        application_ids=caller.application_ids,
        limited_to=caller.only,
        expires_time=now + timedelta(days=days),
        created_time=now,
        created_by=caller.actor_id,
    )
    await _insert_share(db, organization_id=caller.organization_id, share=share, digest=ids.digest(secret))
    return share, secret


async def list_of(db: Database, *, caller: Caller, report_id: str) -> list[Share]:
    """The links of a report, also those that ended lately. Raises NotFound."""
    await custom_reports.get(db, caller=caller, report_id=report_id)
    key = {"organization_id": caller.organization_id, "report_id": report_id}
    return await list_shares(db, **key, only=caller.only, limit=SHARES_MAX)


async def end(
    db: Database, *, caller: Caller, report_id: str, share_id: str, expect: errors.Expect = errors.ANY
) -> None:
    """Raises NotFound, Forbidden for test tokens, and what `expect` raises, before which nothing is kept."""
    caller.require_real()
    await custom_reports.get(db, caller=caller, report_id=report_id)
    key = {"organization_id": caller.organization_id, "report_id": report_id, "share_id": share_id}
    if not await _delete_share(db, **key, only=caller.only):
        raise errors.NotFound("There is no such link.")
    expect(VERSION)


async def read(db: Database, *, organization_id: str, secret: str, now: datetime) -> tuple[CustomReport, Plan]:
    """The report of a link, planned for its reader. Raises NotFound, ShareEnded, Invalid."""
    share = await _get_share(db, organization_id=organization_id, digest=ids.digest(secret))
    if share is None:
        raise errors.NotFound("There is no such report.")
    if share.expires_time <= now:
        raise ShareEnded("This link has ended.")
    maker = replace(installation(organization_id), application_ids=tuple(share.application_ids))
    if share.limited_to is not None:
        maker = replace(maker, limit=Limit(share.limited_to[0], tuple(share.limited_to[1:])))
    reader = _reader(maker)
    report = await custom_reports.get(db, caller=reader, report_id=share.report_id)
    return report, await _plan(db, caller=reader, report=report, now=now)


async def preview(db: Database, *, caller: Caller, report_id: str, now: datetime) -> tuple[CustomReport, Plan]:
    """The report as the reader of a link that this caller makes gets it. Raises NotFound, Invalid."""
    report = await custom_reports.get(db, caller=caller, report_id=report_id)
    return report, await _plan(db, caller=_reader(caller), report=report, now=now)


def _reader(maker: Caller) -> Caller:
    """Somebody who may read figures alone, of what the maker of the link sees."""
    reader = replace(installation(maker.organization_id), scopes=frozenset({"Report.Read"}))
    return replace(reader, application_ids=maker.application_ids, limit=maker.limit)


async def _plan(db: Database, *, caller: Caller, report: CustomReport, now: datetime) -> Plan:
    """Whole months of the organization's time zone, by the date basis that such readers have."""
    bucket = report.spec["bucket"]
    spec = {**report.spec, "bucket": COARSE.get(bucket, bucket), "date_basis": None, "time_zone": None}
    return await results.planned(db, caller=caller, spec=spec, now=now)


routes = Routes(tag="Reports", scope="Report")


class ReportShareRequest(fields.Request):
    """A link to a report for somebody without a login."""

    days: Annotated[int, Meta(ge=1, le=DAYS_MAX)] = 30


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
    answer=ReportShare,
    shape="array",
    for_limited="part",
    summary="Get the links to a report",
    description="Also those that ended in the last 30 days. Callers with a limit see those with the same limit.",
)
async def list_report_shares(call: Call[None], db: Database) -> Answer:
    return Answer([ReportShare.of(one, call.zone) for one in await list_of(db, caller=call.caller, **call.ids)])


@routes.post(
    "/report/custom/{report_id}/share",
    scope="Report.Update",
    answer=ReportShare,
    for_limited="part",
    summary="Create a link to a report",
    description="Whoever has its `share_url` reads the figures without a login, until it ends. It is shown this once. "
    "It keeps the limit of whoever made it.",
)
async def create_report_share(call: Call[ReportShareRequest], db: Database) -> Answer:
    share, secret = await create(db, caller=call.caller, **call.ids, days=call.body.days, now=call.now)
    url = url_of(call.site.public_url, share.organization_id, secret)
    return Answer(ReportShare.of(share, call.zone, share_url=url), location=f"/report/custom/{share.report_id}/share")


@routes.delete(
    "/report/custom/{report_id}/share/{share_id}",
    scope="Report.Update",
    for_limited="part",
    summary="End a link to a report",
)
async def delete_report_share(call: Call[None], db: Database) -> None:
    await end(db, caller=call.caller, **call.ids, expect=call.expect)


def url_of(public_url: str, organization_id: str, secret: str) -> str:
    return f"{public_url}/console/shared/{organization_id}/{secret}"

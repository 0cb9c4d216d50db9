"""Links to reports: made for some days, listed, ended, and read as by somebody who may read figures alone."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from afterword import errors, ids
from afterword.core.figures.plans import Plan
from afterword.core.organizations.access import Caller, installation
from afterword.kit.db import Database
from afterword.listening.reports import custom_reports, results
from afterword.listening.reports.custom_reports import CustomReport
from afterword.listening.reports.shares import store
from afterword.listening.reports.shares.store import Share

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
    if len(await store.list_shares(db, **key, limit=SHARES_MAX)) >= SHARES_MAX:
        raise errors.Invalid.at("", "too_many", f"A report has {SHARES_MAX} links at most.")
    await _plan(db, caller=_reader(caller.organization_id, caller.application_ids), report=report, now=now)
    secret = ids.secret()
    share = await store.insert_share(
        db,
        **key,
        share_id=ids.ordered(now),
        digest=_digest(secret),
        application_ids=caller.application_ids,
        expires_time=now + timedelta(days=days),
        now=now,
        by=caller.actor_id,
    )
    return share, secret


async def list_of(db: Database, *, caller: Caller, report_id: str) -> list[Share]:
    """The links of a report, also those that ended lately. Raises NotFound."""
    await custom_reports.get(db, caller=caller, report_id=report_id)
    return await store.list_shares(db, organization_id=caller.organization_id, report_id=report_id, limit=SHARES_MAX)


async def end(
    db: Database, *, caller: Caller, report_id: str, share_id: str, expect: errors.Expect = errors.ANY
) -> None:
    """Raises NotFound, Forbidden for test tokens, and what `expect` raises, before which nothing is kept."""
    caller.require_real()
    await custom_reports.get(db, caller=caller, report_id=report_id)
    key = {"organization_id": caller.organization_id, "report_id": report_id, "share_id": share_id}
    if not await store.delete_share(db, **key):
        raise errors.NotFound("There is no such link.")
    expect(VERSION)


async def read(db: Database, *, organization_id: str, secret: str, now: datetime) -> tuple[CustomReport, Plan]:
    """The report of a link, planned for its reader. Raises NotFound, ShareEnded, Invalid."""
    share = await store.get_share(db, organization_id=organization_id, digest=_digest(secret))
    if share is None:
        raise errors.NotFound("There is no such report.")
    if share.expires_time <= now:
        raise ShareEnded("This link has ended.")
    reader = _reader(organization_id, tuple(share.application_ids))
    report = await custom_reports.get(db, caller=reader, report_id=share.report_id)
    return report, await _plan(db, caller=reader, report=report, now=now)


def _reader(organization_id: str, application_ids: tuple[str, ...]) -> Caller:
    """Somebody who may read figures alone."""
    return replace(installation(organization_id), scopes=frozenset({"Report.Read"}), application_ids=application_ids)


async def _plan(db: Database, *, caller: Caller, report: CustomReport, now: datetime) -> Plan:
    """Whole months of the organization's time zone, by the date basis that such readers have."""
    spec: dict[str, Any] = {
        **report.spec,
        "bucket": COARSE.get(report.spec["bucket"], report.spec["bucket"]),
        "date_basis": None,
        "time_zone": None,
    }
    return await results.planned(db, caller=caller, spec=spec, now=now)


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()

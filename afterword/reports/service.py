"""Custom reports: save, change, delete and run them; evaluate the figures of daily alerts."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

import structlog

from afterword import errors, ids
from afterword.alerts import service as alerts
from afterword.alerts.rules import Alert
from afterword.core.organizations.access import Caller
from afterword.db import Database, savepoint
from afterword.organizations import checks
from afterword.reports import results, store
from afterword.reports.store import CustomReport

REPORTS_MAX: Final = 1_000  # of an organization
PINS_MAX: Final = 4  # of an organization: the overview runs them all

logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


async def create(db: Database, *, caller: Caller, columns: Mapping[str, Any], now: datetime) -> CustomReport:
    """Save a report that can be run. Raises Invalid, with pointers into /spec, and for one report too many."""
    if columns["application_id"] is not None:
        errors.check(await checks.reach_errors(db, caller=caller, application_id=columns["application_id"]))
    await results.planned(db, caller=caller, spec=columns["spec"], now=now)
    if await store.count_reports(db, organization_id=caller.organization_id) >= REPORTS_MAX:
        raise errors.Invalid.at("", "too_many", f"An organization has {REPORTS_MAX:,} reports at most.")
    return await store.insert_report(
        db,
        organization_id=caller.organization_id,
        report_id=ids.ordered(now),
        columns=columns,
        now=now,
        by=caller.actor_id,
    )


async def update(
    db: Database,
    *,
    caller: Caller,
    report_id: str,
    changes: Mapping[str, Any],
    now: datetime,
    expect: errors.Expect = errors.ANY,
) -> CustomReport:
    """Change the named columns, a spec as a whole. Raises NotFound, Invalid, and what `expect` raises."""
    before = await results.get_saved(db, caller=caller, report_id=report_id, is_locked=True)
    expect(before.version)
    if "pinned" in changes:
        given = dict(changes)
        is_pinned = given.pop("pinned")
        if is_pinned and before.pinned_time is None:
            await _check_pins(db, caller=caller)
        changes = {**given, "pinned_time": (before.pinned_time or now) if is_pinned else None}
    if "spec" in changes:
        await results.planned(db, caller=caller, spec=changes["spec"], now=now)
    after = await store.update_report(
        db, organization_id=caller.organization_id, report_id=report_id, changes=changes, now=now, by=caller.actor_id
    )
    return after or before


async def delete(db: Database, *, caller: Caller, report_id: str, expect: errors.Expect = errors.ANY) -> None:
    """Delete a report. Raises NotFound, and what `expect` raises."""
    report = await results.get_saved(db, caller=caller, report_id=report_id, is_locked=True)
    expect(report.version)
    await store.delete_report(db, organization_id=caller.organization_id, report_id=report_id)


async def evaluate_alerts(db: Database, *, now: datetime, limit: int) -> int:
    """Evaluate the daily alerts that are due; return their count, `limit` where more may wait.

    An alert that fails, as its figures take too long, is logged and waits for its next day: it must not block others.
    """
    due = await alerts.claim_scheduled(db, now=now, limit=limit)
    for alert in due:
        try:
            async with savepoint(db):
                await _evaluate(db, alert=alert, now=now)
        except Exception:  # of one organization's alert
            logger.exception("a daily alert was passed over", alert_id=alert.alert_id)
    return len(due)


async def _evaluate(db: Database, *, alert: Alert, now: datetime) -> None:
    wanted = alerts.metrics_of(alert)
    values = await _values(db, alert=alert, wanted=wanted, now=now)
    await alerts.raise_scheduled(db, alert=alert, figures=dict(zip(wanted, values, strict=True)), now=now)


async def _values(db: Database, *, alert: Alert, wanted: list[tuple[str, int]], now: datetime) -> list[float | None]:
    metrics: list[tuple[str, str | None, int]] = []
    for subject, days in wanted:
        _, metric, *question_id = subject.split(":")
        metrics.append((metric, question_id[0] if question_id else None, days))
    try:
        return await results.figure_values(
            db,
            organization_id=alert.organization_id,
            application_id=alert.application_id,
            questionnaire_ids=alert.questionnaire_ids,
            wanted=metrics,
            now=now,
        )
    except errors.Invalid:  # more responses than a report reads: no figure is better than a wrong one
        return [None] * len(metrics)


async def _check_pins(db: Database, *, caller: Caller) -> None:
    pinned = await store.list_pinned_reports(
        db, organization_id=caller.organization_id, application_ids=(), limit=PINS_MAX
    )
    if len(pinned) >= PINS_MAX:
        raise errors.Invalid.at("/pinned", "too_many", f"{PINS_MAX} reports are pinned at most: unpin another one.")

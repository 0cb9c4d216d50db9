"""Evaluates the figures of daily alerts."""

from datetime import datetime

import structlog

from afterword import errors
from afterword.cases import service as cases
from afterword.cases.rules import Alert
from afterword.kit.db import Database, savepoint
from afterword.listening.reports import results

logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


async def evaluate_alerts(db: Database, *, now: datetime, limit: int) -> int:
    """Evaluate the daily alerts that are due; return their count, `limit` where more may wait.

    An alert that fails, as its figures take too long, is logged and waits for its next day: it must not block others.
    """
    due = await cases.claim_scheduled(db, now=now, limit=limit)
    for alert in due:
        try:
            async with savepoint(db):
                wanted = cases.metrics_of(alert)
                values = await _values(db, alert=alert, wanted=wanted, now=now)
                await cases.raise_scheduled(db, alert=alert, figures=dict(zip(wanted, values, strict=True)), now=now)
        except Exception:  # of one organization's alert
            logger.exception("a daily alert was passed over", alert_id=alert.alert_id)
    return len(due)


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

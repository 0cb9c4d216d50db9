"""Invitations behind a figure of a report: exactly those that it counts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from afterword import errors
from afterword.asking.questionnaires import contexts
from afterword.core.figures import plans
from afterword.core.figures.queries import CountQuery, ReportContext, ReportQuery
from afterword.core.organizations.access import Caller
from afterword.core.reading.findings import Findings
from afterword.core.wire.lists import Rows
from afterword.kit.db import Database
from afterword.listening.reports.counts import service as counts
from afterword.listening.reports.invitations import store
from afterword.listening.reports.invitations.store import Filter, Invitation, Key

COUNT_MAX: Final = 10_000  # beyond it a count says "at least"


@dataclass(frozen=True, slots=True)
class Found:
    """The query that counts the invitations; `instance_ids`: those that meet its condition, None without one."""

    asked: CountQuery
    instance_ids: Sequence[str] | None
    chosen: Filter


async def find(db: Database, *, caller: Caller, query: ReportQuery, chosen: Filter, now: datetime) -> Found:
    """The invitations that a query counts, for `page` and `count`.

    Raises Invalid for questionnaires out of reach, and for a condition over too many.
    """
    findings = Findings(place=plans.parameter)
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
        )
    else:
        context = await contexts.load_context(db, caller=caller, query=query, findings=findings)
    run = plans.plan(replace(query, metrics=(("created", None),)), context, now=now, findings=findings)
    asked = run.of_cases(run.period)
    return Found(asked, (await counts.scope_of(db, asked, asked.spans)).instance_ids, chosen)


async def page(db: Database, found: Found, *, after: Key | None = None, limit: int) -> Rows[Invitation]:
    return await store.list_invitations(
        db,
        organization_id=found.asked.organization_id,
        asked=found.asked,
        instance_ids=found.instance_ids,
        chosen=found.chosen,
        after=after,
        limit=limit,
    )


async def count(db: Database, found: Found) -> int:
    """Their number, up to one more than COUNT_MAX."""
    return await store.count_invitations(
        db,
        organization_id=found.asked.organization_id,
        asked=found.asked,
        instance_ids=found.instance_ids,
        chosen=found.chosen,
        limit=COUNT_MAX + 1,
    )


async def key_of(db: Database, found: Found, instance_id: str) -> Key:
    """The place of an instance in the list. Raises Invalid `invalid_cursor` where it is gone."""
    asked = found.asked
    key = await store.get_key(db, organization_id=asked.organization_id, instance_id=instance_id, basis=asked.basis)
    if key is None:
        message = "The instance that this cursor stood on is gone; start again."
        raise errors.Invalid.of(errors.FieldError("invalid_cursor", message, parameter="after"))
    return key

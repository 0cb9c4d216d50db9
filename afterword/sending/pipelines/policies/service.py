"""Replaces an organization's contact policy."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, time
from typing import Any

from afterword import errors
from afterword.core.organizations.access import Caller
from afterword.core.scheduling import holidays
from afterword.core.scheduling.decisions import hours_of
from afterword.errors import FieldError, Sentence
from afterword.kit.db import Database
from afterword.sending.pipelines.policies import store
from afterword.sending.pipelines.policies.store import ContactPolicy, DailyWindow


async def replace(
    db: Database, *, caller: Caller, wanted: Mapping[str, Any], expect: errors.Expect = errors.ANY, now: datetime
) -> ContactPolicy:
    """Replace the policy, if this one is new; workers read it with their next claim.

    Raises Forbidden, Stale (by `expect`), and Invalid: hours that leave a pipeline no time of a week, or a
    country without the region that its holidays need.
    """
    caller.require_whole()
    caller.require_real()
    before = await store.get_policy_locked(db, organization_id=caller.organization_id)
    expect(before.version)
    document: dict[str, Any] = {**wanted, "holidays": sorted(set(wanted["holidays"]))}
    if document == {name: getattr(before, name) for name in store.EDITABLE}:
        return before
    quiet = hours_of(document["quiet_start_time"], document["quiet_end_time"])
    pipelines = await store.list_windows(db, organization_id=caller.organization_id) if quiet else []
    regions = await asyncio.to_thread(holidays.regions_of, document["holiday_country"] or "", now.year)
    errors.check(list(_errors(document, before, pipelines, regions=regions)))
    return await store.update_policy(
        db, organization_id=caller.organization_id, updated_by=caller.actor_id, document=document
    )


def _errors(
    document: Mapping[str, Any], before: ContactPolicy, pipelines: list[DailyWindow], *, regions: Sequence[str]
) -> Iterator[FieldError]:
    start: time | None = document["quiet_start_time"]
    end: time | None = document["quiet_end_time"]
    if (start is None) != (end is None):
        missing = "quiet_start_time" if start is None else "quiet_end_time"
        yield FieldError("required", "Quiet hours have a start and an end.", pointer=f"/{missing}")
    quiet = hours_of(start, end)
    if quiet is not None and quiet.start == quiet.end:
        yield FieldError("out_of_range", "Quiet hours of a whole day leave no time.", pointer="/quiet_end_time")
    elif quiet is not None:
        shut = next((each for each in pipelines if not each.leaves_time(quiet)), None)
        if shut is not None:
            text = Sentence("These hours leave no time for the pipeline “{pipeline}”.", pipeline=shut.title)
            yield FieldError("out_of_range", text, pointer="/quiet_start_time")
    country: str | None = document["holiday_country"]
    if country is not None and not holidays.is_known(country):
        text = "The holidays of this country, or of this part of it, are not known."
        yield FieldError("unknown_value", text, pointer="/holiday_country")
    elif regions and country != before.holiday_country:
        text = Sentence("Its holidays differ by region: choose one of {regions}.", regions=", ".join(regions))
        yield FieldError("unknown_value", text, pointer="/holiday_country")

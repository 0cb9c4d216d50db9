"""Finds the quota that is full for a response.

A quota with many free places is counted without a lock. Its last places are taken one after the other, so that
concurrent responses do not exceed it.
"""

from collections.abc import Mapping, Sequence

from afterword.core.questionnaires.definition import Definition
from afterword.core.questionnaires.endings import Ending
from afterword.kit.db import Database


async def _count_places(db: Database, *, organization_id: str, limits: Mapping[str, int]) -> dict[str, int]:
    """The complete responses that count toward each quota, without tests and those kept apart, at most its limit."""
    return await db.fetch_pairs(
        """select q.quota_id, (select count(*) from (
             select 1 from questionnaire_instance
             where organization_id = $1 and quota_ids @> array[q.quota_id] and deleted_time is null and not test
               and coalesce(judgement, 'accepted') = 'accepted'
             limit q.most) response) as count
           from unnest($2::text[], $3::int[]) q (quota_id, most)""",
        organization_id,
        *(list(limits), list(limits.values())),
    )


PLACES_LOCKED = 200  # exceeded only if more responses than this are being completed in the same instant


async def first_full(db: Database, *, organization_id: str, quotas: Sequence[Ending], takes: bool) -> Ending | None:
    """The first of these quotas without a free place. `takes`: the response takes a place in this transaction."""
    limits = {one.ending_id: one.responses_max or 0 for one in quotas}
    key = {"organization_id": organization_id, "limits": limits}
    counts = await _count_places(db, **key)
    last = [one for one, most in limits.items() if takes and most - PLACES_LOCKED <= counts[one] < most]
    if last:
        for quota_id in sorted(last):  # one order of locks for all
            await db.claim_key(f"{organization_id}:quota:{quota_id}")
        counts = await _count_places(db, **key)
    return next((one for one in quotas if counts[one.ending_id] >= limits[one.ending_id]), None)


async def places(db: Database, *, organization_id: str, definition: Definition) -> list[tuple[Ending, int]]:
    """The quotas of a definition with the responses that count toward each, at most its `responses_max`."""
    quotas = {one.ending_id: one for one in definition.endings if one.responses_max is not None}
    limits = {ending_id: one.responses_max or 0 for ending_id, one in quotas.items()}
    counts = await _count_places(db, organization_id=organization_id, limits=limits) if limits else {}
    return [(one, counts[ending_id]) for ending_id, one in quotas.items()]

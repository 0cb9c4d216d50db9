"""Notes in cases that their customers are asked again, and who of them is won back."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from afterword.cases import history
from afterword.cases.alert_instances import events as case_events
from afterword.cases.alert_instances.store import CASE_COLUMNS_I, Case
from afterword.core.messaging import alerts as core_alerts
from afterword.core.organizations.access import Caller
from afterword.events import service as events
from afterword.kit.db import Database
from afterword.kit.db.columns import arrays


async def _update_recovered(  # any tenant: a batch of events serves many organizations
    db: Database, *, recoveries: Sequence[tuple[str, str, str]], now: datetime
) -> list[Case]:
    """Set the item (organization, instance, item) in the open cases of a response that have none."""
    rows = await db.fetch(
        f"""update alert_instance i
           set recovery_item_id = b.item_id, version = i.version + 1, updated_time = greatest(i.updated_time, $4)
           from unnest($1::text[], $2::text[], $3::text[]) as b (organization_id, instance_id, item_id)
           where i.organization_id = b.organization_id and i.instance_id = b.instance_id
             and i.recovery_item_id is null and i.resolved_time is null returning {CASE_COLUMNS_I}""",
        *arrays(recoveries, 3),
        now,
    )
    return [Case.of(row) for row in rows]


async def _update_recovery_item(
    db: Database, *, organization_id: str, alert_instance_id: str, item_id: str, now: datetime, updated_by: str | None
) -> Case:
    """Set the item of a case that the caller has locked; the answer to an earlier one is forgotten."""
    row = await db.fetch_one(
        f"""update alert_instance i
           set recovery_item_id = $3, recovery_instance_id = null, recovery_time = null, recovered = null,
             version = i.version + 1, updated_time = greatest(i.updated_time, $4), updated_by = $5
           where i.organization_id = $1 and i.alert_instance_id = $2 returning {CASE_COLUMNS_I}""",
        *(organization_id, alert_instance_id, item_id, now, updated_by),
    )
    return Case.of(row)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveryAnswer:
    """A case and the response to its recovery item, with the scores of the first response and of this one."""

    case: Case
    instance_id: str
    submitted_time: datetime
    before: tuple[str | None, int | None, int | None, str | None]  # kind, value, end of the scale, band
    after: tuple[str | None, int | None, int | None, str | None]


async def _list_recovery_answers(  # any tenant: the log's reader serves all
    db: Database, *, keys: Sequence[tuple[str, str]]
) -> list[RecoveryAnswer]:
    """Lock the cases whose recovery items these responses (organization, instance) answer."""
    rows = await db.fetch(
        f"""select {CASE_COLUMNS_I}, r.instance_id as answer_id, r.submitted_time as answer_time,
             array[f.score_kind, f.score::text, f.score_max::text, f.band] as before,
             array[r.score_kind, r.score::text, r.score_max::text, r.band] as after
           from unnest($1::text[], $2::text[]) as k (organization_id, instance_id)
             join questionnaire_instance n on n.organization_id = k.organization_id and n.instance_id = k.instance_id
             join alert_instance i on i.organization_id = n.organization_id
               and i.instance_id = n.previous_questionnaire_instance_id and i.recovery_item_id = n.item_id
             join response r on r.organization_id = n.organization_id and r.instance_id = n.instance_id
             left join response f on f.organization_id = i.organization_id and f.instance_id = i.instance_id
           order by i.organization_id, i.alert_instance_id for no key update of i""",
        *arrays(keys, 2),
    )
    return [
        RecoveryAnswer(
            case=Case.of(row),
            instance_id=row["answer_id"],
            submitted_time=row["answer_time"],
            before=_score(row["before"]),
            after=_score(row["after"]),
        )
        for row in rows
    ]


async def _update_recovery_answer(
    db: Database,
    *,
    organization_id: str,
    alert_instance_id: str,
    instance_id: str,
    submitted_time: datetime,
    recovered: bool | None,
    now: datetime,
) -> Case | None:
    row = await db.fetch_row(
        f"""update alert_instance i
           set recovery_instance_id = $3, recovery_time = $4, recovered = $5, version = i.version + 1,
             updated_time = greatest(i.updated_time, $6)
           where i.organization_id = $1 and i.alert_instance_id = $2
             and (i.recovery_instance_id, i.recovery_time, i.recovered) is distinct from ($3, $4, $5)
           returning {CASE_COLUMNS_I}""",
        *(organization_id, alert_instance_id, instance_id, submitted_time, recovered, now),
    )
    return Case.of(row) if row else None


def _score(columns: Sequence[str | None]) -> tuple[str | None, int | None, int | None, str | None]:
    kind, value, highest, band = columns
    return kind, int(value) if value else None, int(highest) if highest else None, band


async def record_recoveries(db: Database, *, recoveries: Sequence[tuple[str, str, str]], now: datetime) -> None:
    """Set the recovery item in the open cases of responses (organization, instance, item); a first one stays."""
    if recoveries:
        for case in await _update_recovered(db, recoveries=recoveries, now=now):
            await _record_recovery(db, case=case, caller=None, now=now)


async def ask_again(db: Database, *, caller: Caller, case: Case, item_id: str, now: datetime) -> Case:
    after = await _update_recovery_item(
        db,
        organization_id=case.organization_id,
        alert_instance_id=case.alert_instance_id,
        item_id=item_id,
        now=now,
        updated_by=caller.actor_id or None,
    )
    await _record_recovery(db, case=after, caller=caller, now=now)
    return after


async def record_recovery_answers(db: Database, *, keys: Sequence[tuple[str, str]], now: datetime) -> None:
    """Note which of these responses (organization, instance) answer recovery items, and who is won back."""
    for one in await _list_recovery_answers(db, keys=keys):
        after = await _update_recovery_answer(
            db,
            organization_id=one.case.organization_id,
            alert_instance_id=one.case.alert_instance_id,
            instance_id=one.instance_id,
            submitted_time=one.submitted_time,
            recovered=core_alerts.is_recovered(core_alerts.score_of(*one.before), core_alerts.score_of(*one.after)),
            now=now,
        )
        if after is not None and one.case.recovery_instance_id is None:
            await history.record_change(db, before=one.case, after=after, caller=None, now=now)
            await events.record(db, events=[case_events.event(after, "recovery_answered", now=now)])


async def _record_recovery(db: Database, *, case: Case, caller: Caller | None, now: datetime) -> None:
    changes = {"recovery_item_id": {"from": None, "to": case.recovery_item_id}}
    await history.record(db, case=case, kind="changed", caller=caller, changes=changes, now=now)

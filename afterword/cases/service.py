"""Opening cases: for responses in the event log, and for the figures of a daily job."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

import msgspec

from afterword.asking.instances import service as instances
from afterword.asking.instances.triggers import Response, matched, responses_of
from afterword.cases import assignments, messages, recoveries, rules
from afterword.cases.alert_instances import service as alert_instances, store
from afterword.cases.alert_instances.store import Case
from afterword.cases.rules import ActiveAlert, Alert
from afterword.core.messaging import alerts as core_alerts
from afterword.core.messaging.alerts import TRIGGERS, Figures, Match, Metric
from afterword.core.questionnaires import conditions
from afterword.core.questionnaires.conditions import Facts
from afterword.events import service as events
from afterword.events.service import Event
from afterword.kit.db import Database
from afterword.kit.db.columns import arrays
from afterword.tenants.organizations import checks

_Key = tuple[str, str, str | None]  # organization, alert, responder


class _Found(msgspec.Struct, frozen=True):
    """A rule whose conditions hold: for a response, or for the figures of a day.

    `cause`: of its occurrence, the instance_id or the day of a schedule.
    """

    rule: ActiveAlert
    response: Response | None
    cause: str
    match: Match
    facts: Facts

    @property
    def key(self) -> _Key:
        responder_id = self.response.responder_id if self.response else None
        return self.rule.alert.organization_id, self.rule.alert.alert_id, responder_id


async def _list_occurrences(  # any tenant: a batch of events serves many organizations
    db: Database, *, keys: Sequence[tuple[str, str, str]]
) -> set[tuple[str, str, str]]:
    """The existing triples (organization, alert, cause) among `keys`."""
    found = await db.fetch_tuples(
        """select o.organization_id, o.alert_id, o.cause
           from unnest($1::text[], $2::text[], $3::text[]) as b (organization_id, alert_id, cause)
             join alert_occurrence o on o.organization_id = b.organization_id and o.alert_id = b.alert_id
               and o.cause = b.cause""",
        *arrays(keys, 3),
    )
    return set(found)


async def _insert_occurrences(  # any tenant: a batch of events serves many organizations
    db: Database, *, occurrences: Sequence[tuple[str, str, str, str]], now: datetime
) -> None:
    """Insert matches (organization, alert, cause, case). Raises Taken if one exists: then the batch must roll back."""
    await db.execute(
        """insert into alert_occurrence (organization_id, alert_id, cause, alert_instance_id, created_time)
           select b.*, $5 from unnest($1::text[], $2::text[], $3::text[], $4::text[]) b""",
        *arrays(occurrences, 4),
        now,
    )


READER: Final = "alerts"
COMPLETED: Final = "questionnaire_instance.completed"
DELETED: Final = "questionnaire_instance.deleted"
ERASED: Final = "responder.erased"
QUEUED: Final = "sequence.queued"
EVENT_TYPES: Final = frozenset({*TRIGGERS, DELETED, ERASED, QUEUED})


async def raise_next(db: Database, *, now: datetime, limit: int) -> int:
    """Read the next `limit` events of the log, open cases, mark completions as processed; return the events passed.

    A smaller count than `limit` means that there are no more. The cursor moves in the same transaction, so a response
    counts once for an alert. Test responses open nothing.
    """
    return await events.handle_next(
        db, reader=READER, types=EVENT_TYPES, limit=limit, handle=lambda batch: _handle(db, batch, now=now)
    )


async def _handle(db: Database, batch: Sequence[Event], *, now: datetime) -> None:
    responses = [response for response in responses_of(batch) if not response.test]
    if responses:
        await _raise(db, responses=responses, now=now)
    await recoveries.record_recoveries(
        db,
        recoveries=[
            (event.organization_id, event.data["instance_id"], event.data["item_id"])
            for event in batch
            if event.type == QUEUED and event.data["kind"] == "recovery"
        ],
        now=now,
    )
    erased = [_subject(event) for event in batch if event.type == ERASED]
    await alert_instances.erase_answers(
        db, responses=[_subject(event) for event in batch if event.type == DELETED], responders=erased
    )
    if erased:
        await messages.delete_messages_of(db, responders=erased)
    completed = [
        (event.organization_id, event.subject_id)
        for event in batch
        if event.type == COMPLETED and event.subject_id is not None
    ]
    if completed:
        await instances.settle_times(db, "processed", times=dict.fromkeys(completed, now), now=now)


async def claim_scheduled(db: Database, *, now: datetime, limit: int) -> list[Alert]:
    """Claim daily alerts that are due. Call `raise_scheduled` for each in the same transaction."""
    before = now - timedelta(hours=rules.EVALUATION_HOURS)
    return await rules.claim_scheduled_alerts(db, before=before, now=now, limit=limit)


def metrics_of(alert: Alert) -> list[Metric]:
    """The figures in a daily alert's conditions: subject (`metric:nps:{question_id}`) and window in days."""
    return core_alerts.metrics_of(conditions.read_saved(alert.conditions))


async def raise_scheduled(db: Database, *, alert: Alert, figures: Figures, now: datetime) -> bool:
    """Compare the day's figures; return True if a case was opened or repeated. At most once a day.

    `figures`: a value for each of `metrics_of(alert)`. None or absent (below the minimum base) matches only `is_empty`,
    `not_equal` and `not_contains`.
    """
    node = conditions.read_saved(alert.conditions)
    if node is None:
        return False
    match = core_alerts.judge_figures(node, figures)
    cause = now.date().isoformat()
    key = (alert.organization_id, alert.alert_id, cause)
    if not match.holds or await _list_occurrences(db, keys=[key]):
        return False
    closes = await rules.get_closes(
        db, organization_id=alert.organization_id, status_id=alert.status_id, application_id=alert.application_id
    )
    await _open_or_repeat(db, found=[_Found(ActiveAlert("", alert, bool(closes)), None, cause, match, {})], now=now)
    return True


async def _raise(db: Database, *, responses: Sequence[Response], now: datetime) -> None:
    questionnaires = {(one.organization_id, one.questionnaire_id) for one in responses}
    active = await rules.list_active_alerts(db, questionnaires=sorted(questionnaires))
    found = await matched(
        db,
        responses=responses,
        rules={(one.alert.organization_id, one.alert.alert_id, one.questionnaire_id): one for one in active},
        rule_of=lambda one: one.alert,
        list_made=lambda keys: _list_occurrences(db, keys=keys),
    )
    if found:
        given = [_Found(one.rule, one.response, one.response.instance_id, one.match, one.facts) for one in found]
        await _open_or_repeat(db, found=given, now=now)


async def _open_or_repeat(db: Database, *, found: Sequence[_Found], now: datetime) -> None:
    """Repeat the open case of the same responder while its alert folds; else open a new case."""
    open_cases = await _list_foldable(db, found=found, now=now)
    calendars = await checks.list_calendars(db, organization_ids={one.rule.alert.organization_id for one in found})
    assigner = await assignments.assigner_for(db, alerts=[one.rule.alert for one in found])
    new: list[Case] = []
    repeats: Counter[tuple[str, str]] = Counter()
    occurrences: list[tuple[str, str, str, str]] = []
    for one in found:
        alert = one.rule.alert
        case = open_cases.get(one.key)
        if case is not None and core_alerts.folds(case.created_time, now=now, fold_hours=alert.fold_hours):
            repeats[case.organization_id, case.alert_instance_id] += 1
        else:
            case = alert_instances.new_case(
                alert,
                response=one.response,
                match=one.match,
                owner_id=assigner.owner_of(alert, one.facts),
                opens_closed=one.rule.opens_closed,
                calendar=calendars[alert.organization_id],
                now=now,
            )
            new.append(case)
            if case.resolved_time is None:
                open_cases[one.key] = case
        occurrences.append((alert.organization_id, alert.alert_id, one.cause, case.alert_instance_id))
    await alert_instances.open_cases(db, cases=new, now=now)
    await alert_instances.repeat(db, repeats=repeats, now=now)
    await _insert_occurrences(db, occurrences=occurrences, now=now)


async def _list_foldable(db: Database, *, found: Sequence[_Found], now: datetime) -> dict[_Key, Case]:
    """Lock the newest open case of each folding alert and responder."""
    folding = [one.key for one in found if one.rule.alert.fold_hours]
    if not folding:
        return {}
    hours = max(one.rule.alert.fold_hours for one in found)
    cases = await store.list_open_cases(db, keys=folding, since=now - timedelta(hours=hours))
    return {(case.organization_id, case.alert_id, case.responder_id): case for case in cases}


def _subject(event: Event) -> tuple[str, str]:
    return event.organization_id, event.subject_id or ""

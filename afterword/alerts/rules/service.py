"""Alert rules: create, update, delete, and the count of open cases."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from afterword import errors, ids
from afterword.alerts.rules import store
from afterword.alerts.rules.store import Alert
from afterword.core.messaging import alerts as core_alerts
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires import condition_reader, conditions
from afterword.core.questionnaires.condition_reader import Kind, Scope
from afterword.core.reading.findings import Findings
from afterword.db import Database
from afterword.errors import FieldError
from afterword.organizations import checks
from afterword.questionnaires import store as questionnaires_store
from afterword.questionnaires.metadata import service as metadata

EVALUATION_HOURS: Final = 24  # between two looks at the figures of a daily alert
_CONDITION_COLUMNS: Final = frozenset({"trigger", "conditions", "questionnaire_ids"})


async def get(db: Database, *, caller: Caller, alert_id: str, is_locked: bool = False) -> Alert:
    alert = await store.get_alert(db, **caller.part, alert_id=alert_id, is_locked=is_locked)
    return errors.found(alert, "There is no such alert.")


async def create(db: Database, *, caller: Caller, columns: Mapping[str, Any], now: datetime) -> Alert:
    await check(db, caller=caller, columns=columns)
    return await store.insert_alert(
        db,
        organization_id=caller.organization_id,
        alert_id=ids.ordered(now),
        columns=columns,
        now=now,
        by=caller.actor_id,
    )


async def for_calls(db: Database, *, organization_id: str, application_id: str, title: str, now: datetime) -> Alert:
    """The application's rule for calls without conditions, on or off; made with this title where there is none."""
    found = await store.get_call_back_alert_locked(db, organization_id=organization_id, application_id=application_id)
    columns = {
        "application_id": application_id,
        "title": title,
        "questionnaire_ids": [],
        "trigger": core_alerts.CALL_BACK,
        "severity": "normal",
        "active": True,
        "status_id": core_alerts.STATUS_NEW,
        "fold_hours": 0,
        "subscriber_user_ids": [],
    }
    return found or await store.insert_alert(
        db, organization_id=organization_id, alert_id=ids.ordered(now), columns=columns, now=now, by=None
    )


async def check(db: Database, *, caller: Caller, columns: Mapping[str, Any]) -> None:
    errors.check(await checks.reach_errors(db, caller=caller, application_id=columns["application_id"]))
    await _check(db, organization_id=caller.organization_id, columns=columns, changed=frozenset(columns))


async def update(
    db: Database, *, caller: Caller, alert_id: str, changes: Mapping[str, Any], now: datetime, expect: errors.Expect
) -> Alert:
    before = await get(db, caller=caller, alert_id=alert_id, is_locked=True)
    expect(before.version)
    columns = {name: changes.get(name, getattr(before, name)) for name in _COLUMNS}
    changed = frozenset(name for name in changes if changes[name] != getattr(before, name))
    await _check(db, organization_id=caller.organization_id, columns=columns, changed=changed)
    after = await store.update_alert(
        db, organization_id=caller.organization_id, alert_id=alert_id, changes=changes, now=now, by=caller.actor_id
    )
    return after or before


async def delete(db: Database, *, caller: Caller, alert_id: str, now: datetime, expect: errors.Expect) -> None:
    """Delete the rule; its cases stay. Raises NotFound, and what `expect` raises."""
    alert = await get(db, caller=caller, alert_id=alert_id, is_locked=True)
    expect(alert.version)
    await store.delete_alert(db, organization_id=caller.organization_id, alert_id=alert_id, now=now, by=caller.actor_id)


async def count(
    db: Database, *, counts: Sequence[tuple[str, str, int]], triggered_time: datetime | None = None
) -> None:
    """Add to the counts of open cases: (organization, alert, difference)."""
    if counts:
        await store.settle_counts(db, counts=counts, triggered_time=triggered_time)


async def move_status(
    db: Database, *, organization_id: str, status_id: int, move_to: int, deleted_only: bool = False
) -> None:
    await store.update_status_to(
        db, organization_id=organization_id, status_id=status_id, move_to=move_to, deleted_only=deleted_only
    )


async def claim_scheduled(db: Database, *, now: datetime, limit: int) -> list[Alert]:
    """Claim daily alerts that are due for evaluation; the next one is due after `EVALUATION_HOURS`."""
    before = now - timedelta(hours=EVALUATION_HOURS)
    return await store.claim_scheduled_alerts(db, before=before, now=now, limit=limit)


_COLUMNS: Final = (
    "application_id", "title", "description", "questionnaire_ids", "trigger", "conditions", "severity", "active",
    "status_id", "assigned_user_id", "due_hours", "fold_hours", "subscriber_user_ids", "escalation_hours",
    "escalation_severity", "escalation_user_id", "assignment",
)  # fmt: skip


async def _check(db: Database, *, organization_id: str, columns: Mapping[str, Any], changed: frozenset[str]) -> None:
    wrong: list[FieldError] = []
    if "questionnaire_ids" in changed:
        owners = await questionnaires_store.list_owners(
            db,
            organization_id=organization_id,
            questionnaire_ids=columns["questionnaire_ids"],
            application_ids=[columns["application_id"]],
            limit=len(columns["questionnaire_ids"]),
        )
        known = set(owners)
        wrong += _unknown_ids("questionnaire_ids", columns["questionnaire_ids"], known, "questionnaire")
    owners = ("assigned_user_id", "escalation_user_id")
    users = [*columns.get("subscriber_user_ids", ()), *filter(None, (columns.get(name) for name in owners))]
    if users and changed & {"subscriber_user_ids", *owners}:
        known = await store.list_user_ids(
            db, organization_id=organization_id, application_id=columns["application_id"], among=users
        )
        if "subscriber_user_ids" in changed:
            wrong += _unknown_ids("subscriber_user_ids", columns["subscriber_user_ids"], known, "user")
        wrong += [
            FieldError("unknown_id", "There is no such user.", pointer=f"/{name}")
            for name in owners
            if name in changed and columns[name] not in {None, *known}
        ]
    if "status_id" in changed:
        application_id = columns["application_id"]
        closes = await store.get_closes(
            db, organization_id=organization_id, status_id=columns["status_id"], application_id=application_id
        )
        if closes is None:
            wrong.append(FieldError("unknown_id", "There is no such alert status.", pointer="/status_id"))
    if "assignment" in changed and columns["assignment"] is not None:
        wrong += await _assignment_errors(db, organization_id=organization_id, columns=columns)
    if changed & _CONDITION_COLUMNS and not wrong:
        wrong += await _condition_errors(db, organization_id=organization_id, columns=columns)
    errors.check(wrong)


async def _assignment_errors(db: Database, *, organization_id: str, columns: Mapping[str, Any]) -> list[FieldError]:
    assignment = columns["assignment"]
    known = await store.list_user_ids(
        db,
        organization_id=organization_id,
        application_id=columns["application_id"],
        among=core_alerts.users_of(assignment),
    )
    lists = [("assignment/user_ids", assignment["user_ids"])]
    lists += [
        (f"assignment/choices/{index}/user_ids", each["user_ids"]) for index, each in enumerate(assignment["choices"])
    ]
    wrong = [error for name, given in lists for error in _unknown_ids(name, given, known, "user")]
    if wrong or (assignment["subject"] is None and not assignment["choices"]):
        return wrong
    if assignment["subject"] is None:
        return [FieldError("required", "Choices by value need a field.", pointer="/assignment/subject")]
    leaf = {"subject": assignment["subject"], "operator": "is_not_empty"}
    scope = await _scope(db, organization_id=organization_id, columns={**columns, "conditions": leaf})
    findings = Findings(strict=True)
    condition_reader.read(leaf, "/assignment", findings, replace(scope, tags=False, metrics=False))
    return findings.errors


async def _condition_errors(db: Database, *, organization_id: str, columns: Mapping[str, Any]) -> list[FieldError]:
    document, is_daily = columns["conditions"], columns["trigger"] == "schedule"
    if document is None:
        message = "A daily alert needs conditions, because it is not about one response."
        return [FieldError("required", message, pointer="/conditions")] if is_daily else []
    findings = Findings(strict=True)
    scope = await _scope(db, organization_id=organization_id, columns=columns)
    node = condition_reader.read(document, "/conditions", findings, scope)
    wrong = findings.errors
    if not wrong and is_daily:
        leaves = conditions.leaves_of(node)
        if not leaves or not all(leaf.subject.startswith(core_alerts.METRIC) for leaf in leaves):
            message = "A daily alert compares figures (metric:…), at least one, and nothing else."
            wrong.append(FieldError("unknown_value", message, pointer="/conditions"))
    return wrong


async def _scope(db: Database, *, organization_id: str, columns: Mapping[str, Any]) -> Scope:
    """The questions that the conditions name, in every published version, and the declared metadata."""
    version_ids = await store.list_question_versions(
        db,
        organization_id=organization_id,
        application_id=columns["application_id"],
        questionnaire_ids=columns["questionnaire_ids"],
        question_ids=sorted(core_alerts.question_ids_in(columns["conditions"])),
    )
    kinds: dict[str, Kind] = {"\0": "any"}  # no id: with no question at all every id would pass as that of a metric
    for version_id in version_ids:
        version = await questionnaires_store.get_version(db, organization_id=organization_id, version_id=version_id)
        for question in version.definition.questions():
            kinds |= question.kinds
    declared = await metadata.declared(db, organization_id=organization_id, application_id=columns["application_id"])
    is_daily = columns["trigger"] == "schedule"
    return Scope(questions=kinds, metadata=declared.types, undeclared="text", tags=not is_daily, metrics=is_daily)


def _unknown_ids(name: str, given: Sequence[str], known: set[str], what: str) -> list[FieldError]:
    return [
        FieldError("unknown_id", f"There is no such {what} in this application.", pointer=f"/{name}/{position}")
        for position, one in enumerate(given)
        if one not in known
    ]

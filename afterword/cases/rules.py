"""Alert rules: which responses or figures open a case, and with what. A deleted one is invisible; its cases stay."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Final, LiteralString

import msgspec
from msgspec.structs import replace

from afterword import errors, ids
from afterword.asking.questionnaires import metadata, store as questionnaires_store
from afterword.asking.questionnaires.store import Questionnaire
from afterword.cases import chats
from afterword.cases.resources import (
    Assignment,
    ChatIds,
    ChatUrls,
    DueHours,
    FoldHours,
    Ids,
    Severity,
    StatusId,
    Trigger,
    unique,
)
from afterword.core.figures.reports import METRICS_OF_A_QUESTION
from afterword.core.messaging import alerts as core_alerts
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires import conditions
from afterword.core.questionnaires.conditions import Kind, Scope
from afterword.core.reading.findings import Findings
from afterword.core.wire.site import Site
from afterword.errors import FieldError
from afterword.kit.db import Database, Row
from afterword.kit.db.columns import arrays, columns_of, qualified
from afterword.kit.nouns import service as nouns
from afterword.kit.nouns.api import routes_of
from afterword.kit.nouns.declaration import OF_APPLICATION, Change, Editable, Given, Hidden, Noun, Record
from afterword.kit.nouns.structs import creation_of
from afterword.kit.web import fields
from afterword.tenants.organizations import checks

UNHAPPY_MAX: Final = {"nps": 6, "csat": 2, "ces": 2}  # the highest answer of an unhappy customer, by type of question
EVALUATION_HOURS: Final = 24  # between two looks at the figures of a daily alert
CONDITIONS: Final = (
    "The conditions are checked against the published questions and the declared metadata; those of trigger "
    "`schedule` compare figures (`metric:…`) and nothing else. `chat_ids` are the chats that get a card about each "
    "case; `chat_urls` takes only the empty list."
)
_CONDITION_COLUMNS: Final = frozenset({"trigger", "conditions", "questionnaire_ids"})


class Alert(Record, kw_only=True):
    """A rule over responses, or over figures, with the initial values of the cases that it opens."""

    alert_id: fields.Id
    application_id: Annotated[fields.Id, Editable(once=True)]
    title: Annotated[fields.Text200, Editable()]
    description: Annotated[fields.Text2000 | None, Editable()] = None
    questionnaire_ids: Annotated[Ids, Editable(write=unique)] = msgspec.field(default_factory=list[str])
    trigger: Annotated[Trigger, Editable(holds="fixed")] = "completed"
    conditions: Annotated[dict[str, Any] | None, Editable()] = None
    severity: Annotated[Severity, Editable(holds="fixed")] = "normal"
    active: Annotated[bool, Editable()] = True
    status_id: Annotated[StatusId, Editable()] = 1
    assigned_user_id: Annotated[fields.Id | None, Editable()] = None
    due_hours: Annotated[DueHours | None, Editable()] = None
    fold_hours: Annotated[FoldHours, Editable()] = 0
    subscriber_user_ids: Annotated[Ids, Editable(write=unique)] = msgspec.field(default_factory=list[str])
    chat_ids: Annotated[ChatIds, Editable(write=unique)] = msgspec.field(default_factory=list[str])
    escalation_hours: Annotated[DueHours | None, Editable()] = None
    escalation_severity: Annotated[Severity | None, Editable(holds="fixed")] = None
    escalation_user_id: Annotated[fields.Id | None, Editable()] = None
    assignment: Annotated[dict[str, Any] | None, Editable(wire=Assignment | None)] = None
    chat_urls: Annotated[ChatUrls, Given(sql="'{}'::text[]")] = msgspec.field(default_factory=list[str])
    open_count: fields.Computed[int]
    last_triggered_time: datetime | None
    since_time: Annotated[datetime, Hidden()]


async def _check(change: Change[Alert]) -> None:
    columns = change.columns
    if columns.pop("chat_urls", None):
        message = "Make a chat of the address, and name it in chat_ids; leave this list empty."
        raise errors.Invalid.at("/chat_urls", "unknown_value", message)
    if change.before is None:
        await check(change.db, caller=change.caller, columns=columns)
    elif columns:
        after = {name: change.after(name) for name in Alert.__struct_fields__}
        organization_id = change.caller.organization_id
        await _check_columns(change.db, organization_id=organization_id, columns=after, changed=frozenset(columns))


async def check(db: Database, *, caller: Caller, columns: Mapping[str, Any]) -> None:
    """Raise Invalid unless a rule with these columns may be made."""
    errors.check(await checks.reach_errors(db, caller=caller, application_id=columns["application_id"]))
    await _check_columns(db, organization_id=caller.organization_id, columns=columns, changed=frozenset(columns))


async def _check_columns(
    db: Database, *, organization_id: str, columns: Mapping[str, Any], changed: frozenset[str]
) -> None:
    wrong: list[FieldError] = []
    if "questionnaire_ids" in changed:
        known = await questionnaires_store.list_owners(
            db,
            organization_id=organization_id,
            questionnaire_ids=columns["questionnaire_ids"],
            application_ids=[columns["application_id"]],
            limit=len(columns["questionnaire_ids"]),
        )
        wrong += _unknown_ids("questionnaire_ids", columns["questionnaire_ids"], known, "questionnaire")
    owners = ("assigned_user_id", "escalation_user_id")
    users = [*columns.get("subscriber_user_ids", ()), *filter(None, (columns.get(name) for name in owners))]
    if users and changed & {"subscriber_user_ids", *owners}:
        known = await list_user_ids(
            db, organization_id=organization_id, application_id=columns["application_id"], among=users
        )
        if "subscriber_user_ids" in changed:
            wrong += _unknown_ids("subscriber_user_ids", columns["subscriber_user_ids"], known, "user")
        wrong += [
            FieldError("unknown_id", "There is no such user.", pointer=f"/{name}")
            for name in owners
            if name in changed and columns[name] not in {None, *known}
        ]
    if "chat_ids" in changed:
        wrong += await chats.check_ids(db, organization_id=organization_id, chat_ids=columns["chat_ids"])
    if "status_id" in changed:
        application_id = columns["application_id"]
        closes = await get_closes(
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
    known = await list_user_ids(
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
    conditions.read(leaf, "/assignment", findings, replace(scope, tags=False, metrics=None))
    return findings.errors


async def _condition_errors(db: Database, *, organization_id: str, columns: Mapping[str, Any]) -> list[FieldError]:
    document, is_daily = columns["conditions"], columns["trigger"] == "schedule"
    if document is None:
        message = "A daily alert needs conditions, because it is not about one response."
        return [FieldError("required", message, pointer="/conditions")] if is_daily else []
    findings = Findings(strict=True)
    scope = await _scope(db, organization_id=organization_id, columns=columns)
    node = conditions.read(document, "/conditions", findings, scope)
    wrong = findings.errors
    if not wrong and is_daily:
        leaves = conditions.leaves_of(node)
        if not leaves or not all(leaf.subject.startswith(core_alerts.METRIC) for leaf in leaves):
            message = "A daily alert compares figures (metric:…), at least one, and nothing else."
            wrong.append(FieldError("unknown_value", message, pointer="/conditions"))
    return wrong


async def _scope(db: Database, *, organization_id: str, columns: Mapping[str, Any]) -> Scope:
    """The questions that the conditions name, in every published version, and the declared metadata."""
    version_ids = await _list_question_versions(
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
    metrics = METRICS_OF_A_QUESTION if is_daily else None
    return Scope(questions=kinds, metadata=declared.types, undeclared="text", tags=not is_daily, metrics=metrics)


def _unknown_ids(name: str, given: Sequence[str], known: Collection[str], what: str) -> list[FieldError]:
    return [
        FieldError("unknown_id", f"There is no such {what} in this application.", pointer=f"/{name}/{position}")
        for position, one in enumerate(given)
        if one not in known
    ]


async def _delete_hidden(change: Change[Alert], _options: Mapping[str, Any]) -> None:
    await change.db.execute(
        """update alert
           set deleted_time = $3, active = false, version = version + 1, updated_time = greatest(updated_time, $3),
             updated_by = $4
           where organization_id = $1 and alert_id = $2 and deleted_time is null""",
        *(change.caller.organization_id, change.key, change.now, change.caller.actor_id),
    )


ALERT = Noun(
    record=Alert,
    table="alert",
    one="alert",
    many="alerts",
    tag="Alerts",
    path="/alert",
    scope="Alert",
    about_create="A new rule. No `questionnaire_ids`: all of the application; no `conditions`: every response.",
    about_update="Changes of a rule; existing cases stay as they are.",
    about={
        "create": CONDITIONS,
        "update": CONDITIONS,
        "delete": "It opens no more cases; those that it opened stay.",
    },
    shape="envelope",
    shows_organization=True,
    visible=OF_APPLICATION,
    live="t.deleted_time is null",
    check=_check,
    delete=_delete_hidden,
)
routes = routes_of(ALERT)
_NEW: Final[Any] = creation_of(ALERT)


class ActiveAlert(msgspec.Struct, frozen=True):
    """An active alert and one of its questionnaires; `opens_closed`: its initial status is a closing one."""

    questionnaire_id: str
    alert: Alert
    opens_closed: bool


async def for_calls(db: Database, *, organization_id: str, application_id: str, title: str, now: datetime) -> Alert:
    """The application's rule for calls without conditions, on or off; made with this title where there is none."""
    found = await _get_call_back_alert_locked(db, organization_id=organization_id, application_id=application_id)
    columns = _NEW(application_id=application_id, title=title, trigger=core_alerts.CALL_BACK).named()
    return found or await nouns.insert(
        ALERT, db, organization_id=organization_id, key=ids.ordered(now), columns=columns, now=now, by=None
    )


async def for_unhappy(
    db: Database, *, caller: Caller, questionnaire: Questionnaire, title: str, site: Site, now: datetime
) -> Alert | None:
    """A rule for low answers to the first score of a questionnaire, on and told to the caller.

    None where the published version asks for no score, or a rule about its answers is on already.
    """
    score = await unhappy_of(db, questionnaire=questionnaire)
    if score is None:
        return None
    question_id, highest = score
    leaf = {"subject": f"question:{question_id}", "operator": "less_equal", "value": highest}
    new = _NEW(
        application_id=questionnaire.owner_application_id,
        title=title,
        questionnaire_ids=[questionnaire.questionnaire_id],
        conditions={"all": [leaf]},
        assigned_user_id=caller.user_id,
        subscriber_user_ids=[caller.user_id] if caller.user_id else [],
    )
    return (await nouns.create(ALERT, db, caller=caller, columns=new.named(), site=site, now=now)).record


async def unhappy_of(db: Database, *, questionnaire: Questionnaire) -> tuple[str, int] | None:
    """The first score of the published version, and its highest answer of an unhappy customer; None as above."""
    organization_id, questionnaire_id = questionnaire.organization_id, questionnaire.questionnaire_id
    if questionnaire.published_version_id is None:
        return None
    active = await list_active_alerts(db, questionnaires=[(organization_id, questionnaire_id)])
    if any(one.alert.trigger != core_alerts.CALL_BACK for one in active):
        return None
    version = await questionnaires_store.get_version(
        db, organization_id=organization_id, version_id=questionnaire.published_version_id
    )
    scores = (one for one in version.definition.questions() if one.type in UNHAPPY_MAX)
    return next(((one.question_id, UNHAPPY_MAX[one.type]) for one in scores), None)


_COLUMNS: Final[LiteralString] = columns_of(Alert, without={"chat_urls"})
_COLUMNS_A: Final[LiteralString] = qualified(_COLUMNS, "a")


async def get_closes(db: Database, *, organization_id: str, status_id: int, application_id: str) -> bool | None:
    """Whether a case with this status is closed; None where the application has no such status."""
    return await db.fetch_value(
        """select closing from alert_status
           where organization_id = $1 and status_id = $2 and (application_id is null or application_id = $3)""",
        *(organization_id, status_id, application_id),
    )


async def list_active_alerts(  # any tenant: a batch of events serves many organizations
    db: Database, *, questionnaires: Sequence[tuple[str, str]]
) -> list[ActiveAlert]:
    rows = await db.fetch(
        f"""select q.questionnaire_id as of_questionnaire_id, s.closing as status_closing, {_COLUMNS_A}
           from unnest($1::text[], $2::text[]) as b (organization_id, questionnaire_id)
             join questionnaire q on q.organization_id = b.organization_id and q.questionnaire_id = b.questionnaire_id
             join alert a on a.organization_id = q.organization_id and a.application_id = q.owner_application_id
             join alert_status s on s.organization_id = a.organization_id and s.status_id = a.status_id
           where a.active and a.deleted_time is null and a.trigger <> 'schedule'
             and (cardinality(a.questionnaire_ids) = 0 or q.questionnaire_id = any(a.questionnaire_ids))
           order by a.organization_id, a.alert_id""",
        *arrays(questionnaires, 2),
    )
    return [ActiveAlert(row["of_questionnaire_id"], _alert(row), row["status_closing"]) for row in rows]


async def _list_question_versions(
    db: Database,
    *,
    organization_id: str,
    application_id: str,
    questionnaire_ids: Sequence[str],
    question_ids: Sequence[str],
) -> list[str]:
    """The published versions of these questionnaires (none: all of the application) with one of the questions."""
    return await db.fetch_column(
        """select v.version_id
           from questionnaire q
             join questionnaire_version v on v.organization_id = q.organization_id
               and v.version_id = q.published_version_id
           where q.organization_id = $1 and q.owner_application_id = $2
             and (cardinality($3::text[]) = 0 or q.questionnaire_id = any($3))
             and exists (
               select from jsonb_path_query(v.definition, '$.groups[*].questions[*].question_id') i
               where i #>> '{}' = any($4::text[]))""",
        *(organization_id, application_id, list(questionnaire_ids), list(question_ids)),
    )


async def list_user_ids(
    db: Database, *, organization_id: str, application_id: str, among: Sequence[str], instance_id: str | None = None
) -> set[str]:
    """The active people who may see the application among `among`.

    `instance_id`: of a case, empty where it has none; people who see other branches alone are left out then.
    """
    found = await db.fetch_column(
        """select u.user_id from organization_user u
           where u.organization_id = $1 and u.user_id = any($3::text[]) and u.active and not u.service
             and (cardinality(u.application_ids) = 0 or $2 = any(u.application_ids))
             and ($4::text is null or u.only_where is null or (
               select i.metadata ->> u.only_where from questionnaire_instance i
               where i.organization_id = $1 and i.instance_id = $4) = any(u.only_values))""",
        *(organization_id, application_id, list(among), instance_id),
    )
    return set(found)


async def _get_call_back_alert_locked(db: Database, *, organization_id: str, application_id: str) -> Alert | None:
    """The application's oldest rule for calls without conditions, on or off; others wait until the transaction ends."""
    await db.execute(
        "select pg_advisory_xact_lock(hashtextextended('call_back:' || $1 || $2, 0))", organization_id, application_id
    )
    return await db.records(_alert).fetch_row(
        f"""select {_COLUMNS} from alert
           where organization_id = $1 and application_id = $2 and trigger = 'call_back' and conditions is null
             and cardinality(questionnaire_ids) = 0 and deleted_time is null
           order by alert_id limit 1""",
        *(organization_id, application_id),
    )


async def update_status_to(
    db: Database, *, organization_id: str, status_id: int, move_to: int, deleted_only: bool
) -> int:
    return await db.execute(
        """update alert set status_id = $3, version = version + 1
           where organization_id = $1 and status_id = $2 and (deleted_time is not null or not $4)""",
        *(organization_id, status_id, move_to, deleted_only),
    )


async def settle_counts(
    db: Database, *, counts: Sequence[tuple[str, str, int]], triggered_time: datetime | None = None
) -> None:
    """Add to the counts of open cases (organization, alert, difference), and set the time of the last match."""
    if not counts:
        return
    # Rows are locked in key order first, so that two batches for the same alerts do not deadlock.
    await db.execute(
        """with b as materialized (
             select organization_id, alert_id, sum(more)::integer as more
             from unnest($1::text[], $2::text[], $3::integer[]) as b (organization_id, alert_id, more) group by 1, 2),
           held as materialized (
             select a.organization_id, a.alert_id, b.more from alert a
               join b on b.organization_id = a.organization_id and b.alert_id = a.alert_id
             order by a.organization_id, a.alert_id for no key update of a)
           update alert a
           set open_count = a.open_count + h.more, version = a.version + 1,
             last_triggered_time = greatest(a.last_triggered_time, $4)
           from held h where a.organization_id = h.organization_id and a.alert_id = h.alert_id""",
        *arrays(counts, 3),
        triggered_time,
    )


async def claim_scheduled_alerts(  # any tenant: a daily job serves all of them
    db: Database, *, before: datetime, now: datetime, limit: int
) -> list[Alert]:
    return await db.records(_alert).fetch(
        f"""with first as materialized (
             select organization_id, alert_id, evaluated_time from alert
             where active and deleted_time is null and trigger = 'schedule'
             order by evaluated_time nulls first limit 20 * $3::integer),
           due as materialized (
             select a.organization_id, a.alert_id from first f, lateral (
               select organization_id, alert_id from alert where organization_id = f.organization_id
                 and alert_id = f.alert_id and (evaluated_time is null or evaluated_time < $1)
               for no key update skip locked) a
             where f.evaluated_time is null or f.evaluated_time < $1 limit $3)
           update alert a set evaluated_time = $2 from due
           where a.organization_id = due.organization_id and a.alert_id = due.alert_id returning {_COLUMNS_A}""",
        *(before, now, limit),
    )


def _alert(row: Row) -> Alert:
    return Alert(**{name: row[name] for name in Alert.__struct_fields__ if name != "chat_urls"})

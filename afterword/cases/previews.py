"""Tries the conditions of a rule on the newest responses, before it is saved."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from afterword.asking.instances import triggers
from afterword.cases import assignments, rules
from afterword.cases.resources import Assignment, Ids
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires import conditions as core_conditions
from afterword.kit.db import Database
from afterword.kit.nouns.structs import shown_as
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes


async def _list_newest(
    db: Database,
    *,
    organization_id: str,
    application_id: str,
    questionnaire_ids: Sequence[str],
    completed_only: bool,
    test: bool,
) -> list[tuple[str, datetime]]:
    """The ids and times of the newest responses to these questionnaires (none: all of the application).

    Only the newest SCANNED_MAX of the organization, or of one questionnaire, are looked at.
    """
    return await db.fetch_tuples(
        """select r.instance_id, r.submitted_time from (
             select n.instance_id, n.questionnaire_id, n.application_id, n.submitted_time from (
               select instance_id, questionnaire_id, application_id, submitted_time from response
               where organization_id = $1 and test = $5 and cardinality($3::text[]) <> 1
               order by submitted_time desc, instance_id limit $7) n
             union all
             select o.instance_id, o.questionnaire_id, o.application_id, o.submitted_time from (
               select instance_id, questionnaire_id, application_id, submitted_time from response
               where organization_id = $1 and test = $5 and questionnaire_id = ($3::text[])[1]
                 and cardinality($3::text[]) = 1
               order by submitted_time desc, instance_id limit $7) o) r
           where r.application_id = $2 and (cardinality($3::text[]) = 0 or r.questionnaire_id = any($3))
             and (not $4 or exists (
               select from questionnaire_instance i
               where i.organization_id = $1 and i.instance_id = r.instance_id and i.finalized))
           order by r.submitted_time desc, r.instance_id limit $6""",
        *(organization_id, application_id, list(questionnaire_ids), completed_only, test, RESPONSES_MAX, SCANNED_MAX),
    )


RESPONSES_MAX: Final = 1_000
ASSIGNED_MAX: Final = 100
SCANNED_MAX: Final = 20_000  # of all applications, for those of this one
BATCH: Final = 250


class AlertPreviewOwner(fields.Resource):
    """The cases that a user would own; null: nobody."""

    user_id: fields.Id | None
    cases: Annotated[int, Meta(description="Those that would go to this user.")]


class Preview(msgspec.Struct, frozen=True):
    """Of the newest `responses`, since `from_time`, `matched` would have been matched."""

    responses: int
    matched: int
    from_time: datetime | None
    owners: Sequence[AlertPreviewOwner] = ()


class Newest(msgspec.Struct, frozen=True):
    """The newest `responses`, since `from_time`: the ids of those that match, the newest first."""

    responses: int
    matching: Sequence[str]
    from_time: datetime | None


class _Rule(msgspec.Struct):
    organization_id: str
    application_id: str
    assigned_user_id: str | None
    assignment: dict[str, Any] | None


async def preview(db: Database, *, caller: Caller, columns: Mapping[str, Any]) -> Preview:
    """Count the newest responses that the conditions match as they are now, and who would own the newest of them.

    `columns`: `application_id`, `questionnaire_ids`, `trigger`, `conditions`, `assignment` and `assigned_user_id`.
    Raises Invalid as saving does.
    """
    await rules.check(db, caller=caller, columns=columns)
    found = await newest(
        db,
        caller=caller,
        **{name: columns[name] for name in ("application_id", "questionnaire_ids", "trigger", "conditions")},
    )
    rule = _Rule(caller.organization_id, columns["application_id"], columns["assigned_user_id"], columns["assignment"])
    return Preview(
        responses=found.responses,
        matched=len(found.matching),
        from_time=found.from_time,
        owners=await _owners(db, rule, found.matching[:ASSIGNED_MAX]) if rule.assignment else (),
    )


async def newest(
    db: Database,
    *,
    caller: Caller,
    application_id: str,
    questionnaire_ids: Sequence[str],
    trigger: str,
    conditions: object,
) -> Newest:
    """Try conditions that are valid on the newest responses of these questionnaires (none: of the application)."""
    found = await _list_newest(
        db,
        organization_id=caller.organization_id,
        application_id=application_id,
        questionnaire_ids=questionnaire_ids,
        completed_only=trigger == "completed",
        test=caller.test,
    )
    node = core_conditions.read_saved(conditions)
    ids = [instance_id for instance_id, _ in found]
    matching = [] if node else ids
    for begin in range(0, len(found) if node else 0, BATCH):
        batch = ids[begin : begin + BATCH]
        known = await triggers.list_facts(
            db, organization_id=caller.organization_id, instance_ids=batch, condition=node
        )
        matching += [one for one in batch if one in known and core_conditions.matches(node, known[one])]
    return Newest(len(found), matching, found[-1][1] if found else None)


async def _owners(db: Database, rule: _Rule, instance_ids: Sequence[str]) -> list[AlertPreviewOwner]:
    """The owners of cases of these responses, the most cases first, as if they were opened now, the oldest first."""
    assigner = await assignments.assigner_for(db, alerts=[rule])
    known = await triggers.list_facts(db, organization_id=rule.organization_id, instance_ids=instance_ids)
    counts = Counter(assigner.owner_of(rule, known[each]) for each in reversed(instance_ids) if each in known)
    return [AlertPreviewOwner(user_id=user_id, cases=count) for user_id, count in counts.most_common()]


routes = Routes(tag="Alerts")


class AlertPreviewRequest(fields.Request):
    """The part of a rule that decides which responses it matches."""

    application_id: fields.Id
    questionnaire_ids: Ids = msgspec.field(default_factory=list[str])
    trigger: Literal["submitted", "completed"] = "completed"
    conditions: dict[str, Any] | None = None
    assigned_user_id: fields.Id | None = None
    assignment: Assignment | None = None


_OWNERS: Final = f"With `assignment`: of the newest {ASSIGNED_MAX} that matched, as if their cases were opened now."
AlertPreview: Final = shown_as(
    "AlertPreview", Preview, types={"owners": Annotated[list[AlertPreviewOwner], Meta(description=_OWNERS)]}
)


@routes.post(
    "/alert/preview",
    scope="Alert.Create",
    answer=AlertPreview,
    status=200,
    summary="Try an alert before it is saved",
    description=(
        f"Nothing is stored. The newest {RESPONSES_MAX:,} responses are looked at as they are now, without "
        f"tests, among the newest {SCANNED_MAX:,} of the organization. All is checked as on saving."
    ),
)
async def preview_alert(call: Call[AlertPreviewRequest], db: Database) -> Answer:
    columns = {
        **call.body.named(),
        "questionnaire_ids": list(dict.fromkeys(call.body.questionnaire_ids)),
        "assignment": msgspec.to_builtins(call.body.assignment),
    }
    return Answer(AlertPreview.of(await preview(db, caller=call.caller, columns=columns), call.zone))

"""Chooses the owner of a new case by a field of its response, and by the open cases of the candidates."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final, Protocol, Unpack

import msgspec

from afterword import errors
from afterword.core.messaging import alerts as core_alerts
from afterword.core.organizations.access import Limit, Part, limit_of
from afterword.core.questionnaires import conditions
from afterword.core.questionnaires.conditions import Facts, Leaf
from afterword.core.wire.lists import Page, Rows
from afterword.kit.db import Database
from afterword.kit.db.columns import arrays
from afterword.kit.nouns.structs import shown_as
from afterword.kit.web import fields
from afterword.kit.web.operations import Call, Routes
from afterword.tenants.organizations import checks

OPEN_CASES_MAX: Final = 1_000  # counted of one user


class Assignee(msgspec.Struct, frozen=True):
    """A user who may take cases."""

    user_id: fields.Id
    email: str
    display_name: str | None
    open_cases: fields.Computed[int]
    created_time: datetime


RESOURCE: Final = shown_as("AlertAssignee", Assignee)
FIRST: Final = Page.first(fields.listing_of(RESOURCE), limit=200)


async def list_assignees(
    db: Database,
    *,
    application_id: str | None,
    instance_id: str | None = None,
    page: Page = FIRST,
    **part: Unpack[Part],
) -> Rows[Assignee]:
    """The active people who may see the application (None: any), if it is one of these (none: any).

    `instance_id`: of a case, as `rules.list_user_ids` takes it.
    """
    return await db.records(Assignee).fetch_list(
        """select u.user_id, u.email, u.display_name, u.created_time,
             (select count(*) from (
                select from alert_instance c
                where c.organization_id = u.organization_id and c.assigned_user_id = u.user_id
                  and c.resolved_time is null limit $4) c)::integer as open_cases
           from organization_user u
           where u.organization_id = $1 and u.active and u.removed_time is null and not u.service
             and (cardinality(u.application_ids) = 0 or $2::text = any(u.application_ids)
               or ($2 is null and (cardinality($3::text[]) = 0 or u.application_ids && $3)))
             and ($2 is null or (cardinality($3) = 0 or $2 = any($3)) and exists (
               select from application a where a.organization_id = $1 and a.application_id = $2))
             and ($5::text is null or u.only_where is null or (
               select i.metadata ->> u.only_where from questionnaire_instance i
               where i.organization_id = $1 and i.instance_id = $5) = any(u.only_values))""",
        *(part["organization_id"], application_id, list(part["application_ids"]), OPEN_CASES_MAX, instance_id),
        page=page,
    )


async def _list_open_cases(  # any tenant: a batch of events serves many organizations
    db: Database, *, candidates: Sequence[tuple[str, str, str]]
) -> list[tuple[str, str, str, int, str | None, list[str]]]:
    """The open cases and the limit of each candidate (organization, application, user) who may take some."""
    return await db.fetch_tuples(
        """select b.organization_id, b.application_id, b.user_id,
             (select count(*) from (
                select from alert_instance c
                where c.organization_id = b.organization_id and c.assigned_user_id = b.user_id
                  and c.resolved_time is null limit $4) c)::integer as open_cases, u.only_where, u.only_values
           from unnest($1::text[], $2::text[], $3::text[]) as b (organization_id, application_id, user_id)
             join organization_user u on u.organization_id = b.organization_id and u.user_id = b.user_id
           where u.active and u.removed_time is null and not u.service
             and (cardinality(u.application_ids) = 0 or b.application_id = any(u.application_ids))""",
        *arrays(candidates, 3),
        OPEN_CASES_MAX,
    )


class Assigning(Protocol):
    """The members of a rule that choose the owner of a new case."""

    organization_id: str
    application_id: str
    assigned_user_id: str | None
    assignment: dict[str, Any] | None


class Assigner(msgspec.Struct):
    """Open cases by organization, application and user; each assignment counts for those after it.

    `limits`: of users who see some branches alone. They get the cases of these.
    """

    open_cases: dict[tuple[str, str, str], int] = msgspec.field(default_factory=dict[tuple[str, str, str], int])
    limits: dict[tuple[str, str], Limit] = msgspec.field(default_factory=dict[tuple[str, str], Limit])

    def owner_of(self, alert: Assigning, facts: Facts) -> str | None:
        """The owner of a new case; the one whom the rule names, if that one may, where no candidate may take it."""
        place = alert.organization_id, alert.application_id
        loads = {
            user_id: count
            for (*known, user_id), count in self.open_cases.items()
            if tuple(known) == place and _sees(self.limits.get((alert.organization_id, user_id)), facts)
        }
        named = alert.assigned_user_id if alert.assigned_user_id in loads else None
        if alert.assignment is None:
            return named
        chosen, others = core_alerts.candidates_of(alert.assignment, facts)
        owner = core_alerts.least_loaded(chosen, loads) or core_alerts.least_loaded(others, loads)
        for key in [key for key in self.open_cases if (key[0], key[2]) == (alert.organization_id, owner)]:
            self.open_cases[key] += 1
        return owner or named


def _sees(limit: Limit | None, facts: Facts) -> bool:
    return limit is None or any(
        conditions.evaluate(Leaf(f"questionnaire_metadata:{limit.name}", "equal", value), facts).matches
        for value in limit.values
    )


async def assigner_for(db: Database, *, alerts: Sequence[Assigning]) -> Assigner:
    candidates = {
        (alert.organization_id, alert.application_id, user_id)
        for alert in alerts
        for user_id in (alert.assigned_user_id, *(core_alerts.users_of(alert.assignment) if alert.assignment else ()))
        if user_id is not None
    }
    assigner = Assigner()
    found = await _list_open_cases(db, candidates=sorted(candidates)) if candidates else []
    for organization_id, application_id, user_id, count, name, values in found:
        assigner.open_cases[organization_id, application_id, user_id] = count
        if (limit := limit_of(name, values)) is not None:
            assigner.limits[organization_id, user_id] = limit
    return assigner


routes = Routes(tag="Alerts")


class AssigneeQuery(fields.Request):
    """The application of the cases; without one all that the caller has."""

    application_id: fields.Id | None = None


@routes.list(
    "/alert/assignee",
    scope="Alert.Read",
    more_scopes=("User.Read",),
    query=AssigneeQuery,
    answer=RESOURCE,
    summary="Get the users who may take cases",
    description=f"Each with the cases that are open with this user, {OPEN_CASES_MAX:,} at most.",
)
async def list_alert_assignees(call: Call[None], db: Database) -> Rows[Assignee]:
    query: AssigneeQuery = call.query
    if query.application_id is not None:
        wrong = await checks.reach_errors(db, caller=call.caller, application_id=query.application_id)
        errors.check([errors.FieldError(one.code, one.message, parameter="application_id") for one in wrong])
    return await list_assignees(db, **call.caller.part, application_id=query.application_id, page=call.page)

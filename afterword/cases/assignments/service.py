"""Chooses the owner of a new case by a field of its response, and by the open cases of the candidates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from afterword.cases.assignments import store
from afterword.core.messaging import alerts as core_alerts
from afterword.core.questionnaires.conditions import Facts
from afterword.kit.db import Database


class Assigning(Protocol):
    """The members of a rule that choose the owner of a new case."""

    @property
    def organization_id(self) -> str: ...
    @property
    def application_id(self) -> str: ...
    @property
    def assigned_user_id(self) -> str | None: ...
    @property
    def assignment(self) -> Mapping[str, Any] | None: ...


@dataclass
class Assigner:
    """Open cases by organization, application and user; each assignment counts for those after it."""

    open_cases: dict[tuple[str, str, str], int] = field(default_factory=dict[tuple[str, str, str], int])

    def owner_of(self, alert: Assigning, facts: Facts) -> str | None:
        """The owner of a new case; the one whom the rule names, where no candidate may take it."""
        if alert.assignment is None:
            return alert.assigned_user_id
        place = alert.organization_id, alert.application_id
        loads = {user_id: count for (*known, user_id), count in self.open_cases.items() if tuple(known) == place}
        chosen, others = core_alerts.candidates_of(alert.assignment, facts)
        owner = core_alerts.least_loaded(chosen, loads) or core_alerts.least_loaded(others, loads)
        for key in [key for key in self.open_cases if (key[0], key[2]) == (alert.organization_id, owner)]:
            self.open_cases[key] += 1
        return owner or alert.assigned_user_id


async def assigner_for(db: Database, *, alerts: Sequence[Assigning]) -> Assigner:
    candidates = {
        (alert.organization_id, alert.application_id, user_id)
        for alert in alerts
        if alert.assignment is not None
        for user_id in core_alerts.users_of(alert.assignment)
    }
    return Assigner(await store.list_open_cases(db, candidates=sorted(candidates)) if candidates else {})

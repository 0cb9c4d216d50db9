"""The form of an alert rule: the choices it offers, the rule as it was typed, and the differences to what is stored."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from afterword import errors
from afterword.asking.questionnaires import api as questionnaires_api
from afterword.asking.questionnaires import condition_rows, metadata
from afterword.asking.questionnaires import store as questionnaires_store
from afterword.asking.questionnaires.condition_rows import Row, Subject, Subjects
from afterword.cases import assignments
from afterword.cases.rules import ALERT, Alert
from afterword.cases.screens import assignment_rows
from afterword.cases.screens.figures import with_load
from afterword.cases.screens.timeline import SEVERITIES
from afterword.cases.statuses import STATUS, title_of
from afterword.console.conditions import json_of, with_seen
from afterword.console.inputs import read_as, theirs_of
from afterword.console.screens import Form, Marked, Visit
from afterword.core.wire.lists import Page
from afterword.errors import FieldError
from afterword.kit.db import Database
from afterword.kit.nouns import service, structs
from afterword.kit.web import fields

LISTED_MAX: Final = 100
USERS_MAX: Final = 200
VERSIONS_MAX: Final = 20  # questionnaires whose questions are offered
USERS: Final = fields.listing_of(assignments.AlertAssignee)
QUESTIONNAIRES: Final = fields.listing_of(questionnaires_api.Questionnaire)
TRIGGERS: Final[Mapping[str, Marked]] = {
    "completed": "when a response is completed",
    "submitted": "at the first answer, and when it is completed",
    "schedule": "once a day, at the figures",
    "call_back": "when a customer asks for a call",
}
LABELS: Final[Mapping[str, Marked]] = {
    "title": "Title", "description": "Description", "questionnaire_ids": "Questionnaires", "trigger": "Checked",
    "conditions": "Conditions", "severity": "Severity", "status_id": "Status", "assigned_user_id": "Case owner",
    "due_hours": "Due in business hours", "fold_hours": "Hours in which a repeat counts on the open case",
    "subscriber_user_ids": "Who is told", "active": "The alert is on", "assignment": "Owner by a field",
    "escalation_hours": "After business hours", "escalation_severity": "Raise the severity to",
    "escalation_user_id": "Owner from then on",
}  # fmt: skip
TEXTS: Final = tuple(
    name for name in LABELS if name not in {"questionnaire_ids", "subscriber_user_ids", "conditions", "assignment"}
)
NEW: Final[Mapping[str, Any]] = {"trigger": "completed", "severity": "normal", "status_id": 1, "active": True}
Options = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Draft:
    """The fields of the form. `document`: a condition as JSON, in place of the rows."""

    texts: Mapping[str, str]
    questionnaire_ids: Sequence[str]
    subscriber_user_ids: Sequence[str]
    group: str
    rows: Sequence[Row]
    document: str
    assignment: assignment_rows.Draft

    @property
    def shown_rows(self) -> Sequence[condition_rows.Fieldset]:
        return condition_rows.shown_rows(self.rows)


@dataclass(frozen=True, slots=True)
class Choices:
    """The options of the form, as pairs of value and text."""

    questionnaires: Options
    users: Options
    loaded: Options
    statuses: Options
    subjects: Subjects
    labels: Options

    @property
    def fields(self) -> Options:
        """The subjects that an owner can be chosen by."""
        return [(key, one.text) for key, one in self.subjects.items() if key.startswith(assignment_rows.FAMILIES)]

    @property
    def grouped(self) -> Sequence[tuple[str, Options]]:
        return condition_rows.grouped(self.subjects)


async def choices_of(
    visit: Visit, db: Database, *, application_id: str, questionnaire_ids: Sequence[str], condition: object
) -> Choices:
    """The choices for a rule of this application; questions are those of its questionnaires (none: of all)."""
    organization_id = visit.caller.organization_id
    questionnaires = await questionnaires_store.list_questionnaires(
        db,
        organization_id=organization_id,
        application_ids=[application_id],
        page=Page.first(QUESTIONNAIRES, limit=LISTED_MAX),
    )
    users = await assignments.list_assignees(
        db,
        organization_id=organization_id,
        application_id=application_id,
        application_ids=visit.caller.application_ids,
        page=Page.first(USERS, limit=USERS_MAX),
    )
    named = [(each.user_id, each.display_name or each.email, each.open_cases) for each in users.items]
    statuses = await service.every(STATUS, db, organization_id=organization_id, application_ids=[application_id])
    asked = [
        each.published_version_id
        for each in questionnaires.items
        if each.published_version_id and (not questionnaire_ids or each.questionnaire_id in questionnaire_ids)
    ]
    subjects = condition_rows.with_named(
        await _subjects(visit, db, application_ids=[application_id], version_ids=asked), condition
    )
    subjects = await with_seen(visit, db, subjects)
    return Choices(
        questionnaires=[(each.questionnaire_id, each.display_name) for each in questionnaires.items],
        users=[(user_id, name) for user_id, name, _ in named],
        loaded=[(user_id, with_load(visit.words, name, count)) for user_id, name, count in named],
        statuses=[(str(each.status_id), title_of(visit.words, each.status_id, each.title)) for each in statuses],
        subjects=subjects,
        labels=condition_rows.suggestions(visit.words, subjects),
    )


async def subjects_of(visit: Visit, db: Database, rules: Sequence[Alert]) -> Subjects:
    """The subjects of the applications of these rules, as far as words for conditions need them."""
    application_ids = sorted({one.application_id for one in rules})
    if not application_ids:
        return {}
    questionnaires = await questionnaires_store.list_questionnaires(
        db,
        organization_id=visit.caller.organization_id,
        application_ids=application_ids,
        page=Page.first(QUESTIONNAIRES, limit=LISTED_MAX),
    )
    version_ids = [one.published_version_id for one in questionnaires.items if one.published_version_id]
    return await _subjects(visit, db, application_ids=application_ids, version_ids=version_ids)


async def _subjects(
    visit: Visit, db: Database, *, application_ids: Sequence[str], version_ids: Sequence[str]
) -> Subjects:
    place, found = {"organization_id": visit.caller.organization_id}, dict[str, Subject]()
    versions = [
        await questionnaires_store.get_version(db, **place, version_id=each) for each in version_ids[:VERSIONS_MAX]
    ]
    for application_id in application_ids:
        declared = await metadata.declared(db, **place, application_id=application_id)
        definitions = [each.definition for each in versions]
        found |= condition_rows.subjects_of(visit.words, definitions=definitions, declared=declared)
    return found


def stored_draft(rule: Alert | None, subjects: Subjects) -> Draft:
    values = {name: getattr(rule, name) if rule else NEW.get(name) for name in LABELS}
    found = condition_rows.rows_of(values["conditions"], subjects)
    group, rows = found or ("all", [])
    return Draft(
        texts={name: _text(values[name]) for name in TEXTS},
        questionnaire_ids=values["questionnaire_ids"] or (),
        subscriber_user_ids=values["subscriber_user_ids"] or (),
        group=group,
        rows=rows,
        document="" if found else json_of(values["conditions"]),
        assignment=assignment_rows.stored_draft(values["assignment"], subjects),
    )


def typed_draft(form: Form) -> Draft:
    return Draft(
        texts={name: form.text(name) for name in TEXTS},
        questionnaire_ids=form.all("questionnaire_ids")[:LISTED_MAX],
        subscriber_user_ids=form.all("subscriber_user_ids")[:LISTED_MAX],
        group=form.text("group"),
        rows=condition_rows.typed_rows(form.text),
        document=form.text("document"),
        assignment=assignment_rows.typed_draft(form),
    )


def columns_of(visit: Visit, draft: Draft, subjects: Subjects) -> dict[str, Any]:
    """The rule of the form, without its application. Raises Invalid."""
    words, texts = visit.words, draft.texts
    wrong = assignment_rows.errors_of(words, draft.assignment)
    conditions = condition_rows.document_of(draft.group, draft.rows, subjects)
    if draft.document:
        try:
            conditions = json.loads(draft.document)
        except (ValueError, RecursionError):
            wrong.append(FieldError("invalid_format", words("A condition as JSON is expected."), pointer="/document"))
    document = {
        **{name: texts[name] or None for name in TEXTS},
        "title": texts["title"],
        "fold_hours": texts["fold_hours"] or 0,
        "active": texts["active"] == "1",
        "questionnaire_ids": list(draft.questionnaire_ids),
        "subscriber_user_ids": list(draft.subscriber_user_ids),
        "conditions": conditions,
        "assignment": assignment_rows.document_of(draft.assignment, subjects),
    }
    try:
        request = read_as(structs.update_of(ALERT), document, visit)
    except errors.Invalid as invalid:
        errors.check([*wrong, *invalid.errors])
        raise
    errors.check(wrong)
    return structs.written(ALERT, request.named())


def placed(refusal: errors.Refusal, draft: Draft) -> errors.Refusal:

    def place(pointer: str) -> str:
        head, *parts = pointer.removeprefix("/").split("/")
        if head in {"questionnaire_ids", "subscriber_user_ids"}:
            return f"/{head}"
        if head == "assignment":
            return "/candidate_ids" if parts[:1] == ["user_ids"] else "/field"
        if head != "conditions":
            return pointer
        if draft.document:
            return "/document"
        return f"/{condition_rows.place_of(parts, draft.rows)}"

    wrong = [replace(one, pointer=place(one.pointer or "")) for one in refusal.errors]
    return errors.Invalid(refusal.detail, errors=wrong)


def differences(visit: Visit, rule: Alert, columns: Mapping[str, Any], choices: Choices) -> list[tuple[str, str]]:
    """The name and the stored value of each field that the form has otherwise."""
    words = visit.words
    named = {
        **{name: dict(choices.users) for name in ("assigned_user_id", "escalation_user_id", "subscriber_user_ids")},
        "questionnaire_ids": dict(choices.questionnaires),
        "status_id": dict(choices.statuses),
        **{
            name: {key: words(text) for key, text in SEVERITIES.items()} for name in ("severity", "escalation_severity")
        },
        "trigger": {key: words(text) for key, text in TRIGGERS.items()},
        "active": {"1": words("yes"), "": words("no")},
    }

    def shown_as(name: str, stored: Any) -> str:
        if name == "conditions":
            return condition_rows.sentence_of(words, stored, choices.subjects)
        if name == "assignment":
            return assignment_rows.sentence_of(stored, choices.subjects, dict(choices.users))
        each = stored if isinstance(stored, list) else [stored]
        return ", ".join(named.get(name, {}).get(_text(one), _text(one)) for one in each)

    stored = {name: getattr(rule, name) for name in LABELS if name in columns}
    return theirs_of(words, LABELS, stored, columns, shown_as)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "1" if value else ""
    return "" if value is None else str(value)
